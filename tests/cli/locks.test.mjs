// In rollback-journal mode a reader holds up the writer's commit for as long as it reads.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, makeStateDb, python, tmpHome } from './helpers.mjs';

test('reads of a database in rollback-journal mode are shorter than 25 ms, whatever the command', (t) => {
  const { env, hermes, dir } = tmpHome();
  makeStateDb(path.join(hermes, 'state.db'), { sessions: 300, messages: 40, seed: 3 });
  // And one session that takes far longer than that to read.
  python(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("insert into sessions(id, source, started_at) values ('huge', 'cli', 1)")
c.executemany("insert into messages(session_id, role, content, timestamp) values ('huge', 'user', ?, ?)", (('a traceback in the logs ' * 150, i) for i in range(30000)))
c.commit()`, path.join(hermes, 'state.db'));
  const watch = path.join(dir, 'lockwatch.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'lockwatch.c'), '-o', watch, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  for (const args of [['achievements', 'scan', '--full'], ['templates', 'study'], ['templates', 'harvest', '--dry-run'], ['sessions', 'list', '--limit', '0'], ['status']]) {
    const r = spawnSync(bin, args, { env: { ...env, LD_PRELOAD: watch }, encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.equal(r.status, 0, r.stderr);
    const [holds, over, longest] = r.stderr.trim().split('\n').at(-1).split(' ').map(Number);
    t.diagnostic(`${args.join(' ')}: ${holds} reads, longest ${longest} ms`);
    assert.ok(holds > 0, 'the lock is seen');
    // One in a thousand for a machine that lets us wait in the middle of one; none so long as a read without an end.
    assert.ok(longest < 150, `${args.join(' ')}: a read of ${longest} ms`);
    assert.ok(over <= Math.max(1, holds / 1000), `${args.join(' ')}: ${over} of ${holds} reads over 25 ms, longest ${longest} ms`);
  }
});
