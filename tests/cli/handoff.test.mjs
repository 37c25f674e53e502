// Handoffs from the command line: to the local chat and back, with gateways that come, go and have trouble.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { gateway, idleGateway, query, until } from './handoffs.mjs';
import { bin, fillHome, python, run, runJson, tmpHome } from './helpers.mjs';
import { seen } from './terminal.mjs';

/** A Hermes home with one session of two messages, as its terminal left it. */
function hermesHome(home, { journal = 'wal' } = {}) {
  const file = path.join(home.hermes, 'state.db');
  fs.mkdirSync(home.hermes, { recursive: true });
  python(`
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1])
db.execute('pragma journal_mode=' + sys.argv[2])
db.executescript('''
create table sessions(id text primary key, source text not null, user_id text, session_key text, chat_id text, chat_type text,
  thread_id text, display_name text, origin_json text, model text, parent_session_id text, started_at real not null,
  ended_at real, end_reason text, message_count integer default 0, title text, cwd text, git_branch text);
create table messages(id integer primary key autoincrement, session_id text not null, role text not null, content text,
  timestamp real not null, active integer not null default 1);
create table gateway_routing(scope text not null default '', session_key text, entry_json text, updated_at real,
  primary key(scope, session_key));
''')
now = time.time()
db.execute("insert into sessions(id, source, started_at, title, cwd, git_branch, model, message_count) values('20261101_101010_abcdef', 'cli', ?, 'Fix the login test', '/work/shop', 'main', 'm1', 2)", (now,))
db.execute("insert into messages(session_id, role, content, timestamp) values('20261101_101010_abcdef', 'user', 'why does it fail? my key is sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD', ?)", (now,))
db.execute("insert into messages(session_id, role, content, timestamp) values('20261101_101010_abcdef', 'assistant', 'The clock is wrong.', ?)", (now + 1,))
db.commit()`, file, journal);
  return file;
}

test('a session goes to the local chat and comes back', async () => {
  const home = tmpHome(), { env } = home;
  const ours = path.join(home.data, 'talaria.db');
  assert.equal(fillHome(env).code, 0);
  const none = run(['handoff', 'local'], { env });
  assert.equal(none.code, 5);
  assert.match(none.stderr, /no gateway is running/);
  const g = await gateway(env);
  try {
    const r = run(['handoff', 'local'], { env });
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stderr, /queued: .*\n.*picked up.*\n.*done: continued in the local chat/);
    const { gateway: running, handoffs: [h] } = runJson(['handoff', 'status'], { env });
    assert.equal(running, true);
    assert.equal(h.state, 'done');
    assert.equal(r.stdout, "Continue in the local chat on the page: 'talaria up --open'\n");
    const again = run(['handoff', 'local', '--session', h.session_id], { env });
    assert.equal(again.code, 4, 'a second topic is not opened in silence');
    assert.match(again.stderr, /is already in the local chat; continue it there, or 'talaria handoff back --session/);
    const [[source, key, state]] = query(ours, `select source, session_key, handoff_state from sessions where id = '${h.session_id}'`);
    assert.deepEqual([source, key, state], ['local', h.key, 'completed']);
    assert.equal(query(ours, 'select count(*) from local_message')[0][0], 1);
    // Another gateway on the same folder is refused.
    const second = run(['gateway', 'run'], { env });
    assert.equal(second.code, 4);
    const back = runJson(['handoff', 'back', '--session', h.session_id], { env });
    assert.deepEqual(back, { format: 1, session_id: h.session_id, from: 'local' });
    assert.deepEqual(query(ours, `select source, session_key from sessions where id = '${h.session_id}'`), [['cli', null]]);
    assert.equal(query(ours, 'select count(*) from gateway_routing')[0][0], 0);
    assert.equal(run(['handoff', 'back', '--session', h.session_id], { env }).code, 4);
  } finally {
    assert.deepEqual(await g.end(), { code: 0, signal: null });
  }
});

for (const journal of ['wal', 'delete'])
  test(`a session of a Hermes home, journal ${journal}: the card, and an exit that ends nothing`, async () => {
    const home = tmpHome(), { env } = home;
    const file = hermesHome(home, { journal });
    const columns = query(file, `select name from pragma_table_info('sessions')`);
    const g = await gateway(env);
    try {
      const r = runJson(['handoff', 'local', '--session', '20261101_101010_abcdef'], { env });
      assert.equal(r.state, 'done');
      // At once: an exit is looked for in the seconds after a handoff.
      query(file, "update sessions set ended_at = 1, end_reason = 'cli_close'");
      await until('open again', () => query(file, 'select ended_at from sessions')[0][0] === null);
      const [[text]] = query(path.join(home.data, 'talaria.db'), 'select text from local_message');
      for (const part of ['Fix the login test', '/work/shop', 'main', 'm1', 'why does it fail?', 'The clock is wrong.'])
        assert.ok(text.includes(part), text);
      assert.ok(!text.includes('sk-abcdef'), 'secrets stay at home');
      // No Hermes gateway serves local: its database learns of the place, not of the handoff.
      assert.deepEqual(query(file, `select name from pragma_table_info('sessions')`), columns);
      assert.deepEqual(query(file, 'select source, session_key from sessions'), [['local', r.key]]);
      assert.equal(JSON.parse(query(file, 'select entry_json from gateway_routing')[0][0]).session_id, '20261101_101010_abcdef');
      assert.equal(query(file, 'select count(*) from messages')[0][0], 2);
      assert.equal(query(file, 'pragma journal_mode')[0][0], journal);
    } finally {
      await g.end();
    }
  });

test('a request that a Hermes terminal writes is taken up, and only what is served', async () => {
  const home = tmpHome(), { env } = home;
  const file = hermesHome(home);
  query(file, 'alter table sessions add column handoff_state text');
  query(file, 'alter table sessions add column handoff_platform text');
  query(file, 'alter table sessions add column handoff_error text');
  query(file, "insert into sessions(id, source, started_at, handoff_state, handoff_platform) values('other', 'cli', 1, 'pending', 'telegram')");
  const g = await gateway(env);
  try {
    query(file, "update sessions set handoff_state = 'pending', handoff_platform = 'local' where id = '20261101_101010_abcdef'");
    await until('completed', () => query(file, "select handoff_state from sessions where id = '20261101_101010_abcdef'")[0][0] === 'completed');
    assert.equal(query(file, "select handoff_state from sessions where id = 'other'")[0][0], 'pending');
  } finally {
    await g.end();
  }
});

test('what waits is done by the next gateway; trouble on the way passes', async () => {
  const { env } = tmpHome();
  assert.equal(fillHome(env).code, 0);
  const { id } = runJson(['handoff', 'local', '--detach'], { env });
  assert.equal(run(['handoff', 'local', '--detach'], { env }).code, 4, 'one at a time');
  const g = await gateway(env, { TALARIA_LOCAL_FAULTS: 'thread=1,send=2' });
  try {
    const h = await until('done', () => runJson(['handoff', 'status'], { env }).handoffs.find((x) => x.id === id && x.state === 'done'), 20_000);
    assert.ok(h.attempt > 1);
    assert.ok(h.thread);
  } finally {
    await g.end();
  }
});

test('answers that are lost: one thread and one card; a fault that does not exist is said', async () => {
  const { env, data } = tmpHome();
  assert.equal(fillHome(env).code, 0);
  const g = await gateway(env, { TALARIA_LOCAL_FAULTS: 'thread.lost=1,send.lost=1,sned=1' });
  try {
    await until('a warning', () => /no fault 'sned'/.test(g.said()));
    const handed = runJson(['handoff', 'local'], { env });
    assert.ok(handed.attempt > 1);
    assert.deepEqual(query(path.join(data, 'talaria.db'), 'select count(*) from local_thread')[0], [1]);
    assert.deepEqual(query(path.join(data, 'talaria.db'), "select count(*) from local_message where text like 'Session handed over%'")[0], [1]);
  } finally {
    await g.end();
  }
});

test('cancelling, and platforms that are not there', () => {
  const home = tmpHome(), { env } = home;
  hermesHome(home);
  assert.equal(run(['handoff', 'cancel'], { env }).code, 3);
  const { id } = runJson(['handoff', 'local', '--detach'], { env });
  assert.equal(run(['handoff', 'cancel'], { env }).stdout, 'cancelled\n');
  assert.equal(run(['handoff', 'cancel', id], { env }).code, 4);
  assert.match(run(['handoff', 'status'], { env }).stdout, /cancelled before a gateway took it/);
  assert.equal(run(['handoff', 'nowhere'], { env }).code, 2);
  assert.equal(run(['handoff', 'local', '--session', 'nobody-at-all'], { env }).code, 3);
  // A Hermes gateway may take it: the request stands in its database.
  assert.equal(run(['handoff', 'telegram', '--detach'], { env }).code, 0);
  assert.deepEqual(query(path.join(home.hermes, 'state.db'), 'select handoff_state, handoff_platform from sessions'), [['pending', 'telegram']]);
});

test('status shows how far each one is; back finds the one that is away', async (t) => {
  const home = tmpHome(), { env } = home;
  hermesHome(home);
  assert.match(await seen(t, ['handoff', 'status'], { env }), /^No handoffs yet\n.*no gateway is running; 'talaria up' starts one\n/);
  assert.deepEqual(run(['handoff', 'status'], { env }), { code: 0, signal: null, stdout: '', stderr: '' });
  assert.equal(run(['handoff', 'back'], { env }).code, 3, 'nothing is away');
  const talk = run(['chat'], { env, input: 'hello there\n' });
  const id = /--resume (c\w+)/.exec(talk.stderr)[1];
  run(['handoff', 'local', '--detach', '--session', id, '--no-turn', '--to', 'nowhere'], { env });
  assert.match(run(['handoff', 'status'], { env }).stdout, new RegExp(`^\\w{26}\tqueued\t${id}\tlocal\tnowhere\t20.*Z\tclaim\t\n$`));
  assert.match(await seen(t, ['handoff', 'status'], { env }), new RegExp(`^\\w{26}  queued     ${id} -> local:nowhere\n    \\[claim\\]  requested .*, in progress for \\d+\\.\\d\\d s\n`));
  assert.equal(query(path.join(home.data, 'talaria.db'), 'select no_turn from handoff')[0][0], 1);
  const g = await gateway(env);
  try {
    await until('failed', () => runJson(['handoff', 'status'], { env }).handoffs[0].state === 'failed');
    assert.match(await seen(t, ['handoff', 'status'], { env }), /failed .*\n    claim > \[prepare\] .*took .*\n    prepare: .*nowhere/);
    assert.equal(run(['handoff', 'local', '--session', id], { env }).code, 0);
    assert.match(await seen(t, ['handoff', 'status'], { env }), /^\w{26}  done .*\n    claim > prepare > bind > announce > done  requested/);
    assert.equal(runJson(['handoff', 'status'], { env }).handoffs[1].target, 'nowhere');
    // The newest session is another one; the one that is away is meant.
    const later = run(['chat'], { env, input: 'something else\n' });
    assert.equal(later.code, 0, later.stderr);
    assert.deepEqual(runJson(['handoff', 'back'], { env }), { format: 1, session_id: id, from: 'local' });
    assert.match(await seen(t, ['handoff', 'status'], { env }), /^\w{26}  returned /, 'it is no longer there');
    assert.equal(run(['handoff', 'back'], { env }).code, 3);
  } finally {
    await g.end();
  }
});

for (const [signal, code, state] of [['SIGINT', 130, 'cancelled'], ['SIGTERM', null, 'queued']])
  test(`${signal} while 'talaria handoff' waits`, async () => {
    const home = tmpHome(), { env } = home;
    hermesHome(home);
    const idle = await idleGateway(home);
    try {
      const child = spawn(bin, ['handoff', 'local'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const gone = new Promise((r) => child.once('close', (c, s) => r([c, s])));
      let said = '';
      await new Promise((r) => child.stderr.on('data', (d) => { said += d; if (said.includes('queued')) r(); }));
      // Its handlers are there once it waits.
      await until('waiting', () => (parseInt(/SigCgt:\s*(\w+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1].slice(-4), 16) & 0x4002) === 0x4002);
      child.kill(signal);
      assert.deepEqual(await gone, [code, code === null ? signal : null], said);
      assert.match(said, code === null ? /stopped waiting/ : /cancelled; the session stays here/);
      assert.equal(runJson(['handoff', 'status'], { env }).handoffs[0].state, state);
    } finally {
      await idle.end();
    }
  });
