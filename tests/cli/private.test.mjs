// What is Talaria's own is closed to other users, and what files say cannot steer the terminal.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { gateway } from './handoffs.mjs';
import { makeStateDb, run, tmpHome } from './helpers.mjs';

const mode = (file) => (fs.statSync(file).mode & 0o7777).toString(8);

/** Whatever writes there opens talaria.db. */
const write = (env) => run(['ask', 'hello'], { env });

test('a data folder that is open to others is closed, where it is certainly ours', () => {
  const home = tmpHome(), { data, env } = home;
  const open = (dir, bits, files = []) => {
    fs.mkdirSync(dir, { recursive: true });
    for (const f of files) fs.writeFileSync(path.join(dir, f), '');
    fs.chmodSync(dir, bits);
    return dir;
  };
  assert.equal(write(env).code, 0);
  assert.equal(mode(data), '700', 'as it is made');
  fs.chmodSync(data, 0o755);
  const r = write(env);
  assert.equal(mode(data), '700', 'one with our files');
  assert.match(r.stderr, /closed the data folder '.*' to other users \(it had mode 0755\)/);
  assert.doesNotMatch(write(env).stderr, /closed/, 'once');
  const empty = open(path.join(home.dir, 'empty'), 0o755);
  assert.equal(write({ ...env, TALARIA_HOME: empty }).code, 0);
  assert.equal(mode(empty), '700', 'an empty one');
  // Left as they are: somebody else may need them.
  const left = {
    shared: open(path.join(home.dir, 'shared'), 0o1777),
    full: open(path.join(home.dir, 'full'), 0o755, ['holiday.jpg']),
    user: open(path.join(home.dir, 'me'), 0o755),
  };
  for (const [name, dir] of Object.entries(left)) {
    const before = mode(dir);
    assert.equal(write({ ...env, TALARIA_HOME: dir, ...(name === 'user' ? { HOME: dir } : {}) }).code, 0, name);
    assert.equal(mode(dir), before, name);
  }
  const target = open(path.join(home.dir, 'target'), 0o755), link = path.join(home.dir, 'link');
  fs.symlinkSync(target, link);
  assert.equal(write({ ...env, TALARIA_HOME: link }).code, 0);
  assert.equal(mode(target), '755', 'behind a link');
  assert.match(run(['doctor'], { env: { ...env, TALARIA_HOME: link } }).stdout, /can be reached by others \(mode 0755\)/);
});

test('gateway.sock is for its owner alone', async (t) => {
  const home = tmpHome(), g = await gateway(home.env);
  t.after(() => g.end('SIGKILL'));
  assert.equal(mode(path.join(home.data, 'gateway.sock')), '600');
  assert.equal((await g.end()).code, 0);
});

const steering = '\u001b]0;PWNED\u0007\u001b[2J\u009b31m\u202eab\u2066\u200f';
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

test('ids, names and arguments from outside do not steer the terminal through standard error', () => {
  const home = tmpHome(), file = path.join(home.dir, 'esc.jsonl');
  fs.writeFileSync(file, `${JSON.stringify({ id: `x${steering}`, source: 'cli', messages: 'none' })}\n${JSON.stringify({ id: 7, [steering]: 1 })}\n`);
  for (const args of [['sessions', 'import', file], ['sessions', 'show', steering.slice(1)], [steering.slice(1)], ['templates', 'show', steering.slice(1)],
    ['ask', 'x', '--runtime', steering.slice(1)], ['sessions', 'show', `--${steering.slice(1)}`]])
    for (const json of [[], ['--json']]) {
      const r = run([...args, ...json], { env: home.env });
      assert.ok(r.stderr.length > 0, args[0]);
      assert.doesNotMatch(r.stderr, raw, `${args[0]} ${args[1]} ${json}: ${JSON.stringify(r.stderr)}`);
    }
});

test('JSON output has controls and direction marks as numbers, and means the same', () => {
  const home = tmpHome(), title = `Title${steering}`;
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 1, messages: 2 });
  const db = new DatabaseSync(path.join(home.hermes, 'state.db'));
  db.prepare('update sessions set title = ?').run(title);
  db.prepare("update messages set content = ? where role = 'user'").run(`hello${steering}`);
  const { id } = db.prepare('select id from sessions').get();
  db.close();
  for (const args of [['sessions', 'list', '--json'], ['sessions', 'show', id, '--json']]) {
    const r = run(args, { env: home.env });
    assert.equal(r.code, 0, r.stderr);
    assert.doesNotMatch(r.stdout, raw, args[1]);
    assert.ok(r.stdout.includes('\\u202e') && r.stdout.includes('\\u009b'), args[1]);
  }
  assert.equal(JSON.parse(run(['sessions', 'list', '--json'], { env: home.env }).stdout).sessions[0].title, title);
});
