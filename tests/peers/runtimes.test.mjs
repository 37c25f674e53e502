// The real Claude Code and Codex through our adapters, from the prompt to the last event: they talk to a
// model that answers from a script, and go on in a second turn. And what they do when it fails them.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bin, root, tmpHome } from '../cli/helpers.mjs';

const peers = path.join(root, 'tests/peers/node_modules');
const there = fs.existsSync(path.join(peers, '.bin/claude')) && fs.existsSync(path.join(peers, '.bin/codex'));
const { dir, env: base } = tmpHome();
const [work, codex, config] = ['work', 'codex', 'config/talaria'].map((n) => path.join(dir, n));
for (const d of [work, codex, config, path.join(dir, 'answers')]) fs.mkdirSync(d, { recursive: true });
fs.writeFileSync(path.join(work, 'note.txt'), 'hello from the note\n');
fs.writeFileSync(path.join(dir, 'answers/all.json'), JSON.stringify({ fixtures: [
  { match: { userMessage: 'and once more' }, response: { content: 'It is still the same, wörld.' } },
  { match: { userMessage: 'show', hasToolResult: true }, response: { content: 'The note says hello, wörld 你好.' } },
  { match: { userMessage: 'show codex the note' }, response: { toolCalls: [{ name: 'exec_command', arguments: { cmd: 'cat note.txt' } }] } },
  { match: { userMessage: 'write the note', hasToolResult: true }, response: { content: 'Asked and answered.' } },
  { match: { userMessage: 'write the note' }, response: { toolCalls: [{ name: 'exec_command', arguments: { cmd: 'touch other.txt', sandbox_permissions: 'require_escalated', justification: 'it has to be written' } }] } },
  { match: { userMessage: 'show claude the note' }, response: { toolCalls: [{ name: 'Read', arguments: { file_path: path.join(work, 'note.txt') } }] } },
] }));

let url, model, refusing;
before(async () => {
  model = spawn(process.execPath, [path.join(peers, '@copilotkit/aimock/dist/cli.js'), '-p', '0', '-f', path.join(dir, 'answers'), '-c', '6'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  url = await new Promise((resolve, reject) => {
    model.stdout.on('data', (d) => { const m = (text += d).match(/listening on (http:\/\/\S+)/); if (m) resolve(m[1]); });
    model.on('exit', (code) => reject(new Error(`aimock: exit ${code}`)));
  });
  refusing = http.createServer((req, res) => { req.resume(); req.on('end', () => res.writeHead(400, { 'content-type': 'application/json' }).end('{"type":"error","error":{"type":"invalid_request_error","message":"this model is not for you"}}')); });
  await new Promise((resolve) => refusing.listen(0, '127.0.0.1', resolve));
});
after(() => { model?.kill(); refusing?.close(); });

/** The configuration of both programs and of ours, and the environment they are run in. */
function configure(to, { transport = 'auto', policy = '', wrap } = {}) {
  fs.writeFileSync(path.join(config, 'config.yaml'), `codex:\n  transport: ${transport}\nruntimes:\n  env: MOCK_KEY\n`);
  fs.writeFileSync(path.join(codex, 'config.toml'), `model = "gpt-5.2"\nmodel_provider = "mock"\n${policy || 'approval_policy = "never"\nsandbox_mode = "danger-full-access"'}
[model_providers.mock]\nname = "mock"\nbase_url = "${to}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n`);
  return {
    ...base, PATH: `${path.dirname(process.execPath)}:${base.PATH}`, XDG_CONFIG_HOME: path.join(dir, 'config'),
    TALARIA_CLAUDE_BIN: wrap ?? path.join(peers, '.bin/claude'), TALARIA_CODEX_BIN: wrap ?? path.join(peers, '.bin/codex'),
    ANTHROPIC_BASE_URL: to, ANTHROPIC_API_KEY: 'mock-key', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_MAX_RETRIES: '0', CODEX_HOME: codex, MOCK_KEY: 'x',
  };
}

/** One turn; its events, text, last event and handle. */
async function turn(runtime, to, args, options) {
  const env = configure(to, options);
  const child = spawn(bin, ['debug', 'run', '--runtime', runtime, '--cwd', work, '--timeout', '90', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
  const r = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (d) => (r[name] += d));
  r.status = await new Promise((resolve) => child.on('close', resolve));
  const events = r.stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.match(events.map((e) => e.event[0]).join(''), /^m[pc]*e?d$/, r.stderr);
  const chunks = events.filter((e) => e.event === 'chunk').map((e) => e.data.text);
  const stage = (name) => events.filter((e) => e.data.stage === name).map((e) => e.data);
  assert.equal(events.at(-1).data.chars, Buffer.byteLength(chunks.join('')));
  return { code: r.status, stderr: r.stderr, chunks, text: chunks.join(''), done: events.at(-1).data, stage,
    error: events.find((e) => e.event === 'error')?.data, handle: /handle: (\S+)/.exec(r.stderr)?.[1] };
}

describe('real programs', { skip: !there && 'the packages of tests/peers are not installed' }, () => {
  const rows = [['claude', 'claude', {}], ['codex app-server', 'codex', { transport: 'app-server' }], ['codex exec', 'codex', { transport: 'exec' }]];
  for (const [name, runtime, options] of rows) {
    test(`${name}: a tool, an answer, a second turn of the same session`, async () => {
      const first = await turn(runtime, url, [`please show ${runtime} the note`], options);
      assert.equal(first.code, 0, first.stderr);
      assert.equal(first.text, 'The note says hello, wörld 你好.');
      assert.equal(first.done.status, 'completed');
      assert.deepEqual(first.stage('tool').map((p) => p.status).filter((s) => s !== 'running'), ['started', 'completed']);
      if (name !== 'codex exec') assert.ok(first.chunks.length > 1, 'it came in pieces');
      const second = await turn(runtime, url, ['--handle', first.handle, '--context', 'be brief', 'and once more'], options);
      assert.equal(second.text, 'It is still the same, wörld.');
      assert.equal(second.handle, first.handle);
      assert.equal(second.stage('session')[0].detail, 'resumed');
    });

    test(`${name}: a file that comes with the question is there`, async () => {
      const file = path.join(dir, 'shopping.txt'), words = `seventeen turnips for ${name}`;
      fs.writeFileSync(file, `${words}\n`);
      const child = spawn(bin, ['ask', '--runtime', runtime, '--file', file, '--json', 'and once more'], { env: configure(url, options), cwd: work, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
      let out = '', errors = '';
      child.stdout.setEncoding('utf8').on('data', (d) => (out += d));
      child.stderr.setEncoding('utf8').on('data', (d) => (errors += d));
      assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, out + errors);
      const events = out.trim().split('\n').map((line) => JSON.parse(line));
      assert.equal(events.filter((e) => e.event === 'chunk').map((e) => e.data.text).join(''), 'It is still the same, wörld.');
      const journal = await (await fetch(`${url}/__aimock/journal`)).text();
      assert.ok(journal.includes(words), 'the model was sent what is in the file');
    });

    test(`${name}: the context reaches the model, and no command line`, async () => {
      const words = `nine private plums of ${name}`, said = path.join(dir, 'arguments');
      const wrap = path.join(dir, 'wrapped');
      fs.writeFileSync(wrap, `#!/bin/sh\nprintf '%s\\n' "$@" >>'${said}'\nexec '${path.join(peers, '.bin', runtime)}' "$@"\n`, { mode: 0o755 });
      fs.writeFileSync(said, '');
      const r = await turn(runtime, url, ['--context', words, 'and once more'], { ...options, wrap });
      assert.equal(r.text, 'It is still the same, wörld.', r.stderr);
      assert.ok((await (await fetch(`${url}/__aimock/journal`)).text()).includes(words), 'the model was told');
      const seen = fs.readFileSync(said, 'utf8');
      assert.ok(seen.includes(runtime === 'claude' ? '--append-system-prompt-file=' : name.split(' ')[1]) && !seen.includes('plums') && !seen.includes('once more'), seen);
    });

    test(`${name}: a refusal is an error, not an answer`, async () => {
      const r = await turn(runtime, `http://127.0.0.1:${refusing.address().port}`, ['hello there'], options);
      assert.equal(r.error?.code, 'runtime_rejected', r.stderr);
      assert.equal(r.text, '');
      assert.equal(r.code, 1);
    });

    test(`${name}: a session that is not there is lost`, async () => {
      const r = await turn(runtime, url, ['--handle', '00000000-0000-4000-8000-000000000000', 'hello'], options);
      assert.equal(r.error?.code, 'continuity_lost', r.stderr);
    });
  }

  for (const [name, runtime, options] of rows)
    test(`${name}: two turns are one session in list, status and badges, and each is found, indexed and harvested once`, async (t) => {
      const h = tmpHome(t), env = { ...configure(url, options), ...h.env, PATH: `${path.dirname(process.execPath)}:${h.env.PATH}`, CODEX_HOME: path.join(h.dir, 'codex') };
      fs.cpSync(path.join(codex, 'config.toml'), path.join(env.CODEX_HOME, 'config.toml'));
      const run = (...args) => new Promise((done) => {
        execFile(bin, args, { env, cwd: work, timeout: 120_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
      });
      const json = async (...args) => { const r = await run(...args, '--json'); assert.equal(r.code, 0, r.stderr); return JSON.parse(r.stdout); };
      const first = await run('ask', '-r', runtime, `please show ${runtime} the note`);
      assert.equal(first.code, 0, first.stderr);
      const ours = /conversation (\S+)/.exec(first.stderr)[1];
      const second = await run('ask', '-c', ours, '-r', runtime, 'and once more, in vermilion');
      assert.equal(second.code, 0, second.stderr);
      const theirs = (await json('sessions', 'list', '--source', runtime)).sessions;
      assert.equal(theirs.length, 1, 'the program kept a transcript of its own');
      assert.equal(theirs[0].continued_in, ours);
      assert.deepEqual((await json('sessions', 'list', '--limit', '0')).sessions.map((s) => s.id), [ours]);
      assert.equal((await json('status')).total.sessions, 1);
      assert.equal((await json('index')).sessions, 1);
      const scan = await json('achievements', 'scan');
      assert.equal(scan.aggregate.session_count, 1);
      assert.equal(scan.aggregate.total_tool_calls ?? scan.aggregate.max_tool_calls_in_session, 1, 'the call is that of the transcript');
      const found = (await json('sessions', 'search', 'vermilion', '--role', 'user')).hits;
      assert.deepEqual(found.map((x) => x.session), [theirs[0].id]);
      const digests = (await json('sleep', 'harvest')).digests.filter((d) => JSON.stringify(d.user_prompts).includes('vermilion'));
      assert.equal(digests.length, 1, JSON.stringify(digests));
    });

  test('codex asks before it runs a command, and takes yes and no', async () => {
    const policy = 'approval_policy = "on-request"\nsandbox_mode = "read-only"';
    const yes = await turn('codex', url, ['--approve', 'once', 'please write the note'], { policy });
    assert.deepEqual(yes.stage('approval').map((p) => p.status), ['waiting', 'completed'], yes.stderr);
    assert.equal(yes.stage('tool').at(-1).status, 'completed');
    const no = await turn('codex', url, ['--approve', 'deny', 'please write the note'], { policy });
    assert.equal(no.stage('tool').at(-1).status, 'failed');
  });

  test('codex at a port where nobody listens ends at our deadline', async () => {
    const r = await turn('codex', 'http://127.0.0.1:9', ['--timeout', '8', 'hello'], { transport: 'exec' });
    assert.ok(['timeout_total', 'stream_truncated', 'upstream_error'].includes(r.error?.code), JSON.stringify(r.error));
    assert.equal(r.text, '');
  });
});
