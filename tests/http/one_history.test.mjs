// One history on the page: badges of every source, and one number of sessions wherever it is shown.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { codex } from '../cli/agents_said.mjs';
import { makeStateDb, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { makeTranscripts } from '../cli/transcripts.mjs';
import { done, fakeHermes, post, runs, turn } from './fake_hermes.mjs';
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

/** A turn each, through a program that keeps a session of its own; kept(id, text) writes what that program would. */
const programs = {
  async codex(t, home) {
    const id = '22222222-bbbb-7bbb-8bbb-000000000007', program = path.join(home.dir, 'codex');
    fs.writeFileSync(program, `#!${process.execPath}
const say = (o) => console.log(JSON.stringify(o));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === 'initialize') say({ id: m.id, result: { userAgent: 'talaria/0.166.0' } });
  else if (/^thread\\/(start|resume)$/.test(m.method)) say({ id: m.id, result: { thread: { id: '${id}' }, model: 'm' } });
  else if (m.method === 'turn/start') {
    say({ id: m.id, result: { turn: { id: 'u1' } } });
    say({ method: 'item/completed', params: { item: { type: 'agentMessage', text: 'Four herons.' } } });
    say({ method: 'turn/completed', params: { turn: { status: 'completed' } } });
  }
});`, { mode: 0o755 });
    const rollout = codex(home, id);
    return { env: { TALARIA_CODEX_BIN: program }, kept: (text) => { rollout.user(text).agent('Four herons.'); return id; } };
  },
  async hermes(t, home) {
    const fake = await fakeHermes(t, ['run_events_sse'], runs((rs) => done(rs, 'Four herons.'))), file = path.join(home.hermes, 'state.db');
    makeStateDb(file, { sessions: 1, extra: ['--no-edge'] });
    const db = new DatabaseSync(file);
    db.exec('DELETE FROM messages; DELETE FROM sessions');
    t.after(() => db.close());
    return { env: { TALARIA_HERMES_BASE_URL: fake.url }, kept(text) {
      const id = fake.of('POST /v1/runs').at(-1).body.session_id, now = Date.now() / 1000;
      db.prepare("INSERT OR IGNORE INTO sessions(id, source, started_at, message_count) VALUES(?, 'api_server', ?, 2)").run(id, now);
      for (const [role, content] of [['user', text], ['assistant', 'Four herons.']]) db.prepare('INSERT INTO messages(session_id, role, content, timestamp) VALUES(?, ?, ?, ?)').run(id, role, content, now);
      return id;
    } };
  },
};

for (const [runtime, make] of Object.entries(programs))
  test(`turns through ${runtime} are one session: in lists, search, counts, nights and badges`, async (t) => {
    const home = tmpHome(t), program = await make(t, home);
    const server = await startServer(t, { home, env: program.env });
    const ours = (await post(server, '/api/conversations', {})).json.id;
    let theirs;
    for (const text of ['count the herons at the weir', 'count the herons once more']) {
      assert.equal((await turn(server, ours, { text, runtime })).text, 'Four herons.');
      theirs = program.kept(text);
    }
    await server.stop();
    assert.equal(run(['index'], home).code, 0);
    assert.deepEqual(runJson(['sessions', 'list', '--limit', '0'], home).sessions.map((s) => s.id), [ours]);
    assert.equal(runJson(['sessions', 'show', theirs], home).continued_in, ours);
    assert.equal(runJson(['status'], home).sources.reduce((n, s) => n + s.sessions, 0), 1);
    const hits = runJson(['sessions', 'search', 'herons weir'], home).hits;
    assert.equal(hits.filter((h) => h.role === 'user').length, 1, JSON.stringify(hits));
    assert.equal(runJson(['achievements', 'scan'], home).aggregate.session_count, 1);
    assert.equal(runJson(['sleep', 'harvest'], home).digests.length, 1);
  });
