// talaria doctor on files that really are broken, locked, deleted or open to others. It says so, says what
// to do, and changes nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fillHome, makeStateDb, python, pythonPeer, run, tmpHome, tree } from './helpers.mjs';
import { seen } from './terminal.mjs';

function doctor(home, ...args) {
  const r = run(['doctor', '--json', ...args], home);
  const report = JSON.parse(r.stdout);
  return { code: r.code, ...report, of: (id, status) => report.checks.filter((c) => c.id === id && (!status || c.status === status)) };
}

/** A Hermes home that nothing can be said against. */
function hermes(options = {}) {
  const home = tmpHome();
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { extra: ['--fts', '--no-edge'], ...options });
  fs.chmodSync(file, 0o600);
  fs.chmodSync(home.hermes, 0o700);
  return { ...home, file };
}

test('a sound home: all is well, in words, as rows and as JSON', async (t) => {
  const home = hermes();
  const before = tree(home.hermes);
  const r = run(['doctor'], home);
  assert.equal(r.code, 0, r.stdout + r.stderr);
  const words = await seen(t, ['doctor'], home);
  assert.match(words, /All is well/);
  for (const line of r.stdout.slice(0, -1).split('\n')) assert.match(line, /^[a-z]+\t(ok|note)\t[^\t]*\t[^\t]+\t[^\t]*$/);
  assert.match(words, /SQLite \d+\.\d+\.\d+.*Vectorscan .*libmicrohttpd/);
  assert.match(words, /hermes: '.*state\.db', .*journal delete, schema 25/);
  const d = doctor(home);
  assert.equal(d.format, 1);
  assert.equal(d.problems, 0);
  assert.equal(d.warnings, 0);
  for (const c of d.checks) assert.deepEqual(Object.keys(c), ['id', 'status', 'subject', 'text', 'advice']);
  assert.equal(d.of('search', 'ok').length, 1);
  assert.deepEqual(tree(home.hermes), before);
  assert.ok(!fs.existsSync(home.data), 'doctor makes no folder of its own');
});

test('a damaged page is a problem of that table, and the exit code says so', () => {
  const home = hermes({ sessions: 200 });
  const page = Number(python(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1]); print(c.execute("select rootpage from sqlite_schema where name='messages'").fetchone()[0])`, home.file));
  const fd = fs.openSync(home.file, 'r+');
  fs.writeSync(fd, Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
  fs.closeSync(fd);
  const before = tree(home.hermes);
  const d = doctor(home);
  assert.equal(d.code, 1);
  assert.ok(d.problems >= 1);
  assert.match(d.of('integrity', 'problem').map((c) => c.text).join(), /messages: damaged/);
  assert.match(d.of('integrity', 'problem')[0].advice, /copy/);
  assert.deepEqual(tree(home.hermes), before);
});

test('a broken search index is found although every page is sound', () => {
  for (const damage of ['update messages_fts_data set block=zeroblob(length(block)) where id=10',
    'update messages_fts_data set block=zeroblob(length(block)) where id>10']) {
    const home = hermes();
    python(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()
assert c.execute('select count(*) from messages').fetchone()[0] > 0`, home.file, damage);
    const d = doctor(home);
    assert.equal(d.code, 1, damage);
    assert.equal(d.of('integrity', 'problem').length, 0, 'the pages are sound');
    assert.match(d.of('search', 'problem')[0].text, /messages_fts: damaged/);
    assert.match(d.of('search', 'problem')[0].advice, /rebuild/);
  }
});

test('a tokenizer that only Hermes has: nothing can be said, and nothing is called broken', () => {
  const home = hermes();
  python(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1]); c.execute('pragma writable_schema=1')
c.execute("update sqlite_schema set sql=replace(sql, 'content=''messages''', 'tokenize=''hermes_cjk'', content=''messages''') where name='messages_fts'")
c.commit()`, home.file);
  const d = doctor(home);
  assert.equal(d.code, 0, JSON.stringify(d.of('search')));
  assert.match(d.of('search', 'note')[0].text, /messages_fts: cannot be checked here: .*tokenizer/);
});

test('who has it open, who writes, and who works on a deleted log: names and numbers', async () => {
  const home = hermes({ journal: 'wal' });
  const peer = pythonPeer(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('begin immediate'); c.execute("update sessions set title='x' where 0"); print('ready')
sys.stdin.readline(); c.execute('commit'); print('free')
sys.stdin.readline()`, home.file);
  try {
    await peer.next();
    const busy = doctor(home);
    assert.equal(busy.code, 0);
    assert.match(busy.of('holders').map((c) => c.text).join('; '), new RegExp(`python3.* \\(pid ${peer.child.pid}\\) holds it locked for writing`));
    peer.say('');
    await peer.next();
    const open = doctor(home);
    assert.match(open.of('holders').map((c) => c.text).join('; '), new RegExp(`\\(pid ${peer.child.pid}\\) has it open`));
    assert.equal(open.of('deleted', 'ok').length, 1);
    fs.unlinkSync(home.file + '-wal');
    fs.unlinkSync(home.file + '-shm');
    const lost = doctor(home);
    assert.equal(lost.code, 1);
    assert.match(lost.of('deleted', 'problem')[0].text, new RegExp(`\\(pid ${peer.child.pid}\\) works on a deleted write-ahead log`));
  } finally {
    await peer.end();
  }
});

test('a locked database is a warning that names the holder', async () => {
  const home = hermes();
  const peer = pythonPeer(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('begin exclusive'); print('ready'); sys.stdin.readline()`, home.file);
  try {
    await peer.next();
    const d = doctor(home);
    assert.equal(d.code, 0);
    assert.match(d.of('homes', 'warning')[0].text, /locked by another process/);
    assert.match(d.of('holders', 'warning')[0].text, new RegExp(`\\(pid ${peer.child.pid}\\) holds it locked`));
  } finally {
    await peer.end();
  }
});

test('a write that was never finished', async () => {
  const home = hermes();
  const peer = pythonPeer(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('pragma cache_size=1'); c.execute('begin immediate')
c.execute("update messages set content=content||'x'"); print('ready'); sys.stdin.readline()`, home.file);
  await peer.next();
  await peer.end('SIGKILL');
  assert.ok(fs.statSync(home.file + '-journal').size > 0);
  const before = tree(home.hermes);
  const d = doctor(home);
  assert.match(d.of('journals', 'warning')[0].text, /left unfinished/);
  assert.match(d.of('journals', 'warning')[0].advice, /never delete/);
  assert.deepEqual(tree(home.hermes), before, 'the journal is not played back by us');
});

test('files that others can read', () => {
  const home = hermes();
  fs.chmodSync(home.file, 0o644);
  assert.equal(doctor(home).of('permissions', 'warning').length, 0, 'a closed folder closes what is in it');
  fs.chmodSync(home.hermes, 0o755);
  fillHome(home.env, '2026-11-15');
  fs.chmodSync(path.join(home.data, 'talaria.db'), 0o644);
  fs.chmodSync(home.data, 0o755);
  const d = doctor(home);
  assert.equal(d.code, 0);
  const said = d.of('permissions', 'warning').filter((c) => !/-(wal|shm)$/.test(c.subject)).map((c) => `${path.basename(c.subject)} ${c.text} ${c.advice}`).sort();
  assert.equal(said.length, 3);
  assert.match(said[0], /^data can be reached by others \(mode 0755\) chmod 700/);
  assert.match(said[1], /^state.db can be read by others \(mode 0644\) chmod 600/);
  assert.match(said[2], /^talaria.db can be reached by others \(mode 0644\) chmod 600/);
});

test('columns: an older shape is a note, a needed one that is missing a problem, a newer schema a note', () => {
  const sql = (home, text) => python('import sqlite3,sys\nc=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()', home.file, text);
  const older = hermes();
  sql(older, 'alter table messages drop column reasoning');
  assert.match(doctor(older).of('schema', 'note')[0].text, /older shape.*without messages\.reasoning/);
  const newer = hermes();
  sql(newer, 'update schema_version set version=99');
  assert.match(doctor(newer).of('schema', 'note')[0].text, /schema 99 is newer/);
  const wrong = hermes();
  sql(wrong, 'alter table messages rename column role to speaker');
  const d = doctor(wrong);
  assert.equal(d.code, 1);
  assert.match(d.of('schema', 'problem')[0].text, /messages\.role/);
});

test('wrong settings, a wrong zone, a short token: doctor runs and says so', () => {
  const home = hermes();
  const config = path.join(home.user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(config), { recursive: true });
  fs.writeFileSync(config, 'sesions.limit: 3\n');
  fs.mkdirSync(home.data, { mode: 0o700 });
  fs.writeFileSync(path.join(home.data, 'server-token'), 'short\n', { mode: 0o600 });
  assert.equal(run(['status'], home).code === 0, false, 'another command refuses');
  const d = doctor({ env: { ...home.env, TZ: 'Mars/Phobos' } });
  assert.equal(d.code, 1);
  assert.match(d.of('config', 'problem')[0].text, /sesions/);
  assert.match(d.of('clock', 'warning')[0].text, /Mars\/Phobos/);
  assert.match(d.of('token', 'problem')[0].text, /too short/);
});

test('ours is checked whole: a damaged index may be deleted, a damaged talaria.db may not', () => {
  const home = tmpHome();
  fillHome(home.env, '2026-11-15');
  run(['templates', 'study'], home);
  assert.ok(fs.existsSync(path.join(home.data, 'index.db')));
  fs.writeFileSync(path.join(home.data, 'index.db'), 'x'.repeat(8192), { mode: 0o600 });
  for (const end of ['-wal', '-shm']) fs.rmSync(path.join(home.data, 'index.db' + end), { force: true });
  const d = doctor(home);
  assert.equal(d.code, 1);
  assert.match(d.of('homes', 'problem')[0].subject, /index\.db/);
  assert.match(d.of('integrity', 'ok')[0].text, /every page is sound/);
});

test('only SQLite opens the files of others, read-only', () => {
  const home = hermes({ journal: 'wal' });
  const log = path.join(home.dir, 'strace');
  const r = spawnSync('strace', ['-f', '-qq', '-o', log, '-e', 'trace=open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,truncate,ftruncate', bin, 'doctor'], { env: home.env, encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
  const lines = fs.readFileSync(log, 'utf8').split('\n').filter((l) => l.includes('state.db'));
  const opens = lines.filter((l) => /open/.test(l) && l.includes('/state.db"'));
  assert.equal(opens.length, 2, 'one handle that counts, one that checks');
  for (const l of opens) assert.match(l, /O_RDONLY/);
  for (const end of ['-wal', '-shm']) assert.ok(lines.filter((l) => /open/.test(l) && l.includes(`/state.db${end}"`)).length <= 2, end);
  assert.deepEqual(lines.filter((l) => /unlink|rename|truncate\(/.test(l)), []);
});

test('a table too large for a short read is not checked, and --full checks it', () => {
  const home = hermes({ sessions: 60 });
  python(`
import sqlite3,sys
c=sqlite3.connect(sys.argv[1]); c.execute("create table large(a, b)")
c.executemany('insert into large values(?,?)', ((i, b'x'*64) for i in range(1500000))); c.execute('create index l on large(a)'); c.commit()`, home.file);
  const d = doctor(home);
  assert.match(d.of('integrity', 'note').map((c) => c.text).join(), /large: not checked \(too large\)/);
  assert.match(d.of('integrity', 'note')[0].advice, /--full/);
  const full = doctor(home, '--full');
  assert.equal(full.of('integrity', 'note').length, 0);
  assert.equal(full.of('integrity', 'ok').length, 1);
});
