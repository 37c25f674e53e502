// Going on inside the program that wrote a session: the command, quoted for a shell, and running it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { bin, makeStateDb, run, runJson, tmpHome } from './helpers.mjs';
import { makeTranscripts } from './transcripts.mjs';

/** A transcript of Claude Code with one exchange. */
function claudeSession(home, id, cwd, extra = []) {
  const folder = path.join(home.user, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'));
  const base = (n) => ({ sessionId: id, cwd, version: '2.1.0', timestamp: `2026-11-15T08:00:0${n}.000Z`, uuid: `u${n}`,
    parentUuid: n ? `u${n - 1}` : null, isSidechain: false });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${id}.jsonl`), [
    { ...base(0), type: 'user', message: { role: 'user', content: 'count the boats' } },
    { ...base(1), type: 'assistant', message: { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'seven' }] } },
    ...extra,
  ].map((l) => JSON.stringify(l) + '\n').join(''));
}

/** What a shell makes of a line: programs that print their folder and arguments. */
function obey(home, line) {
  const programs = path.join(home.dir, 'programs');
  fs.mkdirSync(programs, { recursive: true });
  for (const name of ['claude', 'codex', 'hermes', 'talaria'])
    fs.writeFileSync(path.join(programs, name), '#!/bin/sh\necho "$(basename "$0")" "$(pwd)" "$HERMES_HOME"\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const env = { ...home.env, PATH: `${programs}:/usr/bin:/bin` };
  const r = spawnSync('sh', ['-c', line], { env, encoding: 'utf8', cwd: home.dir });
  assert.equal(r.status, 0, r.stderr);
  return { env, lines: r.stdout.trimEnd().split('\n') };
}

describe('the agent\'s own command', () => {
  const home = tmpHome();
  let all;

  before(() => {
    makeStateDb(path.join(home.hermes, 'state.db'), { extra: ['--no-edge'] });
    makeTranscripts(home, { sessions: 30 });
    run(['chat', '--runtime', 'offline'], { ...home, input: 'hello there\n' });
    all = runJson(['sessions', 'list', '--limit', '0', '--side-chains'], home).sessions;
  });

  test('is with every session, in the list and when it is shown', () => {
    const forms = {
      hermes: (s) => `hermes --resume ${s.id}`,
      claude: (s) => `cd ${s.cwd} && claude --resume ${s.id}`,
      codex: (s) => `cd ${s.cwd} && codex resume ${s.id}`,
      talaria: (s) => `talaria chat --resume ${s.id}`,
    };
    const main = all.filter((s) => !s.side_chain);
    for (const s of main) assert.equal(s.resume_command, forms[s.origin](s), s.id);
    for (const origin of Object.keys(forms)) {
      const s = main.find((x) => x.origin === origin);
      assert.equal(runJson(['sessions', 'show', s.id], home).resume_command, s.resume_command);
      assert.ok(run(['sessions', 'show', s.id], home).stdout.includes(`resume   ${s.resume_command}\n`));
      assert.equal(run(['sessions', 'resume', s.id, '--print'], home).stdout, `${s.resume_command}\n`);
    }
    for (const s of all.filter((x) => x.side_chain)) assert.equal(s.resume_command, null);
  });

  test('is run in the session\'s folder', () => {
    const cwd = path.join(home.dir, 'a project');
    fs.mkdirSync(cwd);
    claudeSession(home, '11111111-aaaa-4aaa-8aaa-000000000001', cwd);
    const { env } = obey(home, 'true');
    const r = run(['sessions', 'resume', '11111111-aaaa'], { env });
    assert.equal(r.stdout, `claude ${cwd} \n--resume\n11111111-aaaa-4aaa-8aaa-000000000001\n`);
    const own = runJson(['sessions', 'list', '--source', 'talaria'], home).sessions[0];
    const chat = spawnSync(bin, ['sessions', 'resume', own.id], { env: { ...home.env, PATH: '/nowhere' }, input: '/quit\n', encoding: 'utf8' });
    assert.equal(chat.status, 0, chat.stderr);
    assert.match(chat.stdout + chat.stderr, /hello there/);
  });

  test('a program that is not installed, a folder that is gone: said in words', () => {
    const cwd = path.join(home.dir, 'gone');
    claudeSession(home, '22222222-aaaa-4aaa-8aaa-000000000001', cwd);
    const missing = run(['sessions', 'resume', '22222222'], { env: { ...home.env, PATH: '/nowhere' } });
    assert.equal(missing.code, 3);
    assert.match(missing.stderr, /'claude' is not on PATH; install it, or continue here: talaria chat --resume 22222222-aaaa/);
    const { env } = obey(home, 'true');
    const gone = run(['sessions', 'resume', '22222222'], { env });
    assert.notEqual(gone.code, 0);
    assert.match(gone.stderr, /cannot enter '.*\/gone', the session's folder/);
  });

  test('a shell reads hostile folders as one word', () => {
    const names = ['it\'s $(touch pwned)', '`touch pwned`; touch pwned', 'a "b" \\ c & d | e > f', '-rf', 'ü *?[x]~'];
    names.forEach((name, i) => {
      const cwd = path.join(home.dir, 'hostile', name);
      fs.mkdirSync(cwd, { recursive: true });
      const id = `3333333${i}-aaaa-4aaa-8aaa-000000000001`;
      claudeSession(home, id, cwd);
      const line = runJson(['sessions', 'show', id], home).resume_command;
      assert.deepEqual(obey(home, line).lines, [`claude ${cwd} `, '--resume', id]);
      assert.equal(fs.existsSync(path.join(home.dir, 'pwned')), false);
      assert.equal(fs.existsSync(path.join(cwd, 'pwned')), false);
    });
    claudeSession(home, '44444444-aaaa-4aaa-8aaa-000000000001', '/tmp/\u001b[2J\nrm -rf x');
    const line = runJson(['sessions', 'show', '44444444'], home).resume_command;
    assert.equal(line, 'claude --resume 44444444-aaaa-4aaa-8aaa-000000000001');
  });

  test('profiles and given homes of Hermes are named', () => {
    makeStateDb(path.join(home.hermes, 'profiles/work/state.db'), { sessions: 3, seed: 7, extra: ['--no-edge'] });
    fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
    fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), 'homes:\n  profiles: true\n');
    const s = runJson(['sessions', 'list', '--limit', '0'], home).sessions.find((x) => x.home === 'hermes/work');
    assert.equal(s.resume_command, `hermes --profile work --resume ${s.id}`);
    const given = runJson(['sessions', 'list', '--home', home.hermes], home).sessions[0];
    assert.equal(given.resume_command, `env HERMES_HOME=${home.hermes} hermes --resume ${given.id}`);
    assert.deepEqual(obey(home, given.resume_command).lines, [`hermes ${home.dir} ${home.hermes}`, '--resume', given.id]);
  });

  test('sessions of the demo go on in the demo', () => {
    const other = tmpHome();
    assert.equal(run(['demo'], other).code, 0);
    const all = runJson(['--demo', 'sessions', 'list', '--limit', '0'], other).sessions;
    assert.ok(all.length);
    for (const s of all) assert.equal(s.resume_command, `talaria --demo chat --resume ${s.id}`);
    const s = all.find((x) => x.origin === 'claude');
    const r = spawnSync(bin, ['--demo', 'sessions', 'resume', s.id], { env: other.env, input: '/quit\n', encoding: 'utf8' });
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stdout + r.stderr, new RegExp(`session ${s.id}`));
  });
});
