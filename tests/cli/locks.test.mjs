// A reader holds up others for as long as it reads: in rollback-journal mode the writer's commit, with a
// write-ahead log the log's beginning anew, so that it grows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, makeStateDb, python, tmpHome } from './helpers.mjs';

/** A history with one session that takes long to read, and what watches the locks on it. */
function watched(journal) {
  const { env, hermes, dir } = tmpHome();
  const file = path.join(hermes, 'state.db');
  makeStateDb(file, { sessions: 300, messages: 40, seed: 3, journal });
  python(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("insert into sessions(id, source, started_at) values ('huge', 'cli', 1)")
c.executemany("insert into messages(session_id, role, content, timestamp) values ('huge', 'user', ?, ?)", (('a traceback in the logs ' * 150, i) for i in range(30000)))
c.commit()`, file);
  const watch = path.join(dir, 'lockwatch.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'lockwatch.c'), '-o', watch, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return { ...env, LD_PRELOAD: watch, ...(journal === 'wal' ? { LOCKWATCH: 'wal' } : {}) };
}

for (const [journal, most, worst] of [['delete', 25, 150], ['wal', 100, 400]]) {
  test(`timed: reads of a database are shorter than ${most} ms, whatever the command (journal ${journal})`, (t) => {
    const env = watched(journal);
    for (const args of [['achievements', 'scan', '--source', 'hermes', '--full'], ['templates', 'study'], ['templates', 'harvest', '--dry-run'], ['sessions', 'list', '--limit', '0'], ['sessions', 'list', '--tool', 'terminal'], ['sessions', 'export', '--all'], ['sleep', 'harvest'], ['status'], ['doctor']]) {
      const r = spawnSync(bin, args, { env, encoding: 'utf8', maxBuffer: 1 << 28 });
      assert.equal(r.status, 0, r.stderr);
      const [holds, over, longest] = r.stderr.trim().split('\n').at(-1).split(' ').map(Number);
      t.diagnostic(`${args.join(' ')}: ${holds} reads, longest ${longest} ms`);
      assert.ok(holds > 0, 'the lock is seen');
      // One in a thousand for a machine that lets us wait in the middle of one; none so long as a read without an end.
      assert.ok(longest < worst, `${args.join(' ')}: a read of ${longest} ms`);
      assert.ok(over <= Math.max(1, holds / 1000), `${args.join(' ')}: ${over} of ${holds} reads over ${most} ms, longest ${longest} ms`);
    }
  });
}
