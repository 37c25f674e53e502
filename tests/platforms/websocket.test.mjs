// The WebSocket client against a server that others wrote (ws), and against raw sockets for what that one
// would never send.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { WebSocketServer } from 'ws';

const program = join(import.meta.dirname, '../..', process.env.TALARIA_BUILD ?? 'build/plain',
  'drive_websocket');
const options = { timeout: 60_000 };

/** The driver, its lines one by one. */
function drive(t, url, { connect = 5, silent = 0, env = {} } = {}) {
  const child = spawn(program, [url, String(connect), String(silent)],
    { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  t.after(() => child.kill('SIGKILL'));
  return {
    say: (line) => child.stdin.write(`${line}\n`),
    line: async () => (await lines.next()).value,
    exit: once(child, 'exit'),
  };
}

/** A server; `serve(socket, request)` for every connection. */
async function server(t, serve, options = {}) {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 64 << 20, ...options });
  wss.on('connection', serve);
  await once(wss, 'listening');
  t.after(() => {
    for (const c of wss.clients)
      c.terminate();
    wss.close();
  });
  return `ws://127.0.0.1:${wss.address().port}`;
}

/** A server of bytes. */
async function raw(t, serve) {
  const open = new Set();
  const s = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  s.listen(0, '127.0.0.1');
  await once(s, 'listening');
  t.after(() => {
    for (const socket of open)
      socket.destroy();
    s.close();
  });
  return `ws://127.0.0.1:${s.address().port}`;
}

/** Says yes to the upgrade, then calls on. */
function upgraded(on) {
  return (socket) => {
    socket.once('data', (head) => {
      const key = /sec-websocket-key: *(\S+)/i.exec(head.toString('latin1'))[1];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
      on(socket);
    });
  };
}

const sha = (text) => createHash('sha256').update(text).digest('hex');

test('text comes and goes, in order, and path and query reach the server', options, async (t) => {
  let asked;
  const url = await server(t, (ws, request) => {
    asked = request.url;
    ws.on('message', (m) => ws.send(`echo ${m}`));
  });
  const d = drive(t, `${url}/link/?ticket=a%20b&n=1`);
  for (let i = 0; i < 50; i++)
    d.say(`send ${i} grüße`);
  for (let i = 0; i < 50; i++)
    assert.equal(await d.line(), `text echo ${i} grüße`);
  assert.equal(asked, '/link/?ticket=a%20b&n=1');
});

test('long messages and fragments are put together', options, async (t) => {
  const url = await server(t, (ws) => {
    ws.on('message', (m) => {
      ws.send('a', { fin: false });
      ws.send('ä'.slice(0), { fin: false });
      ws.ping();
      ws.send('c', { fin: true });
      ws.send(m.toString());
    });
  });
  const d = drive(t, url);
  d.say(`big ${1 << 20}`);
  assert.equal(await d.line(), 'text aäc');
  assert.equal(await d.line(), `long ${1 << 20} ${sha('x'.repeat(1 << 20))}`);
});

test('a character may be cut by frames, but must be whole in the end', options, async (t) => {
  const url = await raw(t, upgraded((socket) => {
    const bytes = Buffer.from('ä');
    socket.write(Buffer.concat([Buffer.from([0x01, 1, bytes[0]]), Buffer.from([0x80, 1, bytes[1]]),
      Buffer.from([0x81, 1, bytes[0]])]));
  }));
  const d = drive(t, url);
  assert.equal(await d.line(), 'text ä');
  assert.match(await d.line(), /^closed 1007 /);
});

test('what is no text is refused', options, async (t) => {
  const url = await server(t, (ws) => ws.send(Buffer.from([1, 2, 3])));
  assert.match(await drive(t, url).line(), /^closed 1003 /);
});

test('a message over the limit is refused before it is whole', options, async (t) => {
  const url = await raw(t, upgraded((socket) => {
    const head = Buffer.from([0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0]);
    socket.write(head);
    const more = Buffer.alloc(1 << 20, 0x78);
    const feed = () => {
      while (!socket.destroyed && socket.write(more))
        ;
    };
    socket.on('drain', feed);
    feed();
  }));
  assert.match(await drive(t, url).line(), /^closed 1009 /);
});

test('what is sent behind a good-bye does no harm', options, async (t) => {
  const url = await raw(t, upgraded((socket) => {
    const big = Buffer.alloc(1 << 20, 0x78);
    big.set([0x81, 127, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xf6]);
    socket.write(Buffer.concat([Buffer.from([0x88, 2, 0x0f, 0xa0]), big, big]));
  }));
  const d = drive(t, url);
  assert.match(await d.line(), /^closed 4000 ?$/);
  d.say('free');
  assert.equal(await d.line(), 'end');
});

test('the other end says why it closes', options, async (t) => {
  const url = await server(t, (ws) => ws.close(4004, 'authentication failed'));
  assert.equal(await drive(t, url).line(), 'closed 4004 authentication failed');
});

test('we say why we close, behind what was still to be said', options, async (t) => {
  let heard = '', closed;
  const over = new Promise((done) => { closed = done; });
  const url = await server(t, (ws) => {
    ws.send('hello');
    ws.on('message', (m) => { heard += m; });
    ws.on('close', (code) => closed(code));
  });
  const d = drive(t, url);
  assert.equal(await d.line(), 'text hello');
  d.say('send one');
  d.say('send two');
  d.say('close 1000');
  assert.match(await d.line(), /^closed 1000/);
  assert.equal(await over, 1000);
  assert.equal(heard, 'onetwo');
  d.say('send three');
  assert.equal(await d.line(), 'refused io');
});

test('a connection that breaks is closed once, with 1006', options, async (t) => {
  const url = await server(t, (ws) => {
    ws.send('hello');
    setImmediate(() => ws.terminate());
  });
  const d = drive(t, url);
  assert.equal(await d.line(), 'text hello');
  assert.match(await d.line(), /^closed 1006 /);
  d.say('free');
  assert.equal(await d.line(), 'end');
});

test('nobody there, a refusal and a redirect end it', options, async (t) => {
  assert.match(await drive(t, 'ws://127.0.0.1:1/').line(), /^closed 1006 ./);
  for (const head of ['401 Unauthorized', '302 Found\r\nLocation: ws://127.0.0.1:1/x']) {
    const url = await raw(t, (socket) => socket.once('data', () =>
      socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`)));
    assert.match(await drive(t, url).line(), /^closed 1006 ./);
  }
});

test('a server that never answers the upgrade is given up in time', options, async (t) => {
  const url = await raw(t, () => {});
  const began = Date.now();
  assert.match(await drive(t, url, { connect: 1 }).line(), /^closed 1006 ./);
  assert.ok(Date.now() - began < 20_000);
});

test('an other end that has died in silence is noticed', options, async (t) => {
  const url = await raw(t, upgraded((socket) => socket.on('data', () => {})));
  const began = Date.now();
  assert.match(await drive(t, url, { silent: 1 }).line(), /^closed 1006 ./);
  assert.ok(Date.now() - began < 20_000);
});

test('one that answers pings stays', options, async (t) => {
  const url = await server(t, (ws) => setTimeout(() => ws.send('still here'), 4000));
  assert.equal(await drive(t, url, { silent: 1 }).line(), 'text still here');
});

test('freeing does not wait for the other end', options, async (t) => {
  const url = await raw(t, upgraded(() => {}));
  const d = drive(t, url);
  d.say('free');
  const began = Date.now();
  assert.match(await d.line(), /^closed 1006 /);
  assert.equal(await d.line(), 'end');
  assert.ok(Date.now() - began < 5000);
});

test('no proxy is taken from the environment', options, async (t) => {
  const url = await server(t, (ws) => ws.send('direct'));
  const d = drive(t, url, { env: { http_proxy: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' } });
  assert.equal(await d.line(), 'text direct');
});

test('plain text goes to this machine only, and other addresses are refused', options, async (t) => {
  assert.match(await drive(t, 'ws://chat.example.org/').line(), /^error refused /);
  assert.match(await drive(t, 'http://127.0.0.1/').line(), /^error invalid /);
  assert.match(await drive(t, 'wss://me:secret@127.0.0.1/').line(), /^error refused /);
});

test('certificates are checked', options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-ws-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj',
    '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
  { stdio: 'ignore' });
  const https = createHttps({ key: readFileSync(key), cert: readFileSync(cert) });
  const wss = new WebSocketServer({ server: https });
  wss.on('connection', (ws) => ws.send('over tls'));
  https.on('tlsClientError', () => {});
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  t.after(() => https.close());
  const port = https.address().port;
  const trusted = { env: { SSL_CERT_FILE: cert } };
  assert.equal(await drive(t, `wss://localhost:${port}/`, trusted).line(), 'text over tls');
  assert.match(await drive(t, `wss://localhost:${port}/`).line(), /^closed 1006 ./);
  assert.match(await drive(t, `wss://127.0.0.1:${port}/`, trusted).line(), /^closed 1006 ./);
});
