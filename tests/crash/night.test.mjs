// A night under kill -9: at calls that change the disk, and at random moments. The next run ends as an
// uninterrupted one does, and nothing live has changed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fillHome, fixtures, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { seeded } from './seeded.mjs';

const kills = process.env.TALARIA_LONG === '1' ? 1000 : 60;
const night = ['sleep', 'run', '--backend', 'mock'];

function preload() {
  const { dir } = tmpHome();
  const library = path.join(dir, 'killat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

function demoHome() {
  const home = tmpHome();
  const made = fillHome(home.env);
  assert.equal(made.code, 0, made.stderr);
  return { ...home, sleep: path.join(home.data, 'sleep') };
}

function forget(home) {
  fs.rmSync(home.sleep, { recursive: true, force: true });
}

/** What a night came to, as it is on disk: without times and names of its own. */
function result(home, what) {
  const staging = path.join(home.sleep, 'staging');
  const nights = fs.readdirSync(staging).filter((f) => /^\d/.test(f));
  assert.equal(nights.length, 1, `${what}: ${nights}`);
  const folder = path.join(staging, nights[0]);
  const report = JSON.parse(fs.readFileSync(path.join(folder, 'report.json'), 'utf8'));
  const { baseline_score, candidate_score, accepted, gate_action, edits, rejected_edits, gate_trials, n_tasks, n_sessions } = report;
  assert.equal(fs.readFileSync(path.join(staging, '.latest'), 'utf8').trim(), nights[0], what);
  return {
    scores: { night: report.night, baseline_score, candidate_score, accepted, gate_action, edits, rejected_edits, gate_trials, n_tasks, n_sessions },
    proposal: fs.readFileSync(path.join(folder, 'proposed_SKILL.md'), 'utf8'),
    files: fs.readdirSync(folder).sort(),
    home: fs.readdirSync(home.sleep).filter((f) => !f.endsWith('.lock')).sort(),
  };
}

const liveSkills = (home) => fs.readdirSync(path.join(home.data, 'skills'), { recursive: true }).map(String).sort();

/** Runs it until it has ended: the night that was killed, never a second one. */
function finish(home, what) {
  const state = path.join(home.sleep, 'state.json');
  const ended = fs.existsSync(state) && JSON.parse(fs.readFileSync(state, 'utf8')).night > 0;
  const r = runJson(night, { env: home.env });
  if (ended) assert.equal(r.no_edits_reason, 'no_tasks', what);
  else assert.equal(r.accepted, true, what);
  return ended;
}

test('killed at calls that change the disk, the whole night through', { timeout: 900_000 }, () => {
  const library = preload(), home = demoHome(), live = liveSkills(home);
  runJson(night, { env: home.env });
  const whole = result(home, 'whole');
  let n = 1, died = 0;
  // The evidence is hundreds of lines, one write each: there every few; everywhere else each call.
  for (const step = (at) => (at > 12 && at < 330 && process.env.TALARIA_LONG !== '1' ? 23 : 1); n < 5000; n += step(n)) {
    forget(home);
    const r = run(night, { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(n) } });
    if (r.signal !== 'SIGKILL') {
      assert.equal(r.code, 0, r.stderr);
      break;
    }
    died++;
    assert.deepEqual(liveSkills(home), live);
    finish(home, `call ${n}`);
    assert.deepEqual(result(home, `call ${n}`), whole, `killed at call ${n}`);
  }
  assert.ok(died > 20, `only ${died} calls`);
  console.log(`# a night: ${n} calls that change the disk, killed at ${died} of them`);
});

test(`kill -9 at ${kills} random moments: the next run ends the same`, { timeout: 1_800_000 }, async (t) => {
  const home = demoHome(), live = liveSkills(home);
  const begun = Date.now();
  runJson(night, { env: home.env });
  const typical = Date.now() - begun, whole = result(home, 'whole');
  const random = seeded(t);
  let died = 0;
  for (let i = 0; i < kills; i++) {
    forget(home);
    const child = spawn(bin, night, { env: home.env, stdio: 'ignore' });
    const ended = new Promise((r) => child.on('exit', (code, signal) => r(signal)));
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * typical * 1.1);
    if ((await ended) === 'SIGKILL') died++;
    clearTimeout(timer);
    assert.deepEqual(liveSkills(home), live);
    finish(home, `kill ${i}`);
    assert.deepEqual(result(home, `kill ${i}`), whole, `kill ${i}`);
  }
  assert.ok(died > kills / 10, `only ${died} died`);
});
