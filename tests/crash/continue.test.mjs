// kill -9 while a transcript is adopted and handed over: afterwards it has one conversation, whole, and one owner.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { claudeWork, untouched } from '../cli/agents_said.mjs';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { bin, run, runJson, tmpHome } from '../cli/helpers.mjs';

const kills = process.env.TALARIA_LONG ? 300 : 12;

/** Killed after so many milliseconds, unless it was faster. */
const killed = (args, env, ms) => new Promise((resolve) => {
  const child = spawn(bin, args, { env, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  child.once('exit', () => { clearTimeout(timer); resolve(); });
});

test(`${kills} kills between adoption and handoff`, async () => {
  const home = tmpHome(), { env } = home, ids = [];
  const database = path.join(home.data, 'talaria.db');
  for (let i = 0; i < kills; i++) ids.push(claudeWork(home, `${String(i).padStart(8, '0')}-aaaa-4aaa-8aaa-000000000001`).id);
  const files = untouched(home.user);
  let g = await gateway(env);
  for (const [i, id] of ids.entries())
    await killed(['handoff', 'local', '--session', id, '--no-turn', '--detach'], env, 5 + (i * 60) / kills);
  // Whatever was left undone is done by asking again.
  for (const id of ids) {
    const r = run(['handoff', 'local', '--session', id, '--no-turn', '--detach'], { env });
    assert.ok([0, 4].includes(r.code), r.stderr);
  }
  await until('every handoff is over', () => runJson(['handoff', 'status'], { env }).handoffs.every((h) => ['done', 'failed', 'cancelled'].includes(h.state)), 30_000);
  await g.end();
  assert.equal(query(database, 'pragma integrity_check')[0][0], 'ok');
  assert.deepEqual(query(database, 'select session_id from conversation_of order by 1').map(([id]) => id), ids);
  assert.equal(query(database, 'select count(*) from conversation')[0][0], ids.length);
  for (const [id, turns, messages] of query(database, `select c.id, (select count(*) from conversation_message x where x.conversation_id = c.id),
      (select count(*) from messages m where m.session_id = c.id) from conversation c`))
    assert.deepEqual([turns, messages], [5, 5], id);
  assert.deepEqual(query(database, 'select distinct owner_surface from session_owner'), [['local']]);
  assert.equal(query(database, 'select count(*) from session_owner')[0][0], ids.length);
  assert.deepEqual(untouched(home.user), files);
});
