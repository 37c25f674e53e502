// A night that is to be adopted at once, under kill -9: whoever runs next has the skill in place, whole.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fixtures, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { backups, history } from '../cli/sleep_history.mjs';

const mine = '---\nname: talaria-learned\ndescription: mine\n---\n\n# Mine\n';
const night = ['sleep', 'run', '--backend', 'mock', '--no-evidence', '--auto-adopt'];

test('killed at every call that changes the disk, from the staging to the adoption', { timeout: 600_000 }, () => {
  const home = tmpHome(), library = path.join(home.dir, 'killat.so');
  assert.equal(spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl']).status, 0);
  history(home, backups);
  const skill = path.join(home.user, '.claude/skills/talaria-learned/SKILL.md');
  const anew = () => {
    fs.rmSync(path.join(home.data, 'sleep'), { recursive: true, force: true });
    fs.mkdirSync(path.dirname(skill), { recursive: true });
    fs.writeFileSync(skill, mine);
  };
  const live = () => fs.readFileSync(skill, 'utf8');
  anew();
  assert.equal(runJson(night, home).adopted, true);
  const learned = live();
  assert.ok(learned.startsWith(mine) && learned !== mine);
  let n = 1, left = 0;
  for (; n < 500; n++) {
    anew();
    const r = run(night, { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(n) } });
    if (r.signal !== 'SIGKILL') break;
    assert.ok([mine, learned].includes(live()), `call ${n}: neither old nor new`);
    const next = run(night, home);
    assert.equal(next.code, 0, next.stderr);
    left += /adopted the proposal of interrupted night/.test(next.stderr);
    assert.equal(live(), learned, `call ${n}`);
    const staging = path.join(home.data, 'sleep/staging');
    for (const f of fs.readdirSync(staging, { recursive: true })) assert.ok(!String(f).endsWith('.auto-adopt'), `call ${n}: the wish is left`);
  }
  assert.ok(n > 30 && n < 500 && left > 3, `${n} calls, ${left} adoptions that were left`);
  assert.equal(run(['sleep', 'undo'], home).code, 0);
  assert.equal(run(['sleep', 'run', '--backend', 'mock'], home).code, 0);
  assert.equal(live(), mine, 'what was undone stays undone');
});
