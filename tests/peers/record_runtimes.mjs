// Records what the real Claude Code and Codex print, in success and in each failure, into
// tests/fixtures/runtimes/. Machine paths, ids of the machine and times are taken out. The model they
// talk to is scripted: aimock where all goes well, a few lines of our own where it must not.
// usage: node tests/peers/record_runtimes.mjs [NAME...]
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = (name) => path.join(here, 'node_modules/.bin', name);
const out = path.join(here, '../fixtures/runtimes');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'talaria-record-'));
const only = process.argv.slice(2);
const [home, work, codex] = ['home', 'work', 'codex'].map((n) => path.join(dir, n));
for (const d of [home, work, codex, path.join(dir, 'answers')]) fs.mkdirSync(d, { recursive: true });
fs.writeFileSync(path.join(work, 'note.txt'), 'hello from the note\n');

fs.writeFileSync(path.join(dir, 'answers/all.json'), JSON.stringify({ fixtures: [
  { match: { userMessage: 'the note', hasToolResult: true }, response: { content: 'The note says hello, wörld 你好.' } },
  { match: { userMessage: 'show claude the note' }, response: { content: 'Let me look.', toolCalls: [{ name: 'Bash', arguments: { command: 'cat note.txt', description: 'show it' } }] } },
  { match: { userMessage: 'show codex the note' }, response: { toolCalls: [{ name: 'exec_command', arguments: { cmd: 'cat note.txt' } }] } },
  { match: { userMessage: 'and once more' }, response: { content: 'It is still the same.' } },
  { match: { userMessage: 'greet me' }, response: { content: 'Hello there, wörld. 你好!' } },
] }));

const sse = (res, event, data) => res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

/** The beginning of an answer in the dialect that was asked for: four words of text. */
function beginAnswer(req, res) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (req.url.includes('/messages')) {
    sse(res, 'message_start', { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 5, output_tokens: 1 } } });
    sse(res, 'content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    for (const text of ['This ', 'is ', 'a ', 'part']) sse(res, 'content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  } else {
    sse(res, 'response.created', { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } });
    sse(res, 'response.output_item.added', { type: 'response.output_item.added', output_index: 0, item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] } });
    for (const delta of ['This ', 'is ', 'a ', 'part']) sse(res, 'response.output_text.delta', { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta });
  }
}
const refuse = (res, status, type, message) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error: { type, message } }));
const modes = {
  400: (req, res) => refuse(res, 400, 'invalid_request_error', 'this model is not for you'),
  401: (req, res) => refuse(res, 401, 'authentication_error', 'invalid x-api-key'),
  529: (req, res) => refuse(res, 529, 'overloaded_error', 'Overloaded'),
  cut: (req, res) => { beginAnswer(req, res); setTimeout(() => res.destroy(), 200); },
  error: (req, res) => { beginAnswer(req, res); sse(res, 'error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }); res.end(); },
  slow: (req, res) => beginAnswer(req, res),
};
async function serve(mode) {
  const server = http.createServer((req, res) => { req.resume(); req.on('end', () => modes[mode](req, res)); });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => { server.closeAllConnections(); server.close(); } };
}
async function serveWell() {
  const child = spawn(process.execPath, [path.join(here, 'node_modules/@copilotkit/aimock/dist/cli.js'), '-p', '0', '-f', path.join(dir, 'answers'), '-c', '8'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  const url = await new Promise((resolve) => child.stdout.on('data', (d) => { const m = (text += d).match(/listening on (http:\/\/\S+)/); if (m) resolve(m[1]); }));
  return { url, stop: () => child.kill() };
}

function scrub(text) {
  return text.replaceAll(dir, '/home/user').replaceAll(dir.replaceAll('/', '-'), '-home-user').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4310').replaceAll(here, '/opt/peers').replaceAll(os.hostname(), 'machine').replace(/\/tmp\/cc-socks\/\d+/g, '/home/user/socks/1');
}
const base = { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: home, TZ: 'UTC', LANG: 'C.UTF-8' };
/** Runs it; on(line, child) may act on what it says. Its output, exit code and signal. */
function run(name, args, env, { input = '', on, timeout = 60_000, keep = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(bin(name), args, { cwd: work, env: { ...base, ...env }, detached: true });
    let stdout = '', stderr = '', rest = '';
    const timer = setTimeout(() => { try { process.kill(-child.pid, 'SIGKILL'); } catch {} }, timeout);
    child.stdin.on('error', () => {});
    child.stdin.write(input);
    if (!keep) child.stdin.end();
    child.stdout.setEncoding('utf8').on('data', (d) => {
      stdout += d; rest += d;
      let at;
      while ((at = rest.indexOf('\n')) >= 0) { on?.(rest.slice(0, at), child); rest = rest.slice(at + 1); }
    });
    child.stderr.on('data', (d) => (stderr += d));
    child.on('close', (code, signal) => { clearTimeout(timer); resolve({ stdout, stderr, code, signal }); });
  });
}
function keep(name, r) {
  fs.writeFileSync(path.join(out, name), scrub(r.stdout));
  console.log(name, 'exit', r.code, r.signal, r.stdout.split('\n').length - 1, 'lines;', scrub(r.stderr).slice(-200).replace(/\n/g, ' | '));
}
const wanted = (name) => !only.length || only.some((o) => name.includes(o));

// -- Claude Code -------------------------------------------------------------------------------------
const claudeEnv = (url) => ({
  ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'mock-key', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1', DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_MAX_RETRIES: '1', IS_SANDBOX: '1',
});
const claudeArgs = ['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages', '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash(cat:*)'];
async function claude(name, mode, prompt, more = [], options = {}) {
  if (!wanted(name)) return;
  const server = mode === 'ok' ? await serveWell() : mode === 'refused' ? { url: 'http://127.0.0.1:9', stop() {} } : await serve(mode);
  const r = await run('claude', [...claudeArgs, ...more], claudeEnv(server.url), { input: prompt, ...options });
  server.stop();
  keep(name, r);
  return r;
}
await claude('claude_ok.jsonl', 'ok', 'please show claude the note');
for (const mode of ['400', '401', '529', 'cut', 'error', 'refused']) await claude(`claude_${mode}.jsonl`, mode, 'hello there');
await claude('claude_bad_resume.jsonl', 'ok', 'hello there', ['--resume', '00000000-0000-4000-8000-000000000000']);
await claude('claude_sigint.jsonl', 'slow', 'hello there', [], { on: (line, child) => { if (line.includes('"part"')) setTimeout(() => { try { process.kill(child.pid, 'SIGINT'); } catch {} }, 300); } });

// -- Codex ----------------------------------------------------------------------------------------------
const codexEnv = { CODEX_HOME: codex, MOCK_KEY: 'x' };
function codexConfig(url, more = '') {
  fs.writeFileSync(path.join(codex, 'config.toml'), `model = "gpt-5.2"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 1
stream_max_retries = 1
${more}`);
}
const codexArgs = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
async function exec(name, mode, args, options = {}) {
  if (!wanted(name)) return;
  const server = mode === 'ok' ? await serveWell() : mode === 'refused' ? { url: 'http://127.0.0.1:9', stop() {} } : await serve(mode);
  codexConfig(server.url);
  const r = await run('codex', ['exec', ...args], codexEnv, options);
  server.stop();
  keep(name, r);
}
await exec('codex_exec_ok.jsonl', 'ok', [...codexArgs, 'please show codex the note']);
for (const mode of ['400', '401', 'cut', 'error']) await exec(`codex_exec_${mode}.jsonl`, mode, [...codexArgs, 'hello there']);
await exec('codex_exec_bad_resume.jsonl', 'ok', ['resume', '00000000-0000-4000-8000-000000000000', ...codexArgs, 'hello']);
await exec('codex_exec_sigint.jsonl', 'slow', [...codexArgs, 'hello there'], { on: (line, child) => { if (line.includes('turn.started')) setTimeout(() => { try { process.kill(-child.pid, 'SIGINT'); } catch {} }, 2000); } });
await exec('codex_exec_refused.jsonl', 'refused', [...codexArgs, 'hello there'], { timeout: 20_000 });

/** One turn through the app server. */
async function appServer(name, mode, prompt, { policy = 'never', decision } = {}) {
  if (!wanted(name)) return;
  const server = mode === 'ok' ? await serveWell() : await serve(mode);
  codexConfig(server.url);
  const write = (child, o) => child.stdin.write(JSON.stringify(o) + '\n');
  let thread;
  const r = await run('codex', ['app-server'], codexEnv, {
    keep: true, timeout: 40_000,
    input: JSON.stringify({ id: 1, method: 'initialize', params: { clientInfo: { name: 'talaria', title: 'Talaria', version: '0' } } }) + '\n',
    on(line, child) {
      const m = JSON.parse(line);
      if (m.id === 1 && m.result) {
        write(child, { method: 'initialized' });
        write(child, { id: 2, method: 'thread/start', params: { cwd: work, approvalPolicy: policy, sandbox: policy === 'never' ? 'danger-full-access' : 'read-only' } });
      } else if (m.id === 2 && m.result) {
        thread = m.result.thread.id;
        write(child, { id: 3, method: 'turn/start', params: { threadId: thread, input: [{ type: 'text', text: prompt }] } });
      } else if (m.method?.endsWith('requestApproval')) {
        write(child, { id: m.id, result: { decision } });
      } else if (m.method === 'turn/completed' || m.error) {
        child.stdin.end();
      }
    },
  });
  server.stop();
  keep(name, r);
}
await appServer('codex_app_ok.jsonl', 'ok', 'please show codex the note');
await appServer('codex_app_approval.jsonl', 'ok', 'please show codex the note', { policy: 'untrusted', decision: 'accept' });
for (const mode of ['400', 'cut']) await appServer(`codex_app_${mode}.jsonl`, mode, 'hello there');
if (wanted('schema')) await run('codex', ['app-server', 'generate-json-schema', '--out', path.join(os.tmpdir(), 'codex-schema')], codexEnv);
fs.rmSync(dir, { recursive: true, force: true });
process.exit(0);
