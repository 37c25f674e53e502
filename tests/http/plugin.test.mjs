// The front end of the original, as far as it can be seen from outside: it is registered with a host,
// gets everything through the host's fetch helper, polls while a scan runs, and shows what it got.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { makeStateDb, tmpHome } from '../cli/helpers.mjs';
import { plugin, request, sleep, startServer } from './helpers.mjs';

// Reads a key only where it is there: what is missing is an error here, where a page would show "undefined".
const frontEnd = `
(() => {
  const TIERS = ['Copper', 'Silver', 'Gold', 'Diamond', 'Olympian'];
  const must = (object, key) => {
    if (!(key in object)) throw new Error('no ' + key + ' in ' + JSON.stringify(object).slice(0, 200));
    return object[key];
  };
  const card = (item) => {
    const tier = must(item, 'tier');
    const state = must(item, 'state');
    if (tier !== null && !TIERS.includes(tier)) throw new Error('tier ' + tier);
    if (!['unlocked', 'discovered', 'secret'].includes(state)) throw new Error('state ' + state);
    const width = must(item, 'progress_pct');
    if (!Number.isInteger(width) || width < 0 || width > 100) throw new Error('width ' + width);
    const shown = {
      id: must(item, 'id'), name: must(item, 'name'), text: must(item, 'description'), pill: must(item, 'category'), icon: must(item, 'icon'),
      foot: must(item, 'criteria'), next: must(item, 'next_tier'), of: must(item, 'progress') + '/' + must(item, 'next_threshold'), state, tier, width,
    };
    for (const key of ['id', 'name', 'text', 'pill', 'icon', 'foot']) if (typeof shown[key] !== 'string' || !shown[key]) throw new Error(key + ' of ' + item.id);
    if (must(item, 'unlocked')) {
      const at = must(item, 'unlocked_at');
      shown.when = at ? new Date(at * 1000).toISOString() : '';
      const evidence = must(item, 'evidence');
      shown.proof = evidence ? evidence.title || evidence.session_id : '';
    }
    return shown;
  };
  const load = async (host) => {
    for (;;) {
      const data = await host.fetchJSON('/achievements');
      const meta = must(data, 'scan_meta');
      const page = {
        head: must(data, 'unlocked_count') + ' of ' + must(data, 'total_count'), error: must(data, 'error'), mode: must(meta, 'mode'),
        scanned: (meta.sessions_scanned_so_far ?? meta.sessions_total) + ' of ' + (meta.sessions_expected_total ?? '?'),
        cards: must(data, 'achievements').map(card),
      };
      host.show(page);
      if (page.mode !== 'pending' && page.mode !== 'in_progress') return;
      await host.pause();
    }
  };
  window.host.register('hermes-achievements', { load });
})();
`;

test('the original front end finds every key it reads', async (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 200, seed: 2 });
  const server = await startServer(t, { home });
  const pages = [], registered = new Map();
  const host = {
    register: (name, entry) => registered.set(name, entry),
    fetchJSON: async (at) => {
      const r = await request(server, plugin + at, { headers: { 'X-Hermes-Session-Token': server.token } });
      assert.equal(r.status, 200);
      return r.json;
    },
    show: (page) => pages.push(page),
    pause: () => sleep(20),
  };
  const manifest = await host.fetchJSON('/manifest.json');
  vm.runInNewContext(frontEnd, { window: { host }, Date, JSON });
  assert.ok(registered.has(manifest.name));
  await registered.get(manifest.name).load(host);
  const last = pages.at(-1);
  assert.equal(last.error, null);
  assert.equal(last.cards.length, 60);
  assert.equal(last.head, `${last.cards.filter((c) => c.state === 'unlocked').length} of 60`);
  assert.match(last.scanned, /^(\d+) of \1$/);
  assert.ok(last.cards.some((c) => c.proof), 'a best session is named');
  assert.ok(last.cards.filter((c) => c.state === 'unlocked').every((c) => c.when > '2020'));
  assert.ok(last.cards.filter((c) => c.state === 'secret').every((c) => c.name === '???' && c.icon === 'secret'));
});
