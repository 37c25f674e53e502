// Turns at their edges: a model with a small window, a client that goes away, a provider that fails.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import OpenAI from 'openai';
import { tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from './fake_model.mjs';
import { request, startServer } from './helpers.mjs';

const post = (server, target, body, headers = {}) => request(server, target, { method: 'POST', body, headers });

function configure(home, yaml) {
  fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), yaml);
}

test('a model with a small window is sent what fits: the newest turns, and what came before in short', async (t) => {
  const fake = await fakeModel(t, (q, n) => ({ text: `Answer ${n}: we decided to keep src/part${n}.py as it is. ${'Nothing else of this matters much here. '.repeat(20)}` }));
  const home = tmpHome();
  configure(home, `model: {base_url: '${fake.url}', name: m, window: 3000}\n`);
  const server = await startServer(t, { home });
  const { id } = (await post(server, '/api/conversations', {})).json;
  for (let i = 1; i <= 12; i++) {
    const r = await post(server, `/api/conversations/${id}/chat`, { text: `question ${i}` });
    assert.match(r.text, /"status": ?"completed"/, r.text.slice(-400));
  }
  const last = fake.turns.at(-1);
  const size = (q) => (q.system.length + q.messages.reduce((n, m) => n + m.text.length, 0)) / 4;
  for (const q of fake.turns) assert.ok(size(q) < 0.7 * 3000, `about ${size(q)} tokens were sent`);
  assert.equal(last.messages.at(-1).text, 'question 12');
  assert.equal(last.messages[0].role, 'user');
  assert.ok(last.messages.length > 3 && !last.messages.some((m) => m.text === 'question 1'));
  assert.match(last.system, /\d+ earlier turns of this conversation do not fit/);
  assert.match(last.system, /<talaria:conversation-summary>[^]*src\/part\d\.py/);
});

test('how long an answer may be: by the configuration, by the client of the openai route', async (t) => {
  for (const [dialect, field] of [['openai-chat', 'max_tokens'], ['openai-responses', 'max_output_tokens'], ['anthropic', 'max_tokens']]) {
    const fake = await fakeModel(t);
    const home = tmpHome();
    configure(home, `model: {base_url: '${fake.url}', name: m, dialect: ${dialect}, max_tokens: 9000}\n`);
    const server = await startServer(t, { home });
    const ask = (more) => post(server, '/v1/chat/completions', { model: 'native', messages: [{ role: 'user', content: 'go' }], ...more });
    assert.equal((await ask({})).status, 200);
    assert.equal((await ask({ max_tokens: 70 })).status, 200);
    assert.equal((await ask({ max_completion_tokens: 80 })).status, 200);
    assert.deepEqual(fake.turns.map((q) => q.body[field]), [9000, 70, 80], dialect);
    assert.equal((await ask({ max_tokens: 'many' })).status, 400);
    await server.stop();
  }
});

test('names have limits', async (t) => {
  const server = await startServer(t);
  const long = 'x'.repeat(2000);
  for (const body of [{ title: long }, { model: long }]) assert.equal((await post(server, '/api/conversations', body)).status, 422);
  const { id } = (await post(server, '/api/conversations', { title: 'short' })).json;
  for (const body of [{ title: long }, { model: long }]) assert.equal((await request(server, `/api/conversations/${id}`, { method: 'PATCH', body })).status, 422);
  assert.equal((await post(server, `/api/conversations/${id}/chat`, { text: 'go', model: long })).status, 422);
  assert.equal((await post(server, '/v1/chat/completions', { model: `native/${long}`, messages: [{ role: 'user', content: 'go' }] })).status, 400);
});

test('a request that the provider rejects is rejected for an openai client, once', async (t) => {
  const fake = await fakeModel(t, () => ({ status: 400, body: { error: { message: 'no such thing', type: 'invalid_request_error' } } }));
  const server = await startServer(t, { env: fake.env });
  const client = new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey: server.token });
  await assert.rejects(client.chat.completions.create({ model: 'native', messages: [{ role: 'user', content: 'go' }] }),
    (e) => e.status === 400 && e.code === 'runtime_rejected' && /no such thing/.test(e.message));
  assert.equal(fake.turns.length, 1);
});

/** Begins a turn, reads until `word` has come, and goes away. */
function hangUp(server, target, body, word) {
  return new Promise((resolve, reject) => {
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: target, method: 'POST', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' } }, (rs) => {
      let text = '';
      rs.on('data', (d) => {
        if (!(text += d).includes(word)) return;
        rq.destroy();
        resolve(rs.headers['x-run-id']);
      });
      rs.on('error', () => {});
    });
    rq.on('error', reject);
    rq.end(JSON.stringify(body));
  });
}

async function ended(server, run) {
  for (let until = Date.now() + 20_000; ;) {
    const { state } = (await request(server, `/api/runs/${run}`)).json;
    if (state !== 'running') return state;
    assert.ok(Date.now() < until, 'it still runs');
  }
}

test('a client that goes away does not stop the turn, unless it is told to', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'begun and then nothing more', hang: true }));
  for (const [yaml, state] of [['', 'running'], ['chat: {cancel_on_disconnect: true}\n', 'cancelled']]) {
    const home = tmpHome();
    configure(home, `model: {base_url: '${fake.url}', name: m}\n${yaml}`);
    const server = await startServer(t, { home });
    const { id } = (await post(server, '/api/conversations', {})).json;
    const runs = [await hangUp(server, `/api/conversations/${id}/chat`, { text: 'go' }, 'event: chunk'),
      await hangUp(server, '/v1/chat/completions', { model: 'native', stream: true, messages: [{ role: 'user', content: 'go' }] }, '"content"')];
    if (state === 'running') {
      // Who only looks may come and go: that is seen to have happened before the state is looked at.
      const one = await request(server, `/api/runs/${runs[0]}`);
      assert.equal(one.json.state, 'running');
      for (const run of runs) await post(server, `/api/runs/${run}/cancel`, {});
    }
    for (const run of runs) assert.equal(await ended(server, run), 'cancelled');
    const { messages } = (await request(server, `/api/conversations/${id}/messages`)).json;
    assert.equal(messages.at(-1).content, 'begun a');
    await server.stop();
  }
});

test('what a provider really sent is in the trace of a turn that failed, without the key', async (t) => {
  const key = 'squeamish-ossifrage-17';
  const fake = await fakeModel(t, () => ({ status: 400, body: { error: { message: `no such thing for ${key}`, detail: 'look at the manual' } } }));
  const server = await startServer(t, { env: { ...fake.env, TALARIA_MODEL_KEY: key } });
  const { id } = (await post(server, '/api/conversations', {})).json;
  const r = await post(server, `/api/conversations/${id}/chat`, { text: 'go' });
  assert.ok(!r.text.includes(key));
  const { attachments } = (await request(server, `/api/conversations/${id}/attachments`)).json;
  const trace = attachments.find((a) => a.kind === 'runtime_trace');
  assert.deepEqual([trace?.runtime, trace?.visible], ['native', false]);
  const { text } = await request(server, `/api/attachments/${trace.id}`);
  assert.match(text, /look at the manual/);
  assert.ok(!text.includes(key));
});
