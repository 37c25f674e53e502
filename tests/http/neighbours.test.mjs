// Others on the same files: a second server, a store that is replaced or loses its log while it is served.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeStateDb, python, run, tmpHome } from '../cli/helpers.mjs';
import { indexed, request, startServer } from './helpers.mjs';

const list = async (server) => (await request(server, '/api/sessions?limit=200')).json.sessions;
const ids = async (server) => (await list(server)).map((s) => s.id).sort();

/** Asks again until it holds; a change has half a minute to be seen. */
async function until(look, ms = 30_000) {
  for (const end = Date.now() + ms; ; await new Promise((r) => setTimeout(r, 50))) {
    try {
      return await look();
    } catch (cause) {
      if (Date.now() > end) throw cause;
    }
  }
}

/** A turn answered offline, read to its end. */
async function say(server, conversation, text) {
  const answer = await request(server, `/api/conversations/${conversation}/chat`, { method: 'POST', body: { text } });
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

test('two servers on one data folder: what is said at one is read at the other, and nothing is said twice', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 20, seed: 3 });
  const a = await startServer(t, { home });
  const b = await startServer(t, { home });
  const made = await Promise.all([...Array(6)].map(async (_, i) => {
    const server = i % 2 ? a : b;
    const { json } = await request(server, '/api/conversations', { method: 'POST', body: { title: `talk ${i}` } });
    await say(server, json.id, `question number ${i}`);
    return json.id;
  }));
  for (const [i, id] of made.entries())
    await until(async () => {
      const both = await Promise.all([a, b].map(async (s) => (await request(s, `/api/conversations/${id}/messages`)).json.messages));
      for (const messages of both) {
        assert.deepEqual(messages.map((m) => m.role), ['user', 'assistant']);
        assert.equal(messages[0].content, `question number ${i}`);
      }
    });
  assert.deepEqual(await ids(a), await ids(b));
  for (const server of [a, b]) assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.stderr);
  assert.equal(python('import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])', path.join(home.data, 'talaria.db')).trim(), 'ok');
});

for (const journal of ['wal', 'delete'])
  test(`state.db replaced while it is served (${journal}): the new one is shown, the old one forgotten`, async (t) => {
    const home = tmpHome(t);
    const file = path.join(home.hermes, 'state.db');
    makeStateDb(file, { sessions: 12, seed: 1, journal });
    const server = await startServer(t, { home });
    await indexed(server, 12);
    const before = await ids(server);
    const other = `${file}.new`;
    makeStateDb(other, { sessions: 7, seed: 99, journal });
    for (const end of ['-wal', '-shm']) fs.rmSync(file + end, { force: true });
    fs.renameSync(other, file);
    const there = JSON.parse(python('import json,sqlite3,sys; print(json.dumps(sorted(r[0] for r in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM sessions"))))', file));
    assert.notDeepEqual(there, before);
    await until(async () => {
      const now = await ids(server);
      assert.ok(now.length > 0 && now.every((id) => there.includes(id)), now.join(' '));
    });
    assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.stderr);
  });

test('a write-ahead log deleted while it is served: every committed session that the file holds is shown', async (t) => {
  const home = tmpHome(t);
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 12, seed: 1, journal: 'wal' });
  const server = await startServer(t, { home });
  await indexed(server, 12);
  const before = await ids(server);
  for (const end of ['-wal', '-shm']) fs.rmSync(file + end, { force: true });
  assert.deepEqual(await ids(server), before);
  python('import sqlite3,sys,time; c=sqlite3.connect(sys.argv[1]); c.execute("INSERT INTO sessions(id,source,started_at,title) VALUES(\'after-the-log\',\'cli\',?,\'after the log\')",(time.time(),)); c.execute("INSERT INTO messages(session_id,role,content,timestamp) VALUES(\'after-the-log\',\'user\',\'hello\',?)",(time.time(),)); c.commit(); c.close()', file);
  await until(async () => assert.ok((await ids(server)).includes('after-the-log')));
  assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.stderr);
  assert.equal(run(['sessions', 'list', '--json'], { env: home.env }).status ?? 0, 0);
});
