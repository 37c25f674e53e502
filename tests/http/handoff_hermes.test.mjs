// From the page to a Hermes gateway and back: the same checks, the same board.
import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from '../cli/helpers.mjs';
import { hermesGateway, hermesHome } from '../cli/hermes_gateway.mjs';
import { request, startServer } from './helpers.mjs';

test('a conversation goes to a Hermes gateway, is seen on the board, and comes back', { timeout: 110_000 }, async (t) => {
  const server = await startServer(t);
  hermesHome(server.home);
  const gateway = await hermesGateway(server.home, 'slow');
  t.after(() => gateway.end());
  const talk = run(['chat'], { env: server.home.env, input: 'hello there\n' });
  const session_id = /--resume (c\w+)/.exec(talk.stderr)[1];
  const post = async (target, body, status) => {
    const r = await request(server, target, { method: 'POST', body });
    assert.equal(r.status, status, r.text);
    return r.json;
  };
  const board = async () => (await request(server, '/api/handoffs')).json.handoffs;

  const { handoff } = await post('/api/handoffs', { session_id, platform: 'telegram' }, 202);
  assert.match(await gateway.next(), /^running/);
  assert.deepEqual((await board()).map((h) => [h.id, h.state, h.owner]), [[handoff.id, 'claimed', 'telegram']]);
  await post(`/api/handoffs/${handoff.id}/cancel`, {}, 409);
  await post(`/api/sessions/${session_id}/back`, {}, 503);
  gateway.say('');
  assert.match(await gateway.next(), /^completed/);
  const [done] = await board();
  assert.deepEqual([done.state, done.key, done.steps.map((s) => s.state)], ['done', 'agent:main:telegram:dm:555:9', ['queued', 'claimed', 'done']]);
  assert.deepEqual(await post(`/api/sessions/${session_id}/back`, {}, 200), { format: 1, session_id, from: 'telegram' });
  assert.equal((await board())[0].owner, 'cli');
});
