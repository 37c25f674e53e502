// The routes: shapes, errors, pages, ETag, gzip, and the page itself.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { fillHome, python, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { indexed, plugin, request, startServer } from './helpers.mjs';

const problem = (r, status, kind) => {
  assert.equal(r.status, status, r.text);
  assert.equal(r.headers['content-type'], 'application/problem+json');
  assert.equal(r.json.status, status);
  assert.equal(r.json.kind, kind);
  assert.ok(r.json.title && r.json.detail && r.json.type);
};

test('sessions, transcripts and templates over the demo home', async (t) => {
  const server = await startServer(t, { demo: true });
  const get = (p, o) => request(server, p, o);
  const env = server.home.env;
  await indexed(server, 100);

  await t.test('status is that of the command line', async () => {
    const cli = runJson(['status'], { env });
    const { homes, data, version } = (await get('/api/status')).json;
    assert.deepEqual(homes, cli.homes);
    assert.equal(data, cli.data);
    assert.ok(version);
  });

  await t.test('pages of sessions are the list of the command line, cut at any size', async () => {
    const cli = runJson(['sessions', 'list', '--limit', '0'], { env }).sessions;
    assert.ok(cli.length > 100);
    for (const limit of [1, 7, 50, 500]) {
      const all = [];
      let cursor = '';
      do {
        const r = await get(`/api/sessions?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        assert.equal(r.status, 200);
        assert.ok(r.json.sessions.length <= limit);
        all.push(...r.json.sessions);
        cursor = r.json.next_cursor;
      } while (cursor && all.length < (limit === 1 ? 20 : 1e9));
      assert.deepEqual(all, cli.slice(0, all.length));
      if (limit > 1) assert.equal(all.length, cli.length);
    }
  });

  await t.test('filters', async () => {
    const cli = runJson(['sessions', 'list', '--limit', '0', '--source', 'telegram', '--since', '2026-10-01'], { env }).sessions;
    assert.deepEqual((await get('/api/sessions?limit=500&source=telegram&since=2026-10-01')).json.sessions, cli);
    problem(await get('/api/sessions?since=yesterday'), 400, 'usage');
    problem(await get('/api/sessions?limit=0'), 400, 'usage');
    problem(await get('/api/sessions?limit=1&limit=2'), 400, 'usage');
    problem(await get('/api/sessions?cursor=1_2'), 400, 'usage');
    problem(await get('/api/sessions?archived=maybe'), 400, 'usage');
    problem(await get('/api/sessions?source=%zz'), 400, 'usage');
    problem(await get('/api/sessions?source=%00'), 400, 'usage');
  });

  const list = (await get('/api/sessions?limit=500')).json.sessions;
  const chain = list.find((s) => s.parts.length > 1);

  await t.test('one session, by id, by part, by beginning', async () => {
    for (const id of [chain.id, chain.parts[0].id]) assert.equal((await get(`/api/sessions/${id}`)).json.id, chain.id);
    assert.deepEqual({ ...(await get(`/api/sessions/${chain.id}`)).json, format: undefined }, { ...chain, format: undefined });
    problem(await get('/api/sessions/nonesuch'), 404, 'not_found');
    problem(await get('/api/sessions/demo_2026'), 409, 'conflict');
    problem(await get('/api/sessions/%ff'), 400, 'usage');
    problem(await get('/api/sessions/a%00b'), 400, 'usage');
    problem(await get('/api/sessions/..%2f..%2fetc'), 404, 'not_found');
  });

  await t.test('a transcript is that of the command line, whatever the page', async () => {
    const cli = runJson(['sessions', 'show', chain.id], { env }).parts.flatMap((p) => p.transcript.map((m) => [p.id, m.id, m.role, m.content]));
    for (const limit of [3, 40, 500]) {
      const all = [];
      let after = '';
      do {
        const { messages, next_after } = (await get(`/api/sessions/${chain.id}/messages?limit=${limit}${after && `&after=${after}`}`)).json;
        all.push(...messages);
        after = next_after;
      } while (after);
      assert.deepEqual(all.map((m) => [m.part, m.id, m.role, m.content]), cli);
    }
    const part = chain.parts[0].id;
    const only = (await get(`/api/sessions/${chain.id}/messages?part=${part}&limit=500`)).json.messages;
    assert.ok(only.length && only.every((m) => m.part === part));
    problem(await get(`/api/sessions/${chain.id}/messages?part=other`), 404, 'not_found');
    problem(await get(`/api/sessions/${chain.id}/messages?after=9_1_1`), 400, 'usage');
  });

  await t.test('calls carry the outcome of their results, also across the end of a page', async () => {
    const all = (await get(`/api/sessions/${list[2].id}/messages?limit=500`)).json.messages;
    const one = (await get(`/api/sessions/${list[2].id}/messages?limit=2`)).json.messages;
    const call = all.find((m) => m.tool_calls.length);
    assert.equal(typeof call.tool_calls[0].ok, 'boolean');
    assert.ok(call.tool_calls[0].result_id > call.id);
    assert.deepEqual(one, all.slice(0, 2));
    assert.match(all[0].html, /^<p>/);
    assert.equal(all.find((m) => m.role === 'tool').html, null);
  });

  await t.test('templates: preview, make, show, try, delete', async () => {
    const session = list[2].id;
    const preview = await get('/api/templates', { method: 'POST', body: { session, dry_run: true, max_examples: 3 } });
    assert.equal(preview.status, 200, preview.text);
    assert.equal(preview.json.dry_run, true);
    assert.equal(preview.json.template.examples.length, 3);
    assert.ok(preview.json.tokens > 0);
    assert.deepEqual((await get('/api/templates')).json.templates, []);
    const made = await get('/api/templates', { method: 'POST', body: { session, name: 'mine', type: 'code' } });
    assert.equal(made.status, 201, made.text);
    problem(await get('/api/templates', { method: 'POST', body: { session, name: 'mine' } }), 409, 'conflict');
    assert.equal((await get('/api/templates', { method: 'POST', body: { session, name: 'mine', force: true } })).status, 201);
    assert.deepEqual((await get('/api/templates')).json.templates, runJson(['templates', 'list'], { env }).templates);
    const { format: _, ...shown } = runJson(['templates', 'show', 'mine'], { env });
    assert.deepEqual((({ format, ...x }) => x)((await get('/api/templates/mine')).json), shown);
    const messages = [{ role: 'system', content: 's' }, { role: 'user', content: 'hello' }];
    const tried = (await get('/api/templates/mine/inject', { method: 'POST', body: { messages } })).json;
    assert.equal(tried.changed, true);
    assert.ok(tried.messages.length > 2);
    const same = (await get('/api/templates/mine/inject', { method: 'POST', body: { messages, tools: ['none'] } })).json;
    assert.deepEqual([same.changed, same.messages], [false, messages]);
    assert.equal((await get('/api/templates/mine')).json.template.usage_count, 0);
    await get('/api/templates/mine/inject', { method: 'POST', body: { messages, count: true } });
    assert.equal((await get('/api/templates/mine')).json.template.usage_count, 1);
    problem(await get('/api/templates/none'), 404, 'not_found');
    for (const name of ['..%2f..%2fpasswd', '.hidden', 'a%2fb']) assert.ok([400, 404, 422].includes((await get(`/api/templates/${name}`)).status), name);
    assert.equal((await get('/api/templates/mine', { method: 'DELETE' })).status, 200);
    problem(await get('/api/templates/mine', { method: 'DELETE' }), 404, 'not_found');
    problem(await get('/api/templates', { method: 'POST', body: {} }), 422, 'invalid');
    problem(await get('/api/templates', { method: 'POST', body: { session, max_examples: 0 } }), 422, 'invalid');
    problem(await get('/api/templates', { method: 'POST', body: [] }), 400, 'usage');
    problem(await get('/api/templates', { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } }), 400, 'usage');
    problem(await get('/api/templates', { method: 'POST', body: '{}', headers: { 'Content-Type': 'text/plain' } }), 415, 'usage');
  });

  await t.test('the study is that of the command line', async () => {
    const { format, ...cli } = runJson(['templates', 'study'], { env });
    const { format: _, ...http } = (await get('/api/templates/study')).json;
    assert.deepEqual(http, cli);
  });
});

test('errors, methods, the table of routes', async (t) => {
  const server = await startServer(t);
  const get = (p, o) => request(server, p, o);
  problem(await get('/api/nope'), 404, 'not_found');
  problem(await get('/nope.js'), 404, 'not_found');
  problem(await get('/overview'), 404, 'not_found');
  const lost = await get('/overview', { headers: { Accept: 'text/html,application/xhtml+xml' } });
  assert.equal(lost.status, 404);
  assert.match(lost.headers['content-type'], /^text\/html/);
  problem(await get('/api/nope', { headers: { Accept: 'text/html' } }), 404, 'not_found');
  problem(await get('/v1/nope', { headers: { Accept: 'text/html' } }), 404, 'not_found');
  problem(await get(`${plugin}/overview`), 404, 'not_found');
  problem(await get('/api/sessions/'), 404, 'not_found');
  const post = await get('/api/sessions', { method: 'POST', body: {} });
  problem(post, 405, 'usage');
  assert.equal(post.headers.allow, 'GET, HEAD');
  assert.equal((await get('/api/templates/x', { method: 'POST', body: {} })).headers.allow, 'GET, HEAD, DELETE');
  assert.equal((await get('/', { method: 'POST', body: {} })).status, 405);
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'TRACE']) assert.equal((await get('/api/sessions', { method })).status, 405, method);
  const api = (await get('/openapi.json', { token: false })).json;
  assert.equal(api.openapi, '3.1.0');
  for (const [path, ops] of Object.entries(api.paths))
    for (const method of Object.keys(ops)) {
      const r = await get(path.replace(/\{\w+\}/g, 'x'), { method: method.toUpperCase(), token: false });
      const open = ops[method].security?.length === 0;
      assert.equal(r.status === 401 && !/wrong token/.test(r.text), !open, `${method} ${path}: ${r.status}`);
    }
  assert.equal((await get('/healthz', { token: false })).text, '{"status":"ok"}');
  assert.match((await get('/metrics')).text, /^talaria_http_replies_total\{class="4xx"\} \d+$/m);
  assert.equal((await get('/metrics', { token: false })).status, 401);
  assert.deepEqual((await get('/api/sessions')).json, { format: 1, sessions: [], next_cursor: null, partial: false });
});

test('a database that appears later is seen', async (t) => {
  const server = await startServer(t);
  assert.equal((await request(server, '/api/sessions')).json.sessions.length, 0);
  fillHome(server.home.env, '2026-11-15');
  assert.equal((await request(server, '/api/sessions')).json.sessions.length, 50);
  python('import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript("DELETE FROM messages; DELETE FROM sessions")', path.join(server.home.data, 'talaria.db'));
  assert.equal((await request(server, '/api/sessions')).json.sessions.length, 0);
});

test('ETag, HEAD, gzip, and headers of every answer', async (t) => {
  const server = await startServer(t, { demo: true });
  await request(server, `${plugin}/achievements`);
  for (const path of ['/', '/api/sessions', '/openapi.json', `${plugin}/manifest.json`]) {
    const r = await request(server, path);
    assert.equal(r.status, 200, path);
    const again = await request(server, path, { headers: { 'If-None-Match': `"x", W/${r.headers.etag}` } });
    assert.equal(again.status, 304, path);
    assert.equal(again.text, '');
    const head = await request(server, path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text, head.headers['content-length'], head.headers.etag], [200, '', String(r.bytes.length), r.headers.etag], path);
  }
  for (const path of ['/', '/api/sessions', '/api/nope', `${plugin}/achievements`, '/api/events']) {
    const { headers } = await request(server, path, path === '/api/events' ? { method: 'HEAD' } : {});
    assert.match(headers['content-security-policy'], /^default-src 'self';.*frame-ancestors 'none'/, path);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    for (const name of Object.keys(headers)) assert.ok(!name.startsWith('access-control'), name);
  }
  for (const path of [`${plugin}/achievements`, '/']) {
    const zipped = await request(server, path, { headers: { 'Accept-Encoding': 'br, gzip' } });
    assert.equal(zipped.headers['content-encoding'], 'gzip', path);
    const plain = await request(server, path);
    if (path === '/') assert.equal(zlib.gunzipSync(zipped.bytes).toString(), plain.text);
    assert.notEqual(zipped.headers.etag, plain.headers.etag);
    assert.match(zipped.headers.vary, /Accept-Encoding/);
    for (const no of ['gzip;q=0', 'gzip;q=0.0', 'gzip; q=0.000', 'br, gzip ;Q=0.', 'deflate'])
      assert.equal((await request(server, path, { headers: { 'Accept-Encoding': no } })).headers['content-encoding'], undefined, no);
    for (const yes of ['gzip;q=0.1', 'br;q=0, gzip;q=1.0', 'GZIP'])
      assert.equal((await request(server, path, { headers: { 'Accept-Encoding': yes } })).headers['content-encoding'], 'gzip', yes);
  }
});

test('the page is served at every place of the application', async (t) => {
  const server = await startServer(t);
  const index = await request(server, '/', { token: false });
  assert.equal(index.status, 200);
  assert.match(index.headers['content-type'], /^text\/html/);
  for (const path of ['/achievements', '/sessions', '/sessions/a.b/c', '/templates', '/index.html', '/?x=1', '/chat', '/sleep'])
    assert.equal((await request(server, path, { token: false })).text, index.text, path);
  assert.equal((await request(server, '/sessionsx', { token: false })).status, 404);
  assert.doesNotMatch(index.text, new RegExp(server.token));
});

test('serve says what is wrong', async (t) => {
  const home = tmpHome(t);
  const server = await startServer(t, { home });
  const busy = run(['serve', '--port', String(server.port)], { env: home.env });
  assert.equal(busy.code, 4);
  assert.match(busy.stderr, /port \d+ is in use; --port chooses another/);
  const open = run(['serve', '--port', '0', '--bind', '0.0.0.0'], { env: home.env });
  assert.equal(open.code, 5);
  assert.match(open.stderr, /--insecure-bind/);
  assert.equal(run(['serve', '--bind', 'nonsense'], { env: home.env }).code, 2);
  assert.equal(run(['serve', '--port', '70000'], { env: home.env }).code, 2);
});

test('the demo: its checklist with --demo, nothing without', async (t) => {
  const home = tmpHome();
  run(['demo', '-q'], { env: home.env });
  const plain = await startServer(t, { home });
  assert.deepEqual((await request(plain, '/api/demo')).json, { format: 1, demo: false });
  await plain.stop();
  const inside = { ...home, data: path.join(home.data, 'demo/data') };
  const server = await startServer(t, { home: inside, args: ['--demo'] });
  const r = (await request(server, '/api/demo')).json;
  assert.equal(r.demo, true);
  assert.deepEqual(r.checklist, runJson(['demo'], { env: home.env }).checklist);
  for (const item of r.checklist) assert.ok(item.id && item.title && item.command.startsWith('talaria --demo '));
  for (const item of r.checklist) assert.doesNotMatch(item.title, /talaria up/, 'the page is open already');
  assert.equal((await request(server, '/api/sessions')).json.sessions.length, 50);
  const [handoff] = (await request(server, '/api/handoffs')).json.handoffs;
  assert.deepEqual([handoff.state, handoff.owner], ['done', 'cli']);
});
