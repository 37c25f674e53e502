// What people see on a terminal of 80 columns: no command prints a line that the window would break, and no word
// is broken; and what a program sees in a pipe: data, without headings, colours, hints or shortened values.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { makeStateDb, run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';
import { makeTranscripts } from './transcripts.mjs';
import path from 'node:path';

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
const columns = (line) => [...line].reduce((n, ch) => n + (/\p{M}|\u200d/u.test(ch) ? 0 : wide.test(ch) ? 2 : 1), 0);
// Progress is drawn over itself and taken away again.
const plain = (text) => text.replace(/\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)/g, '').replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, '').replace(/\x1b\[[0-9;?]*[@-~]/g, '').replaceAll('\r', '');

/** The demo, with transcripts of Claude Code and Codex and a Hermes home beside it. */
function fullHome() {
  const h = tmpHome();
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 40, seed: 3 });
  makeTranscripts(h, { sessions: 12 });
  assert.equal(run(['demo'], h).code, 0);
  return h;
}
const home = fullHome();
const demo = { ...home.env, TALARIA_DEMO: '1' };
const some = runJson(['sessions', 'list', '--limit', '1'], { env: demo }).sessions[0].id;

const commands = [
  ['status'], ['doctor'], ['sessions', 'list'], ['sessions', 'list', '--limit', '0', '--archived', '--side-chains'],
  ['sessions', 'search', 'backup exit code'], ['sessions', 'search', '--source', 'bogus', 'x'], ['sessions', 'show', 'demo_'],
  ['templates', 'list'], ['templates', 'study'], ['achievements', 'list'], ['achievements', 'recent'],
  ['handoff', 'status'], ['gateway', 'status'], ['skills', 'list'], ['skills', 'search', 'check the backup'], ['config', 'list'],
  ['help'], ['help', '--limits'], ['sleep', 'status'],
  ['sessions', 'list', '--since', 'the day before the day after tomorrow'],
];
for (const env of [demo, home.env])
  for (const args of commands)
    test(`80 columns${env === demo ? ' (demo)' : ''}: ${args.join(' ')}`, async (t) => {
      const term = terminal(t, args, { env, rows: 24, columns: 80 });
      await term.exited;
      const lines = plain(term.raw()).split('\n');
      assert.ok(lines.length > 1);
      for (const line of lines) assert.ok(columns(line) <= 80, `${columns(line)}: ${line}`);
    });

test('the help of every command fits 80 columns, with three examples that have a text', async (t) => {
  const children = (help) => [...(help.split(/^Commands$/m)[1] ?? '').split(/^\S/m)[0].matchAll(/^ {2}([a-z-]+)/gm)].map((m) => m[1]);
  const walk = async (pathOf) => {
    const term = terminal(t, [...pathOf, '--help'], { env: home.env });
    await term.exited;
    const help = plain(term.raw());
    for (const line of help.split('\n')) assert.ok(columns(line) <= 80, `${pathOf.join(' ')}: ${columns(line)}: ${line}`);
    assert.doesNotMatch(help, /TALARIA_LOCAL_FAULTS/);
    const examples = (help.split(/^Examples$/m)[1] ?? '').split(/^\S/m)[0];
    assert.doesNotMatch(examples, /^ {2}\S.*\n {6}\n/m, `${pathOf.join(' ')}: an example without a text`);
    for (const child of pathOf.length < 2 ? children(help) : []) await walk([...pathOf, child]);
  };
  await walk([]);
});

test('ids on a terminal are unique beginnings of at least 8 characters, and are accepted', async (t) => {
  const term = terminal(t, ['sessions', 'list', '--limit', '12'], { env: demo });
  await term.exited;
  const whole = runJson(['sessions', 'list', '--limit', '12'], { env: demo }).sessions.map((s) => s.id);
  const shown = plain(term.raw()).split('\n').slice(1, 13).map((l) => l.split(/\s/)[0]);
  shown.forEach((id, i) => {
    assert.ok(id.length >= 8 && whole[i].startsWith(id), `${id} of ${whole[i]}`);
    assert.equal(runJson(['sessions', 'show', id, '--limit', '1'], { env: demo }).id, whole[i]);
  });
});

test('a pipe gets whole values separated by tabs, and nothing else', () => {
  for (const [args, n] of [[['sessions', 'list', '--limit', '5'], 8], [['skills', 'list'], 3], [['achievements', 'list'], 4], [['sessions', 'search', 'backup'], 7],
    [['status'], 6], [['doctor'], 5], [['handoff', 'status'], 8], [['gateway', 'status'], 8]]) {
    const r = run(args, { env: { ...demo, CLICOLOR_FORCE: '1' } });
    assert.equal(r.code, 0, r.stderr);
    assert.doesNotMatch(r.stdout, args[1] === 'search' ? /\x1b/ : /\x1b|…|^ID\b|--limit/m);
    for (const line of r.stdout.split('\n').filter(Boolean)) assert.equal(line.split('\t').length, n, line);
  }
  assert.equal(run(['sessions', 'list', '--limit', '1'], { env: demo }).stdout.split('\t')[0], some);
});

test('-q prints errors only, and no headings on a terminal', async (t) => {
  const quiet = terminal(t, ['sessions', 'list', '--limit', '2', '-q'], { env: demo });
  await quiet.exited;
  const lines = plain(quiet.raw()).trimEnd().split('\n');
  assert.equal(lines.length, 2, quiet.raw());
  const h = tmpHome();
  assert.equal(run(['demo', '-q'], h).stdout, '');
  assert.equal(run(['index', '-q'], h).stdout, '');
  const copy = run(['--demo', 'sessions', 'export', some], h).stdout;
  for (const args of [['config', 'set', 'model.name', 'x'], ['config', 'unset', 'model.name'], ['sessions', 'import', '-'], ['--demo', 'templates', 'harvest'], ['--demo', 'achievements', 'scan'],
    ['--demo', 'handoff', 'local', '--detach'], ['--demo', 'handoff', 'cancel'],
    ['--demo', 'sleep', 'run', '--backend', 'mock'], ['--demo', 'sleep', 'adopt'], ['--demo', 'sleep', 'undo'], ['--demo', 'sleep', 'reject']])
    assert.deepEqual(run([...args, '-q'], { ...h, input: copy }), { code: 0, signal: null, stdout: '', stderr: '' }, args.join(' '));
  assert.match(run(['--demo', 'templates', 'harvest', '--dry-run', '-q'], h).stdout, /\w/, 'a preview is what was asked for');
  assert.match(run(['--demo', 'status', '-q'], h).stdout, /^claude\t/m, 'data is printed');
  const wrong = run(['sessions', 'show', 'nosuch', '-q'], h);
  assert.match(wrong.stderr, /no session 'nosuch'/);
});

test('errors wrap at words on a terminal', async (t) => {
  const term = terminal(t, ['sessions', 'list', '--since', 'whenever it may have been that this was said'], { env: home.env });
  assert.equal(await term.exited, 2);
  const text = plain(term.raw());
  assert.ok(text.trimEnd().split('\n').length > 1);
  assert.match(text.replace(/\s+/g, ' '), /needs a time such as 7d, 24h, 2w, 3mo, today, yesterday, last week, monday or 2026-11-15, not 'whenever it/);
});

test('a source is named once, and counts agree with their nouns', () => {
  const h = tmpHome();
  makeTranscripts(h, { sessions: 4 });
  const claude = runJson(['sessions', 'list', '--source', 'claude', '--limit', '1'], h).sessions[0].id;
  assert.match(run(['sessions', 'show', claude], h).stdout, /^  session  \S+ \(claude\)$/m);
  const one = { type: 'user', sessionId: 'aaaaaaaa-0000-4000-8000-000000000001', uuid: 'u1', parentUuid: null, timestamp: '2026-01-02T03:04:05Z', cwd: '/', message: { role: 'user', content: 'hello' } };
  const file = path.join(h.user, `${one.sessionId}.jsonl`);
  fs.writeFileSync(file, JSON.stringify(one) + '\n');
  assert.equal(run(['sessions', 'import', file], h).stdout, 'Imported 1 session with 1 message\n');
});

test('a crontab entry that is printed can be copied: no line of it is broken', async (t) => {
  const term = terminal(t, ['sleep', 'schedule', '--print', '--using', 'cron'], { env: home.env, rows: 24, columns: 80 });
  assert.equal(await term.exited, 0);
  const piped = run(['sleep', 'schedule', '--print', '--using', 'cron'], { env: home.env }).stdout;
  assert.ok(piped.split('\n').some((line) => line.length > 80));
  assert.equal(plain(term.raw()), piped);
});
