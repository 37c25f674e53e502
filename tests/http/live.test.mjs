// Scans, the event stream, the end of the server, its size.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { endlessReads, makeStateDb, tmpHome } from '../cli/helpers.mjs';
import { events, indexed, plugin, request, rss, sleep, startServer } from './helpers.mjs';

test('200 simultaneous first requests: one scan', async (t) => {
  const server = await startServer(t, { demo: true });
  const agent = new http.Agent({ maxSockets: 200 });
  t.after(() => agent.destroy());
  const all = await Promise.all(Array.from({ length: 200 }, () => request(server, `${plugin}/achievements`, { agent })));
  assert.ok(all.every((r) => r.status === 200 && r.json.achievements.length > 0));
  assert.equal((await request(server, `${plugin}/scan-status`)).json.run_count, 1);
});

test('the six routes of the plugin, and its manifest', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 200, messages: 40, seed: 3 });
  const server = await startServer(t, { home });
  const status = await request(server, `${plugin}/scan-status`);
  assert.equal(status.json.run_count, 0, 'scan-status starts no scan');
  const a = (await request(server, `${plugin}/achievements`)).json;
  for (const key of ['achievements', 'unlocked_count', 'discovered_count', 'secret_count', 'total_count', 'error', 'generated_at', 'is_stale', 'scan_meta']) assert.ok(key in a, key);
  assert.ok(!('sessions' in a) && !('aggregate' in a));
  assert.ok(a.scan_meta.status);
  const recent = (await request(server, `${plugin}/recent-unlocks`)).json;
  assert.ok(Array.isArray(recent) && recent.length > 0 && recent.length <= 20);
  const id = recent.find((r) => r.evidence)?.evidence.session_id;
  const badges = (await request(server, `${plugin}/sessions/${id}/badges`)).json;
  assert.equal(badges.session_id, id);
  assert.deepEqual((await request(server, `${plugin}/sessions/none/badges`)).json, { session_id: 'none', badges: [] });
  const rescan = (await request(server, `${plugin}/rescan`, { method: 'POST' })).json;
  assert.equal(rescan.ok, true);
  assert.ok('sessions' in rescan && 'aggregate' in rescan);
  assert.deepEqual((await request(server, `${plugin}/reset-state`, { method: 'POST' })).json, { ok: true });
  const manifest = (await request(server, `${plugin}/manifest.json`)).json;
  assert.ok(manifest.tab.path && manifest.entry && manifest.css && !('slots' in manifest));
  for (const p of [manifest.entry, manifest.css]) assert.ok([200, 404].includes((await request(server, p)).status));
});

test('the event stream: progress and unlocks, many readers, those who left', async (t) => {
  const server = await startServer(t, { demo: true });
  const streams = await Promise.all(Array.from({ length: 50 }, (_, i) => events(server, { headers: i ? {} : { 'Last-Event-ID': '77' } })));
  for (const s of streams) {
    assert.equal(s.status, 200);
    assert.equal(s.headers['content-type'], 'text/event-stream');
    assert.equal(s.headers['cache-control'], 'no-store');
    assert.equal(JSON.parse((await s.next('status')).data).state, 'idle');
  }
  for (const s of streams.slice(40)) s.close();
  await request(server, '/api/achievements');
  for (const s of streams.slice(0, 40)) {
    const unlock = JSON.parse((await s.next('unlock')).data);
    assert.ok(unlock.id);
    await s.next('snapshot');
  }
  const metrics = (await request(server, '/metrics')).text;
  assert.ok(Number(/^talaria_http_streams (\d+)$/m.exec(metrics)[1]) >= 40);
  streams.forEach((s) => s.close());
});

test('a reader that does not read is dropped, the others are not', { timeout: 120_000 }, async (t) => {
  const server = await startServer(t, { demo: true });
  const good = await events(server);
  const socket = net.connect({ port: server.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(`GET /api/events HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
  await sleep(200);
  socket.pause();
  // What waits for one reader is bounded, whatever is sent; that the others go on is what can be seen from here.
  for (let i = 0; i < 5; i++) {
    await request(server, '/api/achievements/reset', { method: 'POST' });
    await request(server, '/api/achievements/rescan', { method: 'POST' });
  }
  await good.next('snapshot');
  good.close();
  socket.destroy();
});

test('timed: while a scan runs, the page is answered at once', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 400, messages: 60, journal: 'wal' });
  const server = await startServer(t, { home });
  await request(server, `${plugin}/achievements`);
  const { id } = (await request(server, '/api/sessions?limit=1')).json.sessions[0];
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const paths = ['/', '/api/sessions?limit=50', '/api/templates', `${plugin}/scan-status`, `${plugin}/achievements`, `/api/sessions/${id}/messages`];
  const round = async () => {
    let running = true;
    const scans = (async () => {
      for (let i = 0; i < 5; i++) {
        // Without the index everything is counted again.
        for (const name of ['index.db', 'index.db-wal', 'index.db-shm']) fs.rmSync(path.join(home.data, name), { force: true });
        await request(server, `${plugin}/rescan`, { method: 'POST' });
      }
      running = false;
    })();
    const times = [];
    for (let i = 0; running || i < 50; i++) {
      const t0 = process.hrtime.bigint();
      const r = await request(server, paths[i % paths.length], { agent });
      times.push(Number(process.hrtime.bigint() - t0) / 1e6);
      assert.equal(r.status, 200);
      await sleep(20);
    }
    await scans;
    times.sort((a, b) => a - b);
    const p99 = times[Math.floor((times.length - 1) * 0.99)];
    t.diagnostic(`p50 ${times[times.length >> 1].toFixed(1)} ms, p99 ${p99.toFixed(1)} ms of ${times.length}`);
    return p99;
  };
  // The promise is 20 ms. Other programs on the machine can only make it longer, and so can this client
  // itself, a script that shares the cores: so one round of five has to keep it.
  let best = Infinity;
  for (let i = 0; i < 5 && best > 20; i++) best = Math.min(best, await round());
  if (!process.env.TALARIA_SANITIZED) assert.ok(best <= 20, `p99 ${best} ms`);
});

test('timed: SIGTERM: what runs is finished, streams end, exit code 0', async (t) => {
  const server = await startServer(t, { demo: true });
  const stream = await events(server);
  await stream.next('status');
  // A connection that the server has not taken yet is reset; what it has taken is answered in full.
  const running = Promise.allSettled(Array.from({ length: 8 }, (_, i) => request(server, ['/api/templates/study', '/api/sessions?limit=500'][i % 2])));
  await sleep(5);
  const t0 = Date.now();
  const { code } = await server.stop('SIGTERM');
  assert.equal(code, 0);
  assert.ok(Date.now() - t0 < 5500);
  await stream.ended;
  for (const r of await running) if (r.status === 'fulfilled') assert.equal(r.value.status, 200);
  await assert.rejects(request(server, '/healthz'));
});

for (const what of ['a job of its own', 'a request'])
  test(`SIGTERM: ${what} that never ends does not keep it`, { timeout: 120_000 }, async (t) => {
    const home = tmpHome(t), reads = endlessReads(home);
    makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 5, messages: 4 });
    if (what === 'a job of its own') reads.hang();
    const server = await startServer(t, { home, env: reads.env });
    if (what === 'a request') {
      await indexed(server, 5);
      reads.hang();
      request(server, '/api/templates/study').catch(() => {});
    }
    await reads.hung();
    const timer = setTimeout(() => server.child.kill('SIGKILL'), 30_000);
    assert.deepEqual(await server.stop('SIGTERM'), { code: 0, signal: null });
    clearTimeout(timer);
  });

test('SIGINT ends it too', async (t) => {
  const server = await startServer(t);
  assert.equal((await server.stop('SIGINT')).code, 0);
});

test('systemd is told', async (t) => {
  const home = tmpHome(t);
  const told = path.join(home.dir, 'notify');
  const listen = `import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint('up',flush=True)\nfor _ in range(2): print(s.recv(99).decode(),flush=True)`;
  const peer = spawn('python3', ['-u', '-c', listen, told], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((r) => peer.once('close', r));
  let out = '';
  await new Promise((r) => peer.stdout.on('data', (d) => { out += d; r(); }));
  const server = await startServer(t, { home, env: { NOTIFY_SOCKET: told } });
  await server.stop();
  await gone;
  assert.deepEqual(out.trim().split('\n'), ['up', 'READY=1', 'STOPPING=1']);
});

test('timed: an idle server is small', async (t) => {
  const server = await startServer(t, { demo: true });
  await request(server, '/healthz');
  const size = rss(server.child.pid);
  t.diagnostic(`${(size / (1 << 20)).toFixed(1)} MiB`);
  if (!process.env.TALARIA_SANITIZED) assert.ok(size <= 16 << 20, `${size} bytes`);
});
