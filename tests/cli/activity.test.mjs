// The list by last activity, where a home is so large that last activity is kept between two commands.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { run, runJson, sha, tmpHome } from './helpers.mjs';

const SESSIONS = 6000;
const begin = 1_780_000_000;

/** Pseudo-random numbers below n, the same in every run. */
function numbers(seed) {
  let x = seed;
  return (n) => {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0;
    return (x >>> 8) % n;
  };
}

function makeHome(file, journal, autoincrement) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode=${journal};
    CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL, title TEXT,
      last_activity_at REAL, archived INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE messages(id INTEGER PRIMARY KEY ${autoincrement ? 'AUTOINCREMENT' : ''}, session_id TEXT NOT NULL, role TEXT NOT NULL,
      content TEXT, timestamp REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1);
    CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
    CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
    BEGIN`);
  const pick = numbers(7);
  const session = db.prepare("INSERT INTO sessions(id, source, started_at) VALUES(?, 'cli', ?)");
  const message = db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES(?, 'user', 'words', ?)");
  for (let i = 0; i < SESSIONS; i++) {
    session.run(`s${String(i).padStart(6, '0')}`, begin + i);
    // Some are much more active than their age says, and some have no message at all.
    if (i % 50) message.run(`s${String(i).padStart(6, '0')}`, begin + i + (pick(40) ? 1 : 20_000 + pick(5000)));
  }
  db.exec('COMMIT');
  return db;
}

const inOrder = (db) => db.prepare(`SELECT id FROM (SELECT s.rowid AS r, s.*, max(coalesce(last_activity_at, 0),
    coalesce((SELECT max(timestamp) FROM messages m WHERE m.session_id = s.id), 0)) AS a FROM sessions s WHERE archived = 0)
    ORDER BY CASE WHEN a > 0 THEN a ELSE started_at END DESC, r LIMIT 60`).all().map((r) => r.id);

/** What a home sees from one list to the next. */
const changes = [
  ['a message to an old session', (db) => db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES('s000011', 'user', 'again', ?)").run(begin + 90_000)],
  ['the messages of the first one are deleted', (db) => db.exec("DELETE FROM messages WHERE session_id = 's000011'")],
  ['a session without messages', (db) => db.prepare("INSERT INTO sessions(id, source, started_at) VALUES('fresh', 'cli', ?)").run(begin + 91_000)],
  ['touched without a message', (db) => db.prepare("UPDATE sessions SET last_activity_at = ? WHERE id = 's000200'").run(begin + 92_000)],
  ['archived', (db) => db.exec("UPDATE sessions SET archived = 1 WHERE id = 's000200'")],
  ['back from the archive', (db) => db.exec("UPDATE sessions SET archived = 0 WHERE id = 's000200'")],
  ['deleted, and its number given to another one', (db) => {
    db.exec("DELETE FROM sessions WHERE id = 'fresh'");
    db.prepare("INSERT INTO sessions(id, source, started_at) VALUES('other', 'cli', ?)").run(begin + 50);
  }],
  ['the newest message is deleted, and another one written', (db) => {
    db.exec('DELETE FROM messages WHERE id = (SELECT max(id) FROM messages)');
    db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES('s000333', 'user', 'again', ?)").run(begin + 93_000);
  }],
  ['an old import', (db) => {
    db.prepare("INSERT INTO sessions(id, source, started_at) VALUES('import', 'cli', ?)").run(begin - 500);
    db.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES('import', 'user', 'long ago', ?)").run(begin - 400);
  }],
  ['many at once', (db) => db.exec(`UPDATE sessions SET last_activity_at = started_at + 60000 WHERE rowid % 11 = 0`)],
];

for (const [journal, autoincrement] of [['wal', true], ['delete', true], ['wal', false]]) {
  test(`what is kept of last activity never shows (${journal}, ids of messages ${autoincrement ? 'once' : 'again'})`, (t) => {
    const { env, hermes, data } = tmpHome(t);
    const file = path.join(hermes, 'state.db');
    const db = makeHome(file, journal, autoincrement);
    t.after(() => db.close());
    const listed = () => runJson(['sessions', 'list', '--limit', '60'], { env }).sessions.map((s) => s.id);
    // Long ago, so that the files' times are trusted; the same times again after each change would be missed otherwise.
    let at = begin;
    const settle = () => {
      for (const name of [file, `${file}-wal`]) if (fs.existsSync(name)) fs.utimesSync(name, at, at);
      at += 10;
    };
    settle();
    for (const [what, change] of [['at first', () => {}], ...changes]) {
      change(db);
      assert.deepEqual(listed(), inOrder(db), `${what}, just written`);
      settle();
      assert.deepEqual(listed(), inOrder(db), `${what}, by then at rest`);
      assert.deepEqual(listed(), inOrder(db), `${what}, as it was kept`);
    }
    const kept = new DatabaseSync(path.join(data, 'index.db'), { readOnly: true });
    assert.equal(kept.prepare('SELECT count(*) AS n FROM activity').get().n, 1);
    kept.close();
    const before = sha(file);
    assert.equal(run(['sessions', 'list'], { env }).code, 0);
    assert.equal(sha(file), before);
  });
}
