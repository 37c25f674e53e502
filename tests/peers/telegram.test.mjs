// Our connection against telegram-test-api: a Bot API server that others wrote. It has no topics, no typing and no long
// poll, forgets what it has handed out, and knows no list of commands: the connection has to get along with that too.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import net from 'node:net';
import { test } from 'node:test';
import { openLink } from '../platforms/link.mjs';

const TelegramServer = createRequire(import.meta.url)('telegram-test-api').default ?? createRequire(import.meta.url)('telegram-test-api');
const token = '4711:of-the-peer';

const freePort = () => new Promise((resolve) => {
  const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => resolve(port)); });
});

async function start(t) {
  const server = new TelegramServer({ port: await freePort(), host: '127.0.0.1' });
  await server.start();
  t.after(() => server.stop());
  const link = openLink(t, 'telegram', { TALARIA_TELEGRAM_TOKEN: token, TALARIA_TELEGRAM_API_BASE: server.config.apiURL });
  const client = server.getClient(token, { userId: 55, chatId: 55, firstName: 'A', timeout: 15_000 });
  await link.until(async () => (await link.ask('health')).known);
  return { server, link, client };
}

test('receives, answers and edits', { timeout: 60_000 }, async (t) => {
  const { link, client, server } = await start(t);
  await client.sendMessage(client.makeMessage('hello'));
  await link.until(() => link.received.length === 1);
  const parsed = await link.ask('parse', { json: link.received[0].json });
  assert.deepEqual([parsed.is, parsed.text, parsed.key, parsed.addressed], [true, 'hello', 'agent:main:telegram:dm:55', true]);
  const sent = await link.ask('send', { chat: '55', type: 'dm', text: 'the **answer**', key: 'k' });
  assert.equal(sent.ok, true, sent.error);
  const { result } = await client.getUpdates();
  assert.equal(result.length, 1);
  assert.equal(result[0].message.text, 'the answer');
  assert.deepEqual(result[0].message.entities, [{ type: 'bold', offset: 4, length: 6 }]);
  const edited = await link.ask('send', { chat: '55', type: 'dm', edit: sent.id, text: 'another' });
  assert.equal(edited.ok, true, edited.error);
  assert.ok(server.getUpdatesHistory(token).some((u) => u.message.text === 'another'));
});

test('a hundred messages, each once and in order', { timeout: 60_000 }, async (t) => {
  const { link, client } = await start(t);
  for (let i = 0; i < 100; i++) await client.sendMessage(client.makeMessage(`m${i}`));
  await link.until(() => link.received.length >= 100);
  assert.deepEqual(link.texts(), Array.from({ length: 100 }, (_, i) => `m${i}`));
});

test('the server goes away and comes back', { timeout: 60_000 }, async (t) => {
  const { link, server } = await start(t);
  const { port } = server.config;
  await server.stop();
  await link.state('reconnecting');
  const second = new TelegramServer({ port, host: '127.0.0.1' });
  await second.start();
  t.after(() => second.stop());
  const client = second.getClient(token, { userId: 55, chatId: 55 });
  await client.sendMessage(client.makeMessage('after all'));
  await link.until(() => link.received.length === 1);
  await link.state('connected');
});
