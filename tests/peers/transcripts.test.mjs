// What the real Claude Code and Codex write is what our readers read: prompts, answers, the tool's
// call and its result, each once, and a session that goes on in a second turn.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { root, tmpHome } from '../cli/helpers.mjs';

const here = path.join(root, 'tests/peers');
const reader = path.join(root, 'build/plain/test_transcripts'); // prints the events of a file
let dir, sessions;

function agents() {
  const { dir } = tmpHome();
  const args = [path.join(here, 'agents.mjs'), dir];
  const options = { timeout: 400_000, encoding: 'utf8' };
  const alone = process.getuid() === 0 && spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
  const r = alone
    ? spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh', process.execPath, ...args], options)
    : spawnSync(process.execPath, args, options);
  assert.equal(r.status, 0, r.stderr);
  return dir;
}

function find(folder, part) {
  return fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.jsonl') && name.includes(part)).map((name) => path.join(folder, name));
}

function events(source, file) {
  const r = spawnSync(reader, [source, file], { encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
  return r.stdout.split(/\n(?=(?:session|user|assistant|thinking|tool_call|tool_result|error|meta|compaction|usage|files|stats)\b)/);
}

const times = (all, wanted) => all.filter((line) => line.startsWith(wanted)).length;

before(() => {
  dir = agents();
  sessions = JSON.parse(fs.readFileSync(path.join(dir, 'sessions.json'), 'utf8'));
}, { timeout: 420_000 });

test('Claude Code', () => {
  const files = find(path.join(dir, 'home/.claude/projects'), sessions.claude);
  assert.equal(files.length, 1);
  const all = events('claude', files[0]);
  assert.equal(times(all, "user 'please show claude the note'"), 1);
  assert.equal(times(all, "user 'and once more'"), 1);
  assert.equal(times(all, "user '"), 2);
  assert.equal(times(all, 'tool_call Bash '), 1);
  assert.equal(times(all, 'tool_result '), 1);
  assert.ok(all.some((line) => line.startsWith('tool_result ') && line.includes('hello from the note')));
  assert.equal(times(all, "assistant 'The note says hello.'"), 1);
  assert.equal(times(all, "assistant 'It is still the same.'"), 1);
  assert.ok(all.some((line) => line.startsWith('session ') && line.includes(`id=${sessions.claude}`)));
  assert.ok(all.some((line) => line.startsWith('session ') && line.includes('entrypoint=sdk-cli')));
  assert.ok(all.some((line) => line.startsWith('stats ') && line.includes('broken=0 foreign=0')), all.at(-1));
});

test('Codex', () => {
  const files = find(path.join(dir, 'codex/sessions'), sessions.codex);
  assert.equal(files.length, 1);
  const all = events('codex', files[0]);
  assert.equal(times(all, "user 'please show codex the note'"), 1);
  assert.equal(times(all, "user 'and once more'"), 1);
  assert.equal(times(all, "user '"), 2);
  assert.equal(times(all, 'tool_call exec_command '), 1);
  assert.equal(times(all, 'tool_result '), 1);
  assert.ok(all.some((line) => line.startsWith('tool_result ') && line.includes('hello from the note') && line.includes('exit 0')));
  assert.equal(times(all, "assistant 'The note says hello.'"), 1);
  assert.equal(times(all, "assistant 'It is still the same.'"), 1);
  assert.ok(all.some((line) => line.startsWith('session ') && line.includes(`id=${sessions.codex}`) && line.includes('originator=codex_exec')));
  assert.ok(all.some((line) => line.startsWith('stats ') && line.includes('broken=0 foreign=0')), all.at(-1));
});
