// A session with files is deleted and the program dies in the middle: it is there or it is gone, and no file stays behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, run, runJson, tmpHome } from '../cli/helpers.mjs';

test('sessions delete: killed at every call that changes the disk', { timeout: 300_000 }, (t) => {
  const home = tmpHome(t), library = path.join(home.dir, 'killat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const note = path.join(home.dir, 'note.txt'), kept = path.join(home.data, 'files');
  fs.writeFileSync(note, 'what is in the attic');
  const ids = () => runJson(['sessions', 'list'], home).sessions.map((s) => s.id);
  const files = () => (fs.existsSync(kept) ? fs.readdirSync(kept) : []);
  let gone = 0, left = 0;
  for (let at = 1, dies = true; dies; at++) {
    assert.ok(at < 300, 'it comes to an end');
    let [id] = ids();
    if (!id) {
      const said = run(['chat', '-f', note, '-f', note], { ...home, input: 'keep this\n' });
      assert.equal(said.code, 0, said.stderr);
      [id] = ids();
      assert.deepEqual(files(), [id], 'what an earlier one left behind is gone');
    }
    const r = spawnSync(bin, ['sessions', 'delete', id, '--yes'], { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(at), KILL_IN_DATABASES: '1' }, encoding: 'utf8' });
    dies = r.signal === 'SIGKILL';
    assert.ok(dies || r.status === 0, r.stderr);
    if (ids().includes(id)) {
      assert.ok(dies);
      assert.equal(fs.readdirSync(path.join(kept, id)).length, 2, `at ${at}: a session that is there has its files`);
    } else {
      gone++;
      left += files().includes(id);
    }
  }
  assert.ok(gone > 1 && left > 0, 'it was also killed between the rows and the files');
});
