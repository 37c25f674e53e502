// kill -9 of the gateway while it moves sessions of a Hermes home, in both journal modes of its database: afterwards each
// request has its end, what is said of it is so, one key leads to each session, and the database is sound.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { hermesStore, request, sessionsOf, shown } from '../cli/hermes_store.mjs';
import { seeded } from './seeded.mjs';

const kills = process.env.TALARIA_LONG ? 300 : 10;

for (const mode of ['delete', 'wal'])
  test(`${kills} kills, journal ${mode}`, { timeout: 600_000 }, async (t) => {
    const random = seeded(t), home = tmpHome(), { env } = home, file = hermesStore(home, `schema25_${mode}`);
    const ours = path.join(home.data, 'talaria.db'), ids = sessionsOf(file);
    for (let i = 0; i < kills; i++) {
      const g = await gateway(env), id = ids[i % ids.length];
      request(file, id, 'local'); // refused where one is under way still
      await new Promise((r) => setTimeout(r, random() * 120));
      await g.end('SIGKILL');
    }
    // What a dead one held is free when its lease is over; the test does not wait for that.
    query(ours, 'update handoff set lease_ms = 0, not_before_ms = 0');
    const g = await gateway(env);
    t.after(() => g.end());
    // One that died between Hermes' commit and ours: somebody else might have the row, so only its deadline ends it.
    const unclear = () => query(ours, "select session_id from handoff where state = 'queued'").flat().filter((id) => shown(file, id)[0] === 'running');
    const open = () => query(ours, "select session_id, state, step from handoff where state not in ('done', 'failed', 'cancelled')").filter(([id]) => !unclear().includes(id));
    const waiting = () => ids.filter((id) => ['pending', 'running'].includes(shown(file, id)[0]) && !unclear().includes(id));
    await until(() => JSON.stringify([open(), waiting()]) + g.said(), () => open().length === 0 && waiting().length === 0, 60_000);
    assert.ok(unclear().length <= 2, `${unclear()}`);
    for (const id of unclear()) query(ours, `update handoff set deadline_ms = 0 where session_id = '${id}' and state = 'queued'`);
    await until(() => JSON.stringify(unclear()), () => unclear().length === 0 && waiting().length === 0, 60_000);

    for (const id of ids) {
      const keys = query(file, `select json_extract(entry_json, '$.platform') from gateway_routing where json_extract(entry_json, '$.session_id') = '${id}'`).flat();
      const [state, platform] = shown(file, id), [[source]] = query(file, `select source from sessions where id = '${id}'`);
      if (state === 'completed') assert.deepEqual([keys, source], [[platform], platform], id);
      else assert.equal(keys.includes('local'), source === 'local', id);
    }
    // And the next request of each is accepted and carried out.
    for (const id of ids.slice(0, 5)) assert.equal(request(file, id, 'local'), 1);
    await until(() => g.said(), () => ids.slice(0, 5).every((id) => shown(file, id)[0] === 'completed'), 60_000);
    assert.equal(query(file, 'pragma integrity_check')[0][0], 'ok');
    assert.equal(query(file, 'pragma journal_mode')[0][0], mode);
  });
