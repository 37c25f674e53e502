// What comes too early at Slack: a handoff before Slack has said who we are, and words before the session is there.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { me } from '../fakes/slack.mjs';
import { worlds } from '../platforms/worlds.mjs';
import { allDone, awhile, begin, check, connected, run, talk } from './handed.mjs';

const options = { timeout: 120_000 };

/** Who we are is what Slack says last. */
const late = (fake, ms = 500) => {
  fake.onCall = (name, phase) => (name === 'auth.test' && phase === 'after' ? new Promise((r) => setTimeout(r, ms)) : undefined);
};

async function hand(t, w, id) {
  assert.equal((await run(['handoff', 'slack', '--session', id, '--detach', '--no-turn'], w.env)).code, 0);
}

test('a handoff that is there before Slack says which workspace this is', options, async (t) => {
  const w = await begin(t, worlds.slack), id = await talk(w, 'early'), before = w.world.threads();
  late(w.world.fake);
  await hand(t, w, id);
  const g = await gateway(w.env);
  t.after(() => g.end('SIGKILL'));
  await allDone(w, g);
  await check(w, id, 'early', g, before);
});

test('a home that is set before Slack says which workspace this is', options, async (t) => {
  const w = await begin(t, worlds.slack), id = await talk(w, 'home'), before = w.world.threads();
  late(w.world.fake);
  const r = await run(['gateway', 'sethome', 'slack', 'C1'], w.env);
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(query(w.file, 'select chat_id, scope_id from home_channel where platform = \'slack\''), [['C1', 'T1']]);
  const g = await gateway(w.env);
  t.after(() => g.end('SIGKILL'));
  await hand(t, w, id);
  await allDone(w, g);
  await check(w, id, 'home', g, before);
});

test('a gateway dies when it has made the thread: words that come before the next one has bound it wait for the session', options, async (t) => {
  const w = await begin(t, worlds.slack), { world, file } = w, id = await talk(w, 'waits'), before = world.threads();
  const first = await gateway(w.env);
  const dead = new Promise((resolve) => {
    world.onCall(async (name, phase) => { if (phase === 'after') { world.onCall(() => {}); resolve(await first.end('SIGKILL')); } });
  });
  await hand(t, w, id);
  await dead;
  const [thread] = world.threads().filter((x) => !before.includes(x));
  assert.ok(thread, 'the thread is there');
  assert.deepEqual(query(file, 'select state, thread_ref from handoff'), [['claimed', null]]);
  const g = await gateway(w.env);
  t.after(() => g.end('SIGKILL'));
  await connected(w, g);
  world.fake.push(world.fake.event({ thread_ts: thread, parent_user_id: me, text: 'are you there?' }));
  await until(() => `taken: ${g.said()}`, () => query(file, 'select state from inbox')[0]?.[0] === 'taken', awhile);
  query(file, `update handoff set lease_ms = ${Date.now()}`); // the dead one's lease is over
  await until(() => `an answer: ${g.said()}`, () => world.ours(thread).includes('heard: are you there?'), awhile);
  assert.deepEqual(query(file, 'select distinct session_id from messages where content = \'are you there?\''), [[id]]);
  await allDone(w, g);
  await check(w, id, 'waits', g, before);
});

test('everyone has a session of their own in threads, and nobody knows whose this one is: who is named and writes first goes on', options, async (t) => {
  const w = await begin(t, worlds.slack), id = await talk(w, 'whose'), before = w.world.threads();
  fs.mkdirSync(path.join(w.env.HOME, '.hermes'));
  fs.writeFileSync(path.join(w.env.HOME, '.hermes/config.yaml'), 'thread_sessions_per_user: true\n');
  let g = await gateway(w.env);
  t.after(() => g.end('SIGKILL'));
  await hand(t, w, id);
  await allDone(w, g);
  w.world.key = (thread) => `agent:main:slack:group:T1:C1:${thread}:system:handoff`;
  await check(w, id, 'whose', g, before);
  const keys = () => query(w.file, 'select session_key from gateway_routing').flat();
  const [thread] = w.world.threads().filter((x) => !before.includes(x));
  assert.deepEqual(keys(), [`agent:main:slack:group:T1:C1:${thread}:U1`], 'claimed');
  assert.equal((await run(['handoff', 'back', '--session', id], w.env)).code, 0);
  await g.end();
  // Where it is known it is that one's from the beginning.
  assert.equal((await run(['gateway', 'sethome', 'slack', 'C1', '--owner', 'U1'], w.env)).code, 0);
  g = await gateway(w.env);
  const known = w.world.threads();
  await hand(t, w, id);
  await allDone(w, g);
  w.world.key = (x) => `agent:main:slack:group:T1:C1:${x}:U1`;
  await check(w, id, 'whose', g, known);
});
