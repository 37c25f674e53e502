// A session that is taken back: the place that it left is told so, once, also by a gateway that starts later, unless much
// time has passed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { gateway, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { query } from './agents.mjs';
import { worlds } from './worlds.mjs';

const awhile = 30_000, limit = { timeout: 120_000 };

const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

/** A session of the offline runtime, in a thread there. */
async function away(t, world) {
  const home = tmpHome(), env = { ...home.env, ...world.env }, file = `${home.data}/talaria.db`;
  const asked = await run(['ask', 'the blue door', '--json'], env);
  assert.equal(asked.code, 0, asked.stderr);
  const first = JSON.parse(asked.stdout.split('\n')[0]), id = first.conversation_id ?? first.data.conversation_id;
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  assert.equal((await run(['handoff', world.name, '--session', id, '--no-turn'], env)).code, 0);
  return { env, file, id, g, thread: world.threads()[0] };
}

const note = /^'the blue door' continues in the terminal\. Write here to start a new session; [/!]resume continues an earlier one from this chat\.$/;

for (const [name, open] of Object.entries(worlds))
  test(`${name}: the place hears that its session has left`, limit, async (t) => {
    const world = await open(t), { env, file, id, g, thread } = await away(t, world);
    const back = await run(['handoff', 'back', '--session', id], env);
    assert.equal(back.code, 0, back.stderr);
    await until(() => `a note: ${JSON.stringify(world.ours(thread))} ${g.said()}`, () => note.test(world.ours(thread).at(-1)), awhile);
    assert.equal((await run(['handoff', 'back', '--session', id], env)).code, 4);
    await until('it is noted', () => query(file, `select count(*) from outbox where state <> 'sent'`)[0][0] === 0, awhile);
    assert.equal((await g.end()).code, 0);
    assert.equal(world.ours(thread).filter((x) => note.test(x)).length, 1);
  });

test('no gateway was there: the next one says it; what is an hour old it does not say', limit, async (t) => {
  const world = await worlds.telegram(t), { env, file, id, g, thread } = await away(t, world);
  await g.end();
  assert.equal((await run(['handoff', 'back', '--session', id], env)).code, 0);
  assert.deepEqual(query(file, `select state, expires_ms - created_ms from outbox where id like 'left:%'`), [['waiting', 3_600_000]]);
  let next = await gateway(env);
  t.after(() => next.end('SIGKILL'));
  await until(() => next.said(), () => note.test(world.ours(thread).at(-1)), awhile);
  assert.equal((await run(['handoff', 'telegram', '--session', id, '--no-turn'], env)).code, 0);
  await next.end();
  assert.equal((await run(['handoff', 'back', '--session', id], env)).code, 0);
  query(file, `update outbox set created_ms = created_ms - 3600000, expires_ms = expires_ms - 3600000 where state = 'waiting'`);
  next = await gateway(env);
  await until(() => next.said(), () => query(file, `select count(*) from outbox where state = 'dead' and error like 'expired%'`)[0][0] === 1, awhile);
  const [telegram] = JSON.parse((await run(['gateway', 'status', '--json'], env)).stdout).platforms.filter((p) => p.platform === 'telegram');
  assert.equal(telegram.dead, 1, 'one sees that it was not said');
  assert.equal(world.threads().flatMap((x) => world.ours(x)).filter((x) => note.test(x)).length, 1);
});

test('answers for one place arrive in the order of the questions, though some are tried again', limit, async (t) => {
  const world = await worlds.telegram(t), { g, thread } = await away(t, world);
  await until(() => g.said(), () => world.fake.pollers.size === 1, awhile);
  for (let i = 0; i < 30; i++) {
    if (i % 10 === 0) world.fake.trouble('sendMessage', { status: 502 }, 1);
    world.says(thread, `/nothing${i}`);
  }
  const numbers = () => world.ours(thread).map((x) => /Unknown command \/nothing(\d+)\./.exec(x)?.[1]).filter(Boolean).map(Number);
  await until(() => `${numbers()} ${g.said()}`, () => numbers().length === 30, awhile);
  assert.deepEqual(numbers(), Array.from({ length: 30 }, (_, i) => i));
});
