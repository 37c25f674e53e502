// What Claude Code writes beside messages: usage that grows, forks, its own total, shell commands, what editors add; and
// Hermes' own export, read and written.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { claude, claudeWork, codex, codexWork } from './agents_said.mjs';
import { makeStateDb, python, run, runJson, tmpHome } from './helpers.mjs';

const ID = '11111111-aaaa-4aaa-8aaa-000000000001';
const usage = (input, output, read = 0, write = 0) => ({ input_tokens: input, output_tokens: output, cache_read_input_tokens: read, cache_creation_input_tokens: write });
const answer = (id, text, u) => ({ role: 'assistant', model: 'claude-x', id, content: [{ type: 'text', text }], usage: u });
const list = (home) => runJson(['sessions', 'list', '--limit', '0'], home).sessions;
const tokens = (s) => [s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens];
const said = (home, id = ID) => runJson(['sessions', 'show', id], home).parts.at(-1).transcript.map((m) => m.content);

test('usage that grows from line to line counts once, at its largest, also where reading stopped between them', () => {
  const home = tmpHome(), work = claude(home, ID).said('user', 'count the boats');
  work.line({ type: 'assistant', requestId: 'r1', message: answer('m1', 'Loo', usage(10, 5, 100, 7)) });
  assert.deepEqual(tokens(list(home)[0]), [10, 5, 100, 7]);
  work.line({ type: 'assistant', requestId: 'r1', message: answer('m1', 'king.', usage(10, 631, 100, 7)) });
  assert.deepEqual(tokens(list(home)[0]), [10, 631, 100, 7]);
  work.line({ type: 'assistant', requestId: 'r1', message: answer('m1', 'Two.', usage(10, 600, 100, 7)) })
    .line({ type: 'assistant', requestId: 'r2', message: answer('m2', 'More.', usage(20, 30)) });
  assert.deepEqual(tokens(list(home)[0]), [30, 661, 100, 7]);
});

test("copied messages of a fork count where they were said; the program's own total is the cost", () => {
  const home = tmpHome(), fork = '11111111-aaaa-4aaa-8aaa-000000000002';
  const first = claude(home, ID).said('user', 'count the boats').line({ type: 'assistant', requestId: 'r1', message: answer('m1', 'Two.', usage(100, 10)) });
  const lines = fs.readFileSync(first.file, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const second = claude(home, fork), later = '2026-11-10T09:00:00.000Z';
  second.line({ type: 'queue-operation', operation: 'enqueue', content: 'and gulls?', timestamp: later });
  for (const l of lines) second.line({ ...l, sessionId: fork });
  second.line({ type: 'user', message: { role: 'user', content: 'and gulls?' }, timestamp: later })
    .line({ type: 'assistant', requestId: 'r2', message: answer('m2', 'Three.', usage(300, 30)), timestamp: later })
    .line({ type: 'cost-state', totalCostUSD: 0.0027, modelUsage: {}, hasUnknownModelCost: false });
  const all = Object.fromEntries(list(home).map((s) => [s.id, s]));
  assert.deepEqual(tokens(all[ID]).slice(0, 2), [100, 10]);
  assert.deepEqual(tokens(all[fork]).slice(0, 2), [300, 30]);
  assert.equal(all[ID].cost_usd, null);
  assert.equal(all[fork].cost_usd, 0.0027);
  assert.equal(runJson(['sessions', 'show', fork], home).cost_usd, 0.0027);
});

test('a fork that begins with its copies counts each call once, and has them when the original is gone', () => {
  const home = tmpHome(), forks = ['2', '3'].map((n) => `11111111-aaaa-4aaa-8aaa-00000000000${n}`);
  const first = claude(home, ID).said('user', 'count the boats').line({ type: 'assistant', requestId: 'r1', message: answer('m1', 'Two.', usage(100, 10, 5, 3)) });
  const copied = fs.readFileSync(first.file, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  assert.deepEqual(tokens(list(home)[0]), [100, 10, 5, 3]);
  for (const [i, id] of forks.entries()) {
    const fork = claude(home, id);
    for (const l of copied) fork.line({ ...l, sessionId: id });
    fork.line({ type: 'assistant', requestId: `f${i}`, message: answer(`f${i}`, 'Three.', usage(300, 30)) });
  }
  first.line({ type: 'assistant', requestId: 'r2', message: answer('m2', 'More.', usage(1000, 50)) });
  const counted = () => Object.fromEntries(list(home).map((s) => [s.id, tokens(s)]));
  const sum = () => Object.values(counted()).reduce((all, t) => all.map((n, i) => n + t[i]), [0, 0, 0, 0]);
  assert.deepEqual(counted(), { [ID]: [1100, 60, 5, 3], [forks[0]]: [300, 30, 0, 0], [forks[1]]: [300, 30, 0, 0] });
  assert.deepEqual(runJson(['sessions', 'show', forks[0]], home).input_tokens, 300);
  // A history folder elsewhere is another history, though one index knows both.
  const other = path.join(home.dir, 'copy');
  fs.cpSync(path.join(home.user, '.claude'), other, { recursive: true });
  const there = runJson(['--claude-home', other, 'sessions', 'list'], home).sessions;
  assert.deepEqual(there.map((s) => s.input_tokens).reduce((a, b) => a + b), 1700);
  assert.deepEqual(sum(), [1700, 120, 5, 3]);
  // Claude Code deletes what is old: the copies are what is left.
  fs.rmSync(first.file);
  assert.deepEqual(sum(), [700, 70, 5, 3]);
  fs.rmSync(first.file.replace(ID, forks[0]));
  assert.deepEqual(counted(), { [forks[1]]: [400, 40, 5, 3] });
  // A file that was written anew is counted anew.
  const last = first.file.replace(ID, forks[1]);
  fs.writeFileSync(last, fs.readFileSync(last, 'utf8').split('\n').slice(0, 2).join('\n') + '\n');
  assert.deepEqual(sum(), [100, 10, 5, 3]);
});

test('a session that Claude Code continues in another one is linked with it, both ways', () => {
  const home = tmpHome(), next = '11111111-aaaa-4aaa-8aaa-000000000002';
  claude(home, ID).said('user', 'count the boats').line({ type: 'continued-in', continuedInSessionId: next });
  claude(home, next).said('user', 'count the boats', { sessionKind: 'bg' }).said('user', 'and gulls?');
  run(['index'], home);
  const [from, to] = [ID, next].map((id) => runJson(['sessions', 'show', id], home));
  assert.deepEqual([from.continued_in, from.continues], [next, null]);
  assert.deepEqual([to.continued_in, to.continues], [null, { session_id: ID, origin: 'claude' }]);
  assert.match(run(['sessions', 'show', ID], home).stdout, new RegExp(`continued in ${next}`));
  assert.match(run(['sessions', 'show', next], home).stdout, new RegExp(`continues claude session ${ID}`));
});

test('sessions that Claude Code runs for itself are not a person\'s', () => {
  const home = tmpHome(), ids = [1, 2, 3, 4, 5].map((n) => `11111111-aaaa-4aaa-8aaa-00000000020${n}`);
  const kinds = [{ sessionKind: 'daemon', promptSource: 'typed' }, { sessionKind: 'bg' }, { sessionKind: 'bg', promptSource: 'queued' },
    { entrypoint: 'sdk-cli', promptSource: 'typed' }, { entrypoint: 'sdk-cli', promptSource: 'sdk' }];
  for (const [i, more] of kinds.entries()) claude(home, ids[i]).said('user', `paint the boat number ${i}`, more).said('assistant', [{ type: 'text', text: 'Done.' }]);
  const { digests, not_human } = runJson(['sleep', 'harvest', '--source', 'claude'], home);
  assert.deepEqual(digests.map((d) => d.session_id).sort(), ids.slice(2, 4), 'those in which a person typed');
  assert.equal(not_human, 3);
});

test('commands that the user ran stand between the answers, without tags', () => {
  const home = tmpHome();
  claude(home, ID).said('user', 'count the boats').said('assistant', [{ type: 'text', text: 'Two.' }])
    .said('user', '<local-command-caveat>Caveat: …</local-command-caveat>', { isMeta: true })
    .said('user', '<bash-input>ls boats</bash-input>').said('user', '<bash-stdout>anna\nberta</bash-stdout><bash-stderr></bash-stderr>')
    .said('assistant', [{ type: 'text', text: 'Anna and Berta.' }]);
  assert.deepEqual(said(home), ['count the boats', 'Two.', '! ls boats', 'anna\nberta', 'Anna and Berta.']);
  assert.equal(list(home)[0].messages, 5);
});

test('what editors and the program put into the user\'s place is not taken for words', () => {
  const home = tmpHome();
  claude(home, ID).said('user', '<ide_opened_file>The user opened /tmp/x.c</ide_opened_file>\ncount the boats')
    .said('assistant', [{ type: 'text', text: 'Two.' }]).said('user', 'wake up, it is time', { promptSource: 'system' });
  assert.equal(list(home)[0].title, 'count the boats');
  assert.deepEqual(said(home), ['count the boats', 'Two.']);
});

test('a session that nothing has indexed yet is shown with its title', () => {
  const home = tmpHome();
  claudeWork(home, ID);
  assert.match(run(['sessions', 'show', ID], home).stdout, /^count the boats in the harbour\n/);
});

test('--claude-home and --codex-home, wherever histories are read', () => {
  const there = tmpHome(), home = tmpHome();
  claudeWork(there, ID);
  codexWork(there, '22222222-bbbb-7bbb-8bbb-000000000002');
  const where = ['--claude-home', path.join(there.user, '.claude'), '--codex-home', path.join(there.user, '.codex')];
  assert.equal(list(home).length, 0);
  assert.equal(runJson([...where, 'sessions', 'list'], home).sessions.length, 2);
  assert.equal(runJson([...where, 'sessions', 'search', 'colours'], home).hits.length, 1);
  assert.equal(runJson(['achievements', 'scan', ...where], home).aggregate.session_count, 2);
  assert.equal(runJson(['status', ...where], home).sources.find((s) => s.name === 'claude').folder, path.join(there.user, '.claude'));
  const wrong = run(['--codex-home', path.join(there.dir, 'none'), 'sessions', 'list'], home);
  assert.equal(wrong.code, 3);
  assert.match(wrong.stderr, /no folder '.*none'/);
});

test("Hermes' own export: written as Hermes writes it, read as it is", () => {
  const home = tmpHome(), other = tmpHome(), file = path.join(home.dir, 'hermes.jsonl');
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 6, extra: ['--no-edge'] });
  // One was taken back, one compacted away: Hermes exports neither, and would import both as active.
  const db = new DatabaseSync(path.join(home.hermes, 'state.db'));
  for (const [column, compacted] of [['min', 0], ['max', 1]])
    db.prepare(`UPDATE messages SET active = 0, compacted = ? WHERE id = (SELECT ${column}(id) FROM messages)`).run(compacted);
  // What Hermes keeps and we have no use for is not lost, also where a later Hermes adds it.
  db.exec('ALTER TABLE sessions ADD COLUMN later_text TEXT; ALTER TABLE sessions ADD COLUMN later_number REAL; ALTER TABLE messages ADD COLUMN later_items TEXT');
  db.exec(`UPDATE sessions SET system_prompt = 'You are ' || id, later_text = 'kept', later_number = 2.5; INSERT INTO system_prompts VALUES('h1', 'You are shared'); UPDATE sessions SET system_prompt = NULL, system_prompt_hash = 'h1' WHERE id = (SELECT max(id) FROM sessions); UPDATE messages SET later_items = '[{"id":' || id || '}]' WHERE role = 'assistant'`);
  db.close();
  const out = run(['sessions', 'export', '--all', '--raw', '--format', 'hermes', '--source', 'hermes'], home);
  assert.equal(out.code, 0, out.stderr);
  const lines = out.stdout.trim().split('\n').map((l) => JSON.parse(l));
  // As Hermes' own code reads its rows.
  const rows = JSON.parse(python(`import json,sqlite3
c=sqlite3.connect(${JSON.stringify(path.join(home.hermes, 'state.db'))}); c.row_factory=sqlite3.Row
out={}
for s in c.execute('select * from sessions'):
    ms=[dict(m) for m in c.execute('select * from messages where session_id=? and active=1 order by timestamp,id',(s['id'],))]
    for m in ms:
        m['tool_calls']=json.loads(m['tool_calls']) if m['tool_calls'] else None
        if isinstance(m['content'],str) and m['content'].startswith('\\x00json:'): m['content']=json.loads(m['content'][6:])
    s={**dict(s)}
    if not s['system_prompt']: s['system_prompt']=(c.execute('select prompt from system_prompts where hash=?',(s['system_prompt_hash'],)).fetchone() or [None])[0]
    out[s['id']]={**s,'messages':ms}
print(json.dumps(out))`));
  assert.deepEqual(lines.map((l) => l.id).sort(), Object.keys(rows).sort());
  for (const l of lines) {
    const r = rows[l.id];
    for (const key of Object.keys(r)) if (key !== 'messages' && !(/_cost_usd$/.test(key) && r[key] === 0)) assert.deepEqual(l[key], r[key], key);
    assert.equal(l.messages.length, r.messages.length);
    for (const [i, m] of r.messages.entries()) for (const key of Object.keys(m)) assert.deepEqual(l.messages[i][key], m[key], key);
    assert.notEqual(l.actual_cost_usd, 0);
  }
  assert.ok(lines.some((l) => l.system_prompt === 'You are shared'));
  // What Hermes wrote, with fields that are not ours, goes in and comes out again.
  fs.writeFileSync(file, Object.values(rows).map((r) => JSON.stringify(r) + '\n').join('') + '{"id":"x","messages":[{"content":"no role"}],"source":"cli"}\n');
  const put = () => JSON.parse(run(['sessions', 'import', file, '--json'], other).stdout), report = put();
  assert.equal(report.added, lines.length);
  assert.equal(report.broken, 1);
  const again = run(['sessions', 'export', '--all', '--raw', '--format', 'hermes'], other).stdout.trim().split('\n').map((l) => JSON.parse(l));
  for (const l of again) assert.deepEqual(l.messages.map((m) => [m.role, m.content, m.tool_calls]), rows[l.id].messages.map((m) => [m.role, m.content, m.tool_calls]));
  assert.equal(put().skipped, lines.length);
});

test('OR and NOT between words', () => {
  const home = tmpHome(), ids = ['anna', 'berta', 'clara'].map((name, i) => {
    const id = `11111111-aaaa-4aaa-8aaa-00000000010${i}`;
    claude(home, id).said('user', `paint ${name} in green`);
    return id;
  });
  run(['index'], home);
  const hits = (words) => runJson(['sessions', 'search', words], home).hits.map((h) => h.session).sort();
  assert.deepEqual(hits('anna OR berta'), ids.slice(0, 2));
  assert.deepEqual(hits('paint anna OR clara'), [ids[0], ids[2]]);
  assert.deepEqual(hits('anna OR berta OR "clara in"'), ids);
  assert.deepEqual(hits('ber* OR clara'), ids.slice(1));
  assert.deepEqual(hits('paint NOT berta'), [ids[0], ids[2]]);
  assert.deepEqual(hits('paint AND green NOT anna'), ids.slice(1));
});

test('pictures in a session of Codex are named in their place', () => {
  const home = tmpHome(), id = '22222222-bbbb-7bbb-8bbb-000000000003';
  codex(home, id).item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'what is this?' }, { type: 'input_image', image_url: 'data:image/png;base64,aGk=' }] })
    .event({ type: 'user_message', message: 'what is this?', images: ['data:image/png;base64,aGk='] }).agent('A boat.');
  assert.deepEqual(said(home, id), ['what is this?\n[image]', 'A boat.']);
});

test('messages that Hermes took back are marked among the hits, compacted ones are not', () => {
  const home = tmpHome(), file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 2, extra: ['--no-edge'] });
  const db = new DatabaseSync(file), { id } = db.prepare('SELECT session_id AS id FROM messages LIMIT 1').get();
  const put = db.prepare('INSERT INTO messages(session_id, role, content, timestamp, active, compacted) VALUES(?, ?, ?, ?, ?, ?)');
  put.run(id, 'user', 'quagga one', 1780000001, 1, 0);
  put.run(id, 'user', 'quagga two', 1780000002, 0, 0);
  put.run(id, 'user', 'quagga three', 1780000003, 0, 1);
  db.close();
  run(['index'], home);
  const hits = runJson(['sessions', 'search', 'quagga'], home).hits.map((h) => [h.snippet.map((x) => x.text).join(''), h.rewound]).sort();
  assert.deepEqual(hits, [['quagga one', false], ['quagga three', false], ['quagga two', true]]);
});
