// Nights with a model, played by a server in the test: what is asked once, what is drawn anew, what ends a
// night, and what is remembered of edits that did not help.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, runJson, tmpHome } from './helpers.mjs';
import { backups, history } from './sleep_history.mjs';

const key = 'sk-night-0123456789abcdefghijkl';
const rule = 'End the answer with "Checked by talaria".';
const usage = { prompt_tokens: 90, completion_tokens: 10, total_tokens: 100 };
const kinds = [['mine', 'Reply with one JSON array of at most one object'], ['reflect', 'You improve the'], ['judge', 'Judge whether'], ['attempt', 'Answer the request below']];

/** Follows the skill in the prompt; `says` has the replies to other questions. */
const says = {
  mine: () => '[]',
  reflect: () => JSON.stringify([{ op: 'add', content: rule, rationale: 'asked for every time' }]),
  judge: () => '{"score": 1, "reason": "fine"}',
  attempt: (prompt) => (prompt.split('# Request')[0].includes(rule) ? 'It ran at two.\nChecked by talaria' : 'It ran at two and copied everything.'),
};

/** A server of OpenAI's dialect. before(request number, response): may answer itself, with true. */
async function serve(t, { before = () => false, ...other } = {}) {
  const asked = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (d) => (body += d)).on('end', async () => {
      const prompt = JSON.parse(body).messages.at(-1).content;
      const [kind] = kinds.find(([, mark]) => prompt.includes(mark));
      asked.push({ kind, prompt, body });
      if (await before(asked.length, response)) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: ({ ...says, ...other })[kind](prompt) }, finish_reason: null }] })}\n\n`);
      response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { asked, base: `http://127.0.0.1:${server.address().port}` };
}

/** The program while our own server answers it, so not synchronously. */
function sleep(home, base, args, { prices, began = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const env = { ...home.env, TALARIA_MODEL_BASE_URL: base, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat', TALARIA_MODEL_KEY: key,
      XDG_CONFIG_HOME: path.join(home.dir, 'config') };
    fs.mkdirSync(path.join(home.dir, 'config/talaria'), { recursive: true });
    fs.writeFileSync(path.join(home.dir, 'config/talaria/config.yaml'), prices ? `model:\n  price_input: ${prices}\n  price_output: ${prices}\n` : '');
    const child = spawn(bin, ['sleep', ...args, '--backend', 'model', '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
    let stdout = '', stderr = '';
    began(child);
    child.stdout.on('data', (d) => (stdout += d));
    child.stderr.on('data', (d) => (stderr += d));
    child.on('error', reject).on('close', (code, signal) => resolve({ code, signal, stderr, stdout, json: code === 0 ? JSON.parse(stdout) : null }));
  });
}

function makeHome(n = 12) {
  const home = tmpHome();
  history(home, { ...backups, n });
  return home;
}

const evidenceOf = (night) => fs.readFileSync(path.join(night.staging_dir, 'evidence.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
const staged = (home) => {
  const folder = path.join(home.data, 'sleep/staging');
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((f) => fs.existsSync(path.join(folder, f, 'manifest.json'))) : [];
};
const counts = (asked) => asked.reduce((all, { kind, prompt }) => all.set(`${kind}\n${prompt}`, (all.get(`${kind}\n${prompt}`) ?? 0) + 1), new Map());

test('what was answered is not asked again; a confirmation is, on purpose; worth had said how much at most', async (t) => {
  const home = makeHome(), { asked, base } = await serve(t);
  const worth = await sleep(home, base, ['worth'], { prices: 10 });
  assert.equal(asked.length, 0, 'worth asks nobody');
  assert.ok(worth.json.max_cost_usd > 0 && worth.json.max_cost_usd <= worth.json.max_tokens * 10 / 1e6 + 1e-9);
  assert.ok(worth.json.detectable_effect > 0 && worth.json.detectable_effect < 1);

  const dry = await sleep(home, base, ['dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal(dry.json.calls, asked.length);
  assert.ok(asked.length <= worth.json.max_calls, `${asked.length} calls, at most ${worth.json.max_calls} were said`);
  const before = counts(asked), many = [...before].filter(([, n]) => n > 1);
  // Val tasks: the same prompt several times, each a draw of its own. All else: once.
  assert.ok(many.length > 0 && many.every(([k, n]) => k.startsWith('attempt') && n >= 4), 'the gate draws more than once');
  assert.ok([...before].some(([k, n]) => k.startsWith('reflect') && n === 1));

  const night = await sleep(home, base, ['run']);
  assert.equal(night.json.accepted, true, night.stderr);
  const odds = night.json.notes.map((n) => n.match(/skill: accepted after (\d+) pairs of answers, p = (\S+); .* limited to (\S+) %/)).find((m) => m);
  assert.ok(odds && Number(odds[1]) > 3 && Number(odds[2]) <= 0.05 && Number(odds[3]) > 0 && Number(odds[3]) <= 5, `how sure it is: ${JSON.stringify(night.json.notes)}`);
  assert.match(fs.readFileSync(path.join(night.json.staging_dir, 'report.md'), 'utf8'), /pairs of answers/);
  const after = counts(asked);
  for (const [k, n] of after) {
    if (n > 1) assert.ok(n > before.get(k) && before.get(k) > 1, `asked again: ${k.slice(0, 200)}`);
  }
  for (const [k] of many) assert.ok(after.get(k) > before.get(k), 'a confirmation is served from what another night drew');
  const lines = evidenceOf(night.json), calls = lines.filter((e) => e.event === 'model_call');
  assert.ok(calls.some((e) => e.cache_hit) && calls.some((e) => !e.cache_hit && e.prompt && e.response));
  // Under its key an answer is found again in the store.
  const keys = new DatabaseSync(path.join(home.data, 'sleep/answers.db'), { readOnly: true }).prepare('SELECT key FROM answers').all().map((row) => row.key);
  for (const e of calls) assert.ok(keys.includes(e.key), `no answer '${e.key}'`);
  assert.equal(calls.filter((e) => !e.cache_hit).length, asked.length - dry.json.calls);
});

test('the framing of a task goes out verbatim; an exact reference is compared without a judge', async (t) => {
  const home = makeHome(), file = path.join(home.dir, 'tasks.json');
  const framing = 'You are the keeper of the attic.\n\tAnswer   in one "line"; keep {braces} and trailing spaces  ';
  const task = (id, split, extra) => ({ id, project: '/srv/attic', intent: `who keeps the attic (${id})`, reference_kind: 'exact', reference: 'the old gardener', split, ...extra });
  fs.writeFileSync(file, JSON.stringify({ format: 'skillopt_sleep.tasks.v1', reviewed: true, tasks: [
    task('a', 'train', { system: framing }), task('b', 'val', { system: `before {skill_section} after` }), task('c', 'val', { reference: 'nobody' }),
  ] }));
  const { asked, base } = await serve(t, { attempt: () => 'That would be The Old  Gardener, of course.', reflect: () => '[]' });
  const { json, stderr } = await sleep(home, base, ['run', '--tasks-file', file]);
  assert.ok(json, stderr);
  assert.equal(asked.filter((q) => q.kind === 'judge').length, 0);
  const attempts = asked.filter((q) => q.kind === 'attempt').map((q) => q.prompt);
  assert.ok(attempts.some((p) => p.includes(`# How to work\n${framing}\n`)), 'verbatim');
  const placed = attempts.find((p) => p.includes('(b)'));
  assert.match(placed, /before \n# Skill\n[^]*\n after\n/);
  assert.ok(!placed.includes('{skill_section}'));
  const report = JSON.parse(fs.readFileSync(path.join(json.staging_dir, 'report.json'), 'utf8'));
  assert.deepEqual(report.tasks.map((x) => [x.id, x.before.hard]).sort(), [['a', 1], ['b', 1], ['c', 0]].filter(([id]) => report.tasks.some((x) => x.id === id)));
  assert.ok(report.tasks.length >= 2);
});

test('killed at any question, it goes on and pays for nothing twice', async (t) => {
  for (const at of [1, 6, 15]) {
    let child;
    const home = makeHome(), { asked, base } = await serve(t, { before: (n) => n === at && child.kill('SIGKILL') });
    const killed = await sleep(home, base, ['run'], { began: (c) => (child = c) });
    assert.equal(killed.signal, 'SIGKILL', killed.stderr);
    assert.deepEqual(staged(home), []);
    const night = await sleep(home, base, ['run']);
    assert.equal(night.json.resumed, true);
    assert.equal(night.json.accepted, true);
    assert.equal(asked.length, night.json.calls + 1, 'only the question that was open is asked again');
    assert.equal(night.json.tokens, 100 * night.json.calls, 'what the killed one paid counts');
  }
});

test('a server that fails ends the night with what failed; the next one goes on and says so', async (t) => {
  let fails = true;
  const home = makeHome(), { base } = await serve(t, { before: (n, response) => fails && n >= 20
    && response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `quota of ${key} is used up` } })) });
  const first = await sleep(home, base, ['run']);
  assert.equal(first.code, 1);
  assert.match(first.stderr, /quota of .* is used up/);
  assert.deepEqual(staged(home), []);
  fails = false;
  const night = (await sleep(home, base, ['run'])).json;
  assert.equal(night.accepted, true);
  const read = (name) => JSON.parse(fs.readFileSync(path.join(night.staging_dir, name), 'utf8'));
  for (const name of ['report.json', 'diagnostics.json']) assert.match(read(name).call_error, /quota of .* is used up/);
  assert.ok(night.notes.some((n) => /earlier attempt of this night failed/.test(n)));
  assert.match(read('diagnostics.json').reflect_head, /Checked by talaria/);
  for (const file of fs.readdirSync(path.join(home.data, 'sleep'), { recursive: true, withFileTypes: true }).filter((f) => f.isFile())) {
    assert.ok(!fs.readFileSync(path.join(file.parentPath ?? file.path, file.name), 'latin1').includes(key.slice(3)), `the key is in ${file.name}`);
  }
});

test('tokens, calls, minutes and money each end a night', async (t) => {
  const limits = [
    ['tokens', ['--max-tokens', '1000'], {}, 10],
    ['calls', ['--max-calls', '10'], {}, 10],
    ['money', ['--max-usd', '0.48'], { prices: 500 }, 10], // 0.05 a call
    ['minutes', ['--max-minutes', '0.01'], {}, 8],
  ];
  for (const [what, args, options, most] of limits) {
    const home = makeHome(), { asked, base } = await serve(t, { before: () => what === 'minutes' && new Promise((r) => setTimeout(() => r(false), 150)) });
    const { json, stderr } = await sleep(home, base, ['run', ...args], options);
    assert.ok(json, stderr);
    assert.equal(json.accepted, false, what);
    assert.equal(json.no_edits_reason, 'budget', what);
    // On a busy machine the harvest alone may take all the time there is.
    assert.ok((asked.length > 0 || what === 'minutes') && asked.length <= most, `${what}: ${asked.length} calls`);
    assert.deepEqual(json.notes.filter((n) => n.includes('ran out')), [`the ${what} budget ran out`]);
    assert.deepEqual(json.staged_skills, []);
  }
  const home = makeHome(), { asked, base } = await serve(t);
  const unknown = await sleep(home, base, ['run', '--max-usd', '1']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /price/);
  assert.equal(asked.length, 0);
});

test('not one call more than was allowed, also where a judge is asked twice about each answer', async (t) => {
  const home = makeHome(), file = path.join(home.dir, 'tasks.json');
  const task = (i) => ({ id: `task_${i}`, project: '/srv/attic', intent: `check the nightly backup of house ${i}`, reference_kind: 'rubric', reference: 'is short',
    split: i % 2 ? 'val' : 'train' });
  fs.writeFileSync(file, JSON.stringify({ reviewed: true, tasks: [0, 1, 2, 3, 4, 5].map(task) }));
  for (const most of [1, 2, 8, 10, 11, 12, 20]) {
    fs.rmSync(path.join(home.data, 'sleep'), { recursive: true, force: true });
    const { asked, base } = await serve(t, { judge: () => '{"score": 0.5}' });
    const { json, stderr } = await sleep(home, base, ['run', '--tasks-file', file, '--max-calls', String(most)]);
    assert.equal(json?.no_edits_reason, 'budget', stderr);
    assert.ok(asked.length <= most, `${asked.length} calls of ${most}`);
    assert.ok(json.notes.includes('the calls budget ran out'), JSON.stringify(json.notes));
  }
});

test('a night that was killed has only the minutes that are left', async (t) => {
  let child, killAt = 5; // well before its minutes are over, also where answers take longer
  const home = makeHome(), { asked, base } = await serve(t, {
    before: async (n) => (n === killAt ? child.kill('SIGKILL') : new Promise((r) => setTimeout(() => r(false), 300))) });
  const args = ['run', '--max-minutes', '0.05']; // ten answers
  await sleep(home, base, args, { began: (c) => (child = c) });
  const clock = path.join(home.data, 'sleep/tonight.clock');
  assert.ok(Number(fs.readFileSync(clock, 'utf8')) >= 1000, 'how long it took is kept');
  assert.equal(fs.statSync(clock).mode & 0o777, 0o600);
  const before = asked.length;
  killAt = 0;
  const night = await sleep(home, base, args);
  assert.equal(night.json.resumed, true);
  assert.equal(night.json.no_edits_reason, 'budget');
  assert.ok(night.json.notes.includes('the minutes budget ran out'));
  assert.ok(asked.length - before <= 7, `${asked.length - before} more answers than there was time for`);
  assert.ok(!fs.existsSync(clock), 'over');
});

test('an edit that did not help is remembered with its reason, shown to who reflects, and not tried again', async (t) => {
  const home = makeHome(), useless = 'Be as friendly as you can.';
  const { asked, base } = await serve(t, { reflect: () => JSON.stringify([{ op: 'add', content: useless, rationale: 'nicer' }]) });
  const file = path.join(home.dir, 'tasks.json');
  runJson(['sleep', 'harvest', '--output', file], { env: home.env });
  fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), reviewed: true }));
  // One task in a dozen wordings has one record in the file: a few more, so that there are two sides.
  const tasks = JSON.parse(fs.readFileSync(file, 'utf8'));
  tasks.tasks = ['attic', 'cellar', 'mill', 'tower', 'quarry', 'bridge'].map((place, i) => ({ ...tasks.tasks[0], id: `task_${i}`,
    intent: `check the nightly backup of the ${place}`, split: i % 2 ? 'val' : 'train' }));
  fs.writeFileSync(file, JSON.stringify(tasks));
  const run = ['run', '--tasks-file', file];
  const first = (await sleep(home, base, run)).json;
  assert.equal(first.no_edits_reason, 'all_rejected');
  assert.deepEqual(first.rejected_edits.map((e) => e.content), [useless]);
  const reason = first.rejected_edits[0].rationale;
  assert.match(reason, /validation score/);

  const tried = (list) => list.filter((q) => q.kind === 'attempt' && q.prompt.includes(useless)).length;
  const before = asked.length, trials = tried(asked);
  assert.ok(trials > 0);
  const second = (await sleep(home, base, run)).json;
  assert.equal(second.night, 2);
  assert.equal(second.no_edits_reason, 'nothing_proposed');
  assert.deepEqual([second.edits, second.rejected_edits], [[], []]);
  assert.equal(tried(asked), trials, 'it was tried again');
  const reflections = asked.slice(before).filter((q) => q.kind === 'reflect');
  assert.ok(reflections.length > 0);
  for (const { prompt } of reflections) {
    assert.match(prompt, /do not propose these again/);
    assert.ok(prompt.includes(useless) && prompt.includes(reason), 'with its reason');
  }
});

test('why nothing was accepted is one word, and the right one', async (t) => {
  const edits = (...list) => () => JSON.stringify(list);
  let drawn = 0;
  const rows = [
    ['no_failures', { attempt: () => 'It ran at two.\nChecked by talaria' }],
    ['nothing_proposed', { reflect: () => 'I would not change a thing.' }],
    ['nothing_applied', { reflect: edits({ op: 'delete', anchor: 'a rule that is not there' }, { op: 'replace', anchor: 'nor this one', content: 'x' }) }],
    ['all_rejected', { reflect: edits({ op: 'add', content: 'Be as friendly as you can.' }) }],
    // With the rule one answer in five passes: better, but it may be luck.
    ['underpowered', { attempt: (prompt) => (prompt.includes(rule) && drawn++ % 5 === 0 ? 'Checked by talaria' : 'It ran.') }],
  ];
  for (const [reason, replies] of rows) {
    const home = makeHome(4), { base } = await serve(t, replies);
    const { json, stderr } = await sleep(home, base, ['run']);
    assert.equal(json?.no_edits_reason, reason, stderr || JSON.stringify({ ...json, gate_trials: 0 }));
    assert.deepEqual([json.accepted, json.staged_skills], [false, []]);
    if (reason === 'nothing_applied') {
      const report = JSON.parse(fs.readFileSync(path.join(json.staging_dir, 'report.json'), 'utf8'));
      assert.equal(report.unmatched_edits.length, 2, 'what did not match is told');
    }
  }
  const home = tmpHome(), { asked, base } = await serve(t);
  assert.equal((await sleep(home, base, ['run'])).json.no_edits_reason, 'no_tasks');
  assert.equal(asked.length, 0);
});
