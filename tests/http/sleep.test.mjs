// Nights over HTTP: run, looked at, adopted, taken back, rejected. One server over a demo history for each round.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin, fillHome, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { stageNight, stateOf } from '../cli/sleep_night.mjs';
import { events, request, startServer } from './helpers.mjs';

const get = async (server, target) => {
  const r = await request(server, target);
  assert.equal(r.status, 200, r.text);
  return r.json;
};
const post = (server, target, body = {}) => request(server, target, { method: 'POST', body });

/** Asks until no night runs; what /api/sleep then says. */
async function awake(server) {
  for (const end = Date.now() + 30_000; ; await new Promise((r) => setTimeout(r, 50))) {
    const all = await get(server, '/api/sleep');
    if (!all.running) return all;
    assert.ok(Date.now() < end, `still running: ${JSON.stringify(all.running)}`);
  }
}

const two = [{ name: 'pdf', before: 'a\nold\n', after: 'a\nnew\n' }, { name: 'xls', before: 'x\n', after: 'y\n' }];

test('a night on the demo: worth, run, told as it goes, reviewed, adopted, undone', async (t) => {
  const server = await startServer(t, { demo: true });
  assert.deepEqual((await get(server, '/api/status')).features, ['sleep', 'chat', 'handoffs']);
  const before = await get(server, '/api/sleep');
  assert.deepEqual([before.nights, before.running, before.last, before.last_error, before.schedules, before.backend], [[], null, null, null, [], 'mock']);
  const worth = await get(server, '/api/sleep/worth');
  assert.ok(worth.sessions > 100 && worth.recurring > 5 && worth.max_calls > 0, JSON.stringify(worth));
  assert.equal(worth.max_cost_usd, null);

  const stream = await events(server);
  const begun = await post(server, '/api/sleep/run', {});
  assert.equal(begun.status, 202, begun.text);
  assert.deepEqual(begun.json, { format: 1, dry_run: false, backend: 'mock' });
  const all = await awake(server);
  assert.equal(all.last_error, null);
  assert.equal(all.nights.length, 1);
  assert.equal(all.last.staging, all.nights[0].staging);
  assert.equal(all.last.dry_run, false);
  for (const end = Date.now() + 5000; !stream.seen.some((e) => e.event === 'sleep' && e.data.includes('"done"')); ) {
    assert.ok(Date.now() < end, 'the end is not told');
    await new Promise((r) => setTimeout(r, 20));
  }
  const told = stream.seen.filter((e) => e.event === 'sleep').map((e) => JSON.parse(e.data));
  assert.deepEqual([...new Set(told.map((e) => e.phase))], ['beginning', 'reading', 'replaying', 'done']);
  assert.ok(told.every((e) => e.done <= e.total && typeof e.night === 'number'));

  const name = all.nights[0].staging;
  const { proposal } = await get(server, `/api/sleep/nights/${name}`);
  assert.deepEqual(proposal, runJson(['sleep', 'review', name], server.home).proposal);
  assert.equal(proposal.accepted, true);
  assert.ok(proposal.candidate > proposal.baseline);
  assert.equal(proposal.edits.length, proposal.edit_shares.length);
  const moved = proposal.edit_shares.map((s) => s.moved_tasks.length);
  assert.ok(moved.every((n) => n > 0 && n < proposal.tasks.length), 'each edit has the tasks that it alone moved');
  const [skill] = proposal.skills;
  assert.equal(fs.existsSync(skill.live_path), false, 'nothing live is changed by a night');

  const adopted = await post(server, `/api/sleep/nights/${name}/adopt`, { all: true });
  assert.equal(adopted.status, 200, adopted.text);
  assert.equal(adopted.json.adopted.length, 1);
  assert.equal(fs.readFileSync(skill.live_path, 'utf8'), skill.after);
  assert.equal((await get(server, '/api/sleep')).nights[0].adopted, true);
  assert.equal((await post(server, `/api/sleep/nights/${name}/adopt`, { all: true })).status, 409);
  assert.equal((await post(server, `/api/sleep/nights/${name}/reject`)).status, 409);
  const undone = await post(server, '/api/sleep/undo', { night: name });
  assert.equal(undone.status, 200, undone.text);
  assert.equal(fs.existsSync(skill.live_path), false);
  assert.equal((await get(server, '/api/sleep')).nights[0].undone, true);
  assert.equal((await post(server, '/api/sleep/undo', { night: name })).status, 404);
  stream.close();
});

test('a dry run says what it found and leaves nothing to review', async (t) => {
  const server = await startServer(t, { demo: true });
  assert.equal((await post(server, '/api/sleep/run', { dry_run: true, backend: 'mock' })).status, 202);
  const all = await awake(server);
  assert.deepEqual(all.nights, []);
  assert.equal(all.last.dry_run, true);
  assert.equal(all.last.staging, '');
  assert.ok(all.last.n_edits > 0 && all.last.candidate > all.last.baseline, JSON.stringify(all.last));
});

test('one night at a time, over all programs; why one failed is told', async (t) => {
  const home = tmpHome(t);
  const server = await startServer(t, { home });
  fs.mkdirSync(path.join(home.data, 'sleep'), { recursive: true, mode: 0o700 });
  const lock = path.join(home.data, 'sleep/state.json.lock');
  const holder = spawn('flock', ['-x', lock, 'sh', '-c', 'echo held; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => holder.kill('SIGKILL'));
  await new Promise((r) => holder.stdout.once('data', r));
  const busy = await post(server, '/api/sleep/run', {});
  assert.equal(busy.status, 409);
  assert.equal((await get(server, '/api/sleep')).running.elsewhere, true);
});

test('a night whose model is not configured fails and says so', async (t) => {
  const server = await startServer(t, { home: tmpHome(t) });
  assert.equal((await post(server, '/api/sleep/run', { backend: 'model' })).status, 202);
  const all = await awake(server);
  assert.match(all.last_error, /model/);
  assert.equal(all.last, null);
});

test('part of a night is adopted; what was edited since is left alone', async (t) => {
  const home = tmpHome(t);
  const managed = { path: path.join(fs.realpathSync(home.dir), 'skills/talaria-learned/SKILL.md'), before: 'm\n', after: 'n\n' };
  const night = stageNight(home, { skills: two, managed });
  const server = await startServer(t, { home });
  const to = `/api/sleep/nights/${night.name}/adopt`;
  const one = await post(server, to, { skills: ['xls', 'talaria-learned'] });
  assert.equal(one.status, 200, one.text);
  assert.equal(one.json.adopted.length, 2);
  assert.deepEqual(night.docs.map(stateOf), ['old', 'new', 'new']);
  assert.equal((await post(server, '/api/sleep/undo', { night: night.name })).json.undone.length, 2);
  assert.deepEqual(night.docs.map(stateOf), ['old', 'old', 'old']);
  fs.writeFileSync(managed.path, 'mine\n');
  assert.equal((await post(server, to, { all: true })).status, 409);
  assert.deepEqual(night.docs.map(stateOf).slice(0, 2), ['old', 'old'], 'all or nothing');
});

test('a rejected night is not proposed again, and its edits are remembered', async (t) => {
  const home = tmpHome(t);
  fillHome(home.env, '2026-11-15');
  const first = runJson(['sleep', 'run'], home);
  assert.ok(first.n_accepted_edits > 0);
  const server = await startServer(t, { home });
  const name = path.basename(first.staging_dir);
  const no = await post(server, `/api/sleep/nights/${name}/reject`, { reason: 'not how we work' });
  assert.equal(no.status, 200, no.text);
  assert.equal(no.json.rejection.n_edits, first.n_accepted_edits);
  assert.equal((await get(server, '/api/sleep')).nights[0].rejected, true);
  assert.equal((await post(server, `/api/sleep/nights/${name}/adopt`, { all: true })).status, 409);
  assert.equal((await post(server, `/api/sleep/nights/${name}/reject`)).status, 409);
  // The same sessions once more, as if none had been looked at.
  const state = path.join(home.data, 'sleep/state.json');
  const kept = JSON.parse(fs.readFileSync(state, 'utf8'));
  fs.writeFileSync(state, JSON.stringify(kept, (key, value) => (key === 'last_harvest' ? (typeof value === 'string' ? '' : {}) : value)), { mode: 0o600 });
  const again = runJson(['sleep', 'run'], home);
  assert.ok(again.n_tasks > 0);
  const said = new Set(first.edits.map((e) => e.content));
  assert.deepEqual(again.edits.filter((e) => said.has(e.content)), []);
});

test('what cannot be is refused with the right status', async (t) => {
  const home = tmpHome(t);
  const night = stageNight(home, { skills: two });
  const server = await startServer(t, { home });
  const at = (rest) => `/api/sleep/nights/${night.name}${rest}`;
  const cases = [
    ['GET', '/api/sleep/nights/20200101-000000', undefined, 404],
    ['GET', '/api/sleep/nights/..%2f..', undefined, 404],
    ['POST', '/api/sleep/nights/20200101-000000/adopt', { all: true }, 404],
    ['POST', '/api/sleep/nights/20200101-000000/reject', {}, 404],
    ['POST', at('/adopt'), {}, 422],
    ['POST', at('/adopt'), { skills: ['nope'] }, 422],
    ['POST', at('/adopt'), { all: 'yes' }, 422],
    ['POST', '/api/sleep/undo', { night: night.name }, 404],
    ['POST', '/api/sleep/run', { backend: 'handoff' }, 422],
    ['GET', '/api/sleep/worth?backend=x', undefined, 400],
    ['DELETE', '/api/sleep', undefined, 405],
  ];
  for (const [method, target, body, status] of cases) {
    const r = await request(server, target, { method, body });
    assert.equal(r.status, status, `${method} ${target} ${r.text}`);
  }
  assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
});

test('a server that is told to end ends in the middle of a night, and the next one goes on', async (t) => {
  const home = tmpHome(t);
  fillHome(home.env, '2026-11-15');
  const server = await startServer(t, { home });
  const stream = await events(server);
  assert.equal((await post(server, '/api/sleep/run', {})).status, 202);
  await stream.next('sleep');
  const { code } = await server.stop();
  assert.equal(code, 0);
  const after = spawn(bin, ['sleep', 'run', '--json'], { env: home.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = await new Promise((r) => after.once('exit', r));
  assert.equal(ended, 0);
  const last = runJson(['sleep', 'review'], home).proposal;
  assert.equal(last.accepted, true);
});
