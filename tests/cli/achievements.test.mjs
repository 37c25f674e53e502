// Achievements: the same numbers as the reference on the same history, and what it gets wrong, right.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { compare, generate, golden } from './goldens.mjs';
import { bin, fillHome, fixtures, makeStateDb, python, run, runJson, tmpHome } from './helpers.mjs';

const files = (h) => path.join(h.hermes, 'plugins/hermes-achievements');

for (const name of ['empty', 'nano', 'tiny', 'small', 'medium']) {
  test(`golden ${name}: totals, sessions, tiers and states equal the reference's`, (t) => {
    const h = tmpHome(t);
    const g = golden(name);
    generate(h, g.generator);
    compare(g, runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h));
  });
}

test('the oracle agrees on databases of seeds made up now', (t) => {
  const h = tmpHome(t);
  const seed = Math.floor(Math.random() * 1e6);
  t.diagnostic(`seed ${seed}`);
  const db = path.join(h.hermes, 'state.db');
  makeStateDb(db, { sessions: 40, messages: 25, seed });
  const scan = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h);
  const r = spawnSync('python3', [path.join(fixtures, 'achievements/badges.py'), db], { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
  assert.equal(r.status, 0, r.stderr);
  const oracle = JSON.parse(r.stdout);
  const items = oracle.achievements ?? oracle;
  for (const a of items) {
    const ours = scan.achievements.find((x) => x.id === a.id);
    for (const key of ['state', 'tier', 'progress', 'unlocked']) if (key in a) assert.deepEqual(ours[key], a[key], `seed ${seed}: ${a.id} ${key}`);
  }
});

test('rows on which the reference aborts are passed over; every other session keeps its numbers', (t) => {
  const plain = tmpHome(t), poisoned = tmpHome(t);
  generate(plain, '--sessions 30 --messages-per-session 20 --seed 4');
  generate(poisoned, '--sessions 30 --messages-per-session 20 --seed 4 --poison scalar-toolcalls,string-function,int-name,bad-utf8,deep-json');
  const a = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], plain).sessions;
  const b = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], poisoned).sessions;
  const others = new Map(b.map((s) => [s.session_id, s]));
  let same = 0;
  for (const s of a) if (others.has(s.session_id)) { assert.deepEqual(others.get(s.session_id), s); same++; }
  assert.ok(same >= a.length - 5 && same > 0, `${same} of ${a.length}`);
});

test('a second scan reads only what changed, and says the same', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 80, seed: 2 });
  const first = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  assert.equal(first.scan_meta.mode, 'full');
  const second = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  assert.equal(second.scan_meta.mode, 'incremental');
  assert.equal(second.scan_meta.sessions_rescanned, 0);
  assert.deepEqual(second.sessions, first.sessions);
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  const { id } = db.prepare('SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at LIMIT 1').get();
  db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES (?, 'user', 'docker traceback traceback', 1.9e9)").run(id);
  db.close();
  const third = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  assert.equal(third.scan_meta.sessions_rescanned, 1);
  assert.equal(third.aggregate.traceback_events, first.aggregate.traceback_events + 2);
  assert.deepEqual(runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h).aggregate, third.aggregate);
});

test('a rewind, a compaction, an archived and a deleted session are seen', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 60, seed: 3 });
  const changes = [
    "UPDATE messages SET active = 0 WHERE session_id = (SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at LIMIT 1) AND id % 2; UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = (SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at LIMIT 1)",
    'UPDATE sessions SET archived = 1 WHERE id = (SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at DESC LIMIT 1)',
    'DELETE FROM sessions WHERE id = (SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at LIMIT 1 OFFSET 5)',
    "UPDATE sessions SET title = 'A new name' WHERE id = (SELECT id FROM sessions WHERE archived = 0 ORDER BY started_at LIMIT 1 OFFSET 7)",
  ];
  runJson(['achievements', 'scan', '--source', 'hermes'], h);
  for (const sql of changes) {
    const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    db.exec(sql);
    db.close();
    const incremental = runJson(['achievements', 'scan', '--source', 'hermes'], h);
    const full = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h);
    assert.deepEqual(incremental.aggregate, full.aggregate, sql);
    assert.deepEqual(incremental.sessions, full.sessions, sql);
  }
});

test('the files of the plugin: shapes, sorted keys, and what others wrote is kept', (t) => {
  const h = tmpHome(t);
  generate(h, golden('small').generator);
  fs.mkdirSync(files(h), { recursive: true });
  const theirs = { unlocks: { some_future_badge: { evidence: null, first_tier: 'Gold', unlocked_at: 5, extra: [1] }, rabbit_hole_certified: { evidence: null, first_tier: 'Copper', unlocked_at: 1234 } } };
  fs.writeFileSync(path.join(files(h), 'state.json'), '\ufeff' + JSON.stringify(theirs));
  run(['achievements', 'scan', '--source', 'hermes'], h);
  const read = (name) => fs.readFileSync(path.join(files(h), name), 'utf8');
  const state = JSON.parse(read('state.json'));
  assert.deepEqual(state.unlocks.some_future_badge, theirs.unlocks.some_future_badge);
  assert.equal(state.unlocks.rabbit_hole_certified.unlocked_at, 1234);
  const sorted = (v) => (Array.isArray(v) ? v.map(sorted) : v && typeof v === 'object' ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v);
  for (const name of ['scan_snapshot.json', 'scan_checkpoint.json']) {
    const text = read(name), value = JSON.parse(text);
    assert.match(text, /^\{\n {2}"/);
    assert.doesNotMatch(text, /[^\x00-\x7e]|\n$/);
    assert.deepEqual(Object.keys(value), Object.keys(value).sort());
    // Exactly as Python writes it.
    const again = spawnSync('python3', ['-c', 'import json,sys; print(json.dumps(json.load(open(sys.argv[1])), indent=2, sort_keys=True), end="")', path.join(files(h), name)], { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout;
    assert.equal(text, again, name);
  }
  const snapshot = JSON.parse(read('scan_snapshot.json'));
  assert.deepEqual(Object.keys(snapshot), ['achievements', 'aggregate', 'discovered_count', 'error', 'generated_at', 'scan_meta', 'secret_count', 'sessions', 'total_count', 'unlocked_count']);
  const checkpoint = JSON.parse(read('scan_checkpoint.json'));
  const one = Object.values(checkpoint.sessions)[0];
  assert.deepEqual(Object.keys(one.fingerprint), ['last_active', 'model', 'started_at', 'title']);
  assert.deepEqual(Object.keys(one.seed_fingerprint), ['hash', 'message_count', 'updated_at']);
  assert.equal(one.stats.session_id, Object.keys(checkpoint.sessions)[0]);
});

test('plugin-data/ is used where it exists already', (t) => {
  const h = tmpHome(t);
  generate(h, golden('tiny').generator);
  const newer = path.join(h.hermes, 'plugin-data/hermes-achievements');
  fs.mkdirSync(newer, { recursive: true });
  run(['achievements', 'scan', '--source', 'hermes'], h);
  assert.ok(fs.existsSync(path.join(newer, 'state.json')));
  assert.ok(!fs.existsSync(path.join(files(h), 'state.json')));
});

test('a badge once earned stays, and says so; --compat lets it go', (t) => {
  const h = tmpHome(t);
  generate(h, golden('small').generator);
  const before = runJson(['achievements', 'list', '--source', 'hermes'], h).achievements.filter((a) => a.unlocked);
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  db.exec('UPDATE sessions SET archived = 1 WHERE rowid % 3');
  db.close();
  const after = runJson(['achievements', 'list', '--source', 'hermes'], h).achievements;
  const compat = runJson(['achievements', 'list', '--source', 'hermes', '--compat'], h).achievements;
  for (const a of before) {
    const now = after.find((x) => x.id === a.id);
    assert.equal(now.unlocked, true, a.id);
    assert.equal(now.unlocked_at, a.unlocked_at);
    assert.equal(now.kept === true, !compat.find((x) => x.id === a.id).unlocked, a.id);
  }
  assert.ok(after.some((a) => a.kept));
});

test('a higher tier is recorded and shows in recent', (t) => {
  const h = tmpHome(t);
  generate(h, golden('tiny').generator);
  run(['achievements', 'scan', '--source', 'hermes'], { env: { ...h.env, TALARIA_NOW: '1900000000' } });
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  const { id } = db.prepare('SELECT id FROM sessions WHERE archived = 0 LIMIT 1').get();
  const add = db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES (?, 'user', ?, 1.9e9)");
  for (let i = 0; i < 40; i++) add.run(id, 'screenshot '.repeat(100));
  db.close();
  const scan = runJson(['achievements', 'scan', '--source', 'hermes'], { env: { ...h.env, TALARIA_NOW: '1900001000' } });
  const hunter = scan.achievements.find((a) => a.id === 'screenshot_hunter');
  assert.equal(hunter.unlocked, true);
  const recent = runJson(['achievements', 'recent', '--source', 'hermes'], { env: { ...h.env, TALARIA_NOW: '1900001010' } }).achievements;
  assert.equal(recent[0].id, 'screenshot_hunter');
});

test('state.json that cannot be read is put aside, not lost', (t) => {
  const h = tmpHome(t);
  generate(h, golden('tiny').generator);
  fs.mkdirSync(files(h), { recursive: true });
  fs.writeFileSync(path.join(files(h), 'state.json'), '{"unlocks": {');
  const r = run(['achievements', 'scan', '--source', 'hermes'], h);
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, /state\.json' cannot be read .* kept as/);
  assert.ok(fs.readdirSync(files(h)).some((n) => n.startsWith('state.json.unreadable-') && fs.readFileSync(path.join(files(h), n), 'utf8') === '{"unlocks": {'));
});

test('list, show, recent, export and reset, as a person sees them', (t) => {
  const h = tmpHome(t);
  fillHome(h.env);
  const list = run(['achievements', 'list'], h);
  assert.match(list.stderr, /^talaria: \d+ of 60 badges, \d+ secrets? left, 156 sessions \(156 Talaria\)\n/);
  assert.match(list.stdout, /^Silver\tLet Him Cook\t\d+\t\d+ of 1,200 to Gold$/m);
  assert.match(list.stdout, /\?\?\?/);
  assert.match(run(['achievements', 'show', 'let_him_cook'], h).stdout, /best session demo_/);
  const wrong = run(['achievements', 'show', 'let_him_cok'], h);
  assert.equal(wrong.code, 3);
  assert.match(wrong.stderr, /did you mean 'let_him_cook'\?/);
  assert.match(run(['achievements', 'export'], h).stdout, /^# Achievements\n/);
  assert.equal(JSON.parse(run(['achievements', 'export', '--format', 'json'], h).stdout).achievements.length, 60);
  assert.equal(run(['achievements', 'reset'], h).code, 5);
  assert.equal(run(['achievements', 'reset', '--yes'], h).code, 0);
  assert.deepEqual(JSON.parse(fs.readFileSync(path.join(h.data, 'achievements/state.json'), 'utf8')), { unlocks: {} });
});

test('nothing new costs no scan, whatever the size', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 50 });
  // A file that was written in the last moments is not trusted yet.
  fs.utimesSync(file, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  const first = runJson(['achievements', 'list', '--source', 'hermes'], h);
  const second = runJson(['achievements', 'list', '--source', 'hermes'], h);
  assert.equal(second.scan_meta.sessions_rescanned, 0);
  assert.equal(second.scan_meta.generated_at, first.scan_meta.generated_at, 'the answer of last time');
  assert.deepEqual(second.achievements, first.achievements);
});

// -- what may be counted beside ------------------------------------------------------------------

function setting(h, name) {
  const file = path.join(h.user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `achievements:\n  count:\n    ${name}: true\n`);
}

test('achievements.count.archived: archived sessions count', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 60, seed: 8 });
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  const all = db.prepare("SELECT count(*) AS n FROM sessions WHERE id <> ''").get().n;
  db.close();
  assert.ok(runJson(['achievements', 'scan', '--source', 'hermes'], h).aggregate.session_count < all);
  setting(h, 'archived');
  assert.equal(runJson(['achievements', 'scan', '--source', 'hermes'], h).aggregate.session_count, all);
});

test('achievements.count.compacted: rows compacted away count, and those inserted again count once', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 20, seed: 8 });
  const db = new DatabaseSync(file);
  const { id } = db.prepare('SELECT id FROM sessions WHERE archived = 0 LIMIT 1').get();
  db.prepare('DELETE FROM messages WHERE session_id = ?').run(id);
  const add = db.prepare('INSERT INTO messages(session_id, role, content, timestamp, active, compacted) VALUES (?, ?, ?, ?, ?, ?)');
  add.run(id, 'user', 'rollback one', 1, 0, 1);
  add.run(id, 'user', 'rollback two', 2, 0, 1);
  add.run(id, 'user', 'a summary', 3, 1, 0);
  add.run(id, 'user', 'rollback two', 4, 1, 0); // the tail, inserted again
  add.run(id, 'user', 'rollback two', 5, 1, 0); // said once more
  add.run(id, 'user', 'rollback rewound', 6, 0, 0);
  db.close();
  const count = () => runJson(['achievements', 'scan', '--source', 'hermes'], h).sessions.find((s) => s.session_id === id).rollback_events;
  assert.equal(count(), 2);
  setting(h, 'compacted');
  assert.equal(count(), 3);
});

test('achievements.count.all_models and .profiles', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 10, seed: 8 });
  makeStateDb(path.join(h.hermes, 'profiles/work/state.db'), { sessions: 7, seed: 9 });
  const before = runJson(['achievements', 'scan', '--source', 'hermes'], h).aggregate;
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  const { id } = db.prepare('SELECT id FROM sessions WHERE archived = 0 LIMIT 1').get();
  db.prepare("INSERT INTO session_model_usage(session_id, model) VALUES (?, 'a-model-of-its-own'), (?, 'ollama/another')").run(id, id);
  db.close();
  setting(h, 'all_models');
  assert.ok(runJson(['achievements', 'scan', '--source', 'hermes'], h).aggregate.distinct_model_count >= before.distinct_model_count + 2);
  setting(h, 'profiles');
  assert.ok(runJson(['achievements', 'scan', '--source', 'hermes'], h).aggregate.session_count > before.session_count);
});

test('achievements.count.double_encoded and .memory_writes', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 10, seed: 8 });
  const db = new DatabaseSync(file);
  const { id } = db.prepare('SELECT id FROM sessions WHERE archived = 0 LIMIT 1').get();
  db.prepare('DELETE FROM messages WHERE session_id = ?').run(id);
  const call = (name, args) => ({ id: 'x', type: 'function', function: { name, arguments: JSON.stringify(args) } });
  const add = db.prepare("INSERT INTO messages(session_id, role, tool_calls, timestamp) VALUES (?, 'assistant', ?, 1)");
  add.run(id, JSON.stringify(JSON.stringify([call('terminal', {})])));
  add.run(id, JSON.stringify([call('memory', { action: 'add' }), call('memory', { action: 'view' }), call('memory', { action: 'replace' })]));
  db.close();
  const one = () => runJson(['achievements', 'scan', '--source', 'hermes'], h).sessions.find((s) => s.session_id === id);
  assert.equal(one().tool_call_count, 3);
  assert.equal(one().memory_write_events, 3);
  setting(h, 'double_encoded');
  assert.equal(one().terminal_calls, 1);
  setting(h, 'memory_writes');
  assert.equal(one().memory_write_events, 2);
  assert.equal(one().memory_events, 3);
});

test('whatever happens to the history, a scan of what changed says what a scan of everything says', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 300, messages: 6, seed: 12, journal: 'wal' });
  const db = new DatabaseSync(file);
  let seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const pick = (n) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  const ids = db.prepare('SELECT id FROM sessions').all().map((r) => r.id);
  const changes = [
    (id) => db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES (?, 'user', 'a traceback in the logs of ~/x.py', 1)").run(id),
    (id) => db.prepare('UPDATE sessions SET title = ? WHERE id = ?').run(`renamed ${pick(1e6)}`, id),
    (id) => db.prepare('UPDATE sessions SET archived = 1 - archived WHERE id = ?').run(id),
    (id) => db.prepare('UPDATE sessions SET model = ? WHERE id = ?').run(['ollama/x', 'gpt-9', ''][pick(3)], id),
    (id) => { db.prepare('UPDATE messages SET active = 0 WHERE session_id = ?').run(id); db.prepare('UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?').run(id); },
    (id) => { db.prepare('DELETE FROM messages WHERE session_id = ?').run(id); db.prepare('DELETE FROM sessions WHERE id = ?').run(id); },
    () => db.prepare("INSERT INTO sessions(id, source, started_at) VALUES (?, 'cli', ?)").run(`new-${pick(1e9)}`, 1.7e9 + pick(1e6)),
    (id) => db.prepare('UPDATE sessions SET started_at = ? WHERE id = ?').run(1.7e9 + pick(1e6), id),
  ];
  runJson(['achievements', 'scan', '--source', 'hermes'], h);
  for (let round = 0; round < 12; round++) {
    for (let i = pick(4); i >= 0; i--) changes[pick(changes.length)](ids[pick(ids.length)]);
    const some = runJson(['achievements', 'scan', '--source', 'hermes'], h);
    assert.ok(some.scan_meta.sessions_rescanned <= 4, `${some.scan_meta.sessions_rescanned} read again`);
    const all = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h);
    for (const key of ['aggregate', 'sessions', 'achievements', 'counts']) assert.deepEqual(some[key], all[key], `round ${round}: ${key}`);
  }
  db.close();
});

test('the message that made a session the best one stands beside it', (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 5, seed: 8 });
  const db = new DatabaseSync(file);
  db.exec('DELETE FROM messages; DELETE FROM sessions');
  db.exec("INSERT INTO sessions(id, source, started_at) VALUES ('best', 'cli', 1.7e9)");
  const add = db.prepare("INSERT INTO messages(session_id, role, content, tool_calls, timestamp) VALUES ('best', ?, ?, ?, 1)");
  const calls = (...names) => JSON.stringify(names.map((name) => ({ id: 'x', function: { name, arguments: '{}' } })));
  const put = (role, content, toolCalls = null) => Number(add.run(role, content, toolCalls).lastInsertRowid);
  put('user', 'begin in ~/first.py');
  put('assistant', '', calls(...Array.from({ length: 400 }, (_, i) => (i % 2 ? 'read_file' : `tool_${i}`))));
  const file2 = put('user', `and ${Array.from({ length: 400 }, (_, i) => `~/src/f${i}.py`).join(' ')}`);
  const calledLast = put('assistant', 'again ~/first.py', calls('write_file', 'write_file', 'tool_0'));
  const tool = put('assistant', '', calls('read_file', 'one_more'));
  put('user', 'thanks '.repeat(10));
  const last = (() => { let id; for (let i = 0; i < 900; i++) id = put('user', 'and so on'); return id; })();
  db.close();
  const scan = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h);
  const evidence = (id) => scan.achievements.find((a) => a.id === id).evidence;
  assert.deepEqual(evidence('let_him_cook'), { message_id: tool, session_id: 'best', title: 'begin in ~/first.py', value: 405 });
  assert.equal(evidence('toolchain_maxxer').message_id, tool);
  assert.equal(evidence('supposed_to_be_quick').message_id, last);
  assert.equal(evidence('vibe_architect').message_id, file2);
  assert.ok([calledLast, tool].includes(evidence('one_more_small_change').message_id));
  const state = JSON.parse(fs.readFileSync(path.join(files(h), 'state.json'), 'utf8'));
  assert.equal(state.unlocks.vibe_architect.evidence.message_id, file2);
});

test('a scan that was interrupted goes on where it was', async (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 600, messages: 40, seed: 12 });
  let again;
  // How long a scan takes is the machine's matter: earlier and later, until one was met in the middle.
  for (let ms = 20; ms < 3000; ms *= 1.3) {
    fs.rmSync(path.join(h.data, 'index.db'), { force: true });
    const child = spawn(bin, ['achievements', 'scan', '--source', 'hermes'], { env: h.env, stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGINT'), ms);
    await new Promise((r) => child.on('exit', r));
    clearTimeout(timer);
    again = runJson(['achievements', 'scan', '--source', 'hermes'], h);
    if (again.scan_meta.sessions_reused) break;
  }
  const { sessions_reused: reused, sessions_rescanned: read, sessions_total: total } = again.scan_meta;
  assert.ok(reused > 0 && reused + read === total, `${reused} of ${total} were kept`);
  assert.deepEqual(again.aggregate, runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h).aggregate);
});

test('what was counted by other rules, or does not fit together, is counted again', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 300, messages: 5, seed: 13 });
  const right = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  const damage = {
    'another version': "update facts set value = x'7f' || substr(value, 2) where topic like 'achievements 0%'",
    'a part that is gone': "delete from facts where topic like 'achievements 0%' and session_id like 'part %'",
    'a chunk that is gone': "delete from facts where topic like 'achievements 0%' and session_id = '1'",
  };
  for (const [name, sql] of Object.entries(damage)) {
    python(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute(sys.argv[2])
assert c.total_changes > 0
c.commit()
c = sqlite3.connect(sys.argv[3])
c.execute("update sessions set title = ? where rowid = (select min(rowid) from sessions where archived = 0 and rowid > 64)", [sys.argv[2]])
c.commit()`, path.join(h.data, 'index.db'), sql, path.join(h.hermes, 'state.db'));
    const scan = runJson(['achievements', 'scan', '--source', 'hermes'], h);
    assert.equal(scan.scan_meta.sessions_reused, 0, name);
    assert.deepEqual(scan.aggregate, right.aggregate, name);
  }
});
