// A data folder that cannot be written: what only reads answers as ever, and what must write names the cause.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin, makeStateDb, run, tmpHome, tree } from './helpers.mjs';
import { makeTranscripts } from './transcripts.mjs';

/** Histories of every kind and the demo, in a folder that nobody may write to. */
function frozenHome({ indexed }) {
  const h = tmpHome();
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 30, seed: 5, journal: 'wal' });
  makeTranscripts(h, { sessions: 8 });
  for (const args of [['demo'], ['templates', 'harvest'], ...(indexed ? [['index'], ['--demo', 'index']] : [])])
    assert.equal(run(args, h).code, 0, args.join(' '));
  const dir = path.dirname(h.env.TALARIA_HOME);
  const program = path.join(dir, 'talaria');
  fs.copyFileSync(bin, program);
  spawnSync('chmod', ['-R', 'a+rX,a-w', dir]);
  fs.chmodSync(program, 0o555);
  // Root may write everywhere, whatever the mode says: so another user runs it.
  const as = process.getuid() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program] : [program];
  const go = (args) => {
    const r = spawnSync(as[0], [...as.slice(1), ...args], { env: h.env, encoding: 'utf8', timeout: 60_000 });
    return { code: r.status, stdout: r.stdout, stderr: r.stderr };
  };
  process.on('exit', () => spawnSync('chmod', ['-R', 'u+w', dir]));
  return { dir, go };
}

for (const indexed of [true, false]) {
  const home = frozenHome({ indexed });
  const before = tree(home.dir);
  const name = indexed ? 'with an index' : 'without an index';

  test(`read-only, ${name}: what only reads works`, () => {
    const list = home.go(['sessions', 'list', '--limit', '0', '--json']);
    assert.equal(list.code, 0, list.stderr);
    const sessions = JSON.parse(list.stdout).sessions;
    for (const source of ['hermes', 'claude', 'codex'])
      assert.ok(JSON.parse(home.go(['sessions', 'list', '--source', source, '--json']).stdout).sessions.length > 0, source);
    const show = home.go(['sessions', 'show', sessions[0].id]);
    assert.equal(show.code, 0, show.stderr);
    const search = home.go(['--demo', 'sessions', 'search', 'lamp', '--json']);
    assert.equal(search.code, 0, search.stderr);
    assert.match(search.stdout, /[Ll]amp/);
    for (const args of [['achievements', 'list'], ['status'], ['templates', 'list'], ['templates', 'study'], ['skills', 'list'], ['sleep', 'status'], ['config', 'list'],
      ['handoff', 'status'], ['gateway', 'status']])
      for (const demo of [[], ['--demo']]) {
        const r = home.go([...demo, ...args]);
        assert.equal(r.code, 0, `${args.join(' ')}: ${r.stderr}`);
        assert.doesNotMatch(r.stderr, /left out|cannot|without an index/, args.join(' '));
      }
    assert.match(home.go(['doctor', '--json']).stdout, /"checks"/);
  });

  test(`read-only, ${name}: achievements count every source`, () => {
    const counted = (r) => /\d+ sessions \(.*\)/.exec(r.stderr)?.[0];
    const frozen = home.go(['--demo', 'achievements', 'list']);
    assert.match(counted(frozen) ?? '', /Claude Code.*Codex/, frozen.stderr);
  });

  test(`read-only, ${name}: what must write names the folder and the cause`, () => {
    const some = JSON.parse(home.go(['--demo', 'sessions', 'list', '--limit', '1', '--json']).stdout).sessions[0].id;
    for (const args of [['index'], ['templates', 'harvest'], ['achievements', 'reset', '--yes'], ['sleep', 'run'], ['handoff', 'local', '--session', some],
      ['config', 'set', 'model.name', 'x'], ['sessions', 'import', '-'], ['ask', 'hello']]) {
      const r = home.go(['--demo', ...args]);
      assert.equal(r.code, 1, args.join(' '));
      assert.match(r.stderr.slice(-600), /cannot write to '\/.*': Permission denied/, args.join(' '));
    }
  });

  test(`read-only, ${name}: nothing was changed`, () => assert.deepEqual(tree(home.dir), before));
}
