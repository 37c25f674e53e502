// Handoffs and the local chat over HTTP: asked for, watched, cancelled, tried again, brought back; with a real gateway
// beside the server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { bin, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { events, request, startServer } from './helpers.mjs';

const get = async (server, target) => {
  const r = await request(server, target);
  assert.equal(r.status, 200, r.text);
  return r.json;
};
const post = (server, target, body = {}, headers = {}) => request(server, target, { method: 'POST', body, headers });

async function until(what, look, ms = 10_000) {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((r) => setTimeout(r, 20))) {
    const got = await look();
    if (got) return got;
  }
  throw new Error(`not in time: ${what}`);
}

/** A gateway that is ready; ends with the test. */
async function gateway(t, home, more = {}) {
  const child = spawn(bin, ['gateway', 'run'], { env: { ...home.env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = new Promise((r) => child.once('exit', (code) => r(code)));
  let said = '';
  child.stderr.on('data', (d) => { said += d; });
  t.after(() => { child.kill('SIGKILL'); return gone; });
  await new Promise((ready, failed) => {
    child.stdout.once('data', ready);
    gone.then(() => failed(new Error(said)));
  });
  return { end: () => { child.kill('SIGTERM'); return gone; } };
}

function write(home, sql, ...values) {
  const db = new DatabaseSync(path.join(home.data, 'talaria.db'), { timeout: 10_000 });
  try {
    return db.prepare(sql).all(...values);
  } finally {
    db.close();
  }
}

const sessionsOf = (home) => runJson(['sessions', 'list', '--limit', '5'], { env: home.env }).sessions;

test('a session goes to the local chat: every step with its time, and back', async (t) => {
  const server = await startServer(t, { demo: true });
  const [session] = sessionsOf(server.home);
  const none = await get(server, '/api/handoffs');
  assert.deepEqual([none.gateway, none.handoffs], [false, []]);
  const refused = await post(server, '/api/handoffs', { session_id: session.id, platform: 'local' });
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.json.detail, /no gateway is running/);

  await gateway(t, server.home);
  const stream = await events(server);
  const asked = await post(server, '/api/handoffs', { session_id: session.id, platform: 'local', no_turn: true });
  assert.equal(asked.status, 202, asked.text);
  const { id } = asked.json.handoff;
  await stream.next('handoffs');
  const done = await until('it is done', async () => {
    const [h] = (await get(server, '/api/handoffs')).handoffs;
    return h.state === 'done' && h;
  });
  stream.close();
  assert.equal(done.id, id);
  assert.equal(done.title, session.title);
  assert.deepEqual([done.platform, done.target, done.owner, done.ours, done.error], ['local', 'home', 'local', true, null]);
  assert.deepEqual(done.steps.map((s) => s.state), ['queued', 'claimed', 'prepared', 'bound', 'announced', 'done']);
  assert.ok(done.steps.every((s, i) => !i || s.at_ms >= done.steps[i - 1].at_ms), 'times grow');

  const { threads } = await get(server, '/api/local/threads?channel=home');
  assert.deepEqual(threads.map((x) => [x.id, x.title, x.messages]), [[done.thread, session.title, 1]]);
  const room = `/api/local/messages?channel=home&thread=${done.thread}`;
  const said = await get(server, room);
  assert.equal(said.messages[0].author, 'talaria');
  assert.ok(said.messages[0].text.includes(session.title), said.messages[0].text);

  const back = await post(server, `/api/sessions/${session.id}/back`);
  assert.deepEqual([back.status, back.json.from], [200, 'local'], back.text);
  assert.equal((await get(server, '/api/handoffs')).handoffs[0].owner, 'cli');
  assert.equal((await post(server, `/api/sessions/${session.id}/back`)).status, 409);
});

test('what cannot work is refused with a reason', async (t) => {
  const server = await startServer(t, { demo: true });
  await gateway(t, server.home);
  const [session] = sessionsOf(server.home);
  const ask = async (body) => { const r = await post(server, '/api/handoffs', body); return [r.status, r.json.detail]; };
  const [s1, d1] = await ask({ session_id: session.id, platform: 'fax' });
  assert.equal(s1, 400);
  assert.match(d1, /unknown platform 'fax'/);
  const [s2, d2] = await ask({ session_id: session.id, platform: 'telegram' });
  assert.equal(s2, 403);
  assert.match(d2, /telegram is not set up here/);
  assert.equal((await ask({ session_id: 'nowhere-to-be-found', platform: 'local' }))[0], 404);
  assert.equal((await ask({ platform: 'local' }))[0], 422);
  assert.equal((await ask({ session_id: 7, platform: 'local' }))[0], 422);
  assert.equal((await post(server, '/api/handoffs/01ZZZZ/cancel')).status, 404);
  assert.equal((await post(server, '/api/handoffs/01ZZZZ/retry')).status, 404);
  assert.equal((await request(server, '/api/handoffs', { token: false })).status, 401);
  assert.equal((await get(server, '/api/handoffs')).handoffs.length, 0, 'and nothing was written');
});

test('cancelled while it waits; asked for again', async (t) => {
  const server = await startServer(t, { demo: true });
  const [session] = sessionsOf(server.home);
  const id = run(['handoff', 'local', '--session', session.id, '--detach'], { env: server.home.env }).stdout.trim();
  const twice = await post(server, `/api/handoffs/${id}/retry`);
  assert.equal(twice.status, 409, 'it has not failed');
  const left = await post(server, `/api/handoffs/${id}/cancel`);
  assert.deepEqual([left.status, left.json.handoff.state], [200, 'cancelled'], left.text);
  assert.equal((await post(server, `/api/handoffs/${id}/cancel`)).status, 409);
  await gateway(t, server.home);
  const again = await post(server, `/api/handoffs/${id}/retry`);
  assert.equal(again.status, 202, again.text);
  assert.notEqual(again.json.handoff.id, id);
  await until('it is done', async () => (await get(server, '/api/handoffs')).handoffs[0].state === 'done');
});

test('platforms: which there are, how they are, what waits', async (t) => {
  const server = await startServer(t, { demo: true });
  const before = await get(server, '/api/platforms');
  assert.equal(before.gateway, false);
  assert.deepEqual(before.platforms.map((p) => p.name).sort(), ['discord', 'local', 'slack', 'telegram']);
  assert.deepEqual(before.platforms.find((p) => p.name === 'local').home, { chat_id: 'home', name: 'Home', chat_type: 'dm', thread_id: null });
  assert.deepEqual(before.platforms.filter((p) => p.enabled).map((p) => p.name), ['local'], 'it needs nothing');
  assert.equal(before.platforms.find((p) => p.name === 'local').missing, null);
  assert.match(before.platforms.find((p) => p.name === 'slack').missing, /TALARIA_SLACK_TOKEN/);
  assert.equal(before.trouble, null);
  assert.equal(before.platforms.find((p) => p.name === 'slack').home, null);
  const stream = await events(server);
  write(server.home, `INSERT INTO platform_state(platform, link, account, since_ms, heard_ms, error, error_ms, updated_ms)
    VALUES('telegram', 'reconnecting', 'my_bot', 1000, 2000, '502 Bad Gateway', 3000, 3000)`);
  await stream.next('handoffs');
  write(server.home, `INSERT INTO inbox(platform, id, update_json, state, received_ms, updated_ms) VALUES('telegram', '1', '{}', 'new', 5000, 5000)`);
  let telegram = (await get(server, '/api/platforms')).platforms.find((p) => p.name === 'telegram');
  assert.equal(telegram.link, null, 'nobody is connected while no gateway runs');
  assert.deepEqual([telegram.enabled, telegram.account, telegram.inbox, telegram.outbox, telegram.error], [false, 'my_bot', 1, 0, '502 Bad Gateway']);
  assert.ok(telegram.lag_ms > 1e9, 'the oldest waits since 1970');
  stream.close();
});

test('dead letters and parked messages: shown, and tried again', async (t) => {
  const server = await startServer(t, { demo: true });
  await get(server, '/api/handoffs');
  write(server.home, `INSERT INTO outbox(id, platform, place_json, text, updated_ms, state, attempt, created_ms, error)
    VALUES('reply 7', 'telegram', '{"platform":"telegram","chat_id":"5"}', 'It works.', 9000, 'dead', 24, 8000, 'chat not found')`);
  write(server.home, `INSERT INTO inbox(platform, id, update_json, state, attempt, reason, received_ms, updated_ms)
    VALUES('local', '77', '{"channel":"home","thread":"","user":"you","text":"crash me","id":77}', 'parked', 3, 'three tries', 8000, 8000)`);
  const { letters } = await get(server, '/api/outbox/dead');
  assert.deepEqual(letters, [{ id: 'reply 7', platform: 'telegram', text: 'It works.', error: 'chat not found', attempt: 24, created_ms: 8000 }]);
  const { messages: [parked] } = await get(server, '/api/inbox/parked');
  assert.deepEqual([parked.platform, parked.text, parked.reason, parked.attempt], ['local', 'crash me', 'three tries', 3]);
  assert.equal((await post(server, '/api/outbox/reply%207/retry')).status, 200);
  assert.equal((await post(server, '/api/outbox/reply%207/retry')).status, 404);
  assert.equal((await post(server, `/api/inbox/${parked.seq}/retry`)).status, 200);
  assert.ok([404, 409].includes((await post(server, `/api/inbox/${parked.seq}/retry`)).status));
  assert.equal((await post(server, '/api/inbox/x/retry')).status, 404);
  assert.deepEqual((await get(server, '/api/outbox/dead')).letters, []);
  assert.deepEqual((await get(server, '/api/inbox/parked')).messages, []);
  assert.equal(write(server.home, "SELECT state FROM outbox WHERE id = 'reply 7'")[0].state, 'waiting');
});

test('the user writes: a message and an update at once, once a key', async (t) => {
  const server = await startServer(t);
  assert.deepEqual((await get(server, '/api/local/channels')).channels.map((c) => [c.id, c.title]), [['home', 'Home']]);
  const say = (body, key = 'k1') => post(server, '/api/local/messages', body, { 'Idempotency-Key': key });
  const first = await say({ channel: 'home', thread: '', text: 'hello *there*' });
  assert.equal(first.status, 201, first.text);
  const same = await say({ channel: 'home', thread: '', text: 'hello *there*' });
  assert.deepEqual([same.status, same.json.id], [201, first.json.id]);
  assert.equal((await say({ channel: 'home', thread: '', text: 'other words' })).status, 409);
  assert.equal((await say({ channel: 'attic', text: 'x' }, 'k2')).status, 404);
  assert.equal((await say({ channel: 'home', thread: 't9', text: 'x' }, 'k3')).status, 404);
  assert.equal((await say({ channel: 'home', text: '  ' }, 'k4')).status, 422);
  assert.equal((await say({ channel: 'home', text: 'x'.repeat(65_537) }, 'k5')).status, 413);
  assert.equal((await say({ channel: 'home', text: 'x' }, 'k'.repeat(129))).status, 422);
  const { messages } = await get(server, '/api/local/messages?channel=home');
  assert.deepEqual(messages.map((m) => [m.author, m.text]), [['you', 'hello *there*']]);
  const inbox = write(server.home, 'SELECT platform, id, update_json, state FROM inbox');
  assert.equal(inbox.length, 1);
  assert.deepEqual([inbox[0].platform, inbox[0].id, inbox[0].state], ['local', String(first.json.id), 'new']);
  assert.deepEqual(JSON.parse(inbox[0].update_json), { channel: 'home', thread: '', user: 'you', text: 'hello *there*', id: first.json.id });
});

test('timed: words that grow are told at once, and only what has changed is asked for', async (t) => {
  const server = await startServer(t);
  await post(server, '/api/local/messages', { channel: 'home', text: 'how far is the moon?' });
  const { changed_ms } = await get(server, '/api/local/messages?channel=home');
  const stream = await events(server);
  write(server.home, 'INSERT INTO local_message(channel, author, text, key, created_ms) VALUES(?, ?, ?, ?, ?)', 'home', 'talaria', 'It is', 'a1', Date.now());
  assert.deepEqual(JSON.parse((await stream.next('local')).data), { rooms: true });
  const times = [];
  for (const text of ['It is 384', 'It is 384,400 km', 'It is 384,400 km away.']) {
    // An event that is on its way already may tell of this change too: what counts is that the words can be seen.
    const began = performance.now();
    write(server.home, 'UPDATE local_message SET text = ?, edited_ms = ? WHERE key = ?', text, Date.now(), 'a1');
    for (let seen = ''; seen !== text;) {
      await stream.next('local');
      const news = await get(server, `/api/local/messages?channel=home&since=${changed_ms}`);
      seen = news.messages.at(-1).text;
    }
    times.push(performance.now() - began);
  }
  stream.close();
  assert.ok(Math.min(...times) < 300, `seen after ${times.map(Math.round)} ms`);
  const later = await get(server, `/api/local/messages?channel=home&since=${Date.now() + 60_000}`);
  assert.deepEqual(later.messages, []);
  const old = await get(server, '/api/local/messages?channel=home&before=2');
  assert.deepEqual([old.messages.length, old.earlier], [1, false]);
  assert.equal((await get(server, '/api/local/messages?channel=home&limit=1')).earlier, true);
  assert.equal((await request(server, '/api/local/messages')).status, 400);
});

test('the journal of one session; a chat that cannot be one is refused before anything is written', async (t) => {
  const server = await startServer(t, { demo: true });
  const [one, other] = sessionsOf(server.home);
  await gateway(t, server.home);
  for (const target of ['two words', 'a\nb', 'x'.repeat(201)]) {
    const r = await post(server, '/api/handoffs', { session_id: one.id, platform: 'local', target });
    assert.equal(r.status, 422, r.text);
    assert.match(r.json.detail, /'target'/);
  }
  for (const { id } of [one, other]) assert.equal((await post(server, '/api/handoffs', { session_id: id, platform: 'local', no_turn: true })).status, 202);
  assert.deepEqual((await get(server, `/api/handoffs?session=${one.id}`)).handoffs.map((h) => h.session_id), [one.id]);
  assert.equal((await get(server, '/api/handoffs')).handoffs.length, 2);
  assert.deepEqual((await get(server, '/api/handoffs?session=nobody_has_this')).handoffs, []);
});

test('conversations that begin, change and go are told, whoever did it', async (t) => {
  const server = await startServer(t);
  await request(server, '/api/conversations');
  const stream = await events(server);
  // A single question is kept out of lists until it is continued.
  assert.equal(run(['ask', 'is anybody here?'], { env: server.home.env }).code, 0);
  const { sessions: [asked] } = JSON.parse(run(['sessions', 'list', '--source', 'ask', '--json'], { env: server.home.env }).stdout);
  assert.equal(run(['ask', '-c', asked.id, 'and now?'], { env: server.home.env }).code, 0);
  await stream.next('chat');
  const [c] = await until('it is there', async () => {
    const { conversations } = await get(server, '/api/conversations');
    return conversations[0]?.messages === 4 && !conversations[0].running && conversations;
  });
  const told = stream.seen.filter((e) => e.event === 'chat').length;
  assert.equal((await request(server, `/api/conversations/${c.id}`, { method: 'DELETE' })).status, 200);
  await until('its end is told', () => stream.seen.filter((e) => e.event === 'chat').length > told);
  stream.close();
});
