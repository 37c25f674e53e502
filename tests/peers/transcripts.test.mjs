// What the real Claude Code and Codex write is what lists, pages and searches show: prompts, answers, the
// tool's call and its result, each once, a session that goes on in a second turn, and one that was forked.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { claude } from '../cli/agents_said.mjs';
import { root, runJson, tmpHome } from '../cli/helpers.mjs';

const here = path.join(root, 'tests/peers');
let env, sessions;

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

before(() => {
  const dir = agents();
  sessions = JSON.parse(fs.readFileSync(path.join(dir, 'sessions.json'), 'utf8'));
  env = {
    ...tmpHome().env, CLAUDE_CONFIG_DIR: path.join(dir, 'home/.claude'), CODEX_HOME: path.join(dir, 'codex'), WORK: path.join(dir, 'work'),
  };
}, { timeout: 420_000 });

const talaria = (...args) => runJson(args, { env });
const listed = (id) => talaria('sessions', 'list').sessions.filter((s) => s.id === id);
const transcript = (id) => talaria('sessions', 'show', id).parts.flatMap((p) => p.transcript);
const found = (...query) => talaria('sessions', 'search', '--limit', '100', ...query).hits;

/** Two turns, the first with one call, as every command shows them. */
function checkSession(source, tool, prompt) {
  const id = sessions[source];
  const entries = listed(id);
  assert.equal(entries.length, 1);
  assert.equal(entries[0].source, source);
  assert.equal(entries[0].title, prompt);
  assert.equal(entries[0].cwd, env.WORK);
  assert.equal(entries[0].tool_calls, 1);
  assert.deepEqual(entries[0].tools, [tool]);
  const all = transcript(id);
  assert.equal(entries[0].messages, all.length);
  assert.deepEqual(all.map((m) => [m.role, m.content]), [
    ['user', prompt], ['assistant', null], ['tool', all[2].content], ['assistant', 'The note says hello.'],
    ['user', 'and once more'], ['assistant', 'It is still the same.'],
  ]);
  assert.match(all[2].content, /hello from the note/);
  assert.equal(all[2].tool_name, tool);
  assert.equal(all[1].tool_calls.length, 1);
  assert.equal(all[1].tool_calls[0].id, all[2].tool_call_id);
  assert.match(all[1].tool_calls[0].arguments, /cat note\.txt/);
  for (const [query, role] of [[['please', 'show', source], 'user'], [['hello', 'role:result'], 'result'], [['"cat note"'], 'call'],
    [['says', 'hello', 'role:assistant'], 'assistant'], [['once', 'more', 'role:user'], 'user'], [['still', 'same'], 'assistant']]) {
    const hits = found(...query, '--source', source);
    assert.deepEqual(hits.map((h) => [h.session, h.role]), [[id, role]], query.join(' '));
  }
}

test('everything is read, and nothing of it is broken', () => {
  const all = talaria('index');
  assert.deepEqual([all.sessions, all.broken_lines], [3, 0]);
  assert.equal(talaria('index').read, 0);
});

test('Claude Code', () => checkSession('claude', 'Bash', 'please show claude the note'));

test('Codex', () => checkSession('codex', 'exec_command', 'please show codex the note'));

test('Codex, compressed by Codex itself', () => {
  const packed = path.join(env.CODEX_HOME, '../codex-packed'), files = fs.globSync(path.join(packed, 'sessions/**/rollout-*'));
  assert.deepEqual(files.map((f) => path.extname(f)), ['.zst'], 'it is compressed, and there is nothing else');
  const home = { env: { ...tmpHome().env, CODEX_HOME: packed } }, rows = runJson(['sessions', 'list', '--source', 'codex'], home).sessions;
  assert.deepEqual(rows.map((s) => ({ ...s, path: 0 })), listed(sessions.codex).map((s) => ({ ...s, path: 0 })));
  assert.deepEqual(runJson(['sessions', 'show', sessions.codex], home).parts.flatMap((p) => p.transcript), transcript(sessions.codex));
  assert.equal(runJson(['sessions', 'search', 'still', 'same'], home).hits.length, 1);
});

test('a session of Claude Code that was forked', () => {
  const all = transcript(sessions.fork);
  assert.deepEqual(all.slice(-2).map((m) => [m.role, m.content]), [['user', 'a third time, elsewhere'], ['assistant', 'Nothing has changed here.']]);
  assert.equal(all.length, 8, 'what was copied is shown in its place');
  assert.deepEqual(found('elsewhere').map((h) => h.session), [sessions.fork]);
  assert.deepEqual(found('please', 'show', 'claude').map((h) => h.session), [sessions.claude], 'and found where it was said');
});

// ccusage reads the same files for their tokens: every call once, whatever forks repeat.
test('tokens of forks add up to what ccusage counts', () => {
  const home = tmpHome(), ids = [1, 2, 3].map((n) => `11111111-aaaa-4aaa-8aaa-00000000000${n}`);
  const said = (id, text, input, output) => ({ type: 'assistant', requestId: `req_${id}`, version: '2.1.325',
    message: { role: 'assistant', model: 'claude-sonnet-4-5', id: `msg_${id}`, type: 'message', content: [{ type: 'text', text }],
      usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 } } });
  const first = claude(home, ids[0]).said('user', 'count the boats').line(said('a', 'Tw', 100, 1)).line(said('a', 'Two.', 100, 10));
  const copied = fs.readFileSync(first.file, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  for (const [i, id] of ids.slice(1).entries()) {
    const fork = claude(home, id);
    if (i) fork.line({ type: 'queue-operation', operation: 'enqueue', content: 'more', timestamp: '2026-11-11T09:00:00.000Z' });
    for (const l of copied) fork.line({ ...l, sessionId: id });
    fork.line(said(`f${i}`, 'Three.', 300 + i, 30));
  }
  first.line(said('b', 'More.', 1000, 50));
  const peer = path.join(here, 'node_modules/@ccusage/ccusage-linux-x64/bin/ccusage');
  fs.chmodSync(peer, 0o755);
  const r = spawnSync(peer, ['session', '--json', '--offline'], { env: { ...home.env, CLAUDE_CONFIG_DIR: path.join(home.user, '.claude') }, encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
  const { totals } = JSON.parse(r.stdout);
  const sum = (key) => runJson(['sessions', 'list', '--limit', '0'], home).sessions.reduce((n, s) => n + s[key], 0);
  assert.deepEqual(['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].map(sum),
    [totals.inputTokens, totals.outputTokens, totals.cacheReadTokens, totals.cacheCreationTokens]);
  assert.equal(totals.inputTokens, 1701, 'ccusage read all of it');
});
