// What a terminal prints when a session is in the local chat: the page that shows it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gateway } from '../cli/handoffs.mjs';
import { run, runJson } from '../cli/helpers.mjs';
import { request, startServer } from './helpers.mjs';

test('handoff local prints the address of its thread on the page', { timeout: 60_000 }, async (t) => {
  const server = await startServer(t, { demo: true }), { env } = server.home, g = await gateway(env);
  t.after(() => g.end());
  const r = run(['handoff', 'local'], { env });
  assert.equal(r.code, 0, r.stderr);
  const { handoffs: [h] } = runJson(['handoff', 'status'], { env });
  assert.equal(r.stdout, `http://${server.host}/handoffs/local/${h.thread}\n`);
  assert.equal((await request(server, new URL(r.stdout.trim()).pathname)).status, 200);
});
