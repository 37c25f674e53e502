// One history on the page: badges of every source, and one number of sessions wherever it is shown.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeStateDb, runJson, tmpHome } from '../cli/helpers.mjs';
import { makeTranscripts } from '../cli/transcripts.mjs';
import { plugin, request, sleep, startServer } from './helpers.mjs';

const get = async (server, target) => (await request(server, target)).json;

/** Sooner or later; what is read in the background takes its time. */
async function until(what, fn) {
  for (let i = 0; i < 600; i++) {
    if (await fn()) return;
    await sleep(50);
  }
  assert.fail(`never: ${what}`);
}

test('/api/achievements counts every source and says which; the plugin keeps its own figure', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 60, seed: 9 });
  makeTranscripts(home, { sessions: 30, mb: 1, seed: 6 });
  const server = await startServer(t, { home });
  const all = await get(server, '/api/achievements');
  const theirs = await get(server, `${plugin}/achievements`);
  for (const key of Object.keys(theirs)) assert.ok(key in all, key);
  assert.deepEqual(Object.keys(all.achievements[0]).filter((k) => !(k in theirs.achievements[0])).filter((k) => !['evidence', 'unlocked_at'].includes(k)), []);
  assert.ok(!('sources' in theirs));
  const listed = runJson(['sessions', 'list', '--limit', '0'], home).sessions;
  assert.equal(all.scan_meta.sessions_total, listed.length);
  assert.equal(Object.values(all.sources).reduce((a, b) => a + b, 0), listed.length);
  const claude = await get(server, '/api/achievements?source=claude');
  assert.equal(claude.scan_meta.sessions_total, all.sources.claude);
  assert.equal((await request(server, '/api/achievements?source=nobody')).status, 422);
  const recent = await get(server, '/api/achievements/recent');
  assert.ok(recent.length > 0 && recent.every((a) => a.unlocked_at < Date.now() / 1000));
  assert.ok(new Set(recent.map((a) => a.unlocked_at)).size > 1, 'dates of the history');
  const id = listed.find((s) => s.origin === 'claude').id;
  assert.deepEqual(Object.keys(await get(server, `/api/achievements/sessions/${id}/badges`)), ['session_id', 'badges']);
  assert.ok(!fs.existsSync(path.join(home.data, 'plugins')));
  const rescan = (await request(server, '/api/achievements/rescan', { method: 'POST' })).json;
  assert.equal(rescan.ok, true);
  assert.equal(rescan.aggregate.session_count, listed.length);
  assert.deepEqual((await request(server, '/api/achievements/reset', { method: 'POST' })).json, { ok: true });
  assert.equal((await get(server, '/api/achievements')).unlocked_count, all.unlocked_count, 'the history awards them again');
});

test('status, filters, list and badges show one number', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 80, seed: 9 });
  makeTranscripts(home, { sessions: 30, mb: 1, seed: 6 });
  const server = await startServer(t, { home });
  await until('the index is made', async () => !(await get(server, '/api/sessions/facets')).partial);
  const { sessions } = await get(server, '/api/sessions?limit=500');
  const status = await get(server, '/api/status');
  const facets = await get(server, '/api/sessions/facets');
  const badges = await get(server, '/api/achievements');
  assert.equal(status.total.sessions, sessions.length);
  assert.equal(facets.origins.reduce((n, o) => n + o.sessions, 0), sessions.length);
  assert.equal(badges.scan_meta.sessions_total, sessions.length);
  assert.deepEqual(status.sources.map((s) => s.sessions), status.sources.map((s) => badges.sources[s.name]));
});

test('with Claude Code alone every tab has something to show', async (t) => {
  const home = tmpHome(t);
  fs.rmSync(home.hermes, { recursive: true, force: true });
  makeTranscripts(home, { sessions: 60, mb: 4, seed: 3 });
  fs.rmSync(path.join(home.user, '.codex'), { recursive: true, force: true });
  const server = await startServer(t, { home });
  await until('transcripts are listed', async () => (await get(server, '/api/sessions')).sessions.length > 0);
  assert.ok((await get(server, '/api/achievements')).unlocked_count > 0);
  assert.ok((await get(server, '/api/templates/study')).kinds.some((k) => k.calls > 0));
  await until('search finds something', async () => (await get(server, '/api/search?q=release')).hits?.length > 0);
  const status = await get(server, '/api/status');
  assert.deepEqual(status.sources.filter((s) => !s.present).map((s) => s.variable), ['HERMES_HOME', 'CODEX_HOME', 'TALARIA_HOME']);
  const { id } = (await get(server, '/api/sessions')).sessions[0];
  const made = await request(server, '/api/templates', { method: 'POST', body: { session: id, dry_run: true } });
  assert.ok([200, 422, 400].includes(made.status), made.text);
});
