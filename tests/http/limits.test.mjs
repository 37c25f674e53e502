// What a stranger, or a client that asks for too much, can take: bodies, room for all bodies together, places of models.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { raw, request, rss, startServer } from './helpers.mjs';
import { fakeModel } from './fake_model.mjs';

// A refusal that comes while a body is still being sent may cut the line.
const statusOf = (...args) => request(...args).then((r) => r.status, () => 503);
const until = async (what, holds) => {
  for (let i = 0; i < 600; i++) {
    if (await holds()) return;
    await new Promise((r) => setTimeout(r, 25));
  }
  assert.fail(`never: ${what}`);
};

/** A connection that sends a head and a part of its body, and waits: what came back is in `got`. */
function halfSent(server, head, bytes) {
  const c = { got: '', socket: net.connect(server.port, '127.0.0.1') };
  c.socket.on('data', (d) => (c.got += d.toString('latin1'))).on('error', () => {});
  c.sent = new Promise((r) => c.socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 0x20)]), r));
  return c;
}
const headOf = (server, target, length, ...more) =>
  [`POST ${target} HTTP/1.1`, `Host: ${server.host}`, 'Content-Type: application/json', `Content-Length: ${length}`, ...more, '', ''].join('\r\n');

test('each route takes a body of its size, and says so before it is sent', async (t) => {
  const server = await startServer(t);
  const first = (target, length, more = []) => {
    const c = halfSent(server, headOf(server, target, length, ...more), 0);
    t.after(() => c.socket.destroy());
    return c;
  };
  const bearer = `Authorization: Bearer ${server.token}`;
  const refused = [[first('/api/auth', 4097), 413], [first('/api/auth', 8 << 20), 413], [first('/api/templates', 70000, [bearer]), 413],
    [first('/v1/chat/completions', (8 << 20) + 1, [bearer]), 413], [first('/api/templates', 70000), 401],
    [first('/api/slack/events', 100), 401], [first('/api/slack/events', 100, ['X-Slack-Request-Timestamp: 1', `X-Slack-Signature: v0=${'0'.repeat(64)}`]), 401]];
  for (const [c, status] of refused) {
    await until(`${status}`, () => c.got.includes('\r\n\r\n'));
    assert.match(c.got, new RegExp(`^HTTP/1.1 ${status} `));
  }
  // What does not say its length is measured.
  const chunks = ['POST /api/auth HTTP/1.1', `Host: ${server.host}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked', '', '1400', ' '.repeat(0x1400), '0', '', ''];
  assert.deepEqual((await raw(server, chunks.join('\r\n'), { end: true })).statuses, [413]);
});

test('strangers fill neither the memory nor the room of those who have a token', async (t) => {
  const server = await startServer(t);
  assert.equal((await request(server, '/api/status')).status, 200);
  const before = rss(server.child.pid), all = [];
  t.after(() => all.forEach((c) => c.socket.destroy()));
  const signed = [`X-Slack-Request-Timestamp: ${Math.floor(Date.now() / 1000)}`, `X-Slack-Signature: v0=${'0'.repeat(64)}`];
  for (let i = 0; i < 60; i++) all.push(halfSent(server, headOf(server, '/api/slack/events', 1 << 20, ...signed), 1000 << 10));
  // Some are refused at once, others dropped on the way: each of those gives back what it had taken, several at once where several threads
  // read. So one more at a time, until the next head is refused; without a body behind it nothing resets the line.
  const refuses = async () => {
    const head = headOf(server, '/api/slack/events', 1 << 20, ...signed);
    all.push(halfSent(server, head, 1000 << 10), halfSent(server, head, 0));
    for (let i = 0; i < 10 && !all.at(-1).got; i++) await new Promise((r) => setTimeout(r, 25));
    return all.at(-1).got.startsWith('HTTP/1.1 503');
  };
  await until('no more is taken', refuses);
  assert.ok(rss(server.child.pid) - before < 64 << 20, `${(rss(server.child.pid) - before) >> 20} MiB`);
  // A person signs in, and a client with a token sends a large body.
  assert.equal((await request(server, '/api/auth', { method: 'POST', token: false, body: { token: server.token } })).status, 200);
  assert.notEqual((await request(server, '/api/templates/x/inject', { method: 'POST', body: { messages: [], pad: 'x'.repeat(2 << 20) } })).status, 503);
});

test('four hundred strangers with five megabytes each cost no memory', async (t) => {
  const server = await startServer(t), body = Buffer.alloc(5 << 20, 0x20);
  assert.equal((await request(server, '/api/status')).status, 200);
  const before = rss(server.child.pid), routes = ['/api/auth', '/api/slack/events', '/api/slack/commands', '/v1/chat/completions'];
  const all = Array.from({ length: 400 }, (_, i) => {
    const c = halfSent(server, headOf(server, routes[i % routes.length], body.length), 0);
    c.over = new Promise((r) => c.socket.write(body, r)); // sent, or refused on the way
    return c;
  });
  t.after(() => all.forEach((c) => c.socket.destroy()));
  let most = 0;
  const watch = setInterval(() => { most = Math.max(most, rss(server.child.pid)); }, 5);
  await Promise.all(all.map((c) => c.over));
  clearInterval(watch);
  most = Math.max(most, rss(server.child.pid));
  assert.ok(most - before < 32 << 20, `${(most - before) >> 20} MiB`);
  assert.equal((await request(server, '/api/status')).status, 200);
});

test('the room for bodies is given back', async (t) => {
  const server = await startServer(t);
  const body = { messages: [], pad: 'x'.repeat(6 << 20) };
  for (let i = 0; i < 24; i++) assert.notEqual((await request(server, '/api/templates/x/inject', { method: 'POST', body })).status, 503);
  const left = Array.from({ length: 12 }, () => halfSent(server, headOf(server, '/v1/chat/completions', 8 << 20, `Authorization: Bearer ${server.token}`), 7 << 20));
  await Promise.all(left.map((c) => c.sent));
  left.forEach((c) => c.socket.destroy());
  await until('there is room again', async () => (await statusOf(server, '/api/templates/x/inject', { method: 'POST', body })) !== 503);
});

test('a client that leaves in the middle of its body is gone at once, also when its end came with its last bytes', async (t) => {
  const server = await startServer(t);
  assert.equal((await request(server, '/api/status')).status, 200);
  const sockets = () => fs.readdirSync(`/proc/${server.child.pid}/fd`).filter((fd) => {
    try { return fs.readlinkSync(`/proc/${server.child.pid}/fd/${fd}`).startsWith('socket:'); } catch { return false; }
  }).length;
  const before = sockets();
  // All of it is there before the server reads the first byte.
  server.child.kill('SIGSTOP');
  const left = Array.from({ length: 8 }, (_, i) => halfSent(server, headOf(server, '/v1/chat/completions', 8 << 20, `Authorization: Bearer ${server.token}`), 1000 + i * 9000));
  await Promise.all(left.map((c) => c.sent));
  left.forEach((c) => c.socket.destroy());
  server.child.kill('SIGCONT');
  assert.equal((await request(server, '/api/status')).status, 200);
  await until('its connection is closed', () => sockets() <= before); // until waits half as long as a body may take
});

test('any number of model names: the configured model answers still', async (t) => {
  const model = await fakeModel(t);
  const server = await startServer(t, { env: model.env });
  const ask = (name) => request(server, '/v1/chat/completions', { method: 'POST', body: { model: name, messages: [{ role: 'user', content: 'hello' }] } });
  for (let i = 0; i < 530; i += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, k) => ask(`native/m-${i + k}`)));
    assert.deepEqual([...new Set(answers.map((r) => r.status))], [200], `${i}`);
  }
  assert.equal((await ask('talaria')).status, 200);
  assert.equal((await ask('native/m-1')).status, 200); // one that was dropped
  assert.equal(model.turns.at(-1).body.model, 'm-1');
});

test('without a descriptor left the server says that it is busy, and goes on when there is one', async (t) => {
  const server = await startServer(t, { demo: true });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const get = (at) => request(server, at, { agent });
  const limit = (n) => execFileSync('prlimit', ['--pid', String(server.child.pid), `--nofile=${n}:`]);
  assert.equal((await get('/healthz')).status, 200);
  const most = Number(/Max open files\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.child.pid}/limits`, 'utf8'))[1]);
  limit(4);
  const told = {};
  for (const at of ['/api/sessions', '/api/conversations', '/api/templates', '/api/handoffs', '/api/search?q=x', '/api/sleep', '/api/platforms', '/api/status', '/api/runtimes'])
    told[at] = (await get(at)).status;
  limit(most);
  assert.deepEqual(Object.entries(told).filter(([, s]) => ![200, 503].includes(s)), []);
  assert.ok(Object.values(told).includes(503));
  assert.equal((await get('/api/sessions')).status, 200);
});
