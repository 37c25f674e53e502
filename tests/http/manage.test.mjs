// PATCH and DELETE /api/sessions/{id}: the same rules as on the command line, behind the same guard as other writes.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { makeStateDb, sha, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from './fake_model.mjs';
import { events, request, startServer } from './helpers.mjs';

const patch = (server, id, body, headers) => request(server, `/api/sessions/${id}`, { method: 'PATCH', body, headers });
const remove = (server, id, options) => request(server, `/api/sessions/${id}`, { method: 'DELETE', ...options });

async function talk(server, text) {
  const c = (await request(server, '/api/conversations', { method: 'POST', body: {} })).json;
  assert.equal((await request(server, `/api/conversations/${c.id}/chat`, { method: 'POST', body: { text, runtime: 'offline' } })).status, 200);
  return c.id;
}

test('a session of ours gets a title, goes to the archive and back, and is deleted; pages are told', async (t) => {
  const server = await startServer(t);
  const id = await talk(server, 'zanzibar question');
  const stream = await events(server);
  t.after(() => stream.close());
  const renamed = await patch(server, id, { title: 'Zanzibar' });
  assert.equal(renamed.status, 200, renamed.text);
  assert.deepEqual([renamed.json.id, renamed.json.title, renamed.json.own, renamed.json.archived], [id, 'Zanzibar', true, false]);
  await stream.next('chat');
  assert.equal((await patch(server, id, { archived: true })).json.archived, true);
  assert.deepEqual((await request(server, '/api/sessions')).json.sessions, []);
  assert.equal((await request(server, '/api/sessions?archived=1')).json.sessions[0].id, id);
  assert.equal((await patch(server, id, { archived: false })).json.archived, false);
  for (const body of [{}, { title: 7 }, { archived: 'yes' }, { title: 'a\nb' }]) assert.equal((await patch(server, id, body)).status, 422, JSON.stringify(body));
  const gone = await remove(server, id);
  assert.deepEqual([gone.status, gone.json.id], [200, id], gone.text);
  assert.equal((await request(server, `/api/sessions/${id}`)).status, 404);
  assert.equal((await remove(server, id)).status, 404);
  assert.deepEqual((await request(server, '/api/search?q=zanzibar')).json.hits, []);
});

test('sessions of Hermes are refused; so are strangers', async (t) => {
  const home = tmpHome();
  const state = path.join(home.hermes, 'state.db');
  makeStateDb(state, { sessions: 2, messages: 4 });
  const before = sha(state);
  const server = await startServer(t, { home });
  const [s] = (await request(server, '/api/sessions')).json.sessions;
  assert.equal(s.own, false);
  for (const r of [await patch(server, s.id, { title: 'x' }), await remove(server, s.id)]) {
    assert.equal(r.status, 403);
    assert.match(r.text, /belongs to Hermes Agent; Talaria does not change its file/);
  }
  assert.equal((await remove(server, s.id, { token: false })).status, 401);
  assert.equal((await remove(server, s.id, { headers: { Origin: 'http://evil.example' } })).status, 403);
  assert.equal(sha(state), before);
});

test('a session that is being answered stays until the answer is there', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'begun and then nothing more', hang: true }));
  const server = await startServer(t, { env: fake.env });
  const c = (await request(server, '/api/conversations', { method: 'POST', body: { runtime: 'native' } })).json;
  const chat = request(server, `/api/conversations/${c.id}/chat`, { method: 'POST', body: { text: 'go' } });
  let run;
  while (!(run = (await request(server, `/api/conversations/${c.id}`)).json.running)) await new Promise((r) => setTimeout(r, 5));
  const r = await remove(server, c.id);
  assert.equal(r.status, 409, r.text);
  assert.match(r.text, /is being answered/);
  await request(server, `/api/runs/${run}/cancel`, { method: 'POST' });
  await chat;
  assert.equal((await remove(server, c.id)).status, 200);
});
