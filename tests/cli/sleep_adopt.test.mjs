// Nights that are staged, as the command line shows, adopts, undoes and schedules them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, run, runJson, tmpHome, tree } from './helpers.mjs';
import { stageNight, stateOf } from './sleep_night.mjs';
import { terminal } from './terminal.mjs';

const two = [{ name: 'pdf', before: 'a\nold\n', after: 'a\nnew\n' }, { name: 'xls', before: 'x\n', after: 'y\n' }];
const report = {
  night: 3, project: '/p', started_at: '2026-11-15T03:17:00Z', ended_at: '2026-11-15T03:18:00Z', accepted: true, gate_action: 'accept_new_best',
  baseline_score: 0.5, candidate_score: 0.75, n_tasks: 2, n_sessions: 4, tokens_used: 1234, backend: 'mock', model: '', cost_usd: 0.5, interval: [0.1, 0.4],
  edits: [{ target: 'skill', op: 'add', content: 'say \u001b[31mnew', rationale: 'because' }], notes: ['one'],
  tasks: [{ id: 't1', intent: 'say new', split: 'val', before: { id: 't1', hard: 0, soft: 0, response: 'old' }, after: { id: 't1', hard: 1, soft: 1, response: 'new' } }],
};

test('status without a night, and with one', () => {
  const home = tmpHome();
  assert.match(run(['sleep', 'status'], home).stdout, /No night yet/);
  assert.deepEqual(tree(home.data), {}, 'looking makes nothing');
  const night = stageNight(home, { skills: two });
  const s = runJson(['sleep', 'status', '--project', '/p'], home);
  for (const key of ['night', 'state_path', 'project', 'history_tail', 'latest_staging', 'slow_memory_chars', 'staged_skills', 'adopted_skills', 'has_managed_proposal']) {
    assert.ok(key in s, key);
  }
  assert.equal(s.latest_staging, night.name);
  assert.deepEqual(s.staged_skills.map((r) => r.skill_name), ['pdf', 'xls']);
});

test('status lists every night, and draws the report of the last one on a terminal', async (t) => {
  const env = { ...tmpHome().env, TALARIA_DEMO: '1' };
  assert.equal(run(['demo', '--now', '2026-11-17T12:00:00Z'], { env }).code, 0);
  const rows = run(['sleep', 'status'], { env }).stdout.trimEnd().split('\n').map((line) => line.split('\t'));
  assert.deepEqual(rows.map((r) => r.at(-1)), ['to review', 'no proposal', 'rejected', 'adopted', 'adopted'], 'data in a pipe: the nights alone');
  assert.deepEqual(rows[0].slice(1, 5), ['/home/you/tidepaper', '0.0', '100.0', 'simulated']);
  const term = terminal(t, ['sleep', 'status'], { env, rows: 40, columns: 80 });
  await term.exited;
  const seen = term.screen.text();
  assert.match(seen, /^5 nights\nNIGHT +PROJECT +BEFORE +AFTER +ANSWERS +STATUS\n/);
  assert.ok(seen.includes(`\n${rows[0][0]}  /home/you/tidepaper `), 'the name that review and adopt take');
  assert.match(seen, /\nAccepted: best score so far, score 0\.0 → 100\.0 of 100\n/);
  assert.doesNotMatch(seen, /\*\*|\|---|^#|\\[-:(]/m, 'no Markdown is left');
  const day = rows[0][0].replace(/^(\d{4})(\d\d)(\d\d)-.*/, '$1-$2-$3');
  assert.ok(seen.includes(`started: ${day}T`), `the demo's report is of the night's own day, ${day}`);
});

test('review shows the diff, the edits and both answers, and no escape gets through', () => {
  const home = tmpHome();
  stageNight(home, { skills: two, report });
  const { stdout, code } = run(['sleep', 'review'], home);
  assert.equal(code, 0);
  assert.match(stdout, /^-old$/m);
  assert.match(stdout, /^\+new$/m);
  assert.match(stdout, /50\.0 → 75\.0 of 100 .*simulated/);
  assert.match(stdout, /before .*old\n.*after .*new/);
  assert.ok(!stdout.includes('\u001b'), 'an escape on the terminal');
  const { proposal } = runJson(['sleep', 'review'], home);
  assert.equal(proposal.skills[0].before, 'a\nold\n');
  assert.equal(proposal.skills[0].after, 'a\nnew\n');
  assert.deepEqual(proposal.interval, [0.1, 0.4]);
  assert.equal(proposal.tasks[0].after.response, 'new');
});

test('adopt: a choice that is not clear is exit 2 with the list', () => {
  const home = tmpHome();
  const night = stageNight(home, { skills: two });
  const r = run(['sleep', 'adopt', '--json'], home);
  assert.equal(r.code, 2);
  assert.deepEqual(JSON.parse(r.stderr).available_skills.map((s) => s.skill_name), ['pdf', 'xls']);
  for (const flags of [['--skill', 'pdf', '--all-skills'], ['--legacy'], ['--skill', 'nope']]) {
    assert.equal(run(['sleep', 'adopt', ...flags], home).code, 2, flags.join(' '));
  }
  assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
});

test('review, adopt and the list of choices are about one night: the newest that proposes something', () => {
  const home = tmpHome();
  stageNight(home, { name: '20261114-031700', skills: two, report });
  const empty = stageNight(home, { report: { ...report, night: 4, edits: [], accepted: false, no_edits_reason: 'no_failures' } });
  assert.equal(runJson(['sleep', 'status'], home).latest_staging, empty.name);
  assert.equal(runJson(['sleep', 'review'], home).proposal.staging, '20261114-031700');
  assert.equal(runJson(['sleep', 'review', empty.name], home).proposal.n_proposals, 0);
  const r = run(['sleep', 'adopt', '--json'], home);
  assert.equal(r.code, 2);
  assert.deepEqual(JSON.parse(r.stderr).available_skills.map((s) => s.skill_name), ['pdf', 'xls']);
});

test('adopt, undo, adopt again; exit codes and shapes', () => {
  const home = tmpHome();
  const night = stageNight(home, { skills: two });
  const adopted = runJson(['sleep', 'adopt', '--skill', 'pdf', '--skill', 'xls'], home);
  assert.equal(adopted.ok, true);
  assert.equal(adopted.mode, 'skills');
  assert.deepEqual(adopted.updated_paths, night.docs.map((d) => d.live));
  assert.deepEqual(night.docs.map(stateOf), ['new', 'new']);
  assert.equal(run(['sleep', 'adopt', '--all-skills'], home).code, 4);
  const undone = runJson(['sleep', 'undo', '--skill', 'xls'], home);
  assert.deepEqual(undone.updated_paths, [night.docs[1].live]);
  assert.deepEqual(night.docs.map(stateOf), ['new', 'old']);
  fs.writeFileSync(night.docs[0].live, 'mine\n');
  const refused = run(['sleep', 'undo'], home);
  assert.equal(refused.code, 4);
  assert.match(refused.stderr, /changed after it was adopted/);
  fs.writeFileSync(night.docs[0].live, 'a\nnew\n');
  assert.equal(run(['sleep', 'undo'], home).code, 0);
  assert.equal(run(['sleep', 'undo'], home).code, 3);
  assert.equal(run(['sleep', 'adopt', '--all-skills'], home).code, 0);
  assert.deepEqual(night.docs.map(stateOf), ['new', 'new']);
  assert.equal(run(['sleep', 'adopt', '--staging', '20200101-000000'], home).code, 3);
});

test('a manifest of another version is refused', () => {
  const home = tmpHome();
  const night = stageNight(home, { skills: two });
  const file = path.join(night.folder, 'manifest.json');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"schema_version":2', '"schema_version":3'));
  assert.equal(run(['sleep', 'adopt', '--all-skills'], home).code, 5);
  assert.ok(runJson(['sleep', 'status'], home).latest_staging);
});

// -- schedules: programs of our own in PATH that record what they were given ---------------------------------

function fakes(home, { systemd = false } = {}) {
  const dir = path.join(home.dir, 'fake'), tab = path.join(home.dir, 'crontab'), log = path.join(home.dir, 'log');
  fs.mkdirSync(dir);
  fs.writeFileSync(path.join(dir, 'crontab'), `#!/bin/sh
echo "crontab $*" >> '${log}'
if [ "$1" = -l ]; then
  if [ -f '${tab}' ]; then cat '${tab}'; else echo "no crontab for me" >&2; exit 1; fi
else cat > '${tab}'; fi\n`, { mode: 0o755 });
  fs.writeFileSync(path.join(dir, 'systemctl'), `#!/bin/sh\necho "systemctl $*" >> '${log}'\nexit ${systemd ? 0 : 1}\n`, { mode: 0o755 });
  const env = { ...home.env, PATH: `${dir}:${home.env.PATH}`, XDG_CONFIG_HOME: path.join(home.dir, 'config') };
  return { env, tab, log, crontab: () => fs.readFileSync(tab, 'utf8') };
}

const odd = `it's 100% "odd" \\\\%d \\ $HOME`;
const flags = ['--backend', 'mock', '--model', odd];

// Runs what the crontab holds as cron does: "%" ends the command, "\%" is one; some crons make one of two backslashes as well.
function runCronLine(line, env, collapses) {
  let command = '';
  const text = line.split(' ').slice(5).join(' ');
  for (let i = 0; i < text.length && text[i] !== '%'; i++) {
    if (text[i] === '\\' && (text[i + 1] === '%' || (collapses && text[i + 1] === '\\'))) command += text[++i];
    else if (text[i] === '\\') command += text[i] + text[++i];
    else command += text[i];
  }
  return spawnSync('/bin/sh', ['-c', command], { env, encoding: 'utf8' });
}

test('cron: one line a project, every flag kept, the odd path survives, others untouched', () => {
  const home = tmpHome(), { env, tab, crontab } = fakes(home);
  const project = path.join(fs.realpathSync(home.dir), odd.replace('/', ''));
  fs.mkdirSync(project);
  fs.writeFileSync(tab, '# mine\n5 5 * * * true\n');
  for (let i = 0; i < 2; i++) {
    assert.equal(run(['sleep', 'schedule', '--project', project, '--hour', '4', '--minute', String(5 + i), ...flags], { env }).code, 0);
  }
  run(['sleep', 'schedule', '--project', home.dir], { env });
  const lines = crontab().split('\n').filter((l) => l.includes('project-sha256='));
  assert.equal(lines.length, 2);
  assert.ok(crontab().startsWith('# mine\n5 5 * * * true\n'));
  assert.match(lines[0], /^6 \* \* \* \* /);

  // A program in the place of ours records its words: they are those that were asked for.
  const recorder = path.join(home.dir, 'recorder'), record = path.join(home.dir, 'record');
  fs.writeFileSync(recorder, `#!/bin/sh\nprintf '%s\\0' "$@" > '${record}'\n`, { mode: 0o755 });
  const line = lines[0].replaceAll(`'${fs.realpathSync(bin)}'`, `'${recorder}'`);
  assert.notEqual(line, lines[0]);
  for (const collapses of [false, true]) {
    const ran = runCronLine(line, { PATH: env.PATH, HOME: env.HOME }, collapses);
    assert.equal(ran.status, 0, ran.stderr);
    assert.deepEqual(fs.readFileSync(record, 'utf8').split('\0').slice(0, -1), ['sleep', 'run', '--project', project, ...flags]);
    fs.rmSync(record);
  }

  assert.equal(runJson(['sleep', 'unschedule', '--project', project], { env }).removed, 1);
  assert.equal(runJson(['sleep', 'unschedule', '--all'], { env }).removed, 1);
  assert.equal(crontab(), '# mine\n5 5 * * * true\n');
});

test('cron: a crontab that is too large to be read is not written over; what is not ours stays', () => {
  const home = tmpHome(), { env, tab, crontab } = fakes(home);
  const large = `# ${'x'.repeat(1000)}\n`.repeat(1100);
  fs.writeFileSync(tab, large);
  assert.notEqual(run(['sleep', 'schedule', ...flags, '--project', home.dir], { env }).code, 0);
  assert.equal(crontab(), large);
  fs.writeFileSync(tab, 'MAILTO=me\n');
  assert.equal(run(['sleep', 'schedule', ...flags, '--project', home.dir], { env }).code, 0);
  // The last mark is lost, and the user has gone on below.
  fs.writeFileSync(tab, `${crontab().split('\n').filter((l) => !l.startsWith('# <<<')).join('\n')}0 4 * * * mine\n`);
  assert.equal(run(['sleep', 'unschedule', '--all'], { env }).code, 0);
  assert.equal(crontab(), 'MAILTO=me\n0 4 * * * mine\n');
});

test('cron: a home that was given by flag is the one that is asked what is due', () => {
  const home = tmpHome(), { env, crontab } = fakes(home), data = path.join(home.dir, "my 100% 'own'");
  fs.mkdirSync(data);
  assert.equal(run(['sleep', 'schedule', ...flags, '--project', home.dir, '--data', data], { env }).code, 0);
  const [line] = crontab().split('\n').filter((l) => l.includes(' sleep run'));
  for (const collapses of [false, true]) {
    const asked = runCronLine(line.split(' && ')[0], env, collapses);
    assert.equal(asked.status, 4, `nothing is due yet, but it is scheduled: ${asked.stderr}`);
  }
});

test('cron: due once a night, caught up when it was missed', () => {
  const home = tmpHome(), { env } = fakes(home);
  const at = (iso, args) => run(['sleep', 'schedule', '--project', home.dir, ...args], { env: { ...env, TALARIA_NOW: String(Date.parse(iso) / 1000) } }).code;
  assert.equal(at('2026-11-15T12:00:00Z', []), 0);
  assert.equal(at('2026-11-15T12:17:00Z', ['--due']), 4);
  assert.equal(at('2026-11-16T09:17:00Z', ['--due']), 0);
  assert.equal(at('2026-11-16T10:17:00Z', ['--due']), 4);
});

test('systemd: a persistent timer whose words survive; verified by systemd itself where it is there', () => {
  const home = tmpHome(), { env, log } = fakes(home, { systemd: true });
  const project = path.join(fs.realpathSync(home.dir), 'it is 100% "odd"');
  fs.mkdirSync(project);
  assert.equal(run(['sleep', 'schedule', '--project', project, ...flags], { env }).code, 0);
  const folder = path.join(env.XDG_CONFIG_HOME, 'systemd/user');
  const [service, timer] = fs.readdirSync(folder).sort();
  assert.match(fs.readFileSync(path.join(folder, timer), 'utf8'), /Persistent=true/);
  // Read as systemd reads it: quotes and backslashes, "%%" and "$$".
  const [, command] = fs.readFileSync(path.join(folder, service), 'utf8').match(/^ExecStart=(.*)$/m);
  const words = [...command.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) => (quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1'))
    .replaceAll('%%', '%').replaceAll('$$', '$'));
  assert.deepEqual(words, [fs.realpathSync(bin), 'sleep', 'run', '--project', project, ...flags]);
  assert.match(fs.readFileSync(log, 'utf8'), new RegExp(`enable --now ${timer}`));
  const verify = spawnSync('systemd-analyze', ['verify', '--user', path.join(folder, service), path.join(folder, timer)], { encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: home.dir } });
  if (!verify.error) assert.doesNotMatch(verify.stderr, new RegExp(`${timer.slice(0, -6)}.*(Unknown|Invalid|Failed|invalid|ignoring|not absolute)`));
  assert.equal(runJson(['sleep', 'status'], { env }).schedules[0].kind, 'systemd');
  assert.equal(runJson(['sleep', 'unschedule', '--project', project], { env }).removed, 1);
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('schedule --print writes nothing; a control character is refused', () => {
  const home = tmpHome(), { env, tab, log } = fakes(home);
  const { code, stdout } = run(['sleep', 'schedule', '--print', '--project', home.dir, '--model', 'm'], { env });
  assert.equal(code, 0);
  assert.match(stdout, /sleep run '--project'/);
  assert.ok(!fs.existsSync(tab) && !fs.existsSync(home.data));
  assert.doesNotMatch(fs.readFileSync(log, 'utf8'), /crontab -$/m);
  assert.equal(run(['sleep', 'schedule', '--model', 'a\nb', '--project', home.dir], { env }).code, 5);
});

test('schedule --print needs neither cron nor systemd', () => {
  const home = tmpHome(), env = { ...home.env, PATH: '/nonexistent' };
  for (const [using, what] of [[[], /sleep run/], [['--using', 'cron'], /^[^#]* sleep run '--project'/m], [['--using', 'systemd'], /\[Unit\][^]*\[Timer\]/]]) {
    const { code, stdout, stderr } = run(['sleep', 'schedule', '--print', ...using, '--project', home.dir], { env });
    assert.equal(code, 0, stderr);
    assert.match(stdout, what);
  }
  assert.equal(run(['sleep', 'schedule', '--project', home.dir], { env }).code === 0, false, 'setting it up still needs one');
});

test('a wish to adopt that a death left behind: fulfilled once, and never against what somebody decided', () => {
  const make = (home) => stageNight(home, { managed: { path: path.join(fs.realpathSync(home.dir), 'agent/skills/learned/SKILL.md'), before: 'old\n', after: 'new\n' }, report });
  const rows = [['new', () => {}], ['old', (home) => ['adopt', 'undo'].forEach((c) => assert.equal(run(['sleep', c], home).code, 0))],
    ['old', (home) => assert.equal(run(['sleep', 'reject'], home).code, 0)],
    ['mine', (home, night) => fs.writeFileSync(night.docs[0].live, 'mine\n')]];
  for (const [expected, before] of rows) {
    const home = tmpHome(), night = make(home), wish = path.join(night.folder, '.auto-adopt');
    fs.writeFileSync(wish, '');
    before(home, night);
    const r = run(['sleep', 'run', '--backend', 'mock'], home);
    assert.equal(r.code, 0, r.stderr);
    assert.equal(fs.readFileSync(night.docs[0].live, 'utf8'), `${expected}\n`, r.stderr);
    assert.ok(!fs.existsSync(wish));
    assert.equal(/changed since the night/.test(r.stderr), expected === 'mine', r.stderr);
  }
});

test('reject: marked, remembered, never adopted; the night before it is the one to adopt', () => {
  const home = tmpHome();
  const older = stageNight(home, { name: '20261114-031700', skills: [{ name: 'doc', before: 'd\n', after: 'e\n' }] });
  const night = stageNight(home, { skills: two, report: { ...report, edit_shares: [{ skill: 'pdf', share: 1, moved_tasks: [], sessions: [] }] } });
  assert.equal(runJson(['sleep', 'reject', '--dry-run'], home).dry_run, true);
  const { rejection } = runJson(['sleep', 'reject', '--reason', 'not how we work'], home);
  assert.deepEqual([rejection.night, rejection.reason, rejection.n_edits], [night.name, 'not how we work', 1]);
  assert.match(fs.readFileSync(path.join(home.data, 'sleep/state.json'), 'utf8'), /not how we work/);
  assert.match(run(['sleep', 'review', night.name], home).stdout, /rejected not how we work/);
  assert.equal(run(['sleep', 'reject', night.name], home).code, 4, 'once');
  assert.equal(run(['sleep', 'adopt', '--staging', night.name, '--all-skills'], home).code, 4);
  assert.deepEqual(night.docs.map(stateOf), ['old', 'old']);
  assert.equal(run(['sleep', 'adopt', '--all-skills'], home).code, 0);
  assert.deepEqual(older.docs.map(stateOf), ['new']);
  assert.equal(run(['sleep', 'reject', older.name], home).code, 4, 'what is adopted is undone first');
  assert.equal(run(['sleep', 'reject', '20200101-000000'], home).code, 3);
});
