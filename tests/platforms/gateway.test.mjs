// The whole gateway on each platform: a session goes there, goes on there, comes back; strangers stay outside.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { worlds } from './worlds.mjs';

/** Beside the platform and the model, which answer from this process. */
const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

const awhile = 30_000;

async function begin(t, world) {
  const home = tmpHome(t), seen = [];
  const model = await fakeModel(t, (q) => { seen.push(q); return { text: `heard: ${q.messages.at(-1).text.slice(0, 40)}` }; });
  const env = { ...home.env, ...model.env, ...world.env };
  const asked = await run(['ask', 'remember the blue door', '--json'], env);
  assert.equal(asked.code, 0, asked.stderr);
  const first = JSON.parse(asked.stdout.split('\n')[0]);
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  if (world.name) await until(() => `a line: ${g.said()}`, () => query(`${home.data}/talaria.db`, `select link from platform_state where platform = '${world.name}'`)[0]?.[0] === 'connected', awhile);
  return { home, seen, env, g, id: first.conversation_id ?? first.data.conversation_id, file: `${home.data}/talaria.db` };
}

for (const [name, open] of Object.entries(worlds)) {
  test(`${name}: a session goes there with its words, is answered there, and comes back`, { timeout: 120_000 }, async (t) => {
    const world = await open(t), { env, g, id, seen, file } = await begin(t, world);
    const handed = await run(['handoff', name, '--session', id], env);
    assert.equal(handed.code, 0, handed.stderr + g.said());
    assert.equal(world.threads().length, 1);
    const [thread] = world.threads();
    // The card, then the agent's own first words, which nobody asked for.
    await until(() => `two messages: ${world.ours(thread)} ${g.said()}`, () => world.ours(thread).length === 2 && /^heard: /.test(world.ours(thread)[1]), awhile);
    assert.match(world.ours(thread)[0], /blue door/);
    world.says(thread, 'and what colour was it?');
    await until(() => `an answer: ${world.ours(thread)} ${g.said()}`, () => world.ours(thread).at(-1) === 'heard: and what colour was it?', awhile);
    assert.equal(world.ours(thread).length, 3);
    assert.ok(seen.at(-1).messages.some((m) => m.text === 'remember the blue door'), 'the model was sent what was said before');
    assert.deepEqual(query(file, `select distinct session_id from messages where content = 'and what colour was it?'`), [[id]]);
    const away = await run(['ask', 'me again', '--conversation', id], env);
    assert.equal(away.code, 4, away.stderr);
    assert.match(away.stderr, new RegExp(`in the ${name} chat`));
    assert.equal((await run(['handoff', 'back', '--session', id], env)).code, 0);
    assert.equal((await run(['ask', 'me again', '--conversation', id], env)).code, 0);
    const { code } = await g.end();
    assert.equal(code, 0);
    for (const secret of Object.values(world.env).filter((v) => /token|xox|xapp/i.test(v))) assert.ok(!g.said().includes(secret));
  });

  test(`${name}: a stranger gets a code and nothing else, until the owner has typed it`, { timeout: 120_000 }, async (t) => {
    const world = await open(t), { env, g, seen } = await begin(t, world);
    const before = seen.length;
    world.stranger('let me in');
    await until(() => `an answer: ${g.said()}`, () => world.toStranger().length === 1, awhile);
    world.stranger('hello?');
    const code = /\b[A-Z0-9]{8}\b/.exec(world.toStranger()[0])?.[0];
    assert.ok(code, world.toStranger()[0]);
    const listed = await run(['gateway', 'pair', 'list', '--json'], env);
    assert.match(listed.stdout, new RegExp(name));
    assert.equal((await run(['gateway', 'pair', 'approve', 'NOTACODE'], env)).code, 3);
    assert.equal((await run(['gateway', 'pair', 'approve', code], env)).code, 0);
    assert.equal(seen.length, before, 'the model was not asked');
    world.stranger('now?');
    await until(() => `an answer: ${world.toStranger()} ${g.said()}`, () => world.toStranger().at(-1) === 'heard: now?', awhile);
    await g.end();
  });
}

test('all at once: each platform is served, and one that refuses us leaves the others alone', { timeout: 120_000 }, async (t) => {
  const all = await Promise.all(Object.values(worlds).map((open) => open(t)));
  const env = Object.assign({}, ...all.map((w) => w.env));
  const { g, env: whole } = await begin(t, { env: { ...env, TALARIA_DISCORD_TOKEN: 'not-the-token' } });
  const link = async () => Object.fromEntries(JSON.parse((await run(['gateway', 'status', '--json'], whole)).stdout).platforms.map((p) => [p.platform ?? p.name, p.link ?? p.state]));
  let now = {};
  for (const end = Date.now() + awhile; Date.now() < end && !(now.telegram === 'connected' && now.slack === 'connected' && now.discord === 'refused');) now = await link();
  assert.deepEqual(now, { local: 'connected', telegram: 'connected', discord: 'refused', slack: 'connected' }, g.said());
  assert.equal((await g.end()).code, 0);
});

const burst = process.env.TALARIA_LONG ? 10_000 : 300;
test(`${burst} messages at once, some of them twice: each is answered, and once`, { timeout: 60_000 + burst * 100 }, async (t) => {
  const world = await worlds.telegram(t);
  const config = fs.mkdtempSync(path.join(os.tmpdir(), 'talaria-'));
  t.after(() => fs.rmSync(config, { recursive: true, force: true }));
  fs.mkdirSync(path.join(config, 'talaria'));
  fs.writeFileSync(path.join(config, 'talaria/config.yaml'), 'gateway:\n  busy: queue\n');
  const { g, seen } = await begin(t, { ...world, env: { ...world.env, XDG_CONFIG_HOME: config, TALARIA_TELEGRAM_ALLOWED_USERS: '*' } });
  const before = seen.length, chats = Array.from({ length: burst / 10 }, (_, i) => 1000 + i);
  for (let i = 0; i < burst; i++) {
    const m = world.fake.say({ chat: chats[i % chats.length], text: `m${i}` });
    if (i % 7 === 0) world.fake.updates.push({ ...world.fake.updates.at(-1) });
    assert.ok(m);
  }
  // The platform answers from this process, too: it is looked at now and then, in one go.
  const answered = () => world.fake.messages.reduce((n, m) => n + /^heard: m\d+$/.test(m.text ?? ''), 0);
  for (const end = Date.now() + 50_000 + burst * 90; answered() < burst;) {
    assert.ok(Date.now() < end, `${answered()} answers; ${g.said()}`);
    await new Promise((r) => setTimeout(r, 50 + burst / 20));
  }
  await g.end();
  const texts = chats.flatMap((c) => world.fake.ours(c).map((m) => m.text));
  assert.equal(texts.length, burst, 'nothing else was said');
  assert.equal(new Set(texts).size, burst);
  assert.equal(seen.length - before, burst, 'the model was asked once for each');
});
