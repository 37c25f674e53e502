// Topics of Telegram's that are gone, broken, or take only answers: what was to be said arrives, once, and the session
// goes on where its next message is read.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { free, run, talk, underWay } from '../crash/handed.mjs';
import { FakeTelegram } from '../fakes/telegram.mjs';

const awhile = 30_000, limit = { timeout: 120_000 };
const dm = { chat: 55 }, forum = { chat: -100777 };

/** A model that says `words` and, where a promise is given for them, the rest only when that is kept. */
async function slowModel(t) {
  const model = { asked: [], gate: null };
  const server = http.createServer(async (rq, rs) => {
    const parts = [];
    for await (const part of rq) parts.push(part);
    const asked = JSON.parse(Buffer.concat(parts).toString()).messages.map((m) => m.content);
    model.asked.push(asked);
    const chunk = (delta, finish = null) => rs.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    const last = /^\[From Talaria/.test(asked.at(-1)) ? 'first words' : `heard: ${asked.at(-1)}`;
    rs.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const gate of model.gate?.(asked.at(-1)) ?? []) { chunk({ content: `${last} ... ` }); await gate; }
    chunk({ content: last });
    chunk({}, 'stop');
    rs.end('data: [DONE]\n\n');
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return Object.assign(model, { env: { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat' } });
}

async function begin(t, { chat }) {
  const fake = await new FakeTelegram().start(), home = tmpHome(t), model = await slowModel(t);
  t.after(() => fake.stop());
  fake.nextMessage = 10;
  fake.addChat({ id: -100777, type: 'supergroup', is_forum: true, title: 'Forum' }, { member: { status: 'administrator', can_manage_topics: true } });
  fake.addChat({ id: 55, type: 'private', first_name: 'Ann' });
  const w = { fake, model, file: `${home.data}/talaria.db`,
    env: { ...home.env, ...model.env, TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url, TALARIA_TELEGRAM_HOME_CHANNEL: String(chat), TALARIA_TELEGRAM_ALLOWED_USERS: '55' } };
  w.rows = (sql) => query(w.file, sql);
  w.start = async () => { w.g = await gateway(w.env); const g = w.g; t.after(() => g.end('SIGKILL')); };
  w.topic = () => fake.topicsOf(chat).at(-1)?.id;
  w.there = (thread) => fake.ours(chat, thread).map((m) => m.text);
  w.chat = () => fake.ours(chat).filter((m) => !m.message_thread_id).map((m) => m.text);
  /** The user, in the chat itself or in a topic. */
  w.says = (text, thread) => fake.say({ chat, from: 55, thread, text: thread || chat > 0 ? text : `@${fake.me.username} ${text}` });
  w.until = (what, condition) => until(() => `${what}: ${JSON.stringify({ chat: w.chat(), handoffs: w.rows('select state, step, dest_key, thread_ref, error_text from handoff'), outbox: w.rows("select id, state, place, error from outbox") })} ${w.g.said()}`, condition, awhile);
  w.isQuiet = () => (w.rows("select count(*) from outbox where state in ('waiting', 'open')")[0][0] === 0 && w.rows("select count(*) from inbox where state in ('new', 'taken')")[0][0] === 0 && underWay(w.file).length === 0);
  w.quiet = () => w.until('nothing waits', w.isQuiet);
  w.keys = () => w.rows("select session_key from gateway_routing order by 1").flat();
  w.sessionsOf = (...texts) => w.rows(`select distinct session_id from messages where role = 'user' and content in (${texts.map((x) => `'${x}'`)})`).flat();
  w.chatKey = chat > 0 ? `agent:main:telegram:dm:${chat}` : `agent:main:telegram:group:${chat}:1`;
  await w.start();
  return w;
}

/** A session that was handed over to a topic. */
async function handedOver(w, ...more) {
  const id = await talk(w, 'the blue door');
  const r = await run(['handoff', 'telegram', '--session', id, ...more], w.env);
  assert.equal(r.code, 0, r.stderr);
  await w.quiet();
  return id;
}

/** It lives in the chat, whoever is asked; and the user's next message there goes on with it. */
async function livesInTheChat(w, id, text = 'and then?') {
  await w.quiet();
  assert.deepEqual(w.keys(), [w.chatKey]);
  const shown = JSON.parse((await run(['handoff', 'status', '--json'], w.env)).stdout).handoffs[0];
  assert.deepEqual([shown.state, shown.key, shown.thread], ['done', w.chatKey, null]);
  assert.match(shown.error, /thread is gone.* in the chat itself/);
  assert.match((await run(['handoff', 'status'], w.env)).stdout, /thread is gone/);
  w.says(text);
  await w.until('an answer in the chat', () => w.chat().includes(`heard: ${text}`));
  assert.deepEqual(w.sessionsOf('the blue door', text), [id]);
  assert.ok(w.model.asked.at(-1).includes('the blue door'));
}

const once = (all, text) => assert.equal(all.filter((x) => x.includes(text)).length, 1, JSON.stringify(all));

for (const [name, where] of Object.entries({ dm, forum })) {
  test(`${name}: the topic is deleted, and the session goes on in the chat`, limit, async (t) => {
    const w = await begin(t, where), id = await handedOver(w, '--no-turn'), topic = w.topic();
    w.says('one', topic);
    await w.until('an answer in the topic', () => w.there(topic).includes('heard: one'));
    await w.quiet();
    let open;
    w.model.gate = (asked) => (asked === 'two' ? [new Promise((r) => { open = r; })] : []);
    w.says('two', topic);
    await w.until('it begins to answer', () => open);
    w.model.gate = null;
    w.fake.deleteTopic(where.chat, topic);
    open();
    await w.until('an answer in the chat', () => w.chat().some((x) => x.endsWith('heard: two')));
    await livesInTheChat(w, id);
    once(w.chat(), 'heard: two');
    once(w.chat(), "'the blue door' continues here: its topic was deleted.");
  });

  test(`${name}: it is deleted before the card and the first words`, limit, async (t) => {
    const w = await begin(t, where);
    w.fake.onCall = (method, phase) => { if (method === 'createForumTopic' && phase === 'after') w.fake.deleteTopic(where.chat, w.topic()); };
    const id = await handedOver(w);
    assert.equal(w.fake.called('createForumTopic').length, 1);
    once(w.chat(), 'handed over');
    await w.until('first words', () => w.chat().includes('first words'));
    await livesInTheChat(w, id);
    once(w.chat(), 'first words');
  });

  test(`${name}: it is deleted while an answer grows in it`, limit, async (t) => {
    const w = await begin(t, where), id = await handedOver(w, '--no-turn'), topic = w.topic();
    const open = [];
    w.model.gate = (asked) => (asked === 'grow' ? [0, 1].map((i) => new Promise((r) => { open[i] = r; })) : []);
    w.says('grow', topic);
    await w.until('it grows in the topic', () => w.there(topic).some((x) => x.startsWith('heard: grow ...')));
    w.fake.deleteTopic(where.chat, topic);
    open[0]();
    await w.until('it grows in the chat', () => w.chat().some((x) => x.startsWith('heard: grow ... heard: grow ...')));
    open[1]();
    await w.until('its end', () => w.chat().some((x) => /^heard: grow \.\.\. heard: grow \.\.\. heard: grow$/.test(x)));
    once(w.chat(), 'heard: grow');
    w.model.gate = null;
    await livesInTheChat(w, id);
  });
}

test('a turn whose topic is gone is stopped from the chat', limit, async (t) => {
  const w = await begin(t, dm);
  await handedOver(w, '--no-turn');
  const topic = w.topic(), open = [];
  w.model.gate = (asked) => (asked === 'grow' ? [0, 1].map((i) => new Promise((r) => { open[i] = r; })) : []);
  w.says('grow', topic);
  await w.until('it grows in the topic', () => w.there(topic).some((x) => x.startsWith('heard: grow ...')));
  w.fake.deleteTopic(55, topic);
  open[0]();
  await w.until('it grows in the chat', () => w.chat().some((x) => x.startsWith('heard: grow ... heard: grow ...')));
  assert.ok(w.fake.actions.some((x) => x.thread === topic));
  w.says('/stop');
  await w.until('its end', () => w.chat().some((x) => x.startsWith('heard: grow') && x.endsWith('(stopped)')));
  once(w.chat(), 'heard: grow');
});

test('once is chance: the topic stays', limit, async (t) => {
  const w = await begin(t, dm), id = await handedOver(w, '--no-turn'), topic = w.topic();
  w.fake.trouble('sendMessage', { status: 400, description: 'Bad Request: message thread not found' });
  w.says('one', topic);
  await w.until('an answer in the topic', () => w.there(topic).includes('heard: one'));
  assert.deepEqual(w.keys(), [`${w.chatKey}:${topic}`]);
  assert.deepEqual(w.sessionsOf('the blue door', 'one'), [id]);
});

test('a private topic that brings words and takes none: the same session, in the chat, for good', limit, async (t) => {
  const w = await begin(t, dm), id = await handedOver(w, '--no-turn'), topic = w.topic();
  w.fake.topicTakes(55, topic, 'none');
  for (const text of ['one', 'two']) {
    w.says(text, topic);
    await w.until(`an answer to ${text}`, () => w.chat().includes(`heard: ${text}`));
  }
  await livesInTheChat(w, id);
  await w.g.end();
  await w.start();
  const before = w.fake.called('sendMessage').length;
  w.says('three', topic);
  await w.until('an answer to three', () => w.chat().includes('heard: three'));
  assert.equal(w.fake.called('sendMessage').slice(before).filter((c) => c.body.message_thread_id).length, 0, 'it is not asked again');
  assert.deepEqual(w.sessionsOf('the blue door', 'one', 'two', 'three'), [id]);
});

test('a forum topic that comes back is a place of its own again', limit, async (t) => {
  const w = await begin(t, forum), id = await handedOver(w, '--no-turn'), topic = w.topic();
  w.fake.topicTakes(-100777, topic, 'none');
  w.says('one', topic);
  await w.until('an answer in the chat', () => w.chat().includes('heard: one'));
  await livesInTheChat(w, id);
  w.fake.topicTakes(-100777, topic, 'any');
  w.says('two', topic);
  await w.until('an answer in the topic', () => w.there(topic).includes('heard: two'));
  assert.notDeepEqual(w.sessionsOf('two'), [id]);
  assert.deepEqual(w.keys(), [w.chatKey, `agent:main:telegram:group:-100777:${topic}`]);
});

test('a private topic that takes only answers is answered in', limit, async (t) => {
  const w = await begin(t, dm), id = await handedOver(w, '--no-turn'), topic = w.topic();
  w.fake.topicTakes(55, topic, 'answers');
  for (const text of ['one', 'two']) {
    const asked = w.says(text, topic).message_id;
    w.fake.calls.length = 0;
    await w.until(`an answer to ${text}`, () => w.there(topic).includes(`heard: ${text}`));
    assert.equal(w.fake.ours(55, topic).find((m) => m.text === `heard: ${text}`).reply_to_message.message_id, asked);
    assert.equal(w.fake.called('sendMessage').length, text === 'one' ? 3 : 1, 'what it wants is remembered');
    await w.quiet();
    await w.g.end(); // also by the next process
    await w.start();
  }
  assert.deepEqual(w.sessionsOf('the blue door', 'one', 'two'), [id]);
  assert.deepEqual(w.keys(), [`${w.chatKey}:${topic}`]);
});

// kill -9 at every call that is made after the topic is gone, before it and after it: the answer arrives, once or marked, and
// the session is in one place.
for (const [name, where] of Object.entries({ dm, forum }))
  test(`${name}: killed on the way out of a topic`, { timeout: 300_000 }, async (t) => {
    const w = await begin(t, where);
    let calls = Infinity;
    for (let at = 0; at < calls; at++) {
      const first = `door ${at}`, text = `round ${at}`;
      const id = await talk(w, first);
      assert.equal((await run(['handoff', 'telegram', '--session', id, '--no-turn'], w.env)).code, 0);
      await w.quiet();
      const topic = w.topic();
      w.fake.deleteTopic(where.chat, topic);
      let n = 0, dead = null;
      const g = w.g;
      w.fake.onCall = async (method) => {
        if (!/^(sendMessage|getChat|getChatMember|editMessageText)$/.test(method)) return;
        if (n++ === at && !dead) { dead = g.end('SIGKILL'); await dead; }
      };
      w.says(text, topic);
      await w.until('all is said, or death', () => dead || (w.chat().includes(`heard: ${text}`) && w.isQuiet()));
      if (dead) { await dead; w.fake.onCall = null; query(w.file, "update outbox set not_before_ms = 0 where state = 'waiting'"); free(w.file); await w.start(); }
      await w.until(`an answer to ${text}`, () => w.chat().some((x) => x.endsWith(`heard: ${text}`)));
      await w.quiet();
      w.fake.onCall = null;
      if (!dead) { calls = n; assert.ok(at > 4, `it was killed at ${at} calls`); }
      const said = w.chat().filter((x) => x.endsWith(`heard: ${text}`));
      assert.ok(said.slice(1).every((x) => x.startsWith('(may be a repeat)')), JSON.stringify(said));
      assert.deepEqual(w.sessionsOf(first, text), [id]);
      assert.deepEqual(w.keys(), [w.chatKey]);
      w.says(`${text}, and then?`);
      await w.until('an answer in the chat', () => w.chat().includes(`heard: ${text}, and then?`));
      assert.deepEqual(w.sessionsOf(first, text, `${text}, and then?`), [id]);
    }
  });
