// Foreign databases are sacred: what reading leaves behind, what it survives, what it sees.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, makeStateDb, python, pythonPeer, run, runJson, sha, tmpHome } from './helpers.mjs';

/** Every command that reads a history. */
const readers = (id) => [
  ['status'],
  ['sessions', 'list', '--limit', '0'],
  ['sessions', 'show', id, '--all', '--full'],
  ['templates', 'list'],
  ['templates', 'create', id, '--dry-run'],
  ['templates', 'harvest', '--dry-run'],
  ['templates', 'study'],
];

function newestId(file) {
  const db = new DatabaseSync(file, { readOnly: true });
  const { id } = db.prepare(
    "SELECT session_id AS id FROM messages WHERE tool_calls LIKE '[{%' AND active = 1 GROUP BY session_id ORDER BY count(*) DESC LIMIT 1").get();
  db.close();
  return id;
}

for (const journal of ['wal', 'delete']) {
  test(`readers leave the database byte-identical (journal ${journal}, nobody else there)`, (t) => {
    const { env, hermes } = tmpHome(t);
    const file = path.join(hermes, 'state.db');
    makeStateDb(file, { journal });
    const id = newestId(file);
    const before = sha(file);
    for (const args of readers(id)) {
      const r = run(args, { env });
      assert.ok(r.code === 0, `${args.join(' ')}: ${r.stderr}`);
    }
    assert.equal(sha(file), before);
    if (journal === 'wal') assert.equal(fs.statSync(file + '-wal').size, 0, 'no frame was written');
    else assert.deepEqual(fs.readdirSync(hermes).filter((n) => n.startsWith('state.db')), ['state.db']);
    // And its owner finds it as it was.
    assert.equal(python(`import sqlite3; c=sqlite3.connect(${JSON.stringify(file)}); print(c.execute('pragma integrity_check').fetchone()[0], c.execute('pragma journal_mode').fetchone()[0])`).trim(), `ok ${journal}`);
  });
}

// A writer as Hermes is one: Python, one connection, one transaction a message. Commands on stdin.
const writer = `
import os, sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
c.execute('pragma journal_mode=' + sys.argv[2])
sid = c.execute('select id from sessions limit 1').fetchone()[0]
n = 0
def put():
    global n
    c.execute("insert into messages(session_id, role, content, timestamp) values (?, 'user', ?, ?)", (sid, 'live %d' % n, time.time()))
    n += 1
put()
print('ready')
for line in sys.stdin:
    word, _, count = line.strip().partition(' ')
    if word == 'put':
        worst = 0
        for _ in range(int(count)):
            t = time.monotonic(); put(); worst = max(worst, time.monotonic() - t)
        print(n, worst)
    elif word == 'cancel':            # what lost people's data: any close drops the process's locks
        os.close(os.open(sys.argv[1], os.O_RDONLY)); print(n)
`;
const countLive = (file) => Number(python(`import sqlite3; print(sqlite3.connect(${JSON.stringify(file)}).execute("select count(*) from messages where content like 'live %'").fetchone()[0])`));

test('readers beside a live writer: its log keeps its inode and every byte', async (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  makeStateDb(file, { journal: 'wal' });
  const id = newestId(file);
  const peer = pythonPeer(writer, file, 'wal');
  t.after(() => peer.end());
  assert.equal(await peer.next(), 'ready');
  peer.say('put 50');
  await peer.next();
  const state = () => [sha(file), sha(file + '-wal'), fs.statSync(file + '-wal').ino, fs.statSync(file + '-shm').ino];
  const before = state();
  for (const args of readers(id)) assert.equal(run(args, { env }).code, 0, args.join(' '));
  assert.deepEqual(state(), before);
  assert.equal(runJson(['status'], { env }).homes[0].messages, Number(python(`import sqlite3; print(sqlite3.connect(${JSON.stringify(file)}).execute('select count(*) from messages').fetchone()[0])`)), 'rows of the log are seen');
  await peer.end();
  assert.equal(countLive(file), 51);
});

for (const journal of ['wal', 'delete']) {
  test(`a writer that goes on while we read loses nothing (journal ${journal})`, async (t) => {
    const { env, hermes } = tmpHome(t);
    const file = path.join(hermes, 'state.db');
    makeStateDb(file, { journal, sessions: 60 });
    const id = newestId(file);
    const peer = pythonPeer(writer, file, journal);
    t.after(() => peer.end());
    await peer.next();
    peer.say('put 400');
    const done = peer.next();
    let ended = false;
    done.then(() => (ended = true));
    do {
      for (const args of readers(id)) assert.equal(run(args, { env }).code, 0, args.join(' '));
      await new Promise((r) => setImmediate(r));
    } while (!ended);
    const [n] = (await done).split(' ').map(Number);
    assert.equal(n, 401);
    await peer.end();
    assert.equal(countLive(file), 401);
    assert.equal(python(`import sqlite3; print(sqlite3.connect(${JSON.stringify(file)}).execute('pragma integrity_check').fetchone()[0])`).trim(), 'ok');
  });
}

test('a writer whose locks were cancelled loses nothing to a reader that opens, reads and closes', async (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  makeStateDb(file, { journal: 'wal' });
  const id = newestId(file);
  const peer = pythonPeer(writer, file, 'wal');
  t.after(() => peer.end());
  await peer.next();
  peer.say('put 49');
  await peer.next();
  peer.say('cancel');
  await peer.next();
  const inode = fs.statSync(file + '-wal').ino;
  const bytes = sha(file + '-wal');
  for (const args of readers(id)) assert.equal(run(args, { env }).code, 0, args.join(' '));
  assert.equal(fs.statSync(file + '-wal').ino, inode, 'the log was unlinked');
  assert.equal(sha(file + '-wal'), bytes, 'the log was changed');
  peer.say('put 50');
  assert.equal((await peer.next()).split(' ')[0], '100');
  await peer.end();
  assert.equal(countLive(file), 100);
});

test('only SQLite opens the files, read-only, once each', (t) => {
  const { env, hermes, dir } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  makeStateDb(file, { journal: 'wal' });
  const id = newestId(file);
  for (const args of readers(id)) {
    const log = path.join(dir, 'strace');
    const r = spawnSync('strace', ['-f', '-qq', '-o', log, '-e', 'trace=open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,truncate,ftruncate', bin, ...args], { env, encoding: 'utf8' });
    assert.equal(r.status, 0, r.stderr);
    const lines = fs.readFileSync(log, 'utf8').split('\n').filter((l) => l.includes('state.db'));
    const opens = (name) => lines.filter((l) => /open/.test(l) && l.includes(`/${name}"`));
    assert.ok(opens('state.db').length <= 1, lines.join('\n'));
    for (const l of opens('state.db')) assert.match(l, /O_RDONLY/, l);
    assert.ok(opens('state.db-wal').length <= 1 && opens('state.db-shm').length <= 1, lines.join('\n'));
    assert.deepEqual(lines.filter((l) => /unlink|rename|truncate\(/.test(l)), [], args.join(' '));
  }
});

// -- schemas of any age ------------------------------------------------------------------------

function oldDatabase(file, { sessions, messages, more = '' }) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL${sessions});
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, timestamp REAL NOT NULL${messages});
    ${more}
    INSERT INTO sessions(id, source, started_at) VALUES ('20250101_000000_aaaaaa', 'cli', 1735689600);
    INSERT INTO messages(session_id, role, content, timestamp) VALUES ('20250101_000000_aaaaaa', 'user', 'hello from long ago', 1735689601);`);
  db.close();
}

const ages = {
  'the oldest: no active, archived, handoff, title or token columns': { sessions: '', messages: '' },
  'without active and archived': { sessions: ', model TEXT, title TEXT, ended_at REAL, end_reason TEXT, parent_session_id TEXT, message_count INTEGER', messages: ', tool_calls TEXT, tool_call_id TEXT, tool_name TEXT' },
  'an unknown newer one': {
    sessions: ', model TEXT, archived INTEGER DEFAULT 0, galaxy TEXT, orbit JSON',
    messages: ', active INTEGER DEFAULT 1, tool_calls TEXT, tool_call_id TEXT, tool_name TEXT, vector BLOB',
    more: 'CREATE TABLE schema_version(version INTEGER); INSERT INTO schema_version VALUES (99); CREATE TABLE hyperspace(x);',
  },
};
for (const [name, age] of Object.entries(ages)) {
  test(`a database of any age is read: ${name}`, (t) => {
    const { env, hermes } = tmpHome(t);
    oldDatabase(path.join(hermes, 'state.db'), age);
    const list = runJson(['sessions', 'list'], { env });
    assert.equal(list.sessions.length, 1);
    assert.equal(list.more, false);
    assert.equal(list.sessions[0].title, 'hello from long ago');
    assert.equal(runJson(['sessions', 'show', '20250101'], { env }).parts[0].transcript[0].content, 'hello from long ago');
    const facts = runJson(['status'], { env }).homes[0];
    assert.equal(facts.sessions, 1);
    assert.equal(facts.messages, 1);
    assert.equal(facts.schema_version, name.includes('newer') ? 99 : 0);
  });
}

test('the newest schema, with everything in it, is read as the generator made it', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  makeStateDb(file, { sessions: 120, seed: 9 });
  const db = new DatabaseSync(file, { readOnly: true });
  const facts = runJson(['status'], { env }).homes[0];
  assert.equal(facts.sessions + facts.parts + facts.sub_agents + facts.archived, db.prepare("SELECT count(*) AS n FROM sessions WHERE id <> ''").get().n, 'each row counts once');
  assert.equal(facts.messages, db.prepare('SELECT count(*) AS n FROM messages').get().n);
  assert.equal(facts.schema_version, 25);
  const listed = runJson(['sessions', 'list', '--limit', '0', '--archived', '--side-chains'], { env });
  const parts = listed.sessions.flatMap((s) => s.parts.map((p) => p.id)).sort();
  const ids = db.prepare("SELECT id FROM sessions WHERE id <> '' ORDER BY id").all().map((r) => r.id);
  assert.deepEqual(parts, ids, 'every session stands in exactly one lineage');
  assert.equal(listed.more, false);
  const some = runJson(['sessions', 'list', '--limit', '5', '--archived', '--side-chains'], { env });
  assert.equal(some.more, true);
  assert.deepEqual(some.sessions, listed.sessions.slice(0, 5));
  const active = listed.sessions.map((s) => s.last_active).filter((at) => at < Date.now() / 1000 + 86400);
  assert.deepEqual(active, [...active].sort((a, b) => b - a), 'the latest activity first');
  assert.ok(listed.sessions[0].last_active < Date.now() / 1000 + 86400, 'a time that cannot be is not on top');
  db.close();
});

test('a chain that compression cut is one lineage; a branch of it is not part of it', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  oldDatabase(file, { sessions: ', title TEXT, ended_at REAL, end_reason TEXT, parent_session_id TEXT, model_config TEXT, message_count INTEGER, input_tokens INTEGER', messages: '' });
  const db = new DatabaseSync(file);
  const add = db.prepare('INSERT INTO sessions(id, source, started_at, ended_at, end_reason, parent_session_id, model_config, title, message_count, input_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  add.run('first', 'cli', 2e9, 2e9 + 10, 'compression', null, null, 'Long work', 10, 100);
  add.run('second', 'cli', 2e9 + 11, 2e9 + 20, 'compression', 'first', null, 'Long work #2', 5, 50);
  add.run('third', 'cli', 2e9 + 21, null, null, 'second', null, 'Long work #3', 3, 30);
  add.run('branch', 'cli', 2e9 + 15, null, null, 'first', '{"_branched_from": "first"}', 'Another way', 1, 1);
  add.run('helper', 'subagent', 2e9 + 5, null, null, 'first', '{"_delegate_from": "first"}', null, 1, 1);
  db.close();
  const { sessions } = runJson(['sessions', 'list'], { env });
  const chain = sessions.find((s) => s.id === 'third');
  assert.deepEqual(chain.parts.map((p) => p.id), ['first', 'second', 'third']);
  assert.equal(chain.messages, 18);
  assert.equal(chain.input_tokens, 180);
  assert.equal(chain.title, 'Long work #3');
  assert.equal(chain.started_at, 2e9);
  assert.deepEqual(sessions.map((s) => s.id).sort(), ['20250101_000000_aaaaaa', 'branch', 'third'], 'a sub-agent is no session of its own');
  assert.ok(runJson(['sessions', 'list', '--side-chains'], { env }).sessions.some((s) => s.id === 'helper' && s.side_chain));
  for (const id of ['first', 'second', 'third']) assert.equal(runJson(['sessions', 'show', id], { env }).id, 'third');
  assert.match(run(['sessions', 'list'], { env }).stdout, /^third\t.*\tLong work #3$/m);
});

test('a ring of parents, which only a damaged file has, ends', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  oldDatabase(file, { sessions: ', ended_at REAL, end_reason TEXT, parent_session_id TEXT', messages: '' });
  const db = new DatabaseSync(file);
  db.exec(`INSERT INTO sessions VALUES ('a', 'cli', 5, 5, 'compression', 'b'), ('b', 'cli', 5, 5, 'compression', 'a')`);
  db.close();
  assert.equal(run(['sessions', 'list'], { env, timeout: 10_000 }).code, 0);
  assert.equal(run(['sessions', 'show', 'a'], { env, timeout: 10_000 }).code, 0);
});

test('the list is in the order of the last activity, not of the start', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  oldDatabase(file, { sessions: '', messages: '' });
  const db = new DatabaseSync(file);
  const start = db.prepare('INSERT INTO sessions(id, source, started_at) VALUES (?, ?, ?)');
  const say = db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES (?, 'user', 'hello', ?)");
  [['older-start', 1.7e9], ['newer-start', 1.7e9 + 100], ['silent', 1.7e9 + 150], ['wrong-clock', 1e18]].forEach(([id, at]) => start.run(id, 'cli', at));
  say.run('older-start', 1.7e9 + 200);
  say.run('newer-start', 1.7e9 + 110);
  db.close();
  const ids = (...args) => runJson(['sessions', 'list', ...args], { env }).sessions.map((s) => s.id);
  const all = ids();
  assert.deepEqual(all.slice(-5).filter((id) => !id.startsWith('2025')), ['older-start', 'silent', 'newer-start', 'wrong-clock']);
  assert.deepEqual(ids('--since', String(1.7e9 + 120), '--until', String(1.7e9 + 1000)), ['older-start', 'silent']);
});

test('an id that several sessions begin with names the newest of them', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  oldDatabase(file, { sessions: ', title TEXT', messages: '' });
  const db = new DatabaseSync(file);
  const start = db.prepare('INSERT INTO sessions(id, source, started_at, title) VALUES (?, ?, ?, ?)');
  for (let i = 0; i < 9; i++) start.run(`same_${i}`, 'cli', 1.7e9 + i * 86400, `Number ${i}`);
  db.close();
  const r = run(['sessions', 'show', 'same_'], { env });
  assert.equal(r.code, 4);
  assert.match(r.stderr, /^talaria: 'same_' matches 9 sessions; type more of the id:\n {2}same_8 {2}2023-11-22 {2}Number 8\n/);
  assert.equal(r.stderr.trimEnd().split('\n').length, 7, r.stderr);
  assert.equal(runJson(['sessions', 'show', 'same_3'], { env }).title, 'Number 3');
});

// -- several homes -----------------------------------------------------------------------------

test('several homes are one history, newest first; profiles by setting', (t) => {
  const { env, hermes, user, data } = tmpHome(t);
  const add = (file, id, when) => {
    oldDatabase(file, { sessions: '', messages: '' });
    const db = new DatabaseSync(file);
    db.exec(`UPDATE sessions SET id = '${id}', started_at = ${when}; UPDATE messages SET session_id = '${id}', timestamp = ${when}`);
    db.close();
  };
  add(path.join(hermes, 'state.db'), 'in-hermes', 2000);
  add(path.join(hermes, 'profiles/work/state.db'), 'in-profile', 3000);
  add(path.join(data, 'talaria.db'), 'in-ours', 1000);
  const ids = () => runJson(['sessions', 'list'], { env }).sessions.map((s) => `${s.home}:${s.id}`);
  assert.deepEqual(ids(), ['hermes:in-hermes', 'talaria:in-ours']);
  fs.mkdirSync(path.join(user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(user, '.config/talaria/config.yaml'), 'homes:\n  profiles: true\n');
  assert.deepEqual(ids(), ['hermes/work:in-profile', 'hermes:in-hermes', 'talaria:in-ours']);
  assert.deepEqual(runJson(['sessions', 'list', '--home', hermes], { env }).sessions.map((s) => s.id), ['in-hermes'], '--home means that one alone');
  const elsewhere = { ...env, HERMES_HOME: path.join(hermes, 'profiles/work') };
  assert.deepEqual(runJson(['sessions', 'list'], { env: elsewhere }).sessions.map((s) => s.id), ['in-profile', 'in-ours']);
});

test('a home that cannot be read is told, and the others are still shown', (t) => {
  const { env, hermes, data } = tmpHome(t);
  fs.mkdirSync(hermes);
  fs.writeFileSync(path.join(hermes, 'state.db'), 'this is not a database, it is a sentence of some length');
  oldDatabase(path.join(data, 'talaria.db'), { sessions: '', messages: '' });
  const r = run(['sessions', 'list'], { env });
  assert.equal(r.code, 0);
  assert.match(r.stderr, /warning: left out: '.*state\.db' is not a database/);
  assert.match(r.stdout, /hello from long ago/);
});

test('an ambiguous beginning of an id is a conflict, an unknown one is not found', (t) => {
  const { env, hermes } = tmpHome(t);
  makeStateDb(path.join(hermes, 'state.db'));
  assert.equal(run(['sessions', 'show', '2026'], { env }).code, 4);
  assert.equal(run(['sessions', 'show', '1999'], { env }).code, 3);
  assert.equal(run(['sessions', 'show', '%'], { env }).code, 3);
});

test('what a session says cannot steer the terminal', (t) => {
  const { env, hermes } = tmpHome(t);
  const file = path.join(hermes, 'state.db');
  oldDatabase(file, { sessions: ', title TEXT', messages: '' });
  const db = new DatabaseSync(file);
  db.exec("UPDATE sessions SET title = 'red ' || char(27) || '[31m' || char(7); UPDATE messages SET content = char(27) || ']0;owned' || char(7) || char(0x202e)");
  db.close();
  for (const args of [['sessions', 'list'], ['sessions', 'show', '20250101']]) {
    const r = run(args, { env });
    assert.equal(r.code, 0);
    assert.doesNotMatch(r.stdout, /[\x00-\x08\x0b-\x1f\x7f\u202e]/);
  }
});
