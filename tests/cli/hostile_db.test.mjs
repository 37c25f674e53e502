// A history that somebody else wrote may hold anything: any type in any cell, views and virtual tables in place of tables.
// No command may hang, crash, lose rows or show one twice because of it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, run, runJson, tmpHome } from './helpers.mjs';

const TABLES = `CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, timestamp REAL);`;

function home(fill, schema = TABLES) {
  const made = tmpHome();
  fs.mkdirSync(made.hermes, { recursive: true });
  const db = new DatabaseSync(path.join(made.hermes, 'state.db'));
  db.exec(schema);
  fill?.(db);
  db.close();
  return made;
}

const addSession = (db, id, at, title = id) => db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?)').run(id, 'cli', at, title);
const addMessage = (db, id, i, at) =>
  db.prepare('INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)').run(id, i % 2 ? 'assistant' : 'user', `word${i}`, at);

/** Every message once, by `sessions show` and by an export. */
function assertWhole(env, id, n) {
  const shown = runJson(['sessions', 'show', id, '--all'], { env, timeout: 30_000 });
  const words = shown.parts.flatMap((p) => p.transcript).map((m) => m.content);
  assert.equal(words.length, n);
  assert.equal(new Set(words).size, n, 'a message is shown twice');
  const exported = run(['sessions', 'export', id, '--raw'], { env, timeout: 30_000 }).stdout.trim().split('\n').map((l) => JSON.parse(l));
  assert.equal(new Set(exported.filter((l) => l.kind === 'message').map((m) => m.content)).size, n, 'an export loses messages');
}

test('times that are text, blobs or missing: every message once, in every reader, and an end', () => {
  const odd = (i) => [i === 300 ? '2026-11-01T10:00:00' : 1790000000 + i, i % 3 ? null : 1790000000 + i,
    [1790000000 + i, `t${i}`, Buffer.from([i % 256, i >> 8]), null][i % 4]];
  const n = 1300;
  const { env } = home((db) => {
    db.exec('BEGIN');
    ['text', 'null', 'mixed'].forEach((name, k) => {
      addSession(db, `odd_${name}`, 1790000000 + k);
      for (let i = 0; i < n; i++) addMessage(db, `odd_${name}`, i, odd(i)[k]);
    });
    db.exec('COMMIT');
  });
  for (const name of ['text', 'null', 'mixed']) assertWhole(env, `odd_${name}`, n);
  for (const args of [['templates', 'study'], ['templates', 'harvest', '--dry-run'], ['achievements', 'list'], ['index'], ['sessions', 'search', 'word7']]) {
    const r = run(args, { env, timeout: 30_000 });
    assert.equal(r.code, 0, `${args.join(' ')}: ${r.signal ?? r.stderr}`);
    assert.ok(r.stdout.length < 1 << 20);
  }
});

test('sessions whose start is text or missing: each is listed once', () => {
  const n = 700;
  const { env } = home((db) => {
    db.exec('BEGIN');
    for (let i = 0; i < n; i++) {
      addSession(db, `start_${i}`, [1790000000 + i, `2026-11-${i}`, null, Buffer.from([i % 256])][i % 4]);
      addMessage(db, `start_${i}`, i, 1790000000 + i);
    }
    db.exec('COMMIT');
  });
  const { sessions } = runJson(['sessions', 'list', '--limit', '0'], { env, timeout: 30_000 });
  assert.equal(sessions.length, n);
  assert.equal(new Set(sessions.map((s) => s.id)).size, n);
});

const SESSIONS = 'CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT);';
const COLUMNS = "'s' AS session_id, 'user' AS role, 'x' AS content, 1790000000 AS timestamp";
const TROUBLE = {
  'a virtual table': `${SESSIONS} CREATE VIRTUAL TABLE messages USING fts5(id, session_id, role, content, timestamp);`,
  'a view without an end': `${SESSIONS} CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, ${COLUMNS} FROM n;`,
  'a view under another spelling': `${SESSIONS} CREATE VIEW "MESSAGES" AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, ${COLUMNS} FROM n;`,
  'generated columns': `${SESSIONS} CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT AS (printf('%0100000d', id)), timestamp REAL);`,
  'ids that are no row numbers': `${SESSIONS} CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, content TEXT, timestamp REAL);`,
  'a column called rowid': 'CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT, rowid TEXT);' + TABLES.split('\n')[1],
};

for (const [what, schema] of Object.entries(TROUBLE))
  test(`${what} in place of a table: refused in words, by every command`, () => {
    const { env } = home((db) => addSession2(db), schema);
    for (const args of [['status'], ['sessions', 'list'], ['sessions', 'search', 'x'], ['index'], ['achievements', 'list'], ['templates', 'harvest', '--dry-run'],
      ['templates', 'study'], ['sleep', 'worth', '--backend', 'mock'], ['doctor'], ['handoff', 'local']]) {
      const r = run(args, { env, timeout: 30_000 });
      assert.equal(r.signal, null, `${args.join(' ')}: ${r.signal}`);
      assert.ok([0, 1, 3, 4, 5].includes(r.code), `${args.join(' ')}: ${r.code}`);
    }
    const said = run(['status'], { env });
    assert.match(said.stdout + said.stderr, /cannot read '.*state\.db': '(messages|MESSAGES|sessions)' (is|has) /);
  });

function addSession2(db) {
  try {
    db.prepare("INSERT INTO sessions (id, source, started_at, title) VALUES ('s', 'cli', 1790000000, 't')").run();
  } catch { /* a column of that schema does not take it */ }
}

test('a server over a view without an end is ready at once, and ends when it is told to', async () => {
  const { env } = home(addSession2, TROUBLE['a view without an end']);
  const server = spawn(bin, ['serve', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((r) => server.on('exit', (code) => r(code)));
  try {
    await new Promise((r) => server.stdout.once('data', r));
    server.kill('SIGTERM');
    const timer = setTimeout(() => server.kill('SIGKILL'), 20_000);
    assert.equal(await ended, 0);
    clearTimeout(timer);
  } finally {
    server.kill('SIGKILL');
  }
});
