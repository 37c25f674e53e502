// A group of Telegram's that becomes a supergroup has another number: its session and the home channel follow, for good.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { FakeTelegram } from '../fakes/telegram.mjs';

const awhile = 30_000;

async function begin(t) {
  const fake = await new FakeTelegram().start(), seen = [], home = tmpHome();
  t.after(() => fake.stop());
  fake.addChat({ id: -43, type: 'group', title: 'Group' });
  const model = await fakeModel(t, (q) => { seen.push(q); return { text: `heard: ${q.messages.at(-1).text}` }; });
  const env = { ...home.env, ...model.env, TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url, TALARIA_TELEGRAM_ALLOWED_USERS: '55' };
  const world = { fake, seen, env, rows: (sql) => query(`${home.data}/talaria.db`, sql) };
  world.start = async () => { world.g = await gateway(env); t.after(() => world.g.end('SIGKILL')); };
  world.asks = async (chat, text) => {
    fake.say({ chat, from: 55, text: `@${fake.me.username} ${text}` });
    await until(() => `an answer to ${text}: ${world.g.said()}`, () => fake.ours(chat).at(-1)?.text === `heard: ${text}`, awhile);
  };
  /** What -43 is from now on. */
  world.upgrade = (chat) => { fake.addChat({ id: -100777, type: 'supergroup', title: 'Group', ...chat }, { member: { status: 'administrator', can_manage_topics: true } }); };
  world.home = () => world.rows("select chat_id, topics, owner_id from home_channel where platform = 'telegram'")[0];
  await world.start();
  await world.asks(-43, 'remember the blue door');
  fake.say({ chat: -43, from: 55, text: `/sethome@${fake.me.username}` });
  await until(() => `a home: ${world.g.said()}`, () => world.home()?.[0] === '-43', awhile);
  return world;
}

for (const [how, chat] of [['it is told', {}], ['it is told, with topics from now on', { is_forum: true }]]) {
  test(`${how}: home and session follow, also in the next process`, { timeout: 120_000 }, async (t) => {
    const world = await begin(t), { fake } = world;
    world.upgrade(chat);
    fake.say({ chat: -43, migrate_to_chat_id: -100777 });
    fake.chats.get('-43').moved_to = -100777;
    await until(() => `the home: ${world.g.said()}`, () => world.home()[0] === '-100777' && world.home()[1] === (chat.is_forum ? 1 : 0), awhile);
    assert.equal(world.home()[2], '55');
    assert.equal((await world.g.end()).code, 0);
    await world.start();
    await world.asks(-100777, 'what colour was it?');
    assert.ok(world.seen.at(-1).messages.some((m) => m.text === 'remember the blue door'), 'the session goes on');
    assert.deepEqual(world.rows("select count(distinct session_id) from messages where content in ('remember the blue door', 'what colour was it?')"), [[1]]);
    await world.asks(-100777, 'and once more');
    assert.ok(world.seen.at(-1).messages.some((m) => m.text === 'what colour was it?'));
  });
}

test('it is only seen when something is sent there', { timeout: 120_000 }, async (t) => {
  const world = await begin(t), { fake } = world;
  world.upgrade({});
  fake.chats.get('-43').moved_to = -100777;
  // A message that was on its way: the answer to it is refused, with the new number.
  fake.push({ message: { message_id: 900, date: 1, chat: { id: -43, type: 'group', title: 'Group' }, from: { id: 55, is_bot: false, first_name: 'User 55' },
    text: `@${fake.me.username} late`, entities: [{ type: 'mention', offset: 0, length: fake.me.username.length + 1 }] } });
  await until(() => `an answer: ${world.g.said()}`, () => fake.ours(-100777).at(-1)?.text === 'heard: late', awhile);
  await until(() => `the home: ${world.g.said()}`, () => world.home()[0] === '-100777', awhile);
  await world.asks(-100777, 'what colour was it?');
  assert.ok(world.seen.at(-1).messages.some((m) => m.text === 'remember the blue door'));
});
