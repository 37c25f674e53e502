// Host x Origin x Sec-Fetch-Site x method x token: only the allowed cells pass.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { plugin, request, startServer } from './helpers.mjs';

// Both parts of a browser's sign-in.
async function signIn(server, token = server.token) {
  const auth = await request(server, '/api/auth', { method: 'POST', token: false, body: { token } });
  assert.equal(auth.status, 200);
  return { Cookie: auth.headers['set-cookie'][0].split(';')[0], 'X-Talaria-Page': auth.json.page };
}

// What the server must say to a cell. Written from docs/http.md, not from the code.
function expected({ host, origin, site, method, credential, open, stream }) {
  const reads = method === 'GET';
  if (host !== 'ours') return 403;
  if (site === 'cross-site' || site === 'same-site') return 403;
  if (site === 'none' && !reads) return 403;
  if (origin === 'evil' || origin === 'null' || origin === 'port') return 403;
  if (open) return 'in';
  if (!['bearer', 'page'].includes(credential)) return 401;
  if (credential === 'page' && !reads && origin === 'absent') return 403;
  if (credential === 'page' && stream && origin === 'absent' && site !== 'same-origin') return 403;
  return 'in';
}

/** Every route of the table, as /openapi.json has it. */
async function routes(server) {
  const { paths } = (await request(server, '/openapi.json', { token: false })).json;
  return Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, o]) => ({
    method: method.toUpperCase(), target: path.replace(/\{\w+\}/g, 'none'),
    open: o.security?.length === 0, stream: 'text/event-stream' in o.responses['200'].content })));
}

// A stream is asked for by HEAD, and a write has a body that no route takes: the guard judges before.
async function ask(server, { method, target, stream }, headers) {
  if (method === 'GET') return (await request(server, target, { method: stream ? 'HEAD' : 'GET', token: false, headers })).status;
  return (await request(server, target, { method, token: false, headers: { ...headers, 'Content-Type': 'text/x-none' }, body: 'x' })).status;
}
const wasIn = (status) => ![401, 403].includes(status);

test('the matrix: every route, every Host, Origin, Sec-Fetch-Site and credential', async (t) => {
  const server = await startServer(t), all = await routes(server), parts = await signIn(server);
  const { Cookie, 'X-Talaria-Page': page } = parts;
  const hosts = { ours: server.host, other: `evil.example:${server.port}`, bare: '127.0.0.1', port: '127.0.0.1:1', upper: `LOCALHOST:${server.port}`, dot: `localhost.:${server.port}` };
  const origins = { absent: null, ours: `http://${server.host}`, evil: 'http://evil.example', null: 'null', port: 'http://127.0.0.1:1' };
  const sites = { absent: null, 'same-origin': 'same-origin', none: 'none', 'same-site': 'same-site', 'cross-site': 'cross-site' };
  const credentials = {
    none: {}, wrong: { Authorization: `Bearer ${'0'.repeat(64)}` }, bearer: { Authorization: `Bearer ${server.token}` },
    page: { ...parts, Cookie: `a=b; ${Cookie}` }, cookie: { Cookie }, part: { 'X-Talaria-Page': page }, 'other part': { Cookie, 'X-Talaria-Page': '0'.repeat(64) },
    swapped: { Cookie: `talaria=${page}`, 'X-Talaria-Page': Cookie.slice(8) }, 'part as bearer': { Authorization: `Bearer ${page}` }, 'token as cookie': { Cookie: `talaria=${server.token}`, 'X-Talaria-Page': page },
  };
  assert.ok(all.length >= 77 && all.filter((r) => r.open).length <= 7, `${all.length} routes`);
  let cells = 0, passed = 0, n = 0;
  const check = async (route, host, origin, site, credential) => {
    const want = expected({ host, origin, site, credential, ...route });
    const status = await ask(server, route, { Host: hosts[host], Origin: origins[origin], 'Sec-Fetch-Site': sites[site], ...credentials[credential] });
    const cell = `${route.method} ${route.target} ${JSON.stringify({ host, origin, site, credential })}: ${status}`;
    // Slack's routes are open, and have a signature of their own.
    if (want === 'in') assert.ok(wasIn(status) || (route.target.startsWith('/api/slack/') && status === 401), cell);
    else assert.equal(status, want, cell);
    cells++;
    passed += want === 'in';
  };
  for (const route of all.filter((r) => r.target !== '/api/auth' || r.method !== 'DELETE')) {
    // All of one dimension at a time, and of the whole cube every eleventh cell, each route another part of it.
    for (const credential of Object.keys(credentials)) await check(route, 'ours', 'ours', 'same-origin', credential);
    for (const credential of ['bearer', 'page', 'cookie']) await check(route, 'ours', 'absent', 'absent', credential);
    for (const host of Object.keys(hosts)) await check(route, host, 'ours', 'absent', 'bearer');
    for (const origin of Object.keys(origins)) for (const site of Object.keys(sites)) for (const credential of Object.keys(credentials))
      if (n++ % 11 === 0) await check(route, 'ours', origin, site, credential);
  }
  assert.ok(cells > 2500 && passed > 300 && passed < cells / 2, `${cells} cells, ${passed} pass`);
});

test('a stream needs the origin, not only HEAD of it', async (t) => {
  const server = await startServer(t), parts = await signIn(server);
  assert.equal((await request(server, '/api/events', { token: false, headers: parts })).status, 403);
  assert.equal((await request(server, '/api/events', { token: false, headers: { ...parts, Origin: 'http://evil.example' } })).status, 403);
});

test('a cookie that another server of this machine was sent is worth nothing', async (t) => {
  const server = await startServer(t), { Cookie } = await signIn(server);
  const headers = { Cookie, Origin: `http://${server.host}`, 'Sec-Fetch-Site': 'same-origin' };
  assert.equal((await request(server, '/api/sessions', { token: false, headers })).status, 401);
  assert.equal((await request(server, '/api/conversations', { method: 'POST', token: false, headers, body: {} })).status, 401);
  assert.equal((await request(server, '/api/auth', { method: 'DELETE', token: false, headers })).status, 200);
  assert.equal((await request(server, '/api/sessions', { token: false, headers: await signIn(server) })).status, 200);
});

test('logout and a new token end what browsers hold, here and after a restart', async (t) => {
  const server = await startServer(t), get = (on, headers) => request(on, '/api/sessions', { token: false, headers }).then((r) => r.status);
  const first = await signIn(server), same = await signIn(server);
  assert.deepEqual(first, same);
  // Nobody signs others out without being signed in.
  assert.equal((await request(server, '/api/auth', { method: 'DELETE', token: false })).status, 200);
  assert.equal(await get(server, first), 200);
  const out = await request(server, '/api/auth', { method: 'DELETE', token: false, headers: { ...first, Origin: `http://${server.host}` } });
  assert.match(out.headers['set-cookie'][0], /^talaria=; .*Max-Age=0/);
  assert.equal(await get(server, first), 401);
  const second = await signIn(server);
  assert.notEqual(second.Cookie, first.Cookie);
  assert.notEqual(second['X-Talaria-Page'], first['X-Talaria-Page']);
  await server.stop();
  const again = await startServer(t, { home: server.home });
  assert.deepEqual([await get(again, first), await get(again, second)], [401, 200]);
  await again.stop();
  fs.writeFileSync(path.join(server.home.data, 'server-token'), 'a'.repeat(64) + '\n');
  const third = await startServer(t, { home: server.home });
  assert.deepEqual([await get(third, first), await get(third, second), await get(third, await signIn(third))], [401, 401, 200]);
});

test('a second server of the folder knows of a logout and of a new token from its next request on', async (t) => {
  const one = await startServer(t), two = await startServer(t, { home: one.home });
  const file = path.join(one.home.data, 'server-token'), old = one.token;
  const get = (on, headers) => request(on, '/api/sessions', { token: false, headers }).then((r) => r.status);
  const both = (headers) => Promise.all([get(one, headers), get(two, headers)]);
  const bearer = (token) => ({ Authorization: `Bearer ${token}` });
  // Again and again, faster than the clock of a file system goes on.
  for (let i = 0; i < 20; i++) {
    const [here, there] = i % 2 ? [one, two] : [two, one];
    const parts = await signIn(here);
    assert.deepEqual(await both(parts), [200, 200]);
    assert.equal((await request(here, '/api/auth', { method: 'DELETE', token: false, headers: { ...parts, Origin: `http://${here.host}` } })).status, 200);
    assert.equal(await get(there, parts), 401, `logout ${i}`);
    assert.equal(await get(here, parts), 401);
  }
  const parts = await signIn(one);
  for (const letter of ['a', 'b', 'c', 'd']) {
    // In place, as an editor may do it.
    fs.writeFileSync(file, letter.repeat(64) + '\n');
    assert.deepEqual(await both(bearer(letter.repeat(64))), [200, 200]);
    assert.deepEqual(await both(bearer(old)), [401, 401]);
    assert.deepEqual(await both(parts), [401, 401]);
    assert.deepEqual(await both(await signIn(one, letter.repeat(64))), [200, 200]);
    assert.equal((await request(two, '/api/auth', { method: 'POST', token: false, body: { token: old } })).status, 401);
  }
  // Whoever writes it may not be done: what was known holds until there is another token.
  for (const text of ['', 'half']) {
    fs.writeFileSync(file, text);
    assert.deepEqual(await both(bearer('d'.repeat(64))), [200, 200]);
  }
  fs.rmSync(file);
  assert.deepEqual(await both(bearer('d'.repeat(64))), [200, 200]);
  const three = await startServer(t, { home: one.home });
  assert.deepEqual(await both(bearer('d'.repeat(64))), [401, 401]);
  assert.deepEqual(await both(bearer(three.token)), [200, 200]);
});

test('a link from elsewhere opens the page and nothing else', async (t) => {
  const server = await startServer(t);
  const from = (mode) => ({ token: false, headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': mode } });
  assert.equal((await request(server, '/', from('navigate'))).status, 200);
  assert.equal((await request(server, '/sessions/x', from('navigate'))).status, 200);
  assert.equal((await request(server, '/', from('no-cors'))).status, 403);
  assert.equal((await request(server, '/app.js', from('no-cors'))).status, 403);
  assert.equal((await request(server, '/healthz', from('navigate'))).status, 403);
  const signedIn = from('navigate');
  signedIn.headers.Authorization = `Bearer ${server.token}`;
  assert.equal((await request(server, '/api/sessions', signedIn)).status, 403);
});

test('the token: one file, 0600, kept; exchanged for a cookie that is not the token', async (t) => {
  const server = await startServer(t);
  const file = path.join(server.home.data, 'server-token');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.match(server.token, /^[0-9a-f]{64}$/);
  assert.doesNotMatch(server.url + server.stderr, new RegExp(server.token));
  const auth = (token, headers) => request(server, '/api/auth', { method: 'POST', token: false, body: { token }, headers });
  const ok = await auth(server.token);
  assert.equal(ok.status, 200);
  const [set] = ok.headers['set-cookie'];
  assert.match(set, /^talaria=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=\//);
  assert.doesNotMatch(set, new RegExp(server.token));
  const Cookie = set.split(';')[0], parts = { Cookie, 'X-Talaria-Page': ok.json.page };
  assert.equal((await request(server, '/api/sessions', { token: false, headers: parts })).status, 200);
  assert.doesNotMatch(ok.text, new RegExp(`${server.token}|${Cookie.slice(8)}`));
  assert.equal((await request(server, '/api/sessions', { token: false, headers: { Authorization: `Bearer ${Cookie.slice(8)}` } })).status, 401);
  assert.equal((await request(server, '/api/sessions', { token: false, headers: { Cookie: `talaria=${server.token}` } })).status, 401);
  assert.equal((await auth('0'.repeat(64))).status, 401);
  assert.equal((await auth('')).status, 401);
  assert.equal((await auth(server.token, { Origin: 'http://evil.example' })).status, 403);
  assert.equal((await request(server, '/api/auth', { method: 'POST', token: false, body: `token=${server.token}`, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })).status, 415);
  assert.match((await request(server, '/api/auth', { method: 'DELETE', token: false })).headers['set-cookie'][0], /^talaria=; .*Max-Age=0/);
  assert.equal((await request(server, `/api/sessions?token=${server.token}`, { token: false })).status, 401);
  await server.stop();
  const again = await startServer(t, { home: server.home });
  assert.equal(again.token, server.token);
  assert.equal((await request(again, '/api/sessions', { token: false, headers: parts })).status, 200);
  fs.writeFileSync(file, 'short\n');
  await again.stop();
  await assert.rejects(startServer(t, { home: server.home }), /does not hold a token/);
});

test('further names by --allow-host', async (t) => {
  const server = await startServer(t, { args: ['--allow-host', 'box.example, other.example:99'] });
  const at = (Host, Origin) => request(server, `${plugin}/scan-status`, { headers: { Host, ...(Origin ? { Origin } : {}) } });
  assert.equal((await at('box.example')).status, 200);
  assert.equal((await at('box.example', 'https://box.example')).status, 200);
  assert.equal((await at('box.example', `http://${server.host}`)).status, 403);
  assert.equal((await at('other.example:99')).status, 200);
  assert.equal((await at('other.example')).status, 403);
  assert.equal((await at(`localhost:${server.port}`, `http://localhost:${server.port}`)).status, 200);
  assert.equal((await at(`[::1]:${server.port}`)).status, 200);
});
