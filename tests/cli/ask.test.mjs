// talaria ask as a user meets it: on the demo with nothing configured, with a model, with a file, with Ctrl-C.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fakeHermes } from '../fakes/hermes.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { bin, fillHome, fixtures, run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const lines = (stdout) => stdout.trim().split('\n').map((line) => JSON.parse(line));

/** Like run, without holding up the servers of this very process. */
function start(args, { env, cwd, signalAt } = {}) {
  const child = spawn(bin, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const r = { stdout: '', stderr: '', child };
  child.stdout.on('data', (d) => { r.stdout += d; if (signalAt && r.stdout.includes(signalAt)) { signalAt = undefined; child.kill('SIGINT'); } });
  child.stderr.on('data', (d) => (r.stderr += d));
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ ...r, code, signal })));
}

test('nothing configured: passages of the history, quoted, dated and linked; or that there are none', () => {
  const { env } = tmpHome();
  fillHome(env, '2026-11-15');
  let r;
  do r = run(['ask', 'which test was red on main?'], { env });
  while (/Search index \d+ % complete/.test(r.stdout)); // a slow machine
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stdout, /^No model is configured \(run 'talaria setup' to add one\)\. This is what your own history says:\n/);
  const heads = [...r.stdout.matchAll(/^\d\. (\d{4}-\d\d-\d\d), (you|the agent), in \[(.+)\]\(\/sessions\/(\S+)\)$/gm)];
  assert.ok(heads.length >= 1 && heads.length <= 5, r.stdout);
  for (const [, , , title, id] of heads) {
    assert.ok(!title.includes(id), 'a title, no id');
    assert.equal(runJson(['sessions', 'show', id], { env }).session?.id ?? id, id);
  }
  assert.match(r.stdout, /^> .*test/m);
  const none = run(['ask', 'xyzzy plugh quux?'], { env });
  assert.equal(none.stdout, "No model is configured (run 'talaria setup' to add one), and nothing in your history answers this.\n");
  // Asked again, the first time is no answer.
  run(['index'], { env });
  assert.equal(run(['ask', 'xyzzy plugh quux?'], { env }).stdout, none.stdout);
  assert.doesNotMatch(run(['ask', 'which test was red on main?'], { env }).stdout, /^> No model/m);
});

test('--json prints the five events; the conversation goes on with -c', async (t) => {
  const fake = await fakeModel(t, (q, n) => ({ text: `answer ${n}` }));
  const { env } = tmpHome();
  const all = { ...env, ...fake.env };
  const first = await start(['ask', '--json', 'one'], { env: all });
  assert.equal(first.code, 0, first.stderr);
  const events = lines(first.stdout);
  assert.match(events.map((e) => e.event[0]).join(''), /^m[pc]*d$/);
  assert.equal(events.filter((e) => e.event === 'chunk').map((e) => e.data.text).join(''), 'answer 1');
  const second = await start(['ask', '-c', events[0].data.conversation_id, 'two'], { env: all });
  assert.equal(second.stdout, 'answer 2\n');
  assert.deepEqual(fake.turns[1].messages.map((m) => m.text), ['one', 'answer 1', 'two']);
});

test('a file reaches the model, and the Hermes', async (t) => {
  const fake = await fakeModel(t);
  const { env, dir } = tmpHome();
  const file = path.join(dir, 'wörds.txt');
  fs.writeFileSync(file, 'the word is ```sesame```\n');
  const r = await start(['ask', '-f', file, 'what is the word?'], { env: { ...env, ...fake.env } });
  assert.equal(r.code, 0, r.stderr);
  assert.match(fake.turns[0].messages[0].text, /wörds\.txt[^]*the word is ```sesame```[^]*what is the word\?$/);
  const hermes = await start(['ask', '-r', 'hermes', '-f', file, 'what is the word?'], { env: { ...env, ...(await fakeHermes(t)).env } });
  assert.equal(hermes.code, 0, hermes.stderr);
  assert.match(hermes.stdout, /the word is ```sesame```/); // it says again what it was told
  assert.match(run(['ask', '-r', 'offline', '-f', file, 'what is the word?'], { env }).stdout, /1 file is kept, not read\./);
  const conversations = () => new DatabaseSync(path.join(env.TALARIA_HOME, 'talaria.db')).prepare('SELECT count(*) AS n FROM conversation').get().n;
  const before = conversations(), files = fs.readdirSync(path.join(env.TALARIA_HOME, 'files')).length;
  const missing = run(['ask', '-f', file, '-f', path.join(dir, 'none.txt'), 'x'], { env });
  assert.equal(missing.code, 3);
  assert.equal(run(['ask', ' '], { env }).code, 1);
  assert.deepEqual([conversations(), fs.readdirSync(path.join(env.TALARIA_HOME, 'files')).length], [before, files], 'what is refused leaves nothing behind');
});

test('Ctrl-C ends the turn: what was said is kept, the exit code is 130', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'begun and then nothing more', hang: true }));
  const { env } = tmpHome();
  const r = await start(['ask', '--json', 'go'], { env: { ...env, ...fake.env }, signalAt: '"chunk"' });
  assert.equal(r.code, 130, r.stderr);
  const events = lines(r.stdout);
  assert.equal(events.at(-1).data.status, 'cancelled');
  assert.ok(!events.some((e) => e.event === 'error'));
  const id = events[0].data.conversation_id;
  const shown = run(['sessions', 'show', id], { env });
  assert.match(shown.stdout, /begun a/);
});

test('a template at the beginning: as messages for a model, fenced for a Hermes; none where none is named', async (t) => {
  const fake = await fakeModel(t);
  const { env } = tmpHome();
  fillHome(env, '2026-11-15');
  assert.equal(run(['templates', 'harvest'], { env }).code, 0);
  const name = runJson(['templates', 'list'], { env }).templates[0].name;
  const all = { ...env, ...fake.env };
  const r = await start(['ask', '--json', '--template', name, 'do it again'], { env: all });
  assert.equal(r.code, 0, r.stderr);
  const { messages, system } = fake.turns[0];
  assert.ok(messages.some((m) => m.role === 'assistant' && m.calls.length), JSON.stringify(messages).slice(0, 300));
  assert.ok(messages.some((m) => m.role === 'tool'));
  assert.equal(messages.at(-1).text, 'do it again');
  assert.match(system, /template/i);
  await start(['ask', '-c', lines(r.stdout)[0].data.conversation_id, 'and again'], { env: all });
  assert.equal(fake.turns[1].messages.filter((m) => m.role === 'tool').length, messages.filter((m) => m.role === 'tool').length);
  await start(['ask', 'plain'], { env: all });
  assert.deepEqual(fake.turns[2].messages.map((m) => m.role), ['user']);
  const auto = await start(['ask', '--json', '--template', 'auto', 'write a commit message'], { env: all });
  assert.equal(auto.code, 0, auto.stderr);
  assert.ok(fake.turns[3].messages.length > 1);
  const told = (r) => lines(r.stdout).filter((e) => e.event === 'progress' && e.data.label === 'template').map((e) => [e.data.status, e.data.detail]);
  const names = runJson(['templates', 'list'], { env }).templates.map((t) => t.name);
  assert.equal(told(auto).length, 1);
  assert.ok(told(auto)[0][0] === 'completed' && names.includes(told(auto)[0][1]), 'which one it was');
  const bare = tmpHome();
  const without = await start(['ask', '--json', '--template', 'auto', 'x'], { env: { ...bare.env, ...fake.env } });
  assert.equal(without.code, 0, without.stderr);
  assert.equal(told(without)[0]?.[0], 'degraded');
  assert.match(told(without)[0][1], /no templates yet/);
  const unknown = await start(['ask', '--template', 'no-such-template', 'x'], { env: all });
  assert.equal(unknown.code, 3);
  const late = run(['ask', '-c', lines(r.stdout)[0].data.conversation_id, '--template', name, 'x'], { env });
  assert.equal(late.code, 2);
});

test('Markdown is drawn on a terminal and stays Markdown in a pipe', async (t) => {
  const fake = await fakeModel(t, () => ({ text: '**Done**: see [The gate](/sessions/abc-1) and `make`.\n\n- one\n' }));
  const { env } = tmpHome();
  const all = { ...env, ...fake.env };
  const piped = await start(['ask', 'go'], { env: all });
  assert.equal(piped.stdout, '**Done**: see [The gate](/sessions/abc-1) and `make`.\n\n- one\n\n');
  const term = terminal(t, ['ask', 'go'], { env: { ...all, TERM: 'xterm' } });
  assert.equal(await term.exited, 0);
  assert.match(term.screen.text(), /Done: see The gate \[1\] and make\.\n\n• one\n\n\[1\] talaria sessions show abc-1$/);
  const dumb = terminal(t, ['ask', 'go'], { env: { ...all, TERM: 'dumb' } });
  assert.equal(await dumb.exited, 0);
  assert.match(dumb.screen.text(), /\*\*Done\*\*/);
});

test('one question is kept apart: no list, search or count shows it, until it is continued', () => {
  const { env } = tmpHome();
  const listed = (...args) => runJson(['sessions', 'list', ...args], { env }).sessions.map((s) => s.id);
  const r = run(['ask', '--json', '-r', 'offline', 'quagmire of pelicans'], { env });
  assert.equal(r.code, 0, r.stderr);
  const id = lines(r.stdout)[0].data.conversation_id;
  const found = () => runJson(['sessions', 'search', 'pelicans'], { env }).hits.length;
  const counted = () => runJson(['status'], { env }).sources.find((s) => s.name === 'talaria').sessions;
  assert.deepEqual([listed(), listed('--source', 'talaria'), listed('--source', 'ask'), found(), counted()], [[], [], [id], 0, 0]);
  assert.equal(run(['sessions', 'show', id], { env }).code, 0);
  assert.equal(run(['ask', '-r', 'offline', '-c', id, 'and storks?'], { env }).code, 0);
  assert.deepEqual([listed(), listed('--source', 'ask'), counted()], [[id], [], 1]);
  assert.ok(found() > 0);
});

test('a question that failed leaves no session, and says what to do without naming a code', () => {
  const { env } = tmpHome();
  const none = { ...env, PATH: '/nonexistent', TALARIA_HERMES_BASE_URL: 'http://127.0.0.1:1' };
  for (const [runtime, words] of [
    ['claude', /^talaria: Claude Code not found \('claude' is not on PATH\); install it or set claude\.bin$/m],
    ['codex', /^talaria: Codex not found \('codex' is not on PATH\); install it or set codex\.bin$/m],
    ['hermes', /^talaria: Hermes does not answer at http:\/\/127\.0\.0\.1:1 \(.*\); start its API server .*'hermes gateway'\) or set hermes\.base_url$/m],
    ['native', /no model is configured; run 'talaria setup', or 'talaria config set model\.base_url URL'/],
  ]) {
    const r = run(['ask', '-r', runtime, 'hi'], { env: none });
    assert.notEqual(r.code, 0);
    assert.match(r.stderr, words);
    assert.doesNotMatch(r.stderr, /runtime_unavailable/);
  }
  const rows = new DatabaseSync(path.join(env.TALARIA_HOME, 'talaria.db')).prepare('SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM run) AS n').get();
  assert.equal(rows.n, 0);
  const json = run(['ask', '--json', '-r', 'claude', 'hi'], { env: none });
  assert.equal(lines(json.stdout).find((e) => e.event === 'error').data.code, 'runtime_unavailable', 'programs still get the code');
});

/** A program in the place of Claude Code that says what was recorded of one: words, a tool, words. */
function recordedClaude(dir) {
  const program = path.join(dir, 'claude');
  fs.writeFileSync(program, `#!/bin/sh\ncat >/dev/null\ncat '${path.join(fixtures, 'runtimes/claude_ok.jsonl')}'\n`, { mode: 0o755 });
  return { TALARIA_CLAUDE_BIN: program };
}

test('what is said before and after a tool stands apart: in a pipe, in the session, for the next runtime', async (t) => {
  const { dir, env } = tmpHome();
  const fake = await fakeModel(t, () => ({ text: 'fine' }));
  const all = { ...env, ...fake.env, ...recordedClaude(dir) };
  const words = 'Let me look.\n\nThe note says hello, wörld 你好.';
  const r = await start(['ask', '-r', 'claude', 'read the note'], { env: all });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, `${words}\n`);
  const id = /conversation (\S+)/.exec(r.stderr)[1];
  assert.match(run(['sessions', 'show', id], { env: all }).stdout, /Let me look\.\s*\n\s*\n\s*The note says/);
  assert.equal((await start(['ask', '-r', 'native', '-c', id, 'and now?'], { env: all })).code, 0);
  const told = JSON.stringify(fake.turns.at(-1));
  assert.ok(told.includes('The note says') && !told.includes('look.The note'), told);
});

test('on a terminal, notes of tools have lines of their own', async (t) => {
  for (const TERM of ['xterm', 'dumb']) {
    const { dir, env } = tmpHome();
    const it = terminal(t, ['ask', '-r', 'claude', 'read the note'], { env: { ...env, ...recordedClaude(dir), TERM } });
    await it.exited;
    const lines = it.screen.text().split('\n').filter((line) => line && !line.includes('conversation'));
    assert.deepEqual(lines, ['Let me look.', 'talaria: Bash: started', 'talaria: Bash: completed', 'The note says hello, wörld 你好.'], TERM);
  }
});

test('that the question itself is indexed by now changes nothing of what is recalled for it', () => {
  const home = tmpHome();
  fillHome(home.env, '2026-11-15');
  run(['index'], home);
  const words = 'Look up how we fixed the failing test, then write release notes into notes/release.md; meanwhile check src/shop/cart.py';
  const db = () => new DatabaseSync(path.join(home.env.TALARIA_HOME, 'talaria.db'));
  const recalled = () => JSON.parse(Buffer.from(db().prepare("SELECT body FROM attachment WHERE kind = 'context_receipt' ORDER BY rowid").all().at(-1).body).toString()).receipts.filter((r) => r.kind === 'recalled');
  assert.equal(run(['chat', '-r', 'offline'], { ...home, input: `${words}\n` }).code, 0);
  const before = recalled();
  assert.ok(before.length > 0);
  run(['index'], home);
  const { id } = db().prepare('SELECT conversation_id AS id FROM run').get();
  assert.equal(run(['ask', '-r', 'offline', '-c', id, words], home).code, 0);
  assert.deepEqual(recalled(), before);
});

test('a question needs no quotes: several words are one', async (t) => {
  const fake = await fakeModel(t);
  const { env } = tmpHome();
  const r = await start(['ask', 'what', 'did', 'I', 'work', 'on'], { env: { ...env, ...fake.env } });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(fake.turns[0].messages.at(-1).text, 'what did I work on');
});
