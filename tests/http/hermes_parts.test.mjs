// What belongs to a turn beside its words, in every dialect of Hermes: files, questions, the version.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { done, fakeHermes, post, runs, serve, stream, turn, usage } from './fake_hermes.mjs';
import { request } from './helpers.mjs';

async function debugRun(url, ...args) {
  const child = spawn(bin, ['debug', 'run', '--runtime', 'hermes', '--timeout', '20', ...args], { env: { ...tmpHome().env, TALARIA_HERMES_BASE_URL: url }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (d) => (out += d));
  await new Promise((resolve) => child.on('close', resolve));
  const events = out.trim().split('\n').map((line) => JSON.parse(line));
  return { events, done: events.at(-1).data, error: events.find((e) => e.event === 'error')?.data, text: events.filter((e) => e.event === 'chunk').map((e) => e.data.text).join('') };
}

const named = (rs, name, data) => (rs.write(`event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`), rs);
const chat = (rs, delta, finish = null, more = {}) => rs.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`);

/** By dialect: what the server can, where the words of a turn arrive, and how it answers; ask(rs, go) may ask in between. */
const dialects = {
  session: { features: ['session_resources', 'session_chat_streaming'], sent: ['POST /api/sessions/*/chat/stream', (b) => b.message],
    on: (ask) => ({ 'POST /api/sessions': (b, rs) => rs.json(201, { session: { id: b.id } }),
      'POST /api/sessions/*/chat/stream': (b, rs) => { stream(rs); named(rs, 'run.started', { run_id: 'run_1' }); ask(rs, () => {
        named(rs, 'assistant.delta', { delta: 'Read ' }); named(rs, 'assistant.delta', { delta: 'it.' });
        named(rs, 'assistant.completed', { content: 'Read it.' }); named(rs, 'run.completed', { usage }); named(rs, 'done', {}); rs.end(); }); } }) },
  runs: { features: ['run_events_sse'], sent: ['POST /v1/runs', (b) => b.input],
    on: (ask) => runs((rs) => ask(rs, () => done(rs, 'Read it.'))) },
  responses: { features: ['responses_streaming'], sent: ['POST /v1/responses', (b) => (typeof b.input === 'string' ? b.input : JSON.stringify(b.input))],
    on: (ask) => ({ 'POST /v1/responses': (b, rs) => { stream(rs); named(rs, 'response.created', { response: { id: 'resp_1' } }); ask(rs, () => {
      named(rs, 'response.output_text.delta', { delta: 'Read ' }); named(rs, 'response.output_text.delta', { delta: 'it.' });
      named(rs, 'response.completed', { response: { id: 'resp_1', status: 'completed', usage } }); rs.end(); }); } }) },
  chat: { features: ['chat_completions_streaming'], sent: ['POST /v1/chat/completions', (b) => b.messages.at(-1).content],
    on: (ask) => ({ 'POST /v1/chat/completions': (b, rs) => { stream(rs); ask(rs, () => {
      chat(rs, { content: 'Read ' }); chat(rs, { content: 'it.' }); chat(rs, {}, 'stop', { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }); rs.end('data: [DONE]\n\n'); }); } }) },
};

for (const [name, { features, sent, on }] of Object.entries(dialects)) {
  test(`${name}: a file that comes with the question is in the request, and in the first turn only`, async (t) => {
    const fake = await fakeHermes(t, features, on((rs, go) => go()));
    const { server, id } = await serve(t, fake);
    const words = `seventeen turnips for ${name}, wörld 你好`;
    const put = await post(server, `/api/conversations/${id}/files`, { name: 'shopping.txt', data: Buffer.from(words).toString('base64') });
    assert.equal(put.status, 201, put.text);
    const r = await turn(server, id, { text: 'what is on the list?', runtime: 'hermes', files: [put.json.id] });
    assert.deepEqual([r.done.status, r.text], ['completed', 'Read it.']);
    const [asked] = fake.of(sent[0]);
    const said = sent[1](asked.body);
    assert.ok(said.includes(words) && said.includes("File 'shopping.txt'") && said.includes('what is on the list?'), said);
    const next = await turn(server, id, { text: 'thanks', runtime: 'hermes' });
    assert.equal(next.done.status, 'completed');
    assert.ok(!sent[1](fake.of(sent[0])[1].body).includes(words));
  });

  for (const choice of ['once', 'deny']) {
    test(`${name}: a question is asked, and '${choice}' reaches the run`, async (t) => {
      let go, answered;
      const fake = await fakeHermes(t, features, { ...on((rs, next) => { go = next; named(rs, 'approval.request', { event: 'approval.request', run_id: 'run_1', command: 'rm -r build' }); }),
        'POST /v1/runs/*/approval': (b, rs, of) => { answered = [of, b.choice]; rs.json(200, { ok: true }); go(); } });
      const r = await debugRun(fake.url, '--approve', choice, 'clean up');
      const asked = r.events.filter((e) => e.data.stage === 'approval').map((e) => e.data);
      assert.equal(asked[0].status, 'waiting');
      assert.equal(asked[0].approval.command, 'rm -r build');
      assert.deepEqual(answered, ['run_1', choice]);
      assert.deepEqual([r.done.status, r.text], ['completed', 'Read it.']);
    });
  }

  test(`${name}: a question that names no run is told, and ends in time`, async (t) => {
    const fake = await fakeHermes(t, features, { ...on((rs) => named(rs, 'approval.request', { event: 'approval.request', command: 'rm -r build' })),
      'POST /api/sessions/*/chat/stream': (b, rs) => named(stream(rs), 'approval.request', { event: 'approval.request', command: 'rm -r build' }) });
    if (name === 'runs') return; // has its run from the beginning
    const r = await debugRun(fake.url, '--timeout', '2', '--approve', 'once', 'clean up');
    assert.equal(r.error.code, 'approval_timeout');
    assert.ok(r.events.some((e) => e.data.stage === 'notice' && /hermes\.transport/.test(e.data.detail)), JSON.stringify(r.events));
  });
}

test('the version is the one that its health tells, where its capabilities have none', async (t) => {
  for (const [capabilities, health, expected] of [['0.9.1', '1.0.0', '0.9.1'], [undefined, '0.18.2', '0.18.2'], [undefined, 'Hermes Agent 0.21.5 (fork)', '0.21.5'], [undefined, undefined, undefined]]) {
    const { features, on } = dialects.runs;
    const fake = await fakeHermes(t, features, { ...on((rs, go) => go()), ...(health && { 'GET /health': (b, rs) => rs.json(200, { status: 'ok', platform: 'hermes-agent', version: health }) }) });
    fake.version = capabilities;
    const { server, id } = await serve(t, fake);
    const r = await turn(server, id, { text: 'go', runtime: 'hermes' });
    assert.equal(r.done.status, 'completed');
    assert.equal(r.progress('session')[0].runtime_version, expected);
    const { runtimes } = (await request(server, '/api/runtimes')).json;
    assert.equal(runtimes.find((x) => x.name === 'hermes').version ?? undefined, expected);
  }
});
