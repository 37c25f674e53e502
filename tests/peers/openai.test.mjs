// POST /v1/chat/completions through the clients that people use for it: two generations each of the ai SDK and of OpenAI's own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { request, startServer } from '../http/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { some } from './matrix.mjs';

const user = (content) => ({ role: 'user', content });

/** The ai SDK: whole, streamed, what a refusal is like. */
async function ai(version) {
  const sdk = await import(`ai${version}`), { createOpenAICompatible } = await import(`ai${version}-openai-compatible`);
  const model = (server, id) => createOpenAICompatible({ name: 'talaria', baseURL: `http://${server.host}/v1`, apiKey: server.token, includeUsage: true })(id);
  // The instructions have a place of their own, with a new name in 7.
  const split = (messages) => ({ [version === 6 ? 'system' : 'instructions']: messages.find((m) => m.role === 'system')?.content, messages: messages.filter((m) => m.role !== 'system') });
  const usage = (u) => [u.inputTokens, u.outputTokens, u.totalTokens];
  const clean = ({ signal, tool, ...more }) => ({ ...more, maxRetries: 0, abortSignal: signal,
    ...(tool && { tools: { [tool]: sdk.tool({ description: 'the weather', inputSchema: sdk.jsonSchema({ type: 'object', properties: {} }), execute: () => 'sun' }) } }) });
  return {
    async whole(server, messages, { model: id = 'native', ...more } = {}) {
      const r = await sdk.generateText({ model: model(server, id), ...split(messages), ...clean(more) });
      return { text: r.text, finish: r.finishReason, usage: usage(r.usage) };
    },
    async streamed(server, messages, { model: id = 'native', onText, ...more } = {}) {
      let failed, text = '';
      const r = sdk.streamText({ model: model(server, id), ...split(messages), ...clean(more), onError: ({ error }) => { failed = error; } });
      for await (const piece of r.textStream) { text += piece; onText?.(); }
      if (failed) throw failed;
      return { text, finish: await r.finishReason, usage: usage(await r.usage) };
    },
    refusal: (e) => (sdk.APICallError.isInstance(e) ? { status: e.statusCode, retry: e.isRetryable, message: e.message } : { other: String(e) }),
  };
}

/** OpenAI's own, used as its README does: chunk.choices[0].delta. */
async function openai(version) {
  const { default: OpenAI } = await import(`openai${version}`);
  const client = (server) => new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey: server.token, maxRetries: 0 });
  const usage = (u) => [u.prompt_tokens, u.completion_tokens, u.total_tokens];
  const clean = ({ tool, maxOutputTokens }) => ({ ...(maxOutputTokens && { max_tokens: maxOutputTokens }),
    ...(tool && { tools: [{ type: 'function', function: { name: tool, parameters: { type: 'object', properties: {} } } }] }) });
  const ask = (server, body, signal) => client(server).chat.completions.create(body, { signal });
  return {
    async whole(server, messages, { model = 'native', signal, ...more } = {}) {
      const r = await ask(server, { model, messages, ...clean(more) }, signal);
      return { text: r.choices[0].message.content, finish: r.choices[0].finish_reason, usage: usage(r.usage) };
    },
    async streamed(server, messages, { model = 'native', signal, onText, ...more } = {}) {
      let text = '', finish, used;
      for await (const c of await ask(server, { model, messages, stream: true, stream_options: { include_usage: true }, ...clean(more) }, signal)) {
        if (c.usage) { used = usage(c.usage); continue; }
        text += c.choices[0].delta.content ?? '';
        finish = c.choices[0].finish_reason ?? finish;
        if (text) onText?.();
      }
      return { text, finish, usage: used };
    },
    refusal(e) {
      if (!(e instanceof OpenAI.APIError)) return { other: String(e) };
      const typed = { 400: OpenAI.BadRequestError, 401: OpenAI.AuthenticationError, 404: OpenAI.NotFoundError }[e.status];
      assert.ok(!typed || e instanceof typed, `${e.status}: ${e.constructor.name}`);
      return { status: e.status, retry: e.status >= 500, message: e.message };
    },
  };
}

const conversations = async (server) => (await request(server, '/api/conversations')).json.conversations;
const turnsOf = async (server, id) => (await request(server, `/api/conversations/${id}/messages`)).json.messages;

async function until(what, holds) {
  for (let i = 0; i < 1200; i++) {
    const value = await holds();
    if (value) return value;
    await new Promise((r) => setTimeout(r, 25));
  }
  return assert.fail(`never: ${what}`);
}

async function failure(sdk, promise) {
  const e = await promise.then(() => assert.fail('it was taken'), (error) => error);
  return sdk.refusal(e);
}

// The first is the one of the short form.
const cases = [
  ['a chat of three turns: the words, how they end, the usage; one session', async (t, sdk) => {
    const fake = await fakeModel(t, (q) => ({ text: `answer ${q.messages.filter((m) => m.role === 'user').length} of the model` }));
    const server = await startServer(t, { env: fake.env }), messages = [{ role: 'system', content: 'Be short.' }];
    for (const [i, words] of ['my word is plum', 'what is it?', 'and again?'].entries()) {
      messages.push(user(words));
      const { text, finish, usage } = await (i === 1 ? sdk.streamed : sdk.whole)(server, messages);
      assert.deepEqual([text, finish], [`answer ${i + 1} of the model`, 'stop']);
      assert.deepEqual(usage, [5, 2, 7]);
      messages.push({ role: 'assistant', content: text });
    }
    const [one, ...more] = await conversations(server);
    assert.deepEqual(more, []);
    assert.deepEqual((await turnsOf(server, one.id)).map((m) => m.content), messages.slice(1).map((m) => m.content));
    assert.match(fake.turns[0].system, /Be short\./);
  }],

  ['an abort ends the turn', async (t, sdk) => {
    const fake = await fakeModel(t, () => ({ text: 'a long long answer', hang: true })), server = await startServer(t, { env: fake.env });
    for (const way of ['streamed', 'whole']) {
      const gone = new AbortController(), before = fake.turns.length;
      let shown = way === 'whole';
      const asked = sdk[way](server, [user(way)], { signal: gone.signal, onText: () => { shown = true; } }).catch(() => 0);
      await until('the model is asked, and what it says shown', () => shown && fake.turns.length > before);
      gone.abort();
      await asked;
      const [c] = await conversations(server);
      const last = await until('the turn has ended', async () => {
        const m = (await turnsOf(server, c.id)).at(-1);
        return m.role === 'assistant' && m.status !== 'running' && m;
      });
      assert.equal(last.status, 'cancelled', way);
    }
  }],

  ['tools of the client are refused in words, and no turn is begun', async (t, sdk) => {
    const fake = await fakeModel(t), server = await startServer(t, { env: fake.env });
    for (const way of ['whole', 'streamed']) {
      const { status, retry, message } = await failure(sdk, sdk[way](server, [user('the weather?')], { tool: 'weather' }));
      assert.deepEqual([status, retry], [400, false]);
      assert.match(message, /'tools' is not supported: a runtime uses its own tools/);
    }
    assert.deepEqual([fake.turns.length, await conversations(server)], [0, []]);
  }],

  ['a limit on the answer is passed on', async (t, sdk) => {
    const fake = await fakeModel(t), server = await startServer(t, { env: fake.env });
    assert.equal((await sdk.whole(server, [user('a')], { maxOutputTokens: 77 })).text, 'fine.');
    assert.equal(fake.turns[0].body.max_tokens ?? fake.turns[0].body.max_completion_tokens, 77);
  }],

  ['refusals are of the type that says what to do: a wrong token, a model that fails, a limit that cannot be had', async (t, sdk) => {
    const fake = await fakeModel(t, () => ({ status: 401, body: { error: { message: 'bad key', type: 'invalid_request_error' } } }));
    const server = await startServer(t, { env: fake.env }), stranger = { host: server.host, token: '0'.repeat(64) };
    for (const way of ['whole', 'streamed']) {
      const { status, retry, message } = await failure(sdk, sdk[way](stranger, [user('a')]));
      assert.deepEqual([status, retry], [401, false]);
      assert.match(message, /token/);
      assert.equal((await failure(sdk, sdk[way](server, [user('a')], { model: 'offline', maxOutputTokens: 5 }))).status, 400);
    }
    const upstream = await failure(sdk, sdk.whole(server, [user('a')]));
    assert.ok(upstream.status >= 400 && /key/.test(upstream.message), JSON.stringify(upstream));
    // In a stream the head is out already: the words come as an error all the same, not as an answer.
    const broken = await sdk.streamed(server, [user('b')]).then((r) => ({ answer: r }), (e) => ({ error: String(e.message ?? e) }));
    assert.match(broken.error ?? `no error: ${JSON.stringify(broken)}`, /^(?!no error).*key/);
  }],
];

for (const [name, sdk] of [['ai 6', () => ai(6)], ['ai 7', () => ai(7)], ['openai 6', () => openai(6)], ['openai 7', () => openai(7)]])
  describe(name, () => {
    for (const [what, run] of some(cases)) test(what, async (t) => run(t, await sdk()));
  });
