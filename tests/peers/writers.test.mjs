// Beside programs of others for longer: a Python writer as Hermes is one, Node's own SQLite as a
// second, and every reading command of ours, for a while, in both journal modes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, makeStateDb, pythonPeer, tmpHome } from '../cli/helpers.mjs';
import { isShort } from './matrix.mjs';

const seconds = isShort ? 5 : 15;

const writer = `
import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
c.execute('pragma journal_mode=' + sys.argv[2]); c.execute('pragma synchronous=off')
sid = c.execute('select id from sessions limit 1').fetchone()[0]
print('ready'); sys.stdin.readline()
end = time.monotonic() + float(sys.argv[3]); n = 0; waits = []
while time.monotonic() < end:
    t = time.monotonic()
    c.execute("insert into messages(session_id, role, content, timestamp) values (?, 'user', ?, ?)", (sid, 'live %d' % n, time.time()))
    waits.append(time.monotonic() - t); n += 1
    time.sleep(0.002)
waits.sort()
print(n, waits[int(len(waits) * .99)], waits[-1])
`;

const reading = (env, args) => new Promise((resolve, reject) => {
  const child = spawn(bin, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (d) => (stderr += d));
  child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(' ')}: ${stderr}`))));
});

for (const journal of ['wal', 'delete']) {
  test(`two writers of others and all our readers on one database (journal ${journal}, ${seconds} s)`, async (t) => {
    const { env, hermes } = tmpHome(t);
    const file = path.join(hermes, 'state.db');
    makeStateDb(file, { journal, sessions: 400, messages: 40 });
    const peer = pythonPeer(writer, file, journal, seconds);
    t.after(() => peer.end());
    assert.equal(await peer.next(), 'ready');
    const second = new DatabaseSync(file, { timeout: 10_000 });
    const put = second.prepare("INSERT INTO messages(session_id, role, content, timestamp) SELECT id, 'assistant', 'other ' || ?, 1 FROM sessions LIMIT 1");
    const [{ id }] = second.prepare('SELECT session_id AS id FROM messages GROUP BY session_id ORDER BY count(*) DESC LIMIT 1').all();
    peer.say('go');
    const result = peer.next();
    let ended = false, others = 0, reads = 0;
    result.then(() => (ended = true));
    while (!ended) {
      put.run(others++);
      const all = [['status'], ['sessions', 'list', '--limit', '0'], ['sessions', 'show', id], ['templates', 'study'], ['templates', 'harvest', '--dry-run'], ['achievements', 'scan', '--full']];
      await Promise.all([reading(env, all[reads % all.length]), reading(env, all[(reads + 2) % all.length])]);
      reads += 2;
    }
    const [n, p99, worst] = (await result).split(' ').map(Number);
    t.diagnostic(`${n} writes beside ${reads} readings: p99 ${(p99 * 1e3).toFixed(1)} ms, worst ${(worst * 1e3).toFixed(1)} ms`);
    assert.equal(second.prepare("SELECT count(*) AS n FROM messages WHERE content LIKE 'live %'").get().n, n);
    assert.equal(second.prepare("SELECT count(*) AS n FROM messages WHERE content LIKE 'other %'").get().n, others);
    assert.equal(second.prepare('PRAGMA integrity_check').get().integrity_check, 'ok');
    assert.ok(p99 <= 0.06, `p99 of a write: ${p99} s`);
    second.close();
  });
}
