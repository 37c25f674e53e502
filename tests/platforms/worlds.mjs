// The three platforms as one: a home chat with threads in it, somebody who writes there, and what we said.
//
//   world.env          what a gateway is started with, to talk to it
//   world.threads()    names of the threads of the home chat
//   world.ours(thread) our messages in it, as they read now, oldest first
//   world.says(thread, text)   the owner writes
//   world.key(thread)  the key of what is said there, where it does not depend on who says it
//   world.general      the home chat outside of threads, where a platform cannot tell whether it made one
//   world.onCall(fn)   fn(name, 'before' | 'after') at each of them
import { startDiscord } from '../fakes/discord.mjs';
import { fakeSlack } from '../fakes/slack.mjs';
import { FakeTelegram } from '../fakes/telegram.mjs';

const watch = (fake, counts) => (fn) => { fake.onCall = (name, phase) => (counts(name) ? fn(name, phase) : undefined); };

async function telegram(t) {
  const fake = await new FakeTelegram().start();
  t.after(() => fake.stop());
  fake.addChat({ id: -100777, type: 'supergroup', is_forum: true, title: 'Forum' }, { member: { status: 'administrator', can_manage_topics: true } });
  fake.nextMessage = 10; // a topic is named after its first message, and 1 is General
  return {
    name: 'telegram', fake,
    env: { TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url, TALARIA_TELEGRAM_HOME_CHANNEL: '-100777', TALARIA_TELEGRAM_ALLOWED_USERS: '55' },
    threads: () => fake.topicsOf(-100777).map((x) => x.id),
    ours: (thread) => fake.ours(-100777, thread).map((m) => m.text),
    says: (thread, text) => fake.say({ chat: -100777, from: 55, thread, text }),
    general: {
      ours: () => fake.messages.filter((m) => m.chat.id === -100777 && m.from?.id === fake.me.id && m.text && !m.message_thread_id).map((m) => m.text),
      says: (text) => fake.say({ chat: -100777, from: 55, text: `@${fake.me.username} ${text}` }),
    },
    stranger: (text) => fake.say({ chat: 99, from: 99, text }),
    toStranger: () => fake.ours(99).map((m) => m.text),
    onCall: watch(fake, (name) => /^(createForumTopic|sendMessage)$/.test(name)),
  };
}

async function discord(t) {
  const fake = await startDiscord(t);
  fake.channel({ id: '700', type: 1, recipient: '99' });
  return {
    name: 'discord', fake,
    env: { TALARIA_DISCORD_TOKEN: fake.token, TALARIA_DISCORD_API_BASE: fake.api, TALARIA_DISCORD_HOME_CHANNEL: '600', TALARIA_DISCORD_ALLOWED_USERS: '55' },
    threads: () => fake.threads({ parent: '600' }).map((x) => x.id),
    ours: (thread) => fake.ours({ channel: thread }).map((m) => m.content),
    says: (thread, text) => fake.say({ channel: thread, author: { id: '55', username: 'ann' }, text }),
    key: (thread) => `agent:main:discord:thread:${thread}:${thread}`,
    stranger: (text) => fake.say({ channel: '700', author: { id: '99', username: 'eve' }, text }),
    toStranger: () => fake.ours({ channel: '700' }).map((m) => m.content),
    onCall: watch(fake, (name) => /^(POST|PUT) \/channels\/\w+\/(messages|threads|messages\/\w+\/threads|thread-members\/\w+)$/.test(name)),
  };
}

/** A channel in which we may open no threads, and nobody says whose it is. */
export async function discordChannel(t, why = 'thread') {
  const w = await discord(t), { fake } = w;
  fake.channels.get('600').forbid.push(why);
  return Object.assign(w, {
    general: {
      ours: () => fake.ours({ channel: '600' }).map((m) => m.content),
      says: (text, author = { id: '55', username: 'ann' }) => fake.say({ channel: '600', author, text, mention: true }),
    },
  });
}

async function slack(t) {
  const fake = await fakeSlack(t, { channels: { D9: { id: 'D9', is_im: true, user: 'U9' } } });
  const inThread = (m, thread) => m.channel === 'C1' && m.thread_ts === thread;
  return {
    name: 'slack', fake,
    env: { ...fake.env, TALARIA_SLACK_HOME_CHANNEL: 'C1', TALARIA_SLACK_ALLOWED_USERS: 'U1' },
    threads: () => fake.messages.filter((m) => m.channel === 'C1' && !m.thread_ts).map((m) => m.ts),
    ours: (thread) => fake.messages.filter((m) => inThread(m, thread)).map((m) => m.text),
    says: (thread, text) => fake.push(fake.event({ thread_ts: thread, text })),
    key: (thread) => `agent:main:slack:group:T1:C1:${thread}`,
    stranger: (text) => fake.push(fake.event({ channel: 'D9', channel_type: 'im', user: 'U9', text })),
    toStranger: () => fake.messages.filter((m) => m.channel === 'D9').map((m) => m.text),
    onCall: watch(fake, (name) => name === 'chat.postMessage'),
  };
}

export const worlds = { telegram, discord, slack };
