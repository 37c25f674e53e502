// One scan at a time, whoever asks and whatever happens to it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeStateDb, python, runJson, tmpHome } from '../cli/helpers.mjs';
import { events, plugin, request, sleep, startServer } from './helpers.mjs';

const status = async (server) => (await request(server, `${plugin}/scan-status`)).json;

/** Asks for the status until it is as wanted. */
async function until(server, fits) {
  for (const end = Date.now() + 30_000; !fits(await status(server)); await sleep(10)) assert.ok(Date.now() < end, 'never as wanted');
}

function homeWith(t, options) {
  const home = tmpHome(t);
  home.db = path.join(home.hermes, 'state.db');
  if (options) makeStateDb(home.db, options);
  home.folder = path.join(home.hermes, 'plugins/hermes-achievements');
  return home;
}

/** Another process that scans, as far as the lock tells; ends with free(). */
async function holdLock(t, home) {
  fs.mkdirSync(home.data, { recursive: true });
  const child = spawn('python3', ['-c', `import fcntl, sys
f = open(sys.argv[1], 'w')
fcntl.flock(f, fcntl.LOCK_EX)
print('held', flush=True)
sys.stdin.read()`, path.join(home.data, 'achievements.lock')], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((r) => child.stdout.once('data', r));
  return () => child.stdin.end();
}

test('nothing to show and a history that cannot be read: 503, and the reason in the status too', async (t) => {
  const home = homeWith(t);
  fs.mkdirSync(home.hermes, { recursive: true });
  fs.writeFileSync(home.db, 'this is no database, whatever it is called'.repeat(100));
  const server = await startServer(t, { home });
  const r = await request(server, `${plugin}/achievements`);
  assert.equal(r.status, 503);
  assert.equal(r.headers['content-type'], 'application/problem+json');
  const now = await status(server);
  assert.equal(now.state, 'failed');
  assert.match(now.last_error, /not a database/);
  assert.equal(r.json.detail, now.last_error);
  assert.equal((await request(server, `${plugin}/rescan`, { method: 'POST' })).status, 503);
});

test('another process scans: pending after ten seconds, the status at once, then the answer', { timeout: 60_000 }, async (t) => {
  const home = homeWith(t, { sessions: 40, seed: 6 });
  const free = await holdLock(t, home);
  const server = await startServer(t, { home });
  const begun = Date.now();
  const first = request(server, `${plugin}/achievements`);
  await until(server, (s) => s.state === 'running');
  const asked = Date.now();
  assert.equal((await status(server)).state, 'running');
  assert.ok(Date.now() - asked < 2000, 'the status waits for nobody');
  const joins = [1, 2, 3].map(() => request(server, `${plugin}/rescan`, { method: 'POST' }));
  const pending = (await first).json;
  assert.ok(Date.now() - begun >= 9500, 'the first to ask wait');
  assert.equal(pending.scan_meta.mode, 'pending');
  assert.equal(pending.unlocked_count, 0);
  assert.equal(pending.is_stale, false);
  free();
  for (const r of await Promise.all(joins)) assert.equal(r.json.ok, true);
  const then = await status(server);
  assert.equal(then.run_count, 1, 'all of them shared one scan');
  assert.ok(then.joined >= 3);
  assert.ok(then.started_at > 0 && then.finished_at >= then.started_at);
  assert.equal(then.sessions_done, then.sessions_total);
  assert.ok(then.sessions_total > 0);
});

/** Holds the database so that nobody can read it, until free(). */
async function holdDatabase(t, file) {
  const child = spawn('python3', ['-c', `import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('BEGIN EXCLUSIVE')
print('held', flush=True)
sys.stdin.read()
c.execute('ROLLBACK')
c.close()`, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((r) => child.stdout.once('data', r));
  return () => new Promise((r) => { child.once('exit', r); child.stdin.end(); });
}

for (const [name, list, prefix] of [['the plugin', `${plugin}/achievements`, plugin], ['all sources', '/api/achievements', '/api/achievements']])
  test(`${name}: a scan that fails gives the earlier snapshot, and the error goes with its cause`, { timeout: 120_000 }, async (t) => {
    const home = homeWith(t, { sessions: 40, seed: 6 });
    python('import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("pragma journal_mode=delete")', home.db);
    const server = await startServer(t, { home });
    const first = await request(server, `${prefix}/scan-status`);
    for (const key of ['started_at', 'finished_at', 'last_duration_ms']) assert.equal(first.json[key], null, key);
    const before = (await request(server, `${prefix}/rescan`, { method: 'POST' })).json;
    assert.deepEqual([before.ok, before.is_stale, before.error], [true, false, null]);
    const free = await holdDatabase(t, home.db);
    const failed = await request(server, `${prefix}/rescan`, { method: 'POST' });
    assert.equal(failed.status, 200);
    assert.deepEqual([failed.json.ok, failed.json.is_stale, failed.json.unlocked_count], [false, true, before.unlocked_count]);
    assert.match(failed.json.error, /locked/);
    assert.equal(failed.json.scan_meta.error, failed.json.error);
    await free(); // without a write
    let now;
    for (const end = Date.now() + 60_000; !now || now.error || now.is_stale; await sleep(100)) {
      assert.ok(Date.now() < end, 'the error stays');
      now = (await request(server, list)).json;
    }
    assert.equal((await request(server, `${prefix}/scan-status`)).json.state, 'idle');
  });

test('without a snapshot requests wait for one: at first, after a reset, after a failure; who shares a scan has joined', { timeout: 60_000 }, async (t) => {
  const home = homeWith(t, { sessions: 40, seed: 6 });
  const good = fs.readFileSync(home.db);
  fs.writeFileSync(home.db, 'this is no database, whatever it is called'.repeat(100));
  const server = await startServer(t, { home });
  const get = () => request(server, `${plugin}/achievements`);
  assert.equal((await get()).status, 503);
  fs.writeFileSync(`${home.db}.new`, good);
  fs.renameSync(`${home.db}.new`, home.db);
  let r;
  for (const end = Date.now() + 30_000; (r = await get()).status !== 200; await sleep(50)) assert.ok(Date.now() < end);
  assert.equal(r.json.scan_meta.mode, 'full', 'after a failure');
  for (const reset of [`${plugin}/reset-state`, '/api/achievements/reset']) {
    assert.equal((await request(server, reset, { method: 'POST' })).status, 200);
    const after = (await request(server, reset === '/api/achievements/reset' ? '/api/achievements' : `${plugin}/achievements`)).json;
    assert.ok(['full', 'incremental'].includes(after.scan_meta.mode), `${reset}: ${after.scan_meta.mode}`);
    assert.ok(after.unlocked_count > 0);
  }
  await request(server, `${plugin}/reset-state`, { method: 'POST' });
  const free = await holdLock(t, home);
  const before = await status(server);
  const many = Array.from({ length: 20 }, get);
  await until(server, (s) => s.state === 'running');
  const open = async () => Number(/^talaria_http_connections (\d+)/m.exec((await request(server, '/metrics')).text)[1]);
  for (const end = Date.now() + 8000; (await open()) < 21 && Date.now() < end; await sleep(20));
  free();
  for (const one of await Promise.all(many)) assert.equal(one.status, 200);
  const then = await status(server);
  assert.equal(then.run_count, before.run_count + 1);
  assert.ok(then.joined >= before.joined + 10, `${then.joined - before.joined} joined`);
});

test('a reset while a scan runs wins', async (t) => {
  const home = homeWith(t, { sessions: 40, seed: 6 });
  const server = await startServer(t, { home });
  assert.equal((await request(server, `${plugin}/rescan`, { method: 'POST' })).json.ok, true);
  const free = await holdLock(t, home);
  const scan = request(server, `${plugin}/rescan`, { method: 'POST' });
  await until(server, (s) => s.state === 'running');
  const reset = request(server, `${plugin}/reset-state`, { method: 'POST' });
  await until(server, (s) => s.snapshot_generated_at === 0); // both wait for the other process
  free();
  assert.deepEqual((await reset).json, { ok: true });
  assert.equal((await scan).status, 503);
  assert.equal((await status(server)).snapshot_generated_at, 0, 'nothing of that scan is shown');
});

test('achievements.ttl: older than that, what is new is counted behind the answer', async (t) => {
  const home = homeWith(t, { sessions: 40, seed: 6 });
  const config = path.join(home.user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(config), { recursive: true });
  fs.writeFileSync(config, 'achievements:\n  ttl: 2\n');
  const server = await startServer(t, { home });
  const stream = await events(server);
  const total = async () => (await request(server, '/api/achievements')).json;
  const before = await total();
  assert.equal(before.is_stale, false);
  assert.equal((await request(server, '/api/achievements/scan-status')).json.ttl_seconds, 2);
  const progress = JSON.parse((await stream.next('progress')).data);
  assert.ok(progress.total > 0 && progress.done <= progress.total);
  python(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("insert into sessions(id, source, started_at) values ('new', 'cli', 1.8e9)")
c.execute("insert into messages(session_id, role, content, timestamp) values ('new', 'user', 'hello', 1.8e9)")
c.commit()`, home.db);
  let now = before;
  for (let i = 0; i < 300 && now.scan_meta.sessions_total === before.scan_meta.sessions_total; i++) {
    await sleep(50);
    now = await total();
  }
  assert.equal(now.scan_meta.sessions_total, before.scan_meta.sessions_total + 1);
  assert.equal(now.scan_meta.sessions_rescanned, 1);
  stream.close();
});

test('the two large files are written when they say anything new, and at the end', async (t) => {
  const home = homeWith(t, { sessions: 40, seed: 6 });
  const files = ['scan_snapshot.json', 'scan_checkpoint.json'].map((f) => path.join(home.folder, f));
  const inodes = () => files.map((f) => fs.statSync(f).ino + fs.statSync(f).mtimeMs);
  runJson(['achievements', 'scan', '--source', 'hermes'], home);
  const first = inodes();
  runJson(['achievements', 'scan', '--source', 'hermes'], home);
  runJson(['achievements', 'scan', '--source', 'hermes', '--full'], home);
  assert.deepEqual(inodes(), first, 'nothing new, nothing written');
  const server = await startServer(t, { home });
  python(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("update sessions set title = 'another name' where rowid = (select min(rowid) from sessions where archived = 0)")
c.commit()`, home.db);
  await request(server, `${plugin}/rescan`, { method: 'POST' });
  await server.stop();
  assert.notDeepEqual(inodes(), first);
  assert.match(fs.readFileSync(files[0], 'utf8'), /another name/);
  fs.rmSync(files[1]);
  runJson(['achievements', 'scan', '--source', 'hermes'], home);
  assert.ok(fs.existsSync(files[1]), 'what is gone is written again');
});
