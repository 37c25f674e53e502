// "Continue in chat" by the API: a session of any agent is shown as a conversation, and becomes one when it is written to.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { claudeWork, codexWork, untouched } from '../cli/agents_said.mjs';
import { query } from '../cli/handoffs.mjs';
import { makeStateDb, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from './fake_model.mjs';
import { request, startServer } from './helpers.mjs';

const CLAUDE = '11111111-aaaa-4aaa-8aaa-000000000001', CODEX = '22222222-bbbb-7bbb-8bbb-000000000002';
const of = (id, rest = '') => `/api/conversations/${id}${rest}`;

async function world(t) {
  const fake = await fakeModel(t, (q, n) => ({ text: `answer ${n}` }));
  const home = tmpHome();
  claudeWork(home, CLAUDE);
  codexWork(home, CODEX);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 4, extra: ['--no-edge'] });
  return { fake, home, server: await startServer(t, { home, env: fake.env }) };
}

test('looking shows the words and writes nothing; a turn makes the conversation', async (t) => {
  const { fake, home, server } = await world(t);
  const files = untouched(home.user);
  const seen = await request(server, of(CLAUDE));
  assert.equal(seen.status, 200, seen.text);
  assert.equal(seen.json.id, CLAUDE);
  assert.deepEqual(seen.json.continues, { session_id: CLAUDE, origin: 'claude', home: null });
  const before = (await request(server, of(CLAUDE, '/messages'))).json.messages;
  assert.deepEqual(before.map((m) => [m.seq, m.role, m.content]), [[1, 'user', 'count the boats in the harbour'], [2, 'assistant', 'Looking.'],
    [3, 'assistant', 'Two boats.'], [4, 'user', 'and their colours?'], [5, 'assistant', 'Red and blue.']]);
  assert.equal(new Set(before.map((m) => m.id)).size, before.length);
  assert.deepEqual((await request(server, of(CLAUDE, '/messages?after=3&limit=1'))).json.messages.map((m) => m.seq), [4]);
  assert.deepEqual((await request(server, of(CLAUDE, '/attachments'))).json.attachments, []);
  assert.deepEqual((await request(server, '/api/conversations')).json.conversations, []);

  const said = await request(server, of(CLAUDE, '/chat'), { method: 'POST', body: { text: 'which is faster?' } });
  assert.equal(said.status, 200, said.text);
  assert.match(said.text, /answer 1|answer/);
  assert.equal(fake.turns[0].messages.at(-1).text, 'which is faster?');
  const made = (await request(server, of(CLAUDE))).json;
  assert.notEqual(made.id, CLAUDE);
  assert.deepEqual(made.continues, { session_id: CLAUDE, origin: 'claude', home: null });
  const after = (await request(server, of(CLAUDE, '/messages'))).json.messages;
  assert.deepEqual(after.slice(0, 5).map((m) => [m.seq, m.role, m.content]), before.map((m) => [m.seq, m.role, m.content]));
  assert.deepEqual(after.slice(5).map((m) => m.content), ['which is faster?', 'answer 1']);
  assert.deepEqual((await request(server, of(made.id, '/messages'))).json.messages, after);
  const list = (await request(server, '/api/conversations')).json.conversations;
  assert.deepEqual(list.map((c) => [c.id, c.continues?.session_id]), [[made.id, CLAUDE]]);
  assert.deepEqual(untouched(home.user), files);
});

test('every source, and the other writes', async (t) => {
  const { server } = await world(t);
  const { sessions } = (await request(server, '/api/sessions')).json;
  const hermes = sessions.find((s) => s.origin === 'hermes' && s.messages > 2);
  for (const [id, origin] of [[CODEX, 'codex'], [hermes.id, 'hermes']]) {
    assert.equal((await request(server, of(id))).json.continues.origin, origin);
    const changed = await request(server, of(id), { method: 'PATCH', body: { title: `from ${origin}` } });
    assert.equal(changed.status, 200, changed.text);
    assert.equal(changed.json.title, `from ${origin}`);
    assert.equal((await request(server, of(id))).json.id, changed.json.id);
  }
  const branch = await request(server, of(CLAUDE, '/branch'), { method: 'POST', body: { through: 3 } });
  assert.equal(branch.status, 201, branch.text);
  assert.equal((await request(server, of(branch.json.id, '/messages'))).json.messages.length, 3);
  const file = await request(server, of(CLAUDE, '/files'), { method: 'POST', body: { name: 'a.txt', data: Buffer.from('hi').toString('base64') } });
  assert.equal(file.status, 201, file.text);
  const none = await request(server, of('nobody-here'));
  assert.equal(none.status, 404);
  assert.match(none.text, /no session 'nobody-here'/);
  assert.equal((await request(server, of('nobody-here', '/chat'), { method: 'POST', body: { text: 'x' } })).status, 404);
});

test('many first turns at once: one conversation', async (t) => {
  const { home, server } = await world(t);
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) =>
    request(server, of(CLAUDE, '/files'), { method: 'POST', body: { name: `${i}.txt`, data: Buffer.from(`${i}`).toString('base64') } })));
  assert.deepEqual(all.map((r) => r.status), Array(8).fill(201));
  assert.equal(query(path.join(home.data, 'talaria.db'), 'select count(*) from conversation')[0][0], 1);
  assert.equal((await request(server, of(CLAUDE, '/attachments'))).json.attachments.length, 8);
});
