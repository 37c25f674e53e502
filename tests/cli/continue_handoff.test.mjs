// A session of another agent is handed over: its conversation goes and comes back, whatever happens at once or in between.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fakeModel } from '../http/fake_model.mjs';
import { claudeWork, codexWork, start, untouched } from './agents_said.mjs';
import { gateway, query, until } from './handoffs.mjs';
import { run, runJson, tmpHome } from './helpers.mjs';

const CLAUDE = '11111111-aaaa-4aaa-8aaa-000000000001', CODEX = '22222222-bbbb-7bbb-8bbb-000000000002';
const database = (home) => path.join(home.data, 'talaria.db');

test('a session of Claude Code goes to the local chat and comes back', async (t) => {
  const fake = await fakeModel(t, (q, n) => ({ text: `answer ${n}` }));
  const home = tmpHome(), env = { ...home.env, ...fake.env };
  claudeWork(home, CLAUDE);
  codexWork(home, CODEX);
  const files = untouched(home.user);
  const g = await gateway(env);
  try {
    assert.match(run(['handoff', 'back', '--session', CLAUDE], { env }).stderr, /was never handed over/);
    const r = await start(['handoff', 'local', '--session', CLAUDE.slice(0, 8), '--no-turn'], { env });
    assert.equal(r.code, 0, r.stderr);
    const [h] = runJson(['handoff', 'status'], { env }).handoffs;
    assert.equal(h.state, 'done');
    const [[id]] = query(database(home), `select conversation_id from conversation_of where session_id = '${CLAUDE}'`);
    assert.equal(h.session_id, id);
    assert.match(query(database(home), 'select text from local_message')[0][0], /Messages: 5/);
    const refused = await start(['ask', '-c', CLAUDE, 'hi'], { env });
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /handoff back --session/);
    assert.deepEqual(runJson(['handoff', 'back', '--session', CLAUDE], { env }), { format: 1, session_id: id, from: 'local' });
    const here = await start(['ask', '-c', CLAUDE, 'which is faster?'], { env });
    assert.equal(here.code, 0, here.stderr);
    assert.equal(fake.turns.at(-1).messages.find((m) => m.role === 'user').text, 'count the boats in the harbour');
    assert.deepEqual(untouched(home.user), files);
  } finally {
    await g.end();
  }
});

test('without an id the newest session of all goes, whoever wrote it', async () => {
  const home = tmpHome(), { env } = home;
  codexWork(home, CODEX);
  const g = await gateway(env);
  try {
    const r = run(['handoff', 'local', '--no-turn'], { env });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(query(database(home), 'select session_id from conversation_of')[0][0], CODEX);
  } finally {
    await g.end();
  }
});

test('two at once: one conversation, one owner', async () => {
  const home = tmpHome(), { env } = home;
  claudeWork(home, CLAUDE);
  const g = await gateway(env);
  try {
    const all = await Promise.all(Array.from({ length: 4 }, () => start(['handoff', 'local', '--session', CLAUDE, '--no-turn'], { env })));
    assert.ok(all.some((r) => r.code === 0), all.map((r) => r.stderr).join(''));
    assert.equal(query(database(home), 'select count(*) from conversation')[0][0], 1);
    assert.equal(query(database(home), 'select count(*) from conversation_of')[0][0], 1);
    assert.equal(query(database(home), "select count(*) from messages where role = 'user' and content = 'and their colours?'")[0][0], 1);
    await until('every handoff is over', () => runJson(['handoff', 'status'], { env }).handoffs.every((h) => ['done', 'failed', 'cancelled'].includes(h.state)));
    assert.deepEqual(query(database(home), 'select owner_surface from session_owner'), [['local']]);
  } finally {
    await g.end();
  }
});
