// Telegram: the fake is judged by grammY, the connection by the fake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bot, GrammyError } from 'grammy';
import { startTelegram } from '../fakes/telegram.mjs';
import { openLink } from './link.mjs';

const limit = { timeout: 60_000 };

// -- grammY judges the fake ------------------------------------------------------------------------------------------------

function grammy(t, fake) {
  const bot = new Bot(fake.token, { client: { apiRoot: fake.url } });
  bot.catch((e) => { throw e.error; });
  t.after(() => bot.isRunning() && bot.stop());
  return bot;
}

test('grammY: who it is, and every message once', limit, async (t) => {
  const fake = await startTelegram(t);
  const bot = grammy(t, fake);
  const seen = [];
  bot.command('echo', (ctx) => ctx.reply(`echo ${ctx.match}`));
  bot.on('message:text', (ctx) => { seen.push(ctx.message.text); });
  assert.equal((await bot.api.getMe()).username, 'talaria_bot');
  fake.say({ chat: 55, text: 'before' });
  const running = bot.start();
  await fake.until(() => seen.length === 1);
  for (let i = 0; i < 150; i++) fake.say({ chat: 55, text: `m${i}` });
  await fake.until(() => seen.length === 151);
  fake.say({ chat: 55, text: '/echo hello' });
  await fake.until(() => fake.ours(55).some((m) => m.text === 'echo hello'));
  assert.deepEqual(seen, ['before', ...Array.from({ length: 150 }, (_, i) => `m${i}`)]);
  await bot.stop();
  await running;
  assert.equal(fake.updates.length, 0, 'stopping confirms what was read');
});

test('grammY: replies, edits, topics, refusals', limit, async (t) => {
  const fake = await startTelegram(t);
  fake.addChat({ id: -100777, type: 'supergroup', title: 'Forum', is_forum: true }, { member: { status: 'administrator', can_manage_topics: true } });
  fake.say({ chat: 55, text: 'hi' });
  const { api } = grammy(t, fake);
  const sent = await api.sendMessage(55, 'bold', { entities: [{ type: 'bold', offset: 0, length: 4 }] });
  const edited = await api.editMessageText(55, sent.message_id, 'other');
  assert.equal(edited.text, 'other');
  const refused = (call, code, words) => assert.rejects(call, (e) => e instanceof GrammyError && e.error_code === code && words.test(e.description));
  await refused(api.editMessageText(55, sent.message_id, 'other'), 400, /message is not modified/);
  const topic = await api.createForumTopic(-100777, 'A topic');
  assert.equal((await api.sendMessage(-100777, 'in it', { message_thread_id: topic.message_thread_id })).message_thread_id, topic.message_thread_id);
  await refused(api.sendMessage(-100777, 'x', { message_thread_id: 4711 }), 400, /message thread not found/);
  await refused(api.sendMessage(55, '😀'.repeat(2049)), 400, /message is too long/);
  await refused(api.sendMessage(55, 'x', { entities: [{ type: 'bold', offset: 0, length: 2 }] }), 400, /ENTITY_BOUNDS_INVALID/);
  await refused(api.sendMessage(4711, 'x'), 400, /chat not found/);
  await api.sendChatAction(-100777, 'typing', { message_thread_id: 1 });
  await api.closeForumTopic(-100777, topic.message_thread_id);
  await api.deleteForumTopic(-100777, topic.message_thread_id);
  assert.equal((await api.getChat(-100777)).is_forum, true);
  assert.equal((await api.getChatMember(-100777, fake.me.id)).status, 'administrator');
  fake.trouble('sendMessage', { status: 429, retry_after: 7 });
  await assert.rejects(api.sendMessage(55, 'x'), (e) => e instanceof GrammyError && e.error_code === 429 && e.parameters.retry_after === 7);
  await refused(new Bot('1:wrong', { client: { apiRoot: fake.url } }).api.getMe(), 401, /Unauthorized/);
});

test('grammY: another reader and a webhook are conflicts', limit, async (t) => {
  const fake = await startTelegram(t);
  const { api } = grammy(t, fake);
  const first = api.getUpdates({ timeout: 20 }).catch((e) => e);
  await fake.until(() => fake.pollers.size === 1);
  const second = api.getUpdates({ timeout: 1 });
  assert.equal((await first).error_code, 409);
  await second;
  fake.webhook = 'https://example.org/';
  await assert.rejects(api.getUpdates(), (e) => e.error_code === 409 && /webhook/.test(e.description));
  await api.deleteWebhook();
  assert.deepEqual(await api.getUpdates(), []);
});

// -- the fake judges our connection ---------------------------------------------------------------------------------------

const envFor = (fake) => ({ TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url });

async function connected(t, options, more) {
  const fake = await startTelegram(t, options);
  const link = openLink(t, 'telegram', envFor(fake), more);
  await link.until(async () => (await link.ask('health')).known);
  return { fake, link };
}

test('opens: who we are, the list of commands, a poll that waits', limit, async (t) => {
  const { fake, link } = await connected(t);
  const health = await link.state('connected');
  assert.equal(health.me, String(fake.me.id));
  assert.equal(health.name, 'talaria_bot');
  await fake.until(() => fake.commands);
  assert.ok(['new', 'resume', 'sessions', 'status', 'stop', 'handoff', 'sethome', 'help'].every((name) => fake.commands.some((c) => c.command === name)));
  await fake.until(() => fake.pollers.size === 1);
  assert.equal(fake.called('getUpdates').at(-1).body.timeout, 25);
  const began = Date.now();
  assert.deepEqual(await link.close(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 3000, 'a poll that waits does not hold the end up');
});

test('updates are kept before they are confirmed, and once', limit, async (t) => {
  const { fake, link } = await connected(t);
  await fake.until(() => fake.pollers.size === 1);
  await link.ask('receive', { works: false });
  fake.say({ chat: 55, text: 'one' });
  await link.until(() => link.lost.length >= 1);
  assert.equal(fake.updates.length, 1, 'not confirmed');
  assert.match((await link.until(async () => { const h = await link.ask('health'); return h.error && h; })).error, /disk is full/);
  await link.ask('receive', { works: true });
  await link.until(() => link.received.length === 1);
  for (let i = 0; i < 250; i++) fake.say({ chat: 55, text: `m${i}` });
  await link.until(() => link.received.length === 251);
  await fake.until(() => fake.updates.length === 0);
  assert.deepEqual(link.texts(), ['one', ...Array.from({ length: 250 }, (_, i) => `m${i}`)]);
  assert.equal(Number(link.cursor), fake.nextUpdate);
});

test('a burst of ten thousand: none is lost, none comes twice', limit, async (t) => {
  const { fake, link } = await connected(t);
  for (let i = 0; i < 10_000; i++) fake.say({ chat: 55 + (i % 50), text: `m${i}` });
  await link.until(() => link.received.length >= 10_000);
  await fake.until(() => fake.updates.length === 0);
  assert.equal(new Set(link.received.map((r) => r.update)).size, 10_000);
  assert.equal(link.received.length, 10_000);
  assert.deepEqual(link.texts(), Array.from({ length: 10_000 }, (_, i) => `m${i}`));
});

test('goes on where it stopped', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.say({ chat: 55, text: 'one' });
  await link.until(() => link.received.length === 1);
  link.child.kill('SIGKILL');
  await link.exited;
  fake.say({ chat: 55, text: 'two' });
  const next = openLink(t, 'telegram', envFor(fake), { cursor: link.cursor });
  await next.until(() => next.received.length === 1);
  assert.deepEqual(next.texts(), ['two']);
});

test('doubled and disordered updates come through under their own numbers', limit, async (t) => {
  const { fake, link } = await connected(t);
  await link.state('connected');
  await link.ask('receive', { works: false });
  for (const text of ['a', 'b', 'c']) fake.say({ chat: 55, text });
  fake.shuffleNext();
  await link.until(() => link.lost.length);
  const all = fake.updates.map(({ u }) => u);
  fake.shuffleNext();
  await link.ask('receive', { works: true });
  await link.until(() => link.received.length >= 3);
  assert.deepEqual(new Set(link.texts()), new Set(['a', 'b', 'c']));
  assert.equal(Number(link.cursor), fake.nextUpdate, 'the offset is behind the highest, wherever it stood');
  // Comes again although it was confirmed: under the same number, by which it is told apart.
  const times = () => link.received.filter((r) => r.update === String(all[0].update_id)).length, before = times();
  fake.ignoresOffset = true;
  fake.again([all[0]]);
  await link.until(() => times() > before);
  fake.ignoresOffset = false;
  fake.say({ chat: 55, text: 'd' });
  await link.until(() => link.texts().includes('d'));
});

const outages = {
  'a server error': { status: 500 }, 'a bad gateway in HTML': { html: 502 }, 'no service': { status: 503 }, 'a cut connection': { cut: 'before' },
  'a half-closed socket': { half: true }, 'a reset': { reset: true }, 'a torn answer': { torn: true }, 'an answer that is none': { html: 200 },
  'a rate limit': { status: 429, retry_after: 1 }, 'another reader': { status: 409 },
};
for (const [name, what] of Object.entries(outages)) {
  test(`listening outlives ${name}`, limit, async (t) => {
    const fake = await startTelegram(t);
    fake.trouble('getMe', what);
    fake.trouble('getUpdates', what, 2);
    const link = openLink(t, 'telegram', envFor(fake));
    const down = await link.state('reconnecting');
    assert.ok(down.error.length > 10, down.error);
    assert.ok(!down.error.includes('TEST-token') && !link.stderr.includes('TEST-token'), 'the token is never said');
    fake.say({ chat: 55, text: 'after all' });
    await link.until(() => link.received.length === 1);
    await link.state('connected');
    if (what.retry_after) {
      const polls = fake.called('getMe');
      assert.ok(polls[1].at - polls[0].at >= 1000, 'it waits as long as it is asked to');
    }
  });
}

test('a webhook that was left behind is taken away', limit, async (t) => {
  const fake = await startTelegram(t);
  fake.webhook = 'https://example.org/hook';
  const link = openLink(t, 'telegram', envFor(fake));
  fake.say({ chat: 55, text: 'hi' });
  await link.until(() => link.received.length === 1);
  assert.equal(fake.called('deleteWebhook').length, 1);
  assert.equal(fake.called('deleteWebhook')[0].body.drop_pending_updates, false);
  assert.match((await link.ask('health')).error, /another program reads/);
});

test('a token that is not accepted ends the tries, not the program', limit, async (t) => {
  const fake = await startTelegram(t);
  const wrong = openLink(t, 'telegram', { ...envFor(fake), TALARIA_TELEGRAM_TOKEN: '1:wrong' });
  assert.match((await wrong.state('refused')).error, /token/);
  const link = openLink(t, 'telegram', envFor(fake));
  await link.state('connected');
  fake.token = '123456:another'; // revoked while it is open
  for (const s of fake.sockets) s.destroy();
  await link.state('refused');
  const sent = await link.ask('send', { chat: '55', text: 'hi' });
  assert.equal(sent.kind, 'refused');
  assert.deepEqual(await link.close(), { code: 0, signal: null });
  const none = openLink(t, 'telegram', {});
  assert.deepEqual(await none.exited, { code: 1, signal: null });
  assert.match(none.stderr, /TALARIA_TELEGRAM_TOKEN/);
});

test('a server that answers nothing does not hold up the end', limit, async (t) => {
  const { fake, link } = await connected(t);
  await fake.until(() => fake.pollers.size === 1);
  await fake.stop();
  await link.state('reconnecting');
  const began = Date.now();
  assert.deepEqual(await link.close(), { code: 0, signal: null });
  assert.ok(Date.now() - began < 3000);
});

test('an update of ten megabytes is stepped over', limit, async (t) => {
  const { fake, link } = await connected(t);
  await fake.until(() => fake.pollers.size === 1);
  fake.say({ chat: 55, text: 'x'.repeat(10 << 20) });
  fake.say({ chat: 55, text: 'short' });
  await link.until(() => link.texts().includes('short'));
  assert.equal(link.received.length, 1);
  assert.match(link.stderr, /too large/);
  fake.say({ chat: 55, text: 'x'.repeat(20 << 20) }); // more than a whole answer may have
  fake.say({ chat: 55, text: 'goes on' });
  await link.until(() => link.texts().includes('goes on'));
});

// -- sending ------------------------------------------------------------------------------------------------------------------

async function forum(t, options) {
  const both = await connected(t, options);
  both.fake.addChat({ id: -100777, type: 'supergroup', title: 'Forum', is_forum: true }, { member: { status: 'administrator', can_manage_topics: true } });
  both.fake.addChat({ id: -42, type: 'group', title: 'Plain' });
  both.fake.say({ chat: 55, text: 'hi' });
  return both;
}

test('sends text with entities, edits it, and takes "not modified" for done', limit, async (t) => {
  const { fake, link } = await forum(t);
  const text = '😀 **bold** and `code`\n\n```js\nlet x;\n```\n[here](https://example.org/)';
  const sent = await link.ask('send', { chat: '55', type: 'dm', text, key: 'k1' });
  assert.equal(sent.ok, true, sent.error);
  const m = fake.ours(55)[0];
  assert.equal(String(m.message_id), sent.id);
  assert.equal(m.text, '😀 bold and code\n\nlet x;\n\nhere');
  const cover = (e) => m.text.slice(e.offset, e.offset + e.length);
  assert.deepEqual(m.entities.map((e) => [e.type, cover(e), e.language ?? e.url]), [['bold', 'bold', undefined], ['code', 'code', undefined], ['pre', 'let x;', 'js'], ['text_link', 'here', 'https://example.org/']]);
  const edit = { chat: '55', type: 'dm', edit: sent.id, text: '*other*' };
  assert.equal((await link.ask('send', edit)).ok, true);
  assert.equal(m.text, 'other');
  assert.equal((await link.ask('send', edit)).ok, true, 'the same again');
  assert.equal((await link.ask('send', { ...edit, edit: '4711' })).kind, 'not_found');
});

test('entities that are refused: the same words without them', limit, async (t) => {
  const { fake, link } = await forum(t);
  fake.trouble('sendMessage', { status: 400, description: "Bad Request: can't parse entities: nobody knows why" });
  assert.equal((await link.ask('send', { chat: '55', text: '**x**' })).ok, true);
  assert.deepEqual([fake.ours(55)[0].text, fake.ours(55)[0].entities], ['x', undefined]);
});

test('a topic, the General topic, and a topic that is gone', limit, async (t) => {
  const { fake, link } = await forum(t);
  const home = { chat: '-100777', type: 'group', topics: true };
  const made = await link.ask('thread', { ...home, title: `${'ü'.repeat(100)}${'😀'.repeat(50)}` });
  assert.equal(made.ok, true, made.error);
  assert.equal(fake.topicsOf(-100777)[0].name, 'ü'.repeat(100) + '😀'.repeat(14));
  assert.equal((await link.ask('send', { ...home, thread: made.id, text: 'in it' })).ok, true);
  assert.equal(fake.ours(-100777, made.id)[0].text, 'in it');
  assert.equal((await link.ask('send', { ...home, thread: '1', text: 'general' })).ok, true);
  assert.equal('message_thread_id' in fake.called('sendMessage').at(-1).body, false);
  await link.ask('typing', { ...home, thread: '1' });
  assert.deepEqual(fake.actions.at(-1), { chat: -100777, action: 'typing', thread: 1 });
  fake.trouble('sendMessage', { status: 400, description: 'Bad Request: message thread not found' });
  await link.ask('send', { ...home, thread: made.id, text: 'a moment later' });
  assert.equal(fake.ours(-100777, made.id).at(-1).text, 'a moment later', 'once may be chance');
  await link.ask('drop', { ...home, thread: made.id });
  assert.deepEqual(fake.topicsOf(-100777), []);
  // Twice refused it is gone. Where words go then is for those to say who know what lives there: topics.test.mjs.
  const before = fake.called('sendMessage').length, said = fake.ours(-100777).length;
  const gone = await link.ask('send', { ...home, thread: made.id, text: 'all the same' });
  assert.deepEqual([gone.ok, gone.kind, gone.no_thread, gone.unsure], [false, 'not_found', true, false], gone.error);
  assert.equal(fake.called('sendMessage').length, before + 2);
  assert.equal(fake.ours(-100777).length, said, 'nothing was said');
  assert.match((await link.ask('health')).error, /message thread not found/);
  assert.equal((await link.ask('send', { ...home, chat: '4711', text: 'x' })).no_thread, false, 'a chat that is gone is no thread');
});

test('a topic that takes words only as answers', limit, async (t) => {
  const { fake, link } = await forum(t);
  const made = await link.ask('thread', { chat: '55', type: 'dm', title: 'A title' });
  const there = { chat: '55', type: 'dm', thread: made.id };
  const anchor = String(fake.say({ chat: 55, thread: made.id, text: 'hello' }).message_id);
  const plain = await link.ask('send', { ...there, text: 'plain', anchor });
  assert.deepEqual([plain.ok, plain.anchored, fake.ours(55, made.id).at(-1).reply_to_message], [true, false, undefined], 'nothing is answered without need');
  fake.topicTakes(55, made.id, 'answers');
  fake.calls.length = 0;
  const sent = await link.ask('send', { ...there, text: 'an answer', anchor });
  assert.deepEqual([sent.ok, sent.anchored], [true, true], sent.error);
  assert.equal(fake.ours(55, made.id).at(-1).reply_to_message.message_id, Number(anchor));
  assert.deepEqual(fake.called('sendMessage').map((c) => c.body.reply_parameters), [undefined, undefined, { message_id: Number(anchor), allow_sending_without_reply: true }]);
  fake.calls.length = 0;
  assert.equal((await link.ask('send', { ...there, text: 'at once', anchor, anchored: true })).ok, true);
  assert.equal(fake.called('sendMessage').length, 1, 'what is known need not be tried');
  for (const more of [{}, { anchor: '4711' }, { anchor: '4711', anchored: true }]) assert.equal((await link.ask('send', { ...there, text: 'x', ...more })).no_thread, true);
  assert.equal((await link.ask('send', { chat: '55', type: 'dm', text: 'x', anchor: '4711', anchored: true })).ok, true, 'a message that is gone is no reason to say nothing');
});

test('topics of private chats, and chats without topics', limit, async (t) => {
  const { fake, link } = await forum(t);
  const made = await link.ask('thread', { chat: '55', type: 'dm', title: 'A title' });
  assert.equal(made.ok, true);
  assert.equal(fake.topicsOf(55)[0].name, 'A title');
  const said = fake.say({ chat: 55, thread: made.id, text: 'answer' });
  await link.until(() => link.texts().includes('answer'));
  const parsed = await link.ask('parse', { json: link.received.at(-1).json });
  assert.equal(parsed.key, `agent:main:telegram:dm:55:${made.id}`);
  assert.equal(said.message_thread_id, Number(made.id));
  for (const home of [{ chat: '-42', type: 'group', topics: false }, { chat: '-42', type: 'group', topics: true }]) assert.equal((await link.ask('thread', { ...home, title: 'x' })).kind, 'refused');
  fake.trouble('createForumTopic', { status: 400, description: 'Bad Request: BOT_FORUM_CREATE_FORBIDDEN' });
  assert.equal((await link.ask('thread', { chat: '55', type: 'dm', title: 'x' })).kind, 'refused');
  fake.trouble('createForumTopic', { status: 429, retry_after: 3 });
  const later = await link.ask('thread', { chat: '55', type: 'dm', title: 'x' });
  assert.deepEqual([later.kind, later.wait_ms], ['busy', 3000]);
});

test('without topics in private chats none is asked for', limit, async (t) => {
  const { fake, link } = await forum(t, { topics: false });
  assert.equal((await link.ask('thread', { chat: '55', type: 'dm', title: 'x' })).kind, 'refused');
  assert.equal(fake.called('createForumTopic').length, 0);
});

test('a group that became a supergroup is written to under its new number', limit, async (t) => {
  const { fake, link } = await forum(t);
  fake.addChat({ id: -43, type: 'group', title: 'Old' }, { moved_to: -100777 });
  assert.equal((await link.ask('send', { chat: '-43', type: 'group', text: 'one' })).ok, true);
  assert.equal((await link.ask('send', { chat: '-43', type: 'group', text: 'two' })).ok, true);
  assert.deepEqual(fake.ours(-100777).map((m) => m.text), ['one', 'two']);
  assert.equal(fake.called('sendMessage').length, 3, 'the second one knows it');
  assert.match((await link.ask('health')).error, /-43 is -100777 now/);
  assert.deepEqual(link.moved, [['-43', '-100777']], 'told once');
});

test('a group that becomes a supergroup says so in either chat', limit, async (t) => {
  const { fake, link } = await forum(t);
  fake.addChat({ id: -43, type: 'group', title: 'Old' });
  fake.say({ chat: -43, migrate_to_chat_id: -100778 });
  fake.addChat({ id: -100778, type: 'supergroup', title: 'Old' });
  fake.say({ chat: -100778, migrate_from_chat_id: -43 });
  fake.say({ chat: -100777, migrate_from_chat_id: -44 });
  await link.until(() => link.moved.length === 2);
  assert.deepEqual(link.moved, [['-43', '-100778'], ['-44', '-100777']]);
});

const failures = [
  ['a rate limit', { status: 429, retry_after: 5 }, { kind: 'busy', wait_ms: 5000, unsure: false }, 0],
  ['a server error', { status: 500 }, { kind: 'io', wait_ms: 0, unsure: true }, 0],
  ['no service', { status: 503 }, { kind: 'io', wait_ms: 0, unsure: false }, 0],
  ['a bad gateway', { html: 502 }, { kind: 'io', wait_ms: 0, unsure: true }, 0],
  ['a connection cut before', { cut: 'before' }, { kind: 'io', wait_ms: 0, unsure: true }, 0],
  ['an answer that is lost', { cut: 'after' }, { kind: 'io', wait_ms: 0, unsure: true }, 1],
  ['half of an answer', { torn: true }, { kind: 'io', wait_ms: 0, unsure: true }, 1],
  ['a half-closed socket', { half: true }, { kind: 'io', wait_ms: 0, unsure: true }, 0],
  ['a user who blocked us', { status: 403 }, { kind: 'refused', wait_ms: 0, unsure: false }, 0],
];
for (const [name, what, wanted, made] of failures) {
  test(`sending says what became of it: ${name}`, limit, async (t) => {
    const { fake, link } = await forum(t);
    // On a connection that was used before: what was sent must not be sent again behind our back.
    assert.equal((await link.ask('send', { chat: '55', text: 'first' })).ok, true);
    fake.trouble('sendMessage', what);
    const got = await link.ask('send', { chat: '55', text: 'x' });
    assert.deepEqual({ kind: got.kind, wait_ms: got.wait_ms, unsure: got.unsure }, wanted, got.error);
    assert.equal(fake.ours(55).length, 1 + made);
    assert.equal(fake.called('sendMessage').length, 2);
    assert.ok(!got.error.includes('TEST-token'));
    assert.equal((await link.ask('send', { chat: '55', text: 'next' })).ok, true);
  });
}

test('no server at all: not done, and sure of it', limit, async (t) => {
  const { fake, link } = await forum(t);
  await fake.stop();
  const got = await link.ask('send', { chat: '55', text: 'x' });
  assert.deepEqual([got.kind, got.unsure], ['io', false]);
});

test('typing rests after trouble', limit, async (t) => {
  const { fake, link } = await forum(t);
  await link.ask('typing', { chat: '4711', type: 'dm' }); // nobody there: no reason to rest elsewhere
  await link.ask('typing', { chat: '55', type: 'dm' });
  assert.equal(fake.actions.length, 1);
  fake.trouble('sendChatAction', { status: 429, retry_after: 60 });
  for (let i = 0; i < 3; i++) await link.ask('typing', { chat: '55', type: 'dm' });
  assert.equal(fake.called('sendChatAction').length, 3);
});

test('looks at chats: type, name, topics, and whether we may write', limit, async (t) => {
  const { fake, link } = await forum(t);
  const seen = async (chat) => { const { ok, kind, type, name, topics, owner } = await link.ask('look', { chat, owner: '55' }); return ok ? { type, name, topics, owner } : kind; };
  assert.deepEqual(await seen('55'), { type: 'dm', name: 'User 55', topics: false, owner: '55' });
  assert.deepEqual(await seen('-100777'), { type: 'group', name: 'Forum', topics: true, owner: '55' });
  assert.deepEqual(await seen('-42'), { type: 'group', name: 'Plain', topics: false, owner: '55' });
  assert.equal(await seen('4711'), 'not_found');
  fake.addChat({ id: -43, type: 'group', title: 'Old' }, { moved_to: -100777 });
  assert.equal((await seen('-43')).name, 'Forum');
  fake.addChat({ id: -1009, type: 'channel', title: 'News' }, { member: { status: 'administrator', can_post_messages: true } });
  assert.equal((await seen('-1009')).type, 'channel');
  fake.addChat({ id: -1008, type: 'channel', title: 'Theirs' }, { member: { status: 'member' } });
  assert.equal(await seen('-1008'), 'refused');
  fake.addChat({ id: -44, type: 'group', title: 'Quiet' }, { member: { status: 'restricted', can_send_messages: false } });
  assert.equal(await seen('-44'), 'refused');
  fake.addChat({ id: -45, type: 'group', title: 'Left' }, { member: { status: 'left' } });
  assert.equal(await seen('-45'), 'refused');
  const threads = async (chat) => (await link.ask('look', { chat })).threads;
  assert.deepEqual([await threads('-100777'), await threads('-42')], [true, false]);
  fake.addChat({ id: -46, type: 'supergroup', title: 'Forum', is_forum: true }, { member: { status: 'administrator', can_manage_topics: false } });
  assert.equal(await threads('-46'), false);
});

// -- reading --------------------------------------------------------------------------------------------------------------------

test('in groups it knows when it is meant', limit, async (t) => {
  const { fake, link } = await forum(t);
  const ours = (await link.ask('send', { chat: '-42', type: 'group', text: 'ours' })).id;
  const made = (await link.ask('thread', { chat: '-100777', type: 'group', topics: true, title: 'T' })).id;
  const rows = [
    [{ chat: -42, text: 'hello' }, false, 'hello'],
    [{ chat: -42, text: '@talaria_bot hello' }, true, 'hello'],
    [{ chat: -42, text: '@TALARIA_bot hello' }, true, 'hello'],
    [{ chat: -42, text: '😀 ask @talaria_bot that' }, true, '😀 ask @talaria_bot that'],
    [{ chat: -42, text: '@talaria_bot2 hello' }, false, '@talaria_bot2 hello'],
    [{ chat: -42, text: '/status@talaria_bot now' }, true, '/status now'],
    [{ chat: -42, text: '/status@other_bot' }, false, '/status@other_bot'],
    [{ chat: -42, text: '/status' }, false, '/status'],
    [{ chat: -42, text: 'an answer', reply: ours }, true, 'an answer'],
    [{ chat: -42, text: 'Talaria, you', entities: [{ type: 'text_mention', offset: 0, length: 7, user: { id: 123456 } }] }, true, ', you'],
    [{ chat: -42, text: 'broken', entities: [{ type: 'mention', offset: 4, length: 900 }, { type: 'mention', offset: -3 }] }, false, 'broken'],
    [{ chat: -100777, thread: made, text: 'in our topic' }, false, 'in our topic'],
    [{ chat: 55, text: 'private' }, true, 'private'],
    [{ chat: 55, text: '@talaria_bot hello' }, true, 'hello'],
  ];
  for (const [message, addressed, text] of rows) {
    const m = fake.say({ update: false, ...message });
    const got = await link.ask('parse', { json: { update_id: 1, message: m } });
    assert.deepEqual([got.is, got.addressed, got.text, got.by_us], [true, addressed, text, false], JSON.stringify(message));
  }
  const m = fake.say({ update: false, chat: 55, text: 'changed' });
  assert.equal((await link.ask('parse', { json: { update_id: 1, edited_message: m } })).is, false);
  assert.equal((await link.ask('parse', { json: { update_id: 1, message: fake.topicsOf(-100777)[0].opened } })).is, false);
  assert.equal((await link.ask('parse', { json: { update_id: 1, message: fake.ours(-42)[0] } })).by_us, true);
});
