// Lets the real Claude Code and Codex work once each against a model that answers from a script, and
// go on in a second turn. Everything they write lies below the folder that is given. Run by
// transcripts.test.mjs, where it can in a network that has loopback alone.
// usage: agents.mjs FOLDER
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const dir = process.argv[2];
const here = path.dirname(fileURLToPath(import.meta.url));
const bin = (name) => path.join(here, 'node_modules/.bin', name);
const [home, work, codex] = ['home', 'work', 'codex'].map((name) => path.join(dir, name));
for (const folder of [home, work, codex, path.join(dir, 'answers')]) fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(path.join(work, 'note.txt'), 'hello from the note\n');

const command = 'cat note.txt';
fs.writeFileSync(path.join(dir, 'answers/all.json'), JSON.stringify({ fixtures: [
  { match: { userMessage: 'a third time' }, response: { content: 'Nothing has changed here.' } },
  { match: { userMessage: 'and once more' }, response: { content: 'It is still the same.' } },
  { match: { userMessage: 'the note', hasToolResult: true }, response: { content: 'The note says hello.' } },
  { match: { userMessage: 'show claude the note' }, response: { toolCalls: [{ name: 'Bash', arguments: { command, description: 'show it' } }] } },
  { match: { userMessage: 'show codex the note' }, response: { toolCalls: [{ name: 'exec_command', arguments: { cmd: command } }] } },
] }));

const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const model = spawn(process.execPath, [bin('llmock'), '-p', String(port), '-f', path.join(dir, 'answers')], { stdio: 'ignore' });
process.on('exit', () => model.kill());
const url = `http://127.0.0.1:${port}`;
for (let tries = 0; ; tries++) {
  const up = await fetch(`${url}/__aimock/journal`).then((r) => r.ok, () => false);
  if (up) break;
  if (tries > 300) throw new Error('the model server does not come up');
  await new Promise((resolve) => setTimeout(resolve, 100));
}

const base = { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: home, TZ: 'UTC', LANG: 'C.UTF-8' };
function run(name, args, env) {
  const r = spawnSync(bin(name), args, { cwd: work, env: { ...base, ...env }, input: '', timeout: 90_000, encoding: 'utf8' });
  if (r.status !== 0) throw new Error(`${name} ${args.join(' ')}: ${r.status} ${r.signal}\n${r.stdout.slice(-2000)}\n${r.stderr.slice(-2000)}`);
  return r.stdout;
}

const anthropic = {
  ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'mock-key', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1', DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_MAX_RETRIES: '1', IS_SANDBOX: '1',
};
const claudeArgs = ['--output-format', 'json', '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash(cat:*)'];
const first = JSON.parse(run('claude', ['-p', 'please show claude the note', ...claudeArgs], anthropic));
run('claude', ['-p', 'and once more', '--resume', first.session_id, ...claudeArgs], anthropic);
const fork = JSON.parse(run('claude', ['-p', 'a third time, elsewhere', '--resume', first.session_id, '--fork-session', ...claudeArgs], anthropic));

fs.writeFileSync(path.join(codex, 'config.toml'), `model = "gpt-5.2"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`);
const openai = { CODEX_HOME: codex, MOCK_KEY: 'x' };
const codexArgs = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
const started = run('codex', ['exec', ...codexArgs, 'please show codex the note'], openai);
const thread = /"thread_id":"([^"]+)"/.exec(started)[1];
run('codex', ['exec', 'resume', thread, ...codexArgs, 'and once more'], openai);

// Codex compresses rollouts that are old, where this is switched on: in a copy, so that there are both.
const packed = path.join(dir, 'codex-packed');
fs.cpSync(codex, packed, { recursive: true });
for (const file of fs.globSync(path.join(packed, 'sessions/**/*.jsonl'))) fs.utimesSync(file, Date.now() / 1000 - 60 * 86400, Date.now() / 1000 - 60 * 86400);
fs.appendFileSync(path.join(packed, 'config.toml'), '[features]\nlocal_thread_store_compression = true\n');
run('codex', ['exec', '--ephemeral', ...codexArgs, 'and once more'], { ...openai, CODEX_HOME: packed });

fs.writeFileSync(path.join(dir, 'sessions.json'), JSON.stringify({ claude: first.session_id, fork: fork.session_id, codex: thread }));
process.exit(0);
