// talaria debug model against a server in the test: what is shown, what is refused, what is never shown.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { bin, run, tmpHome } from './helpers.mjs';

const key = 'sk-cli-0123456789abcdefghijkl';
const chunk = (delta, finish = null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

async function serve(t, handler, options) {
  const server = options ? https.createServer(options, handler) : http.createServer(handler);
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return server.address().port;
}

/** The program while our own server answers it, so not synchronously. */
function ask(env, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin, ['debug', 'model', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
    let stdout = '', stderr = '';
    child.stdout.on('data', (d) => (stdout += d));
    child.stderr.on('data', (d) => (stderr += d));
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

test('an answer as it comes, and as events', async (t) => {
  const { env, user } = tmpHome();
  const seen = [];
  const port = await serve(t, (request, response) => {
    seen.push([request.url, request.headers.authorization]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'Hello \u001b[31m' }));
    response.end(chunk({ content: 'you' }) + chunk({}, 'stop') + 'data: [DONE]\n\n');
  });
  fs.mkdirSync(path.join(user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(user, '.config/talaria/config.yaml'),
    `model:\n  base_url: http://127.0.0.1:${port}\n  name: m\n  api_key_env: MY_KEY\n`);
  const plain = await ask({ ...env, MY_KEY: key }, 'hi');
  assert.equal(plain.code, 0, plain.stderr);
  assert.match(plain.stdout, /^Hello .*you\n$/);
  assert.ok(!plain.stdout.includes('\u001b'), 'a model cannot steer the terminal');
  assert.match(plain.stderr, /finished \(stop\)/);
  const json = await ask({ ...env, MY_KEY: key }, 'hi', '--json');
  const events = json.stdout.trim().split('\n').map((l) => JSON.parse(l));
  assert.deepEqual(events.map((e) => e.event), ['start', 'text', 'text', 'finish']);
  assert.deepEqual(seen, Array(2).fill(['/v1/chat/completions', `Bearer ${key}`]));
  for (const r of [plain, json]) assert.ok(!(r.stdout + r.stderr).includes(key.slice(3)));
  const unset = await ask(env, 'hi');
  assert.equal(unset.code, 3);
  assert.match(unset.stderr, /MY_KEY/);
});

test('what is missing or not allowed is said before anything is sent', () => {
  const { env } = tmpHome();
  const none = run(['debug', 'model', 'hi'], { env });
  assert.equal(none.code, 3);
  assert.match(none.stderr, /no model is configured; run 'talaria setup'/);
  const plain = run(['debug', 'model', '--base-url', 'http://192.0.2.1/v1', '--model', 'm', 'hi'], { env: { ...env, TALARIA_MODEL_KEY: key } });
  assert.equal(plain.code, 5);
  assert.match(plain.stderr, /plain http/);
  assert.ok(!plain.stderr.includes(key));
  const user = run(['debug', 'model', '--base-url', 'https://me:secret@192.0.2.1/v1', '--model', 'm', 'hi'], { env });
  assert.equal(user.code, 5);
  assert.ok(!user.stderr.includes('secret'));
  assert.equal(run(['debug', 'model', '--dialect', 'klingon', 'hi'], { env }).code, 2);
});

test('a certificate that nobody vouches for is not accepted', async (t) => {
  const { env, dir } = tmpHome();
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', path.join(dir, 'key.pem'), '-out', path.join(dir, 'cert.pem')]);
  assert.equal(made.status, 0, String(made.stderr));
  let requests = 0;
  const port = await serve(t, (request, response) => { requests++; response.end(); },
    { key: fs.readFileSync(path.join(dir, 'key.pem')), cert: fs.readFileSync(path.join(dir, 'cert.pem')) });
  const r = await ask({ ...env, TALARIA_MODEL_KEY: key }, '--base-url', `https://127.0.0.1:${port}/v1`, '--model', 'm', 'hi', '--json');
  assert.equal(r.code, 1);
  const last = JSON.parse(r.stdout.trim().split('\n').at(-1));
  assert.equal(last.kind, 'network');
  assert.match(last.message, /certificate/i);
  assert.equal(requests, 0);
});
