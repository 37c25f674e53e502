// The connection to Slack against a fake that can do what servers of others cannot: be slow, wrong, double, gone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeSlack, me } from '../fakes/slack.mjs';
import { openLink } from './link.mjs';

const options = { timeout: 60_000 };

async function connected(t, more) {
  const fake = await fakeSlack(t, more), link = openLink(t, 'slack', fake.env);
  await link.state('connected');
  return { fake, link };
}

test('it says who it is, and what comes is kept before it is acknowledged', options, async (t) => {
  const { fake, link } = await connected(t);
  const health = await link.ask('health');
  assert.deepEqual([health.me, health.name], [me, 'talaria']);
  const event = fake.event({ text: `<@${me}> hi &amp; bye` }), name = fake.push(event);
  await link.until(() => fake.acked.includes(name));
  assert.equal(link.received.length, 1);
  assert.equal(link.received[0].update, `C1:${event.event.ts}`);
  const parsed = await link.ask('parse', { json: link.received[0].json });
  assert.equal(parsed.text, 'hi & bye');
  assert.equal(parsed.addressed, true);
  assert.equal(parsed.key, `agent:main:slack:group:T1:C1:${event.event.ts}`);
});

test('what cannot be kept is not acknowledged', options, async (t) => {
  const { fake, link } = await connected(t);
  await link.ask('receive', { works: false });
  const lost = fake.push(fake.event({ text: 'one' }));
  await link.until(() => link.lost.length === 1);
  await link.ask('receive', { works: true });
  const kept = fake.push(fake.event({ text: 'two' }));
  await link.until(() => fake.acked.includes(kept));
  assert.ok(!fake.acked.includes(lost));
});

test('a mention is two events with one name, whichever comes first; a repeat has the same one', options, async (t) => {
  const { fake, link } = await connected(t);
  const event = fake.event({ text: `<@${me}> hi` });
  const mention = { ...event, event_id: 'EvOther', event: { ...event.event, type: 'app_mention' } };
  const names = [mention, event, mention].map((e) => fake.push(e));
  await link.until(() => names.every((n) => fake.acked.includes(n)));
  assert.deepEqual([...new Set(link.received.map((r) => r.update))], [`C1:${event.event.ts}`]);
});

test('what is no message is acknowledged and not kept, nor what we wrote ourselves', options, async (t) => {
  const { fake, link } = await connected(t);
  const names = [{ subtype: 'message_changed' }, { subtype: 'channel_join' }, { subtype: 'bot_message', bot_id: 'B9' },
    { type: 'reaction_added' }, { user: me, bot_id: 'B1', text: 'ours' }, { hidden: true }].map((e) => fake.push(fake.event(e)));
  names.push(fake.push({ type: 'block_actions' }, 'interactive'));
  const file = fake.push(fake.event({ subtype: 'file_share', text: 'see this' }));
  await link.until(() => [...names, file].every((n) => fake.acked.includes(n)));
  assert.equal(link.received.length, 1);
});

test('commands read as if they were typed', options, async (t) => {
  const { fake, link } = await connected(t);
  fake.push({ command: '/talaria', text: 'status', channel_id: 'D1', user_id: 'U1', team_id: 'T1', trigger_id: '1.2' }, 'slash_commands');
  fake.push({ command: '/resume', text: ' 3 ', channel_id: 'C1', user_id: 'U1', team_id: 'T1', trigger_id: '1.3' }, 'slash_commands');
  await link.until(() => link.received.length === 2);
  const [one, two] = await Promise.all(link.received.map((r) => link.ask('parse', { json: r.json })));
  assert.deepEqual([one.text, one.addressed], ['/status', true]);
  assert.deepEqual([two.text, two.addressed], ['/resume 3', true]);
});

test('before a socket is taken away the next one is open', options, async (t) => {
  const { fake, link } = await connected(t);
  const old = fake.socket();
  let others;
  old.on('close', () => { others = fake.sockets.filter((s) => s !== old && s.readyState === 1).length; });
  old.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
  const late = fake.envelope(fake.event({ text: 'still over the old one' }));
  old.send(late);
  await link.until(() => old.readyState === 3);
  assert.equal(others, 1);
  assert.ok(fake.acked.includes(JSON.parse(late).envelope_id));
  assert.equal((await link.ask('health')).state, 'connected');
  const name = fake.push(fake.event({ text: 'over the new one' }));
  await link.until(() => fake.acked.includes(name));
});

test('a socket that breaks is opened anew, and so is one that dies in silence', options, async (t) => {
  const { fake, link } = await connected(t);
  fake.socket().terminate();
  await link.until(() => fake.sockets.length === 2 && fake.socket());
  await link.state('connected');
  fake.socket()._socket.pause(); // half open: it reads nothing and answers no ping
  await link.until(() => fake.sockets.length === 3, 40_000);
  const name = fake.push(fake.event({ text: 'here again' }));
  await link.until(() => fake.acked.includes(name));
});

test('trouble at the beginning is waited out', options, async (t) => {
  const fake = await fakeSlack(t);
  fake.trouble('auth.test', { status: 502, body: '<html>' });
  fake.trouble('auth.test', { status: 429, headers: { 'Retry-After': '1' } });
  fake.trouble('apps.connections.open', { status: 500 });
  const link = openLink(t, 'slack', fake.env);
  await link.state('connected');
  assert.equal(fake.called('auth.test'), 3);
  assert.equal(fake.called('apps.connections.open'), 2);
});

test('a token that is not accepted is not tried again, at the beginning or later', options, async (t) => {
  const fake = await fakeSlack(t);
  const link = openLink(t, 'slack', { ...fake.env, TALARIA_SLACK_TOKEN: 'xoxb-other' });
  assert.match((await link.state('refused')).error, /invalid_auth/);
  assert.equal(fake.called('auth.test'), 1);
  const second = openLink(t, 'slack', fake.env);
  await second.state('connected');
  fake.refusal = 'token_revoked';
  fake.tokens.clear();
  const sent = await second.ask('send', { chat: 'C1', text: 'hi', key: 'k' });
  assert.deepEqual([sent.ok, sent.kind], [false, 'refused']);
  assert.match((await second.state('refused')).error, /token_revoked/);
  assert.ok(!second.stderr.includes('xoxb-1') && !second.stderr.includes('xapp-1'));
});

test('words arrive in Slack\'s own mark-up, in their thread, with their key', options, async (t) => {
  const { fake, link } = await connected(t);
  const text = '# Title\n**bold** *it* ~~no~~ `a<b` [x](https://e.org/?a&b) <!channel>\n- one\n```c\nif (a < b)\n```\n| a | b |\n|---|---|\n| 1 | 2 |';
  const sent = await link.ask('send', { chat: 'C1', thread: '17.1', text, key: 'k1' });
  assert.equal(sent.ok, true);
  const [m] = fake.messages;
  assert.equal(sent.id, m.ts);
  assert.equal(m.text, '*Title*\n*bold* _it_ ~no~ `a&lt;b` <https://e.org/?a&amp;b|x> &lt;!channel&gt;\n• one\n```\nif (a &lt; b)\n```\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n```');
  assert.deepEqual([m.thread_ts, m.metadata.event_payload.key], ['17.1', 'k1']);
  assert.equal((await link.ask('send', { chat: 'C1', edit: m.ts, text: 'other' })).ok, true);
  assert.equal(m.text, 'other');
  assert.equal((await link.ask('send', { chat: 'C1', edit: '1.1', text: 'other' })).kind, 'not_found');
  await link.ask('typing', { chat: 'C1', thread: '17.1' });
  await link.ask('typing', { chat: 'C1', thread: '17.1' });
  assert.equal(fake.called('assistant.threads.setStatus'), 1);
});

test('a message whose answer was lost is found again and not sent twice', options, async (t) => {
  const { fake, link } = await connected(t);
  for (const thread of [undefined, '17.1']) {
    const what = { chat: 'C1', thread, text: 'once', key: `k-${thread}` };
    fake.trouble('chat.postMessage', { lost: true });
    const first = await link.ask('send', what);
    assert.deepEqual([first.ok, first.unsure], [false, true]);
    const second = await link.ask('send', { ...what, again: true });
    assert.equal(second.ok, true);
    assert.equal(second.id, fake.messages.at(-1).ts);
  }
  assert.equal(fake.messages.length, 2);
  const third = await link.ask('send', { chat: 'C1', text: 'never arrived', key: 'k3', again: true });
  assert.equal(third.ok, true);
  assert.equal(fake.messages.length, 3);
});

test('a thread is made once for one key, and taken away again', options, async (t) => {
  const { fake, link } = await connected(t);
  fake.trouble('chat.postMessage', { lost: true });
  const ask = { chat: 'C1', title: 'A *title*', key: 'h1' };
  assert.equal((await link.ask('thread', ask)).unsure, true);
  const again = await link.ask('thread', ask);
  assert.equal(again.ok, true);
  assert.equal(fake.messages.length, 1);
  await link.ask('drop', { chat: 'C1', thread: again.id });
  assert.equal(fake.messages.length, 0);
});

test('how a failure reads: patience, later, never', options, async (t) => {
  const { fake, link } = await connected(t);
  const send = (chat = 'C1') => link.ask('send', { chat, text: 'hi', key: 'k' });
  fake.trouble('chat.postMessage', { status: 429, headers: { 'Retry-After': '7' } });
  let r = await send();
  assert.deepEqual([r.kind, r.wait_ms, r.unsure], ['busy', 7000, false]);
  fake.trouble('chat.postMessage', { status: 502 });
  r = await send();
  assert.deepEqual([r.kind, r.unsure], ['io', true]);
  fake.trouble('chat.postMessage', { status: 200, body: '{"ok":false,"error":"fatal_error"}' });
  r = await send();
  assert.deepEqual([r.kind, r.unsure], ['io', true]);
  assert.equal((await send('C2')).kind, 'refused');
  assert.equal((await send('C9')).kind, 'not_found');
  assert.equal(fake.messages.length, 0);
});

test('what a chat is: channels, private chats, people', options, async (t) => {
  const { link } = await connected(t);
  let r = await link.ask('look', { chat: 'C1', owner: 'U1' });
  assert.deepEqual([r.ok, r.chat, r.type, r.name, r.owner, r.scope], [true, 'C1', 'group', 'general', 'U1', 'T1']);
  r = await link.ask('look', { chat: 'U1' });
  assert.deepEqual([r.ok, r.chat, r.type, r.owner, r.scope], [true, 'D1', 'dm', 'U1', 'T1']);
  assert.equal((await link.ask('look', { chat: 'C2' })).kind, 'refused');
  assert.equal((await link.ask('look', { chat: 'C9' })).kind, 'not_found');
});

test('in which workspace a chat is known by whoever looks first', options, async (t) => {
  const fake = await fakeSlack(t);
  fake.trouble('auth.test', { status: 429, headers: { 'Retry-After': '600' } });
  const link = openLink(t, 'slack', fake.env);
  await link.until(() => fake.called('auth.test') === 1); // the link's own, which rests now
  const r = await link.ask('look', { chat: 'C1', owner: 'U1' });
  assert.deepEqual([r.ok, r.scope], [true, 'T1']);
});

test('a burst is kept whole, and frames that make no sense do no harm', options, async (t) => {
  const { fake, link } = await connected(t);
  fake.socket().send('not json');
  fake.socket().send('[]');
  fake.socket().send('{"envelope_id":"odd","type":"events_api","payload":7}');
  for (let i = 0; i < 500; i++)
    fake.push(fake.event({ text: `message ${i}` }));
  await link.until(() => fake.acked.length >= 501);
  assert.equal(new Set(link.received.map((r) => r.update)).size, 500);
  assert.equal((await link.close()).code, 0);
});
