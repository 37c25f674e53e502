// What a night learns from: sessions of people alone, grouped by what they ask for, judged by how they ended.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, makeStateDb, run, runJson, tmpHome } from './helpers.mjs';

const seed = 1 + (process.pid % 100000);

function makeTree(out, ...args) {
  const made = spawnSync('python3', [path.join(fixtures, 'tools/gen_transcripts.py'), '--out', out, ...args].map(String), { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
}

function evaluate(tree, harvest, source) {
  const files = Object.fromEntries(['digests', 'tasks', 'outcomes'].map((key) => {
    const file = path.join(tree, `${key}.json`);
    fs.writeFileSync(file, JSON.stringify(harvest[key]));
    return [key, file];
  }));
  const r = spawnSync('python3', [path.join(fixtures, 'tools/eval_truth.py'), '--truth', path.join(tree, 'truth.jsonl'),
    '--digests', files.digests, '--tasks', files.tasks, '--outcomes', files.outcomes, '--source', source], { encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
  return JSON.parse(r.stdout);
}

const harvestOf = (tree, env, ...args) => runJson(['sleep', 'harvest', '--source', 'all', '--claude-home', path.join(tree, '.claude'),
  '--codex-home', path.join(tree, '.codex'), '--scope', 'all', ...args], { env });

test(`labelled histories of seed ${seed} are read as people meant them`, (t) => {
  const { env, dir } = tmpHome();
  const tree = path.join(dir, 'tree');
  makeTree(tree, '--sessions', 900, '--mb', 12, '--seed', seed);
  const harvest = harvestOf(tree, env);
  for (const source of ['claude', 'codex', 'codex-archived']) {
    const got = evaluate(tree, harvest, source);
    t.diagnostic(`${source}: turns ${got.turns_exact}, outcomes ${got.outcome_acc} (other languages ${got.outcome_acc_other}, corrected then fixed `
      + `${got.outcome_acc_fixed_after_correction}), grouping F1 ${got.group_pair_f1}`);
    assert.equal(got.kept_nonhuman, 0, 'what programs wrote is nobody\'s task');
    assert.equal(got.missed_human, 0);
    assert.ok(got.turns_exact >= 0.99, JSON.stringify(got));
    assert.ok(got.outcome_acc >= 0.9, JSON.stringify(got));
    assert.ok(got.outcome_acc_other >= 0.85, JSON.stringify(got));
    assert.ok(got.outcome_acc_fixed_after_correction >= 0.85, JSON.stringify(got));
    assert.ok(got.group_pair_f1 >= 0.8, JSON.stringify(got));
  }
  assert.ok(!/FAKE0123456789|AKIAFAKE|ghp_FAKE|hunter2|FAKE\.TOKEN/.test(JSON.stringify(harvest)), 'no key leaves the harvest');
  // Again, with nothing new: the same, out of what was kept.
  assert.deepEqual(harvestOf(tree, env), harvest);
});

test('a session that goes on is harvested anew, and the tasks file can be handed on', () => {
  const { env, dir } = tmpHome();
  const projects = path.join(dir, 'claude/projects/p');
  fs.mkdirSync(projects, { recursive: true });
  const line = (type, content, at, extra = {}) => `${JSON.stringify({ type, sessionId: 's1', cwd: '/srv/attic', entrypoint: 'cli',
    timestamp: `2026-11-01T10:00:0${at}.000Z`, uuid: `u${at}`, message: { role: type, content }, ...extra })}\n`;
  const file = path.join(projects, '0b1c2d3e-0000-4000-8000-000000000001.jsonl');
  fs.writeFileSync(file, line('user', 'check the nightly backup on attic please', 1) + line('assistant', [{ type: 'text', text: 'It went well.' }], 2));
  const args = ['sleep', 'harvest', '--source', 'claude', '--claude-home', path.join(dir, 'claude'), '--scope', 'all'];
  let got = runJson(args, { env });
  assert.deepEqual(Object.values(got.outcomes), ['unknown']);
  fs.appendFileSync(file, line('user', 'no, start with OK or NOT OK', 3) + line('assistant', [{ type: 'text', text: 'OK. Copied.' }], 4)
    + line('user', 'perfect, thanks', 5));
  const out = path.join(dir, 'tasks.json');
  got = runJson([...args, '--output', out], { env });
  assert.deepEqual(Object.values(got.outcomes), ['success']);
  assert.deepEqual(got.tasks[0].judge.checks, [{ op: 'regex', arg: '\\A(?:OK|NOT OK)\\b', says: 'For requests like "check the nightly backup on attic please": begin the answer with OK or NOT OK.' }]);
  const tasks = JSON.parse(fs.readFileSync(out, 'utf8'));
  assert.equal(tasks.format, 'skillopt_sleep.tasks.v1');
  assert.equal(tasks.reviewed, false);
  assert.deepEqual(tasks.tasks, got.tasks);
  assert.equal(fs.statSync(out).mode & 0o777, 0o600);
});

test('what people are told comes out of what is kept, and is the same; until something changes', () => {
  const { env, dir } = tmpHome();
  const projects = path.join(dir, 'claude/projects/p');
  fs.mkdirSync(projects, { recursive: true });
  const write = (n, ask, cwd = '/srv/attic') => fs.writeFileSync(path.join(projects, `0b1c2d3e-0000-4000-8000-00000000000${n}.jsonl`),
    ['user', 'assistant'].map((type, i) => `${JSON.stringify({ type, sessionId: `s${n}`, cwd, entrypoint: 'cli', uuid: `u${n}${i}`,
      timestamp: `2026-11-0${n}T10:00:0${i}.000Z`, message: { role: type, content: i ? [{ type: 'text', text: 'Done.' }] : ask } })}\n`).join(''));
  const args = ['sleep', 'harvest', '--source', 'claude', '--claude-home', path.join(dir, 'claude')];
  const said = (...more) => {
    const made = run([...args, ...more], { env }).stdout, kept = run([...args, ...more], { env }).stdout, { digests, tasks } = runJson([...args, ...more], { env });
    assert.equal(kept, made);
    assert.match(kept, new RegExp(`^${digests.length} of your sessions ${digests.length === 1 ? 'contains' : 'contain'} ${tasks.length} task${tasks.length === 1 ? '' : 's'},`));
    return digests.length;
  };
  for (const n of [1, 2, 3]) write(n, 'check the nightly backup of the attic please');
  write(4, 'write a poem about the harbour at night', '/srv/harbour');
  assert.equal(said(), 4);
  assert.equal(said('--max-sessions', '2'), 2);
  assert.equal(said('--project', '/srv/harbour'), 1);
  write(5, 'check the nightly backup of the cellar please');
  assert.equal(said(), 5);
  assert.equal(said('--max-sessions', '2'), 2);
  fs.rmSync(path.join(projects, '0b1c2d3e-0000-4000-8000-000000000004.jsonl'));
  assert.equal(said(), 4);
  // What was kept of the sessions is gone: they are read again.
  spawnSync('python3', ['-c', 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("DELETE FROM traces"); c.execute("DELETE FROM mined"); c.commit()',
    path.join(env.TALARIA_HOME, 'index.db')]);
  assert.equal(said(), 4);
});

test('what --json printed is kept, used while nothing is new, and never for anything else', () => {
  const { env, dir } = tmpHome();
  const tree = path.join(dir, 'tree');
  makeTree(tree, '--sessions', 60, '--mb', 2, '--seed', seed);
  const args = (...more) => ['sleep', 'harvest', '--source', 'all', '--claude-home', path.join(tree, '.claude'), '--codex-home', path.join(tree, '.codex'),
    '--scope', 'all', '--json', ...more];
  const harvest = (...more) => run(args(...more), { env }).stdout;
  const fresh = (...more) => run(args(...more), { env: tmpHome().env }).stdout; // of a home that knows nothing
  const kept = path.join(env.TALARIA_HOME, 'sleep/harvest.kept');
  const mark = () => { // a change that only those see who use it
    const bytes = fs.readFileSync(kept, 'latin1');
    fs.writeFileSync(kept, bytes.replace('"digests"', '"DIGESTS"'), 'latin1');
  };
  const first = harvest();
  assert.equal(first, fresh());
  assert.equal(fs.statSync(kept).mode & 0o777, 0o600);
  assert.ok(!/FAKE0123456789|AKIAFAKE|ghp_FAKE|hunter2|FAKE\.TOKEN/.test(fs.readFileSync(kept, 'latin1')), 'no key is kept');
  mark();
  assert.equal(harvest(), first.replace('"digests"', '"DIGESTS"'), 'out of the file');
  // To a file that is open for appending, and with the tasks beside.
  const log = path.join(dir, 'log');
  fs.writeFileSync(log, 'before\n');
  const fd = fs.openSync(log, 'a');
  assert.equal(spawnSync(bin, args(), { env, stdio: ['ignore', fd, 'inherit'] }).status, 0);
  fs.closeSync(fd);
  assert.equal(fs.readFileSync(log, 'utf8'), `before\n${first.replace('"digests"', '"DIGESTS"')}`);
  const tasks = path.join(dir, 'tasks.json');
  assert.equal(harvest('--output', tasks), first, 'the tasks file was not kept: made anew');
  const written = fs.readFileSync(tasks, 'utf8');
  fs.unlinkSync(tasks);
  mark();
  assert.match(harvest('--output', tasks), /"DIGESTS"/);
  assert.equal(fs.readFileSync(tasks, 'utf8'), written);
  // Other options, and a file that was cut.
  assert.equal(harvest('--max-sessions', '3'), fresh('--max-sessions', '3'));
  assert.equal(harvest('--since', '2026-01-01'), fresh('--since', '2026-01-01'));
  assert.equal(harvest(), first);
  fs.truncateSync(kept, fs.statSync(kept).size - 1);
  assert.equal(harvest(), first);
  // A session that grew, one that was touched, a new one, and one that is gone.
  const files = fs.readdirSync(path.join(tree, '.claude/projects'), { recursive: true }).filter((f) => f.endsWith('.jsonl') && !f.includes('agent-'))
    .map((f) => path.join(tree, '.claude/projects', f)).sort();
  const steps = [
    () => fs.appendFileSync(files[0], fs.readFileSync(files[0], 'utf8').trimEnd().split('\n').at(-1) + '\n'),
    () => fs.utimesSync(files[1], new Date(), new Date()),
    () => fs.copyFileSync(files[2], path.join(path.dirname(files[2]), '0b1c2d3e-0000-4000-8000-00000000000a.jsonl')),
    () => fs.unlinkSync(files[3]),
  ];
  for (const step of steps) {
    harvest();
    mark();
    step();
    const now = harvest();
    assert.ok(!now.includes('"DIGESTS"'));
    assert.deepEqual(JSON.parse(now).outcomes, JSON.parse(fresh()).outcomes);
    assert.equal(harvest(), now);
  }
});

test('an unfinished line is not forgotten for what was kept before it', () => {
  const { env, dir } = tmpHome();
  const projects = path.join(dir, 'claude/projects/p');
  fs.mkdirSync(projects, { recursive: true });
  const line = (content, at) => JSON.stringify({ type: 'user', sessionId: 's1', cwd: '/srv/attic', entrypoint: 'cli',
    timestamp: `2026-11-01T10:00:0${at}.000Z`, uuid: `u${at}`, message: { role: 'user', content } });
  const file = path.join(projects, '0b1c2d3e-0000-4000-8000-000000000001.jsonl');
  fs.writeFileSync(file, `${line('check the nightly backup on attic please', 1)}\n${line('and the one on the cellar', 2)}`);
  const turns = (now) => runJson(['sleep', 'harvest', '--source', 'claude', '--claude-home', path.join(dir, 'claude'), '--scope', 'all'],
    { env: { ...env, TALARIA_NOW: String(now) } }).digests[0].n_user_turns;
  const written = fs.statSync(file).mtimeMs / 1000;
  assert.equal(turns(written + 5), 1, 'its writer may be at it');
  assert.equal(turns(written + 6), 1);
  assert.equal(turns(written + 120), 2, 'nobody writes any more: the file is the same, and is looked at again');
  assert.equal(turns(written + 130), 2);
});

test('a night never learns from its own questions; side chains, meta lines and interruptions are nobody\'s words; files are paths', () => {
  const { env, dir } = tmpHome();
  const projects = path.join(dir, 'claude/projects/p');
  fs.mkdirSync(projects, { recursive: true });
  let n = 0;
  const write = (...records) => fs.writeFileSync(path.join(projects, `0b1c2d3e-0000-4000-8000-00000000000${++n}.jsonl`), records.map((r, i) => `${JSON.stringify({
    sessionId: `s${n}`, cwd: '/srv/attic', entrypoint: 'cli', uuid: `u${n}${i}`, timestamp: `2026-11-0${n}T10:00:0${i}.000Z`, ...r })}\n`).join(''));
  const user = (content, extra = {}) => ({ type: 'user', message: { role: 'user', content }, ...extra });
  const agent = (...content) => ({ type: 'assistant', message: { role: 'assistant', content } });
  const text = { type: 'text', text: 'Done.' };
  // What a night asks, as Claude Code keeps it when it is the one who answers: from this program, so that it cannot drift.
  write(user('check the nightly backup of the attic please'), agent(text), user('no, that is wrong. always end the answer with "Checked by talaria"'),
    agent({ type: 'text', text: 'Checked by talaria' }), user('thanks, perfect'));
  write(user('check the nightly backup of the cellar please'), agent(text), user('no, that is wrong. always end the answer with "Checked by talaria"'),
    agent({ type: 'text', text: 'Checked by talaria' }), user('thanks, perfect'));
  const args = ['--source', 'claude', '--claude-home', path.join(dir, 'claude')];
  assert.equal(run(['sleep', 'run', '--backend', 'handoff', ...args], { env }).code, 3);
  const { pending } = JSON.parse(fs.readFileSync(path.join(env.TALARIA_HOME, 'sleep/handoff/pending.json'), 'utf8'));
  assert.ok(pending.length > 0);
  write(user(pending[0].prompt), agent(text));
  write(user('summarise the minutes of the harbour meeting'), agent({ type: 'tool_use', id: 't1', name: 'Edit', input: { file_path: '/srv/attic/minutes.md' } }),
    user('injected by a hook, not by anybody', { isMeta: true }), user('a question of a helper', { isSidechain: true }), user('what came before', { isCompactSummary: true }),
    user('[Request interrupted by user]'), { type: 'file-history-snapshot', messageId: 'm', snapshot: { messageId: 'm', trackedFileBackups: { '/srv/attic/a.txt': {} }, timestamp: 'x' } },
    agent(text));
  write(user('say yes', { entrypoint: 'sdk-cli' }), { ...agent(text), entrypoint: 'sdk-cli' });
  const got = runJson(['sleep', 'harvest', ...args], { env });
  assert.deepEqual(got.digests.map((d) => d.raw_path.at(-7)).sort(), ['1', '2', '4']);
  assert.equal(got.not_human, 2);
  const [minutes] = got.digests.filter((d) => d.raw_path.at(-7) === '4');
  assert.deepEqual(minutes.user_prompts, ['summarise the minutes of the harbour meeting']);
  assert.deepEqual(minutes.files_touched.sort(), ['/srv/attic/a.txt', '/srv/attic/minutes.md']);
});

test('Codex: files of a patch, however it was applied; Hermes: the path names the session', () => {
  const { env, dir, hermes } = tmpHome();
  const folder = path.join(dir, 'codex/sessions/2026/11/01');
  fs.mkdirSync(folder, { recursive: true });
  const at = (n) => `2026-11-01T10:00:${String(n).padStart(2, '0')}.000Z`;
  const said = (role, text) => ({ type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] });
  const patch = (...lines) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  const items = [
    said('user', 'rename the notes of the attic'),
    { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', status: 'completed', input: patch('*** Update File: notes/attic "old".md', '*** Move to: notes/dachboden é.md', '@@', '-a', '+*** Add File: not-a-file.md') },
    { type: 'function_call', call_id: 'c2', name: 'shell', arguments: JSON.stringify({ command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch('*** Add File: /srv/attic/new.md', '+x', '*** Delete File: gone.md')}EOF`] }) },
    { type: 'function_call', call_id: 'c3', name: 'exec_command', arguments: JSON.stringify({ cmd: `apply_patch '${patch('*** Update File: src/main.c', '@@', '-a', '+b')}'` }) },
    said('assistant', 'Renamed.'),
  ];
  const id = '0199d0c0-0000-7000-8000-000000000001';
  fs.writeFileSync(path.join(folder, `rollout-2026-11-01T10-00-00-${id}.jsonl`), [
    { timestamp: at(0), type: 'session_meta', payload: { id, timestamp: at(0), cwd: '/srv/attic', originator: 'codex_cli_rs', cli_version: '0.166.0', source: 'cli' } },
    ...items.map((payload, i) => ({ timestamp: at(i + 1), type: 'response_item', payload })),
  ].map((l) => `${JSON.stringify(l)}\n`).join(''));
  const codex = runJson(['sleep', 'harvest', '--source', 'codex', '--codex-home', path.join(dir, 'codex')], { env });
  assert.deepEqual(codex.digests.map((d) => d.files_touched),
    [['notes/attic "old".md', 'notes/dachboden é.md', '/srv/attic/new.md', 'gone.md', 'src/main.c']]);
  makeStateDb(path.join(hermes, 'state.db'), { sessions: 12, seed: 3 });
  const { digests } = runJson(['sleep', 'harvest', '--source', 'hermes'], { env });
  assert.ok(digests.length > 0);
  for (const d of digests) assert.ok(d.raw_path.endsWith(`/state.db#${d.session_id}`), d.raw_path);
});

test('a key that lies where a long text is cut does not stay by half', () => {
  const home = tmpHome(), folder = path.join(home.user, '.claude/projects/p');
  fs.mkdirSync(folder, { recursive: true });
  for (const [i, at] of [12284, 12280, 12270, 13310].entries()) {
    const id = `0b1c2d3e-0000-4000-8000-00000000010${i}`;
    const line = (type, content) => `${JSON.stringify({ type, sessionId: id, cwd: '/srv', entrypoint: 'cli', timestamp: '2026-11-01T10:00:00Z', message: { role: type, content } })}\n`;
    fs.writeFileSync(path.join(folder, `${id}.jsonl`), line('user', `${'word '.repeat(at / 5).padEnd(at - 1)} AKIAFAKE0123456789AB ${'tail '.repeat(5000)}`) + line('assistant', 'done'));
  }
  const out = run(['sleep', 'harvest', '--json'], home);
  assert.equal(JSON.parse(out.stdout).digests.length, 4);
  assert.ok(!out.stdout.includes('AKIA') && !/FAKE01/.test(out.stdout));
});

test('broken bytes and lines stop nothing', () => {
  const { env, dir } = tmpHome();
  const tree = path.join(dir, 'tree');
  makeTree(tree, '--sessions', 200, '--mb', 3, '--seed', seed + 1, '--hostile');
  const got = evaluate(tree, harvestOf(tree, env), 'claude');
  assert.equal(got.missed_human, 0);
  assert.equal(got.kept_nonhuman, 0);
});

test('a source that is not there is said', () => {
  const { env, dir } = tmpHome();
  const r = run(['sleep', 'harvest', '--source', 'claude', '--claude-home', path.join(dir, 'nowhere')], { env });
  assert.equal(r.code, 3);
  assert.match(r.stderr, /nowhere/);
});
