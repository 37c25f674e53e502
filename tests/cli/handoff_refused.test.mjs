// A handoff that is refused leaves nothing behind: no conversation is made of another agent's session before it may go.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { request, startServer } from '../http/helpers.mjs';
import { claude, claudeWork } from './agents_said.mjs';
import { idleGateway, query } from './handoffs.mjs';
import { run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const limit = { timeout: 60_000 };
const CLAUDE = '11111111-aaaa-4aaa-8aaa-000000000001';
const TOKEN = { TALARIA_TELEGRAM_TOKEN: '123:abc' };

/** Every row of Talaria's database. */
function whole(home) {
  const file = path.join(home.data, 'talaria.db');
  const tables = query(file, "select name from sqlite_schema where type = 'table' and name not like '%_fts%' order by name");
  return Object.fromEntries(tables.map(([name]) => [name, query(file, `select * from "${name}"`)]));
}

const listed = (home) => runJson(['sessions', 'list'], { env: home.env }).sessions.map((s) => s.id);

async function world(t, gateway) {
  const home = tmpHome(), session = claudeWork(home, CLAUDE);
  run(['handoff', 'cancel'], { env: home.env }); // the database is there
  if (gateway) {
    const peer = await idleGateway(home);
    t.after(() => peer.end());
  }
  return { home, session };
}

const refusals = [
  { title: 'a platform that is not set up', platform: 'telegram', says: /telegram is not set up here/ },
  { title: 'no gateway', platform: 'local', says: /no gateway is running/ },
  { title: 'no home channel', platform: 'telegram', gateway: true, env: TOKEN, says: /home channel/ },
  { title: 'a platform that nobody knows', platform: 'pigeon', says: /pigeon/ },
];

for (const { title, platform, gateway, env = {}, says } of refusals)
  test(`refused in the terminal, in a chat and on the page, and nothing is written: ${title}`, limit, async (t) => {
    const { home } = await world(t, gateway), more = { ...home.env, ...env };
    const before = whole(home);
    assert.deepEqual(listed(home), [CLAUDE]);

    for (const args of [['--session', CLAUDE], ['--session', CLAUDE, '--no-turn'], []]) {
      const r = run(['handoff', platform, ...args], { env: more });
      assert.notEqual(r.code, 0);
      assert.match(r.stderr, says);
    }
    assert.deepEqual(whole(home), before, 'talaria handoff');

    const term = terminal(t, ['chat', '--resume', CLAUDE], { env: more, columns: 200 });
    await term.until('and their colours?');
    term.type(`/handoff ${platform}\r`);
    await term.until((s) => says.test(s.split(`/handoff ${platform}`).at(-1)));
    term.type('/quit\r');
    assert.equal(await term.exited, 0);
    assert.deepEqual(whole(home), before, '/handoff');

    const server = await startServer(t, { home, env });
    const r = await request(server, '/api/handoffs', { method: 'POST', body: { session_id: CLAUDE, platform } });
    assert.ok(r.status >= 400 && r.status < 500, r.text);
    assert.match(r.json.detail, says);
    assert.deepEqual(whole(home), before, 'the page');
    assert.deepEqual(listed(home), [CLAUDE]);
  });

test('one that is on its way already takes nothing along that was said meanwhile', limit, async (t) => {
  const { home, session } = await world(t, true), { env } = home;
  const first = run(['handoff', 'local', '--session', CLAUDE, '--detach'], { env });
  assert.equal(first.code, 0, first.stderr);
  claude(home, session.id).said('user', 'and the third one?', { timestamp: '2026-11-10T09:00:00.000Z', uuid: 'later', parentUuid: 'u7' });
  const before = whole(home);
  const again = run(['handoff', 'local', '--session', CLAUDE, '--detach'], { env });
  assert.equal(again.code, 4, again.stderr);
  assert.match(again.stderr, /is being handed over already/);
  assert.deepEqual(whole(home), before);
});
