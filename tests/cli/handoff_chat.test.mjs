// /handoff and /back as a person types them: a real pty, a real gateway, and conversations that stay whole.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { gateway, idleGateway, query, until } from './handoffs.mjs';
import { run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const limit = { timeout: 60_000 };

async function chat(t, home, args = [], env = {}) {
  const term = terminal(t, ['chat', ...args], { env: { ...home.env, ...env }, columns: 200 });
  await term.until('/help shows');
  return term;
}

async function say(term, text) {
  const before = term.screen.text().split('-- completed').length;
  term.type(`${text}\r`);
  await term.until((s) => s.split('-- completed').length > before);
}

const db = (home) => path.join(home.data, 'talaria.db');
const sessionOf = (home) => query(db(home), 'select id from sessions')[0][0];
const owners = (home) => query(db(home), 'select session_id, owner_surface from session_owner');
/** All that a session is, but for where it lives. */
const whole = (home, id) => ({
  row: query(db(home), `select title, started_at, ended_at, end_reason, message_count from sessions where id = '${id}'`),
  messages: query(db(home), `select role, content, active from messages where session_id = '${id}' order by id`),
});

async function served(t, home, more) {
  const g = await gateway(home.env, more);
  t.after(() => g.end('SIGKILL'));
  return g;
}

test('/handoff local: queued, picked up, done; the chat leaves, and the session is what it was', limit, async (t) => {
  const home = tmpHome();
  await served(t, home);
  const term = await chat(t, home);
  await say(term, 'hello there');
  const id = sessionOf(home), before = whole(home, id);
  term.type('/handoff local\r');
  assert.equal(await term.exited, 0);
  const text = term.screen.text();
  assert.match(text, /queued: this conversation to local[^\n]*\npicked up by the gateway\ndone: continued in the local chat\n/);
  assert.match(text, new RegExp(`to bring it back: talaria handoff back --session ${id}, then talaria chat --resume ${id}`));
  assert.equal(text.match(/--resume/g).length, 1, 'said once');
  assert.equal(term.screen.modes.size, 0, 'the terminal is as it was');
  assert.deepEqual(whole(home, id), before);
  assert.deepEqual(owners(home), [[id, 'local']]);
  assert.deepEqual(query(db(home), `select source, handoff_state from sessions where id = '${id}'`), [['local', 'completed']]);

  // Not gone on with by accident, and nothing is written by trying.
  for (const args of [['chat', '--resume', id], ['chat', '--resume'], ['chat', '-c', id], ['ask', '-c', id, 'more']]) {
    const r = run(args, { env: home.env, input: 'more\n' });
    assert.equal(r.code, 4, r.stderr);
    assert.match(r.stderr, new RegExp(`continues in the local chat; .*'?talaria handoff back --session ${id}`));
  }
  assert.deepEqual(whole(home, id), before);

  const back = run(['handoff', 'back'], { env: home.env });
  assert.equal(back.code, 0, back.stderr);
  assert.equal(back.stdout, `'hello there' returned from local; to continue: talaria chat --resume ${id}\n`);
  const again = await chat(t, home, ['--resume', id]);
  await again.until('> hello there');
  await say(again, 'and more');
  again.type('/quit\r');
  assert.equal(await again.exited, 0);
  assert.equal(whole(home, id).messages.length, 4);
  assert.deepEqual(owners(home), [[id, 'cli']]);
});

test('a conversation in which nothing was said yet can go as well', limit, async (t) => {
  const home = tmpHome();
  await served(t, home);
  const term = await chat(t, home);
  term.type('/handoff local --no-turn\r');
  assert.equal(await term.exited, 0, term.screen.text());
  assert.deepEqual(query(db(home), 'select target, no_turn, state from handoff'), [['home', 1, 'done']]);
  assert.deepEqual(owners(home), [[sessionOf(home), 'local']]);
});

test('what cannot go is refused in words, one thing after the other, and the chat goes on', limit, async (t) => {
  const home = tmpHome();
  const term = await chat(t, home);
  term.type('/handoff\r');
  await term.until('/handoff needs PLATFORM [CHAT]');
  term.type('/handoff nowhere\r');
  await term.until("unknown platform 'nowhere'; choose one of local, telegram, discord, slack");
  term.type('/handoff telegram\r');
  await term.until('telegram is not set up here');
  term.type('/handoff local\r');
  await term.until("no gateway is running: 'talaria up' starts one");
  term.type('/back\r');
  await term.until('/back needs an ID');
  await say(term, 'hello there');
  term.type('/back\r');
  await term.until('is already here');
  term.type('/handoff lo\t');
  await term.until('> /handoff local');
  term.type('\x15/quit\r');
  assert.equal(await term.exited, 0);
  assert.deepEqual(runJson(['handoff', 'status'], { env: home.env }).handoffs, []);
});

test('an agent in the middle of an answer is not handed over', limit, async (t) => {
  const home = tmpHome();
  let asked;
  const first = new Promise((r) => { asked = r; });
  const server = http.createServer((rq, rs) => rq.resume().on('end', () => {
    rs.writeHead(200, { 'content-type': 'text/event-stream' });
    rs.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'slowly' } }] })}\n\n`);
    asked(() => rs.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`));
  }));
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  const model = { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm' };
  await served(t, home);
  const term = await chat(t, home, [], model);
  term.type('go\r');
  const end = await first;
  await term.until('slowly');
  term.type('/handoff local\r');
  await term.until('the agent is still answering; /stop first');
  const outside = run(['handoff', 'local'], { env: home.env });
  assert.equal(outside.code, 4);
  assert.match(outside.stderr, /still answering/);
  end();
  await term.until('-- completed');
  assert.deepEqual(runJson(['handoff', 'status'], { env: home.env }).handoffs, []);
  term.type('/handoff local\r');
  assert.equal(await term.exited, 0);
});

test('Ctrl-C before a gateway took it: cancelled at once, and the conversation goes on', limit, async (t) => {
  const home = tmpHome(), idle = await idleGateway(home);
  t.after(() => idle.end());
  const term = await chat(t, home);
  await say(term, 'hello there');
  term.type('/handoff local\r');
  await term.until('queued: this conversation');
  term.type('\x03');
  await term.until('cancelled; the session stays here');
  await say(term, 'and more');
  assert.equal(runJson(['handoff', 'status'], { env: home.env }).handoffs[0].state, 'cancelled');
  term.type('\x04');
  assert.equal(await term.exited, 0);
  assert.match(term.screen.text(), /to continue: talaria chat --resume c\w+/);
  assert.equal(whole(home, sessionOf(home)).messages.length, 4);
});

test('Ctrl-C after a gateway took it: it is asked, and leaves it between two steps', limit, async (t) => {
  const home = tmpHome();
  await served(t, home, { TALARIA_LOCAL_FAULTS: 'thread=9' });
  const term = await chat(t, home);
  await say(term, 'hello there');
  term.type('/handoff local\r');
  await term.until('picked up by the gateway');
  term.type('\x03');
  await term.until('asked the gateway to cancel');
  await term.until('cancelled; the session stays here');
  await say(term, 'and more');
  assert.ok(owners(home).every(([, surface]) => surface === 'cli'));
});

for (const signal of [9, 15, 1])
  test(`a terminal that dies while it waits (signal ${signal}): the next gateway carries it out`, limit, async (t) => {
    const home = tmpHome(), idle = await idleGateway(home);
    t.after(() => idle.end());
    const term = await chat(t, home);
    await say(term, 'hello there');
    const id = sessionOf(home), before = whole(home, id);
    term.type('/handoff local\r');
    await term.until('queued: this conversation');
    term.signal(signal);
    await term.exited;
    assert.equal(runJson(['handoff', 'status'], { env: home.env }).handoffs[0].state, 'queued');
    await idle.end();
    await served(t, home);
    await until('done', () => runJson(['handoff', 'status'], { env: home.env }).handoffs[0].state === 'done');
    assert.deepEqual(owners(home), [[id, 'local']]);
    assert.deepEqual(whole(home, id), before);
  });

test('another terminal of the same conversation cannot write it; /back brings it there', limit, async (t) => {
  const home = tmpHome();
  await served(t, home);
  const term = await chat(t, home);
  await say(term, 'hello there');
  const id = sessionOf(home);
  const other = await chat(t, home, ['--resume', id]);
  term.type('/handoff local\r');
  assert.equal(await term.exited, 0);
  for (const line of ['and more', '/title another name', '/runtime offline', '/retry']) {
    const before = other.screen.text().split('this conversation continues in the local chat; /back brings it here').length;
    other.type(`${line}\r`);
    await other.until((s) => s.split('this conversation continues in the local chat; /back brings it here').length > before);
  }
  assert.equal(whole(home, id).messages.length, 2);
  other.type('/back\r');
  await other.until('back from local');
  await say(other, 'and more');
  assert.deepEqual(owners(home), [[id, 'cli']]);
  assert.equal(whole(home, id).messages.length, 4);
  assert.equal(query(db(home), 'select count(*) from gateway_routing')[0][0], 0);
  // Away again from outside: who leaves is told where it is.
  assert.equal(run(['handoff', 'local', '--session', id], { env: home.env }).code, 0);
  other.type('\x04');
  assert.equal(await other.exited, 0);
  assert.match(other.screen.text(), new RegExp(`continued in the local chat; to bring it back: talaria handoff back --session ${id}`));
});

test('without a terminal: /handoff is a line like others', limit, async (t) => {
  const home = tmpHome();
  const none = run(['chat'], { env: home.env, input: 'hello there\n/handoff local\n' });
  assert.equal(none.code, 5, none.stderr);
  await served(t, home);
  const r = run(['chat'], { env: home.env, input: 'hello there\n/handoff local\nnever said\n' });
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, /queued[^]*picked up[^]*done: continued in the local chat/);
  assert.equal(query(db(home), "select count(*) from messages where content = 'never said'")[0][0], 0);
});
