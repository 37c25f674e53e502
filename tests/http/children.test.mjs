// What the programs of others are given that a server runs: nothing private where other users can read it, and no more of us than
// they need.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fixtures, tmpHome } from '../cli/helpers.mjs';
import { request, startServer } from './helpers.mjs';

const secret = 'the safe opens with 4711';
const dash = '--dangerously-skip-permissions';

/** A program that writes down how it was started, then does what `rest` says. */
function witness(dir, name, rest) {
  const [program, report] = [path.join(dir, name), path.join(dir, `${name}.json`)];
  fs.writeFileSync(program, `#!${process.execPath}
const fs = require('node:fs'), path = require('node:path');
const files = process.argv.filter((a) => a.includes('-file=')).map((a) => a.slice(a.indexOf('=') + 1)).filter((f) => fs.existsSync(f));
const status = fs.readFileSync('/proc/self/status', 'utf8');
const field = (name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)[1];
// What Node itself opened is a kind of its own (epoll, events, pipes between its threads); files and sockets would be ours.
const open = fs.readdirSync('/proc/self/fd').map(Number).flatMap((fd) => { try { return [[fd, fs.readlinkSync('/proc/self/fd/' + fd)]]; } catch { return []; } });
const report = { cmdline: fs.readFileSync('/proc/self/cmdline', 'utf8').split('\\0').slice(2), environ: Object.keys(process.env),
  files: files.map((f) => ({ path: f, mode: fs.statSync(f).mode & 0o777, folder: fs.statSync(path.dirname(f)).mode & 0o777, text: fs.readFileSync(f, 'utf8') })),
  open: open.filter(([fd, to]) => fd > 2 && (to.startsWith('/') ? !to.startsWith('/proc/') && !to.startsWith('/dev/') : to.startsWith('socket:'))),
  blocked: field('SigBlk'), limit: /^Max open files\\s+(\\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1] };
fs.writeFileSync(${JSON.stringify(report)}, JSON.stringify(report));
${rest}`, { mode: 0o755 });
  return { program, read: () => JSON.parse(fs.readFileSync(report, 'utf8')) };
}

const claudeRest = `const input = fs.readFileSync(0, 'utf8');
fs.writeFileSync(__filename + '.in', input);
process.stdout.write(fs.readFileSync(${JSON.stringify(path.join(fixtures, 'runtimes/claude_ok.jsonl'))}));`;
const codexRest = `const say = (o) => console.log(JSON.stringify(o));
const got = [];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  got.push(line);
  fs.writeFileSync(__filename + '.in', got.join('\\n'));
  if (m.method === 'initialize') say({ id: m.id, result: { userAgent: 'talaria/0.166.0 (Debian 12.0.0; x86_64) xterm (talaria; 0.1.0)' } });
  else if (m.method === 'thread/start') say({ id: m.id, result: { thread: { id: 't1' }, model: 'm' } });
  else if (m.method === 'turn/start') {
    say({ id: m.id, result: { turn: { id: 'u1' } } });
    say({ method: 'item/completed', params: { item: { type: 'agentMessage', text: 'Done.' } } });
    say({ method: 'turn/completed', params: { turn: { status: 'completed' } } });
  }
});`;
const execRest = `if (process.argv[2] === 'app-server') process.exit(2);
const input = fs.readFileSync(0, 'utf8');
fs.writeFileSync(__filename + '.in', input);
process.stdout.write(fs.readFileSync(${JSON.stringify(path.join(fixtures, 'runtimes/codex_exec_ok.jsonl'))}));`;

for (const [title, runtime, variable, rest] of [['claude', 'claude', 'TALARIA_CLAUDE_BIN', claudeRest], ['codex', 'codex', 'TALARIA_CODEX_BIN', codexRest], ['codex exec', 'codex', 'TALARIA_CODEX_BIN', execRest]]) {
  test(`${title}: private words are on no command line, and of us there is nothing else`, async (t) => {
    const home = tmpHome();
    fs.mkdirSync(path.join(home.data, 'memories'), { recursive: true });
    fs.writeFileSync(path.join(home.data, 'memories/USER.md'), `${secret}\n`);
    const it = witness(home.dir, runtime, rest);
    const server = await startServer(t, { home, env: { [variable]: it.program, SECRET_KEY: 'not for children', TALARIA_MODEL_API_KEY: 'nor this', RUST_LOG: 'off' } });
    const { id } = (await request(server, '/api/conversations', { method: 'POST', body: {} })).json;
    const r = await request(server, `/api/conversations/${id}/chat`, { method: 'POST', body: { text: 'where is the key of the safe?', runtime, model: dash } });
    assert.match(r.text, /"status": ?"completed"/, r.text);
    const seen = it.read();
    // Every word of the command line is one of ours; none is of the user, and a value is never an option.
    assert.ok(!seen.cmdline.join(' ').match(/safe|4711|key of/), seen.cmdline.join(' '));
    assert.ok(!seen.cmdline.includes(dash), seen.cmdline.join(' '));
    if (title !== 'codex') assert.ok(seen.cmdline.includes(`--model=${dash}`), seen.cmdline.join(' '));
    // It was told all the same.
    const told = fs.readFileSync(`${it.program}.in`, 'utf8') + seen.files.map((f) => f.text).join('');
    assert.ok(told.includes(secret) && told.includes('key of the safe?'));
    for (const f of seen.files) {
      assert.equal(f.mode, 0o600);
      assert.ok(!fs.existsSync(f.path), 'the file is gone');
    }
    if (runtime === 'claude') assert.equal(seen.files.length, 1);
    // Environment, descriptors, signals, limits.
    assert.deepEqual(seen.environ.filter((n) => /SECRET|TALARIA|MODEL/.test(n)), []);
    assert.equal(seen.environ.includes('RUST_LOG'), runtime === 'codex');
    assert.deepEqual(seen.open, []);
    assert.equal(BigInt(`0x${seen.blocked}`), 0n);
    assert.equal(seen.limit, execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim());
  });
}

test('a Claude Code that knows no file of a system prompt is told before the prompt', async (t) => {
  const home = tmpHome();
  fs.mkdirSync(path.join(home.data, 'memories'), { recursive: true });
  fs.writeFileSync(path.join(home.data, 'memories/USER.md'), `${secret}\n`);
  const it = witness(home.dir, 'claude', `const odd = process.argv.find((a) => a.startsWith('--append-system-prompt-file'));
if (odd) { console.error("error: unknown option '" + odd + "'"); process.exit(1); }
${claudeRest}`);
  const server = await startServer(t, { home, env: { TALARIA_CLAUDE_BIN: it.program } });
  const { id } = (await request(server, '/api/conversations', { method: 'POST', body: {} })).json;
  const r = await request(server, `/api/conversations/${id}/chat`, { method: 'POST', body: { text: 'what opens the safe?', runtime: 'claude' } });
  assert.match(r.text, /"status": ?"completed"/, r.text);
  const told = fs.readFileSync(`${it.program}.in`, 'utf8');
  assert.ok(told.includes(secret) && told.endsWith('what opens the safe?'), told);
});
