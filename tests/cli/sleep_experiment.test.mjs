// The proof without a model: both personas learn, and a harmful rule does not get through.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fixtures, run, runJson, tmpHome } from './helpers.mjs';

const golden = (persona) => JSON.parse(fs.readFileSync(path.join(fixtures, 'sleep', `experiment_${persona}.json`), 'utf8'));

for (const persona of ['researcher', 'programmer']) {
  test(`${persona}: the numbers of the recorded experiment`, (t) => {
    const h = tmpHome(t);
    const want = golden(persona);
    const got = runJson(['sleep', 'experiment', '--persona', persona], { env: h.env });
    for (const key of Object.keys(want)) if (key !== 'trace') assert.deepEqual(got[key], want[key], key);
    assert.equal(got.trace.length, want.trace.length);
    want.trace.forEach((night, i) => {
      for (const key of Object.keys(night)) assert.deepEqual(got.trace[i][key], night[key], `night ${i}: ${key}`);
    });
    assert.ok(got.harmful_holdout < got.after_holdout);
    assert.match(got.harmful_reason, /^the score got worse \(validation score/);
    const gain = got.trace[1].attribution.reduce((sum, row) => sum + row.share, 0);
    assert.ok(Math.abs(gain - 1) < 1e-9, 'the shares of the gain add up');
    assert.equal(fs.existsSync(h.data), false, 'nothing is written');
  });

  test(`${persona}: one new rule a night is enough within three nights`, (t) => {
    const h = tmpHome(t);
    const got = runJson(['sleep', 'experiment', '--persona', persona, '--edit-budget', '1', '--nights', '3'], { env: h.env });
    assert.equal(got.after_holdout, 1);
    assert.ok(got.nights_run <= 3);
    assert.ok(got.gate_blocks_harmful);
  });
}

test('the learned skill says of each rule where it comes from', (t) => {
  const h = tmpHome(t);
  const { skill } = runJson(['sleep', 'experiment', '--persona', 'researcher'], { env: h.env });
  assert.match(skill, /^---\nname: experiment\ndescription: "[^"]+"\n---\n/);
  const rules = skill.split('\n').filter((line) => line.startsWith('- '));
  assert.equal(rules.length, 2);
  for (const rule of rules) assert.match(rule, /<!-- rule id=r[0-9a-f]{8} night=1 until=31 helpful=1 harmful=0 sessions=\S+ evidence=6 validation tasks: 33\.3 to 100\.0 -->$/);
});

test('for people: scores, rules and what was blocked, of both personas', (t) => {
  const h = tmpHome(t);
  const r = run(['sleep', 'experiment'], { env: h.env });
  assert.equal(r.code, 0);
  assert.match(r.stdout, /researcher: 12 tasks, 6 held out for validation/);
  assert.match(r.stdout, /programmer: 8 tasks, 3 held out for validation/);
  assert.match(r.stdout, /night 1 .* 100\.0 {2}accepted/);
  assert.match(r.stdout, /\(50 % of the gain\)/);
  assert.equal(r.stdout.match(/harmful {4}blocked/g).length, 2);
});

test('what cannot be is a usage error', (t) => {
  const h = tmpHome(t);
  for (const args of [['--persona', 'nobody'], ['--nights', '0'], ['--edit-budget', '0'], ['extra']]) {
    const r = run(['sleep', 'experiment', ...args], { env: h.env });
    assert.equal(r.code, 2, args.join(' '));
    assert.notEqual(r.stderr, '');
  }
});
