// sessions rename, archive and delete: Talaria's own sessions change, those of other programs never do.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeStateDb, run, runJson, sha, tmpHome, tree } from './helpers.mjs';
import { terminal } from './terminal.mjs';
import { makeTranscripts } from './transcripts.mjs';

const database = (home) => new DatabaseSync(path.join(home.data, 'talaria.db'));

/** A session of ours, two messages long. */
function add(home, id, words, title) {
  const lines = [
    { format: 1, kind: 'session', id, source: 'cli', title, started_at: 1786210685, message_count: 2 },
    { kind: 'message', role: 'user', content: words, timestamp: 1786210686, active: 1 },
    { kind: 'message', role: 'assistant', content: `about ${words}`, timestamp: 1786210687, active: 1 },
    { kind: 'end', messages: 2 },
  ];
  const r = run(['sessions', 'import', '-'], { env: home.env, input: lines.map((l) => JSON.stringify(l)).join('\n') + '\n' });
  assert.equal(r.code, 0, r.stderr);
}

const list = (home, ...args) => runJson(['sessions', 'list', ...args], { env: home.env }).sessions;

test('rename: the title is shown everywhere; a beginning of the id is enough; a title names one session', () => {
  const home = tmpHome();
  add(home, 'own-first-0001', 'walrus herding', 'Old title');
  add(home, 'own-other-0002', 'seal counting', 'Taken');
  const r = run(['sessions', 'rename', 'own-fi', '  Walrus notes  '], { env: home.env });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, "Session own-first-0001 is now called 'Walrus notes'\n");
  assert.equal(list(home).find((s) => s.id === 'own-first-0001').title, 'Walrus notes');
  const taken = run(['sessions', 'rename', 'own-first-0001', 'Taken'], { env: home.env });
  assert.equal(taken.code, 4);
  assert.match(taken.stderr, /another session has the title 'Taken'/);
  for (const bad of ['two\nlines', 'x'.repeat(1001)]) assert.equal(run(['sessions', 'rename', 'own-first-0001', bad], { env: home.env }).code, 1);
  assert.deepEqual(runJson(['sessions', 'rename', 'own-first-0001', ''], { env: home.env }), { format: 1, id: 'own-first-0001', title: null });
  assert.equal(list(home).find((s) => s.id === 'own-first-0001').title, 'walrus herding', 'the first words again');
  assert.equal(run(['sessions', 'rename', 'nothing-here', 'x'], { env: home.env }).code, 3);
});

test('archive leaves a session out of lists and --undo brings it back', () => {
  const home = tmpHome();
  add(home, 'own-first-0001', 'walrus herding');
  assert.deepEqual(runJson(['sessions', 'archive', 'own-first-0001'], { env: home.env }), { format: 1, id: 'own-first-0001', archived: true });
  assert.deepEqual(list(home), []);
  assert.deepEqual(list(home, '--archived').map((s) => [s.id, s.archived]), [['own-first-0001', true]]);
  assert.match(run(['sessions', 'archive', 'own-first', '--undo'], { env: home.env }).stdout, /no longer archived/);
  assert.deepEqual(list(home).map((s) => [s.id, s.own]), [['own-first-0001', true]]);
});

test('delete takes everything with it: rows, files, search entries', () => {
  const home = tmpHome();
  const file = path.join(home.dir, 'note.txt');
  fs.writeFileSync(file, 'sesame');
  const asked = run(['ask', '--json', '-r', 'offline', '-f', file, 'zanzibar question'], { env: home.env });
  assert.equal(asked.code, 0, asked.stderr);
  const id = JSON.parse(asked.stdout.split('\n')[0]).data.conversation_id;
  run(['ask', '-r', 'offline', '-c', id, 'zanzibar again'], { env: home.env });
  add(home, 'own-other-0002', 'zanzibar elsewhere');
  const db = database(home);
  db.exec(`INSERT INTO summary VALUES('${id}', 1, 1, 'sum', 'extractive');
    INSERT INTO runtime_continuity VALUES('${id}', 'hermes', 1, 'h', 'x', 1);
    INSERT INTO continuity_lost VALUES('${id}', 'codex', 1, 'h', 1);
    INSERT INTO session_owner VALUES('${home.data}', '${id}', 'cli', 3, 1, 'talaria');
    INSERT INTO take_code VALUES('c0de', '${home.data}', '${id}', 1, 2, 0)`);
  const found = () => runJson(['sessions', 'search', 'zanzibar'], { env: home.env }).hits.map((h) => h.session ?? h.session_id ?? h.id);
  assert.ok(new Set(found()).size === 2);
  const refused = run(['sessions', 'delete', id], { env: home.env });
  assert.equal(refused.code, 5);
  assert.match(refused.stderr, /this deletes 1 session for good; add --yes to do it/);
  assert.deepEqual(runJson(['sessions', 'delete', id.slice(0, 10), id, '--yes'], { env: home.env }), { format: 1, deleted: [id] });
  const tables = { sessions: 'id', messages: 'session_id', conversation: 'id', conversation_message: 'conversation_id', run: 'conversation_id',
    attachment: 'conversation_id', summary: 'conversation_id', runtime_continuity: 'conversation_id', continuity_lost: 'conversation_id', session_owner: 'session_id', take_code: 'session_id' };
  for (const [table, column] of Object.entries(tables))
    assert.equal(db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).get(id).n, 0, table);
  assert.equal(db.prepare('SELECT count(*) AS n FROM run_event').get().n, 0);
  assert.ok(!fs.existsSync(path.join(home.data, 'files', id)));
  const index = new DatabaseSync(path.join(home.data, 'index.db'));
  assert.equal(index.prepare('SELECT count(*) AS n FROM entries WHERE id = ?').get(id).n, 0);
  assert.equal(index.prepare('SELECT count(*) AS n FROM recall_sessions').get().n, 1);
  assert.equal(new Set(found()).size, 1);
  assert.equal(run(['sessions', 'show', id], { env: home.env }).code, 3);
});

test('sessions of other programs are refused with the name of their file, and stay as they are', () => {
  const home = tmpHome();
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3, messages: 4 });
  makeTranscripts(home, { sessions: 12, mb: 1 });
  const before = { state: sha(path.join(home.hermes, 'state.db')), claude: tree(path.join(home.user, '.claude')), codex: tree(path.join(home.user, '.codex')) };
  for (const [source, title] of [['hermes', 'Hermes Agent'], ['claude', 'Claude Code'], ['codex', 'Codex']]) {
    const [s] = list(home, '--source', source, '--limit', '1');
    assert.equal(s.own, false);
    for (const args of [['rename', s.id, 'x'], ['archive', s.id], ['delete', s.id, '--yes']]) {
      const r = run(['sessions', ...args], { env: home.env });
      assert.equal(r.code, 5, `${args}: ${r.stderr}`);
      assert.ok(r.stderr.includes(`belongs to ${title}; Talaria does not change its file '${home.user}`), r.stderr);
    }
  }
  assert.deepEqual({ state: sha(path.join(home.hermes, 'state.db')), claude: tree(path.join(home.user, '.claude')), codex: tree(path.join(home.user, '.codex')) }, before);
});

test('a session that is away in a chat or on its way there is refused, with the way out', () => {
  const home = tmpHome();
  add(home, 'own-first-0001', 'walrus herding');
  const db = database(home);
  db.exec(`INSERT INTO session_owner VALUES('${home.data}', 'own-first-0001', 'telegram', 1, 1, 'cli')`);
  for (const args of [['rename', 'own-first-0001', 'x'], ['archive', 'own-first-0001'], ['delete', 'own-first-0001', '-y']]) {
    const r = run(['sessions', ...args], { env: home.env });
    assert.equal(r.code, 4, r.stderr);
    assert.match(r.stderr, /in the telegram chat; .*'talaria handoff back --session own-first-0001'/);
  }
  db.exec(`DELETE FROM session_owner;
    INSERT INTO handoff(id, home, session_id, platform, target, mirrored, state, step, requested_ms, deadline_ms, updated_ms)
    VALUES('01H', '${home.data}', 'own-first-0001', 'slack', 'home', 0, 'queued', 'claim', 1, 2, 1)`);
  const r = run(['sessions', 'delete', 'own-first-0001', '-y'], { env: home.env });
  assert.equal(r.code, 4);
  assert.match(r.stderr, /being handed over to slack.*'talaria handoff cancel 01H'/);
  assert.equal(list(home).length, 1);
});

test('at a terminal it asks, and only a yes deletes', async (t) => {
  const home = tmpHome();
  add(home, 'own-first-0001', 'walrus herding', 'Walrus \x1b[31mnotes'.replace('\x1b', ''));
  const no = terminal(t, ['sessions', 'delete', 'own-first-0001'], { env: home.env });
  await no.until('own-first-0001  Walrus [31mnotes (2 messages)');
  await no.until('Delete 1 session for good? [y/N]');
  no.type('\n');
  assert.equal(await no.exited, 5);
  assert.equal(list(home).length, 1);
  const yes = terminal(t, ['sessions', 'delete', 'own-first-0001'], { env: home.env });
  await yes.until('[y/N]');
  yes.type('y\n');
  await yes.until('Deleted session own-first-0001');
  assert.equal(await yes.exited, 0);
  assert.deepEqual(list(home), []);
});
