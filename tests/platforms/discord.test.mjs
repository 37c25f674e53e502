// Our connection to Discord against the fake that discord.js has judged (discord_fake.test.mjs): every trouble that
// the real one makes, and nothing lost, nothing made twice, no end of the process.
import assert from 'node:assert/strict';
import test from 'node:test';
import { startDiscord } from '../fakes/discord.mjs';
import { openLink } from './link.mjs';

export async function until(what, condition, ms = 15000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const value = await condition();
    if (value) return value;
    await new Promise((r) => { setTimeout(r, 10); });
  }
  throw new Error(`not in time: ${what}`);
}

/** link.updates: what it has stored, in that order. */
function open(t, fake, { token = fake.token, cursor } = {}) {
  const link = openLink(t, 'discord', { TALARIA_DISCORD_TOKEN: token, TALARIA_DISCORD_API_BASE: fake.api }, { cursor });
  Object.defineProperty(link, 'updates', { get: () => link.received.map(({ update, json }) => ({ ...json, id: update, json })) });
  link.texts = () => link.received.map((r) => r.json.d.content);
  return link;
}

async function connected(t, options) {
  const fake = await startDiscord(t, options), link = open(t, fake);
  await link.state('connected');
  return { fake, link };
}

const limit = { timeout: 60000 };

// -- hearing -----------------------------------------------------------------------------------------------------

test('it connects as Discord asks, and knows who it is', limit, async (t) => {
  const { fake, link } = await connected(t);
  const health = await link.ask('health');
  assert.deepEqual([health.me, health.name, health.error], [fake.bot.id, 'talaria', '']);
  assert.equal(fake.identifies.length, 1);
  assert.equal(fake.identifies[0].intents, 37377);
  assert.match(fake.requests[0].headers['user-agent'], /^DiscordBot \(/);
  await until('slash commands', () => fake.commands);
  assert.ok(fake.commands.some((c) => c.name === 'handoff' && c.options[0].required === false));
  assert.equal((await link.close()).code, 0);
});

test('what is written in channels, threads and direct chats is read with its place', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.channel({ id: '700', type: 1, recipient: '55' });
  fake.channel({ id: '610', guild: '500', type: 11, parent: '600', name: 'a thread' });
  const link = open(t, fake);
  await link.state('connected');
  const ours = (await link.ask('send', { chat: '600', text: 'mine', key: 'k0' })).id;
  const cases = [
    [{ channel: '600', text: 'hi', mention: true }, { text: 'hi', addressed: true, key: 'agent:main:discord:group:600:55' }],
    [{ channel: '600', text: 'not for it' }, { text: 'not for it', addressed: false }],
    [{ channel: '600', text: 'an answer', reply: ours }, { addressed: true }],
    [{ channel: '610', text: 'in a thread' }, { addressed: false, key: 'agent:main:discord:thread:610:610' }],
    [{ channel: '700', text: 'between us' }, { addressed: true, key: 'agent:main:discord:dm:700' }],
    [{ channel: '600', text: 'beep', author: { id: '77', username: 'other', bot: true } }, { by_bot: true, by_us: false }],
    [{ channel: '600', text: 'hook', webhook: '9' }, { by_bot: true }],
    [{ channel: '600', text: 'pinned a message', type: 6 }, { is: false }],
  ];
  for (const [said] of cases) fake.say(said);
  await until('all of them', () => link.received.length === cases.length);
  for (const [i, [, expected]] of cases.entries()) {
    const read = await link.ask('parse', { json: link.updates[i].json });
    for (const [key, value] of Object.entries(expected)) assert.equal(read[key], value, `${cases[i][0].text}: ${key}`);
  }
});

test('a role that is ours names us: as told, as changed, as asked for in a session that was resumed', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.roles('500', ['801'], { silent: true });
  const link = open(t, fake);
  await link.state('connected');
  const read = async (l, text) => {
    const n = l.received.length;
    fake.say({ channel: '600', text });
    await until(text, () => l.received.length === n + 1);
    const v = await l.ask('parse', { json: l.received.at(-1).json });
    return [v.text, v.addressed];
  };
  assert.deepEqual(await read(link, '<@&801> hello'), ['hello', true]);
  assert.deepEqual(await read(link, 'you <@&801>?'), ['you <@&801>?', true]);
  assert.deepEqual(await read(link, '<@&802> hello'), ['<@&802> hello', false]);
  fake.roles('500', ['802', '803']);
  assert.deepEqual(await read(link, '<@&802> hello'), ['hello', true]);
  assert.deepEqual(await read(link, '<@&801> hello'), ['<@&801> hello', false]);
  assert.equal(fake.asked({ method: 'GET', path: '/members/' }).length, 0);
  await link.close();
  const next = open(t, fake, { cursor: link.cursor });
  await next.state('connected');
  for (let i = 0; i < 2; i++) assert.deepEqual(await read(next, '<@&803> hello'), ['hello', true]);
  assert.equal(fake.asked({ method: 'GET', path: `^/guilds/500/members/${fake.bot.id}$` }).length, 1);
});

test('a bot that needs several connections side by side is told that there is one', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.shards = 2;
  const link = open(t, fake), health = await link.state('refused');
  assert.match(health.error, /asks for 2 parallel connections/);
  assert.equal(fake.identifies.length, 0);
  assert.equal((await link.close()).code, 0);
});

test('a thread that nobody told it of is asked for, once', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.channel({ id: '611', guild: '500', type: 12, parent: '600', name: 'hidden' });
  fake.say({ channel: '611', text: 'one' });
  fake.say({ channel: '611', text: 'two' });
  await until('both', () => link.received.length === 2);
  assert.deepEqual(link.updates.map((u) => [u.channel.type, u.channel.parent_id, u.channel.name]), [[12, '600', 'hidden'], [12, '600', 'hidden']]);
  assert.equal(fake.asked({ method: 'GET', path: '^/channels/611$' }).length, 1);
});

test('a slash command is heard at once, named when it is stored, and reads as if typed', limit, async (t) => {
  const { fake, link } = await connected(t);
  const id = fake.slash({ channel: '600', name: 'resume', text: 'the last one' });
  await until('the command', () => link.received.length === 1);
  const read = await link.ask('parse', { json: link.updates[0].json });
  assert.deepEqual([read.text, read.addressed, read.key], ['/resume the last one', true, 'agent:main:discord:group:600:55']);
  const { answer, ms } = await until('the answer', () => fake.interactions.get(id).answer && fake.interactions.get(id));
  assert.deepEqual([answer.type, answer.data.flags], [5, 64]);
  assert.ok(ms < 3000);
  assert.equal(await until('its name', () => fake.interactions.get(id).said), '`/resume`');
});

test('a slash command whose channel takes long to find out about is heard in time all the same', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.channel({ id: '612', guild: '500', name: 'new here' });
  fake.onCall = (what, phase) => (what === 'GET /channels/612' && phase === 'before' ? new Promise((r) => { setTimeout(r, 3500); }) : undefined);
  const id = fake.slash({ channel: '612', name: 'status' });
  const { ms } = await until('a sign', () => fake.interactions.get(id).answer && fake.interactions.get(id));
  assert.ok(ms < 3000);
  assert.equal(fake.interactions.get(id).said, undefined);
  assert.equal(await until('its name', () => fake.interactions.get(id).said), '`/status`');
  assert.equal(link.received.length, 1);
});

// -- trouble on the gateway ----------------------------------------------------------------------------------------

test('a cut connection is resumed, and what was said meanwhile arrives', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.say({ channel: '600', text: 'before' });
  await until('the first', () => link.received.length === 1);
  for (const how of [{}, { code: 1001 }, { code: 4000 }]) {
    const n = fake.resumes.length;
    fake.cut(how);
    fake.say({ channel: '600', text: `during ${n}` });
    await until('a resume', () => fake.resumes.length === n + 1);
  }
  await until('all', () => link.received.length === 4);
  assert.deepEqual(link.texts(), ['before', 'during 0', 'during 1', 'during 2']);
  assert.equal(fake.identifies.length, 1);
});

test('op 7 is obeyed by a resume, and not by an end of the session', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.op({ op: 7 });
  await until('a resume', () => fake.resumes.length === 1);
  assert.equal(fake.closes[0], 4000);
  fake.say({ channel: '600', text: 'afterwards' });
  await until('it', () => link.received.length === 1);
});

test('a gateway that gives no sign of life is left and resumed', limit, async (t) => {
  const { fake, link } = await connected(t, { interval: 300 });
  await until('heartbeats', () => fake.heartbeats > 2);
  fake.set({ ack: false });
  await until('a resume', () => fake.resumes.length === 1);
  fake.set({ ack: true });
  fake.freeze();
  fake.say({ channel: '600', text: 'into the ice' });
  await until('the message', () => link.received.length === 1);
  await link.state('connected');
  assert.ok(!fake.closes.includes(1000) && !fake.closes.includes(1001));
});

test('an invalid session is begun anew, and what was missed is fetched', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.channel({ id: '700', type: 1, recipient: '55' });
  fake.channel({ id: '610', guild: '500', type: 11, parent: '600', name: 'a thread' });
  const link = open(t, fake);
  await link.state('connected');
  fake.say({ channel: '600', text: 'old' });
  fake.say({ channel: '700', text: 'old dm' });
  await until('both', () => link.received.length === 2);
  fake.set({ resumable: false });
  fake.cut({ forget: true });
  for (let i = 0; i < 150; i++) fake.say({ channel: '600', text: `missed ${i}`, silent: true });
  fake.say({ channel: '610', text: 'missed in the thread', silent: true });
  fake.say({ channel: '700', text: 'missed dm', silent: true });
  await until('what was missed', () => link.received.length >= 154);
  assert.equal(fake.identifies.length, 2);
  assert.equal(new Set(link.updates.map((u) => u.id)).size, 154);
  const thread = link.updates.find((u) => u.d.content === 'missed in the thread');
  assert.equal((await link.ask('parse', { json: thread.json })).key, 'agent:main:discord:thread:610:610');
  const dm = link.updates.find((u) => u.d.content === 'missed dm');
  assert.equal((await link.ask('parse', { json: dm.json })).key, 'agent:main:discord:dm:700');
});

test('doubled and reordered events lose nothing, also when the connection breaks in between', limit, async (t) => {
  const { fake, link } = await connected(t);
  for (const how of ['reverse', 'twice']) {
    fake.hold();
    for (let i = 0; i < 5; i++) fake.say({ channel: '600', text: `${how} ${i}` });
    fake.release({ how });
  }
  await until('ten', () => new Set(link.texts()).size === 10);
  fake.hold();
  for (let i = 0; i < 3; i++) fake.say({ channel: '600', text: `gap ${i}` });
  fake.set({ held: [fake.held[2]] }); // only the last of them is sent before the cut
  fake.release();
  await until('the last', () => link.texts().includes('gap 2'));
  fake.cut();
  await until('all', () => new Set(link.texts()).size === 13);
  assert.equal(fake.resumes.length, 1);
});

test('what could not be stored comes again', limit, async (t) => {
  const { fake, link } = await connected(t);
  await link.ask('receive', { works: false });
  fake.say({ channel: '600', text: 'no room' });
  await link.state('reconnecting');
  assert.match((await link.ask('health')).error, /disk is full/);
  await link.ask('receive', { works: true });
  await until('it', () => link.received.length === 1);
  assert.deepEqual(link.texts(), ['no room']);
});

test('a new process takes up the old one\'s session', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.say({ channel: '600', text: 'one' });
  await until('one', () => link.received.length === 1);
  await link.close();
  fake.say({ channel: '600', text: 'nobody is there' });
  const next = open(t, fake, { cursor: link.cursor });
  await until('the second', () => next.received.length === 1);
  assert.deepEqual(next.texts(), ['nobody is there']);
  assert.deepEqual([fake.identifies.length, fake.resumes.length], [1, 1]);
  assert.equal((await next.state('connected')).me, fake.bot.id);
  await next.kill();
  fake.say({ channel: '600', text: 'after a crash' });
  const third = open(t, fake, { cursor: next.cursor });
  await until('the third', () => third.texts().includes('after a crash'));
});

test('a bad token ends in refusal, and nothing is asked any more', limit, async (t) => {
  const fake = await startDiscord(t), link = open(t, fake, { token: 'expired' });
  const health = await link.state('refused');
  assert.match(health.error, /token/);
  const asked = fake.requests.length;
  assert.equal((await link.ask('send', { chat: '600', text: 'x', key: 'k' })).kind, 'refused');
  assert.equal(fake.requests.length, asked);
  assert.equal((await link.close()).code, 0);
});

test('a token that expires while it is connected is noticed, and so is a missing intent', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.set({ token: 'another' });
  fake.cut();
  await link.state('refused');
  assert.equal((await link.close()).code, 0);
  const shy = await startDiscord(t);
  shy.set({ contentAllowed: false });
  assert.match((await open(t, shy).state('refused')).error, /message content intent/);
});

test('no more sessions are begun than Discord allows', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.starts = { ...fake.starts, remaining: 0, reset_after: 1500 };
  const link = open(t, fake);
  await until('the trouble', async () => /allows no new connection/.test((await link.ask('health')).error));
  assert.equal(fake.identifies.length, 0);
  fake.starts.remaining = 5;
  await link.state('connected');
});

test('5xx, cuts and nonsense while connecting are waited out', limit, async (t) => {
  const fake = await startDiscord(t);
  fake.fault({ path: '/users/@me', kind: '5xx' });
  fake.fault({ path: '/gateway/bot', kind: 'cut' });
  fake.set({ hello: true });
  const link = open(t, fake);
  await link.state('connected');
  for (const s of fake.sockets) { s.send('no frame'); s.send('[1]'); s.send('{"op":0,"t":"MESSAGE_CREATE","s":99,"d":7}'); s.send('{"op":0,"t":"GUILD_CREATE","d":{"channels":[1,{"id":"x"}]}}'); }
  fake.cut({ code: 4002 });
  await until('a resume', () => fake.resumes.length >= 1);
  fake.say({ channel: '600', text: 'still here' });
  await until('it', () => link.texts().includes('still here'));
});

test('a message of megabytes is left out, bytes that are no text end the session, and it goes on', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.say({ channel: '600', text: 'x'.repeat(3 << 20) });
  fake.say({ channel: '600', text: 'after the large one' });
  await until('the next', () => link.received.length === 1);
  fake.poison({ bytes: [0x7b, 0xff, 0xfe, 0x7d] });
  fake.say({ channel: '600', text: 'behind the poison' });
  await until('the one behind', () => link.texts().includes('behind the poison'));
  assert.deepEqual(link.texts().filter((x) => x.length > 100), []);
  assert.equal(fake.identifies.length, 2);
});

test('ten thousand messages at once: none is lost', limit, async (t) => {
  const { fake, link } = await connected(t);
  for (let i = 0; i < 10000; i++) fake.say({ channel: '600', text: `m${i}` });
  await until('all of them', () => link.received.length >= 10000, 50000);
  assert.deepEqual(link.texts(), Array.from({ length: 10000 }, (_, i) => `m${i}`));
  assert.equal(fake.identifies.length, 1);
});

// -- speaking ----------------------------------------------------------------------------------------------------------

test('a message is sent once per key, calls nobody, and can be changed', limit, async (t) => {
  const { fake, link } = await connected(t);
  const text = 'Hello @everyone <@55> **bold** \u{1f41f} \u0000 "quoted"\n```c\nint x;\n```';
  const sent = await link.ask('send', { chat: '600', text, key: 'a' });
  assert.ok(sent.ok);
  assert.equal((await link.ask('send', { chat: '600', text, key: 'a' })).id, sent.id);
  assert.notEqual((await link.ask('send', { chat: '600', text: 'b', key: 'b' })).id, sent.id);
  const [message] = fake.ours({ channel: '600' });
  assert.equal(message.content, text);
  assert.deepEqual(message.asked.allowed_mentions, { parse: [] });
  assert.ok(message.asked.nonce.length <= 25 && message.asked.enforce_nonce);
  assert.ok((await link.ask('send', { chat: '600', text: 'changed', edit: sent.id })).ok);
  assert.deepEqual(fake.ours({ channel: '600' }).map((m) => m.content), ['changed', 'b']);
  assert.equal((await link.ask('send', { chat: '999', text: 'x', key: 'c' })).kind, 'not_found');
  assert.equal((await link.ask('send', { chat: '../users', text: 'x', key: 'd' })).kind, 'not_found');
  assert.equal((await link.ask('send', { chat: '600', text: 'x'.repeat(2001), key: 'e' })).kind, 'invalid');
  assert.equal(link.received.length, 0, 'our own words do not come back');
});

test('an answer that is lost and one that is 5xx leave one message when it is said again', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.fault({ method: 'POST', path: 'messages', kind: 'lost' });
  const lost = await link.ask('send', { chat: '600', text: 'x', key: 'k' });
  assert.deepEqual([lost.ok, lost.kind, lost.unsure], [false, 'io', true]);
  fake.fault({ method: 'POST', path: 'messages', kind: '5xx' });
  const failed = await link.ask('send', { chat: '600', text: 'x', key: 'k' });
  assert.deepEqual([failed.ok, failed.kind, failed.unsure], [false, 'io', true]);
  assert.ok((await link.ask('send', { chat: '600', text: 'x', key: 'k' })).ok);
  assert.equal(fake.ours({ channel: '600' }).length, 1);
});

test('rate limits are obeyed: short ones by waiting, long ones by saying so', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.fault({ method: 'POST', path: 'messages', kind: '429', after: 0.3 });
  assert.ok((await link.ask('send', { chat: '600', text: 'soon', key: '1' })).ok);
  fake.fault({ method: 'POST', path: '600/messages', kind: '429', after: 30 });
  const later = await link.ask('send', { chat: '600', text: 'later', key: '2' });
  assert.deepEqual([later.ok, later.kind, later.unsure], [false, 'busy', false]);
  assert.ok(later.wait_ms > 25000 && later.wait_ms <= 30001, `${later.wait_ms}`);
  const asked = fake.requests.length;
  assert.equal((await link.ask('send', { chat: '600', text: 'later', key: '2' })).kind, 'busy');
  assert.equal(fake.requests.length, asked, 'the bucket is not asked again');
  fake.channel({ id: '601', guild: '500' });
  const elsewhere = await link.ask('send', { chat: '601', text: 'elsewhere', key: '3' });
  assert.ok(elsewhere.ok, `another bucket goes on: ${elsewhere.error}`);
  fake.fault({ method: 'POST', path: '601/messages', kind: '429', after: 20, global: true });
  assert.equal((await link.ask('send', { chat: '601', text: 'x', key: '4' })).kind, 'busy');
  fake.channel({ id: '602', guild: '500' });
  assert.equal((await link.ask('send', { chat: '602', text: 'x', key: '5' })).kind, 'busy', 'a global one is for all');
});

test('a bucket that is nearly empty is not overdrawn', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.set({ limits: { 'POST /channels/600/messages$': { limit: 2, ms: 500 } } });
  for (let i = 0; i < 7; i++) assert.ok((await link.ask('send', { chat: '600', text: `m${i}`, key: `${i}` })).ok);
  assert.deepEqual(fake.ours({ channel: '600' }).map((m) => m.content), [0, 1, 2, 3, 4, 5, 6].map((i) => `m${i}`));
  assert.equal(fake.requests.filter((r) => r.status === 429).length, 0);
});

test('where it may not write it asks once', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.channel({ id: '620', guild: '500', forbid: ['send'] });
  assert.equal((await link.ask('send', { chat: '620', text: 'x', key: '1' })).kind, 'refused');
  const asked = fake.requests.length;
  assert.equal((await link.ask('send', { chat: '620', text: 'x', key: '1' })).kind, 'refused');
  assert.equal(fake.requests.length, asked);
  assert.equal((await link.ask('look', { chat: '620', owner: '55' })).kind, 'refused');
});

test('a chat is looked at: kind, guild, thread, and whether it may write there', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.channel({ id: '700', type: 1, recipient: '55' });
  fake.channel({ id: '610', guild: '500', type: 11, parent: '600', name: 'a thread' });
  const look = async (channel) => { const v = await link.ask('look', { chat: channel, owner: '55' }); return [v.ok, v.chat, v.type, v.scope, v.thread, v.owner]; };
  assert.deepEqual(await look('600'), [true, '600', 'group', '500', '', '55']);
  assert.deepEqual(await look('700'), [true, '700', 'dm', '', '', '55']);
  assert.deepEqual(await look('610'), [true, '600', 'group', '500', '610', '55']);
  assert.equal((await link.ask('look', { chat: '12345', owner: '55' })).kind, 'not_found');
  await link.ask('typing', { chat: '600' });
  assert.ok(fake.asked({ method: 'POST', path: '^/channels/600/typing$' }).length >= 2);
});

// -- threads --------------------------------------------------------------------------------------------------------------

test('a thread is public, has its owner, and is one however often it is asked for', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.user({ id: '55', username: 'ann' });
  const order = { chat: '600', type: 'group', owner: '55', title: 'Fix the build', key: 'h1' };
  for (const [path_, kind] of [['600/messages$', 'lost'], ['threads$', 'lost'], ['thread-members', 'lost'], ['threads$', '5xx']]) {
    fake.fault({ path: path_, kind });
    assert.equal((await link.ask('thread', order)).ok, false);
  }
  const made = await link.ask('thread', order);
  assert.ok(made.ok, made.error);
  assert.equal((await link.ask('thread', order)).id, made.id);
  const threads = fake.threads({ parent: '600' });
  assert.deepEqual(threads.map((x) => [x.id, x.type, x.name, x.members]), [[made.id, 11, 'Fix the build', [fake.bot.id, '55']]]);
  assert.equal(fake.ours({ channel: '600' }).length, 1, 'and one message that it hangs at');
  assert.notEqual((await link.ask('thread', { ...order, key: 'h2' })).id, made.id);
  await link.ask('drop', { chat: '600', thread: made.id });
  assert.equal(fake.threads({ parent: '600' }).length, 1);
});

test('a thread where messages are forbidden, in announcements, in a forum, nowhere else', limit, async (t) => {
  const { fake, link } = await connected(t);
  fake.channel({ id: '630', guild: '500', forbid: ['send'] });
  fake.channel({ id: '640', guild: '500', type: 5 });
  fake.channel({ id: '650', guild: '500', type: 15 });
  fake.channel({ id: '660', guild: '500', type: 2 });
  const order = (channel, key) => ({ chat: channel, type: 'group', title: 'x'.repeat(300), key });
  for (const [channel, type] of [['630', 11], ['640', 10], ['650', 11]]) {
    fake.fault({ path: 'threads$', kind: 'lost' });
    let made = await link.ask('thread', order(channel, channel));
    for (let i = 0; i < 2; i++) made = await link.ask('thread', order(channel, channel));
    assert.ok(made.ok, made.error);
    assert.deepEqual(fake.threads({ parent: channel }).map((x) => [x.id, x.type, x.name.length]), [[made.id, type, 100]]);
    const other = await link.ask('thread', order(channel, `${channel} other`));
    assert.notEqual(other.id, made.id, 'another key, another thread');
  }
  for (const refused of [order('660', 'v'), { chat: '700', type: 'dm', title: 'x', key: 'd' }]) assert.equal((await link.ask('thread', refused)).kind, 'refused');
  fake.channel({ id: '670', guild: '500', forbid: ['thread'] });
  assert.equal((await link.ask('thread', order('670', 'n'))).kind, 'refused');
  assert.deepEqual(fake.ours({ channel: '670' }), [], 'the message that it would have hung at is taken away');
});

test('a thread that an earlier process left is found by one that has not heard yet who it is', limit, async (t) => {
  const { fake, link } = await connected(t), order = { chat: '650', type: 'group', title: 'A title', key: 'k' };
  fake.channel({ id: '650', guild: '500', type: 15 });
  fake.fault({ path: 'threads$', kind: 'lost' });
  assert.equal((await link.ask('thread', order)).unsure, true);
  await link.kill();
  let first = true; // what the next one's own thread asks for
  fake.onCall = (what, phase) => (what === 'GET /users/@me' && phase === 'after' && first ? (first = false, new Promise((r) => { setTimeout(r, 2000); })) : undefined);
  const next = open(t, fake);
  await until('its question', () => !first);
  const found = await next.ask('thread', order);
  assert.deepEqual(fake.threads({ parent: '650' }).map((x) => x.id), [found.id]);
});

test('without a token it does not begin', limit, async (t) => {
  const fake = await startDiscord(t);
  for (const token of ['', 'two words', 'line\nbreak']) assert.equal((await open(t, fake, { token }).exited).code, 1);
  assert.equal(fake.requests.length, 0);
});
