// The gateway's commands: status, sethome, pair, and `talaria up`, with the chat that needs no account.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { bin, endlessReads, makeStateDb, python, run, runJson, tmpHome } from './helpers.mjs';
import { seen } from './terminal.mjs';

const children = new Set();
after(() => children.forEach((c) => c.kill('SIGKILL')));

/** A program of ours that has said its first line; end() waits for it. */
async function start(args, env) {
  const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let said = '';
  child.stderr.on('data', (d) => { said += d; });
  const gone = new Promise((r) => child.once('exit', (code, signal) => { children.delete(child); r({ code, signal }); }));
  const line = await new Promise((ready, failed) => {
    child.stdout.once('data', (d) => ready(String(d)));
    gone.then(() => failed(new Error(said)));
  });
  return { pid: child.pid, line, said: () => said, gone, end: (signal = 'SIGTERM') => { child.kill(signal); return gone; } };
}

async function until(what, condition, ms = 20_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const got = await condition();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 25));
  }
  throw new Error(`not in time: ${what}`);
}

const query = (home, sql) => JSON.parse(python(`
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20)
rows = db.execute(sys.argv[2]).fetchall()
db.commit()
print(json.dumps(rows))`, path.join(home.data, 'talaria.db'), sql));

const status = (home) => runJson(['gateway', 'status'], { env: home.env });
const platform = (home, name) => status(home).platforms.find((p) => p.platform === name);
const childrenOf = (pid) => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

test('status says what is set up, what is served and where the home is', async (t) => {
  const home = tmpHome();
  let all = status(home);
  assert.equal(all.running, false);
  assert.deepEqual(all.platforms.map((p) => [p.platform, p.enabled, p.link]),
    [['local', true, null], ['telegram', false, null], ['discord', false, null], ['slack', false, null]]);
  assert.equal(all.platforms[0].home.chat_id, 'home');
  assert.match(run(['gateway', 'status'], { env: home.env }).stdout, /^local\tset up\t\t0\t0\t0\thome\t\ntelegram\tnot set up\t\t0\t0\t0\t\tno token; /);
  assert.match(await seen(t, ['gateway', 'status'], { env: home.env }), /No gateway is running\nlocal +set up, not connected\n +default chat: Home \(dm\)\ntelegram +not set up\n +no token; run 'talaria setup' or 'talaria config set platforms\.telegram\.token', or set TALARIA_TELEGRAM_TOKEN/);
  query(home, `insert into inbox(platform, id, update_json, state, reason, received_ms, updated_ms) values
    ('telegram', '1', '{}', 'new', null, ${Date.now() - 5000}, 0), ('telegram', '2', '{}', 'parked', 'x', 1, 1)`);
  const telegram = platform(home, 'telegram');
  assert.deepEqual([telegram.waiting, telegram.parked, telegram.dead, telegram.outgoing], [1, 1, 0, 0]);
  assert.ok(telegram.lag_ms >= 5000 && telegram.lag_ms < 60_000);
  assert.match(await seen(t, ['gateway', 'status'], { env: home.env }), /not set up; 1 queued, the oldest for \d+ s; given up: 0 to send, 1 to read\n/);
  query(home, 'delete from inbox');
  const gateway = await start(['gateway', 'run'], home.env);
  assert.match(gateway.line, /^serving local\n/);
  await until('it is connected', () => platform(home, 'local').link === 'connected');
  all = status(home);
  assert.equal(all.running, true);
  assert.equal(all.platforms[0].account, 'talaria');
  assert.match(await seen(t, ['gateway', 'status'], { env: home.env }), /A gateway is running\nlocal +connected as talaria, since /);
  // A gateway that nobody talks to leaves the disk alone.
  const before = query(home, 'select updated_ms from platform_state');
  await new Promise((r) => setTimeout(r, 2500));
  assert.deepEqual(query(home, 'select updated_ms from platform_state'), before);
  assert.deepEqual(await gateway.end(), { code: 0, signal: null });
  assert.equal(platform(home, 'local').link, null);
});

test('one gateway for a data folder, and a local chat that can be switched off', async () => {
  const home = tmpHome();
  const gateway = await start(['gateway', 'run'], home.env);
  const second = run(['gateway', 'run'], { env: home.env });
  assert.equal(second.code, 4);
  assert.match(second.stderr, /a gateway is already running/);
  await gateway.end();
  fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), 'platforms: {local: {enabled: false}}\n');
  const none = await start(['gateway', 'run'], home.env);
  assert.match(none.line, /^serving nothing\n/);
  await none.end();
});

test('secrets: not in config.yaml, not in files that others can read', () => {
  const home = tmpHome();
  const folder = path.join(home.user, '.config/talaria');
  const config = path.join(folder, 'config.yaml');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(config, 'platforms:\n  telegram:\n    token: "123:secret"\n');
  let r = run(['gateway', 'run'], { env: home.env });
  assert.equal(r.code, 1);
  assert.match(r.stderr, /line 3: a secret does not belong in this file.*platforms\.telegram\.token_file/);
  assert.doesNotMatch(r.stderr, /123:secret/);
  fs.writeFileSync(config, 'platforms: {telegram: {token_file: token}}\n');
  fs.writeFileSync(path.join(folder, 'token'), '123:secret\n', { mode: 0o644 });
  r = run(['gateway', 'run'], { env: home.env });
  assert.equal(r.code, 5);
  assert.match(r.stderr, /token' \(platforms\.telegram\.token_file\) can be read by others: it must have mode 0600, not 0644/);
  fs.chmodSync(path.join(folder, 'token'), 0o600);
  const telegram = platform(home, 'telegram');
  assert.equal(telegram.enabled, true);
});

test('sethome asks the platform what chat that is', () => {
  const home = tmpHome();
  const set = runJson(['gateway', 'sethome', 'local', 'home', '--owner', 'me'], { env: home.env });
  assert.deepEqual([set.chat_id, set.name, set.chat_type, set.owner_id], ['home', 'Home', 'dm', 'me']);
  assert.equal(platform(home, 'local').home.owner_id, 'me');
  const cases = [
    [['local', 'nowhere'], 3, /nowhere/],
    [['irc', 'x'], 3, /unknown platform 'irc'/],
    [['telegram', '1'], 5, /not set up: no token; run 'talaria setup' or 'talaria config set platforms\.telegram\.token', or set TALARIA_TELEGRAM_TOKEN/],
    [['discord', '1'], 5, /set TALARIA_DISCORD_TOKEN/],
    [['slack', '1'], 5, /set TALARIA_SLACK_TOKEN/],
    [['local'], 2, /./],
  ];
  for (const [args, code, said] of cases) {
    const r = run(['gateway', 'sethome', ...args], { env: home.env });
    if (args[0] === 'telegram' && r.code === 3) continue; // a build without it
    assert.equal(r.code, code, args.join(' '));
    assert.match(r.stderr, said);
  }
});

test('pair: strangers are listed and let in by their code', () => {
  const home = tmpHome();
  assert.match(run(['gateway', 'pair', 'list'], { env: home.env }).stdout, /No access requests/);
  const now = Date.now();
  query(home, `insert into person values('telegram', '7', 'Ada \x1b[31m', 'asked', 'ABCDEFGH', ${now}, ${now + 3_600_000}),
    ('telegram', '8', 'Late', 'asked', 'JKLMNPQR', ${now - 7_200_000}, ${now - 3_600_000})`);
  const listed = run(['gateway', 'pair', 'list'], { env: home.env }).stdout;
  assert.match(listed, /telegram +7 \(Ada .*\): asked for access .*, code ABCDEFGH/);
  assert.doesNotMatch(listed, /\x1b|Late/);
  assert.equal(run(['gateway', 'pair', 'approve', 'JKLMNPQR'], { env: home.env }).code, 3);
  const in_ = runJson(['gateway', 'pair', 'approve', 'abcd-efgh'], { env: home.env });
  assert.deepEqual([in_.platform, in_.user_id, in_.allowed], ['telegram', '7', true]);
  assert.equal(run(['gateway', 'pair', 'approve', 'ABCDEFGH'], { env: home.env }).code, 3);
  assert.deepEqual(runJson(['gateway', 'pair', 'list'], { env: home.env }).people.map((p) => p.user_id), ['7']);
});

/** What the local chat's page does: the words lie in the inbox, and the database has changed. */
const writeLocal = (home, id, text) => query(home, `insert into inbox(platform, id, update_json, state, received_ms, updated_ms)
  values('local', '${id}', '${JSON.stringify({ channel: 'home', user: 'you', text, id })}', 'new', ${Date.now()}, ${Date.now()})`);
const answers = (home) => query(home, "select text from local_message where author = 'talaria' order by id").map((r) => r[0]);

test('commands typed in the chat are answered, once, also by a gateway that starts later', async () => {
  const home = tmpHome();
  status(home); // makes the database
  writeLocal(home, 'before', '/help');
  let gateway = await start(['gateway', 'run'], home.env);
  const [help] = await until('an answer', () => { const a = answers(home); return a.length && a; });
  assert.match(help, /\/handoff - /);
  writeLocal(home, 'status', '/status');
  await until('another', () => answers(home).length === 2);
  assert.match(answers(home)[1], /No session here yet[^]*Platform: local as talaria/);
  writeLocal(home, 'where', '/handoff cli');
  await until('a refusal', () => answers(home).length === 3);
  assert.match(answers(home)[2], /no session here yet/);
  await gateway.end('SIGKILL');
  // As if it had died before it could note that they were answered.
  query(home, "update inbox set state = 'taken'");
  gateway = await start(['gateway', 'run'], home.env);
  await until('all is done', () => query(home, "select count(*) from inbox where state <> 'done'")[0][0] === 0);
  assert.match(gateway.said(), /3 updates are done again/);
  writeLocal(home, 'last', '/nonsense');
  await until('the last one', () => answers(home).some((a) => /Unknown command \/nonsense/.test(a)));
  assert.equal(answers(home).length, 4);
  // And words are answered by an agent, in a session of their own.
  writeLocal(home, 'words', 'hello');
  await until('an agent', () => answers(home).length === 5);
  writeLocal(home, 'which', '/status');
  await until('a session', () => answers(home).length === 6);
  assert.match(answers(home)[5], /^Session: hello\nId: [^]*\nState: idle/);
  const id = /Id: (\w+)/.exec(answers(home)[5])[1];
  // A new one begins; the old one is kept, and gone on with by its number. So is one that was taken to the terminal.
  let n = 6;
  const told = async (text) => {
    writeLocal(home, `told ${++n}`, text);
    await until(text, () => answers(home).length === n);
    return answers(home)[n - 1];
  };
  for (const leave of [() => told('/new'), async () => {
    assert.equal(run(['handoff', 'back', '--session', id], { env: home.env }).code, 0);
    n++; // the place is told
    await until('a note', () => answers(home).length === n);
  }]) {
    await leave();
    assert.match(await told('/status'), /No session here yet/);
    assert.match(await told('/sessions'), new RegExp(`^1\\. hello \\(${id}, `));
    assert.match(await told('/resume 1'), /Continuing 'hello'/);
    assert.match(await told('/status'), new RegExp(`Id: ${id}\n`));
  }
  await gateway.end();
});

test('a read that never ends does not keep a gateway that is told to end', { timeout: 120_000 }, async () => {
  const home = tmpHome(), reads = endlessReads(home);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 5, messages: 4 });
  reads.hang();
  const child = spawn(bin, ['gateway', 'run'], { env: { ...home.env, ...reads.env }, stdio: 'ignore' });
  children.add(child);
  const gone = new Promise((r) => child.once('exit', (code, signal) => { children.delete(child); r({ code, signal }); }));
  await reads.hung();
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 40_000);
  assert.deepEqual(await gone, { code: 0, signal: null });
  clearTimeout(timer);
});

test('a gateway that is told to end leaves what waits to the next one', async () => {
  const home = tmpHome();
  status(home);
  query(home, `with recursive k(i) as (select 1 union all select i + 1 from k where i < 5000) insert into inbox(platform, id, update_json, state,
    received_ms, updated_ms) select 'local', i, '{"channel":"home","user":"you","text":"/help"}', 'new', 1, 1 from k`);
  const gateway = await start(['gateway', 'run'], home.env);
  await until('it has begun', () => query(home, "select count(*) from inbox where state = 'done'")[0][0] > 0);
  const began = Date.now();
  assert.deepEqual(await gateway.end(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 10_000);
  const left = Object.fromEntries(query(home, 'select state, count(*) from inbox group by state'));
  assert.ok(left.new > 0);
  assert.equal(left.new + left.done, 5000);
});

test('up: page and gateway together, and both end', async () => {
  const home = tmpHome();
  const up = await start(['up', '--port', '0'], home.env);
  const url = up.line.trim();
  assert.equal((await fetch(url)).status, 200);
  await until('the gateway is up', () => status(home).running && platform(home, 'local').link === 'connected');
  const [gateway] = childrenOf(up.pid);
  // Nothing of the server's sockets is in the gateway's hands: the port is free as soon as the server is gone.
  const sockets = (pid) => new Set(fs.readdirSync(`/proc/${pid}/fd`).filter((f) => Number(f) > 2).map((f) => { try { return fs.readlinkSync(`/proc/${pid}/fd/${f}`); } catch { return ''; } }).filter((l) => l.startsWith('socket:')));
  const ours = sockets(up.pid);
  for (const s of sockets(gateway)) assert.ok(!ours.has(s), s);
  // A gateway that dies is started again; the page stays.
  process.kill(gateway, 'SIGKILL');
  const again = await until('another one', () => childrenOf(up.pid).find((p) => p !== gateway));
  assert.match(up.said(), /the gateway ended \(signal 9\); it is started again in 1 s/);
  assert.equal((await fetch(url)).status, 200);
  await until('it runs', () => status(home).running);
  assert.deepEqual(await up.end(), { code: 0, signal: null });
  assert.throws(() => process.kill(again, 0));
  assert.equal(status(home).running, false);
});

test('up beside a gateway that runs already; and a gateway does not outlive its page', async () => {
  const home = tmpHome();
  const gateway = await start(['gateway', 'run'], home.env);
  const up = await start(['up', '--port', '0'], home.env);
  await until('it says so', () => /the gateway that runs already/.test(up.said()));
  assert.equal((await fetch(up.line.trim())).status, 200);
  assert.deepEqual(await up.end('SIGINT'), { code: 0, signal: null });
  assert.equal(status(home).running, true);
  await gateway.end();
  const killed = await start(['up', '--port', '0'], home.env);
  await until('the gateway is up', () => status(home).running);
  await killed.end('SIGKILL');
  await until('the gateway is gone', () => !status(home).running);
});
