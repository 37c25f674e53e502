// Conversations and runs over HTTP, with the clients that others wrote: eventsource and openai.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { EventSource } from 'eventsource';
import OpenAI from 'openai';
import { request, startServer } from './helpers.mjs';

const post = (server, target, body, headers = {}) => request(server, target, { method: 'POST', body, headers });

async function conversation(server, body = {}) {
  const r = await post(server, '/api/conversations', body);
  assert.equal(r.status, 201, r.text);
  return r.json;
}

/** The frames of a stream's bytes, as they stand. */
function frames(text) {
  assert.ok(text.startsWith('retry: 2000\n'), text.slice(0, 80));
  return text.slice('retry: 2000\n'.length).split('\n\n').filter((f) => f && !f.startsWith(':')).map((f) => {
    const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(f);
    return { id, event, data: JSON.parse(data), bytes: f };
  });
}

/** A model on loopback that streams the words it is given, slowly, as OpenAI's chat API does. */
async function model(t, words, ms = 0) {
  const server = http.createServer((rq, rs) => {
    rq.resume();
    rq.on('end', async () => {
      rs.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta, finish = null) => rs.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
      for (const w of words) {
        chunk({ content: w });
        if (ms) await new Promise((r) => setTimeout(r, ms));
      }
      chunk({}, 'stop');
      rs.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: words.length, total_tokens: 3 + words.length } })}\n\n`);
      rs.end('data: [DONE]\n\n');
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat' };
}

test('a turn streams its five events, and the words are kept', async (t) => {
  const server = await startServer(t);
  const c = await conversation(server, { title: 'first' });
  const r = await post(server, `/api/conversations/${c.id}/chat`, { text: 'what did we do?' });
  assert.equal(r.status, 200);
  assert.equal(r.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(r.headers['cache-control'], 'no-cache');
  assert.equal(r.headers['x-accel-buffering'], 'no');
  const all = frames(r.text), run = r.headers['x-run-id'];
  assert.deepEqual(all.map((f) => f.id), all.map((_, i) => `${run}:${i + 1}`));
  assert.equal(all[0].event, 'metadata');
  assert.equal(all.at(-1).event, 'done');
  const said = all.filter((f) => f.event === 'chunk').map((f) => f.data.text).join('');
  assert.equal(all.at(-1).data.chars, Buffer.byteLength(said));
  const { messages } = (await request(server, `/api/conversations/${c.id}/messages`)).json;
  assert.deepEqual(messages.map((m) => [m.role, m.content, m.status]), [['user', 'what did we do?', 'complete'], ['assistant', said, 'complete']]);
  assert.equal((await request(server, `/api/runs/${run}`)).json.state, 'completed');
  const shown = (await request(server, `/api/conversations/${c.id}`)).json;
  assert.deepEqual(shown.agent_state, { v: 1, active: 'offline', runtimes: {} });
});

test('from every place on the rest is exactly the rest; at the end there is nothing', async (t) => {
  const server = await startServer(t, { env: await model(t, ['one ', 'two ', 'drei ä ', 'four']) });
  const c = await conversation(server, { runtime: 'native' });
  const r = await post(server, `/api/conversations/${c.id}/chat`, { text: 'count' });
  const all = frames(r.text), run = r.headers['x-run-id'];
  assert.equal(all.filter((f) => f.event === 'chunk').map((f) => f.data.text).join(''), 'one two drei ä four');
  for (let i = 0; i < all.length; i++) {
    const byHeader = await request(server, `/api/runs/${run}/events`, { headers: i ? { 'Last-Event-ID': `${run}:${i}` } : {} });
    const byQuery = await request(server, `/api/runs/${run}/events?after=${i}`);
    assert.deepEqual(frames(byHeader.text).map((f) => f.bytes), all.slice(i).map((f) => f.bytes));
    assert.equal(byQuery.text, byHeader.text);
  }
  assert.equal((await request(server, `/api/runs/${run}/events`, { headers: { 'Last-Event-ID': `${run}:${all.length}` } })).status, 204);
  assert.equal((await request(server, '/api/runs/rnone/events')).status, 404);
  assert.equal((await request(server, `/api/runs/${run}/events`, { headers: { 'Last-Event-ID': 'x:1' } })).status, 400);
  const state = (await request(server, `/api/conversations/${c.id}`)).json.agent_state;
  assert.equal(state.active, 'jarvis');
  assert.deepEqual(Object.keys(state.runtimes), ['jarvis']);
});

test('three readers of a live run see the same; one that leaves does not stop it; cancel does', async (t) => {
  const server = await startServer(t, { env: await model(t, Array.from({ length: 200 }, (_, i) => `w${i} `), 10) });
  const c = await conversation(server, { runtime: 'native' });
  // The reader who began it leaves at once.
  const run = await new Promise((resolve, reject) => {
    const body = JSON.stringify({ text: 'go' });
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: `/api/conversations/${c.id}/chat`, method: 'POST', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': body.length } },
    (res) => { const id = res.headers['x-run-id']; res.once('data', () => { res.destroy(); resolve(id); }); });
    rq.on('error', reject);
    rq.end(body);
  });
  assert.equal((await post(server, `/api/conversations/${c.id}/chat`, { text: 'again' })).status, 409);
  const readers = await Promise.all([0, 1, 2].map(() => request(server, `/api/runs/${run}/events`)));
  assert.equal(readers[1].text, readers[0].text);
  assert.equal(readers[2].text, readers[0].text);
  const all = frames(readers[0].text);
  assert.equal(all.filter((f) => f.event === 'chunk').map((f) => f.data.text).join(''), Array.from({ length: 200 }, (_, i) => `w${i} `).join(''));
  assert.equal(all.at(-1).data.status, 'completed');

  const second = post(server, `/api/conversations/${c.id}/chat`, { text: 'go on' });
  let id;
  while (!(id = (await request(server, `/api/conversations/${c.id}`)).json.running));
  assert.equal((await post(server, `/api/runs/${id}/cancel`, {})).status, 200);
  const ended = frames((await second).text);
  assert.equal(ended.at(-1).data.status, 'cancelled');
  assert.ok(!ended.some((f) => f.event === 'error'));
});

test('the same Idempotency-Key is the same run; another request under it is refused', async (t) => {
  const server = await startServer(t);
  const c = await conversation(server);
  const ask = (text) => post(server, `/api/conversations/${c.id}/chat`, { text }, { 'Idempotency-Key': 'k1' });
  const [a, b] = [await ask('x'), await ask('x')];
  assert.equal(b.headers['x-run-id'], a.headers['x-run-id']);
  assert.equal(b.text, a.text);
  assert.equal((await ask('y')).status, 409);
  assert.equal((await request(server, `/api/conversations/${c.id}`)).json.messages, 2);
});

test('the same Idempotency-Key is the same conversation, also when both come at once', async (t) => {
  const server = await startServer(t);
  const make = (body, key = 'k1') => post(server, '/api/conversations', body, { 'Idempotency-Key': key });
  const made = await Promise.all(Array.from({ length: 8 }, () => make({ title: 'once' })));
  assert.deepEqual(made.map((r) => r.status), made.map(() => 201));
  assert.equal(new Set(made.map((r) => r.json.id)).size, 1);
  assert.equal((await make({ title: 'other' })).status, 409);
  assert.notEqual((await make({ title: 'other' }, 'k2')).json.id, made[0].json.id);
  assert.equal((await make({}, 'k'.repeat(256))).status, 400);
  assert.equal((await request(server, '/api/conversations')).json.conversations.length, 2);
  // With the conversation goes its key.
  await request(server, `/api/conversations/${made[0].json.id}`, { method: 'DELETE' });
  const again = await make({ title: 'once' });
  assert.equal(again.status, 201);
  assert.notEqual(again.json.id, made[0].json.id);
});

test('conversations are listed, renamed, branched and removed', async (t) => {
  const server = await startServer(t);
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await conversation(server, { title: `t${i}` })).id);
  const seen = [];
  for (let cursor = ''; cursor !== null;) {
    const page = (await request(server, `/api/conversations?limit=2${cursor ? `&cursor=${cursor}` : ''}`)).json;
    seen.push(...page.conversations.map((c) => c.id));
    cursor = page.next_cursor;
  }
  assert.deepEqual([...seen].sort(), [...ids].sort());
  const patch = (body) => request(server, `/api/conversations/${ids[0]}`, { method: 'PATCH', body });
  assert.equal((await patch({ title: 't1' })).status, 409);
  const renamed = await patch({ title: 'new', version: 1 });
  assert.equal(renamed.json.title, 'new');
  assert.equal((await patch({ title: 'x', version: 1 })).status, 409);
  assert.equal((await patch({ runtime: 'nobody' })).status, 422);
  await post(server, `/api/conversations/${ids[0]}/chat`, { text: 'hi' });
  const copy = await post(server, `/api/conversations/${ids[0]}/branch`, {});
  assert.equal(copy.status, 201);
  assert.equal(copy.json.parent_id, ids[0]);
  assert.equal(copy.json.messages, 2);
  assert.equal((await request(server, `/api/conversations/${ids[0]}`, { method: 'DELETE' })).status, 200);
  assert.equal((await request(server, `/api/conversations/${ids[0]}`)).status, 404);
  assert.equal((await request(server, `/api/conversations/${copy.json.id}/messages`)).json.messages.length, 2);
});

test('a file belongs to the next message; names are no paths', async (t) => {
  const server = await startServer(t);
  const c = await conversation(server);
  const add = (name, data = 'aGVsbG8=') => post(server, `/api/conversations/${c.id}/files`, { name, data });
  for (const bad of ['../x', 'a/b', '', 'x\u0000y']) assert.equal((await add(bad)).status, 422, bad);
  assert.equal((await add('a.txt', '***')).status, 422);
  const file = (await add('a.txt')).json;
  assert.equal(file.size, 5);
  const got = await request(server, `/api/attachments/${file.id}`);
  assert.equal(got.text, 'hello');
  assert.equal(got.headers['content-type'], 'application/octet-stream');
  assert.equal((await post(server, `/api/conversations/${c.id}/chat`, { text: 'look', files: ['fnone'] })).status, 404);
  const turn = await post(server, `/api/conversations/${c.id}/chat`, { text: 'look', files: [file.id] });
  assert.equal(turn.status, 200);
  const { attachments } = (await request(server, `/api/conversations/${c.id}/attachments`)).json;
  assert.equal(attachments.find((x) => x.id === file.id).message_id, frames(turn.text)[0].data.user_message_id);
});

test('a failing model is one error and one done, and nothing of it is an answer', async (t) => {
  const server = await startServer(t, { env: { TALARIA_MODEL_BASE_URL: 'http://127.0.0.1:1/v1', TALARIA_MODEL: 'm' } });
  const c = await conversation(server, { runtime: 'native' });
  const all = frames((await post(server, `/api/conversations/${c.id}/chat`, { text: 'hi' })).text);
  assert.equal(all.filter((f) => f.event === 'error').length, 1);
  assert.equal(all.at(-1).data.status, 'failed');
  const { messages } = (await request(server, `/api/conversations/${c.id}/messages`)).json;
  assert.equal(messages[1].content, '');
  assert.equal(messages[1].status, 'failed');
}, { timeout: 60_000 });

test('eventsource follows a run to its end and stops there', async (t) => {
  const server = await startServer(t, { env: await model(t, ['a ', 'b ', 'c'], 5) });
  const c = await conversation(server, { runtime: 'native' });
  const r = await post(server, `/api/conversations/${c.id}/chat`, { text: 'go' });
  const want = frames(r.text), run = r.headers['x-run-id'], got = [];
  const statuses = [];
  const source = new EventSource(`http://${server.host}/api/runs/${run}/events`, {
    fetch: async (url, init) => {
      const answer = await fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${server.token}` } });
      statuses.push(answer.status);
      return answer;
    },
  });
  t.after(() => source.close());
  for (const name of ['metadata', 'progress', 'chunk', 'done']) source.addEventListener(name, (e) => got.push({ id: e.lastEventId, event: name, data: JSON.parse(e.data) }));
  // After the end the client comes back with its last id, is told 204, and stops.
  await new Promise((resolve) => source.addEventListener('error', () => source.readyState === 2 && resolve()));
  assert.deepEqual(statuses, [200, 204]);
  assert.deepEqual(got, want.map(({ id, event, data }) => ({ id, event, data })));
});

test('the openai SDK talks to it, streamed and not', async (t) => {
  const server = await startServer(t, { env: await model(t, ['one ', 'two ', 'three']) });
  const client = new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey: server.token, maxRetries: 0 });
  const messages = [{ role: 'system', content: 'short' }, { role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'user', content: 'count' }];
  const whole = await client.chat.completions.create({ model: 'native', messages });
  assert.equal(whole.choices[0].message.content, 'one two three');
  assert.equal(whole.choices[0].finish_reason, 'stop');
  assert.equal(whole.usage.completion_tokens, 3);
  const stream = await client.chat.completions.create({ model: 'native', messages, stream: true, stream_options: { include_usage: true } });
  let said = '', usage, finish;
  for await (const chunk of stream) {
    said += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.equal(said, 'one two three');
  assert.equal(finish, 'stop');
  assert.equal(usage.completion_tokens, 3);
  assert.ok((await client.models.list()).data.some((m) => m.id === 'offline'));
});
