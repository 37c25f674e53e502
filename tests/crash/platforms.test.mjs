// kill -9 of the gateway at every call that a handoff makes at a platform, before it and after it, and at random: then one
// owner, one thread, one card (or a marked repeat), and the next message there goes on in the same session.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gateway, until } from '../cli/handoffs.mjs';
import { discordChannel, worlds } from '../platforms/worlds.mjs';
import { allDone, awhile, begin, check, checkMoved, free, run, talk, underWay } from './handed.mjs';
import { seeded } from './seeded.mjs';

/** No answer of a platform has to come before one that was asked for later. */
const unevenly = (fake, random) => { fake.onCall = (name, phase) => (phase === 'after' && random() < 0.5 ? new Promise((r) => { setTimeout(r, random() * 80); }) : undefined); };

// At random, on each platform; TALARIA_KILLS: how many in all, in the long run.
const kills = process.env.TALARIA_LONG ? Math.ceil((process.env.TALARIA_KILLS ?? 10_000) / 4) : 4;

// And a channel without threads, of which nobody knows whose it is: whoever is named and writes there first goes on.
for (const [name, open, where = name] of [...Object.entries(worlds), ['discord', discordChannel, 'discord, no threads, no owner']]) {
  test(`${where}: killed at every call of a handoff`, { timeout: 300_000 }, async (t) => {
    const w = await begin(t, open);
    let calls = Infinity;
    for (let at = 0; at < calls; at++) {
      const text = `round ${at}`, id = await talk(w, text), before = w.world.threads();
      let n = 0, dead = null;
      const g = await gateway(w.env);
      const killed = new Promise((resolve) => {
        w.world.onCall(async () => { if (n++ === at && !dead) { dead = g.end('SIGKILL'); await dead; resolve(); } });
      });
      assert.equal((await run(['handoff', name, '--session', id, '--detach', '--no-turn'], w.env)).code, 0);
      const done = until(() => 'done or dead', () => dead || underWay(w.file).length === 0, awhile);
      await Promise.race([killed, done]);
      w.world.onCall(() => {});
      if (!dead) { calls = n; assert.ok(at > 1, 'it was killed at some call'); }
      else free(w.file);
      const next = dead ? await gateway(w.env) : g;
      await allDone(w, next);
      await check(w, id, text, next, before);
      await next.end('SIGKILL');
    }
  });

  // One handoff after the other: each is killed until it has come through all the same.
  test(`${where}: ${kills} kills at random`, { timeout: kills * 8000 + 60_000 }, async (t) => {
    const w = await begin(t, open), random = seeded(t);
    let one = null, handoffs = 0;
    unevenly(w.world.fake, random);
    const finish = async () => {
      const g = await gateway(w.env);
      await allDone(w, g);
      await check(w, one.id, one.text, g, one.before);
      await g.end('SIGKILL');
    };
    for (let i = 0; i < kills; i++) {
      if (!one) {
        const text = `random-${++handoffs}.`;
        one = { text, id: await talk(w, text), before: w.world.threads(), left: 2 + Math.floor(random() * 8) };
        assert.equal((await run(['handoff', name, '--session', one.id, '--detach', '--no-turn'], w.env)).code, 0);
      }
      free(w.file);
      const g = await gateway(w.env);
      await new Promise((r) => setTimeout(r, random() * 40));
      await g.end('SIGKILL');
      free(w.file);
      if (underWay(w.file).length === 0) checkMoved(w, one.id, one.text, one.before);
      if (--one.left <= 0 || i === kills - 1) { await finish(); one = null; }
    }
    t.diagnostic(`${kills} kills in ${handoffs} handoffs`);
  });
}
