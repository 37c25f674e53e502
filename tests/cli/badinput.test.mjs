// What nobody expects: each gets a clear error with the right exit code, and nothing changes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, fillHome, fixtures, makeStateDb, pythonPeer, run, tmpHome, tree } from './helpers.mjs';

const commands = [['status'], ['sessions', 'list'], ['sessions', 'show', '20260101_x'], ['templates', 'harvest'], ['templates', 'study'], ['templates', 'create', '20260101_x']];

function refuses(home, { env }, code, message, list = commands) {
  const before = tree(home.dir);
  for (const args of list) {
    const r = run([...args, '--home', home.hermes], { env, input: '[]' });
    assert.equal(r.code, code, `${args.join(' ')}: ${r.stderr}`);
    assert.match(r.stderr, message, args.join(' '));
  }
  const after = tree(home.dir);
  for (const name of Object.keys(before)) assert.equal(after[name], before[name], `${name} changed`);
  const added = Object.keys(after).filter((n) => !(n in before) && !/index\.db/.test(n) && !/state\.db-(shm|wal)$/.test(n));
  assert.deepEqual(added, []);
}

test('a missing home given by --home is an error, also where other histories exist', (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.data, 'state.db'));
  fs.renameSync(path.join(home.data, 'state.db'), path.join(home.data, 'talaria.db'));
  refuses(home, home, 3, /no home at '/, [...commands, ['templates', 'list']]);
});

test('a home without a database', (t) => {
  const home = tmpHome(t);
  fs.mkdirSync(home.hermes);
  refuses(home, home, 3, /no session database in '/, commands.slice(1));
  assert.equal(run(['status', '--home', home.hermes], home).code, 0);
});

test('not a database', (t) => {
  const home = tmpHome(t);
  fs.mkdirSync(home.hermes);
  fs.writeFileSync(path.join(home.hermes, 'state.db'), 'x'.repeat(8192));
  refuses(home, home, 1, /state\.db' is not a database/);
});

test('an empty file, and a database of something else', (t) => {
  const home = tmpHome(t);
  fs.mkdirSync(home.hermes);
  const file = path.join(home.hermes, 'state.db');
  fs.writeFileSync(file, '');
  refuses(home, home, 1, /holds no session history: table 'sessions'/);
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE recipes(id)');
  db.close();
  refuses(home, home, 1, /holds no session history: table 'sessions'/);
});

test('a folder in the place of the database', (t) => {
  const home = tmpHome(t);
  fs.mkdirSync(path.join(home.hermes, 'state.db'), { recursive: true });
  refuses(home, home, 1, /state\.db' is a folder, not a database/);
});

test('a damaged database', (t) => {
  const home = tmpHome(t);
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file);
  const size = fs.statSync(file).size;
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, Buffer.alloc(size - 8192, 0xff), 0, size - 8192, 4096);
  fs.closeSync(fd);
  refuses(home, home, 1, /state\.db' is damaged .*nothing was written to it/, [['sessions', 'list'], ['templates', 'study']]);
});

test('an unreadable database', (t) => {
  const home = tmpHome(t);
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file);
  fs.chmodSync(file, 0);
  if (process.getuid() !== 0) {
    refuses(home, home, 1, /cannot open '.*state\.db': Permission denied/);
    return;
  }
  // root reads everything: be nobody for the command.
  fs.chmodSync(home.dir, 0o755);
  for (const args of commands) {
    const r = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', bin, ...args, '--home', home.hermes], { env: home.env, encoding: 'utf8' });
    assert.equal(r.status, 1, r.stderr);
    assert.match(r.stderr, /cannot open '.*state\.db': Permission denied/);
  }
});

test('a locked database: conflict after about a second', async (t) => {
  const home = tmpHome(t);
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file);
  const peer = pythonPeer(`import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('begin exclusive'); print('held'); sys.stdin.readline()`, file);
  t.after(() => peer.end());
  assert.equal(await peer.next(), 'held');
  const began = Date.now();
  refuses(home, home, 4, /state\.db' is locked by another process; try again/, [['sessions', 'list'], ['templates', 'study']]);
  assert.ok(Date.now() - began < 10_000);
});

test('a write that its owner did not finish: told, not repaired', (t) => {
  const home = tmpHome(t);
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file);
  // A hot journal, as a crash leaves it: the copy taken in the middle of a large transaction.
  const r = spawnSync('python3', ['-c', `
import os, shutil, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('pragma cache_size=5'); c.execute('pragma cache_spill=1'); c.execute('begin')
c.execute("update messages set content = content || 'x'")
shutil.copy(sys.argv[1], sys.argv[1] + '.copy'); shutil.copy(sys.argv[1] + '-journal', sys.argv[1] + '.copy-journal')
os._exit(0)`, file], { encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
  fs.rmSync(file + '-journal', { force: true });
  fs.renameSync(file + '.copy', file);
  fs.renameSync(file + '.copy-journal', file + '-journal');
  refuses(home, home, 4, /left in the middle of a write; its owner has to open it once/, [['sessions', 'list']]);
});

// -- disks -------------------------------------------------------------------------------------

/** Runs a shell script in a mount namespace of its own with a small disk at $1. */
function onDisk(home, options, script) {
  const disk = path.join(home.dir, 'disk');
  fs.mkdirSync(disk);
  const r = spawnSync('unshare', ['-m', 'bash', '-ec', `mount -t tmpfs -o ${options} none "$1"\n${script}`, 'bash', disk], { env: { ...home.env, T: bin, FILL: path.join(fixtures, 'tools/fill_home.py'), TALARIA_HOME: path.join(disk, 'data') }, encoding: 'utf8' });
  return { code: r.status, stdout: r.stdout, stderr: r.stderr };
}
const root = process.getuid() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

test('a full disk: the demo is there whole or not at all', { skip: !root && 'needs root for a small disk' }, (t) => {
  const home = tmpHome(t);
  const r = onDisk(home, 'size=512k', `
    set +e; $T demo; code=$?; set -e
    echo "code $code"; $T sessions list --json; set +e; $T --demo sessions list; echo "demo $?"`);
  assert.match(r.stdout, /code 1/);
  assert.match(r.stdout, /demo 3/);
  assert.match(r.stderr, /no space left|No space left/i);
  assert.deepEqual(JSON.parse(r.stdout.slice(r.stdout.indexOf('{'), r.stdout.lastIndexOf('}') + 1)).sessions, []);
});

test('a full disk: a template is there whole or not at all', { skip: !root && 'needs root for a small disk' }, (t) => {
  const home = tmpHome(t);
  const r = onDisk(home, 'size=20m', `
    python3 "$FILL" "$TALARIA_HOME"
    id=$($T templates harvest --limit 1 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["created"][0]["session"])')
    cp -r "$TALARIA_HOME/session-templates" "$1/before"
    head -c 100m /dev/zero > "$1/filler" 2>/dev/null || true
    set +e; $T templates create "$id" --name another; code=$?; set -e
    echo "code $code"
    rm "$1/filler"; diff -r "$1/before" "$TALARIA_HOME/session-templates" && echo same`);
  assert.match(r.stdout, /code 1/, r.stderr);
  assert.match(r.stderr, /No space left on device/);
  assert.match(r.stdout, /same/, r.stdout);
});

test('a read-only disk: reading works, writing says why', { skip: !root && 'needs root for a small disk' }, (t) => {
  const home = tmpHome(t);
  const r = onDisk(home, 'size=40m', `
    python3 "$FILL" "$TALARIA_HOME"
    $T demo --quiet
    $T templates harvest --limit 1 --quiet >/dev/null
    mount -o remount,ro "$1"
    $T sessions list | head -2
    $T templates list
    set +e
    name=$($T templates list --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["templates"][0]["name"])')
    $T templates delete "$name"; echo "delete $?"
    $T demo --remove; echo "remove $?"
    echo '[]' | $T templates inject "$name" >/dev/null; echo "inject $?"
    $T templates list | head -1`);
  assert.match(r.stdout, /delete 1/, r.stderr);
  assert.match(r.stdout, /remove 1/, r.stderr);
  assert.match(r.stdout, /inject 1/, r.stderr);
  assert.match(r.stderr, /[Rr]ead-only/);
  assert.equal((r.stdout.match(/Found 1 templates:/g) ?? []).length, 2, r.stdout);
});

test('a template folder that is a file', (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'));
  fs.writeFileSync(path.join(home.hermes, 'session-templates'), 'mine');
  refuses(home, home, 4, /session-templates' is a file, not a folder/, [['templates', 'list'], ['templates', 'harvest'], ['templates', 'show', 'x'], ['templates', 'inject', 'x']]);
});

test('a damaged index costs a rebuild, never history', (t) => {
  const { env, data } = tmpHome(t);
  fs.mkdirSync(data, { recursive: true });
  fillHome(env);
  const first = run(['templates', 'study', '--json'], { env });
  assert.equal(first.code, 0, first.stderr);
  for (const bytes of ['garbage'.repeat(1000), '']) {
    fs.writeFileSync(path.join(data, 'index.db'), bytes);
    fs.rmSync(path.join(data, 'index.db-wal'), { force: true });
    const again = run(['templates', 'study', '--json'], { env });
    assert.equal(again.code, 0, again.stderr);
    assert.equal(again.stdout, first.stdout);
  }
  fs.rmSync(path.join(data, 'index.db'));
  assert.equal(run(['templates', 'study', '--json'], { env }).stdout, first.stdout);
});

test('downgrading: a database of a newer Talaria is refused in words and not touched; reading works; the index is rebuilt', (t) => {
  const { env, data } = tmpHome(t);
  fillHome(env);
  run(['index'], { env });
  const file = path.join(data, 'talaria.db'), index = path.join(data, 'index.db');
  const version = (name, to) => {
    const db = new DatabaseSync(name);
    if (to && name === file) db.exec("INSERT INTO made(maker, kind, name) VALUES ('demo', 'session', 'x')");
    if (to) db.exec(`PRAGMA user_version = ${to}; PRAGMA wal_checkpoint(TRUNCATE)`);
    const { user_version } = db.prepare('PRAGMA user_version').get();
    db.close();
    return user_version;
  };
  const known = version(index);
  version(file, 99);
  version(index, 99);
  const before = fs.readFileSync(file);
  const search = run(['sessions', 'search', 'hello'], { env });
  assert.equal(search.code, 0, search.stderr);
  assert.match(search.stderr, /rebuilding the index '.*index\.db': a newer Talaria wrote it/);
  assert.equal(version(index), known);
  const count = () => JSON.parse(run(['sessions', 'list', '--json', '--limit', '0'], { env }).stdout).sessions.length;
  for (const args of [['ask', 'hello'], ['gateway', 'run'], ['handoff', 'status'], ['demo', '--remove']]) {
    const r = run(args, { env });
    assert.equal(r.code, 4, `${args}: ${r.stdout}${r.stderr}`);
    assert.match(r.stderr, /talaria\.db' was written by a newer Talaria \(schema 99, this one knows \d+\); upgrade Talaria, or choose another data folder with --data/);
  }
  assert.deepEqual(fs.readFileSync(file), before);
  assert.ok(count() > 0, 'reading still works');
});

test('what somebody named does not steer the terminal, and a message is one line', () => {
  const home = tmpHome();
  for (const evil of ['\x1b[31mred', '\x1b]0;owned\x07', 'two\ntalaria: forged', 'back\rover', '\u009b31m', '\u202egnp', 'a\x7fb\x08']) {
    for (const args of [['sessions', 'show', evil], ['config', 'get', evil], ['handoff', 'local', evil], [evil]]) {
      const r = run(args, { env: home.env });
      assert.notEqual(r.code, 0);
      assert.doesNotMatch(r.stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/, JSON.stringify(args));
      assert.match(r.stderr, /^talaria: .*\n$/, JSON.stringify(r.stderr));
    }
  }
});
