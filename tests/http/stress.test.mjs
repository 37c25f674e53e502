// Scans, resets and readers all at once: nothing hangs, nothing is half-written.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { request, startServer } from './helpers.mjs';

const ours = '/api/achievements';

test('rescan and reset in a loop beside readers: everyone is answered', { timeout: 60_000 }, async (t) => {
  const server = await startServer(t, { demo: true });
  const until = Date.now() + 6000;
  let rescans = 0, resets = 0, reads = 0;
  const loop = async (fn) => {
    while (Date.now() < until) await fn();
  };
  const post = (what) => request(server, `${ours}/${what}`, { method: 'POST', headers: { Origin: `http://${server.host}` } });
  await Promise.all([
    loop(async () => {
      const r = await post('rescan');
      assert.ok(r.status === 200 || r.status === 503, `rescan ${r.status}`);
      if (r.status === 200) assert.equal(r.json.ok, true);
      rescans++;
    }),
    loop(async () => {
      assert.equal((await post('reset')).status, 200);
      resets++;
    }),
    ...['', '/scan-status', '/recent', ''].map((what) => loop(async () => {
      const r = await request(server, `${ours}${what}`);
      assert.equal(r.status, 200, what);
      assert.ok(r.json);
      reads++;
    })),
  ]);
  t.diagnostic(`${rescans} rescans, ${resets} resets, ${reads} reads`);
  assert.ok(rescans > 5 && resets > 5 && reads > 50);
  await post('rescan');
  JSON.parse(fs.readFileSync(path.join(server.home.data, 'achievements/state.json'), 'utf8'));
  assert.equal((await server.stop()).code, 0);
});
