// What comes too early at Slack: a handoff before Slack has said who we are.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gateway, query } from '../cli/handoffs.mjs';
import { worlds } from '../platforms/worlds.mjs';
import { allDone, begin, check, run, talk } from './handed.mjs';

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
