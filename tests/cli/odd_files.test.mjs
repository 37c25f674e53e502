// Files that are none, counts that cannot be, threads that cannot be had, disks that cannot be written: told in words, soon.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { bin, fixtures, makeStateDb, python, run, tmpHome } from './helpers.mjs';

function fifo(file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  execFileSync('mkfifo', [file]);
}

/** Ends by itself: what waits for a pipe is killed, and then has no code. */
const ends = (args, env) => {
  const r = run(args, { env, timeout: 20_000 });
  assert.equal(r.signal, null, `${args}: it waits`);
  return r;
};

test('a pipe where a file is expected is told, not waited for', () => {
  for (const [file, code, words, ...commands] of [
    ['.config/talaria/config.yaml', 1, /config\.yaml': it is not a regular file/, ['sessions', 'list'], ['status']],
    ['.hermes/config.yaml', 0, null, ['sessions', 'list'], ['gateway', 'status']],
    ['.hermes/state.db', null, /state\.db' is not a regular file, so it is no database/, ['sessions', 'list'], ['status'], ['achievements', 'scan']],
    ['.hermes/.env', 0, null, ['gateway', 'status']],
  ])
    for (const args of commands) {
      const home = tmpHome();
      fifo(path.join(home.user, file));
      const r = ends(args, home.env);
      if (code !== null) assert.equal(r.code, code, `${file} ${args}: ${r.stderr}`);
      if (words) assert.match(r.stderr + r.stdout, words, `${file} ${args}`);
    }
  // What somebody types may be a pipe of the shell.
  const home = tmpHome(), given = execFileSync('bash', ['-c', `"$0" ask hello --file <(printf words)`, bin], { env: home.env, encoding: 'utf8' });
  assert.match(given, /1 file is kept/);
});

test('absurd counts are shown, bounded, and add up', () => {
  const home = tmpHome(), file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 3, messages: 2 });
  const db = new DatabaseSync(file);
  db.exec(`update sessions set input_tokens = 9223372036854775807, output_tokens = 9223372036854775807, message_count = -9223372036854775807 - 1`);
  db.close();
  for (const args of [['sessions', 'list'], ['sessions', 'list', '--json'], ['status'], ['achievements', 'scan']]) {
    const r = run(args, { env: home.env });
    assert.equal(r.code, 0, r.stderr);
    assert.doesNotMatch(r.stdout, /\s-\d+(\.\d+)?[kMGT]?\s+\d*\s*-\d/, args.join(' '));
  }
  const { sessions } = JSON.parse(run(['sessions', 'list', '--json'], { env: home.env }).stdout);
  for (const s of sessions) assert.equal(s.input_tokens, 1e12, JSON.stringify(s));
});

test('no thread is to be had: a scan goes on without, nothing aborts', () => {
  const home = tmpHome(), library = path.join(home.dir, 'nothread.so');
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 60, messages: 4 });
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'nothread.c'), '-o', library, '-ldl']);
  const whole = run(['achievements', 'list', '--json'], { env: home.env });
  assert.equal(whole.code, 0, whole.stderr);
  for (let most = 0; most < 3; most++) {
    const other = tmpHome(), env = { ...other.env, HERMES_HOME: home.hermes, LD_PRELOAD: library, NOTHREAD: String(most) };
    const r = run(['achievements', 'list', '--json'], { env });
    assert.equal(r.signal, null, `${most}: ${r.stderr}`);
    assert.doesNotMatch(r.stderr, /bug:/);
    assert.equal(r.code, 0, r.stderr);
    for (const args of [['ask', 'hello'], ['serve', '--port', '0']]) {
      const told = run(args, { env, timeout: 20_000 });
      assert.equal(told.signal, null, `${args}, ${most}: ${told.stderr}`);
      assert.doesNotMatch(told.stderr, /bug:/);
    }
  }
});

test('a database with a write-ahead log where nothing can be written: what is the matter, and what to do', () => {
  const home = tmpHome(), file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 3, messages: 2, journal: 'wal' });
  python(`
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("update sessions set input_tokens = 7")
os.remove(sys.argv[1] + '-shm')
os._exit(0)`, file);
  const program = path.join(home.dir, 'talaria');
  fs.copyFileSync(bin, program);
  fs.mkdirSync(home.data, { mode: 0o777 });
  fs.chmodSync(home.data, 0o777);
  execFileSync('chmod', ['-R', 'a+rX,a-w', home.hermes]);
  for (const x of [home.dir, home.user]) fs.chmodSync(x, 0o755);
  fs.chmodSync(program, 0o555);
  try {
    // Root may write everywhere, whatever the mode says: so another user runs it.
    const as = process.getuid() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program] : [program];
    for (const args of [['sessions', 'list'], ['status'], ['doctor']]) {
      const r = spawnSync(as[0], [...as.slice(1), ...args], { env: home.env, encoding: 'utf8', timeout: 60_000 });
      assert.match(r.stdout + r.stderr, /cannot read '.*state\.db': changes wait in '.*state\.db-wal'.* copy both files to another folder/, args[0]);
      assert.doesNotMatch(r.stdout + r.stderr, /No such file|cannot write|do not write/, args[0]);
    }
  } finally {
    execFileSync('chmod', ['-R', 'u+w', home.hermes]);
  }
});
