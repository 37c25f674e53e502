// Slack as others have built it: local-slack (Socket Mode and signed events, with a human to play) and emulate (the
// Web API). Both listen on every interface, so everything runs in a network of its own, which has loopback alone.
import assert from 'node:assert/strict';
import { spawn, spawnSync, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from '../cli/helpers.mjs';
import { startServer } from '../http/helpers.mjs';
import { openLink } from '../platforms/link.mjs';

const options = { timeout: 90_000 };
const modules = path.join(root, 'tests/peers/node_modules');

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** A program that serves HTTP on a port, once it answers at `at`. */
async function peer(t, command, args, url) {
  const child = spawn(command, args, { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    if (await fetch(url).then(() => true, () => false)) return;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  throw new Error(`${command} does not answer`);
}

async function localSlack(t, app = {}) {
  const port = await freePort(), folder = fs.mkdtempSync(path.join(os.tmpdir(), 'talaria-slack-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const config = path.join(folder, 'config.json');
  fs.writeFileSync(config, JSON.stringify({
    workspace: { teamId: 'T1' },
    apps: [{ botUserId: 'UBOT', botToken: 'xoxb-1', appToken: 'xapp-1', signingSecret: 'secret-1', ...app }],
    users: [{ id: 'U1', name: 'ann' }],
    channels: [{ id: 'C1', name: 'general', members: ['U1', 'UBOT'] }, { id: 'D1', name: 'dm', is_im: true, is_channel: false, members: ['U1', 'UBOT'] }],
  }));
  const base = `http://127.0.0.1:${port}`;
  await peer(t, path.join(modules, 'local-slack-linux-x64/bin/local-slack'), ['--config', config, '--port', String(port)], `${base}/_control/state`);
  const human = async (what, body) => (await fetch(`${base}/_control/${what}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
  const messages = async (channel) => (await (await fetch(`${base}/_control/messages/${channel}`)).json()).messages;
  return { base, human, messages, env: { TALARIA_SLACK_TOKEN: 'xoxb-1', TALARIA_SLACK_APP_TOKEN: 'xapp-1', TALARIA_SLACK_API_BASE: `${base}/api` } };
}

if (!process.env.TALARIA_ALONE) {
  // Both listen on every interface, so they are run where there is none but loopback, or not at all.
  const alone = [['-n'], ['-rn']].find((way) => spawnSync('unshare', [...way, 'ip', 'link', 'set', 'lo', 'up']).status === 0);
  test('Slack as others have built it', { timeout: 240_000, skip: !alone && 'no network of its own is allowed here' }, () => {
    const env = { ...process.env, TALARIA_ALONE: '1' };
    delete env.NODE_TEST_CONTEXT;
    const inside = spawnSync('unshare', [...alone, 'sh', '-c', 'ip link set lo up && exec "$0" --test "$1"', process.execPath, fileURLToPath(import.meta.url)], { env, encoding: 'utf8', timeout: 200_000 });
    assert.equal(inside.status, 0, `${inside.stdout}${inside.stderr}`);
  });
} else {
  test('local-slack: Socket Mode, a thread there and back', options, async (t) => {
    const slack = await localSlack(t), link = openLink(t, 'slack', slack.env);
    await link.state('connected');
    const said = await slack.human('message', { channel: 'C1', user: 'U1', text: '<@UBOT> hello' });
    await link.until(() => link.received.length > 0);
    const update = link.received[0];
    assert.equal(update.update, `C1:${said.message.ts}`);
    const parsed = await link.ask('parse', { json: update.json });
    assert.deepEqual([parsed.is, parsed.addressed, parsed.text, parsed.key], [true, true, 'hello', `agent:main:slack:group:T1:C1:${said.message.ts}`]);
    const sent = await link.ask('send', { chat: 'C1', thread: said.message.ts, text: '**Hi** <there>', key: 'k1' });
    assert.equal(sent.ok, true, sent.error);
    assert.equal((await link.ask('send', { chat: 'C1', edit: sent.id, text: '_Hi_ again' })).ok, true);
    const ours = JSON.stringify(await slack.messages('C1'));
    assert.ok(ours.includes('_Hi_ again') && ours.includes(sent.id), ours);
    await slack.human('message', { channel: 'C1', user: 'U1', text: 'and again', thread_ts: said.message.ts });
    const reply = await link.until(() => link.received.find((r) => r.json.payload.event?.text === 'and again'));
    assert.equal((await link.ask('parse', { json: reply.json })).key, parsed.key);
    assert.equal((await link.close()).code, 0);
  });

  test('local-slack: commands, places, threads', options, async (t) => {
    const slack = await localSlack(t), link = openLink(t, 'slack', slack.env);
    await link.state('connected');
    await slack.human('command', { channel: 'C1', user: 'U1', command: '/talaria', text: 'status' });
    await link.until(() => link.received.length === 1);
    assert.equal((await link.ask('parse', { json: link.received[0].json })).text, '/status');
    const home = await link.ask('look', { chat: 'C1', owner: 'U1' });
    assert.deepEqual([home.ok, home.type, home.name, home.scope], [true, 'group', 'general', 'T1']);
    const thread = await link.ask('thread', { chat: 'C1', title: 'A title', key: 'h1' });
    assert.equal(thread.ok, true, thread.error);
    await slack.human('message', { channel: 'C1', user: 'U1', text: 'in the thread', thread_ts: thread.id });
    const reply = await link.until(() => link.received.find((r) => r.json.payload.event?.text === 'in the thread'));
    assert.equal((await link.ask('parse', { json: reply.json })).key, `agent:main:slack:group:T1:C1:${thread.id}`);
    await link.ask('drop', { chat: 'C1', thread: thread.id });
    assert.equal((await link.ask('look', { chat: 'C404' })).kind, 'not_found');
  });

  test('local-slack: signed events reach the inbox of our server', options, async (t) => {
    const server = await startServer(t, { env: { TALARIA_SLACK_SIGNING_SECRET: 'secret-1' } });
    const slack = await localSlack(t, { mode: 'events', requestUrl: `${server.url.replace(/\/$/, '')}/api/slack/events` });
    const said = await slack.human('message', { channel: 'C1', user: 'U1', text: '<@UBOT> over http' });
    const program = 'import sqlite3, sys\nfor r in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM inbox"): print(r[0])';
    let rows = [];
    for (const end = Date.now() + 20_000; Date.now() < end && !rows.length; await new Promise((done) => { setTimeout(done, 100); })) {
      try {
        rows = execFileSync('python3', ['-c', program, path.join(server.home.data, 'talaria.db')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split('\n').filter(Boolean);
      } catch { /* there is no database yet */ }
    }
    assert.deepEqual(rows, [`C1:${said.message.ts}`], server.stderr);
  });

  test('emulate: the Web API takes what we send', options, async (t) => {
    const port = await freePort(), base = `http://127.0.0.1:${port}`;
    await peer(t, process.execPath, [path.join(modules, 'emulate/dist/index.js'), 'start', '-s', 'slack', '-p', String(port)], `${base}/api/auth.test`);
    const link = openLink(t, 'slack', { TALARIA_SLACK_TOKEN: 'test_token_admin', TALARIA_SLACK_SIGNING_SECRET: 'x', TALARIA_SLACK_API_BASE: `${base}/api` });
    await link.state('connected');
    const home = await link.ask('look', { chat: 'C000000001' });
    assert.deepEqual([home.ok, home.type, home.name, home.scope], [true, 'group', 'general', 'T000000001']);
    const thread = await link.ask('thread', { chat: 'C000000001', title: 'A title & more', key: 'h1' });
    assert.equal(thread.ok, true, thread.error);
    const again = await link.ask('thread', { chat: 'C000000001', title: 'A title & more', key: 'h1' });
    assert.equal(again.id, thread.id, 'the key in the metadata finds it');
    const sent = await link.ask('send', { chat: 'C000000001', thread: thread.id, text: 'one', key: 'k1' });
    assert.equal(sent.ok, true, sent.error);
    assert.equal((await link.ask('send', { chat: 'C000000001', edit: sent.id, text: 'two' })).ok, true);
    const api = (method, body) => fetch(`${base}/api/${method}`, { method: 'POST', headers: { Authorization: 'Bearer test_token_admin' }, body: new URLSearchParams(body) }).then((r) => r.json());
    const replies = (await api('conversations.replies', { channel: 'C000000001', ts: thread.id })).messages;
    assert.deepEqual(replies.map((m) => m.text), ['*A title &amp; more*', 'two']);
    await link.ask('drop', { chat: 'C000000001', thread: thread.id });
  });
}
