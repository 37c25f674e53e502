// OpenAI's chat completions as their own SDK uses them: code that takes chunk.choices[0].delta, parameters that cannot be
// had, a chat that is sent whole each time, a client that leaves.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import OpenAI from 'openai';
import { request, startServer } from './helpers.mjs';
import { fakeModel } from './fake_model.mjs';

const user = (content) => ({ role: 'user', content });
const of = (server) => new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey: server.token, maxRetries: 0 });
const conversations = async (server) => (await request(server, '/api/conversations')).json.conversations;
async function until(what, holds) {
  for (let i = 0; i < 800; i++) {
    const value = await holds();
    if (value) return value;
    await new Promise((r) => setTimeout(r, 25));
  }
  return assert.fail(`never: ${what}`);
}

test('every chunk has a choice, but for the usage that was asked for; progress is for those who ask', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'one two three' })), server = await startServer(t, { env: fake.env }), client = of(server);
  const chunks = async (options) => {
    const all = [];
    for await (const c of await client.chat.completions.create({ model: 'native', messages: [user('count')], stream: true, ...options })) all.push(c);
    return all;
  };
  const plain = await chunks({});
  assert.equal(plain.map((c) => c.choices[0].delta.content ?? '').join(''), 'one two three');
  assert.equal(plain.at(-1).choices[0].finish_reason, 'stop');
  assert.ok(plain.every((c) => !('usage' in c) && !('talaria_progress' in c)));
  const used = await chunks({ stream_options: { include_usage: true } });
  assert.deepEqual(used.filter((c) => c.choices.length === 0).length, 1);
  assert.deepEqual([used.at(-1).choices, used.at(-1).usage.total_tokens > 0], [[], true]);
  assert.ok(used.slice(0, -1).every((c) => c.usage === null));
  const progress = await chunks({ stream_options: { include_progress: true } });
  assert.ok(progress.some((c) => c.talaria_progress && c.choices.length === 0));
});

test('what cannot be had is refused by name, in OpenAI\'s words, and no turn is begun', async (t) => {
  const fake = await fakeModel(t), server = await startServer(t, { env: fake.env }), client = of(server);
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const refused = {
    tools: { tools: [tool] }, tool_choice: { tool_choice: 'required' }, n: { n: 2 }, stop: { stop: ['END'] },
    response_format: { response_format: { type: 'json_object' } }, logprobs: { logprobs: true }, modalities: { modalities: ['text', 'audio'] },
    functions: { functions: [tool.function] }, max_tokens: { model: 'offline', max_tokens: 5 },
    messages: { messages: [user([{ type: 'text', text: 'what is this?' }, image])] },
  };
  for (const [param, body] of Object.entries(refused))
    await assert.rejects(client.chat.completions.create({ model: 'native', messages: [user('a')], ...body }), (e) => {
      assert.deepEqual([e instanceof OpenAI.BadRequestError, e.status, e.type, e.param], [true, 400, 'invalid_request_error', param], `${param}: ${e}`);
      return true;
    });
  for (const messages of [
    [user('a'), { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c1', content: '7' }],
    [user('a'), { role: 'assistant', content: 'b' }], [], [{ role: 'wizard', content: 'a' }]])
    await assert.rejects(client.chat.completions.create({ model: 'native', messages }), (e) => e.status === 400 && e.param === 'messages' && /message/.test(e.message));
  assert.equal(fake.turns.length, 0);
  assert.deepEqual(await conversations(server), []);
  // What says nothing is nothing to refuse.
  const fine = await client.chat.completions.create({ model: 'native', messages: [user([{ type: 'text', text: 'a' }])], tools: [], tool_choice: 'auto', n: 1, stop: null,
    response_format: { type: 'text' }, temperature: 0.2, top_p: 1, user: 'u', max_completion_tokens: 77 });
  assert.equal(fine.choices[0].message.content, 'fine.');
  assert.equal(fake.turns[0].body.max_tokens ?? fake.turns[0].body.max_completion_tokens, 77);
});

test('models: those that are there, one by its name', async (t) => {
  const server = await startServer(t), client = of(server);
  const there = (await request(server, '/api/runtimes')).json.runtimes.filter((r) => r.available).map((r) => r.name);
  assert.deepEqual((await client.models.list()).data.map((m) => m.id).sort(), there.sort());
  assert.ok(there.includes('offline') && there.length < 5);
  assert.equal((await client.models.retrieve('offline')).id, 'offline');
  assert.equal((await client.models.retrieve('offline/x')).id, 'offline/x');
  await assert.rejects(client.models.retrieve('gpt-none'), (e) => e.status === 404 && e.param === 'model');
});

test('an API of OpenAI that is not here says which one is', async (t) => {
  const server = await startServer(t);
  for (const at of ['/v1/responses', '/v1/embeddings', '/v1/messages']) {
    const r = await request(server, at, { method: 'POST', body: { model: 'native', input: 'hello' } });
    assert.equal(r.status, 404);
    assert.equal(r.json.error.type, 'invalid_request_error');
    assert.match(r.json.error.message, /only \/v1\/chat\/completions/);
  }
});

test('a chat that is sent whole each time is one conversation; another answer or another beginning is another', async (t) => {
  const fake = await fakeModel(t, (q) => ({ text: `answer ${q.messages.filter((m) => m.role === 'user').length}\n\nto it ` })), server = await startServer(t, { env: fake.env }), client = of(server);
  const messages = [{ role: 'system', content: 'Be short.' }];
  for (const [i, words] of ['my word is plum', 'what is it?', 'and again?'].entries()) {
    messages.push(user(words));
    const stream = i === 1; // however it is answered
    let said = '';
    if (stream) for await (const c of await client.chat.completions.create({ model: 'native', messages, stream })) said += c.choices[0].delta.content ?? '';
    else said = (await client.chat.completions.create({ model: 'native', messages })).choices[0].message.content;
    messages.push({ role: 'assistant', content: said.trim() });
  }
  const [one, ...more] = await conversations(server);
  assert.deepEqual(more, []);
  const kept = (await request(server, `/api/conversations/${one.id}/messages`)).json.messages;
  assert.deepEqual(kept.map((m) => m.role), ['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  assert.deepEqual(kept.filter((m) => m.role === 'user').map((m) => m.content), ['my word is plum', 'what is it?', 'and again?']);
  // The same last words once more: a second answer to them, which is another chat.
  await client.chat.completions.create({ model: 'native', messages: messages.slice(0, -1) });
  assert.equal((await conversations(server)).length, 2);
  // An answer that was changed, and other instructions.
  await client.chat.completions.create({ model: 'native', messages: [...messages.slice(0, -1), { role: 'assistant', content: 'something else' }, user('go on')] });
  assert.equal((await conversations(server)).length, 3);
  await client.chat.completions.create({ model: 'native', messages: [{ role: 'system', content: 'Be long.' }, ...messages.slice(1), user('go on')] });
  assert.equal((await conversations(server)).length, 4);
  assert.deepEqual(fake.turns.at(-1).messages.map((m) => m.role), ['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user']);
});

test('a chat that is sent whole goes on after a restart, and is forgotten with its conversation', async (t) => {
  const fake = await fakeModel(t, (q) => ({ text: `answer ${q.messages.filter((m) => m.role === 'user').length}` }));
  let server = await startServer(t, { env: fake.env });
  const messages = [];
  const say = async (words) => {
    messages.push(user(words));
    messages.push((await of(server).chat.completions.create({ model: 'native', messages })).choices[0].message);
  };
  const again = async () => {
    await server.stop();
    server = await startServer(t, { home: server.home, env: fake.env });
  };
  await say('my word is plum');
  await again();
  await say('what is it?');
  await again();
  await say('and again?');
  const [one, ...more] = await conversations(server);
  assert.deepEqual(more, []);
  const kept = (await request(server, `/api/conversations/${one.id}/messages`)).json.messages;
  assert.deepEqual(kept.map((m) => m.content), ['my word is plum', 'answer 1', 'what is it?', 'answer 2', 'and again?', 'answer 3']);
  const db = new DatabaseSync(path.join(server.home.data, 'talaria.db'), { readOnly: true });
  t.after(() => db.close());
  const known = () => db.prepare('SELECT count(*) AS n FROM sent_chat').get().n;
  assert.equal(known(), 3);
  assert.equal((await request(server, `/api/conversations/${one.id}`, { method: 'DELETE' })).status, 200);
  assert.equal(known(), 0);
  await say('still there?');
  assert.equal((await conversations(server)).length, 1);
});

test('of chats that are sent whole the newest are known, and no more are kept', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'yes' })), server = await startServer(t, { env: fake.env });
  const say = (...messages) => of(server).chat.completions.create({ model: 'native', messages });
  const go_on = (words) => say(user(words), { role: 'assistant', content: 'yes' }, user('go on'));
  await say(user('the first'));
  await say(user('the second'));
  const db = new DatabaseSync(path.join(server.home.data, 'talaria.db'));
  t.after(() => db.close());
  // As many as there is room for, but for one: with the next turn the first is the oldest that has no place.
  db.exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ${4096 - 2})
    INSERT INTO sent_chat(sha256, conversation_id) SELECT randomblob(32), 'none' FROM i`);
  await say(user('the third'));
  assert.equal(db.prepare('SELECT count(*) AS n FROM sent_chat').get().n, 4096);
  await go_on('the first');
  assert.equal((await conversations(server)).length, 4);
  await go_on('the third');
  assert.equal((await conversations(server)).length, 4);
});

test('equal requests with one Idempotency-Key at once: one turn, one conversation, the same answer for all', async (t) => {
  const fake = await fakeModel(t), server = await startServer(t, { env: fake.env });
  for (let round = 0; round < 5; round++) {
    const ask = () => request(server, '/v1/chat/completions', { method: 'POST', headers: { 'Idempotency-Key': `k${round}` }, body: { model: 'native', messages: [user(`hello ${round}`)] } });
    const all = await Promise.all(Array.from({ length: 12 }, ask));
    assert.deepEqual([...new Set(all.map((r) => r.status))], [200]);
    assert.equal(new Set(all.map((r) => r.json.id)).size, 1);
    assert.equal(fake.turns.length, round + 1);
    assert.equal((await conversations(server)).length, round + 1);
  }
  const other = await request(server, '/v1/chat/completions', { method: 'POST', headers: { 'Idempotency-Key': 'k0' }, body: { model: 'native', messages: [user('another')] } });
  assert.equal(other.status, 409);
});

test('a client that leaves ends its turn, streamed or not', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'a long long answer', hang: true })), server = await startServer(t, { env: fake.env }), client = of(server);
  for (const stream of [true, false]) {
    const gone = new AbortController(), before = fake.turns.length;
    const asked = client.chat.completions.create({ model: 'native', messages: [user(`stream ${stream}`)], stream }, { signal: gone.signal });
    const left = asked.then(async (s) => { for await (const c of s) void c; }).catch(() => 'left');
    await until('the model is asked', () => fake.turns.length > before);
    gone.abort();
    await left;
    const status = await until('the turn has ended', async () => {
      const [c] = await conversations(server);
      const { messages } = (await request(server, `/api/conversations/${c.id}/messages`)).json;
      return c.running ? null : messages.at(-1)?.status;
    });
    assert.equal(status, 'cancelled', `stream ${stream}`);
  }
});
