// Adoption and undo under kill -9: at every call that changes the disk, and at random.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { stageNight, stateOf } from '../cli/sleep_night.mjs';
import { seeded } from './seeded.mjs';

const kills = process.env.TALARIA_LONG === '1' ? 1000 : 100;

const nights = {
  'two skills': {
    flags: ['--all-skills'],
    make: (home) => stageNight(home, {
      skills: [{ name: 'pdf', before: 'old pdf\n', after: 'new pdf\n' }, { name: 'xls', before: 'old xls\n', after: 'new xls\n' }],
    }),
  },
  'a new skill and the memory': {
    flags: ['--legacy'],
    make: (home) => {
      const dir = fs.realpathSync(home.dir);
      return stageNight(home, {
        managed: { path: path.join(dir, 'agent/skills/learned/SKILL.md'), before: null, after: '---\nname: learned\n---\n- rule\n' },
        memory: { path: path.join(dir, 'project/CLAUDE.md'), before: '# Mine\n', after: '# Mine\n- more\n' },
      });
    },
  },
};

function preload() {
  const { dir } = tmpHome();
  const library = path.join(dir, 'killat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

// What must hold after any death: whole bytes; and once somebody has looked, all old or all new, as the receipts say.
function check(night, env, what) {
  for (const doc of night.docs) assert.match(stateOf(doc), /^(old|new)$/, `${what}: ${doc.live}`);
  const status = runJson(['sleep', 'status'], { env });
  const states = new Set(night.docs.map(stateOf));
  assert.equal(states.size, 1, `${what}: half of it is ${[...states]}`);
  assert.equal(status.adopted_skills.length, states.has('new') ? night.docs.length : 0, `${what}: the receipts say something else`);
  const litter = fs.readdirSync(night.folder).filter((f) => f.startsWith('.adopt') || f.endsWith('.tmp'));
  assert.deepEqual(litter, [], what);
  for (const doc of night.docs) {
    const folder = path.dirname(doc.live);
    const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
    assert.deepEqual(names.filter((f) => f !== path.basename(doc.live)), [], `${what}: litter beside ${doc.live}`);
  }
  return [...states][0];
}

function go(command, flags, env) {
  const r = run(['sleep', command, ...(command === 'adopt' ? flags : [])], { env });
  assert.equal(r.code, 0, `${command}: ${r.stderr}`);
}

for (const [title, { flags, make }] of Object.entries(nights)) {
  test(`${title}: killed at every call that changes the disk, in adoption and in undo`, { timeout: 600_000 }, () => {
    const library = preload(), home = tmpHome(), night = make(home);
    const counts = {};
    for (const command of ['adopt', 'undo']) {
      const from = command === 'adopt' ? 'old' : 'new', to = command === 'adopt' ? 'new' : 'old';
      let n = 1, died = 0;
      for (; n < 1000; n++) {
        if (check(night, home.env, 'before') !== from) go(from === 'old' ? 'undo' : 'adopt', flags, home.env);
        const r = run(['sleep', command, ...(command === 'adopt' ? flags : [])], { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(n) } });
        if (r.signal !== 'SIGKILL') {
          assert.equal(r.code, 0, r.stderr);
          break;
        }
        died++;
        // Whoever repairs it may die as well, at any call of its own.
        run(['sleep', 'status'], { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(1 + (n % 16)) } });
        check(night, home.env, `${command} killed at call ${n}`);
      }
      assert.ok(died > 20, `only ${died} calls`);
      assert.equal(check(night, home.env, 'at the end'), to);
      counts[command] = died;
    }
    console.log(`# ${title}: adoption ${counts.adopt} calls, undo ${counts.undo} calls`);
  });
}

test(`kill -9 at ${kills} random moments: old or new, and the next one works`, { timeout: 900_000 }, async (t) => {
  const home = tmpHome(), night = nights['two skills'].make(home);
  let died = 0, state = 'old';
  const random = seeded(t);
  const begun = Date.now();
  go('adopt', ['--all-skills'], home.env);
  const typical = Date.now() - begun;
  go('undo', [], home.env);
  for (let i = 0; i < kills; i++) {
    const args = state === 'old' ? ['adopt', '--all-skills'] : ['undo'];
    const child = spawn(bin, ['sleep', ...args], { env: home.env, stdio: 'ignore' });
    const ended = new Promise((r) => child.on('exit', (code, signal) => r(signal)));
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * typical * 1.2);
    if ((await ended) === 'SIGKILL') died++;
    clearTimeout(timer);
    state = check(night, home.env, `kill ${i}`);
  }
  assert.ok(died > kills / 10, `only ${died} died`);
  if (state === 'old') go('adopt', ['--all-skills'], home.env);
  go('undo', [], home.env);
  assert.equal(check(night, home.env, 'at the end'), 'old');
});

test('two at once: one adopts, the other waits and is told', async () => {
  const home = tmpHome(), night = nights['two skills'].make(home);
  const codes = await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve) => {
    spawn(bin, ['sleep', 'adopt', '--all-skills'], { env: home.env, stdio: 'ignore' }).on('exit', resolve);
  })));
  assert.deepEqual(codes.sort(), [0, 4, 4, 4]);
  assert.equal(check(night, home.env, 'after all'), 'new');
});

test('somebody wrote after the crash: it stays, and the way is free', () => {
  const library = preload(), home = tmpHome(), night = nights['two skills'].make(home);
  // Find a death in the middle: the first document is new, the journal is there.
  for (let n = 1; n < 200; n++) {
    run(['sleep', 'adopt', '--all-skills'], { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(n) } });
    if (stateOf(night.docs[0]) === 'new' && stateOf(night.docs[1]) === 'old') break;
    run(['sleep', 'status'], { env: home.env });
  }
  fs.writeFileSync(night.docs[0].live, 'my own words\n');
  const r = run(['sleep', 'status'], { env: home.env });
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, /changed by somebody else/);
  assert.equal(fs.readFileSync(night.docs[0].live, 'utf8'), 'my own words\n');
  assert.equal(run(['sleep', 'adopt', '--skill', 'xls'], { env: home.env }).code, 0);
  assert.equal(run(['sleep', 'adopt', '--skill', 'pdf'], { env: home.env }).code, 4);
});

test('whoever comes first after a crash repairs it: adopt, undo, review or the next night', () => {
  const library = preload();
  const nexts = {
    adopt: (home, night) => {
      go('adopt', ['--all-skills'], home.env);
      assert.deepEqual(night.docs.map(stateOf), ['new', 'new']);
    },
    undo: (home, night) => {
      // What was not adopted cannot be undone, but it is not left half done either.
      assert.equal(run(['sleep', 'undo'], { env: home.env }).code, 3);
      assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
    },
    review: (home, night) => {
      assert.equal(run(['sleep', 'review'], { env: home.env }).code, 0);
      assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
    },
    run: (home, night) => {
      assert.equal(run(['sleep', 'run', '--backend', 'mock'], { env: home.env }).code, 0);
      assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
    },
  };
  for (const [next, then] of Object.entries(nexts)) {
    const home = tmpHome(), night = nights['two skills'].make(home);
    let half = false;
    for (let n = 1; n < 200 && !half; n++) {
      run(['sleep', 'adopt', '--all-skills'], { env: { ...home.env, LD_PRELOAD: library, KILL_AT: String(n) } });
      half = stateOf(night.docs[0]) === 'new' && stateOf(night.docs[1]) === 'old';
      if (!half) run(['sleep', 'status'], { env: home.env });
    }
    assert.ok(half, 'no death in the middle');
    then(home, night);
    check(night, home.env, `${next} after a crash`);
  }
});
