// The API server of a Hermes, on loopback, with no model behind it. It serves the four transports that the adapter knows
// (sessions, runs, responses, chat completions) and repeats what it was told. In a prompt, 'tool' makes it use one, 'approve'
// makes a run ask for approval, 'rotate' changes the session's id and 'slow' slows it down. It counts the turns of each session.
//
// It runs in a process of its own, because many tests wait for a command synchronously:
//   node tests/fakes/hermes.mjs [--port N] [--fail 401|400|cut|empty|slow]     prints its address; API_SERVER_KEY: its key
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Starts one. `t`: the test or suite that it ends with, if any. */
export async function fakeHermes(t, { fail = '', key = '' } = {}) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--fail', fail], { env: { API_SERVER_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const stop = async () => { child.kill('SIGKILL'); await exited; };
  t?.after(stop);
  let url = '';
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) if ((url += piece).includes('\n')) break;
  if (!url) throw new Error(`the fake Hermes ended with ${(await exited)[0]}`);
  return { url: url.trim(), env: { TALARIA_HERMES_BASE_URL: url.trim() }, stop };
}

// -- one turn, in the shape of each transport --

const refusal = 'Error code: 400 - this model is not for you';
const frame = (data, event) => ({ bytes: `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n` });
const comment = (text) => ({ bytes: `: ${text}\n\n`, atOnce: true });
const usage = (input, output) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output });
const typed = (type, fields) => frame({ type, ...fields }, type);
const chat = (delta, finish_reason = null, rest = {}) =>
  frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'hermes-agent', choices: [{ index: 0, delta, finish_reason }], ...rest });

const transports = {
  session({ session, nextSession }) {
    let seq = 0;
    const named = (event, fields = {}) => frame({ session_id: session, run_id: 'run_1', seq: ++seq, ...fields }, event);
    return {
      begin: () => [named('run.started', { model: 'stand-in' }), named('message.started', { message_id: 'msg_1' })],
      tool: () => [named('tool.started', { tool: 'terminal', preview: 'ls' }), named('tool.completed', { tool: 'terminal', duration: 0.25 })],
      text: (delta) => named('assistant.delta', { delta }),
      end: (content, ...tokens) => [named('assistant.completed', { content, completed: true }), named('run.completed', { usage: usage(...tokens), session_id: nextSession }), named('done')],
      refused: () => [named('error', { message: refusal }), named('done')],
    };
  },
  runs() {
    const named = (event, fields) => frame({ event, ...fields });
    return {
      begin: () => [],
      tool: () => [named('tool.started', { tool: 'terminal', preview: 'ls' }), named('tool.completed', { tool: 'terminal', duration: 0.25 })],
      approval: () => [{ ...named('approval.request', { command: 'rm -r build', choices: ['once', 'session', 'always', 'deny'] }), waits: true }, named('approval.responded', { choice: 'answered' })],
      text: (delta) => named('message.delta', { delta }),
      end: (output, ...tokens) => [named('run.completed', { output, usage: usage(...tokens) }), comment('stream closed')],
      refused: () => [named('run.failed', { error: refusal }), comment('stream closed')],
    };
  },
  responses() {
    const item = (what, fields) => typed(`response.output_item.${what}`, { item: fields });
    return {
      begin: () => [typed('response.created', { response: { id: 'resp_1', status: 'in_progress' } }), item('added', { type: 'message' })],
      tool: () => [item('added', { type: 'function_call', name: 'terminal', call_id: 'call_1', arguments: '{}' }), item('done', { type: 'function_call_output', call_id: 'call_1', output: 'notes.txt' })],
      text: (delta) => typed('response.output_text.delta', { delta }),
      end: (text, ...tokens) => [typed('response.completed', { response: { id: 'resp_1', status: 'completed', usage: usage(...tokens) } })],
      refused: () => [typed('response.failed', { response: { id: 'resp_1', status: 'failed', error: { message: refusal } } })],
    };
  },
  chat() {
    const progress = (fields) => frame({ tool: 'terminal', ...fields }, 'hermes.tool.progress');
    const end = (text, input, output) => [chat({}, 'stop', { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }), frame('[DONE]')];
    return {
      begin: () => [chat({ role: 'assistant' }), comment('keepalive')],
      tool: () => [progress({ label: 'ls', toolCallId: 'call_1', status: 'running' }), progress({ toolCallId: 'call_1', status: 'completed' })],
      text: (content) => chat({ content }),
      end,
      refused: () => end('', 0, 0), // chat completions hide a refusal, as the real ones do
    };
  },
};

const answerTo = (turn) => `This is the stand-in for a Hermes, turn ${turn.number}. You said: ${turn.prompt}`;

/** All frames of a turn: perhaps a tool, perhaps a question, text, an end. */
function framesOf(turn, fail) {
  const wants = (word) => turn.prompt.toLowerCase().includes(word);
  const shape = transports[turn.transport](turn);
  const frames = shape.begin();
  if (fail === '400') return [...frames, ...shape.refused()];
  if (wants('tool')) frames.push(...shape.tool());
  if (wants('approve')) frames.push(...(shape.approval?.() ?? []));
  if (fail === 'empty') return [...frames, ...shape.end('', 0, 0)];
  const pieces = answerTo(turn).match(/[^ ]* |[^ ]+$/g);
  if (fail === 'cut') return [...frames, ...pieces.slice(0, 3).map(shape.text)];
  return [...frames, ...pieces.map(shape.text), ...shape.end(answerTo(turn), 21, 13)];
}

// -- the server --

function serve(fail, key) {
  const sessions = new Map(), runs = new Map(); // turns by session; runs by id

  const reply = (response, status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const refuse = (response, status, code, message) => reply(response, status, { error: { message, type: 'invalid_request_error', param: null, code } });

  /** Sends the turn frame by frame. run: the one that can be stopped and answered. */
  async function play(response, turn, run = { stop: new Promise(() => {}) }) {
    const pause = fail === 'slow' || /slow/i.test(turn.prompt) ? 300 : 2;
    turn.nextSession = /rotate/i.test(turn.prompt) ? `${turn.session}-2` : turn.session;
    if (turn.nextSession !== turn.session) sessions.set(turn.nextSession, turn.number);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...(turn.transport !== 'runs' && { 'X-Hermes-Session-Id': turn.session }) });
    const send = (bytes) => new Promise((sent) => response.write(bytes, sent));
    for (const { bytes, atOnce, waits } of framesOf(turn, fail)) {
      if (!atOnce) await Promise.race([sleep(pause), run.stop]);
      if (run.stopped || response.destroyed) break;
      run.waiting = Boolean(waits); // before the question is sent: the answer may come at once
      await send(bytes);
      if (waits) await Promise.race([run.answer, run.stop]);
    }
    run.over = true;
    if (run.stopped) await send('data: {"event":"run.cancelled"}\n\n: stream closed\n\n');
    if (fail === 'cut' && !run.stopped) response.destroy();
    else response.end();
  }

  /** A turn in a session that the server keeps; `make`: also in one that it does not know yet. */
  function playInSession(response, transport, session, prompt, make = true) {
    if (!make && !sessions.has(session)) return refuse(response, 404, 'session_not_found', 'Session not found');
    sessions.set(session, (sessions.get(session) ?? 0) + 1);
    return play(response, { transport, session, prompt, number: sessions.get(session) });
  }

  function submitRun(response, body) {
    // Runs load no history: only what is sent along counts.
    const number = Math.floor((body.conversation_history ?? []).length / 2) + 1;
    const run = { id: `run_${runs.size + 1}`, turn: { transport: 'runs', session: body.session_id ?? '', prompt: body.input ?? '', number } };
    run.stop = new Promise((done) => { run.end = () => { run.stopped = true; done(); }; });
    run.answer = new Promise((done) => { run.approve = () => { run.waiting = false; done(); }; });
    runs.set(run.id, run);
    reply(response, 202, { run_id: run.id, status: 'started' });
  }

  function onRun(response, id, what) {
    const run = runs.get(id);
    if (!run) return refuse(response, 404, 'run_not_found', 'Run not found');
    if (what === 'GET events') return play(response, run.turn, run);
    if (what === 'POST stop') return run.end(), reply(response, 200, { status: 'stopping' });
    if (what === 'POST approval') return run.waiting ? (run.approve(), reply(response, 200, { ok: true })) : refuse(response, 409, 'approval_not_pending', 'No approval is pending');
    const status = run.stopped ? 'cancelled' : !run.over ? 'running' : fail === '400' ? 'failed' : 'completed';
    return reply(response, 200, { run_id: id, status, ...(run.over && { output: answerTo(run.turn) }) });
  }

  const features = ['chat_completions_streaming', 'responses_streaming', 'run_submission', 'run_events_sse', 'run_stop', 'run_approval_response', 'session_resources', 'session_chat_streaming'];
  const routes = [
    [/^GET \/v1\/capabilities$/, (response) => reply(response, 200, { object: 'hermes.capabilities', version: 'demo', model: 'stand-in', features: Object.fromEntries(features.map((name) => [name, true])) })],
    [/^POST \/api\/sessions$/, (response, body) => {
      if (!body.id) return refuse(response, 400, 'invalid_id', 'a session needs an id');
      if (!sessions.has(body.id)) sessions.set(body.id, 0);
      return reply(response, 201, { object: 'hermes.session', session: { id: body.id } });
    }],
    [/^POST \/api\/sessions\/(.+)\/chat\/stream$/, (response, body, [, id]) => playInSession(response, 'session', id, body.message ?? '', false)],
    [/^POST \/v1\/responses$/, (response, body) => playInSession(response, 'responses', body.conversation ?? '', body.input ?? '')],
    [/^POST \/v1\/chat\/completions$/, (response, body, match, request) =>
      playInSession(response, 'chat', request.headers['x-hermes-session-id'] ?? 'hash-of-the-first-words', body.messages?.at(-1)?.content ?? '')],
    [/^POST \/v1\/runs$/, submitRun],
    [/^(GET|POST) \/v1\/runs\/([^/]+)(?:\/(events|approval|stop))?$/, (response, body, [, method, id, what]) => onRun(response, id, `${method} ${what ?? 'status'}`)],
  ];

  const server = createServer(async (request, response) => {
    let text = '', body = {};
    try { for await (const piece of request.setEncoding('utf8')) text += piece; } catch { return; } // the client has left
    if (fail === '401' || (key && request.headers.authorization !== `Bearer ${key}`)) return refuse(response, 401, 'gateway_auth_failed', 'Invalid API key');
    try { if (text) body = JSON.parse(text); } catch { return refuse(response, 400, 'invalid_json', 'Invalid JSON'); }
    const path = `${request.method} ${decodeURIComponent(request.url)}`;
    for (const [pattern, answer] of routes) {
      const match = pattern.exec(path);
      if (match) return answer(response, body, match, request);
    }
    return refuse(response, 404, 'not_found', 'Not found');
  });
  server.keepAliveTimeout = 0; // idle connections stay open
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, fail: { type: 'string', default: '' } } });
  const server = serve(values.fail, process.env.API_SERVER_KEY ?? '');
  server.listen(Number(values.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
}
