// Host x Origin x Sec-Fetch-Site x method x token: only the allowed cells pass.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { plugin, request, startServer } from './helpers.mjs';

// What the server must say to a cell. Written from docs/http.md, not from the code.
function expected({ host, origin, site, method, credential, target }) {
  const reads = method === 'GET';
  if (host !== 'ours') return 403;
  if (site === 'cross-site' || site === 'same-site') return 403;
  if (site === 'none' && !reads) return 403;
  if (origin === 'evil' || origin === 'null' || origin === 'port') return 403;
  if (credential === 'none' || credential === 'wrong') return 401;
  if (credential === 'cookie' && !reads && origin === 'absent') return 403;
  if (credential === 'cookie' && target === 'stream' && origin === 'absent' && site !== 'same-origin') return 403;
  return 'in';
}

test('the matrix', async (t) => {
  const server = await startServer(t);
  const auth = await request(server, '/api/auth', { method: 'POST', token: false, body: { token: server.token } });
  const cookie = auth.headers['set-cookie'][0].split(';')[0];
  const hosts = { ours: server.host, other: `evil.example:${server.port}`, bare: '127.0.0.1', port: '127.0.0.1:1', upper: `LOCALHOST:${server.port}`, dot: `localhost.:${server.port}` };
  const origins = { absent: null, ours: `http://${server.host}`, evil: 'http://evil.example', null: 'null', port: 'http://127.0.0.1:1' };
  const sites = { absent: null, 'same-origin': 'same-origin', none: 'none', 'same-site': 'same-site', 'cross-site': 'cross-site' };
  const credentials = { none: {}, wrong: { Authorization: `Bearer ${'0'.repeat(64)}` }, bearer: { Authorization: `Bearer ${server.token}` }, cookie: { Cookie: `a=b; ${cookie}` } };
  const targets = { api: ['GET', '/api/sessions'], stream: ['GET', '/api/events'], write: ['POST', `${plugin}/reset-state`], remove: ['DELETE', '/api/templates/x'] };
  let cells = 0, passed = 0;
  for (const [host, Host] of Object.entries(hosts))
    for (const [origin, Origin] of Object.entries(origins))
      for (const [site, Site] of Object.entries(sites))
        for (const [credential, headers] of Object.entries(credentials))
          for (const [target, [method, at]] of Object.entries(targets)) {
            if (host !== 'ours' && (origin !== 'ours' || site === 'same-site' || credential === 'wrong')) continue;
            const want = expected({ host, origin, site, method, credential, target });
            const all = { Host, Origin, 'Sec-Fetch-Site': Site, ...headers };
            const r = await request(server, at, { method: target === 'stream' && want === 'in' ? 'HEAD' : method, token: false, headers: all });
            const cell = JSON.stringify({ host, origin, site, credential, target });
            if (want === 'in') assert.ok([200, 404].includes(r.status), `${cell}: ${r.status}`);
            else assert.equal(r.status, want, cell);
            cells++;
            passed += want === 'in';
          }
  assert.ok(cells >= 300 && passed > 10 && passed < cells / 4, `${cells} cells, ${passed} pass`);
});

test('a stream needs the origin, not only HEAD of it', async (t) => {
  const server = await startServer(t);
  const auth = await request(server, '/api/auth', { method: 'POST', token: false, body: { token: server.token } });
  const Cookie = auth.headers['set-cookie'][0].split(';')[0];
  assert.equal((await request(server, '/api/events', { token: false, headers: { Cookie } })).status, 403);
  assert.equal((await request(server, '/api/events', { token: false, headers: { Cookie, Origin: 'http://evil.example' } })).status, 403);
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
  const Cookie = set.split(';')[0];
  assert.equal((await request(server, '/api/sessions', { token: false, headers: { Cookie } })).status, 200);
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
  assert.equal((await request(again, '/api/sessions', { token: false, headers: { Cookie } })).status, 200);
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
