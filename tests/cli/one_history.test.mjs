// One history, whoever wrote it: badges, templates and counts over Hermes, Claude Code, Codex and our own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeStateDb, run, runJson, tmpHome } from './helpers.mjs';
import { makeTranscripts } from './transcripts.mjs';

const badges = (scan) => new Map(scan.achievements.map((a) => [a.id, a]));
const total = (sources) => Object.values(sources).reduce((a, b) => a + b, 0);

test('Claude Code and Codex alone: badges, with the dates of the history', (t) => {
  const h = tmpHome(t);
  makeTranscripts(h, { sessions: 60, mb: 4, seed: 3 });
  const listed = runJson(['sessions', 'list', '--limit', '0'], h).sessions;
  const scan = runJson(['achievements', 'scan'], h);
  assert.ok(scan.counts.unlocked_count > 0);
  assert.equal(scan.aggregate.session_count, listed.length);
  assert.equal(scan.scan_meta.sessions_total, listed.length);
  const by = (o) => listed.filter((s) => s.origin === o).length;
  assert.deepEqual(scan.sources, { hermes: 0, claude: by('claude'), codex: by('codex'), talaria: 0 });
  for (const key of ['total_terminal_calls', 'total_patch_calls', 'total_file_reads_searches', 'total_delegate_calls', 'total_web_extract_calls']) {
    assert.ok(scan.aggregate[key] > 0, key);
  }
  const first = Math.min(...listed.map((s) => s.started_at)), last = Math.max(...listed.map((s) => s.last_active));
  const times = runJson(['achievements', 'recent'], h).achievements.map((a) => a.unlocked_at);
  assert.ok(times.length > 1 && times.every((at) => at >= Math.floor(first) && at <= last), times.join(' '));
  assert.ok(new Set(times).size > 1, 'not all at once');
  assert.match(run(['achievements', 'list'], h).stderr, new RegExp(`${listed.length} sessions \\(${by('claude')} Claude Code, ${by('codex')} Codex\\)`));
});

test('--source counts one program alone, and what is read again is what changed', (t) => {
  const h = tmpHome(t);
  const truth = makeTranscripts(h, { sessions: 40, mb: 1, seed: 5 });
  const all = runJson(['achievements', 'scan'], h);
  const claude = runJson(['achievements', 'scan', '--source', 'claude'], h);
  const codex = runJson(['achievements', 'scan', '--source', 'codex'], h);
  assert.equal(claude.aggregate.session_count + codex.aggregate.session_count, all.aggregate.session_count);
  assert.equal(claude.aggregate.total_tool_calls + codex.aggregate.total_tool_calls, all.aggregate.total_tool_calls);
  assert.equal(claude.sessions.length, claude.aggregate.session_count);
  assert.equal(codex.scan_meta.sessions_rescanned, 0, 'nothing is read twice');
  const file = truth.find((r) => r.source === 'claude' && r.kind === 'human' && r.n_user > 1).path;
  const where = path.isAbsolute(file) ? file : path.join(h.user, file);
  const line = { type: 'user', message: { role: 'user', content: 'a traceback, and another traceback' }, timestamp: '2026-11-01T10:00:00Z', uuid: 'x', sessionId: path.basename(where, '.jsonl') };
  fs.appendFileSync(where, JSON.stringify(line) + '\n');
  const again = runJson(['achievements', 'scan'], h);
  assert.equal(again.scan_meta.sessions_rescanned, 1);
  assert.equal(again.aggregate.traceback_events, all.aggregate.traceback_events + 2);
  assert.deepEqual(runJson(['achievements', 'scan', '--full'], h).aggregate, again.aggregate);
});

test("our figure and the plugin's are two: neither writes the other's file", (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 60, seed: 3 });
  makeTranscripts(h, { sessions: 20, mb: 1, seed: 4 });
  const plugin = path.join(h.hermes, 'plugins');
  const all = runJson(['achievements', 'scan'], h);
  assert.ok(!fs.existsSync(plugin), 'the whole history leaves nothing in Hermes\' home');
  assert.ok(fs.existsSync(path.join(h.data, 'achievements/state.json')));
  const hermes = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  assert.ok(!('sources' in hermes));
  assert.ok(all.aggregate.total_tool_calls > hermes.aggregate.total_tool_calls);
  const state = fs.readFileSync(path.join(plugin, 'hermes-achievements/state.json'));
  run(['demo'], h);
  run(['achievements', 'scan', '--full'], h);
  run(['achievements', 'scan', '--full', '--source', 'hermes'], h);
  assert.deepEqual(fs.readFileSync(path.join(plugin, 'hermes-achievements/state.json')), state, 'sessions of others never get into it');
});

test('a badge once earned stays when the history shrinks; each tier has its own date', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 200, messages: 40, seed: 3 });
  const before = badges(runJson(['achievements', 'list'], h));
  const state = JSON.parse(fs.readFileSync(path.join(h.data, 'achievements/state.json'), 'utf8')).unlocks;
  const raised = Object.values(state).find((u) => u.upgrades?.length);
  assert.ok(raised && raised.upgrades.every((u, i, all) => u.at >= (i ? all[i - 1].at : raised.unlocked_at)), 'tiers in order of time');
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  db.exec('UPDATE sessions SET archived = 1 WHERE rowid % 3');
  db.close();
  const after = badges(runJson(['achievements', 'list'], h));
  for (const [id, a] of before) if (a.unlocked) { assert.equal(after.get(id).unlocked, true, id); assert.equal(after.get(id).unlocked_at, a.unlocked_at, id); }
  assert.ok([...after.values()].some((a) => a.kept));
});

test('a chain that compression cut is one session; sub-agents are none', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 4, seed: 8 });
  const db = new DatabaseSync(file);
  db.exec('DELETE FROM messages; DELETE FROM sessions');
  const add = db.prepare('INSERT INTO sessions(id, source, started_at, ended_at, end_reason, parent_session_id) VALUES (?, ?, ?, ?, ?, ?)');
  add.run('part-1', 'cli', 1000, 2000, 'compression', null);
  add.run('part-2', 'cli', 2000, 3000, 'compression', 'part-1');
  add.run('part-3', 'cli', 3000, 4000, 'cli_exit', 'part-2');
  add.run('helper', 'subagent', 3100, 3200, 'cli_exit', 'part-3');
  add.run('alone', 'cli', 5000, 6000, 'cli_exit', null);
  const say = db.prepare("INSERT INTO messages(session_id, role, tool_calls, timestamp) VALUES (?, 'assistant', ?, ?)");
  const calls = (n) => JSON.stringify(Array.from({ length: n }, () => ({ id: 'x', function: { name: 'terminal', arguments: '{}' } })));
  for (const [id, n] of [['part-1', 100], ['part-2', 60], ['part-3', 50], ['helper', 500], ['alone', 120]]) say.run(id, calls(n), 1500);
  db.close();
  const scan = runJson(['achievements', 'scan'], h);
  assert.equal(scan.aggregate.session_count, 2);
  assert.equal(scan.aggregate.max_terminal_calls_in_session, 210, 'what a conversation came to, not its longest part');
  assert.equal(scan.aggregate.total_terminal_calls, 330);
  assert.equal(badges(scan).get('let_him_cook').evidence.session_id, 'part-3');
  assert.deepEqual(runJson(['sessions', 'list'], h).sessions.map((s) => s.id).sort(), ['alone', 'part-3']);
  assert.equal(runJson(['sessions', 'list', '--side-chains'], h).sessions.length, 3);
  assert.equal(total(scan.sources), 2);
});

test('templates: harvest, create and study over Claude Code and Codex; nothing in their folders', (t) => {
  const h = tmpHome(t);
  makeTranscripts(h, { sessions: 60, mb: 4, seed: 3 });
  const tree = () => fs.readdirSync(h.user, { recursive: true }).filter((f) => /^\.(claude|codex)/.test(f)).sort();
  const before = tree();
  const made = runJson(['templates', 'harvest', '--limit', '3'], h);
  assert.equal(made.created.length, 3);
  assert.equal(made.sessions, runJson(['sessions', 'list', '--limit', '0', '--archived'], h).sessions.length);
  for (const { name } of made.created) assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)+$/, 'named after the task');
  const list = runJson(['templates', 'list'], h).templates;
  assert.ok(list.every((x) => x.path.startsWith(path.join(h.data, 'session-templates')) && / \(\d+ calls?: /.test(x.description)), JSON.stringify(list));
  assert.deepEqual(tree(), before);
  const codex = runJson(['templates', 'harvest', '--limit', '1', '--source', 'codex', '--dry-run'], h);
  assert.ok(codex.sessions > 0 && codex.sessions < made.sessions);
  const study = runJson(['templates', 'study'], h);
  assert.ok(study.kinds.some((k) => k.calls > 0 && k.sessions >= 20));
  assert.ok(runJson(['templates', 'study', '--source', 'codex'], h).sessions < study.sessions);
  const again = run(['templates', 'create', made.created[0].session], h);
  assert.match(again.stdout, new RegExp(`^Created template: ${made.created[0].name}-2\n`));
});

test('nothing to make templates from is said in plain words', (t) => {
  assert.match(run(['templates', 'harvest'], tmpHome(t)).stdout, /^No sessions found to make templates from\n$/);
});
