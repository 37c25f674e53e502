// Our fake Discord, judged by discord.js: what this independent client makes of it is what ours may rely on.
import assert from 'node:assert/strict';
import test from 'node:test';
import { once } from 'node:events';
import { ChannelType, Client, GatewayIntentBits, Partials } from 'discord.js';
import { startDiscord } from '../fakes/discord.mjs';

async function login(t, fake, token = fake.token) {
  const client = new Client({
    rest: { api: `${fake.origin}/api`, version: '10', timeout: 5000 },
    intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
    partials: [Partials.Channel],
  });
  t.after(() => client.destroy());
  client.on('error', () => {});
  const ready = once(client, 'clientReady');
  await client.login(token);
  await ready;
  return client;
}

test('discord.js logs in and hears what people write', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t), client = await login(t, fake);
  assert.equal(client.user.id, fake.bot.id);
  assert.equal(client.guilds.cache.get('500').name, 'House');
  assert.equal(client.channels.cache.get('600').name, 'general');
  const heard = once(client, 'messageCreate');
  fake.say({ channel: '600', text: 'hello', mention: true });
  const [message] = await heard;
  assert.equal(message.content, `<@${fake.bot.id}> hello`);
  assert.ok(message.mentions.has(client.user));
  assert.equal(message.author.username, 'ann');
});

test('discord.js sends, edits, and gets the first message back for the same nonce', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t), client = await login(t, fake), channel = client.channels.cache.get('600');
  const message = await channel.send({ content: 'one', nonce: '77', enforceNonce: true });
  const again = await channel.send({ content: 'one', nonce: '77', enforceNonce: true });
  assert.equal(again.id, message.id);
  assert.equal((await message.edit('two')).content, 'two');
  assert.deepEqual(fake.ours({ channel: '600' }).map((m) => m.content), ['two']);
  await assert.rejects(channel.send('x'.repeat(2001)), { code: 50035 });
  await channel.sendTyping();
  assert.equal((await channel.messages.fetch({ after: '1', limit: 10 })).size, 1);
});

test('discord.js makes threads: of its own, at a message, in a forum, with members', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t);
  fake.channel({ id: '650', guild: '500', type: ChannelType.GuildForum, name: 'posts' });
  fake.user({ id: '55', username: 'ann' });
  const client = await login(t, fake), channel = client.channels.cache.get('600');
  const direct = await channel.threads.create({ name: 'work', type: ChannelType.PublicThread, autoArchiveDuration: 1440 });
  assert.equal(direct.type, ChannelType.PublicThread);
  await direct.members.add('55');
  assert.deepEqual(fake.threads({ parent: '600' })[0].members, [fake.bot.id, '55']);
  const seed = await channel.send('seed'), thread = await seed.startThread({ name: 'at a message' });
  assert.equal(thread.id, seed.id);
  await assert.rejects(seed.startThread({ name: 'again' }), (e) => e.code === 160004 || e.code === 'MessageExistingThread');
  const post = await client.channels.cache.get('650').threads.create({ name: 'post', message: { content: 'first' } });
  assert.equal((await post.fetchStarterMessage()).content, 'first');
  assert.equal((await channel.guild.channels.fetchActiveThreads()).threads.size, 3);
  await direct.delete();
  assert.equal(fake.threads({ parent: '600' }).length, 1);
});

test('discord.js registers slash commands and answers one', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t), client = await login(t, fake);
  await client.application.commands.set([{ name: 'status', description: 'how it stands' }]);
  assert.equal(fake.commands[0].name, 'status');
  const used = once(client, 'interactionCreate');
  const id = fake.slash({ channel: '600', name: 'status', text: 'now' });
  const [interaction] = await used;
  assert.equal(interaction.options.getString('text'), 'now');
  await interaction.reply({ content: 'fine', flags: 64 });
  assert.equal(fake.interactions.get(id).answer.data.content, 'fine');
});

test('discord.js obeys the rate limits that it is told', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t), client = await login(t, fake);
  fake.set({ limits: { 'POST /channels/600/messages$': { limit: 2, ms: 400 } } });
  const began = Date.now();
  await Promise.all([1, 2, 3, 4, 5, 6].map((n) => client.channels.cache.get('600').send(`m${n}`)));
  assert.equal(fake.ours({ channel: '600' }).length, 6);
  assert.ok(Date.now() - began >= 700);
  assert.deepEqual(fake.asked({ method: 'POST', path: 'messages' }).filter((r) => r.status === 429), []);
  fake.fault({ method: 'POST', path: 'messages', kind: '429', after: 0.2 });
  await client.channels.cache.get('600').send('after a 429');
  assert.equal(fake.ours({ channel: '600' }).at(-1).content, 'after a 429');
});

test('discord.js resumes a broken session and loses nothing', { timeout: 30000 }, async (t) => {
  const fake = await startDiscord(t), client = await login(t, fake), heard = [];
  client.on('messageCreate', (m) => heard.push(m.content));
  const resumed = once(client, 'shardResume');
  fake.cut();
  fake.say({ channel: '600', text: 'while it was away' });
  await resumed;
  fake.op({ op: 7 });
  await once(client, 'shardResume');
  fake.say({ channel: '600', text: 'and afterwards' });
  for (let i = 0; i < 200 && heard.length < 2; i++) await new Promise((r) => { setTimeout(r, 25); });
  assert.deepEqual(heard, ['while it was away', 'and afterwards']);
});

test('discord.js is refused with a token that is not the one', { timeout: 20000 }, async (t) => {
  const fake = await startDiscord(t);
  await assert.rejects(login(t, fake, 'MTAwMA.wrong.token'), { code: 'TokenInvalid' });
});
