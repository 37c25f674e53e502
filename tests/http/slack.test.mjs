// Slack's Events API: only what Slack signed, lately, and each event once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import path from 'node:path';
import test from 'node:test';
import { request, startServer } from './helpers.mjs';

const secret = 'a-signing-secret', options = { timeout: 60_000 };
const now = () => Math.floor(Date.now() / 1000);

function signed(server, body, { at = now(), key = secret, headers = {} } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = `v0=${createHmac('sha256', key).update(`v0:${at}:${text}`).digest('hex')}`;
  return request(server, '/api/slack/events', { method: 'POST', token: false, body: text,
    headers: { 'Content-Type': 'application/json', 'X-Slack-Request-Timestamp': String(at), 'X-Slack-Signature': signature, ...headers } });
}

const event = (ts, more = {}) => ({ type: 'event_callback', team_id: 'T1', event_id: `Ev${ts}`,
  event: { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', text: 'hi', ts, ...more } });

/** Names of what lies in the inbox. */
function inbox(server) {
  const program = "import sqlite3, sys\nfor r in sqlite3.connect(sys.argv[1]).execute(\"SELECT id FROM inbox WHERE platform = 'slack' ORDER BY seq\"): print(r[0])";
  return execFileSync('python3', ['-c', program, path.join(server.home.data, 'talaria.db')], { encoding: 'utf8' }).trim().split('\n');
}

const start = (t) => startServer(t, { env: { TALARIA_SLACK_SIGNING_SECRET: secret } });

test('the challenge is answered, to Slack alone', options, async (t) => {
  const server = await start(t), ask = { type: 'url_verification', challenge: 'a-word' };
  const r = await signed(server, ask);
  assert.deepEqual([r.status, r.json.challenge], [200, 'a-word']);
  assert.equal((await signed(server, ask, { key: 'another' })).status, 401);
});

test('a message is in the inbox before it is answered, once, however often it comes', options, async (t) => {
  const server = await start(t);
  for (const e of [event('17.1'), event('17.1'), event('17.1', { type: 'app_mention' }), event('17.2')])
    assert.equal((await signed(server, e)).status, 200);
  assert.deepEqual(inbox(server), ['C1:17.1', 'C1:17.2']);
  for (const more of [{ subtype: 'message_changed' }, { type: 'reaction_added' }])
    assert.equal((await signed(server, event('17.3', more))).status, 200);
  assert.equal(inbox(server).length, 2);
});

test('forged, old and unsigned requests are refused, said once, and nothing is kept', options, async (t) => {
  const server = await start(t), e = event('18.1'), at = now();
  for (const how of [{ key: 'guessed' }, { at: now() - 301 }, { at: now() + 301 }, { headers: { 'X-Slack-Signature': null } },
    { headers: { 'X-Slack-Request-Timestamp': null } }, { headers: { 'X-Slack-Request-Timestamp': String(at + 1) }, at },
    { headers: { 'X-Slack-Signature': 'v0=' } }, { headers: { Authorization: `Bearer ${server.token}`, 'X-Slack-Signature': 'v0=00' } }])
    assert.equal((await signed(server, e, how)).status, 401, JSON.stringify(how));
  assert.equal((await signed(server, e)).status, 200);
  assert.equal(inbox(server).length, 1);
  assert.equal(server.stderr.match(/was refused/g).length, 1);
});

test('signed nonsense is refused by name, and without a secret there is no such address', options, async (t) => {
  const server = await start(t);
  assert.ok((await signed(server, 'not json')).status >= 400);
  assert.ok((await signed(server, '[]')).status >= 400);
  const none = await startServer(t);
  assert.equal((await signed(none, event('19.1'))).status, 404);
});
