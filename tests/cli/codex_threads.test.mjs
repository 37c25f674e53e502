// Threads of Codex as 0.166 writes them: turns that were taken back, forks, names, compactions, compressed files.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { fakeModel } from '../http/fake_model.mjs';
import { start, untouched } from './agents_said.mjs';
import { run, runJson, tmpHome } from './helpers.mjs';

const day = Date.UTC(2026, 10, 10, 8);
/** An id of version 7, as Codex makes them: it begins with the time. */
const uuid = (second, n = 1) => {
  const ms = (day + second * 1000).toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`;
};

/** One rollout. Turns of `paged` are numbered, and shown in item_completed; of the older form in messages for the screen. */
function rollout(home, thread, second, { file, base, paged = true, meta = {}, from = 0, total = 0 } = {}) {
  const at = (s) => new Date(day + s * 1000).toISOString();
  const name = path.join(home.user, '.codex/sessions/2026/11/10', `rollout-2026-11-10T08-00-${String(second).padStart(2, '0')}-${thread}${file ? `_${file}` : ''}.jsonl`);
  let ordinal = from;
  fs.mkdirSync(path.dirname(name), { recursive: true });
  const self = {
    name, thread, second, total,
    size: () => fs.statSync(name).size,
    ordinal: () => ordinal,
    line(type, payload, s = self.second) {
      fs.appendFileSync(name, JSON.stringify({ timestamp: at(s), ...(paged ? { ordinal: ordinal++ } : {}), type, payload }) + '\n');
      return self;
    },
    event: (payload, s) => self.line('event_msg', payload, s),
    said(role, text, s) {
      const item = { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
      const shown = paged ? { type: 'item_completed', item: { type: role === 'user' ? 'UserMessage' : 'AgentMessage', content: [{ type: 'text', text }] } }
        : { type: role === 'user' ? 'user_message' : 'agent_message', message: text };
      return role === 'user' ? self.line('response_item', item, s).event(shown, s) : self.event(shown, s).line('response_item', item, s);
    },
    tokens(n, s) {
      self.total += n;
      const usage = (x) => ({ input_tokens: x, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0, total_tokens: x });
      return self.event({ type: 'token_count', info: { total_token_usage: usage(self.total), last_token_usage: usage(n) } }, s);
    },
    /** A turn that began at `second`; written then, or, as a copy, later. */
    turn(second, question, answer, n, s = second) {
      const id = uuid(second);
      self.second = s;
      return self.event({ type: 'task_started', turn_id: id }, s).line('turn_context', { turn_id: id, cwd: '/tmp/harbour', model: 'gpt-x' }, s)
        .said('user', question, s).said('assistant', answer, s).tokens(n, s).event({ type: 'task_complete', turn_id: id }, s);
    },
    compact(second, summary, n) {
      self.event({ type: 'task_started', turn_id: uuid(second) }, second)
        .line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: summary }] }, second)
        .tokens(n, second).line('compacted', { message: `Here is the summary: ${summary}` }, second).line('turn_context', { turn_id: uuid(second), cwd: '/tmp/harbour' }, second);
      return self;
    },
  };
  self.line('session_meta', { id: thread, timestamp: at(second), cwd: '/tmp/harbour', originator: 'codex_cli_rs', cli_version: '0.166.0', source: 'cli',
    history_mode: paged ? 'paginated' : 'legacy', ...(base ? { history_base: base } : {}), ...meta });
  return self;
}

const said = (home, id) => runJson(['sessions', 'show', id], home).parts.at(-1).transcript.filter((m) => m.role !== 'system').map((m) => m.content);
const list = (home, ...args) => runJson(['sessions', 'list', '--limit', '0', ...args], home).sessions;
const row = (s) => [s.id, s.messages, s.input_tokens];

/** Turns one and two; two is taken back, three is said instead. */
function reverted(home) {
  const thread = uuid(1), file = uuid(20, 2);
  const first = rollout(home, thread, 1).turn(2, 'one boat', 'Answer one.', 100);
  const base = { thread_id: thread, end_ordinal_exclusive: first.ordinal(), end_byte_offset: first.size() }, total = first.total;
  first.turn(10, 'two boats', 'Answer two.', 200);
  return { thread, first, go: () => rollout(home, thread, 20, { file, base, from: base.end_ordinal_exclusive, total }), file };
}

test('a turn that was taken back is gone, and the thread goes on under its own id', () => {
  const home = tmpHome(), { thread, go, file } = reverted(home);
  assert.deepEqual(list(home).map(row), [[thread, 4, 300]]);
  const next = go();
  const before = untouched(path.join(home.user, '.codex'));
  assert.deepEqual(list(home).map(row), [[thread, 2, 100]], 'taken back, nothing said yet');
  assert.deepEqual(untouched(path.join(home.user, '.codex')), before);
  next.turn(21, 'three boats', 'Answer three.', 300);
  const [s] = list(home);
  assert.deepEqual(row(s), [thread, 4, 400]);
  assert.match(s.resume_command, new RegExp(`codex resume ${thread}$`));
  assert.equal(s.started_at, day / 1000 + 2);
  assert.deepEqual(said(home, thread), ['one boat', 'Answer one.', 'three boats', 'Answer three.']);
  assert.equal(run(['sessions', 'show', file], home).code, 3, 'a file is no session');
  // What is appended is read on; hits are found in either file.
  next.turn(30, 'four boats', 'Answer four.', 400);
  assert.deepEqual(list(home).map(row), [[thread, 6, 800]]);
  run(['index'], home);
  const hits = (words) => runJson(['sessions', 'search', words], home).hits.map((h) => [h.session, h.snippet.map((x) => x.text).join('')]);
  assert.deepEqual(hits('"one boat"').map((h) => h[0]), [thread]);
  assert.match(hits('"one boat"')[0][1], /one boat/);
  assert.match(hits('"four boats"')[0][1], /four boats/);
  assert.deepEqual(hits('"two boats"'), []);
});

for (const paged of [true, false])
  test(`a fork has its own messages and tokens, and names its parent (${paged ? 'joined by history_base' : 'the older form, with copies'})`, async (t) => {
    const home = tmpHome(), parent = uuid(1), fork = uuid(40);
    const first = rollout(home, parent, 1, { paged }).turn(2, 'one boat', 'Answer one.', 100);
    const meta = { forked_from_id: parent };
    const second = paged
      ? rollout(home, fork, 40, { base: { thread_id: parent, end_ordinal_exclusive: first.ordinal(), end_byte_offset: first.size() }, meta, from: first.ordinal(), total: 100 })
      : rollout(home, fork, 40, { paged, meta }).line('session_meta', { id: parent, cwd: '/tmp/harbour' }, 40).turn(2, 'one boat', 'Answer one.', 100, 40);
    second.turn(41, 'four boats', 'Answer four.', 400);
    first.turn(50, 'five boats', 'Answer five.', 500);
    assert.deepEqual(list(home).map(row).sort(), [[parent, 4, 600], [fork, 2, 400]].sort());
    second.turn(60, 'six boats', 'Answer six.', 600);
    assert.deepEqual(list(home).find((s) => s.id === fork).input_tokens, 1000);
    assert.deepEqual(said(home, fork), ['four boats', 'Answer four.', 'six boats', 'Answer six.']);
    assert.equal(list(home).find((s) => s.id === fork).parent, parent);
    assert.equal(list(home).find((s) => s.id === fork).model, 'gpt-x');
    assert.match(run(['sessions', 'show', fork], home).stdout, new RegExp(`forked from ${parent}`));
    run(['index'], home);
    assert.deepEqual(runJson(['sessions', 'search', '"one boat"'], home).hits.map((h) => h.session), [parent]);
    // Who goes on in it knows what was said before.
    const fake = await fakeModel(t);
    const r = await start(['ask', '-c', fork, 'and?'], { env: { ...home.env, ...fake.env } });
    assert.equal(r.code, 0, r.stderr);
    assert.deepEqual(fake.turns[0].messages.filter((m) => m.role === 'user').map((m) => m.text), ['one boat', 'four boats', 'six boats', 'and?']);
  });

for (const paged of [true, false])
  test(`the summary of a compaction is no answer (${paged ? 'paginated' : 'legacy'})`, () => {
    const home = tmpHome(), thread = uuid(1);
    rollout(home, thread, 1, { paged }).turn(2, 'one boat', 'Answer one.', 100).compact(10, 'SUMMED-UP', 50).turn(20, 'two boats', 'Answer two.', 200);
    assert.deepEqual(said(home, thread), ['one boat', 'Answer one.', 'two boats', 'Answer two.']);
    assert.deepEqual(list(home).map((s) => s.input_tokens), [350]);
  });

test('names that people gave, from the index, else from the database of Codex', () => {
  const home = tmpHome(), thread = uuid(1), codex = path.join(home.user, '.codex'), index = path.join(codex, 'session_index.jsonl');
  rollout(home, thread, 1).turn(2, 'one boat', 'Answer one.', 100);
  const titles = () => list(home).map((s) => s.title);
  assert.deepEqual(titles(), ['one boat']);
  const db = new DatabaseSync(path.join(codex, 'state_5.sqlite'));
  db.exec('CREATE TABLE threads(id TEXT PRIMARY KEY, rollout_path TEXT, name TEXT)');
  db.prepare('INSERT INTO threads VALUES(?, ?, ?)').run(thread, 'x', 'from the database');
  db.close();
  assert.deepEqual(titles(), ['from the database']);
  fs.writeFileSync(index, `${JSON.stringify({ id: thread, thread_name: 'older' })}\nbroken\n${JSON.stringify({ id: thread, thread_name: 'the boats' })}\n`);
  assert.deepEqual(titles(), ['the boats']);
  fs.appendFileSync(index, `${JSON.stringify({ id: thread, thread_name: 'newer' })}\n`);
  assert.deepEqual(titles(), ['newer']);
});

test('a base that is gone, a ring and nonsense cost nothing but what they would say', () => {
  const home = tmpHome(), a = uuid(1), b = uuid(2), lost = uuid(3), odd = uuid(4);
  rollout(home, a, 1, { base: { thread_id: b, end_byte_offset: 300 } }).turn(5, 'one boat', 'Answer one.', 100);
  rollout(home, b, 2, { base: { thread_id: a, end_byte_offset: 300 } }).turn(6, 'two boats', 'Answer two.', 100);
  rollout(home, lost, 3, { base: { thread_id: uuid(99), end_byte_offset: 5000 } }).turn(7, 'three boats', 'Answer three.', 100);
  rollout(home, odd, 4, { base: { thread_id: '../../etc/passwd', end_byte_offset: -1 } }).turn(8, 'four boats', 'Answer four.', 100);
  assert.deepEqual(list(home).map((s) => s.messages), [2, 2, 2, 2]);
});

/** As Codex does with what has not changed for long: the same bytes, the same time, another name. */
function pack(file, bytes = zlib.zstdCompressSync(fs.readFileSync(file))) {
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(`${file}.zst`, bytes);
  fs.utimesSync(`${file}.zst`, atime, mtime);
  fs.rmSync(file);
}
const age = (file) => fs.utimesSync(file, day / 1000, day / 1000);

test('a thread that Codex has compressed stays what it was, found and shown; unpacked again it goes on', () => {
  const home = tmpHome(), thread = uuid(1), r = rollout(home, thread, 1).turn(2, 'one boat', 'Answer one.', 100).turn(4, 'two boats', 'Answer two.', 30);
  const before = [row(list(home)[0]), said(home, thread)], plain = fs.readFileSync(r.name);
  age(r.name);
  assert.equal(runJson(['index'], home).sessions, 1);
  const hit = () => runJson(['sessions', 'search', '"two boats"'], home).hits.map((h) => [h.session, h.message, h.snippet.map((x) => x.text).join('')]);
  const found = hit();
  assert.equal(found.length, 1);
  pack(r.name);
  const same = untouched(path.join(home.user, '.codex'));
  assert.deepEqual([row(list(home)[0]), said(home, thread)], before);
  assert.deepEqual(hit(), found);
  assert.equal(runJson(['index'], home).bytes_read, 0, 'what was read stays read');
  fs.rmSync(home.data, { recursive: true, force: true }); // and by those who never saw it plain
  assert.deepEqual([row(list(home)[0]), said(home, thread)], before);
  assert.deepEqual(untouched(path.join(home.user, '.codex')), same);
  // For a moment both are there.
  fs.writeFileSync(r.name, plain);
  r.turn(50, 'three boats', 'Answer three.', 7);
  assert.deepEqual(list(home).map(row), [[thread, 6, 137]]);
  fs.rmSync(`${r.name}.zst`);
  assert.deepEqual(list(home).map(row), [[thread, 6, 137]]);
});

test('a thread goes on from a file that was compressed meanwhile', () => {
  const home = tmpHome(), { thread, first, go } = reverted(home);
  go().turn(21, 'three boats', 'Answer three.', 7);
  const before = [list(home).map(row), said(home, thread)];
  pack(first.name);
  fs.rmSync(home.data, { recursive: true, force: true });
  assert.deepEqual([list(home).map(row), said(home, thread)], before);
});

test('compressed files that are cut, damaged or huge cost nothing but themselves', () => {
  const home = tmpHome(), whole = rollout(home, uuid(1), 1).turn(2, 'one boat', 'Answer one.', 100);
  const cut = rollout(home, uuid(2, 2), 2).turn(3, 'two boats', 'Answer two.', 100), none = rollout(home, uuid(3, 3), 3), huge = rollout(home, uuid(4, 4), 4).turn(5, 'four boats', 'Answer four.', 1);
  // Two frames, one after the other, the second of them cut.
  const rest = zlib.zstdCompressSync(Buffer.from(JSON.stringify({ type: 'x'.repeat(3000) })));
  pack(cut.name, Buffer.concat([zlib.zstdCompressSync(fs.readFileSync(cut.name)), rest.subarray(0, rest.length - 3)]));
  pack(none.name, Buffer.from('this is no archive'));
  pack(huge.name, Buffer.concat([zlib.zstdCompressSync(fs.readFileSync(huge.name)), ...Array(40).fill(zlib.zstdCompressSync(Buffer.alloc(16 << 20, 0x20)))]));
  for (const r of [cut, huge]) age(`${r.name}.zst`);
  const r = run(['index'], home);
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, new RegExp(`${path.basename(huge.name)}.zst' is read to byte 268435456 of its unpacked text only`));
  const ids = list(home).map((s) => s.id);
  for (const one of [whole, cut, huge]) assert.ok(ids.includes(one.thread), one.name);
  assert.deepEqual(said(home, cut.thread), ['two boats', 'Answer two.']);
  assert.deepEqual(said(home, huge.thread), ['four boats', 'Answer four.']);
});
