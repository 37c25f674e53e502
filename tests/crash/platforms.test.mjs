// kill -9 of the gateway at every call that a handoff makes at a platform, before it and after it, and at random: then one
// owner, one thread, one card (or a marked repeat), and the next message there goes on in the same session.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { worlds } from '../platforms/worlds.mjs';

const kills = process.env.TALARIA_LONG ? 3334 : 4; // at random, on each platform
const awhile = 30_000;

const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

async function begin(t, open) {
  const world = await open(t), home = tmpHome(t);
  const model = await fakeModel(t, (q) => ({ text: `heard: ${q.messages.at(-1).text.slice(0, 40)}` }));
  return { world, env: { ...home.env, ...model.env, ...world.env }, file: `${home.data}/talaria.db` };
}

async function talk({ env }, text) {
  const r = await run(['ask', text, '--json'], env);
  assert.equal(r.code, 0, r.stderr);
  const first = JSON.parse(r.stdout.split('\n')[0]);
  return first.conversation_id ?? first.data.conversation_id;
}

/** What a dead one held is free when its lease is over; the test does not wait for that. */
const free = (file) => query(file, 'update handoff set lease_ms = 0, not_before_ms = 0 where state not in (\'done\', \'failed\', \'cancelled\')');
const open_ = (file) => query(file, 'select id, state, step, error_text from handoff where state <> \'done\'');

/** Where nobody knows whether a thread was made, none is asked for again: the session is in the chat itself. */
async function checkGeneral({ world, file }, id, text, g) {
  assert.ok(world.general.ours().some((x) => x.includes(text) && /handed over/.test(x)), 'there is a card');
  await until(() => g.said(), () => query(file, `select link from platform_state where platform = '${world.name}'`)[0]?.[0] === 'connected', awhile);
  world.general.says(`go on with ${text}`);
  await until(() => `an answer: ${JSON.stringify(world.general.ours())} ${g.said()}`, () => world.general.ours().includes(`heard: go on with ${text}`), awhile);
  assert.deepEqual(query(file, `select distinct session_id from messages where content = 'go on with ${text}'`), [[id]]);
}

/** One owner, one thread, one card; the answer to what is said there comes from that session. */
async function check({ world, file }, id, text, g, threadsBefore) {
  const fresh = world.threads().filter((x) => !threadsBefore.includes(x)), [thread] = fresh;
  assert.ok(fresh.length <= 1, `threads: ${fresh}`);
  const [[bound]] = query(file, `select thread_ref from handoff where session_id = '${id}'`);
  if (!bound && world.general) return checkGeneral({ world, file }, id, text, g);
  assert.equal(bound, String(thread));
  const cards = world.ours(thread).filter((x) => x.includes(text) && /handed over/.test(x));
  assert.ok(cards.length >= 1, 'there is a card');
  assert.ok(cards.slice(1).every((x) => x.startsWith('(may be a repeat)')), cards.join('\n---\n'));
  assert.deepEqual(query(file, `select owner_surface from session_owner where session_id = '${id}'`), [[world.name]]);
  assert.equal(query(file, 'select entry_json from gateway_routing').filter(([e]) => JSON.parse(e).session_id === id).length, 1);
  await until(() => g.said(), () => query(file, `select link from platform_state where platform = '${world.name}'`)[0]?.[0] === 'connected', awhile);
  world.says(thread, `go on with ${text}`);
  await until(() => `an answer: ${JSON.stringify(world.ours(thread))} ${g.said()}`, () => world.ours(thread).includes(`heard: go on with ${text}`), awhile);
  assert.deepEqual(query(file, `select distinct session_id from messages where content = 'go on with ${text}'`), [[id]]);
}

for (const [name, open] of Object.entries(worlds)) {
  test(`${name}: killed at every call of a handoff`, { timeout: 300_000 }, async (t) => {
    const w = await begin(t, open);
    let calls = Infinity;
    for (let at = 0; at < calls; at++) {
      const text = `round ${at}`, id = await talk(w, text), before = w.world.threads();
      let n = 0, dead = null;
      const g = await gateway(w.env);
      const killed = new Promise((resolve) => {
        w.world.onCall(async () => { if (n++ === at && !dead) { dead = g.end('SIGKILL'); await dead; resolve(); } });
      });
      assert.equal((await run(['handoff', name, '--session', id, '--detach', '--no-turn'], w.env)).code, 0);
      const done = until(() => 'done or dead', () => dead || open_(w.file).length === 0, awhile);
      await Promise.race([killed, done]);
      w.world.onCall(() => {});
      if (!dead) { calls = n; assert.ok(at > 1, 'it was killed at some call'); }
      else free(w.file);
      const next = dead ? await gateway(w.env) : g;
      await until(() => JSON.stringify(open_(w.file)) + next.said(), () => open_(w.file).length === 0, awhile);
      await check(w, id, text, next, before);
      await next.end('SIGKILL');
    }
  });

  test(`${name}: ${kills} kills at random`, { timeout: kills * 8000 + 60_000 }, async (t) => {
    const w = await begin(t, open);
    const id = await talk(w, 'random'), before = w.world.threads();
    assert.equal((await run(['handoff', name, '--session', id, '--detach', '--no-turn'], w.env)).code, 0);
    for (let i = 0; i < kills; i++) {
      free(w.file);
      const g = await gateway(w.env);
      await new Promise((r) => setTimeout(r, Math.random() * 40));
      await g.end('SIGKILL');
    }
    free(w.file);
    const g = await gateway(w.env);
    await until(() => JSON.stringify(open_(w.file)) + g.said(), () => open_(w.file).length === 0, awhile);
    await check(w, id, 'random', g, before);
    await g.end('SIGKILL');
  });
}
