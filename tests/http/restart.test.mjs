// What a server knows of the badges when it begins again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeStateDb, python, tmpHome } from '../cli/helpers.mjs';
import { plugin, request, sleep, startServer } from './helpers.mjs';

const old = new Date(Date.now() - 3600_000);

/** A home whose history was counted by a server that has ended; its database was written an hour ago. */
async function counted(t) {
  const home = tmpHome(t);
  const db = path.join(home.hermes, 'state.db');
  makeStateDb(db, { sessions: 60, seed: 6 });
  fs.utimesSync(db, old, old);
  const server = await startServer(t, { home });
  const answer = (await request(server, `${plugin}/achievements`)).json;
  await server.stop();
  const file = path.join(home.hermes, 'plugins/hermes-achievements/scan_snapshot.json');
  assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).unlocked_count, answer.unlocked_count);
  return { home, db, file, answer };
}

const status = async (server) => (await request(server, `${plugin}/scan-status`)).json;

test('where nothing changed, the last answer is given at once and nothing is scanned', async (t) => {
  const { home, answer } = await counted(t);
  const server = await startServer(t, { home });
  const again = (await request(server, `${plugin}/achievements`)).json;
  assert.deepEqual(again.achievements, answer.achievements);
  assert.equal(again.is_stale, false);
  assert.equal((await status(server)).run_count, 0);
  const id = again.achievements.find((a) => a.evidence)?.evidence.session_id;
  assert.ok((await request(server, `${plugin}/sessions/${id}/badges`)).json.badges.length > 0, 'the sessions behind it are known too');
});

test('an answer that another program wrote is taken as it is, while it is fresh', async (t) => {
  const { home, file, answer } = await counted(t);
  fs.rmSync(path.join(home.data, 'index.db'));
  const theirs = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const key of ['duration_ms', 'error', 'messages_scanned', 'sessions_scanned']) delete theirs.scan_meta[key];
  for (const a of theirs.achievements) if (a.evidence) delete a.evidence.message_id;
  theirs.generated_at = Math.floor(Date.now() / 1000) - 30;
  fs.writeFileSync(file, JSON.stringify(theirs, null, 2));
  const server = await startServer(t, { home });
  const again = (await request(server, `${plugin}/achievements`)).json;
  assert.equal(again.generated_at, theirs.generated_at);
  assert.equal(again.is_stale, false);
  assert.equal(again.unlocked_count, answer.unlocked_count);
  const evidence = (list) => list.map((a) => a.evidence && { ...a.evidence, message_id: 0 });
  assert.deepEqual(evidence(again.achievements), evidence(answer.achievements));
  assert.equal((await status(server)).run_count, 0);
});

test('an old one is shown until the scan behind it has ended', async (t) => {
  const { home, file, answer } = await counted(t);
  fs.rmSync(path.join(home.data, 'index.db'));
  const theirs = { ...JSON.parse(fs.readFileSync(file, 'utf8')), generated_at: 1_700_000_000 };
  fs.writeFileSync(file, JSON.stringify(theirs));
  const server = await startServer(t, { home });
  const first = (await request(server, `${plugin}/achievements`)).json;
  assert.equal(first.unlocked_count, answer.unlocked_count);
  let then = first; // answers are kept for a second
  for (const end = Date.now() + 30_000; then.is_stale || then.generated_at === 1_700_000_000; await sleep(50)) {
    assert.ok(Date.now() < end, 'never new');
    then = (await request(server, `${plugin}/achievements`)).json;
  }
  assert.equal((await status(server)).run_count, 1);
});

for (const [name, text] of [['damaged', '{"achievements": ['], ['of a scan that failed', '{"error": "no", "achievements": [], "aggregate": {}, "scan_meta": {"mode": "failed"}}']]) {
  test(`one that is ${name} is no answer`, async (t) => {
    const { home, file, answer } = await counted(t);
    fs.rmSync(path.join(home.data, 'index.db'));
    fs.writeFileSync(file, text);
    const server = await startServer(t, { home });
    assert.equal((await request(server, `${plugin}/achievements`)).json.unlocked_count, answer.unlocked_count);
    assert.equal((await status(server)).run_count, 1);
  });
}

test('a history that cannot be read: the last answer, marked as stale, and the reason', async (t) => {
  const { home, db, answer } = await counted(t);
  fs.writeFileSync(db, 'this is no database, whatever it is called'.repeat(100));
  const server = await startServer(t, { home });
  let now;
  for (let i = 0; i < 100; i++) {
    now = (await request(server, `${plugin}/achievements`)).json;
    assert.equal(now.unlocked_count, answer.unlocked_count);
    assert.equal(now.is_stale, true);
    if (now.scan_meta.error) break;
    await sleep(50);
  }
  assert.match(now.scan_meta.error, /not a database/);
  assert.equal(now.scan_meta.status.state, 'failed');
  assert.equal((await status(server)).snapshot_stale, true);
});

test('timed: warm answers: kept ones, the first after a restart, a scan with nothing new and with one session more', { timeout: 60_000 }, async (t) => {
  const { home, db } = await counted(t);
  const server = await startServer(t, { home });
  const ms = async (ask) => { const begun = performance.now(); assert.equal((await ask()).status, 200); return performance.now() - begun; };
  const get = () => request(server, `${plugin}/achievements`), rescan = () => request(server, `${plugin}/rescan`, { method: 'POST' });
  const first = await ms(get), kept = [];
  for (let i = 0; i < 100; i++) kept.push(await ms(get));
  const nothing = await ms(rescan);
  python('import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("INSERT INTO sessions(id,source,started_at,title) VALUES(\'one-more\',\'cli\',1786000000,\'one more\')"); c.commit()', db);
  const one = await ms(rescan), p95 = kept.sort((a, b) => a - b)[94];
  assert.ok(p95 < 20 && first < 250 && nothing < 250 && one < 500, JSON.stringify({ p95, first, nothing, one }));
  assert.equal((await status(server)).state, 'idle');
});

test('achievements.count.profiles: the server counts the profiles too', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 10, seed: 8 });
  makeStateDb(path.join(home.hermes, 'profiles/work/state.db'), { sessions: 7, seed: 9 });
  const total = async () => {
    const server = await startServer(t, { home });
    const { aggregate, sessions } = (await request(server, `${plugin}/rescan`, { method: 'POST' })).json;
    await server.stop();
    assert.equal(sessions.length, aggregate.session_count);
    return aggregate.session_count;
  };
  const before = await total();
  const config = path.join(home.user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(config), { recursive: true });
  fs.writeFileSync(config, 'achievements:\n  count:\n    profiles: true\n');
  assert.ok((await total()) > before);
});
