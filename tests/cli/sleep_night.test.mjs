// Whole nights without a model, on the demo: what is learned, what is left behind, and what is not.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fillHome, run, runJson, tmpHome, tree } from './helpers.mjs';
import { backups, history } from './sleep_history.mjs';

const secrets = /FAKE0123456789|AKIAFAKE|ghp_FAKE|hunter2|FAKE\.TOKEN|sk-demo|AKIADEMO|ghp_demo/;
const mock = ['--backend', 'mock'];

function demoHome() {
  const home = tmpHome();
  const made = fillHome(home.env);
  assert.equal(made.code, 0, made.stderr);
  return home;
}

test('a night on the demo: worth, run, review, adopt, undo, and nothing is left for the next', () => {
  const home = demoHome(), { env } = home;
  const worth = runJson(['sleep', 'worth', ...mock], { env });
  assert.deepEqual(Object.keys(worth), ['format', 'sessions', 'tasks', 'recurring', 'checkable', 'train', 'val', 'test', 'max_calls', 'max_tokens',
    'max_cost_usd', 'detectable_effect', 'budget_plan', 'verdict', 'text']);
  assert.ok(worth.budget_plan.nights >= 1 && worth.budget_plan.rollouts >= 1);
  assert.match(run(['sleep', 'worth', ...mock], { env }).stdout, /Cost: none \(simulated, no model calls\)/);
  assert.ok(worth.tasks > 10 && worth.train > 0 && worth.val > 0);

  // A dry run learns the same and leaves nothing.
  const before = tree(path.join(home.data, 'sleep'));
  const dry = runJson(['sleep', 'dry-run', ...mock], { env });
  assert.equal(dry.accepted, true);
  assert.equal(dry.staging_dir, '');
  const after = tree(path.join(home.data, 'sleep'));
  for (const file of Object.keys(after)) assert.ok(file in before || file.endsWith('.lock'), `left behind: ${file}`);

  const night = runJson(['sleep', 'run', ...mock], { env });
  assert.deepEqual(Object.keys(night), ['format', 'night', 'accepted', 'gate_action', 'no_edits_reason', 'baseline', 'candidate', 'n_tasks', 'n_sessions',
    'n_accepted_edits', 'n_rejected_edits', 'edits', 'rejected_edits', 'gate_no_regression', 'gate_trials', 'skill_groups', 'notes', 'staging_dir',
    'staged_skills', 'adopted', 'resumed', 'calls', 'tokens']);
  assert.equal(night.accepted, true);
  assert.equal(night.gate_action, 'accept_new_best');
  assert.equal(night.no_edits_reason, '');
  assert.ok(night.candidate > night.baseline);
  assert.equal(night.n_tasks, worth.tasks);
  assert.deepEqual([night.baseline, night.candidate, night.edits], [dry.baseline, dry.candidate, dry.edits]);
  assert.ok(night.calls <= worth.max_calls * 4, `${night.calls} calls`); // nothing is paid for here
  for (const edit of night.edits) assert.ok(edit.content.startsWith('For requests like'), edit.content);

  const proposed = fs.readFileSync(path.join(night.staging_dir, 'proposed_SKILL.md'), 'utf8');
  assert.match(proposed, /^---\nname: talaria-learned\n/);
  assert.match(proposed, /night=1 .*sessions=/);
  assert.equal(run(['sleep', 'review'], { env }).code, 0);
  const adopted = runJson(['sleep', 'adopt'], { env });
  assert.equal(adopted.ok, true);
  const live = adopted.updated_paths[0];
  assert.equal(fs.readFileSync(live, 'utf8'), proposed);

  const second = runJson(['sleep', 'run', ...mock], { env });
  assert.equal(second.no_edits_reason, 'no_tasks');
  assert.equal(second.night, 2);
  assert.equal(second.staging_dir, '');
  assert.equal(run(['sleep', 'undo'], { env }).code, 0);
  assert.ok(!fs.existsSync(live));

  const walk = (dir) => fs.readdirSync(dir, { withFileTypes: true }).forEach((e) => {
    const p = path.join(dir, e.name), mode = fs.statSync(p).mode & 0o777;
    assert.equal(mode, e.isDirectory() ? 0o700 : 0o600, p);
    if (e.isDirectory()) walk(p);
    else assert.ok(!secrets.test(fs.readFileSync(p, 'latin1')), `a key is in ${p}`);
  });
  walk(path.join(home.data, 'sleep'));
});

test('what is new is learned from on the next night; user text outside of the markers stays', () => {
  const home = tmpHome(), { env } = home;
  history(home, backups);
  const skill = path.join(home.user, '.claude/skills/talaria-learned/SKILL.md');
  fs.mkdirSync(path.dirname(skill), { recursive: true });
  const mine = '---\nname: talaria-learned\ndescription: mine\n---\n\n# Mine\n\n* keep  this   line\n';
  fs.writeFileSync(skill, mine);
  const first = runJson(['sleep', 'run', '--auto-adopt', ...mock], { env });
  assert.equal(first.accepted, true, JSON.stringify(first.notes));
  assert.equal(first.adopted, true);
  assert.ok(fs.readFileSync(skill, 'utf8').startsWith(mine.trimEnd()));
  assert.match(fs.readFileSync(skill, 'utf8'), /Checked by talaria/);

  assert.equal(runJson(['sleep', 'run', ...mock], { env }).no_edits_reason, 'no_tasks');
  const today = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  history(home, { ...backups, from: 20, day: today, ask: 'summarise the water levels at the', insist: 'no, that is wrong. always mention "Datum NHN"',
    right: 'It ran at two. Datum NHN' });
  const third = runJson(['sleep', 'run', ...mock], { env });
  assert.equal(third.night, 3);
  assert.equal(third.accepted, true, JSON.stringify(third));
  assert.match(third.edits[0].content, /Datum NHN/);
  const proposed = fs.readFileSync(path.join(third.staging_dir, 'proposed_SKILL.md'), 'utf8');
  assert.ok(proposed.startsWith(mine.trimEnd()));
  assert.match(proposed, /Checked by talaria[^]*Datum NHN/);
});

test('tasks beyond the cap of a night come on the next ones', () => {
  const { env } = demoHome();
  const all = runJson(['sleep', 'worth', ...mock], { env }).tasks;
  const seen = [];
  for (let night = 1; night < 12; night++) {
    const r = runJson(['sleep', 'run', '--max-tasks', '10', ...mock], { env });
    if (r.no_edits_reason === 'no_tasks') break;
    seen.push(r.n_tasks);
  }
  assert.ok(seen.length > 1, 'one night took all');
  assert.ok(seen.reduce((x, y) => x + y, 0) >= all / 2, `${seen} of ${all}`);
});

test('a rejected edit is remembered with its reason, also over nights that are about nothing', () => {
  const { env, data } = demoHome();
  const first = runJson(['sleep', 'run', ...mock], { env });
  assert.ok(first.n_rejected_edits > 0);
  const plain = (text) => text.replaceAll('\\', '');
  const has = () => plain(fs.readFileSync(path.join(data, 'sleep/state.json'), 'utf8')).includes(plain(first.rejected_edits[0].content).slice(0, 60));
  assert.ok(has(), first.rejected_edits[0].content);
  assert.equal(runJson(['sleep', 'run', ...mock], { env }).no_edits_reason, 'no_tasks');
  assert.ok(has(), 'an empty night forgot it');
});

test('what one night has rejected the next one does not propose, over the very same tasks', () => {
  const { env, dir } = demoHome();
  const file = path.join(dir, 'tasks.json');
  assert.equal(run(['sleep', 'harvest', '--output', file], { env }).code, 0);
  // What does no harm waits for company for three nights; then it is rejected like all others.
  const nights = [1, 2, 3, 4, 5].map(() => runJson(['sleep', 'run', '--tasks-file', file, ...mock], { env }));
  const tried = nights.map((r) => r.rejected_edits.map((e) => e.content));
  assert.ok(tried[0].length > 0);
  for (const edit of nights[0].rejected_edits) assert.match(edit.rationale, /validation score/, 'with its reason');
  for (const content of new Set(tried.flat())) assert.ok(tried.filter((list) => list.includes(content)).length <= 3, content);
  assert.deepEqual(tried[4].filter((content) => tried[0].includes(content)), []);
  assert.equal(nights[4].n_tasks, nights[0].n_tasks);
});

test('a tasks file: reviewed or not, and splits of its own', () => {
  const { env, dir } = demoHome();
  const file = path.join(dir, 'tasks.json');
  assert.equal(run(['sleep', 'harvest', '--output', file], { env }).code, 0);
  const r = runJson(['sleep', 'run', '--tasks-file', file, ...mock], { env });
  assert.equal(r.tasks_file, file);
  assert.equal(r.tasks_reviewed, false);
  const refused = run(['sleep', 'run', '--tasks-file', file, '--backend', 'handoff'], { env });
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, /has not been reviewed/);
  const tasks = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, JSON.stringify({ ...tasks, reviewed: true }));
  assert.equal(run(['sleep', 'run', '--tasks-file', file, '--backend', 'handoff'], { env }).code, 3);
  const judged = (id, ...checks) => ({ ...tasks.tasks[0], id, judge: { kind: 'rule', checks } });
  const write = (...list) => fs.writeFileSync(file, JSON.stringify({ ...tasks, tasks: list }));
  write(judged('task_a', { op: 'regex', arg: '(' }, { op: 'max_chars', arg: -1 }), judged('task_b', { op: 'contains' }));
  const bad = run(['sleep', 'run', '--tasks-file', file, ...mock], { env });
  assert.notEqual(bad.code, 0);
  assert.match(bad.stderr, /task_a.*regex.*task_a.*max_chars.*task_b.*contains/, 'all that is wrong is said at once');
  write(judged('task_a', { op: 'min_chars', arg: 0 }), judged('task_b', { op: 'sing', arg: 'x' }));
  const odd = run(['sleep', 'dry-run', '--tasks-file', file, ...mock], { env });
  assert.equal(odd.code, 0, odd.stderr);
  assert.match(odd.stderr, /task_a.*always passes[^]*task_b.*unknown op 'sing'/, 'what is only odd is said as well');
});

test('splits of a tasks file: dreams only teach, older names are translated, nothing else is accepted', () => {
  const home = tmpHome(), { env } = home, file = path.join(home.dir, 'tasks.json');
  history(home, backups);
  runJson(['sleep', 'harvest', '--output', file], { env });
  const [task] = JSON.parse(fs.readFileSync(file, 'utf8')).tasks;
  const write = (...list) => fs.writeFileSync(file, JSON.stringify({ format: 'skillopt_sleep.tasks.v1',
    tasks: list.map(([id, split, origin = 'real']) => ({ ...task, id, split, origin })) }));
  const night = (command = 'run') => run(['sleep', command, '--tasks-file', file, ...mock, '--json'], { env });
  write(['t1', 'train'], ['t2', 'replay'], ['t3', 'val'], ['t4', 'holdout'], ['t5', 'test'], ['d1', 'test', 'dream'], ['d2', 'val', 'dream'], ['d3', 'holdout', 'dream']);
  const done = night();
  assert.equal(done.code, 0, done.stderr);
  const { staging_dir: staging } = JSON.parse(done.stdout);
  const lines = fs.readFileSync(path.join(staging, 'evidence.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  assert.deepEqual(Object.fromEntries(lines.filter((l) => l.event === 'task_ready').map((l) => [l.task, l.split])),
    { t1: 'train', t2: 'train', t3: 'val', t4: 'val', t5: 'test', d1: 'train', d2: 'train', d3: 'train' });
  const report = JSON.parse(fs.readFileSync(path.join(staging, 'report.json'), 'utf8'));
  assert.deepEqual(report.tasks.filter((x) => x.split === 'test').map((x) => x.id), ['t5']);
  assert.deepEqual(report.tasks.filter((x) => x.id.startsWith('d') && x.split !== 'train'), []);
  for (const [list, why] of [
    [[['t1', 'train'], ['t2', 'weird']], /task 't2': unknown split 'weird'; use train, val or test/],
    [[['t1', 'val'], ['t2', 'train'], ['t1', 'test']], /task 't1' is in test and in val/],
  ]) {
    write(...list);
    for (const command of ['run', 'dry-run', 'worth']) {
      const r = night(command);
      if (command === 'worth' && /unknown option/.test(r.stderr + r.stdout)) continue;
      assert.notEqual(r.code, 0);
      assert.match(r.stderr + r.stdout, why);
    }
  }
});

test('a new skill says in the first words of its description when to use it', () => {
  const home = tmpHome(), { env } = home;
  history(home, backups);
  const r = runJson(['sleep', 'run', '--project', '/srv/attic', ...mock], { env });
  const [file] = fs.readdirSync(r.staging_dir).filter((f) => /^proposed_SKILL/.test(f));
  const text = fs.readFileSync(path.join(r.staging_dir, file), 'utf8');
  const description = /^description: "?(.*)$/m.exec(text)[1];
  assert.match(description.slice(0, 55), /^Use for recurring requests in attic/);
  assert.match(text, /^## When to Use\n\n\S/m);
});

test('a tasks file may say which skill it is for; a flag wins', () => {
  const home = tmpHome(), { env } = home, file = path.join(home.dir, 'tasks.json');
  history(home, backups);
  runJson(['sleep', 'harvest', '--output', file], { env });
  const [task] = JSON.parse(fs.readFileSync(file, 'utf8')).tasks;
  const skill = (name) => path.join(fs.realpathSync(home.user), 'kit', name, 'SKILL.md');
  fs.writeFileSync(file, JSON.stringify({ format: 'skillopt_sleep.tasks.v1', target_skill_path: skill('one'),
    tasks: ['train', 'val'].map((split) => ({ ...task, id: `${task.id}_${split}`, split })) }));
  for (const [flags, name] of [[[], 'one'], [['--target', skill('two')], 'two']]) {
    const r = runJson(['sleep', 'run', '--tasks-file', file, ...flags, ...mock], { env });
    assert.deepEqual(r.staged_skills, [name], JSON.stringify(r));
  }
});

test('a budget ends a night, and says so', () => {
  const { env } = demoHome();
  const r = runJson(['sleep', 'run', '--max-calls', '5', ...mock], { env });
  assert.equal(r.accepted, false);
  assert.equal(r.no_edits_reason, 'budget');
  assert.ok(r.calls <= 6, `${r.calls} calls`);
  assert.deepEqual(r.staged_skills, []);
  assert.ok(r.notes.some((n) => n.includes('calls')), JSON.stringify(r.notes));
});

test('nights are configured, flags win, and what makes no sense is said with its key', () => {
  const { env, dir } = demoHome();
  const configured = { ...env, XDG_CONFIG_HOME: path.join(dir, 'config') };
  const night = (yaml, ...args) => {
    fs.mkdirSync(path.join(dir, 'config/talaria'), { recursive: true });
    fs.writeFileSync(path.join(dir, 'config/talaria/config.yaml'), `sleep:\n${yaml.map((l) => `  ${l}\n`).join('')}`);
    return run(['sleep', 'dry-run', '--json', ...args, ...mock], { env: configured });
  };
  const plain = runJson(['sleep', 'dry-run', ...mock], { env });
  const few = JSON.parse(night(['max_tasks_per_night: 10', 'edit_budget: 1']).stdout);
  assert.equal(few.n_tasks, 10);
  assert.ok(plain.n_tasks > 10 && few.edits.length <= 1 && plain.edits.length > 1);
  assert.equal(JSON.parse(night(['max_calls_per_night: 5']).stdout).no_edits_reason, 'budget');
  assert.equal(JSON.parse(night(['max_calls_per_night: 5'], '--max-calls', '100000').stdout).accepted, true);
  assert.equal(JSON.parse(night(['evolve_skill: false']).stdout).accepted, false);
  assert.equal(JSON.parse(night(['objective: 0,1,0']).stdout).accepted, false);
  for (const [flag, value] of [['--edit-budget', '0'], ['--dream-factor', '2000000000'], ['--rollouts', '2000000000'], ['--recall', '2000000000']]) {
    const r = run(['sleep', 'dry-run', flag, value, ...mock], { env });
    assert.equal(r.code, 2, `${flag}: ${r.stderr}`);
    assert.ok(r.stderr.includes(flag), r.stderr);
  }
  for (const [line, key] of [['dream_factor: 1000000', 'sleep.dream_factor'], ['dream_rollouts: -1', 'sleep.dream_rollouts'], ['objective: 1,2', 'sleep.objective'], ['val_fraction: 0.9', ''], ['gate_metric: best', 'sleep.gate_metric'], ['edit_budgets: 3', 'sleep.edit_budget']]) {
    const r = night(line.startsWith('val') ? [line, 'test_fraction: 0.5'] : [line]);
    assert.notEqual(r.code, 0, line);
    assert.ok(r.stderr.includes(key || 'sleep.test_fraction'), r.stderr);
  }
});

test('without the gate all that applies is proposed, said to be unproven, and never adopted by itself', () => {
  const home = tmpHome(), config = path.join(home.dir, 'config'), env = { ...home.env, XDG_CONFIG_HOME: config };
  history(home, backups);
  fs.mkdirSync(path.join(config, 'talaria'), { recursive: true });
  fs.writeFileSync(path.join(config, 'talaria/config.yaml'), 'sleep:\n  gate_mode: off\n');
  const refused = run(['sleep', 'run', '--auto-adopt', ...mock], { env });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /sleep\.gate_mode/);
  const r = runJson(['sleep', 'run', ...mock], { env });
  assert.equal(r.gate_action, 'greedy_applied');
  assert.ok(r.notes.some((n) => n.includes('validation is off')), JSON.stringify(r.notes));
  assert.match(fs.readFileSync(path.join(r.staging_dir, 'proposed_SKILL.md'), 'utf8'), /not validated/);
});

test('evidence keeps as much of a text as is configured', () => {
  const home = tmpHome(), config = path.join(home.dir, 'config'), env = { ...home.env, XDG_CONFIG_HOME: config };
  history(home, { ...backups, ask: `check the nightly backup, ${'and then look again '.repeat(30)}of the` });
  fs.mkdirSync(path.join(config, 'talaria'), { recursive: true });
  const longest = (yaml) => {
    fs.rmSync(path.join(home.data, 'sleep'), { recursive: true, force: true });
    fs.writeFileSync(path.join(config, 'talaria/config.yaml'), yaml);
    const { staging_dir: folder } = runJson(['sleep', 'run', ...mock], { env });
    const intents = fs.readFileSync(path.join(folder, 'evidence.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l).intent ?? '');
    return Math.max(...intents.map((t) => t.length));
  };
  assert.ok(longest('') > 600);
  const cut = longest('sleep:\n  evidence_max_chars: 250\n');
  assert.ok(cut >= 250 && cut < 300, `${cut} characters`);
});

test('who answered last night is remembered: scores of two models do not compare', () => {
  const home = tmpHome(), { env } = home, state = path.join(home.data, 'sleep/state.json');
  history(home, backups);
  assert.ok(!runJson(['sleep', 'run', ...mock], { env }).notes.some((n) => n.includes('model changed')));
  fs.writeFileSync(state, fs.readFileSync(state, 'utf8').replace('"mock:"', '"model:gpt-5"'));
  const r = runJson(['sleep', 'run', ...mock], { env });
  assert.ok(r.notes.some((n) => n.includes("model changed from 'model:gpt-5' to 'mock:'")), JSON.stringify(r.notes));
});

test('two nights at once: one is refused', async () => {
  const { env } = demoHome();
  // A lock is held by whoever sleeps: here, by a process that does nothing else.
  const lock = path.join(env.TALARIA_HOME, 'sleep/state.json.lock');
  runJson(['sleep', 'run', ...mock], { env });
  const holder = spawn('flock', [lock, 'sleep', '30'], { stdio: 'ignore' });
  try {
    let r;
    for (let i = 0; i < 50 && r?.code !== 4; i++) r = run(['sleep', 'run', ...mock], { env });
    assert.equal(r.code, 4, r.stderr);
    assert.match(r.stderr, /another night is running/);
  } finally {
    holder.kill('SIGKILL');
  }
});

test('--target, --project and its memory, a test split, dreams and recall', () => {
  const home = tmpHome(), { env } = home;
  const project = path.join(home.user, 'attic');
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, 'CLAUDE.md'), '# House rules\n');
  history(home, { ...backups, project, n: 12 });
  const target = path.join(home.user, 'kit/my-skill/SKILL.md');
  fs.mkdirSync(path.dirname(target), { recursive: true });
  // The split follows from ids, which follow from the folder's name: a seed by which each side has something.
  const flags = ['--project', project, '--target', target, '--test-fraction', '0.3', ...mock];
  const seed = [...Array(60).keys()].find((n) => {
    const w = runJson(['sleep', 'worth', ...flags, '--seed', String(n)], { env });
    return w.train && w.val && w.test;
  });
  const r = runJson(['sleep', 'run', ...flags, '--seed', String(seed), '--dream-factor', '1'], { env });
  assert.equal(r.accepted, true, JSON.stringify(r));
  assert.deepEqual(r.staged_skills, ['my-skill']);
  assert.match(fs.readFileSync(path.join(r.staging_dir, 'proposed_SKILL.md'), 'utf8'), /^---\nname: my-skill\n/);
  const report = JSON.parse(fs.readFileSync(path.join(r.staging_dir, 'report.json'), 'utf8'));
  const evidence = fs.readFileSync(path.join(r.staging_dir, 'evidence.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const ready = evidence.filter((e) => e.event === 'task_ready');
  for (const e of ready) if (e.task.includes('_dream')) assert.equal(e.split, 'train');
  assert.ok(ready.some((e) => e.task.includes('_dream')));
  assert.ok(ready.some((e) => e.split === 'test'));
  const decided = evidence.findLastIndex((e) => e.event === 'trial');
  assert.ok(evidence.findIndex((e) => e.event === 'held_out_score') > decided, 'measured after the decision');
  assert.ok(r.notes.some((n) => n.includes('final test on')));
  const kinds = new Set(evidence.map((e) => `${e.stage}/${e.event}`));
  for (const kind of ['cycle/start', 'harvest/session', 'mine/task_mined', 'mine/task_ready', 'replay/result', 'reflect/edits_returned',
    'gate/baseline', 'gate/trial', 'gate/decision', 'test/held_out_score', 'stage/staged', 'cycle/end']) assert.ok(kinds.has(kind), `no ${kind}`);
  const sessions = evidence.filter((e) => e.event === 'session');
  assert.equal(new Set(sessions.map((e) => e.session)).size, 12);
  assert.ok(sessions.every((e) => e.project === project && e.n_user_turns > 0));
  const decision = evidence.find((e) => e.event === 'decision');
  assert.equal(decision.candidate_sum / decision.n_val, decision.candidate);
  assert.equal(evidence.find((e) => e.event === 'baseline').score, decision.baseline);
  assert.equal(report.accepted, true);
  assert.equal(fs.readFileSync(path.join(project, 'CLAUDE.md'), 'utf8'), '# House rules\n');
});

test('the memory of a project learns what the skill had no room for; nobody else\'s memory does', () => {
  const home = tmpHome(), { env } = home;
  const project = path.join(home.user, 'attic');
  fs.mkdirSync(project);
  const memory = path.join(project, 'CLAUDE.md'), mine = '# House rules\n\n* keep  this   line\n';
  fs.writeFileSync(memory, mine);
  // Two things are insisted on, and only one edit may be made at a time: one goes to the skill, one to the memory.
  history(home, { ...backups, project, n: 12 });
  history(home, { ...backups, project, n: 12, from: 20, ask: 'summarise the water levels at the', insist: 'no, that is wrong. always mention "Datum NHN"',
    right: 'It ran at two. Datum NHN' });
  const file = path.join(home.dir, 'tasks.json');
  const { tasks } = runJson(['sleep', 'harvest', '--output', file], { env });
  assert.equal(tasks.length, 2);
  fs.writeFileSync(file, JSON.stringify(tasks.flatMap((t) => ['train', 'val'].map((split) => ({ ...t, id: `${t.id}_${split}`, split })))));
  const args = ['sleep', 'run', '--edit-budget', '1', '--tasks-file', file, ...mock];
  assert.ok(!runJson(args, { env }).edits.some((e) => e.target === 'memory'), 'without a project there is no memory to learn');
  fs.rmSync(path.join(home.data, 'sleep'), { recursive: true });
  assert.ok(!runJson([...args, '--project', project, '--no-memory'], { env }).edits.some((e) => e.target === 'memory'));
  fs.rmSync(path.join(home.data, 'sleep'), { recursive: true });

  const r = runJson([...args, '--project', project], { env });
  assert.deepEqual(r.edits.map((e) => e.target), ['skill', 'memory'], JSON.stringify(r.edits));
  assert.deepEqual(r.staged_skills, ['talaria-learned', 'CLAUDE.md']);
  assert.equal(fs.readFileSync(memory, 'utf8'), mine, 'nothing live changes by itself');
  assert.equal(run(['sleep', 'adopt', '--legacy'], { env }).code, 0);
  const now = fs.readFileSync(memory, 'utf8');
  assert.ok(now.startsWith(mine.trimEnd()), 'text of the user stays');
  assert.ok(now.includes(r.edits[1].content.split('\n')[0]));
  assert.equal(run(['sleep', 'undo'], { env }).code, 0);
  assert.equal(fs.readFileSync(memory, 'utf8'), mine);
});

test('--objective weighs what the gate compares; --recall brings back tasks of earlier nights', () => {
  const home = tmpHome(), { env } = home;
  history(home, { ...backups, n: 12 });
  for (const bad of ['x', '1', '1,0', '1,0,0,0', '-1,0,0', '0,0,0', 'nan,0,0']) {
    const r = run(['sleep', 'run', '--objective', bad, ...mock], { env });
    assert.equal(r.code, 2, `${bad}: ${r.stderr}`);
    assert.match(r.stderr, /--objective/);
  }
  // A rule makes the document longer: who pays for tokens alone does not want it.
  assert.equal(runJson(['sleep', 'dry-run', '--objective', '0,1,0', ...mock], { env }).accepted, false);
  assert.equal(runJson(['sleep', 'dry-run', '--objective', '1,0.1,0', ...mock], { env }).accepted, true);

  // Seed 1: the task itself, and not only another wording of it, is one that teaches.
  const first = runJson(['sleep', 'run', '--seed', '1', ...mock], { env });
  assert.equal(first.accepted, true);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  history(home, { ...backups, from: 20, n: 8, day: tomorrow, ask: 'summarise the water levels at the', insist: 'no, that is wrong. always mention "Datum NHN"', right: 'It ran at two. Datum NHN' });
  const ready = (r) => fs.readFileSync(path.join(r.staging_dir, 'evidence.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l)).filter((e) => e.event === 'task_ready');
  const second = runJson(['sleep', 'run', '--seed', '1', '--recall', '3', ...mock], { env });
  const recalled = ready(second).filter((e) => e.task.startsWith('recall:'));
  assert.ok(recalled.length > 0 && recalled.length <= 3, JSON.stringify(ready(second).map((e) => e.task)));
  const taught = new Set(ready(first).filter((e) => e.split === 'train').map((e) => `recall:${e.task}`));
  for (const e of recalled) assert.ok(e.split === 'train' && taught.has(e.task), `${e.task}: what decided is not taught`);
  assert.ok(!ready(first).some((e) => e.task.startsWith('recall:')));
});

test('a skill that was used learns from its own tasks', () => {
  const home = tmpHome(), { env } = home;
  history(home, { ...backups, skill: 'backups' });
  const skill = path.join(home.user, '.claude/skills/backups/SKILL.md');
  fs.mkdirSync(path.dirname(skill), { recursive: true });
  fs.writeFileSync(skill, '---\nname: backups\ndescription: how to check them\n---\n\n# Backups\n');
  const r = runJson(['sleep', 'run', '--auto-adopt', ...mock], { env });
  assert.equal(r.accepted, true, JSON.stringify(r));
  assert.deepEqual(r.staged_skills, ['backups']);
  assert.equal(r.adopted, false, 'a skill of others is for people to adopt');
  assert.ok(fs.existsSync(path.join(r.staging_dir, 'proposed_SKILL.backups.md')));
  assert.equal(run(['sleep', 'adopt', '--skill', 'backups'], { env }).code, 0);
  assert.match(fs.readFileSync(skill, 'utf8'), /Checked by talaria/);
});

test('a skill that cannot be worked on stops nobody: it is left alone, and said why', () => {
  const rows = [
    ['failed', '# Backups\n\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n- half a block\n', /line 3: a start marker without an end/],
    ['failed', Buffer.from('# Backups \xff\xfe\n', 'latin1'), /not UTF-8/],
    ['skipped', null, /in none of the folders of skills/],
  ];
  for (const [status, text, why] of rows) {
    const home = tmpHome(), { env } = home, skill = path.join(home.user, '.claude/skills/backups/SKILL.md');
    history(home, { ...backups, skill: 'backups' });
    fs.mkdirSync(path.dirname(skill), { recursive: true });
    if (text) fs.writeFileSync(skill, text);
    const r = runJson(['sleep', 'run', ...mock], { env });
    assert.deepEqual(r.staged_skills, ['talaria-learned'], 'its tasks teach the other one');
    const row = r.skill_groups.find((g) => g.skill_name === 'backups');
    assert.equal(row.status, status);
    assert.match(row.reason, why);
    assert.ok(r.notes.some((n) => n.includes("'backups'") && why.test(n)), JSON.stringify(r.notes));
    assert.equal(r.gate_action, 'accept_new_best');
    if (text) assert.deepEqual(fs.readFileSync(skill), Buffer.from(text));
  }
});

test('skills are found where agents find them: in folders of categories, below ~/.agents', () => {
  const places = [['.hermes', '.hermes/skills/ops/storage/backups'], ['.claude', '.agents/skills/backups']];
  for (const [folder, place] of places) {
    const home = tmpHome(), { env } = home, skill = path.join(home.user, place, 'SKILL.md');
    fs.mkdirSync(path.join(home.user, folder), { recursive: true });
    history(home, { ...backups, skill: 'backups' });
    fs.mkdirSync(path.dirname(skill), { recursive: true });
    fs.writeFileSync(skill, '---\nname: backups\ndescription: how to check them\n---\n');
    const r = runJson(['sleep', 'run', ...mock], { env });
    assert.deepEqual(r.staged_skills, ['backups'], `${place}: ${JSON.stringify(r.notes)}`);
    assert.equal(run(['sleep', 'adopt', '--all-skills'], { env }).code, 0);
    assert.match(fs.readFileSync(skill, 'utf8'), /Checked by talaria/);
  }
});

test('a folder of skills that is not there is said', () => {
  const home = tmpHome(), { env } = home;
  history(home, backups);
  const r = run(['sleep', 'run', '--skill-root', path.join(home.dir, 'nowhere'), ...mock], { env });
  assert.equal(r.code, 3, r.stderr);
  assert.match(r.stderr, /no folder of skills '.*nowhere'/);
});

test('a memory that is a link, or half marked, is left alone; the skill learns all the same', () => {
  for (const make of [(file) => { fs.writeFileSync(`${file}.real`, '# Rules\n'); fs.symlinkSync(`${file}.real`, file); },
    (file) => fs.writeFileSync(file, '# Rules\n<!-- SKILLOPT-SLEEP:LEARNED END -->\n')]) {
    const home = tmpHome(), { env } = home, project = path.join(fs.realpathSync(home.user), 'attic'), memory = path.join(project, 'CLAUDE.md');
    fs.mkdirSync(project);
    make(memory);
    const before = fs.readFileSync(memory, 'utf8');
    history(home, { ...backups, project });
    const r = runJson(['sleep', 'run', '--project', project, ...mock], { env });
    assert.deepEqual(r.staged_skills, ['talaria-learned'], JSON.stringify(r));
    assert.ok(r.notes.some((n) => n.includes("skipped the project's memory file")), JSON.stringify(r.notes));
    assert.equal(fs.readFileSync(memory, 'utf8'), before);
  }
});

/** Answers by files, as somebody would who follows the skill in the prompt. */
function answerAll(folder) {
  const { pending } = JSON.parse(fs.readFileSync(path.join(folder, 'pending.json'), 'utf8'));
  for (const q of pending) {
    assert.ok(!secrets.test(q.prompt), 'a key goes out');
    const rule = /Checked by talaria/;
    let text = 'It ran at two and copied everything.';
    if (q.prompt.includes('Reply with one JSON array of at most one object')) text = '[]';
    else if (q.prompt.includes('You improve the')) text = '```json\n[{"op": "add", "content": "End the answer with \\"Checked by talaria\\".", "rationale": "all"}]\n```';
    else if (q.prompt.includes('Judge whether')) text = JSON.stringify({ score: rule.test(q.prompt.split('# Answer')[1] ?? '') ? 1 : 0, reason: 'x' });
    else if (rule.test(q.prompt.split('# Request')[0])) text = 'It ran at two.\nChecked by talaria';
    fs.writeFileSync(path.join(folder, 'answers', q.answer_file), `${text}\n`);
  }
  return pending.map((q) => q.id);
}

test('handoff: questions to files, answers from files, round by round to the end', () => {
  const home = tmpHome(), { env } = home;
  history(home, { ...backups, n: 12 });
  const folder = path.join(home.data, 'sleep/handoff'), asked = new Set();
  const args = ['sleep', 'run', '--backend', 'handoff', '--json'];
  let r, rounds = 0;
  for (; rounds < 40; rounds++) {
    r = run(args, { env });
    if (r.code === 0) break;
    assert.equal(r.code, 3, r.stderr);
    const said = JSON.parse(r.stdout);
    assert.ok(fs.readFileSync(said.prompts, 'utf8').includes('----- BEGIN '));
    assert.equal(said.answers_dir, path.join(folder, 'answers'));
    const ids = answerAll(folder);
    assert.equal(said.handoff_pending, ids.length);
    for (const id of ids) {
      assert.ok(!asked.has(id), 'asked twice');
      asked.add(id);
    }
    assert.ok(!fs.existsSync(path.join(home.data, 'sleep/staging/.latest')), 'nothing is staged while answers are to come');
  }
  assert.equal(r.code, 0, r.stderr);
  const night = JSON.parse(r.stdout);
  assert.equal(night.resumed, true);
  assert.equal(night.accepted, true, JSON.stringify({ ...night, gate_trials: 0 }));
  assert.match(night.edits[0].content, /Checked by talaria/);
  assert.ok(fs.existsSync(`${folder}.night1.done/answers`));
  assert.ok(rounds > 1);
});

test('handoff keeps the shares of the split, and every rollout is a question of its own', () => {
  const home = tmpHome(), { env } = home;
  history(home, { ...backups, n: 12 });
  const args = ['--backend', 'handoff', '--no-miner', '--val-fraction', '0.5', '--seed', '1'];
  const asks = (...more) => {
    fs.rmSync(path.join(home.data, 'sleep'), { recursive: true, force: true });
    assert.equal(run(['sleep', 'run', ...args, ...more], { env }).code, 3);
    return JSON.parse(fs.readFileSync(path.join(home.data, 'sleep/handoff/pending.json'), 'utf8')).pending;
  };
  const { train } = runJson(['sleep', 'worth', ...args], { env });
  assert.ok(!fs.existsSync(path.join(home.data, 'sleep/handoff')), 'who only wants to know the cost asks nobody');
  assert.equal(asks().length, train, 'what teaches is asked first');
  const three = asks('--rollouts', '3');
  assert.equal(new Set(three.map((q) => q.id)).size, 3 * train);
  assert.equal(new Set(three.map((q) => q.prompt)).size, train);
});

test('what is new is told by instants, wherever one lives', () => {
  for (const TZ of ['Asia/Shanghai', 'America/Los_Angeles', 'Pacific/Apia']) {
    const home = tmpHome(), env = { ...home.env, TZ };
    history(home, { ...backups, n: 8, at: Date.now() - 20 * 60_000 });
    assert.ok(runJson(['sleep', 'run', ...mock], { env }).n_tasks > 0);
    assert.equal(runJson(['sleep', 'run', ...mock], { env }).n_tasks, 0, `${TZ}: what was before is not new`);
    history(home, { ...backups, from: 20, n: 8, at: Date.now() - 20 * 60_000 + 2000, ask: 'summarise the water levels at the', insist: 'no, that is wrong. always mention "Datum NHN"',
      right: 'It ran at two. Datum NHN' });
    assert.ok(runJson(['sleep', 'run', ...mock], { env }).n_tasks > 0, `${TZ}: what came after is`);
  }
});

test('where a learned skill goes: Hermes, else Claude Code, else our own home', () => {
  const places = [[['.hermes', '.claude'], '.hermes/skills'], [['.claude'], '.claude/skills'], [[], '../data/skills']];
  for (const [folders, expected] of places) {
    const home = folders.length ? tmpHome() : demoHome(), { env } = home;
    for (const f of folders) fs.mkdirSync(path.join(home.user, f), { recursive: true });
    if (folders.length) history(home, backups);
    const r = runJson(['sleep', 'run', '--auto-adopt', ...mock], { env });
    assert.equal(r.adopted, true, JSON.stringify(r));
    const skill = path.join(home.user, expected, 'talaria-learned/SKILL.md');
    assert.ok(fs.existsSync(skill), `${expected}: ${runJson(['sleep', 'status'], { env }).adopted_skills[0]?.live_skill_path}`);
    const [, name, description] = fs.readFileSync(skill, 'utf8').match(/^---\nname: (.*)\ndescription: (.*)\n---\n/);
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.ok(description.length > 10 && description.length <= 1024);
  }
});

// One night, one scale: what a task scored is the same figure in the review, in the report and in the JSON.
test('a night says in words what came of it, on one scale, and that nothing but a simulation answered', () => {
  const { env } = demoHome();
  const night = run(['sleep', 'run', ...mock], { env });
  assert.match(night.stdout, /^Validation score: \d+\.\d -> \d+\.\d of 100 \(simulated: no model answered\)$/m);
  assert.match(night.stdout, /^Accepted: best score so far$/m);
  const { proposal } = runJson(['sleep', 'review'], { env });
  assert.equal(proposal.simulated, true);
  assert.equal(proposal.verdict, 'Accepted: best score so far');
  const review = run(['sleep', 'review', '--full'], { env }).stdout;
  const short = run(['sleep', 'review'], { env }).stdout;
  assert.match(short, /^\+- For requests like .*[^>]$/m);
  assert.doesNotMatch(short, /<!-- rule|\b(regex|section_present|max_chars|contains)=/, 'what is kept of rules and checks is for programs');
  for (const e of proposal.edits) assert.ok(!e.rationale?.includes(e.content.replace(/\.$/, '')), 'a reason does not repeat the rule');
  assert.match(review, /<!-- rule id=/);
  const moved = proposal.tasks.filter((t) => t.before && t.after && t.score_before !== t.score_after);
  assert.ok(moved.length > 0);
  for (const t of moved) {
    const [before, after] = [t.score_before, t.score_after].map((x) => (100 * x).toFixed(1));
    assert.ok(proposal.report_md.includes(`| ${before} | ${after} | improved |`), proposal.report_md);
    assert.match(review, new RegExp(`before +${before.replace('.', '\\.')} `));
    assert.match(review, new RegExp(`after +${after.replace('.', '\\.')} `));
  }
  assert.match(proposal.report_md, /\*\*Simulated\.\*\*/);
  for (const text of [night.stdout, review, proposal.report_md]) assert.doesNotMatch(text, /accept_new_best|task_[0-9a-f]{6}|\b0\.\d{3}\b/);
  const again = run(['sleep', 'run', ...mock], { env }).stdout;
  assert.match(again, /^No proposal: no task to learn from$/m);
});
