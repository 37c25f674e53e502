// kill -9 while the index is made: the next run ends with the same answers as an index made in one go.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin, runJson, tmpHome } from '../cli/helpers.mjs';
import { claude } from '../cli/said.mjs';

const kills = process.env.TALARIA_LONG ? 200 : 6;
const queries = ['pangolin', 'word7 word9', '"word3 again"', 'number 17', 'result', 'What about word5?'];

/** The hits without what differs from run to run. */
function answers(env) {
  return queries.map((q) => runJson(['sessions', 'search', '--limit', '100', q], { env })
    .hits.map(({ session, role, message, snippet }) => JSON.stringify([session, role, message, snippet])).sort());
}

test('killed at any point, the index is whole again after the next run', async (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 150; n++) {
    claude(home, n, Array.from({ length: 20 }, (_, i) => (i % 5 === 4
      ? { tool: 'Bash', input: { command: `echo number ${n}` }, result: `result ${n} ${i} ` + 'lorem ipsum '.repeat(200) }
      : `pangolin word${n % 13} again word${i} ` + 'dolor sit amet '.repeat(40))));
  }
  const fresh = { ...home.env, TALARIA_HOME: path.join(home.dir, 'fresh') };
  runJson(['index'], { env: fresh });
  const expected = answers(fresh);
  assert.ok(expected.every((hits) => hits.length > 0));
  for (let i = 0; i < kills; i++) {
    const child = spawn(bin, ['index'], { env: home.env, stdio: 'ignore' });
    const ended = new Promise((r) => child.once('exit', r));
    setTimeout(() => child.kill('SIGKILL'), 15 + ((i * 37) % 120));
    await ended;
    if (i % 3 === 2) fs.rmSync(path.join(home.data, 'index.db-shm'), { force: true });
  }
  const all = runJson(['index'], { env: home.env });
  assert.equal(all.sessions, 150);
  assert.equal(all.messages, runJson(['index'], { env: fresh }).messages);
  assert.deepEqual(answers(home.env), expected);
});
