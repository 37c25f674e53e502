// kill -9 of the gateway at random points of handoffs: afterwards each session has one owner, one thread, one card.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { bin, fillHome, python, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { seeded } from './seeded.mjs';

const kills = process.env.TALARIA_LONG ? 500 : 12;

function gateway(env) {
  const child = spawn(bin, ['gateway', 'run'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((r) => child.once('exit', r));
  return { ready: new Promise((r) => child.stdout.once('data', r)), end: (signal) => { child.kill(signal); return gone; } };
}

test(`${kills} kills`, async (t) => {
  const home = tmpHome(), { env } = home, random = seeded(t);
  assert.equal(fillHome(env).code, 0);
  const sessions = runJson(['sessions', 'list', '--limit', '40'], { env }).sessions.map((s) => s.id);
  for (let i = 0; i < kills; i++) {
    const session = sessions[i % sessions.length];
    run(['handoff', 'local', '--session', session, '--detach'], { env }); // may be on its way still
    const g = gateway(env);
    await g.ready;
    await new Promise((r) => setTimeout(r, random() * 60));
    await g.end('SIGKILL');
  }
  // What a dead one held is free when its lease is over; the test does not wait for that.
  python("import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=20); db.execute('update handoff set lease_ms = 0, not_before_ms = 0'); db.commit()", path.join(home.data, 'talaria.db'));
  const g = gateway(env);
  await g.ready;
  let open = [];
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((r) => setTimeout(r, 50))) {
    open = runJson(['handoff', 'status'], { env }).handoffs.filter((h) => h.state !== 'done');
    if (open.length === 0) break;
  }
  assert.deepEqual(open, []);
  assert.equal(await g.end('SIGTERM'), 0);
  const rows = JSON.parse(python(`
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(json.dumps({
  'integrity': db.execute('pragma integrity_check').fetchone()[0],
  'handoffs': db.execute("select id, session_id, dest_key, (select count(*) from local_thread t where t.key = h.id), (select count(*) from local_message m where m.key = h.id || ':0') from handoff h order by requested_ms").fetchall(),
  'sessions': db.execute("select id, session_key, source, handoff_state from sessions where source = 'local'").fetchall(),
  'routing': [json.loads(r[0])['session_id'] for r in db.execute('select entry_json from gateway_routing')],
}))`, path.join(home.data, 'talaria.db')));
  assert.equal(rows.integrity, 'ok');
  assert.ok(rows.handoffs.length > 0);
  for (const [id, , , threads, cards] of rows.handoffs) assert.deepEqual([threads, cards], [1, 1], id);
  const last = new Map(rows.handoffs.map(([, session, key]) => [session, key]));
  assert.deepEqual(new Map(rows.sessions.map(([id, key]) => [id, key])), last);
  for (const [, , , state] of rows.sessions) assert.equal(state, 'completed');
  assert.deepEqual([...rows.routing].sort(), [...last.keys()].sort(), 'one key leads to each');
});
