// Streams of runs under trouble: lines that break, readers that do not read, turns that fail by the dozen.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { tmpHome } from '../cli/helpers.mjs';
import { request, startServer } from './helpers.mjs';

const long = process.env.TALARIA_LONG === '1';
const post = (server, target, body, headers = {}) => request(server, target, { method: 'POST', body, headers });
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

async function conversation(server, body = { runtime: 'native' }) {
  const r = await post(server, '/api/conversations', body);
  assert.equal(r.status, 201, r.text);
  return r.json.id;
}

/** A model on loopback; what it says is up to `answer(asked, say, response)`, asked being the request it got. */
async function model(t, answer) {
  const server = http.createServer((rq, rs) => {
    let text = '';
    rq.setEncoding('utf8');
    rq.on('data', (d) => (text += d));
    rq.on('end', async () => {
      const frame = (o) => rs.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...o })}\n\n`);
      const say = (content) => frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
      say.begin = () => rs.writeHead(200, { 'content-type': 'text/event-stream' });
      say.end = () => { frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }); rs.end('data: [DONE]\n\n'); };
      await answer(JSON.parse(text), say, rs);
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat' };
}

/** Says so many words, one every few milliseconds. */
const words = (n, ms) => async (asked, say, rs) => {
  say.begin();
  for (let i = 0; i < n && !rs.destroyed; i++) {
    say(`wörd${i} `);
    await sleep(ms);
  }
  say.end();
};

/** Begins a turn and goes away; gives the run. */
function begin(server, id, text = 'go') {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ text });
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: `/api/conversations/${id}/chat`, method: 'POST', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } },
    (res) => { resolve(res.headers['x-run-id']); res.destroy(); });
    rq.on('error', reject);
    rq.end(body);
  });
}

/** Reads a run from a place on, and goes away when so many bytes have come. Gives the whole frames. */
function readSome(server, run, after, most) {
  return new Promise((resolve, reject) => {
    const rq = http.get({ host: '127.0.0.1', port: server.port, path: `/api/runs/${run}/events`, agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, ...(after ? { 'Last-Event-ID': `${run}:${after}` } : {}) } }, (res) => {
      let text = '';
      assert.ok(res.statusCode === 200 || res.statusCode === 204, String(res.statusCode));
      res.setEncoding('utf8');
      res.on('data', (d) => { text += d; if (text.length >= most) res.destroy(); });
      res.on('error', () => {});
      res.on('close', () => resolve({ status: res.statusCode, whole: res.complete, frames: framesOf(text) }));
    });
    rq.on('error', reject);
  });
}

const framesOf = (text) => text.replace(/^retry: 2000\n/, '').split('\n\n').slice(0, -1).filter((f) => !f.startsWith(':'));
const eventOf = (frame) => /\nevent: (.*)\n/.exec(frame)[1];
const dataOf = (frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7));

test('a thousand broken lines: what came in pieces is what there is', { timeout: 120_000 }, async (t) => {
  const server = await startServer(t, { env: await model(t, words(600, 5)) });
  const run = await begin(server, await conversation(server));
  let broken = 0;
  const readers = await Promise.all(Array.from({ length: 20 }, async () => {
    const got = [];
    while (!got.length || eventOf(got.at(-1)) !== 'done') {
      const { frames, whole } = await readSome(server, run, got.length, Math.random() * 2000);
      got.push(...frames);
      broken += !whole;
    }
    return got;
  }));
  // Those who lived too well read the finished run again, in pieces.
  const log = framesOf((await request(server, `/api/runs/${run}/events`)).text);
  while (broken < 1000) {
    const got = [];
    while (got.length < log.length) {
      const { frames, whole } = await readSome(server, run, got.length, Math.random() * 4000);
      got.push(...frames);
      broken += !whole;
    }
    readers.push(got);
  }
  for (const got of readers) assert.deepEqual(got, log);
  assert.equal(log.filter((f) => eventOf(f) === 'chunk').map((f) => dataOf(f).text).join(''), Array.from({ length: 600 }, (_, i) => `wörd${i} `).join(''));
});

test('one who does not read is sent away, and may come back for the rest', { timeout: 60_000 }, async (t) => {
  let finish;
  const env = await model(t, async (asked, say, rs) => {
    say.begin();
    for (let i = 0; i < 400; i++) say(`${i} ${'x'.repeat(8000)}`);
    await new Promise((r) => { finish = r; rs.on('close', r); });
    say.end();
  });
  const server = await startServer(t, { env });
  const run = await begin(server, await conversation(server));
  const dropped = async () => Number(/^talaria_\S*dropped\S* (\d+)/m.exec((await request(server, '/metrics')).text)[1]);
  const before = await dropped();
  const slow = net.connect(server.port, '127.0.0.1');
  t.after(() => slow.destroy());
  slow.on('error', () => {});
  slow.write(`GET /api/runs/${run}/events HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
  slow.pause();
  const since = Date.now();
  while (await dropped() === before) {
    assert.ok(Date.now() - since < 30_000, 'nobody was sent away');
    await sleep(250);
  }
  assert.ok(Date.now() - since > 9_000, 'ten seconds are given');
  let text = '';
  slow.setEncoding('latin1');
  slow.on('data', (d) => (text += d));
  await new Promise((r) => { slow.on('close', r); slow.resume(); });
  finish();
  // What came is the beginning of the log, and the rest is there.
  const log = framesOf((await request(server, `/api/runs/${run}/events`)).text);
  const seen = [...text.matchAll(/^id: \S+:(\d+)$/gm)].length - 1;
  assert.ok(seen > 0 && seen < log.length, `${seen} of ${log.length}`);
  const rest = framesOf((await request(server, `/api/runs/${run}/events?after=${seen}`)).text);
  assert.deepEqual(rest, log.slice(seen));
  assert.equal(dataOf(log.at(-1)).status, 'completed', 'the run was not held up');
});

/** The bytes of an answer that goes on, as they come. */
function listen(t, server, target) {
  const got = { text: '', ended: false };
  const rq = http.get({ host: '127.0.0.1', port: server.port, path: target, agent: false, headers: { Host: server.host, Authorization: `Bearer ${server.token}` } }, (res) => {
    res.setEncoding('utf8');
    res.on('data', (d) => (got.text += d));
    res.on('error', () => {});
    res.on('close', () => (got.ended = true));
  });
  rq.on('error', () => {});
  t.after(() => rq.destroy());
  return got;
}

test('one who hears nothing gets a sign of life within fifteen seconds, one who hears words does not', { timeout: 60_000 }, async (t) => {
  const env = await model(t, async (asked, say, rs) => {
    if (/speak/.test(JSON.stringify(asked))) return words(40, 400)(asked, say, rs);
    say.begin();
    say('one word, and then nothing');
    await new Promise((r) => rs.on('close', r));
  });
  const server = await startServer(t, { env });
  const silent = listen(t, server, `/api/runs/${await begin(server, await conversation(server), 'think')}/events`);
  const spoken = listen(t, server, `/api/runs/${await begin(server, await conversation(server), 'speak')}/events`);
  const page = listen(t, server, '/api/events');
  const since = Date.now();
  const alive = (it) => /^:/m.test(it.text);
  while (!alive(silent) || !alive(page) || !spoken.ended) {
    assert.ok(Date.now() - since < 30_000, `nothing is heard: run ${alive(silent)}, page ${alive(page)}, words ${spoken.ended}`);
    if (alive(silent)) silent.at ??= Date.now() - since;
    await sleep(50);
  }
  assert.ok((silent.at ?? 0) < 17_000, `after ${silent.at} ms`);
  assert.ok(!alive(spoken), 'words are sign enough');
  assert.equal(framesOf(spoken.text).filter((f) => eventOf(f) === 'chunk').length, 40);
});

test('a run whose events were pruned is 204, one that never was 404', async (t) => {
  const home = tmpHome();
  let server = await startServer(t, { home });
  const id = await conversation(server, {});
  const run = (await post(server, `/api/conversations/${id}/chat`, { text: 'hi' })).headers['x-run-id'];
  await server.stop();
  const db = new DatabaseSync(path.join(home.data, 'talaria.db'));
  db.prepare('UPDATE run SET ended_ms = ended_ms - ? WHERE id = ?').run(31 * 24 * 3600 * 1000, run);
  db.close();
  server = await startServer(t, { home });
  assert.equal((await request(server, `/api/runs/${run}/events`)).status, 204);
  assert.equal((await request(server, `/api/runs/${run}/events?after=3`)).status, 204);
  assert.equal((await request(server, `/api/runs/${run}`)).json.state, 'completed');
  assert.equal((await request(server, '/api/runs/rffffffffffffffffffffffff/events')).status, 404);
});

test('events that have become too old go while the server lives, too', async (t) => {
  const home = tmpHome();
  let server = await startServer(t, { home });
  const id = await conversation(server, {});
  const run = (await post(server, `/api/conversations/${id}/chat`, { text: 'hi' })).headers['x-run-id'];
  await server.stop();
  server = await startServer(t, { home });
  assert.equal((await request(server, `/api/runs/${run}/events`)).status, 200);
  const db = new DatabaseSync(path.join(home.data, 'talaria.db'));
  db.prepare('UPDATE run SET ended_ms = ended_ms - ? WHERE id = ?').run(31 * 24 * 3600 * 1000, run);
  db.close();
  const lock = path.join(home.data, 'agent/pdead.lock');
  fs.writeFileSync(lock, '');
  fs.utimesSync(lock, Date.now() / 1000, Date.now() / 1000 - 2 * 24 * 3600);
  assert.equal((await post(server, `/api/conversations/${id}/chat`, { text: 'hi again' })).status, 200);
  const until = Date.now() + 20_000;
  for (let status; (status = (await request(server, `/api/runs/${run}/events`)).status) !== 204;) assert.ok(status === 200 && Date.now() < until, `still ${status}`);
  assert.ok(!fs.existsSync(lock), 'nor does what a killed process left stay');
  assert.equal(fs.readdirSync(path.join(home.data, 'agent')).filter((f) => f.endsWith('.lock')).length, 1, 'its own is its own');
});

test('a cancel may be said twice, and after the end; of an unknown run it is 404', async (t) => {
  const server = await startServer(t, { env: await model(t, words(2000, 10)) });
  const run = await begin(server, await conversation(server));
  const cancel = () => post(server, `/api/runs/${run}/cancel`, {});
  const both = await Promise.all([cancel(), cancel()]);
  assert.deepEqual(both.map((r) => r.status), [200, 200]);
  const log = framesOf((await request(server, `/api/runs/${run}/events`)).text);
  assert.deepEqual(log.map(eventOf).filter((e) => e === 'error' || e === 'done'), ['done']);
  assert.equal(dataOf(log.at(-1)).status, 'cancelled');
  const after = await cancel();
  assert.equal(after.status, 200);
  assert.equal(after.json.state, 'cancelled');
  assert.equal((await request(server, `/api/runs/${run}/events`)).text.length, framesOf((await request(server, `/api/runs/${run}/events`)).text).join('\n\n').length + 'retry: 2000\n\n\n'.length);
  assert.equal((await post(server, '/api/runs/rffffffffffffffffffffffff/cancel', {})).status, 404);
});

test('a stream speaks HTTP as it should: chunked and ended for 1.1, plain for 1.0, the guard before all', async (t) => {
  const server = await startServer(t, { env: await model(t, words(3, 1)) });
  const id = await conversation(server);
  const run = (await post(server, `/api/conversations/${id}/chat`, { text: 'go' })).headers['x-run-id'];
  const raw = (head, half = false) => new Promise((resolve, reject) => {
    const s = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: half }, () => (half ? s.end(head) : s.write(head)));
    let text = '';
    s.setEncoding('utf8');
    s.on('data', (d) => (text += d));
    s.on('close', () => resolve(text));
    s.on('error', reject);
  });
  const head = (version, more = '') => `GET /api/runs/${run}/events HTTP/${version}\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n${more}\r\n`;
  const one = await raw(head('1.1'));
  assert.match(one, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(one, /\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  for (const h of ['Transfer-Encoding: chunked', 'Connection: close', 'X-Content-Type-Options: nosniff', "Content-Security-Policy: default-src 'self'", `X-Run-Id: ${run}`]) assert.ok(one.includes(`\r\n${h}`), h);
  assert.ok(one.endsWith('\r\n0\r\n\r\n'));
  // One who closes his own side after the question is answered all the same.
  const bodyOf = (text) => text.slice(text.indexOf('\r\n\r\n'));
  assert.equal(bodyOf(await raw(head('1.1'), true)), bodyOf(one));
  // What else was sent on the connection is not answered.
  assert.equal((await raw(head('1.1') + head('1.1'))).match(/HTTP\/1\.1 200/g).length, 1);
  const old = await raw(head('1.0'));
  assert.ok(!/transfer-encoding/i.test(old));
  assert.match(old, /\r\n\r\nretry: 2000\nid: /);
  assert.ok(old.endsWith('\n\n'));
  assert.match(await raw(head('1.1').replace(server.token, 'x'.repeat(43)).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')), /^HTTP\/1\.1 401 /);
});

test('a server that ends lets its streams end', async (t) => {
  const server = await startServer(t, { env: await model(t, words(2000, 10)) });
  const run = await begin(server, await conversation(server));
  const events = request(server, '/api/events');
  const read = readSome(server, run, 0, Infinity);
  while (!(await request(server, '/metrics')).text.match(/^talaria_\S*streams\S* 2$/m)) await sleep(20);
  const since = Date.now();
  const { code } = await server.stop();
  assert.equal(code, 0);
  assert.ok(Date.now() - since < 5000, 'it did not wait for them in vain');
  assert.equal((await read).whole, true);
  assert.match((await events).text, /^event: status\n/);
});

test('a first turn is told the examples of its template', async (t) => {
  const asks = [];
  const server = await startServer(t, { demo: true, env: await model(t, async (asked, say) => { asks.push(asked); say.begin(); say('done'); say.end(); }) });
  const { sessions } = (await request(server, '/api/sessions?limit=200')).json;
  let made;
  for (const s of sessions) {
    made = await post(server, '/api/templates', { session: s.id, name: 'try-it' });
    if (made.status === 201 && made.json.template.examples?.length) break;
  }
  assert.equal(made.status, 201, made.text);
  const id = await conversation(server, { runtime: 'native', template: 'try-it' });
  for (const text of ['first', 'second']) assert.equal((await post(server, `/api/conversations/${id}/chat`, { text })).status, 200);
  const mine = asks.filter((a) => a.messages.some((m) => m.role === 'user' && JSON.stringify(m.content).includes('first')));
  const tool = made.json.template.examples[0].tool_name ?? made.json.template.examples[0].tool;
  assert.ok(tool, JSON.stringify(made.json.template.examples[0]).slice(0, 300));
  assert.ok(JSON.stringify(mine[0].messages).includes(tool), 'the examples are there');
  assert.equal(mine[0].messages.at(-1).role, 'user');
});

const mb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const descriptors = (pid) => fs.readdirSync(`/proc/${pid}/fd`).length;
const children = (pid) => fs.readdirSync(`/proc/${pid}/task`).flatMap((task) => fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean));

test('turns that fail in every way leave nothing behind', { timeout: long ? 900_000 : 120_000 }, async (t) => {
  const env = await model(t, async (asked, say, rs) => {
    const how = asked.messages.at(-1).content;
    if (/401/.test(how)) { rs.writeHead(401, { 'content-type': 'application/json' }); rs.end('{"error":{"message":"no"}}'); return; }
    say.begin();
    if (/empty/.test(how)) { say.end(); return; }
    say('half ');
    setTimeout(() => rs.destroy(), 5);
  });
  const nowhere = tmpHome().user ?? '/nonexistent';
  const server = await startServer(t, { env: { ...env, TALARIA_HERMES_BASE_URL: 'http://127.0.0.1:1', PATH: nowhere } });
  const ways = [['native', '401'], ['native', 'empty'], ['native', 'cut'], ['hermes', 'refused'], ['claude', 'spawn'], ['codex', 'spawn']];
  let made = 0;
  const fail = async () => {
    const [runtime, text] = ways[made++ % ways.length];
    const id = await conversation(server, { runtime });
    const r = await post(server, `/api/conversations/${id}/chat`, { text });
    const log = framesOf(r.text);
    assert.deepEqual(log.map(eventOf).filter((e) => e === 'error' || e === 'done'), ['error', 'done'], `${runtime} ${text}`);
    assert.equal(dataOf(log.at(-1)).status, 'failed', `${runtime} ${text}`);
    const { messages } = (await request(server, `/api/conversations/${id}/messages`)).json;
    assert.equal(messages[1].content, text === 'cut' ? 'half ' : '');
  };
  const until = async (n) => {
    await Promise.all(Array.from({ length: 24 }, async () => { while (made < n) await fail(); }));
    const settled = Date.now() + 20_000;
    while (children(server.child.pid).length && Date.now() < settled) await sleep(50);
    return { descriptors: descriptors(server.child.pid), children: children(server.child.pid).length, mb: mb(server.child.pid) };
  };
  const first = await until(long ? 200 : 60), last = await until(long ? 1000 : 180);
  t.diagnostic(`after the first ${JSON.stringify(first)}, after the last ${JSON.stringify(last)}`);
  assert.equal(last.children, 0);
  assert.ok(last.descriptors <= first.descriptors + 8, `${first.descriptors} descriptors became ${last.descriptors}`);
  // A sanitizer keeps what was freed, to see who touches it.
  const watched = /lib[at]san/.test(fs.readFileSync(`/proc/${server.child.pid}/maps`, 'utf8'));
  assert.ok(watched || last.mb <= first.mb + 4, `${first.mb} MB became ${last.mb}`);
});
