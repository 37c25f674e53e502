// talaria demo: what it promises, counted in the database and the folder that it fills.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, fixtures, root, run, runJson, tmpHome, tree } from './helpers.mjs';

const NOW = 1_772_000_000; // 2026-02-25T06:13:20Z, a Wednesday
const DAY = 86_400;

const all = (file, sql, ...args) => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare(sql).all(...args);
  } finally {
    db.close();
  }
};

/** A filled home, shared by the tests that only look. */
let shared;
function filled() {
  if (!shared) {
    const h = tmpHome();
    const r = run(['demo', '--now', String(NOW)], { env: h.env });
    assert.equal(r.code, 0, r.stderr);
    shared = { ...h, db: path.join(h.data, 'talaria.db'), stdout: r.stdout, stderr: r.stderr };
    process.on('exit', () => fs.rmSync(h.dir, { recursive: true, force: true }));
  }
  return shared;
}
const rows = (sql, ...args) => all(filled().db, sql, ...args);
const one = (sql, ...args) => Object.values(rows(sql, ...args)[0])[0];

const calls = () =>
  rows('SELECT session_id, id, tool_calls FROM messages WHERE tool_calls IS NOT NULL ORDER BY id').map((m) => ({
    ...m, calls: JSON.parse(m.tool_calls),
  }));

test('says what was made, where, and what to try', () => {
  const { stdout, data } = filled();
  assert.match(stdout, new RegExp(`^Made the demo in ${data}\n`));
  for (const command of ['talaria sessions list', 'talaria templates harvest', 'talaria templates study'])
    assert.ok(stdout.includes(command), command);
});

test('enough sessions, over three months, up to an hour before now', () => {
  assert.ok(one('SELECT count(*) FROM sessions') >= 110);
  assert.ok(one('SELECT max(started_at) - min(started_at) FROM sessions') >= 88 * DAY);
  assert.ok(one('SELECT min(started_at) FROM sessions') > NOW - 95 * DAY);
  assert.equal(one('SELECT max(ended_at) FROM sessions'), NOW - 3600);
  for (const sql of ['SELECT max(timestamp) FROM messages', 'SELECT max(last_activity_at) FROM sessions'])
    assert.ok(one(sql) <= NOW - 3600, sql);
  // Every month has its share: no gap of more than a week.
  const starts = rows('SELECT started_at AS t FROM sessions ORDER BY 1').map((r) => r.t);
  for (let i = 1; i < starts.length; i++) assert.ok(starts[i] - starts[i - 1] < 7 * DAY);
});

test('every session is labelled, and holds together', () => {
  for (const s of rows('SELECT * FROM sessions')) {
    assert.match(s.id, /^demo_\d{8}_\d{6}_[0-9a-f]{6}$/);
    assert.equal(s.id.slice(5, 20).replace('_', 'T'), new Date(s.started_at * 1000).toISOString().replace(/[-:]/g, '').slice(0, 15));
    assert.match(s.title, / \(demo\)$/);
    assert.equal(JSON.parse(s.model_config).demo, true);
    assert.ok(s.cwd.startsWith('/home/you/') && s.git_branch && s.ended_at > s.started_at, s.id);
    const n = rows('SELECT count(*) AS n, min(timestamp) AS a, max(timestamp) AS b FROM messages WHERE session_id = ?', s.id)[0];
    assert.deepEqual([n.n, n.b], [s.message_count, s.ended_at]);
    assert.ok(n.a >= s.started_at);
    assert.ok(s.input_tokens > 0 && s.output_tokens > 0);
    assert.ok(s.estimated_cost_usd > 0 || s.model.startsWith('ollama/'), s.model);
  }
  assert.equal(one('SELECT count(DISTINCT title) FROM sessions'), one('SELECT count(*) FROM sessions'));
  assert.equal(one("SELECT count(*) FROM messages m, messages n WHERE n.id = m.id + 1 AND n.session_id = m.session_id AND n.timestamp < m.timestamp"), 0);
});

test('models, sources and every set of tools', () => {
  assert.ok(one('SELECT count(DISTINCT model) FROM sessions') >= 3);
  const sources = rows('SELECT DISTINCT source AS s FROM sessions').map((r) => r.s).sort();
  assert.deepEqual(sources, ['cli', 'cron', 'discord', 'telegram', 'tui']);
  const used = new Set(calls().flatMap((m) => m.calls.map((c) => c.function.name)));
  for (const tool of ['execute_code', 'read_file', 'write_file', 'patch', 'search_files', 'web_search', 'web_extract',
    'browser_navigate', 'browser_click', 'browser_snapshot', 'terminal', 'process', 'delegate_task', 'memory', 'skill_manage',
    'skill_view', 'cronjob', 'vision_analyze', 'image_generate', 'text_to_speech', 'todo'])
    assert.ok(used.has(tool), tool);
});

test('tool calls are well formed, and each has its result', () => {
  const results = new Map(rows("SELECT tool_call_id AS id, tool_name AS name, content FROM messages WHERE role = 'tool'").map((r) => [r.id, r]));
  let n = 0;
  for (const m of calls())
    for (const c of m.calls) {
      n++;
      assert.equal(c.type, 'function');
      assert.equal(typeof JSON.parse(c.function.arguments), 'object');
      assert.equal(results.get(c.id)?.name, c.function.name);
      JSON.parse(results.get(c.id).content);
    }
  assert.equal(n, results.size);
  assert.equal(one('SELECT sum(tool_call_count) FROM sessions'), n);
});

test('parallel calls, with results out of order', () => {
  const parallel = calls().filter((m) => m.calls.length > 1);
  assert.ok(parallel.length >= 50);
  const swapped = parallel.filter((m) => {
    const after = rows('SELECT tool_call_id AS call FROM messages WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?', m.session_id, m.id, m.calls.length);
    return after.map((r) => r.call).join() !== m.calls.map((c) => c.id).join();
  });
  assert.ok(swapped.length >= 20 && swapped.length < parallel.length);
});

const failed = (content) => {
  const r = JSON.parse(content);
  return r.success === false || Boolean(r.error) || (r.exit_code ?? 0) !== 0 || r.status === 'error';
};

test('calls fail, everywhere alike', () => {
  const share = (list) => list.filter((r) => failed(r.content)).length / list.length;
  const results = rows("SELECT session_id, tool_name AS tool, content FROM messages WHERE role = 'tool' ORDER BY id");
  assert.ok(share(results) > 0.06 && share(results) < 0.13, String(share(results)));
  for (const tool of ['execute_code', 'read_file', 'terminal', 'patch'])
    assert.ok(Math.abs(share(results.filter((r) => r.tool === tool)) - share(results)) < 0.04, tool);
  const sessions = Map.groupBy(results, (r) => r.session_id);
  const halves = [[], []];
  for (const list of sessions.values()) list.forEach((r, i) => halves[i * 2 < list.length ? 0 : 1].push(r));
  assert.ok(Math.abs(share(halves[0]) - share(halves[1])) < 0.025);
});

test('twenty sessions and more of code, and of files', () => {
  const FILE = new Set(['read_file', 'write_file', 'patch', 'search_files']);
  const bySession = Map.groupBy(calls(), (m) => m.session_id);
  let code = 0, file = 0;
  for (const list of bySession.values()) {
    const names = list.flatMap((m) => m.calls.map((c) => c.function.name));
    if (names.filter((n) => n === 'execute_code').length * 2 > names.length) code++;
    if (names.filter((n) => FILE.has(n)).length * 2 > names.length) file++;
  }
  assert.ok(code >= 20 && file >= 20, `${code} ${file}`);
});

test('a session in three parts, and one in two', () => {
  const parts = rows('SELECT c.id, c.started_at, p.id AS parent, p.end_reason, p.ended_at, p.parent_session_id AS grand FROM sessions c JOIN sessions p ON p.id = c.parent_session_id');
  assert.ok(parts.length >= 3);
  for (const p of parts) {
    assert.equal(p.end_reason, 'compression');
    assert.ok(p.started_at >= p.ended_at);
  }
  assert.ok(parts.some((p) => p.grand));
  assert.equal(one("SELECT count(*) FROM sessions WHERE end_reason = 'compression'"), parts.length);
});

test('compacted rows, with a summary after them', () => {
  const s = rows('SELECT session_id AS id, max(id) AS last FROM messages WHERE active = 0 AND compacted = 1 GROUP BY 1');
  assert.ok(s.length >= 2);
  for (const { id, last } of s) {
    const next = rows('SELECT role, content, active FROM messages WHERE session_id = ? AND id > ? ORDER BY id LIMIT 1', id, last)[0];
    assert.equal(next.role, 'user');
    assert.match(next.content, /^\[CONTEXT COMPACTION\]/);
  }
});

test('whole sessions in Chinese', () => {
  const chinese = rows("SELECT session_id AS id, group_concat(content, ' ') AS text FROM messages WHERE role = 'user' GROUP BY 1").filter((r) => /\p{Script=Han}/u.test(r.text) && !/[a-z]{4,} [a-z]{2,} [a-z]{2,}/.test(r.text));
  assert.ok(chinese.length >= 8, String(chinese.length));
});

test('fabricated secrets in arguments and in results, each plainly false', () => {
  const shapes = { openai: /\bsk-\w{20,}/g, github: /\bghp_\w{36}/g, aws: /\bAKIA[0-9A-Z]{16}\b/g, slack: /\bxoxb-[\w-]{10,}/g, password: /password=[\w-]+/gi, bearer: /Bearer [\w.-]{16,}/g };
  const results = rows("SELECT content AS t FROM messages WHERE role = 'tool'").map((r) => r.t).join('\n');
  const args = calls().map((m) => m.tool_calls).join('\n');
  for (const [name, shape] of Object.entries(shapes)) {
    const found = [...(args.match(shape) ?? []), ...(results.match(shape) ?? [])];
    assert.ok(found.length > 0, name);
    for (const f of found) assert.match(f, /FAKE|EXAMPLE/, f);
  }
  assert.ok(args.match(/FAKE/) && results.match(/FAKE/));
});

test('recurring tasks: other words, corrections, verdicts, something to check', () => {
  const { tasks } = JSON.parse(fs.readFileSync(path.join(root, 'data/demo/tasks.json'), 'utf8'));
  const told = Map.groupBy(rows("SELECT id, json_extract(model_config, '$.demo_task') AS task FROM sessions").filter((s) => s.task), (s) => s.task);
  assert.ok(told.size >= 12);
  const talk = (id) => rows("SELECT role, content FROM messages WHERE session_id = ? AND (role = 'user' OR (role = 'assistant' AND finish_reason = 'stop')) ORDER BY id", id);
  const verdicts = { good: 0, bad: 0, fixed: 0 };
  for (const task of tasks) {
    const sessions = told.get(task.id) ?? [];
    assert.ok(sessions.length >= 3, task.id);
    assert.ok(task.rule && task.check.op && task.check.arg, task.id);
    const asks = sessions.map((s) => talk(s.id)[0].content);
    assert.equal(new Set(asks).size, asks.length, `${task.id}: the same words twice`);
    let corrected = 0;
    for (const s of sessions) {
      const turns = talk(s.id), words = turns.map((m) => m.content).join('\n');
      corrected += task.corrections.some((c) => words.includes(c));
      const last = turns.filter((m) => m.role === 'user').at(-1).content;
      if (/still wrong|still not|not fixed|还是不对|没有改好/.test(last)) verdicts.bad++;
      else if (/now, thanks|this time|这次对了|现在可以了/.test(last)) verdicts.fixed++;
      else if (/thanks|thank you|works|good|nice|谢谢|可以|很好/.test(last)) verdicts.good++;
    }
    assert.ok(corrected >= 1, `${task.id}: never corrected`);
    // The right answers follow the rule and the wrong ones do not: the check tells them apart.
    const passes = (text) => {
      const { op, arg } = task.check;
      if (op === 'regex') return new RegExp(arg, 's').test(text);
      if (op === 'contains') return text.toLowerCase().includes(String(arg).toLowerCase());
      if (op === 'max_chars') return [...text].length <= arg;
      return new RegExp(`^#+ .*${arg}\\s*$`, 'im').test(text);
    };
    const text = (t) => (Array.isArray(t) ? t.join('\n') : t).replaceAll(/«rmse»/g, '6.4').replaceAll(/«[^»]*»/g, '7');
    for (const a of task.answers) assert.ok(passes(text(a)), `${task.id}: a right answer fails its check`);
    for (const a of task.wrong) assert.ok(!passes(text(a)), `${task.id}: a wrong answer passes its check`);
  }
  assert.ok(verdicts.good >= 10 && verdicts.bad >= 4 && verdicts.fixed >= 5, JSON.stringify(verdicts));
});

test('no hole is left in any text', () => {
  for (const column of ['content', 'tool_calls', 'reasoning'])
    assert.equal(one(`SELECT count(*) FROM messages WHERE ${column} LIKE '%«%'`), 0, column);
  assert.equal(one("SELECT count(*) FROM sessions WHERE title LIKE '%«%'"), 0);
});

test('skills, memory and notes, each saying where it comes from', () => {
  const { data } = filled();
  const skills = fs.readdirSync(path.join(data, 'skills'));
  assert.ok(skills.length >= 6);
  for (const name of skills) {
    const text = fs.readFileSync(path.join(data, 'skills', name, 'SKILL.md'), 'utf8');
    const front = /^---\n(.*?)\n---\n/s.exec(text)?.[1];
    assert.match(front, new RegExp(`^name: ${name}$`, 'm'));
    const description = /^description: (.+)$/m.exec(front)[1];
    assert.ok(description.length <= 60, description);
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
  }
  for (const [name, limit] of [['USER.md', 1375], ['MEMORY.md', 2200]]) {
    const text = fs.readFileSync(path.join(data, 'memories', name), 'utf8');
    assert.ok(text.length <= limit && text.split('\n§\n').length >= 4, name);
  }
  const notes = fs.readdirSync(path.join(data, 'notes'));
  assert.ok(notes.length >= 4);
  for (const n of notes) assert.ok(fs.readFileSync(path.join(data, 'notes', n), 'utf8').match(/^#+ /gm).length >= 3, n);
  for (const file of Object.keys(tree(data)).filter((f) => f.endsWith('.md')))
    assert.match(fs.readFileSync(path.join(data, file), 'utf8'), /made by `?talaria demo/i, file);
});

for (const TZ of ['UTC', 'Asia/Shanghai', 'America/Los_Angeles'])
  test(`badges in ${TZ}`, () => {
    const r = spawnSync('python3', [path.join(fixtures, 'achievements/badges.py'), filled().db], { encoding: 'utf8', env: { ...process.env, TZ } });
    assert.equal(r.status, 0, r.stderr);
    const badges = JSON.parse(r.stdout);
    const unlocked = badges.filter((b) => b.state === 'unlocked');
    assert.ok(unlocked.length >= 25, String(unlocked.length));
    assert.ok(new Set(unlocked.map((b) => b.tier).filter(Boolean)).size >= 4);
    assert.ok(badges.filter((b) => b.state === 'secret').length >= 3);
  });

test('the same now, the same bytes', (t) => {
  const [a, b] = [tmpHome(t), tmpHome(t)];
  for (const h of [a, b]) assert.equal(run(['demo', '--now', '2026-08-01T12:00:00Z'], { env: h.env }).code, 0);
  assert.deepEqual(tree(a.data), tree(b.data));
  assert.ok(Object.keys(tree(a.data)).includes('talaria.db'));
});

test('another now moves the same story', (t) => {
  const h = tmpHome(t);
  assert.equal(run(['demo', '--now', String(NOW + 200 * DAY + 12345)], { env: h.env }).code, 0);
  const db = path.join(h.data, 'talaria.db');
  assert.equal(all(db, 'SELECT max(ended_at) AS t FROM sessions')[0].t, NOW + 200 * DAY + 12345 - 3600);
  assert.equal(all(db, 'SELECT count(*) AS n FROM sessions')[0].n, one('SELECT count(*) FROM sessions'));
});

test('timed: is made within a second and a half', (t) => {
  const h = tmpHome(t);
  const began = performance.now();
  run(['demo'], { env: h.env });
  assert.ok(performance.now() - began < 1500 * (process.env.TALARIA_SLOW ? 10 : 1));
  // Without --now it ends an hour before the present.
  const end = all(path.join(h.data, 'talaria.db'), 'SELECT max(ended_at) AS t FROM sessions')[0].t;
  assert.ok(Math.abs(Date.now() / 1000 - 3600 - end) < 60);
});

test('a second run changes nothing; --force replaces', (t) => {
  const h = tmpHome(t);
  run(['demo', '--now', String(NOW)], { env: h.env });
  const before = tree(h.data);
  const again = run(['demo', '--now', String(NOW + DAY)], { env: h.env });
  assert.equal(again.code, 0);
  assert.match(again.stdout, /there already/);
  assert.deepEqual(tree(h.data), before);
  const forced = runJson(['demo', '--force', '--now', String(NOW + DAY)], { env: h.env });
  assert.equal(forced.action, 'fill');
  assert.equal(all(path.join(h.data, 'talaria.db'), 'SELECT max(ended_at) AS t FROM sessions')[0].t, NOW + DAY - 3600);
});

test('a dry run writes nothing', (t) => {
  const h = tmpHome(t);
  const r = runJson(['demo', '--dry-run', '--now', String(NOW)], { env: h.env });
  assert.equal(r.sessions, one('SELECT count(*) FROM sessions'));
  assert.equal(r.tool_calls, one('SELECT sum(tool_call_count) FROM sessions'));
  assert.ok(!fs.existsSync(h.data));
  run(['demo', '--now', String(NOW)], { env: h.env });
  const before = tree(h.data);
  assert.equal(runJson(['demo', '--remove', '--dry-run'], { env: h.env }).sessions, r.sessions);
  assert.deepEqual(tree(h.data), before);
});

/** A home with a session, files and folders of the user's own. */
function lived(t) {
  const h = tmpHome(t);
  run(['demo', '--now', String(NOW)], { env: h.env });
  run(['demo', '--remove'], { env: h.env });
  const db = new DatabaseSync(path.join(h.data, 'talaria.db'));
  db.exec(`INSERT INTO sessions(id, source, title, started_at) VALUES ('mine', 'cli', 'My own work', ${NOW});
    INSERT INTO messages(session_id, role, content, timestamp) VALUES ('mine', 'user', 'hello', ${NOW});`);
  db.close();
  for (const [name, text] of [['memories/USER.md', 'I am I.\n'], ['skills/release-notes/SKILL.md', 'my own\n'], ['notes/diary.md', 'dear diary\n']]) {
    fs.mkdirSync(path.dirname(path.join(h.data, name)), { recursive: true });
    fs.writeFileSync(path.join(h.data, name), text);
  }
  return h;
}
const own = (h) => JSON.stringify(all(path.join(h.data, 'talaria.db'), "SELECT * FROM sessions s JOIN messages m ON m.session_id = s.id WHERE s.id NOT LIKE 'demo_%'"));
const files = (h) => Object.fromEntries(Object.entries(tree(h.data)).filter(([f]) => !f.startsWith('talaria.db')));

test('removal takes the demo and nothing else', (t) => {
  const h = lived(t);
  const [rowsBefore, filesBefore] = [own(h), files(h)];
  const made = run(['demo', '--now', String(NOW)], { env: h.env });
  assert.equal(made.code, 0);
  assert.match(made.stderr, /left alone: 'memories\/USER\.md'/);
  assert.match(made.stderr, /left alone: 'skills\/release-notes\/SKILL\.md'/);
  for (const f of Object.keys(filesBefore)) assert.equal(files(h)[f], filesBefore[f], f);
  const gone = runJson(['demo', '--remove'], { env: h.env });
  assert.ok(gone.sessions >= 110);
  assert.equal(own(h), rowsBefore);
  assert.deepEqual(files(h), filesBefore);
  const db = path.join(h.data, 'talaria.db');
  assert.equal(all(db, 'SELECT count(*) AS n FROM made')[0].n, 0);
  assert.equal(all(db, 'SELECT count(*) AS n FROM messages')[0].n, 1);
  assert.match(run(['demo', '--remove'], { env: h.env }).stdout, /no demo to remove/);
});

test('removal leaves what was edited or added since', (t) => {
  const h = tmpHome(t);
  run(['demo', '--now', String(NOW)], { env: h.env });
  fs.appendFileSync(path.join(h.data, 'notes/writing.md'), 'mine\n');
  fs.writeFileSync(path.join(h.data, 'skills/bank-csv/extra.txt'), 'mine');
  const r = run(['demo', '--remove'], { env: h.env });
  assert.equal(r.code, 0);
  assert.match(r.stderr, /left alone: 'notes\/writing\.md'/);
  assert.deepEqual(Object.keys(files(h)).sort(), ['notes/writing.md', 'skills/bank-csv/extra.txt']);
  assert.deepEqual(fs.readdirSync(path.join(h.data, 'skills')), ['bank-csv']);
  assert.ok(!fs.existsSync(path.join(h.data, 'memories')));
});

test('removal where there never was anything', (t) => {
  const h = tmpHome(t);
  assert.equal(run(['demo', '--remove'], { env: h.env }).code, 0);
  assert.ok(!fs.existsSync(h.data));
  assert.equal(run(['demo', '--remove', '--force'], { env: h.env }).code, 2);
});

test('a death at any point is healed by the next run', async (t) => {
  const want = files(filled());
  const sessions = one('SELECT count(*) FROM sessions');
  let interrupted = 0;
  for (let i = 0; i < 24; i++) {
    const h = tmpHome(t);
    const child = spawn(bin, ['demo', '--now', String(NOW)], { env: h.env, stdio: 'ignore' });
    const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal)));
    setTimeout(() => child.kill('SIGKILL'), 2 + i * 6);
    if ((await ended) === 'SIGKILL') interrupted++;
    if (i % 2) {
      assert.equal(run(['demo', '--remove'], { env: h.env }).code, 0);
      assert.deepEqual(files(h), {}, `removal after ${i}`);
    }
    assert.equal(run(['demo', '--now', String(NOW)], { env: h.env }).code, 0);
    assert.deepEqual(files(h), want);
    assert.equal(all(path.join(h.data, 'talaria.db'), 'SELECT count(*) AS n FROM sessions')[0].n, sessions);
    assert.equal(run(['demo', '--remove'], { env: h.env }).code, 0);
    assert.deepEqual(files(h), {});
  }
  assert.ok(interrupted > 0);
});

test('two at once make one demo', async (t) => {
  const h = tmpHome(t);
  const done = await Promise.all([1, 2, 3].map(() => new Promise((end) => {
    spawn(bin, ['demo', '--now', String(NOW)], { env: h.env, stdio: 'ignore' }).once('exit', end);
  })));
  assert.deepEqual(done, [0, 0, 0]);
  assert.equal(all(path.join(h.data, 'talaria.db'), 'SELECT count(*) AS n FROM sessions')[0].n, one('SELECT count(*) FROM sessions'));
});
