// The n-th allocation, the n-th call on a file, the n-th call on a database fails: nothing crashes, nothing that was there
// is lost, and what did not work is said. A few of each; every one with TALARIA_LONG=1, or TALARIA_FAULTS of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { query } from '../cli/handoffs.mjs';
import { bin, fixtures, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { stageNight, stateOf } from '../cli/sleep_night.mjs';

const long = process.env.TALARIA_LONG === '1';
const kinds = ['memory', 'io', 'database'];
// What SQLite itself may answer; in a second program and in the unit tests, which are linked for it (tests/fixtures/failsql.c).
const answers = ['busy', 'ioerr', 'full', 'nomem'];
const root = path.join(fixtures, '../..');
const failingBin = path.join(root, 'build/plain/talaria_failing');

function preload() {
  const library = path.join(tmpHome().dir, 'failat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'failat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}
const library = preload();

/** Runs a program with its n-th call of a kind failing; n 0: counts the calls. */
function failing(file, args, { env, input = '', what, at = 0, lasting = false }) {
  const count = path.join(path.dirname(library), 'count');
  fs.rmSync(count, { force: true });
  const r = spawnSync(file, args, { encoding: 'utf8', input, timeout: 30_000, maxBuffer: 1 << 26,
    env: { ...env, ...(answers.includes(what) ? {} : { LD_PRELOAD: library }), FAIL_WHAT: what, FAIL_AT: String(at), FAIL_FOR: lasting ? 'all' : '', FAIL_COUNT: at ? '' : count } });
  return { ...r, calls: at ? 0 : Number(fs.readFileSync(count, 'utf8')) };
}

/** Which calls fail: `few` of them spread over all, or every one (at most `most`). */
function* places(calls, few, most = 4000) {
  const n = Math.min(calls, Number(process.env.TALARIA_FAULTS ?? (long ? most : few)));
  let last = 0;
  for (let i = 0; i < n; i++) {
    const at = 1 + Math.floor((i * calls) / n);
    if (at !== last) yield (last = at);
  }
}

/** Ended by itself, or for want of memory, which it said. */
function endedWell(r, what, where) {
  const said = r.stderr + r.stdout;
  // It may end before it has read what it was given.
  assert.ok(!r.error || r.error.code === 'EPIPE', `${where}: ${r.error}`);
  assert.ok(r.signal === null || (what === 'memory' && r.signal === 'SIGABRT' && /out of memory/.test(said)), `${where}: ${r.signal}\n${said.slice(-2000)}`);
  assert.doesNotMatch(said, /Segmentation fault|Bus error|assertion|stack smashing|free\(\)|double free|corrupt/i, where);
}

// -- commands ---------------------------------------------------------------------------------------------------------

const template = { name: 'lines', task_type: 'code', examples: [{ tool_name: 'terminal', arguments: { command: 'wc' }, result: '3', success: true }], description: '', created_at: 5, usage_count: 3, source_session_id: null };
const sessions = (home) => runJson(['sessions', 'list'], home).sessions;

const lines = (id, words) => [
  { format: 1, kind: 'session', id, source: 'cli', started_at: 1786210685, message_count: 2 },
  { kind: 'message', role: 'user', content: words, timestamp: 1786210686, active: 1 },
  { kind: 'message', role: 'assistant', content: `about ${words}`, timestamp: 1786210687, active: 1 },
  { kind: 'end', messages: 2 },
].map((l) => `${JSON.stringify(l)}\n`).join('');
function add(home, id, words) {
  const r = run(['sessions', 'import', '-'], { ...home, input: lines(id, words) });
  assert.equal(r.code, 0, r.stderr);
}

/** prepare: what is there before. args, input: the command. state: what is there, of two that are good: before, after. */
const commands = {
  'config set': {
    prepare(home) { run(['config', 'set', 'model.name', 'old'], home); run(['config', 'set', 'sleep.seed', '7'], home); },
    args: () => ['config', 'set', 'model.name', 'new'],
    state(home) {
      assert.equal(runJson(['config', 'get', 'sleep.seed'], home).value, '7');
      return runJson(['config', 'get', 'model.name'], home).value;
    },
    good: ['old', 'new'],
  },
  'templates inject': {
    prepare(home) {
      fs.mkdirSync(path.join(home.data, 'session-templates'), { recursive: true });
      fs.writeFileSync(path.join(home.data, 'session-templates/lines.json'), JSON.stringify(template));
    },
    args: () => ['templates', 'inject', 'lines'],
    input: '[]',
    state(home) {
      const now = JSON.parse(fs.readFileSync(path.join(home.data, 'session-templates/lines.json'), 'utf8'));
      assert.deepEqual({ ...now, usage_count: 3 }, template);
      return now.usage_count;
    },
    good: [3, 4],
  },
  'a message in a chat': {
    prepare(home) { assert.equal(run(['chat'], { ...home, input: 'the ladder is in the shed\n' }).code, 0); },
    args: (home) => ['chat', '--resume', sessions(home)[0].id],
    input: 'where is the ladder\n',
    state(home) {
      assert.equal(sessions(home).length, 1);
      const rows = query(path.join(home.data, 'talaria.db'), 'select content from messages order by id');
      assert.equal(rows[0][0], 'the ladder is in the shed');
      return rows.length;
    },
    // The question is kept before it is answered.
    good: [2, 3, 4],
  },
  'sessions rename': {
    prepare(home) { run(['chat'], { ...home, input: 'hello\n' }); run(['sessions', 'rename', sessions(home)[0].id, 'old'], home); },
    args: (home) => ['sessions', 'rename', sessions(home)[0].id, 'new'],
    state: (home) => sessions(home)[0].title,
    good: ['old', 'new'],
  },
  'sessions delete': {
    prepare: (home) => { add(home, 'own-first-0001', 'walrus'); add(home, 'own-other-0002', 'seal'); },
    args: () => ['sessions', 'delete', 'own-first-0001', '--yes'],
    state(home) {
      const left = sessions(home).map((s) => s.id).sort();
      assert.ok(left.includes('own-other-0002'));
      for (const id of left) assert.equal(query(path.join(home.data, 'talaria.db'), `select count(*) from messages where session_id = '${id}'`)[0][0], 2, id);
      return left.length;
    },
    good: [2, 1],
  },
  'sessions import': {
    prepare: (home) => add(home, 'own-first-0001', 'walrus'),
    args: () => ['sessions', 'import', '-'],
    input: lines('own-other-0002', 'seal'),
    state(home) {
      const rows = query(path.join(home.data, 'talaria.db'), 'select session_id, count(*) from messages group by 1 order by 1');
      for (const [, n] of rows) assert.equal(n, 2, 'a session is there as a whole');
      assert.equal(sessions(home).length, rows.length);
      return rows.length;
    },
    good: [1, 2],
  },
  'a first search': {
    prepare: (home) => add(home, 'own-first-0001', 'walrus'),
    args: () => ['sessions', 'search', 'walrus'],
    // The index can be made anew; whatever became of it, the next search finds.
    state: (home) => runJson(['sessions', 'search', 'walrus'], home).hits.length,
    good: [2],
  },
  'a question to an agent': {
    prepare: (home) => add(home, 'own-first-0001', 'walrus'),
    args: () => ['ask', '-r', 'offline', 'where is the seal'],
    state(home) {
      assert.ok(sessions(home).some((s) => s.id === 'own-first-0001'));
      const rows = query(path.join(home.data, 'talaria.db'), "select role, content from messages where session_id <> 'own-first-0001' order by id");
      if (rows.length) assert.equal(rows[0][1], 'where is the seal');
      return rows.length;
    },
    good: [0, 1, 2],
  },
  'a badge': {
    prepare: (home) => add(home, 'own-first-0001', 'walrus'),
    args: () => ['achievements', 'scan'],
    state: (home) => runJson(['achievements', 'list'], home).scan_meta?.mode !== 'failed',
    good: [true],
  },
  'sleep adopt': {
    prepare(home) { stageNight(home, { managed: { path: path.join(fs.realpathSync(home.dir), 'agent/skills/learned/SKILL.md'), before: 'old\n', after: 'new\n' }, report: { accepted: true } }); },
    args: () => ['sleep', 'adopt'],
    state(home) {
      // An adoption that was left in the middle is finished or taken back by the next command.
      run(['sleep', 'status'], home);
      return stateOf({ live: path.join(fs.realpathSync(home.dir), 'agent/skills/learned/SKILL.md'), before: 'old\n', after: 'new\n' });
    },
    good: ['old', 'new'],
  },
};

for (const [name, c] of Object.entries(commands))
  for (const what of [...kinds, ...answers])
    test(`${name}: the n-th call fails (${what})`, { timeout: 3_000_000, skip: !fs.existsSync(failingBin) && 'not built' }, () => {
      const program = answers.includes(what) ? failingBin : bin;
      const home = tmpHome(), copy = `${home.dir}.copy`;
      c.prepare(home);
      const args = c.args(home);
      fs.cpSync(home.dir, copy, { recursive: true });
      const whole = failing(program, args, { ...home, input: c.input, what });
      assert.equal(whole.status, 0, whole.stderr);
      const done = c.state(home);
      assert.equal(done, c.good.at(-1));
      for (const at of places(whole.calls, answers.includes(what) ? 5 : 8, 600))
        for (const lasting of what === 'memory' ? [false] : [false, true]) {
          const where = `${what} ${at} of ${whole.calls}${lasting ? ' and all after it' : ''}`;
          fs.rmSync(home.dir, { recursive: true });
          fs.cpSync(copy, home.dir, { recursive: true });
          const r = failing(program, args, { ...home, input: c.input, what, at, lasting });
          endedWell(r, what, where);
          const state = c.state(home);
          assert.ok(c.good.includes(state), `${where}: ${state}\n${r.stderr}`);
          if (r.status === 0 && !name.startsWith('a ')) assert.equal(state, done, `${where}: it says that it worked\n${r.stderr}`);
          if (r.status !== 0) assert.match(r.stderr, /\w+ \w+/, `${where}: it says what failed`);
        }
      fs.rmSync(copy, { recursive: true });
    });

// -- unit tests: they may fail, but end -----------------------------------------------------------------------------------

// Those that write files first; with TALARIA_LONG=1 all there are, the others in a few places each.
const closely = ['template', 'file', 'memory', 'sleep_state', 'yml_edit', ...(long ? ['inbox', 'sleep_adopt'] : [])];
// The simulations have thousands of schedules, and take too long for it.
const everyUnit = () => fs.readdirSync(path.join(root, 'tests/unit'), { recursive: true }).map((f) => /test_(\w+)\.c$/.exec(f)?.[1]).filter((u) => u && !u.endsWith('_sim')).sort();
const units = new Set([...closely, ...(long ? everyUnit() : [])]);

for (const unit of units) {
  const file = path.join(root, 'build/plain', `test_${unit}`);
  test(`test_${unit}: the n-th call fails`, { timeout: 3_000_000, skip: !fs.existsSync(file) && 'not built' }, () => {
    const env = { ...tmpHome().env, TALARIA_FIXTURES: fixtures };
    for (const what of [...kinds, ...answers]) {
      const whole = failing(file, [], { env, what });
      assert.equal(whole.status, 0, whole.stdout.slice(-2000) + whole.stderr.slice(-2000));
      for (const at of places(whole.calls, 6, closely.includes(unit) ? 2000 : 20)) {
        const r = failing(file, [], { env, what, at });
        // A test that failed leaves open what it had: how the next ones fare with that says little.
        if (closely.includes(unit) || !/FAILED {2}\]/.test(r.stderr + r.stdout)) endedWell(r, what, `${what} ${at} of ${whole.calls}`);
      }
    }
  });
}
