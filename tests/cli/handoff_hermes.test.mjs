// A session of ours goes to a Hermes gateway as a copy, and comes back with what was said there.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fakeModel } from '../http/fake_model.mjs';
import { query, until } from './handoffs.mjs';
import { bin, fillHome, fixtures, python, pythonPeer, tmpHome } from './helpers.mjs';
import { hermesGateway, hermesHome, searchIsSound } from './hermes_gateway.mjs';

/** Beside the model and the gateway, which this process serves. */
const run = (args, { env, signal }) => new Promise((done) => {
  const child = execFile(bin, args, { env, timeout: 100_000, encoding: 'utf8' },
    (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
  if (signal) signal(child);
});
const runWith = (args, { env, input }) => run(args, { env, signal: (child) => child.stdin.end(input) });
const runJson = async (args, options) => {
  const r = await run([...args, '--json'], options);
  assert.equal(r.code, 0, r.stderr);
  return JSON.parse(r.stdout);
};

const model = (t, seen = []) => fakeModel(t, (q) => {
  seen.push(q);
  const last = q.messages.at(-1);
  if (last.text === 'look it up') return { calls: [{ name: 'session_search', arguments: { query: 'login' } }] };
  return { text: last.role === 'tool' ? 'looked up' : `answer to ${last.text.slice(0, 12)}` };
});

/** Two turns with a tool in between. */
async function talk(env) {
  const ask = async (text, ...more) => {
    const r = await run(['ask', text, '--json', ...more], { env });
    assert.equal(r.code, 0, r.stderr);
    return JSON.parse(r.stdout.split('\n')[0]);
  };
  const first = await ask('look it up');
  const id = first.conversation_id ?? first.data?.conversation_id;
  await ask('and again', '--conversation', id);
  return id;
}

async function world(t, { journal, mode } = {}) {
  const home = tmpHome(), seen = [];
  const file = hermesHome(home, { journal });
  const fake = await model(t, seen);
  const env = { ...home.env, ...fake.env };
  const gateway = mode && await hermesGateway(home, mode);
  if (gateway) t.after(() => gateway.end());
  const id = await talk(env);
  return { home, file, env, seen, gateway, id, ours: path.join(home.data, 'talaria.db') };
}

const counts = (file) => query(file, 'select (select count(*) from sessions), (select count(*) from messages)')[0];
const rows = (file, id) => query(file, `select role, content, tool_call_id, tool_calls, tool_name, finish_reason, active, compacted from messages where session_id = '${id}' order by id`);
const talkIsHere = async (w) => {
  const r = await run(['ask', 'mine', '--conversation', w.id], { env: w.env });
  assert.equal(r.code, 0, r.stderr);
};

for (const journal of ['wal', 'delete'])
  test(`there and back, journal ${journal}: the transcript row by row, one writer, and all that was said`, { timeout: 110_000 }, async (t) => {
    const w = await world(t, { journal, mode: 'complete' });
    const before = counts(w.file);
    // What the model would be sent now.
    query(w.file, `insert into sessions(id, source, started_at, title) values('taken', 'cli', 1, 'look it up')`);
    const r = await run(['handoff', 'telegram', '--session', w.id], { env: w.env });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.stdout, 'Continue in the telegram chat\n');
    assert.match(r.stderr, /queued: [^]*done: continued in the telegram chat/);
    const { handoffs: [h] } = await runJson(['handoff', 'status'], { env: w.env });
    assert.equal(h.state, 'done');
    assert.match(h.copy, /^\d{8}_\d{6}_[0-9a-f]{6}$/);
    const copied = rows(w.file, h.copy);
    const [, call] = copied;
    const calls = JSON.parse(call[3]);
    assert.deepEqual(calls.map((c) => [c.type, c.function.name, JSON.parse(c.function.arguments)]), [['function', 'session_search', { query: 'login' }]]);
    assert.deepEqual(copied.map((m) => [m[0], m[2], m[4], m[5], m[6], m[7]]), [
      ['user', null, null, null, 1, 0],
      ['assistant', null, null, 'tool_calls', 1, 0],
      ['tool', calls[0].id, 'session_search', null, 1, 0],
      ['assistant', null, null, 'stop', 1, 0],
      ['user', null, null, null, 1, 0],
      ['assistant', null, null, 'stop', 1, 0],
      ['user', null, null, null, 1, 0],
      ['assistant', null, null, null, 1, 0],
    ]);
    assert.deepEqual(copied.filter((m) => m[0] !== 'tool' && m[1]).map((m) => m[1]), ['look it up', 'looked up', 'and again', 'answer to and again',
      '[Session was just handed off from CLI to telegram. The title is look it up #2.]', 'I am here.']);
    assert.deepEqual(query(w.file, `select source, title, message_count, tool_call_count, handoff_state, ended_at, input_tokens from sessions where id = '${h.copy}'`),
      [['telegram', 'look it up #2', 8, 1, 'completed', null, 0]]);
    const times = query(w.file, `select timestamp from messages where session_id = '${h.copy}' order by id`).flat();
    assert.deepEqual(times, [...times].sort((a, b) => a - b));
    assert.equal(searchIsSound(w.file), 'ok');
    assert.deepEqual(counts(w.file), [before[0] + 2, before[1] + 8]);

    // Nobody here may write it, and it counts once.
    for (const args of [['ask', 'mine', '--conversation', w.id], ['handoff', 'local', '--session', w.id], ['handoff', 'telegram', '--session', w.id]]) {
      const refused = await run(args, { env: w.env });
      assert.notEqual(refused.code, 0, args.join(' '));
      assert.match(refused.stderr, /handoff back --session|no gateway is running/, args.join(' '));
    }
    const listed = async () => (await runJson(['sessions', 'list', '--limit', '0'], { env: w.env })).sessions.map((s) => s.id).filter((x) => x === w.id || x === h.copy);
    assert.deepEqual(await listed(), [h.copy]);

    w.gateway.say('one more thing');
    assert.equal(await w.gateway.next(), `running ${h.copy}`);
    assert.equal(await w.gateway.next(), `completed ${h.copy}`);
    assert.equal(await w.gateway.next(), 'answered');
    assert.deepEqual(await runJson(['handoff', 'back', '--session', w.id], { env: w.env }), { format: 1, session_id: w.id, from: 'telegram' });
    assert.deepEqual(await listed(), [w.id]);
    assert.deepEqual(query(w.ours, `select m.role, m.content from conversation_message x join messages m on m.id = x.message_id where x.conversation_id = '${w.id}' order by seq`).map((x) => x.join(': ')), [
      'user: look it up', 'assistant: looked up', 'user: and again', 'assistant: answer to and again',
      'assistant: I am here.',
      'user: one more thing', 'assistant: you said one more thing']);
    // The chat leads nowhere, and the model here is sent all of it, tools and all.
    w.gateway.say('still there?');
    assert.equal(await w.gateway.next(), 'new session');
    await talkIsHere(w);
    const sent = w.seen.at(-1);
    assert.deepEqual(sent.messages.filter((m) => m.role !== 'system').map((m) => m.text).filter(Boolean).slice(-5), [
      'answer to and again', 'I am here.', 'one more thing', 'you said one more thing', 'mine']);
    assert.ok(sent.messages.some((m) => m.calls.includes('session_search')));
    assert.equal(sent.results.length, 1);
    assert.equal((await run(['handoff', 'back', '--session', w.id], { env: w.env })).code, 4, 'it is here already');

    // And once more: a second copy, from all that there is by now.
    const again = await runJson(['handoff', 'telegram', '--session', w.id], { env: w.env });
    assert.notEqual(again.copy, h.copy);
    assert.equal(rows(w.file, again.copy).length, 11 + 2);
    assert.equal(query(w.file, 'pragma journal_mode')[0][0], journal);
  });

test('/handoff inside of a chat, and /back in the next one', { timeout: 110_000 }, async (t) => {
  const home = tmpHome(), { env } = home;
  const file = hermesHome(home), gateway = await hermesGateway(home);
  t.after(() => gateway.end());
  const chat = (input) => runWith(['chat'], { env, input });
  const went = await chat('hello there\n/handoff telegram\nnot for me\n');
  assert.equal(went.code, 0, went.stderr);
  assert.match(went.stdout + went.stderr, /queued: this conversation to telegram[^]*done: continued in the telegram chat/);
  const [[copy]] = query(file, "select id from sessions where handoff_state = 'completed'");
  assert.deepEqual(rows(file, copy).slice(0, 2).map((m) => m[0]), ['user', 'assistant']);
  assert.equal(rows(file, copy).length, 4, 'what was typed after it was for nobody');
  const id = /--session (c\w+)/.exec(went.stdout + went.stderr)[1];
  const back = await chat(`/back ${id}\nand now?\n`);
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stdout + back.stderr, /back from telegram/);
  assert.deepEqual(query(path.join(home.data, 'talaria.db'), `select m.role from conversation_message x join messages m on m.id = x.message_id where x.conversation_id = '${id}' order by seq`).flat(),
    ['user', 'assistant', 'assistant', 'user', 'assistant']);
});

test('Hermes compresses it meanwhile: nothing is lost, nothing comes twice', { timeout: 110_000 }, async (t) => {
  const w = await world(t, { mode: 'complete' });
  const { copy } = await runJson(['handoff', 'telegram', '--session', w.id], { env: w.env });
  w.gateway.say('before it');
  for (const said of ['running', 'completed', 'answered']) assert.match(await w.gateway.next(), new RegExp(`^${said}`));
  python(`
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=20)
now = time.time()
db.execute("update sessions set ended_at = ?, end_reason = 'compression' where id = ?", (now, sys.argv[2]))
db.execute("insert into sessions(id, source, started_at, parent_session_id, session_key) values('next', 'telegram', ?, ?, 'k')", (now + 0.001, sys.argv[2]))
for i, (role, text) in enumerate([('user', 'In short: a login was looked up.'), ('user', 'before it'), ('assistant', 'you said before it'), ('user', 'after it'), ('assistant', 'you said after it')]):
    db.execute('insert into messages(session_id, role, content, timestamp) values(?, ?, ?, ?)', ('next', role, text, now + 0.01 * (i + 1)))
db.commit()`, w.file, copy);
  assert.equal((await run(['handoff', 'back', '--session', w.id], { env: w.env })).code, 0);
  const turns = query(w.ours, `select m.content from conversation_message x join messages m on m.id = x.message_id where x.conversation_id = '${w.id}' order by seq`).flat();
  assert.deepEqual(turns.slice(-6), ['I am here.', 'before it', 'you said before it', 'In short: a login was looked up.', 'after it', 'you said after it']);
  assert.deepEqual(query(w.file, `select end_reason, archived from sessions where id in ('next', '${copy}') order by id`), [['compression', 1], ['session_switch', 1]]);
  await talkIsHere(w);
  assert.deepEqual(w.seen.at(-1).messages.filter((m) => m.role !== 'system').map((m) => m.text),
    ['In short: a login was looked up.', 'before it', 'you said before it', 'after it', 'you said after it', 'mine']);
});

test('a session that was only kept here, tools and all', { timeout: 110_000 }, async (t) => {
  const home = tmpHome(), { env } = home;
  const file = hermesHome(home), gateway = await hermesGateway(home), ours = path.join(home.data, 'talaria.db');
  t.after(() => gateway.end());
  assert.equal((await fillHome(env)).code, 0);
  const [[id]] = query(ours, "select session_id from messages where tool_calls is not null group by 1 order by count(*) desc limit 1");
  const { copy } = await runJson(['handoff', 'telegram', '--session', id], { env });
  const made = rows(file, copy).slice(0, -2), calls = made.flatMap((m) => JSON.parse(m[3] ?? '[]'));
  assert.ok(calls.length > 0);
  assert.deepEqual(made.filter((m) => m[0] === 'tool').map((m) => m[2]).sort(), calls.map((c) => c.id).sort(), 'every call has its result');
  const before = query(ours, `select count(*) from messages where session_id = '${id}'`)[0][0];
  assert.equal((await run(['handoff', 'back', '--session', id], { env })).code, 0);
  assert.equal(query(ours, `select count(*) from messages where session_id = '${id}'`)[0][0], before + 1);
  assert.equal((await run(['ask', 'and?', '--conversation', id], { env })).code, 0);
});

test('a gateway that fails: nothing is left there, and the session goes on here', { timeout: 110_000 }, async (t) => {
  const w = await world(t, { mode: 'fail' });
  const before = counts(w.file);
  const r = await run(['handoff', 'telegram', '--session', w.id], { env: w.env });
  assert.equal(r.code, 5);
  assert.match(r.stderr, /the handoff failed: platform telegram is not active; the session stays here/);
  assert.deepEqual(counts(w.file), before);
  assert.equal(searchIsSound(w.file), 'ok');
  await talkIsHere(w);
});

test('a gateway that fails after its chat was bound: the words say where the session is', { timeout: 110_000 }, async (t) => {
  const w = await world(t, { mode: 'late' });
  const r = await run(['handoff', 'telegram', '--session', w.id], { env: w.env });
  assert.equal(r.code, 5);
  assert.match(r.stderr, /adapter.send failed: boom; the session stays here, and Hermes' telegram chat continues a copy/);
  await talkIsHere(w);
  // A session of Hermes' own is there by now.
  query(w.file, "insert into sessions(id, source, started_at, title) values('theirs', 'cli', 1, 'mine alone')");
  const late = await run(['handoff', 'telegram', '--session', 'theirs'], { env: w.env });
  assert.equal(late.code, 5, late.stderr);
  assert.match(late.stderr, /boom; but the telegram chat continues the session already; 'talaria handoff back --session theirs'/);
  assert.equal((await run(['handoff', 'back', '--session', 'theirs'], { env: w.env })).code, 0);
  assert.deepEqual(query(w.file, "select source, session_key from sessions where id = 'theirs'"), [['cli', null]]);
});

test('nobody takes it: cancelled by Ctrl-C, by another terminal, by back; nothing is left', { timeout: 100_000 }, async (t) => {
  const w = await world(t, { mode: 'idle' });
  const before = counts(w.file);
  const pending = () => query(w.file, "select count(*) from sessions where handoff_state = 'pending'")[0][0] === 1;
  for (const [how, code] of [['SIGINT', 130], [['handoff', 'cancel'], 130], [['handoff', 'back', '--session', w.id], 130]]) {
    let child;
    const waiting = run(['handoff', 'telegram', '--session', w.id], { env: w.env, signal: (c) => { child = c; } });
    await until('pending', pending);
    if (how === 'SIGINT') child.kill('SIGINT');
    else assert.equal((await run(how, { env: w.env })).code, 0);
    const r = await waiting;
    assert.equal(r.code, code, r.stderr);
    assert.match(r.stderr, /cancelled; the session stays here/);
    assert.deepEqual(counts(w.file), before);
    await talkIsHere(w);
  }
  const { id, copy } = await runJson(['handoff', 'telegram', '--session', w.id, '--detach'], { env: w.env });
  // Asked for again, it is the same one.
  assert.equal((await runJson(['handoff', 'telegram', '--session', w.id, '--detach'], { env: w.env })).id, id);
  assert.deepEqual(query(w.file, "select id from sessions where handoff_state = 'pending'"), [[copy]]);
  await w.gateway.end();
  const next = await hermesGateway(w.home, 'complete');
  t.after(() => next.end());
  await until('done', () => query(w.file, "select 1 from sessions where handoff_state = 'completed'").length);
  const { handoffs } = await runJson(['handoff', 'status'], { env: w.env });
  assert.deepEqual([handoffs[0].id, handoffs[0].state], [id, 'done']);
});

test('while a gateway is at it nobody can take it back', { timeout: 110_000 }, async (t) => {
  const w = await world(t, { mode: 'slow' });
  const { id } = await runJson(['handoff', 'telegram', '--session', w.id, '--detach'], { env: w.env });
  assert.match(await w.gateway.next(), /^running/);
  assert.equal((await runJson(['handoff', 'status'], { env: w.env })).handoffs[0].state, 'claimed');
  assert.equal((await run(['handoff', 'cancel', id], { env: w.env })).code, 4);
  const back = await run(['handoff', 'back', '--session', w.id], { env: w.env });
  assert.equal(back.code, 4);
  assert.match(back.stderr, /is receiving session .*; try again/);
  w.gateway.say('');
  assert.match(await w.gateway.next(), /^completed/);
  assert.equal((await run(['handoff', 'back', '--session', w.id], { env: w.env })).code, 0);
  await talkIsHere(w);
});

const refusals = {
  'a tokenizer that only Hermes has': [`create virtual table messages_fts_cjk using fts5(content, tokenize='unicode61');
    create trigger messages_fts_cjk_insert after insert on messages begin insert into messages_fts_cjk(rowid, content) values(new.id, new.content); end;
    pragma writable_schema = 1; update sqlite_master set sql = replace(sql, 'unicode61', 'cjk_unicode61') where name = 'messages_fts_cjk';`, 5, /no such tokenizer: cjk_unicode61/],
  'a trigger that says no, at the last message': [`create trigger no after insert on messages when new.content = 'answer to and again' begin select raise(abort, 'not yours'); end;`, 5, /not yours/],
  'a column that must be filled': [`alter table sessions rename to old; create table sessions as select * from old where 0; alter table sessions add column soul text not null default ''; drop table sessions;
    create table sessions(id text primary key, source text not null, started_at real not null, title text, soul text not null);`, 5, /of a Hermes that we do not know \(sessions\.soul must be filled\)/],
  'no messages as we know them': ['alter table messages rename column tool_calls to calls;', 5, /messages\.tool_calls is missing/],
};
for (const [what, [sql, code, text]] of Object.entries(refusals))
  test(`refused by ${what}: nothing is written, and the session goes on here`, { timeout: 110_000 }, async (t) => {
    const w = await world(t, { mode: 'idle' });
    python(`import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript('drop trigger messages_fts_insert;' + sys.argv[2])`, w.file, sql);
    const before = counts(w.file);
    const r = await run(['handoff', 'telegram', '--session', w.id], { env: w.env });
    assert.equal(r.code, code, r.stderr);
    assert.match(r.stderr, text);
    assert.match(r.stderr, /nothing was written/);
    assert.deepEqual(counts(w.file), before);
    assert.equal((await runJson(['handoff', 'status'], { env: w.env })).handoffs[0].state, 'failed');
    await talkIsHere(w);
  });

test('a database that is locked: nothing is written, and the session goes on here', { timeout: 110_000 }, async (t) => {
  const w = await world(t, { mode: 'idle' });
  const before = counts(w.file);
  const holder = pythonPeer(`
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('begin immediate')
print('held')
sys.stdin.readline()`, w.file);
  t.after(() => holder.end());
  await holder.next();
  const locked = await run(['handoff', 'telegram', '--session', w.id], { env: w.env });
  assert.equal(locked.code, 4, locked.stderr);
  assert.match(locked.stderr, /locked by another process/);
  await holder.end();
  assert.deepEqual(counts(w.file), before);
  await talkIsHere(w);
});

for (const [how, journal, text] of [['full', 'wal', /no space left for/], ['full', 'delete', /no space left for/], ['readonly', 'delete', /cannot write .*: it is read-only/]])
  test(`a database that cannot be written, ${how}, journal ${journal}: the session goes on here`, { timeout: 110_000 }, async (t) => {
    const w = await world(t, { mode: 'idle', journal });
    const before = counts(w.file), library = path.join(w.home.dir, 'nodisk.so');
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'nodisk.c'), '-o', library, '-ldl']);
    const r = await run(['handoff', 'telegram', '--session', w.id], { env: { ...w.env, LD_PRELOAD: library, NODISK: '/.hermes/state.db', NODISK_HOW: how } });
    assert.equal(r.code, 1, r.stderr);
    assert.match(r.stderr, text);
    assert.deepEqual(counts(w.file), before);
    assert.equal((await runJson(['handoff', 'status'], { env: w.env })).handoffs[0].state, 'failed');
    await talkIsHere(w);
  });

test('who is not there, not set up, or cannot do it is said before anything is written', { timeout: 110_000 }, async (t) => {
  const w = await world(t);
  const before = counts(w.file);
  const refused = async (args, text) => {
    const r = await run(['handoff', ...args, '--session', w.id], { env: w.env });
    assert.equal(r.code, 5, r.stderr);
    assert.match(r.stderr, text);
  };
  await refused(['telegram'], /no gateway is running|no Hermes gateway is running/);
  const g = await hermesGateway(w.home, 'idle');
  t.after(() => g.end());
  await refused(['discord'], /set up for discord/);
  await refused(['telegram', '--to', '777'], /only deliver to its home channel/);
  await refused(['telegram', '--no-turn'], /lets its agent speak first/);
  fs.writeFileSync(path.join(w.home.hermes, '.env'), 'TELEGRAM_BOT_TOKEN=1:abc\n', { mode: 0o600 });
  await refused(['telegram'], /no home channel for telegram/);
  assert.deepEqual(counts(w.file), before);
  await talkIsHere(w);
});
