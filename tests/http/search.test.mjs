// GET /api/search and /api/index, and the index that a server keeps up to date by itself.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { makeStateDb, run, tmpHome } from '../cli/helpers.mjs';
import { claude, id } from '../cli/said.mjs';
import { events, request, startServer } from './helpers.mjs';

const get = async (server, target) => {
  const r = await request(server, target);
  assert.equal(r.status, 200, r.text);
  return r.json;
};

/** Asks until it is as wanted; the server indexes in the background. */
async function until(server, target, wanted) {
  for (const end = Date.now() + 15_000; ; ) {
    const answer = await get(server, target);
    if (wanted(answer)) return answer;
    if (Date.now() > end) assert.fail(`never as wanted: ${JSON.stringify(answer).slice(0, 500)}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

test('a search finds what the server has indexed by itself', async (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['the parser fails on empty input', 'I will look', { tool: 'Bash', input: { command: 'make zebra' }, result: 'Error: quagga' }]);
  const server = await startServer(t, { home });
  const found = await until(server, '/api/search?q=parser+failing', (a) => a.hits.length === 1);
  assert.equal(found.format, 1);
  assert.equal(found.query, 'parser failing');
  assert.equal(found.more, false);
  assert.equal(found.partial, false);
  assert.equal(typeof found.took_ms, 'number');
  const { score, at, message, snippet, ...rest } = found.hits[0];
  assert.deepEqual(rest, { session: id(1), origin: 'claude', source: 'claude', title: 'the parser fails on empty input', project: '/work/app', role: 'user', tool: null, rewound: false, guest: false });
  assert.deepEqual(snippet.filter((p) => p.hit).map((p) => p.text), ['parser', 'fails']);
  assert.ok(score > 0 && at > 1.7e9 && message >= 0);
  assert.equal((await get(server, '/api/search?q=zebra&tool=Bash&role=call&source=claude&project=app&since=2026-01-01')).hits.length, 1);
  assert.equal((await get(server, '/api/search?q=zebra&source=codex')).hits.length, 0);
  assert.equal((await get(server, '/api/search?q=arse&substring=1')).hits.length, 1);
  const index = await get(server, '/api/index');
  assert.equal(index.sessions, 1);
  assert.equal(index.messages, 4);
  assert.ok(index.bytes > 0);
});

test('what comes while the server runs is found, and told to who listens', async (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['one']);
  const server = await startServer(t, { home });
  await until(server, '/api/index', (i) => i.sessions === 1 && !i.updating);
  const stream = await events(server);
  claude(home, 2, ['a late ocelot']);
  const told = stream.next('index');
  await until(server, '/api/search?q=ocelot', (a) => a.hits.length === 1);
  const event = await told;
  assert.ok(JSON.stringify(event).includes('done'));
  stream.close?.();
});

test('a wrong parameter is 400 and names itself', async (t) => {
  const server = await startServer(t);
  for (const [query, name] of [['', 'q'], ['q=', 'q'], ['q=x&source=nowhere', 'nowhere'], ['q=x&role=nobody', 'role'], ['q=x&limit=0', 'limit'],
    ['q=x&limit=501', 'limit'], ['q=x&since=never', 'since'], ['q=x&substring=perhaps', 'substring'], ['q=%ff', 'q']]) {
    const r = await request(server, `/api/search?${query}`);
    assert.equal(r.status, 400, query);
    assert.match(r.headers['content-type'], /problem\+json/);
    assert.match(r.json.detail, new RegExp(`'${name}'`));
  }
  const odd = await get(server, `/api/search?q=${encodeURIComponent('role:nobody "open (AND')}`);
  assert.match(odd.note, /role:nobody/);
});

test('the first search waits for the first update, and says how far it is if that takes too long', async (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 60; n++) claude(home, n, Array.from({ length: 20 }, (_, i) => `pangolin ${n} ${i} ` + 'lorem ipsum dolor '.repeat(40)));
  const server = await startServer(t, { home });
  const first = await get(server, '/api/search?q=pangolin&limit=50');
  if (first.partial) assert.match(first.note, /Search index \d+ % complete: some results may be missing/);
  else assert.equal(first.hits.length, 50);
  await until(server, '/api/search?q=pangolin&limit=50', (a) => !a.partial && a.hits.length === 50);
});

test('as the page shows it: archived sessions where asked for, what says nearly the same once', async (t) => {
  const home = tmpHome(t), db = path.join(home.hermes, 'state.db');
  for (let n = 1; n <= 6; n++) claude(home, n, [`the nightly narwhal report of the harbour came in with ${n} boats`]);
  claude(home, 7, ['a narwhal was seen elsewhere']);
  makeStateDb(db, { sessions: 3, extra: ['--no-edge'] });
  const state = new DatabaseSync(db), { id: put } = state.prepare('SELECT id FROM sessions LIMIT 1').get();
  state.prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES (?, 'user', 'an archived ocelot', 1763000000)").run(put);
  state.prepare('UPDATE sessions SET archived = 1 WHERE id = ?').run(put);
  state.close();
  const server = await startServer(t, { home });
  await until(server, '/api/search?q=narwhal', (a) => !a.partial && a.hits.length === 7);
  const page = await get(server, '/api/search?q=narwhal&fold=1');
  assert.deepEqual([page.hits.length, page.similar, page.more], [2, 5, false]);
  const few = await get(server, '/api/search?q=narwhal&fold=1&limit=1');
  assert.deepEqual([few.hits.length, few.more], [1, true]);
  const shown = run(['sessions', 'search', 'narwhal'], home).stdout.trim().split('\n').map((l) => l.split('\t')[0]);
  assert.deepEqual(page.hits.map((h) => h.session).sort(), shown.sort(), 'as in the terminal');
  assert.equal((await get(server, '/api/search?q=ocelot')).hits.length, 0);
  assert.deepEqual((await get(server, '/api/search?q=ocelot&archived=1')).hits.map((h) => h.session), [put]);
});
