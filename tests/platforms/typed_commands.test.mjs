// Commands typed in a chat, end to end: /resume lists this chat's sessions and goes on with one; /sethome moves handoffs,
// for those who may; a Discord server that does not let us open threads, or write in them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { gateway, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { startDiscord } from '../fakes/discord.mjs';
import { startTelegram } from '../fakes/telegram.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { query } from './agents.mjs';

const awhile = 30_000, limit = { timeout: 120_000 };

const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

async function up(t, env, file, platform) {
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  await until(() => g.said(), () => query(file, `select link from platform_state where platform = '${platform}' and since_ms >= ${g.began}`)[0]?.[0] === 'connected', awhile);
  return g;
}

async function withModel(t) {
  const home = tmpHome(), model = await fakeModel(t, (q) => ({ text: `heard: ${q.messages.at(-1).text}` }));
  return { home, model, env: { ...home.env, ...model.env }, file: `${home.data}/talaria.db` };
}

async function asked(env, text) {
  const r = await run(['ask', text, '--json'], env);
  assert.equal(r.code, 0, r.stderr);
  const head = JSON.parse(r.stdout.split('\n')[0]);
  return head.conversation_id ?? head.data.conversation_id;
}

test('/resume and /sessions in Telegram: this chat\'s sessions by number, id and title, and nobody else\'s', limit, async (t) => {
  const fake = await startTelegram(t), { model, env: base, file } = await withModel(t);
  const env = { ...base, TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url, TALARIA_TELEGRAM_ALLOWED_USERS: '55,56' };
  const g = await up(t, env, file, 'telegram');
  const last = (chat) => fake.ours(chat).at(-1)?.text ?? '';
  const says = async (chat, text, answer) => {
    const before = fake.ours(chat).length;
    fake.say({ chat, text });
    return until(() => `${text}: ${JSON.stringify(fake.ours(chat).map((m) => m.text))} ${g.said()}`, () => fake.ours(chat).length > before && answer.exec(last(chat)), awhile);
  };
  await says(55, '/resume', /^This chat has no sessions yet\.$/);
  await says(55, 'the first matter', /^heard: the first matter$/);
  await says(55, '/new', /^Your next message starts a new session/);
  await says(55, 'the second matter', /^heard: the second matter$/);
  await says(56, 'a matter of somebody else', /^heard: /);
  const [, second, first] = await says(55, '/sessions', /^1\. the second matter \((\w+), [^)]*\)\n2\. the first matter \((\w+), [^)]*\)\nTo continue one: \/resume NUMBER$/);
  await says(55, '/resume 2', /^Continuing 'the first matter'\.$/);
  await says(55, 'on with it', /^heard: on with it$/);
  assert.deepEqual(model.turns.at(-1).messages.map((m) => m.text), ['the first matter', 'heard: the first matter', 'on with it']);
  await says(55, `/resume ${second}`, /^Continuing 'the second matter'\.$/);
  await says(55, 'and with that', /^heard: and with that$/);
  assert.equal(model.turns.at(-1).messages[0].text, 'the second matter');
  await says(55, '/resume the first matter', /^Continuing 'the first matter'\.$/);
  await says(55, '/resume 9', /no session '9' in this chat; \/sessions lists them/);
  const [[foreign]] = query(file, `select session_id from messages where content = 'a matter of somebody else'`);
  await says(55, `/resume ${foreign}`, /no session '\w+' in this chat/);
  await says(55, 'still here', /^heard: still here$/);
  assert.deepEqual(query(file, `select distinct session_id from messages where content in ('the first matter', 'on with it', 'still here')`), [[first]]);
});

test('/sethome: a guest is refused, the configuration counts, the chat that loses it is told', limit, async (t) => {
  const fake = await startTelegram(t), { env: base, file } = await withModel(t);
  const env = { ...base, TALARIA_TELEGRAM_TOKEN: fake.token, TALARIA_TELEGRAM_API_BASE: fake.url, TALARIA_TELEGRAM_ALLOWED_USERS: '55,56,*' };
  const id = await asked(env, 'the blue door');
  let g = await up(t, env, file, 'telegram');
  const told = (chat, words) => until(() => `${words}: ${JSON.stringify(fake.ours(chat).map((m) => m.text))} ${g.said()}`, () => fake.ours(chat).some((m) => words.test(m.text)), awhile);
  fake.say({ chat: 55, text: '/sethome' });
  await told(55, /is now the home channel of telegram/);
  fake.say({ chat: 91, text: '/sethome' });
  await told(91, /only people whose user id is in platforms\.telegram\.allowed can use \/sethome/);
  assert.equal((await run(['handoff', 'telegram', '--session', id, '--no-turn'], env)).code, 0);
  await told(55, /the blue door/);
  assert.ok(!fake.ours(91).some((m) => /blue door/.test(m.text)));
  fake.say({ chat: 56, text: '/sethome' });
  await told(56, /is now the home channel of telegram/);
  await told(55, /no longer arrive here: .* made '.*' the home channel/);
  await g.end();
  // From here on the configuration names one: it counts before what was said, and cannot be moved from a chat.
  const configured = { ...env, TALARIA_TELEGRAM_HOME_CHANNEL: '55' };
  assert.equal((await run(['handoff', 'back', '--session', id], configured)).code, 0);
  g = await up(t, configured, file, 'telegram');
  fake.say({ chat: 56, text: '/sethome' });
  await told(56, /the configuration names '55' as the home channel of telegram; change it there/);
  const before = fake.ours(55).length;
  assert.equal((await run(['handoff', 'telegram', '--session', id, '--no-turn'], configured)).code, 0);
  await until(() => g.said(), () => fake.ours(55).slice(before).some((m) => /blue door/.test(m.text)), awhile);
  assert.equal((await run(['gateway', 'sethome', 'telegram', '56'], configured)).code, 5);
});

const discordEnv = (base, fake, home) => ({ ...base, TALARIA_DISCORD_TOKEN: fake.token, TALARIA_DISCORD_API_BASE: fake.api,
  TALARIA_DISCORD_HOME_CHANNEL: home, TALARIA_DISCORD_HOME_OWNER: '55', TALARIA_DISCORD_ALLOWED_USERS: '55' });
const ann = { id: '55', username: 'ann' };

for (const [what, forbid] of [['open threads', ['thread']], ['write in threads', ['send_in_threads']]])
  test(`a Discord channel in which we may not ${what}: the session arrives in the channel itself`, limit, async (t) => {
    const fake = await startDiscord(t), { env: base, file } = await withModel(t);
    fake.channel({ id: '620', guild: '500', forbid });
    const env = discordEnv(base, fake, '620'), id = await asked(env, 'the blue door');
    const g = await up(t, env, file, 'discord');
    const done = await run(['handoff', 'discord', '--session', id, '--no-turn'], env);
    assert.equal(done.code, 0, `${done.stderr} ${g.said()}`);
    const ours = () => fake.ours({ channel: '620' }).map((m) => m.content);
    assert.ok(ours().some((x) => /the blue door/.test(x)), JSON.stringify(ours()));
    assert.match(g.said(), /no thread for handoff|Missing Permissions/);
    fake.say({ channel: '620', author: ann, text: 'go on', mention: true });
    await until(() => `${JSON.stringify(ours())} ${g.said()}`, () => ours().includes('heard: go on'), awhile);
    assert.deepEqual(query(file, `select distinct session_id from messages where content = 'go on'`), [[id]]);
    assert.deepEqual(fake.threads({ parent: '620' }), [], 'no empty thread is left');
  });

test('a Discord channel in which we may do nothing: told in words, and the session stays', limit, async (t) => {
  const fake = await startDiscord(t), { env: base, file } = await withModel(t);
  fake.channel({ id: '620', guild: '500', forbid: ['send', 'thread'] });
  fake.channel({ id: '630', guild: '500', forbid: ['view'] });
  for (const [chat, words] of [['620', /Missing Permissions|may not/], ['630', /Missing Access|may not|cannot/]]) {
    const env = discordEnv(base, fake, chat), id = await asked(env, 'the blue door');
    const g = await up(t, env, file, 'discord');
    const done = await run(['handoff', 'discord', '--session', id, '--no-turn'], env);
    assert.notEqual(done.code, 0);
    assert.match(done.stderr, words);
    assert.equal((await run(['ask', 'still here', '--conversation', id], env)).code, 0, 'it can be continued where it was');
    await g.end();
  }
});
