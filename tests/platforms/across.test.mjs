// From one chat to another, back to the terminal, and fetched from there: what people type in a chat to move a session.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { worlds } from './worlds.mjs';

const awhile = 30_000;

/** Beside the platforms and the model, which answer from this process. */
const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

test('telegram to discord, back to the terminal, and fetched from a private chat', { timeout: 120_000 }, async (t) => {
  const home = tmpHome(t), seen = [];
  const model = await fakeModel(t, (q) => { seen.push(q); return { text: `heard: ${q.messages.at(-1).text.slice(0, 40)}` }; });
  const [telegram, discord] = await Promise.all([worlds.telegram(t), worlds.discord(t)]);
  const env = { ...home.env, ...model.env, ...telegram.env, ...discord.env };
  const file = `${home.data}/talaria.db`;
  const first = JSON.parse((await run(['ask', 'remember the blue door', '--json'], env)).stdout.split('\n')[0]);
  const id = first.conversation_id ?? first.data.conversation_id;
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  const links = () => query(file, "select link from platform_state where platform in ('telegram', 'discord')").map((r) => r[0]);
  await until(() => `two lines: ${g.said()}`, () => links().length === 2 && links().every((l) => l === 'connected'), awhile);
  const handed = await run(['handoff', 'telegram', '--session', id], env);
  assert.equal(handed.code, 0, handed.stderr);
  const [there] = telegram.threads();
  await until(() => `first words: ${telegram.ours(there)}`, () => telegram.ours(there).length === 2, awhile);

  // While the first words are still being written it says so: then it is asked again.
  const told = () => telegram.ours(there).filter((m) => m.startsWith('Session: ') && m.includes(id));
  for (let asked = 1; ; asked++) {
    telegram.says(there, '/status');
    await until(() => `a status: ${telegram.ours(there)}`, () => told().length === asked, awhile);
    if (told().at(-1).includes('State: idle')) break;
    assert.match(told().at(-1), /State: the agent is answering/);
    assert.ok(asked < 50, 'the first words never end');
  }
  telegram.says(there, '/handoff discord');
  await until(() => `a card: ${g.said()}`, () => discord.threads().length === 1 && discord.ours(discord.threads()[0]).length === 2, awhile);
  const [here] = discord.threads();
  assert.match(discord.ours(here)[0], /blue door/);
  assert.ok(!seen.at(-1).messages.some((m) => /from the terminal/.test(m.text)), 'that is not where it came from');
  discord.says(here, 'and what colour was it?');
  await until(() => `an answer: ${discord.ours(here)}`, () => discord.ours(here).at(-1) === 'heard: and what colour was it?', awhile);
  assert.deepEqual(query(file, "select distinct session_id from messages where content = 'and what colour was it?'"), [[id]]);
  assert.ok(seen.at(-1).messages.some((m) => m.text === 'remember the blue door'));
  // Where it was before, the next words begin anew.
  telegram.says(there, 'anybody here?');
  await until('another session', () => query(file, "select session_id from messages where content = 'anybody here?'").some(([s]) => s !== id), awhile);

  discord.says(here, '/handoff back');
  await until(() => `a way back: ${discord.ours(here)}`, () => discord.ours(here).at(-1).includes(`talaria chat --resume ${id}`), awhile);
  const again = await run(['ask', 'me again', '--conversation', id], env);
  assert.equal(again.code, 0, again.stderr);

  telegram.fake.say({ chat: 55, from: 55, text: `/resume --all ${id}` });
  await until('it is there', () => telegram.fake.ours(55).some((m) => m.text.includes('me again')), awhile);
  assert.equal((await run(['ask', 'and again', '--conversation', id], env)).code, 4);
  telegram.fake.say({ chat: 55, from: 55, text: 'on my phone' });
  await until('an answer', () => telegram.fake.ours(55).at(-1)?.text === 'heard: on my phone', awhile);
  assert.deepEqual(query(file, "select distinct session_id from messages where content = 'on my phone'"), [[id]]);
  assert.equal((await run(['handoff', 'back', '--session', id], env)).code, 0);
  await g.end();
});
