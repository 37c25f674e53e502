// Requests that no browser sends: what could be read in two ways is refused and its connection ended.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { raw, request, rss, sleep, startServer } from './helpers.mjs';

test('framing', async (t) => {
  const server = await startServer(t);
  const head = (line, ...more) => `${line} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n${more.map((m) => m + '\r\n').join('')}\r\n`;
  const json = 'Content-Type: application/json';
  const smuggled = `GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`;
  // One refusal, then the end: the bytes after it are never a request.
  const refused = {
    'length and chunks': head('POST /api/auth', json, 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n' + smuggled,
    'chunks and length': head('POST /api/auth', json, 'Transfer-Encoding: chunked', 'Content-Length: 50') + '0\r\n\r\n' + smuggled,
    'two lengths': head('POST /api/auth', json, 'Content-Length: 0', 'Content-Length: 50') + smuggled,
    'two equal lengths': head('POST /api/auth', json, 'Content-Length: 2', 'Content-Length: 2') + '{}' + smuggled,
    'a list of lengths': head('POST /api/auth', json, 'Content-Length: 2, 2') + '{}' + smuggled,
    'a signed length': head('POST /api/auth', json, 'Content-Length: +2') + '{}' + smuggled,
    'a negative length': head('POST /api/auth', json, 'Content-Length: -2') + smuggled,
    'a hexadecimal length': head('POST /api/auth', json, 'Content-Length: 0x2') + '{}' + smuggled,
    'a length beyond 64 bits': head('POST /api/auth', json, 'Content-Length: 99999999999999999999999') + smuggled,
    'an unknown encoding': head('POST /api/auth', json, 'Transfer-Encoding: gzip') + smuggled,
    'two encodings': head('POST /api/auth', json, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + '0\r\n\r\n' + smuggled,
    'a list of encodings': head('POST /api/auth', json, 'Transfer-Encoding: identity, chunked') + '0\r\n\r\n' + smuggled,
    'two hosts': head('GET /healthz', 'Host: evil.example') + smuggled,
    'a GET with a body': head('GET /healthz', 'Content-Length: 40') + smuggled,
    'two origins': head('GET /healthz', `Origin: http://${server.host}`, 'Origin: http://evil.example') + smuggled,
    'two tokens': head('GET /healthz', 'Authorization: Bearer x') + smuggled,
    'a bare CR in a value': head('GET /healthz', 'X-A: a\rContent-Length: 40') + smuggled,
    'a control character in a value': head('GET /healthz', 'X-A: a\x01b') + smuggled,
    'a space in a name': head('GET /healthz', 'X A: b') + smuggled,
    'a NUL in the target': head('GET /healthz\0/x') + smuggled,
    'a NUL in the method': head('GET\0X /healthz') + smuggled,
    'a NUL in the query': head('GET /healthz?a=b\0c') + smuggled,
    'a control character in the target': head('GET /healthz?a=\x01') + smuggled,
    'a space in the target': head('GET /healthz ?a') + smuggled,
    'chunks in HTTP/1.0': head('POST /api/auth', json, 'Connection: keep-alive', 'Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + '0\r\n\r\n' + smuggled,
    'a NUL in a value': head('GET /healthz', 'X-A: a\0b') + smuggled,
    'a body over the limit': head('POST /api/templates', json, 'Content-Length: 99999999') + smuggled,
    'a target that is no path': head('GET healthz'),
    'an absolute target': head('GET http://evil.example/healthz'),
    'no host': 'GET /healthz HTTP/1.1\r\n\r\n' + smuggled,
  };
  for (const [name, bytes] of Object.entries(refused)) {
    const r = await raw(server, bytes, { ms: 1500, end: name.startsWith('a target') || name.startsWith('an absolute') });
    assert.ok(r.statuses.every((s) => s >= 400 && s < 500), `${name}: ${r.statuses} ${r.text.slice(0, 80)}`);
    assert.doesNotMatch(r.text, /"status":"ok"/, name);
    if (/^(no host|two origins|a bare|a control|a space|a NUL|chunks in)/.test(name)) assert.deepEqual([r.statuses, r.text.split('HTTP/1.1 ').length], [[400], 2], name);
    if (!name.startsWith('a target') && !name.startsWith('an absolute')) assert.notEqual(r.how, 'timeout', `${name} keeps its connection`);
  }
  // Malformed lines: an error or the end, never an answer to what came after.
  for (const [name, bytes] of Object.entries({
    'no version': 'GET /healthz\r\n\r\n',
    'a wrong version': `GET /healthz HTTP/3.7\r\nHost: ${server.host}\r\n\r\n`,
    'noise': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + 'a'.repeat(200) + '\r\n\r\n',
    'a header without a colon': head('GET /healthz', 'nonsense'),
    'a space before the colon': head('POST /api/auth', json, 'Content-Length : 2') + '{}' + smuggled,
  })) {
    const r = await raw(server, bytes, { ms: 1200, end: true });
    assert.ok(r.statuses.length <= 2 && !(r.statuses.length === 2 && r.statuses[0] < 400), `${name}: ${r.statuses}`);
  }
  // A head, a target and a header that are too long.
  for (const bytes of [head('GET /healthz', 'X-Long: ' + 'a'.repeat(65536)), head('GET /' + 'a'.repeat(1 << 20)), head('GET /healthz', ...Array.from({ length: 3000 }, (_, i) => `X-${i}: 1`))]) {
    const r = await raw(server, bytes, { ms: 3000 });
    assert.ok(r.statuses.length <= 1 && r.statuses.every((s) => s >= 400), `${r.statuses} ${r.how}`);
  }
  // Bare line feeds are read as nginx and h2o do (RFC 9112 2.2 allows it): one request, one answer.
  const lf = await raw(server, `GET /healthz HTTP/1.1\nHost: ${server.host}\nConnection: close\n\n`, { ms: 2000 });
  assert.equal(lf.statuses.length, 1);
  // And the server is as well as before.
  assert.equal((await request(server, '/healthz')).status, 200);
});

test('pipelining keeps order; a body in pieces and in chunks', async (t) => {
  const server = await startServer(t);
  const get = (p, more = '') => `GET ${p} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n${more}\r\n`;
  const r = await raw(server, get('/api/sessions') + get('/healthz') + get('/api/nope') + get('/api/templates') + get('/healthz', 'Connection: close\r\n'), { ms: 4000 });
  assert.deepEqual(r.statuses, [200, 200, 404, 200, 200]);
  const body = JSON.stringify({ token: server.token });
  const chunks = [...body].map((c) => `1;ext=x\r\n${c}\r\n`).join('') + '0\r\nX-Trailer: y\r\n\r\n';
  const chunked = await raw(server, `POST /api/auth HTTP/1.1\r\nHost: ${server.host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}`);
  assert.deepEqual(chunked.statuses, [200]);
  const broken = await raw(server, `POST /api/auth HTTP/1.1\r\nHost: ${server.host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n` + get('/healthz'));
  assert.ok(broken.statuses.every((s) => s >= 400));
});

test('a body in chunks is the last of its connection, however its lines end', async (t) => {
  const server = await startServer(t), body = JSON.stringify({ token: server.token });
  const smuggled = `GET /healthz HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`;
  for (const [name, end] of [['CRLF', '\r\n'], ['a bare LF', '\n']]) {
    const chunks = `${body.length.toString(16)}${end}${body}${end}0${end}${end}`;
    const r = await raw(server, `POST /api/auth HTTP/1.1\r\nHost: ${server.host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${smuggled}`);
    assert.deepEqual([r.statuses, r.text.split('HTTP/1.1 ').length], [[200], 2], name);
    assert.match(r.text, /^connection: close\r$/im, name);
  }
  // An extension that never ends is refused, and so is what follows.
  const long = await raw(server, `POST /api/auth HTTP/1.1\r\nHost: ${server.host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(200_000)}\r\n{\r\n0\r\n\r\n${smuggled}`);
  assert.ok(long.statuses.every((s) => s >= 400), `${long.statuses}`);
  assert.equal((await request(server, '/healthz')).status, 200);
});

test('those who leave early and those who say nothing', async (t) => {
  const server = await startServer(t, { demo: true });
  for (let i = 0; i < 60; i++) {
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`GET /api/${['sessions?limit=500', 'events', 'templates/study', 'plugins/hermes-achievements/achievements'][i % 4]} HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    if (i % 3) await sleep(i % 7);
    socket.destroy();
  }
  assert.equal((await request(server, '/api/sessions')).status, 200);
});

test('timed: slow heads: a deadline for the whole, and others are not held up', { timeout: 60_000 }, async (t) => {
  const server = await startServer(t);
  const before = rss(server.child.pid);
  const slow = [];
  for (let i = 0; i < 400; i++) {
    const s = net.connect(server.port, '127.0.0.1');
    s.on('error', () => {});
    s.ended = new Promise((r) => s.on('close', r));
    s.write('GET /healthz HTTP/1.1\r\nX: ');
    slow.push(s);
  }
  const drip = setInterval(() => slow.forEach((s) => s.writable && s.write('a')), 1000);
  t.after(() => { clearInterval(drip); slow.forEach((s) => s.destroy()); });
  await sleep(1000);
  const times = [];
  for (let i = 0; i < 200; i++) {
    const t0 = process.hrtime.bigint();
    await request(server, '/healthz');
    times.push(Number(process.hrtime.bigint() - t0) / 1e6);
  }
  times.sort((a, b) => a - b);
  assert.ok(times[197] < 50, `p99 ${times[197]} ms among slow heads`);
  const t0 = Date.now();
  await Promise.all(slow.map((s) => s.ended));
  assert.ok(Date.now() - t0 < 15_000, 'slow heads are ended');
  if (!process.env.TALARIA_SANITIZED) assert.ok(rss(server.child.pid) - before < 24 << 20);
});
