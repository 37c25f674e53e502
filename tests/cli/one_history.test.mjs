// One history, whoever wrote it: badges, templates and counts over Hermes, Claude Code, Codex and our own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeStateDb, run, runJson, tmpHome } from './helpers.mjs';
import { seen } from './terminal.mjs';
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

// -- counts ------------------------------------------------------------------------------------------

/** A home with everything in it: chains, sub-agents, archived ones, transcripts, and sessions of our own. */
function mixed(t) {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 120, seed: 9 });
  makeTranscripts(h, { sessions: 40, mb: 1, seed: 6 });
  const out = path.join(h.user, 'out.jsonl');
  assert.equal(run(['sessions', 'export', '--all', '--source', 'codex', '--output', out], h).code, 0);
  fs.writeFileSync(out, fs.readFileSync(out, 'utf8').replaceAll(/"id": ?"([0-9a-f-]{8})/g, '"id":"copy$1').replaceAll('"source":"codex"', '"source":"cli"').replaceAll('"source": "codex"', '"source": "cli"'));
  assert.equal(run(['sessions', 'import', out], h).code, 0);
  return h;
}

test('one definition of a session: list, status, doctor, export and badges agree', async (t) => {
  const h = mixed(t);
  run(['ask', '--runtime', 'offline', 'release notes'], h); // a one-shot question is no session
  const listed = runJson(['sessions', 'list', '--limit', '0'], h).sessions;
  const status = runJson(['status'], h);
  const by = (name) => listed.filter((s) => s.origin === name).length;
  for (const s of status.sources) assert.equal(s.sessions, by(s.name), s.name);
  assert.ok(status.sources.every((s) => s.sessions > 0), 'every source has some');
  assert.equal(status.total.sessions, listed.length);
  const scan = runJson(['achievements', 'scan'], h);
  assert.deepEqual(scan.sources, Object.fromEntries(status.sources.map((s) => [s.name, s.sessions])));
  assert.equal(scan.aggregate.session_count, listed.length);
  const out = path.join(h.user, 'all.jsonl');
  assert.equal(runJson(['sessions', 'export', '--all', '--output', out], h).sessions, status.total.sessions + status.total.sub_agents + status.total.archived, '--all is all');
  const found = runJson(['doctor'], h).checks.filter((c) => c.id === 'sources');
  for (const s of status.sources) assert.match(found.find((c) => c.subject === s.title).text, new RegExp(`^${s.sessions.toLocaleString('en')} sessions?\\b`));
  // What is left out of the number is told beside it, and together it is everything there is.
  const home = status.homes.find((x) => x.name === 'hermes');
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'), { readOnly: true });
  assert.equal(home.sessions + home.parts + home.sub_agents + home.archived, db.prepare("SELECT count(*) AS n FROM sessions WHERE id <> ''").get().n);
  db.close();
  assert.ok(home.parts > 0 && home.sub_agents > 0 && home.archived > 0);
  assert.match(await seen(t, ['status'], h), new RegExp(`${home.sessions} sessions \\(${home.parts} more parts? of (a )?compressed ones?, ${home.sub_agents} sub-agent runs?, ${home.archived} archived\\)`));
});

test('status and doctor name every place that is looked at, found or not', async (t) => {
  const h = tmpHome(t);
  fs.rmSync(h.hermes, { recursive: true, force: true });
  const empty = await seen(t, ['status'], h);
  const rows = run(['status'], h).stdout.slice(0, -1).split('\n').map((l) => l.split('\t'));
  assert.deepEqual(rows.map((r) => [r[0], r[2], r[3], r.length]).sort(), [['claude', 'missing', '0', 6], ['codex', 'missing', '0', 6], ['hermes', 'missing', '0', 6], ['talaria', 'missing', '0', 6]]);
  for (const [folder, variable] of [[h.hermes, 'HERMES_HOME'], [path.join(h.user, '.claude'), 'CLAUDE_CONFIG_DIR'], [path.join(h.user, '.codex'), 'CODEX_HOME'], [h.data, 'TALARIA_HOME']]) {
    assert.ok(empty.includes(folder), `${folder} in ${empty}`);
    assert.ok(empty.includes(`$${variable}`), variable);
    assert.ok(run(['doctor'], h).stdout.replaceAll(/\s+/g, ' ').includes(folder), `doctor: ${folder}`);
  }
  assert.match(empty, /No sessions yet/);
  const { sources } = runJson(['status'], h);
  assert.deepEqual(sources.map((s) => [s.name, s.present, s.variable]), [['hermes', false, 'HERMES_HOME'], ['claude', false, 'CLAUDE_CONFIG_DIR'], ['codex', false, 'CODEX_HOME'], ['talaria', false, 'TALARIA_HOME']]);
  assert.ok(sources.every((s) => path.isAbsolute(s.folder)));
  makeTranscripts(h, { sessions: 12, mb: 1, seed: 2 });
  const some = await seen(t, ['status'], h);
  assert.doesNotMatch(some, /No sessions yet\. /);
  assert.match(some, /\n\d+ sessions?.* in all\n$/);
  // The same time as in the list, whenever the file was touched.
  const now = new Date();
  for (const f of fs.readdirSync(path.join(h.user, '.claude'), { recursive: true })) if (f.endsWith('.jsonl')) fs.utimesSync(path.join(h.user, '.claude', f), now, now);
  const claude = runJson(['status'], h).sources.find((s) => s.name === 'claude');
  assert.equal(claude.newest, Math.max(...runJson(['sessions', 'list', '--limit', '0', '--source', 'claude'], h).sessions.map((s) => s.last_active)));
});

test('a cost that is not known is null, and cache tokens are told', (t) => {
  const h = tmpHome(t);
  makeTranscripts(h, { sessions: 20, mb: 1, seed: 2 });
  const { sessions } = runJson(['sessions', 'list', '--limit', '0', '--source', 'claude'], h);
  assert.ok(sessions.every((s) => s.cost_usd === null && s.parts.every((p) => p.cost_usd === null)));
  assert.ok(sessions.some((s) => s.cache_read_tokens > 0 || s.cache_write_tokens > 0));
});

test('with Claude Code alone every command has something to show', (t) => {
  const h = tmpHome(t);
  fs.rmSync(h.hermes, { recursive: true, force: true });
  makeTranscripts(h, { sessions: 60, mb: 4, seed: 3 });
  fs.rmSync(path.join(h.user, '.codex'), { recursive: true, force: true });
  assert.ok(runJson(['achievements', 'list'], h).counts.unlocked_count > 0);
  assert.ok(runJson(['templates', 'harvest', '--dry-run'], h).created.length > 0);
  assert.ok(runJson(['templates', 'study'], h).kinds.some((k) => k.calls > 0));
  assert.equal(run(['index'], h).code, 0);
  assert.ok(runJson(['sessions', 'search', 'release notes'], h).hits.length > 0);
  const worth = runJson(['sleep', 'worth'], h);
  assert.ok(JSON.stringify(worth).match(/"(sessions|n_sessions)": ?[1-9]/), JSON.stringify(worth).slice(0, 400));
  assert.match(run(['ask', '--runtime', 'offline', 'release notes'], h).stdout, /release/i);
});
