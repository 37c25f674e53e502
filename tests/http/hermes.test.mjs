// A Hermes that writes down what it is sent, and answers as it is told: what goes along with a turn in each
// dialect, and what of its answers is believed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, event, fakeHermes, post, runs, serve, stream, turn, usage } from './fake_hermes.mjs';
import { fakeModel } from './fake_model.mjs';
import { request } from './helpers.mjs';

const count = (text, word) => text.split(word).length - 1;

test('runs: what was said before goes along once, as messages', async (t) => {
  const model = await fakeModel(t, () => ({ text: 'The cat is called Mouse.' }));
  const fake = await fakeHermes(t, ['run_events_sse'], runs((rs) => done(rs, 'Yes.')));
  const { server, id } = await serve(t, fake, model.env);
  await turn(server, id, { text: 'what is the cat called?', runtime: 'native' });
  await turn(server, id, { text: 'is that so?', runtime: 'hermes' });
  await turn(server, id, { text: 'and the dog?', runtime: 'native' });
  const last = await turn(server, id, { text: 'and now?', runtime: 'hermes' });
  assert.equal(last.text, 'Yes.');
  const sent = fake.of('POST /v1/runs').map((s) => s.body);
  assert.equal(sent.length, 2);
  for (const body of sent) assert.equal(count(JSON.stringify(body), 'what is the cat called?'), 1, JSON.stringify(body));
  assert.equal(count(JSON.stringify(sent[1]), 'and the dog?'), 1);
  assert.deepEqual(sent[1].conversation_history.map((m) => m.role), ['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  assert.equal(sent[1].input, 'and now?');
  assert.equal(sent[0].session_id, sent[1].session_id);
});

test('a server that speaks otherwise than before is told what was said', async (t) => {
  const fake = await fakeHermes(t, ['responses_streaming'], {
    'POST /v1/responses': (body, rs) => {
      stream(rs);
      for (const [type, data] of [['response.created', { response: { id: 'resp_1' } }], ['response.output_text.delta', { delta: 'It is called Mouse.' }],
        ['response.completed', { response: { id: 'resp_1', usage } }]]) rs.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
      rs.end();
    },
    'POST /api/sessions': (body, rs) => rs.json(201, { session: { id: body.id } }),
    'POST /api/sessions/*/chat/stream': (body, rs) => {
      stream(rs);
      for (const [name, data] of [['assistant.delta', { delta: 'Still Mouse.' }], ['run.completed', { usage }], ['done', {}]]) rs.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      rs.end();
    },
  });
  const { server, id } = await serve(t, fake);
  const first = await turn(server, id, { text: 'what is the cat called?', runtime: 'hermes' });
  assert.equal(first.text, 'It is called Mouse.');
  fake.features = ['session_chat_streaming'];
  const second = await turn(server, id, { text: 'are you sure?', runtime: 'hermes' });
  assert.equal(second.text, 'Still Mouse.');
  assert.deepEqual(second.progress('session').map((p) => [p.detail, p.status]), [['lost', 'degraded']]);
  const [created] = fake.of('POST /api/sessions'), [asked] = fake.of('POST /api/sessions/*/chat/stream');
  assert.equal(asked.id, created.body.id);
  assert.notEqual(asked.id, fake.of('POST /v1/responses')[0].body.conversation);
  assert.match(asked.body.system_message, /It is called Mouse\./);
  const third = await turn(server, id, { text: 'really?', runtime: 'hermes' });
  assert.deepEqual(third.progress('session').map((p) => p.detail), ['resumed']);
  assert.equal(fake.of('POST /api/sessions').length, 1);
});

test('runs: a line that breaks after a tool, before the words that follow: they are fetched', async (t) => {
  const fake = await fakeHermes(t, ['run_events_sse'], {
    ...runs((rs) => {
      event(rs, { event: 'message.delta', delta: 'Let me look. ' });
      event(rs, { event: 'tool.started', tool: 'terminal', preview: 'ls' });
      event(rs, { event: 'tool.completed', tool: 'terminal', duration: 1e300 });
      setTimeout(() => rs.destroy(), 50);
    }),
    'GET /v1/runs/*': (body, rs) => rs.json(200, { status: 'completed', output: 'Found it.', usage }),
  });
  const { server, id } = await serve(t, fake);
  const r = await turn(server, id, { text: 'where is it?', runtime: 'hermes' });
  assert.equal(r.text, 'Let me look. \n\nFound it.');
  assert.equal(r.done.status, 'completed');
  assert.equal(r.done.segments, 2);
  assert.ok(r.progress('tool').every((p) => !('duration_ms' in p)), 'no time is better than a wrong one');
});

test('ids that a server makes up never become other paths', async (t) => {
  const fake = await fakeHermes(t, ['run_events_sse'], {
    'POST /v1/runs': (body, rs) => rs.json(202, { run_id: '../../api/sessions/x\r\nX-Other: 1', status: 'started' }),
  });
  const { server, id } = await serve(t, fake);
  const r = await turn(server, id, { text: 'hello', runtime: 'hermes' });
  assert.equal(r.error.code, 'protocol_violation');
  assert.deepEqual(fake.seen.map((s) => s.url).filter((u) => !['/v1/capabilities', '/v1/runs'].includes(u)), []);
});

test('what a Hermes refuses is told with its own code', async (t) => {
  const fake = await fakeHermes(t, ['run_events_sse'], {
    'POST /v1/runs': (body, rs) => rs.json(400, { error: { message: 'this model is not for you', code: 'model_not_allowed' } }),
  });
  const { server, id } = await serve(t, fake);
  const { error } = await turn(server, id, { text: 'hello', runtime: 'hermes' });
  assert.deepEqual([error.code, error.http_status, error.runtime_code], ['runtime_rejected', 400, 'model_not_allowed']);
});

test('the openai route: a key is one turn also without a conversation; what is refused leaves none behind', async (t) => {
  const { server } = await serve(t, await fakeHermes(t, ['run_events_sse'], runs((rs) => done(rs, 'Once.'))));
  const conversations = async () => (await request(server, '/api/conversations')).json.conversations.length;
  const before = await conversations();
  const body = { model: 'hermes', messages: [{ role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, { role: 'user', content: 'three' }] };
  const [a, b] = [await post(server, '/v1/chat/completions', body, { 'Idempotency-Key': 'k1' }), await post(server, '/v1/chat/completions', body, { 'Idempotency-Key': 'k1' })];
  assert.equal(a.status, 200, a.text);
  assert.equal(b.status, 200, b.text);
  assert.equal(b.json.id, a.json.id);
  assert.equal(await conversations(), before + 1);
  const other = await post(server, '/v1/chat/completions', { ...body, messages: [{ role: 'user', content: 'four' }] }, { 'Idempotency-Key': 'k1' });
  assert.equal(other.status, 409, other.text);
  const empty = await post(server, '/v1/chat/completions', { model: 'hermes', messages: [{ role: 'user', content: '  ' }] });
  assert.equal(empty.status, 400, empty.text);
  assert.equal(await conversations(), before + 1);
});
