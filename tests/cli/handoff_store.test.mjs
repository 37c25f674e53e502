// Handoffs of sessions in a database of Hermes, in both of its journal modes: a writer and a reader beside the gateway hold
// nothing up for good, and nobody is told of a lock that was only passing.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from './handoffs.mjs';
import { bin, pythonPeer, tmpHome } from './helpers.mjs';
import { hermesStore, request, sessionsOf, shown } from './hermes_store.mjs';

/** Beside a reader that this test began. */
const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});
const ok = async (args, env) => {
  const r = await run(args, env);
  assert.equal(r.code, 0, `${args.join(' ')}: ${r.stderr}`);
  return r;
};
const sound = (file) => query(file, 'pragma integrity_check')[0][0];

for (const mode of ['delete', 'wal']) {
  test(`journal ${mode}: there and back, ten times`, { timeout: 120_000 }, async (t) => {
    const home = tmpHome(), { env } = home, file = hermesStore(home, `schema25_${mode}`), g = await gateway(env);
    t.after(() => g.end());
    for (const id of sessionsOf(file).slice(0, 10)) {
      const source = () => query(file, `select source from sessions where id = '${id}'`)[0][0], before = source();
      await ok(['handoff', 'local', '--session', id], env);
      assert.equal(source(), 'local');
      await ok(['handoff', 'back', '--session', id], env);
      assert.equal(source(), before);
    }
    assert.doesNotMatch(g.said(), /locked by another|in the middle of a write/);
    assert.equal(query(file, 'pragma journal_mode')[0][0], mode);
    assert.equal(sound(file), 'ok');
  });

  test(`journal ${mode}: requests of Hermes' terminal, one after the other and all at once`, { timeout: 120_000 }, async (t) => {
    const home = tmpHome(), { env } = home, file = hermesStore(home, `schema25_${mode}`), g = await gateway(env);
    t.after(() => g.end());
    const ours = path.join(home.data, 'talaria.db'), ids = sessionsOf(file);
    const arrived = (id) => until(() => `${id}: ${shown(file, id)} ${g.said()}`, () => shown(file, id)[0] === 'completed', 60_000);
    for (const id of ids.slice(0, 5)) {
      assert.equal(request(file, id, 'local'), 1);
      await arrived(id);
    }
    for (const id of ids) assert.equal(request(file, id, 'local'), 1);
    for (const id of ids) await arrived(id);
    await until('nothing is left queued', () => query(ours, "select 1 from handoff where state not in ('done', 'failed', 'cancelled')").length === 0);
    assert.equal(query(ours, 'select count(*) from handoff')[0][0], ids.length + 5, 'one for each request');
    for (const id of ids) assert.equal(query(file, `select count(*) from gateway_routing where json_extract(entry_json, '$.session_id') = '${id}'`)[0][0], 1);
    assert.doesNotMatch(g.said(), /locked by another|in the middle of a write/);
    assert.equal(sound(file), 'ok');
  });

  test(`journal ${mode}: beside readers that hold the database for half a second none fails`, { timeout: 120_000 }, async (t) => {
    const home = tmpHome(), { env } = home, file = hermesStore(home, `schema25_${mode}`), g = await gateway(env);
    const reader = pythonPeer(`
import sqlite3, sys, time
for line in sys.stdin:
    db = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True, timeout=20, isolation_level=None)
    db.execute('begin')
    db.execute('select count(*) from sessions').fetchone()
    print('holds')
    time.sleep(0.5)
    db.execute('commit')
    db.close()`, file);
    t.after(() => reader.end());
    t.after(() => g.end());
    for (const id of sessionsOf(file).slice(0, 4))
      for (const args of [['handoff', 'local', '--session', id], ['handoff', 'back', '--session', id]]) {
        reader.say('');
        assert.equal(await reader.next(), 'holds');
        await ok(args, env);
      }
    assert.doesNotMatch(g.said(), /in the middle of a write/);
    assert.equal(sound(file), 'ok');
  });
}

test('a database that stays locked is told of once', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(), { env } = home, file = hermesStore(home, 'schema25_delete'), g = await gateway(env);
  t.after(() => g.end());
  const [first, second] = sessionsOf(file);
  assert.equal(request(file, first, 'local'), 1);
  await until('the first one', () => shown(file, first)[0] === 'completed', 60_000);
  const holder = pythonPeer(`
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
db.execute("update sessions set handoff_state = 'pending', handoff_platform = 'local' where id = ?", (sys.argv[2],))
db.execute('begin exclusive')
print('holds')
sys.stdin.readline()
db.execute('commit')`, file, second);
  t.after(() => holder.end());
  assert.equal(await holder.next(), 'holds');
  await until('the first warning', () => /locked by another/.test(g.said()), 30_000);
  // Its looks go on meanwhile: whatever else changes wakes it.
  for (let i = 0; i < 8; i++) {
    const r = await run(['handoff', 'local', '--session', first, '--detach'], env);
    assert.notEqual(r.code, 0);
  }
  assert.equal(g.said().match(/locked by another/g).length, 1, g.said());
  holder.say('');
  await until('the second one', () => shown(file, second)[0] === 'completed', 60_000);
});

test('where new messages are kept is said, and Hermes is not promised what it cannot see', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(), { env } = home, file = hermesStore(home, 'schema25_delete'), g = await gateway(env);
  t.after(() => g.end());
  const ours = path.join(home.data, 'talaria.db'), [id] = sessionsOf(file);
  const r = await ok(['handoff', 'local', '--session', id], env);
  assert.match(r.stderr, /new messages there are kept by Talaria, not by Hermes/);
  assert.doesNotMatch(r.stderr, /hermes --resume/);
  const [[card]] = query(ours, "select text from local_message where text like 'Session handed over%'");
  assert.match(card, /New messages are kept by Talaria; Hermes does not see them\.$/);
  const before = await ok(['handoff', 'back', '--session', id], env);
  assert.match(before.stdout, /to continue: hermes --resume/, 'nothing was said there: Hermes has all of it');
});

test('a home before gateway_routing is refused at once', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(), { env } = home, file = hermesStore(home, 'schema11_wal'), g = await gateway(env);
  t.after(() => g.end());
  const r = await run(['handoff', 'local', '--session', sessionsOf(file)[0]], env);
  assert.equal(r.code, 5, r.stderr);
  assert.match(r.stderr, /has no table gateway_routing: it is of an older Hermes; update Hermes/);
  assert.equal(query(path.join(home.data, 'talaria.db'), 'select count(*) from handoff')[0][0], 0);
});

test('a platform that no running gateway serves is refused at once; --wait queues', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(), { env } = home, file = hermesStore(home, 'schema25_wal'), [id] = sessionsOf(file), g = await gateway(env);
  t.after(() => g.end());
  const r = await run(['handoff', 'telegram', '--session', id], env);
  assert.equal(r.code, 5, r.stderr);
  assert.match(r.stderr, /no running gateway serves telegram[^]*--wait queues/);
  assert.equal(shown(file, id)[0], null);
  const child = execFile(bin, ['handoff', 'telegram', '--session', id, '--wait'], { env }), gone = new Promise((done) => child.once('exit', done));
  await until('queued', () => shown(file, id)[0] === 'pending', 30_000);
  child.kill('SIGINT');
  assert.equal(await gone, 130);
  assert.equal(shown(file, id)[0], 'failed');
});
