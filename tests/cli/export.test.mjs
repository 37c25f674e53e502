// What is exported comes back the same; what is broken, cut off or different is said, and nothing is half there.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fillHome, makeStateDb, run, runJson, tmpHome, tree } from './helpers.mjs';
import { makeTranscripts } from './transcripts.mjs';

const lines = (text) => text.trim().split('\n').map((l) => JSON.parse(l));

/** Blocks of an export by session id. */
function blocks(text) {
  const out = new Map();
  let block = [];
  for (const line of text.split('\n').filter(Boolean)) {
    block.push(line);
    if (JSON.parse(line).kind !== 'end') continue;
    out.set(JSON.parse(block[0]).id, block.join('\n'));
    block = [];
  }
  return out;
}

function exported(home, ...args) {
  const r = run(['sessions', 'export', ...args], home);
  assert.equal(r.code, 0, r.stderr);
  return r.stdout;
}

test('a whole Hermes home: out, in, and out again is the same, byte for byte', () => {
  const from = tmpHome(), to = tmpHome();
  makeStateDb(path.join(from.hermes, 'state.db'), { sessions: 80 });
  const before = tree(from.hermes);
  const first = exported(from, '--all', '--raw');
  const report = runJson(['sessions', 'import', '-'], { ...to, input: first, env: to.env });
  assert.equal(report.added, blocks(first).size);
  assert.equal(report.broken + report.conflict, 0);
  assert.equal(exported(to, '--all', '--raw'), first);
  assert.deepEqual(tree(from.hermes), before);
  const again = runJson(['sessions', 'import', '-'], { env: to.env, input: first });
  assert.equal(again.added, 0);
  assert.equal(again.skipped, report.added);
  assert.equal(fs.statSync(path.join(to.data, 'talaria.db')).mode & 0o777, 0o600);
});

test('bytes that are no text, and marks inside of text, survive', () => {
  const from = tmpHome(), to = tmpHome();
  const file = path.join(from.hermes, 'state.db');
  makeStateDb(file, { sessions: 3 });
  const db = new DatabaseSync(file);
  const { id } = db.prepare('SELECT session_id AS id FROM messages LIMIT 1').get();
  db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES(?, 'user', ?, 1e9)").run(id, Buffer.from([0xff, 0xfe, 0, 0x41]));
  db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES(?, 'user', ?, 1e9)").run(id, '\0json:["\u2028"]');
  db.close();
  const first = exported(from, id, '--raw');
  assert.match(first, /"base64": ?"\/\/4AQQ=="/);
  run(['sessions', 'import', '-'], { env: to.env, input: first });
  assert.equal(exported(to, id, '--raw'), first);
});

test('transcripts of Claude Code and Codex come back the same, too', () => {
  const from = tmpHome(), to = tmpHome();
  makeTranscripts(from, { sessions: 20 });
  const first = exported(from, '--all', '--raw');
  run(['sessions', 'import', '-'], { env: to.env, input: first });
  const second = exported(to, '--all', '--raw');
  assert.deepEqual(new Map([...blocks(second)].sort()), new Map([...blocks(first)].sort()));
  const origins = new Set(runJson(['sessions', 'list', '--limit', '0'], to).sessions.map((s) => s.origin));
  assert.deepEqual([...origins].sort(), ['claude', 'codex']);
});

test('a transcript file copied from another machine is imported as it is', () => {
  const from = tmpHome(), to = tmpHome();
  const truth = makeTranscripts(from, { sessions: 12 });
  for (const source of ['claude', 'codex']) {
    const t = truth.find((x) => x.source === source && x.n_user > 1 && !/subagents|agent-/.test(x.path));
    const file = path.join(from.user, path.relative(from.user, path.resolve(from.user, t.path)));
    const r = runJson(['sessions', 'import', file], to);
    assert.equal(r.added, 1, t.path);
    assert.equal(exported(to, t.session_id, '--raw'), exported(from, t.session_id, '--raw'));
    assert.equal(runJson(['sessions', 'import', file], to).skipped, 1);
  }
  // On the machine where it lies, it is there already.
  const t = truth.find((x) => x.source === 'claude' && x.n_user > 1 && !/subagents|agent-/.test(x.path));
  assert.equal(runJson(['sessions', 'import', path.resolve(from.user, t.path)], from).skipped, 1);
});

test('secrets stay here unless --raw says otherwise', () => {
  const home = tmpHome();
  fillHome(home.env, '2026-11-15');
  const secret = /sk-[A-Za-z0-9_-]{20,}|ghp_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16}/;
  assert.match(exported(home, '--all', '--raw'), secret, 'the demo holds fabricated secrets');
  for (const format of ['jsonl', 'md']) {
    const text = exported(home, '--all', '--format', format);
    assert.doesNotMatch(text, secret);
    if (format === 'jsonl') assert.ok(lines(text).length > 100);
  }
});

test('Markdown: a heading, the conversation, calls and results in fences that hold', () => {
  const home = tmpHome();
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 3 });
  const db = new DatabaseSync(file);
  db.exec("INSERT INTO sessions(id, source, title, started_at, message_count) VALUES('md_session', 'cli', 'A\ntitle', 1700000000, 3)");
  const add = db.prepare("INSERT INTO messages(session_id, role, content, tool_calls, tool_name, timestamp) VALUES('md_session', ?, ?, ?, ?, 1700000000)");
  add.run('user', 'please look', null, null);
  add.run('assistant', null, JSON.stringify([{ id: 'a', function: { name: 'read', arguments: '{"path":"x"}' } }]), null);
  add.run('tool', 'before\n````\ninside\n````', null, 'read');
  db.close();
  const text = exported(home, 'md_session', '--format', 'md');
  assert.match(text, /^# A title\n\n- session `md_session` \(Hermes Agent, cli\)\n/);
  assert.match(text, /## user · 2023-11-14T22:13:20Z\n\nplease look\n/);
  assert.match(text, /→ \*\*read\*\*\n\n```json\n\{"path": ?"x"\}\n```/);
  assert.match(text, /## tool read .*\n\n`````\nbefore\n````\ninside\n````\n`````\n/);
});

test('to a file: whole, private, never over another one without --force', () => {
  const home = tmpHome();
  fillHome(home.env, '2026-11-15');
  const out = path.join(home.dir, 'out.jsonl');
  const r = run(['sessions', 'export', '--all', '--output', out], home);
  assert.equal(r.code, 0);
  assert.equal(r.stdout, '');
  assert.equal(fs.statSync(out).mode & 0o777, 0o600);
  const bytes = fs.readFileSync(out, 'utf8');
  const second = run(['sessions', 'export', '--all', '--output', out], home);
  assert.equal(second.code, 4);
  assert.match(second.stderr, /--force/);
  assert.equal(fs.readFileSync(out, 'utf8'), bytes);
  assert.equal(run(['sessions', 'export', '--source', 'telegram', '-o', out, '--force'], home).code, 0);
  assert.notEqual(fs.readFileSync(out, 'utf8'), bytes);
  const missing = run(['sessions', 'export', 'nobody_here', '-o', path.join(home.dir, 'none.jsonl')], home);
  assert.equal(missing.code, 3);
  assert.deepEqual(fs.readdirSync(home.dir).filter((n) => /none|part/.test(n)), []);
  for (const place of [home.dir, '/dev/null']) {
    const r = run(['sessions', 'export', '--all', '-o', place, '--force'], home);
    assert.equal(r.code, 1);
    assert.match(r.stderr, /is not a file/);
  }
  assert.ok(fs.statSync('/dev/null').isCharacterDevice());
  assert.equal(run(['sessions', 'export'], home).code, 2, 'which sessions?');
  assert.equal(run(['sessions', 'export', 'x', '--all'], home).code, 2);
});

test('a full disk leaves no half export', () => {
  const home = tmpHome();
  fillHome(home.env, '2026-11-15');
  const r = run(['sessions', 'export', '--all', '--output', '/dev/full/none'], home);
  assert.notEqual(r.code, 0);
  assert.match(r.stderr, /cannot write/);
});

test('the same id with other content is a conflict, and --replace takes it', () => {
  const home = tmpHome();
  const text = (content) => [{ format: 1, kind: 'session', id: 's_one', source: 'cli', title: 'One', started_at: 5 },
    { kind: 'message', role: 'user', content, timestamp: 5 }, { kind: 'end', messages: 1 }].map((l) => JSON.stringify(l)).join('\n');
  const put = (content, ...args) => run(['sessions', 'import', '-', '--json', ...args], { env: home.env, input: text(content) });
  assert.equal(put('a').code, 0);
  const differs = put('b');
  assert.equal(differs.code, 4);
  assert.match(differs.stderr, /session 's_one' is there already, and differs; --replace/);
  assert.match(exported(home, 's_one'), /"content": ?"a"/);
  assert.equal(JSON.parse(put('b', '--replace', '--dry-run').stdout).replaced, 1);
  assert.match(exported(home, 's_one'), /"content": ?"a"/, 'a dry run changes nothing');
  assert.equal(JSON.parse(put('b', '--replace').stdout).replaced, 1);
  assert.match(exported(home, 's_one'), /"content": ?"b"/);
});

test('a session of Hermes is never replaced', () => {
  const home = tmpHome();
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3 });
  const text = exported(home, '--all', '--raw').replaceAll('"role": "user"', '"role": "system"').replaceAll('"role":"user"', '"role":"system"');
  const before = tree(home.hermes);
  const r = run(['sessions', 'import', '-', '--replace'], { env: home.env, input: text });
  assert.equal(r.code, 4);
  assert.match(r.stderr, /in the history of Hermes Agent/);
  assert.deepEqual(tree(home.hermes), before);
});

test('a title that is taken gets a number, and is still the same session', () => {
  const home = tmpHome();
  const text = ['s_a', 's_b', 's_c'].map((id) => [{ format: 1, kind: 'session', id, source: 'cli', title: 'Same', started_at: 5 },
    { kind: 'end', messages: 0 }].map((l) => JSON.stringify(l)).join('\n')).join('\n');
  assert.equal(runJson(['sessions', 'import', '-'], { env: home.env, input: text }).added, 3);
  assert.deepEqual(runJson(['sessions', 'list'], home).sessions.map((s) => s.title).sort(), ['Same', 'Same (2)', 'Same (3)']);
  assert.equal(runJson(['sessions', 'import', '-'], { env: home.env, input: text }).skipped, 3);
});

test('broken lines are named, cost their own session and no other', () => {
  const session = (id) => JSON.stringify({ format: 1, kind: 'session', id, source: 'cli', started_at: 5 });
  const message = JSON.stringify({ kind: 'message', role: 'user', content: 'x', timestamp: 5 });
  const end = (n) => JSON.stringify({ kind: 'end', messages: n });
  const good = [session('good_1'), message, end(1)];
  for (const [name, bad, said] of [
    ['no JSON', [session('bad'), '{"kind":', message, end(2)], /line 5: /],
    ['a wrong type', [session('bad'), '{"kind":"message","role":7}', end(1)], /line 5: 'role' must be a string/],
    ['an unknown kind', [session('bad'), '{"kind":"song"}', end(0)], /line 5: .*'kind' must be/],
    ['a message too few', [session('bad'), message, end(2)], /line 6: .*not as many messages/],
    ['no end', [session('bad'), message], /line 6: the session is cut off/],
    ['a message without a session', [message, message], /line 4: a message without a session/],
    ['a newer format', [session('bad').replace('"format":1', '"format":9'), end(0)], /line 4: format 9 is of a newer talaria/],
    ['no id', ['{"format":1,"kind":"session","source":"cli"}', end(0)], /line 4: 'id' and 'source'/],
  ]) {
    const home = tmpHome();
    const r = run(['sessions', 'import', '-', '--json'], { env: home.env, input: [...good, ...bad, session('good_2'), end(0)].join('\n') });
    assert.equal(r.code, 1, name);
    assert.match(r.stderr, said, name);
    const report = JSON.parse(r.stdout);
    assert.equal(report.added, 2, name);
    assert.equal(report.broken, 1, `${name}: ${r.stderr}`);
    assert.deepEqual(runJson(['sessions', 'list'], home).sessions.map((s) => s.id).sort(), ['good_1', 'good_2'], name);
  }
});

test('a file of something else is not told line by line', () => {
  const r = run(['sessions', 'import', '-'], { env: tmpHome().env, input: '# a page\n'.repeat(5000) });
  assert.equal(r.code, 1);
  assert.match(r.stdout, /5000 broken/);
  assert.match(r.stderr, /^talaria: warning: -: (line 1: column 1: .*)\ntalaria: warning: -: 4999 more like '\1'\n$/);
});

test('an export of nothing says so', () => {
  const home = tmpHome();
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3 });
  const r = run(['sessions', 'export', '--all', '--project', 'nosuch'], home);
  assert.deepEqual([r.code, r.stdout], [0, '']);
  assert.match(r.stderr, /no session is like that/);
});

test('a dry run makes nothing, not even a folder', () => {
  const from = tmpHome(), to = tmpHome();
  makeStateDb(path.join(from.hermes, 'state.db'), { sessions: 3 });
  const r = runJson(['sessions', 'import', '-', '--dry-run'], { env: to.env, input: exported(from, '--all') });
  assert.equal(r.added, 3);
  assert.ok(!fs.existsSync(to.data));
  assert.equal(run(['sessions', 'import', '/nonexistent.jsonl'], to).code === 0, false);
});
