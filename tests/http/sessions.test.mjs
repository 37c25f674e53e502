// Sessions of every source over HTTP: the list and its pages, filters, transcripts, a session to save.
import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fillHome, makeStateDb, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { makeTranscripts } from '../cli/transcripts.mjs';
import { indexed, request, startServer } from './helpers.mjs';

describe('a history of four sources', () => {
  const home = tmpHome();
  let server, all;
  const get = async (target) => {
    const r = await request(server, target);
    assert.equal(r.status, 200, `${target}: ${r.text.slice(0, 300)}`);
    return r.json;
  };
  const pages = async (query, limit) => {
    const out = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await get(`/api/sessions?limit=${limit}${query}${cursor && `&cursor=${cursor}`}`);
      out.push(...page.sessions);
      cursor = page.next_cursor;
      assert.ok(out.length < 5000);
    }
    return out;
  };

  before(async (t) => {
    makeStateDb(path.join(home.hermes, 'state.db'), { extra: ['--no-edge'] });
    makeTranscripts(home, { sessions: 24 });
    fillHome(home.env, '2026-11-15');
    all = runJson(['sessions', 'list', '--limit', '0'], home).sessions;
    server = await startServer({ after: (fn) => process.on('exit', fn) }, { home });
    await indexed(server, 100);
    // The first request reads what is there; from then on nothing is missing.
    for (let i = 0; i < 50 && (await get('/api/sessions?limit=1&tool=Bash')).partial; i++);
  }, { timeout: 60_000 });

  test('the list is that of the command line, page by page, whatever the size', async () => {
    for (const limit of [500, 7, 1]) {
      const list = await pages('', limit);
      assert.deepEqual(list.map((s) => s.id), all.map((s) => s.id), `limit ${limit}`);
    }
    const page = await get('/api/sessions?limit=500');
    assert.equal(page.partial, false);
    for (const s of page.sessions) {
      for (const key of ['origin', 'cwd', 'branch', 'side_chain', 'activity', 'tools']) assert.ok(key in s, key);
      assert.ok(s.activity === null || s.activity.length === 16);
    }
    assert.ok(page.sessions.some((s) => s.origin === 'hermes' && s.activity), 'known also of Hermes\' sessions');
  });

  test('pages of a filtered list', async () => {
    for (const [query, ...args] of [
      ['&source=claude', '--source', 'claude'], ['&source=codex', '--source', 'codex'], ['&source=hermes', '--source', 'hermes'],
      ['&source=talaria', '--source', 'talaria'], ['&tool=Bash', '--tool', 'Bash'], ['&tool=terminal', '--tool', 'terminal'],
      ['&until=2026-08-01', '--until', '2026-08-01'], ['&since=2026-08-01', '--since', '2026-08-01'], ['&archived=1', '--archived'],
      ['&side_chains=1', '--side-chains'],
    ]) {
      const want = runJson(['sessions', 'list', '--limit', '0', ...args], home).sessions.map((s) => s.id);
      assert.deepEqual((await pages(query, 5)).map((s) => s.id), want, query);
    }
    assert.equal((await request(server, '/api/sessions?cursor=99_1_1')).status, 400);
  });

  test('facets: what filters can offer, most first', async () => {
    const facets = await get('/api/sessions/facets');
    assert.deepEqual(facets.origins.map((o) => o.name), ['hermes', 'claude', 'codex', 'talaria']);
    assert.equal(facets.origins.find((o) => o.name === 'claude').title, 'Claude Code');
    for (const kind of ['projects', 'models', 'tools']) {
      assert.ok(facets[kind].length > 0 && facets[kind].length <= 50, kind);
      const counts = facets[kind].map((f) => f.sessions);
      assert.deepEqual(counts, [...counts].sort((a, b) => b - a), kind);
    }
    const { name } = facets.projects[0];
    assert.ok((await get(`/api/sessions?limit=500&project=${encodeURIComponent(name)}`)).sessions.length > 0);
    assert.ok(facets.tools.some((t) => t.name === 'Bash'));
  });

  test('one session and its transcript, of any source, page by page', async () => {
    for (const origin of ['hermes', 'claude', 'codex', 'talaria']) {
      const s = all.find((x) => x.origin === origin && x.tool_calls > 1);
      const one = await get(`/api/sessions/${s.id}`);
      assert.equal(one.id, s.id);
      assert.equal(one.origin, origin);
      const want = runJson(['sessions', 'show', s.id], home).parts.flatMap((p) => p.transcript);
      const got = [];
      for (let after = ''; after !== null;) {
        const page = await get(`/api/sessions/${s.id}/messages?limit=3${after && `&after=${after}`}`);
        got.push(...page.messages);
        after = page.next_after;
        assert.ok(got.length <= want.length, origin);
      }
      assert.deepEqual(got.map((m) => [m.id, m.role, m.content, m.side_chain]), want.map((m) => [m.id, m.role, m.content, m.side_chain]), origin);
      assert.ok(got.some((m) => m.tool_calls.length), origin);
    }
    assert.equal((await request(server, '/api/sessions/nobody-here')).status, 404);
  });

  test('a session to save: a name, a type, no secrets', async () => {
    for (const origin of ['hermes', 'claude', 'codex', 'talaria']) {
      const s = all.find((x) => x.origin === origin && x.tool_calls > 0);
      const jsonl = await request(server, `/api/sessions/${s.id}/export?as=jsonl`);
      assert.equal(jsonl.status, 200);
      assert.match(jsonl.headers['content-type'], /^application\/x-ndjson/);
      assert.equal(jsonl.headers['content-disposition'], `attachment; filename="${s.id}.jsonl"`);
      assert.equal(jsonl.text, run(['sessions', 'export', s.id], home).stdout, 'as the command line, redacted');
      const md = await request(server, `/api/sessions/${s.id}/export?as=md`);
      assert.match(md.headers['content-type'], /^text\/markdown/);
      assert.match(md.text, /^# /);
    }
    assert.equal((await request(server, `/api/sessions/${all[0].id}/export?as=pdf`)).status, 400);
    assert.equal((await request(server, `/api/sessions/${all[0].id}/export`, { token: false })).status, 401);
  });

  test('a template from a session of Claude Code', async () => {
    const s = all.find((x) => x.origin === 'claude' && x.tools?.includes('Bash'));
    const r = await request(server, '/api/templates', { method: 'POST', body: { session: s.id, dry_run: true } });
    assert.equal(r.status, 200, r.text);
    assert.equal(r.json.source_session_id, s.id);
  });

  test('status: sources, and which pages there are beyond the basic three', async () => {
    const status = await get('/api/status');
    assert.deepEqual(status.features, ['sleep', 'chat', 'handoffs']);
    const { version, started_at, features, ...rest } = status;
    assert.deepEqual(rest, runJson(['status'], home));
  });

  test('a server of one home alone shows nothing of other programs', async (t) => {
    const alone = await startServer(t, { home, args: ['--home', home.data] });
    const ask = async (target) => (await request(alone, target)).json;
    const { sessions } = await ask('/api/sessions?limit=500');
    assert.ok(sessions.length && sessions.every((s) => s.origin === 'talaria'));
    const facets = await ask('/api/sessions/facets');
    assert.deepEqual(facets.origins.map((o) => o.name), ['talaria']);
    assert.ok(!facets.tools.some((x) => x.name === 'Bash'), 'not even as a filter');
    const id = all.find((s) => s.origin === 'claude').id;
    assert.equal((await request(alone, `/api/sessions/${id}`)).status, 404);
  });

  test('end', async () => { await server.stop(); });
});
