// Slack's Events API: only what Slack signed, lately, and each event once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import path from 'node:path';
import test from 'node:test';
import { request, startServer } from './helpers.mjs';

const secret = 'a-signing-secret', options = { timeout: 60_000 };
// The limit itself, 300 s to the second, is asserted in test_slack.c, where the clock stands still.
const now = () => Math.floor(Date.now() / 1000);

function signed(server, body, { at = now(), key = secret, headers = {}, to = '/api/slack/events' } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = `v0=${createHmac('sha256', key).update(`v0:${at}:${text}`).digest('hex')}`;
  return request(server, to, { method: 'POST', token: false, body: text,
    headers: { 'Content-Type': 'application/json', 'X-Slack-Request-Timestamp': String(at), 'X-Slack-Signature': signature, ...headers } });
}

const event = (ts, more = {}) => ({ type: 'event_callback', team_id: 'T1', event_id: `Ev${ts}`,
  event: { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', text: 'hi', ts, ...more } });

/** A slash command, as Slack sends it. */
const typed = (server, fields, how = {}) => signed(server, typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  { ...how, to: '/api/slack/commands', headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...how.headers } });
const command = (trigger, more = {}) => ({ token: 'old-proof', team_id: 'T1', channel_id: 'C1', user_id: 'U1', user_name: 'ann',
  command: '/talaria', text: 'resume "x & y"', response_url: 'https://hooks.slack.com/secret', trigger_id: trigger, ...more });

/** Names of what lies in the inbox. */
function inbox(server, column = 'id') {
  const program = `import sqlite3, sys\nfor r in sqlite3.connect(sys.argv[1]).execute("SELECT ${column} FROM inbox WHERE platform = 'slack' ORDER BY seq"): print(r[0])`;
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
  for (const how of [{ key: 'guessed' }, { at: now() - 600 }, { at: now() + 600 }, { headers: { 'X-Slack-Signature': null } },
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

test('a slash command lies in the inbox as one of Socket Mode would, once, and is answered at once with nothing', options, async (t) => {
  const server = await start(t), at = now();
  for (const fields of [command('1.a'), command('1.a'), command('1.b', { command: '/status', text: '' }), command('1.c', { text: 'new\n\ttwo lines é' })]) {
    const r = await typed(server, fields, { at });
    assert.deepEqual([r.status, r.text], [200, '']);
  }
  assert.deepEqual(inbox(server), ['C1:1.a', 'C1:1.b', 'C1:1.c']);
  const kept = inbox(server, 'update_json').map((x) => JSON.parse(x));
  assert.deepEqual(kept[0], { command: '/talaria', text: 'resume "x & y"', channel_id: 'C1', user_id: 'U1', user_name: 'ann', team_id: 'T1', trigger_id: '1.a' });
  assert.equal(kept[2].text, 'new  two lines é');
  assert.equal((await typed(server, { ssl_check: '1' })).status, 200);
  assert.equal(inbox(server).length, 3);
});

test('a slash command that Slack did not send, or not now, or not as a form, is refused', options, async (t) => {
  const server = await start(t), c = command('2.a');
  for (const how of [{ key: 'guessed' }, { at: now() - 600 }, { at: now() + 600 }, { headers: { 'X-Slack-Signature': null } },
    { headers: { 'X-Slack-Request-Timestamp': String(now() + 7) } }])
    assert.equal((await typed(server, c, how)).status, 401, JSON.stringify(how));
  assert.equal((await typed(server, c, { headers: { 'Content-Type': 'application/json' } })).status, 415);
  assert.equal((await typed(server, 'command=%2Fstatus&command=%2Fnew&channel_id=C1&trigger_id=2.b')).status, 400);
  assert.equal((await typed(server, 'command=%2Fstatus&text=%ZZ&channel_id=C1&trigger_id=2.c')).status, 400);
  assert.equal((await signed(server, event('20.1'), { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })).status, 415);
  assert.equal(server.stderr.match(/was refused/g).length, 1);
  assert.equal((await typed(server, c)).status, 200);
  assert.deepEqual(inbox(server), ['C1:2.a']);
});
