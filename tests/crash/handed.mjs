// What the tests with a kill share: a session that goes to a platform, and what must be true of it afterwards.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { query, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';

export const awhile = 30_000;

export const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

export async function begin(t, open) {
  const world = await open(t), home = tmpHome(t);
  const model = await fakeModel(t, (q) => ({ text: `heard: ${q.messages.at(-1).text.slice(0, 40)}` }));
  return { world, env: { ...home.env, ...model.env, ...world.env }, file: `${home.data}/talaria.db` };
}

/** A session in which that was said. */
export async function talk({ env }, text) {
  const r = await run(['ask', text, '--json'], env);
  assert.equal(r.code, 0, r.stderr);
  const first = JSON.parse(r.stdout.split('\n')[0]);
  return first.conversation_id ?? first.data.conversation_id;
}

/** What a dead one held is free when its lease is over; the test does not wait for that. */
export const free = (file) => query(file, 'update handoff set lease_ms = 0, not_before_ms = 0 where state not in (\'done\', \'failed\', \'cancelled\')');
export const underWay = (file) => query(file, 'select id, state, step, error_text from handoff where state not in (\'done\', \'failed\', \'cancelled\')');

export async function allDone({ file }, g) {
  await until(() => JSON.stringify(underWay(file)) + g.said(), () => underWay(file).length === 0, awhile);
}

/** One owner, at most one thread, one card or marked repeats; places: where the next words of the user belong. */
export function checkMoved({ world, file }, id, text, threadsBefore) {
  const fresh = world.threads().filter((x) => !threadsBefore.includes(x));
  assert.ok(fresh.length <= 1, `threads: ${fresh}`);
  const [[bound, state, key] = []] = query(file, `select thread_ref, state, dest_key from handoff where session_id = '${id}' order by requested_ms desc`);
  assert.equal(state, 'done', JSON.stringify(query(file, `select state, step, error_text from handoff where session_id = '${id}'`)));
  // Where nobody knows whether a thread was made, none is asked for again: the session is in the chat itself.
  const place = !bound && world.general ? world.general : { ours: () => world.ours(fresh[0]), says: (x) => world.says(fresh[0], x) };
  if (bound) assert.equal(bound, String(fresh[0]));
  if (bound && world.key) assert.equal(key, world.key(bound), 'what is said in the thread leads to the session');
  const cards = place.ours().filter((x) => x.includes(text) && /handed over/.test(x));
  assert.ok(cards.length >= 1, 'there is a card');
  assert.ok(cards.slice(1).every((x) => x.startsWith('(may be a repeat)')), cards.join('\n---\n'));
  checkOwner({ file }, id, world.name);
  return place;
}

/** The key, the row and the owner say the same. */
export function checkOwner({ file }, id, where) {
  assert.deepEqual(query(file, `select owner_surface from session_owner where session_id = '${id}'`), [[where]]);
  assert.equal(query(file, 'select entry_json from gateway_routing').filter(([e]) => JSON.parse(e).session_id === id).length, where === 'cli' ? 0 : 1);
}

/** This gateway: what the table says may be the word of one that was killed. */
export async function connected({ world, file }, g) {
  const up = () => query(file, `select link, since_ms from platform_state where platform = '${world.name}'`)[0] ?? [];
  await until(() => g.said(), () => up()[0] === 'connected' && up()[1] >= g.began, awhile);
}

/** What is said at the new place is answered there, by that session. */
export async function check(w, id, text, g, threadsBefore) {
  const place = checkMoved(w, id, text, threadsBefore), { world, file } = w;
  await connected(w, g);
  place.says(`go on with ${text}`);
  await until(() => `an answer: ${JSON.stringify(place.ours())} ${g.said()}`, () => place.ours().includes(`heard: go on with ${text}`), awhile);
  assert.deepEqual(query(file, `select distinct session_id from messages where content = 'go on with ${text}'`), [[id]], told(file));
}

/** All that leads somewhere, for whoever reads of a failure. */
const told = (file) => JSON.stringify({
  handoffs: query(file, 'select id, session_id, state, thread_ref, dest_key, prev_session_id, attempt, error_text from handoff order by requested_ms desc limit 3'),
  routing: query(file, 'select session_key, json_extract(entry_json, \'$.session_id\') from gateway_routing order by updated_at desc limit 5'),
  inbox: query(file, 'select platform, id, state, attempt, run_id, reason, update_json from inbox order by seq desc limit 3'),
}, null, 1);
