// Questions about the history, answered from data without a model: on a history of Claude Code and Codex that is
// nothing like the demo.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gateway } from './handoffs.mjs';
import { run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const NOW = Date.UTC(2026, 10, 18, 12) / 1000; // a Wednesday
const day = (d, hour = 10) => Date.UTC(2026, 10, d, hour);
const uuid = (n) => `0000abcd-0000-4000-8000-${String(n).padStart(12, '0')}`;
const u = (text) => ({ user: text }), a = (text) => ({ agent: text });
const cmd = (command, result, failed = false) => ({ command, result, failed });

function write(file, lines) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, lines.map((l) => JSON.stringify(l) + '\n').join(''));
}

function claude(home, n, at, cwd, items) {
  const base = { sessionId: uuid(n), cwd, version: '2.1.0', gitBranch: 'main', isSidechain: false, userType: 'external', entrypoint: 'cli' };
  write(path.join(home.user, '.claude/projects', cwd.replaceAll('/', '-'), `${uuid(n)}.jsonl`), items.flatMap((x, i) => {
    const meta = (k) => ({ ...base, uuid: `${n}-${i}-${k}`, parentUuid: null, timestamp: new Date(at + i * 1000).toISOString() });
    if (x.user) return [{ ...meta(0), type: 'user', message: { role: 'user', content: x.user } }];
    if (x.agent) return [{ ...meta(0), type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: x.agent }] } }];
    return [{ ...meta(0), type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}${i}`, name: 'Bash', input: { command: x.command, description: 'x' } }] } },
      { ...meta(1), type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}${i}`, content: x.result, is_error: x.failed }] } }];
  }));
}

function codex(home, n, at, cwd, items) {
  const stamp = (i) => new Date(at + i * 1000).toISOString();
  const message = (role, text, i) => ({ timestamp: stamp(i), type: 'response_item', payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] } });
  const d = new Date(at);
  const folder = path.join(home.user, '.codex/sessions', String(d.getUTCFullYear()), String(d.getUTCMonth() + 1).padStart(2, '0'), String(d.getUTCDate()).padStart(2, '0'));
  write(path.join(folder, `rollout-${stamp(0).slice(0, 19).replaceAll(':', '-')}-${uuid(n)}.jsonl`), [
    { timestamp: stamp(0), type: 'session_meta', payload: { id: uuid(n), timestamp: stamp(0), cwd, originator: 'codex_cli_rs', cli_version: '0.166.0', source: 'cli' } },
    ...items.flatMap((x, i) => (x.user ? [message('user', x.user, i)] : x.agent ? [message('assistant', x.agent, i)] : [
      { timestamp: stamp(i), type: 'response_item', payload: { type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd: x.command }), call_id: `c${n}${i}` } },
      { timestamp: stamp(i), type: 'response_item', payload: { type: 'function_call_output', call_id: `c${n}${i}`, output: JSON.stringify({ output: x.result, metadata: { exit_code: x.failed ? 2 : 0 } }) } },
    ]))]);
}

function history(t) {
  const home = tmpHome(t);
  home.env.TALARIA_NOW = String(NOW);
  claude(home, 1, day(10), '/srv/hangar', [u('the boarding gate crashes when a ticket has no seat'), a('Let me look at the gate.'), cmd('cd /srv/hangar && cargo test gate', 'error[E0308]: mismatched types', true),
    cmd('cargo test gate', 'ok'), a('Fixed: the gate treats a missing seat as standing room. All 31 tests pass.'), u('thanks!'), a('Glad to help.')]);
  codex(home, 2, day(11), '/srv/hangar', [u('why do the nightly imports take an hour?'), cmd('cargo test import', 'error[E0425]: cannot find value `x`', true), cmd('psql -c "select 1"', 'FATAL: role "etl" does not exist', true),
    a('I have not found the reason yet; the query plan needs a look.')]);
  claude(home, 3, day(12), '/srv/atlas', [u('should the tiles be stored in Postgres or in files?'), a('Both work. Files are simpler to serve.'), u('ok, we go with plain files for the tiles, because the CDN can serve them'), a('Understood. Tiles are files from now on.')]);
  claude(home, 4, day(13), '/srv/atlas', [u('legend colours are wrong in dark mode'), cmd('npm run lint', 'ok'), a('The cause was a hard-coded white. The legend now works in both themes.'), u("no, that's still broken"), a('I see it too, the cache had the old style sheet.')]);
  // Another week, another month.
  codex(home, 5, day(17), '/srv/hangar', [u('rename the gate module'), cmd('cargo test gate', 'error[E0308]: mismatched types', true), a('Renamed.')]);
  claude(home, 6, Date.UTC(2026, 8, 2), '/srv/atlas', [u('import the old maps'), a('Done: 14 maps.')]);
  return home;
}

const ask = (home, question) => {
  const r = run(['ask', question], { env: home.env });
  assert.equal(r.code, 0, r.stderr);
  return r.stdout;
};
const links = (text) => [...text.matchAll(/\[((?:[^\]\\]|\\.)*)\]\(\/sessions\/([^)]+)\)/g)].map((m) => [m[1], m[2]]);

test('what did I work on: the sessions of the period by project, with titles, dates and counts', (t) => {
  const home = history(t);
  for (const question of ['What did I work on last week?', 'can you show me what we did last week', 'which projects did I work on last week?']) {
    const text = ask(home, question);
    assert.match(text, /4 sessions in 2 projects \(last week, 2026-11-09 to 2026-11-15\):/, question);
    assert.match(text, /\*\*hangar\*\*: 2 sessions, \d+ messages/);
    assert.match(text, /\*\*atlas\*\*: 2 sessions/);
    assert.deepEqual(links(text).map((l) => l[1]).sort(), [1, 2, 3, 4].map(uuid));
    assert.match(text, /\[the boarding gate crashes when a ticket has no seat\]\(\S+\), 2026-11-10, \d+ messages/);
    assert.doesNotMatch(text.replaceAll(/\(\/sessions\/[^)]+\)/g, ''), /0000abcd/, 'no raw ids');
  }
  assert.match(ask(home, 'what did I do yesterday?'), /1 session in 1 project \(yesterday, 2026-11-17\)[^]*rename the gate module/);
  assert.match(ask(home, 'what did we work on in September?'), /1 session in 1 project \(September, 2026-09-01 to 2026-09-30\)[^]*import the old maps/);
  assert.match(ask(home, 'what did I work on in the atlas project last week?'), /2 sessions in 1 project/);
  assert.match(ask(home, 'what did I work on in August?'), /No session of yours falls into this period \(August, 2026-08-01 to 2026-08-31\)/);
  assert.match(ask(home, 'what did I work on last week?'), /^[^]*4 sessions/, 'questions about the history are not work');
});

test('which commands failed most: counted by command, with share, error and a link', (t) => {
  const home = history(t);
  for (const question of ['Which commands failed most often, and why?', 'what failed most often?', 'top failing commands']) {
    const text = ask(home, question);
    assert.match(text, /4 of 6 tool calls failed \(66\.7 %\), in 3 of 6 sessions \(whole history\)/, question);
    assert.match(text, /1\. `cargo test` failed 3 times \(75 % of all failures\) in 3 sessions\. Most often \(2 of 3\): `error\[E0308\]: mismatched types`, last in \[rename the gate module\]\(\S+\), 2026-11-17/);
    assert.match(text, /2\. `psql` failed 1 time \(25 % of all failures\) in 1 session\. Error: `FATAL: role "etl" does not exist`/);
  }
  assert.match(ask(home, 'what failed last week?'), /3 of 5 tool calls/);
  assert.match(ask(home, 'what failed in September?'), /No tool call failed in 1 session/);
});

test('what was decided: statements of people first hand, newest first, with title and date', (t) => {
  const home = history(t);
  for (const question of ['What was decided about the tiles?', 'why did we choose files for the tiles?', 'remind me what we decided about tiles', 'Find what was decided about the tiles']) {
    const text = ask(home, question);
    assert.match(text, /1 decision about "/, question);
    assert.match(text, /2026-11-12, you, in \[should the tiles be stored in Postgres or in files\?\]/);
    assert.match(text, /> ok, we go with plain files for the tiles, because the CDN can serve them/);
  }
  assert.match(ask(home, 'what was decided about zeppelins?'), /No message states a decision about "zeppelins", in 6 sessions/);
});

test('what was fixed: final answers that say so, unless the user said otherwise', (t) => {
  const home = history(t);
  for (const question of ['what did we fix last week?', 'which bugs did we fix last week?', 'what was fixed last week']) {
    const text = ask(home, question);
    assert.match(text, /1 of 4 sessions says that something was fixed \(last week, 2026-11-09 to 2026-11-15\)/, question);
    assert.match(text, /> Fixed: the gate treats a missing seat as standing room\./);
    assert.doesNotMatch(text, /legend/, 'the user said that it was not');
    assert.equal(text.split('> Fixed').length, 2, 'once');
  }
  assert.match(ask(home, 'what did we fix today?'), /0 of 0 sessions say that something was fixed \(today, 2026-11-18\)\./);
});

test('passages: each once, results before narration, no answer of ours again', (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 4; n++) {
    claude(home, n, day(n), '/srv/x', [u(`round ${n}`), a('I will replay the seat vouchers against the new rule.'), cmd('true', 'ok'), a(`Round ${n} is over.`)]);
  }
  claude(home, 9, day(1), '/srv/x', [u('and the seat vouchers?'), a('The new rule gives seat vouchers to 12 people.')]);
  const text = ask(home, 'tell me about seat vouchers and the new rule');
  assert.match(text, /gives seat vouchers to 12 people/);
  assert.doesNotMatch(text, /I will replay/, 'narration only for want of anything better');
  const again = ask(home, 'tell me about the seat vouchers and the rule');
  assert.doesNotMatch(again, /> .*No model is configured/);
});

test('hostile titles and errors stay text', (t) => {
  const home = tmpHome(t);
  home.env.TALARIA_NOW = String(NOW);
  claude(home, 1, day(11), '/srv/x', [u('](javascript:alert(1)) [x \u001b[31mred `code` <script>'), cmd('rm "`x`"', 'Error: `oops` \u001b[2J', true), a('ok')]);
  for (const question of ['what did I work on last week?', 'what failed most often?']) {
    const text = ask(home, question);
    assert.doesNotMatch(text, /\u001b/);
    assert.equal(links(text).length, 1, text);
    assert.doesNotMatch(text, /[^\\]\]\(javascript/);
  }
});

test('in a conversation its own turns come first', (t) => {
  const home = history(t);
  const first = run(['ask', '--json', 'the door code of the hangar is kept in the blue binder'], { env: home.env });
  const id = JSON.parse(first.stdout.split('\n')[0]).data.conversation_id;
  const r = run(['ask', '-c', id, 'what did I work on last week?'], { env: home.env });
  assert.match(r.stdout, /4 sessions in 2 projects/, 'a period is never this conversation alone');
});

test('a session that was handed over is known to the offline runtime', { timeout: 60_000 }, async (t) => {
  const home = history(t);
  const g = await gateway(home.env);
  t.after(() => g.end('SIGKILL'));
  const { session_id: id } = runJson(['handoff', 'local', '--session', uuid(3)], { env: home.env });
  const back = run(['handoff', 'back', '--session', id], { env: home.env });
  assert.equal(back.code, 0, back.stderr);
  for (const question of ['what is this session about?', 'what did we do?', 'summarize this conversation', 'what did we do in this session?', 'What have we done in our chat']) {
    const r = run(['ask', '-c', id, question], { env: home.env });
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stdout, /This session has 2 requests\. It began with:/, question);
    assert.match(r.stdout, /> should the tiles be stored in Postgres or in files\?/);
    assert.match(r.stdout, /> ok, we go with plain files for the tiles/);
  }
  const own = run(['ask', '-c', id, 'who serves the tiles, the CDN?'], { env: home.env });
  assert.match(own.stdout, /In this session, \d{4}-\d\d-\d\d, you:\n\n> ok, we go with plain files for the tiles, because the CDN can serve them/);
  assert.match(run(['ask', '-c', id, 'what did I work on last week?'], { env: home.env }).stdout, /\d sessions in 2 projects/, 'a period is never this conversation alone');
});

test('on a terminal links are titles, with a short id below that the command takes', async (t) => {
  const home = history(t), other = 'feedbeef-0000-4000-8000-000000000001';
  const file = path.join(home.user, '.claude/projects/-srv-hangar', `${uuid(1)}.jsonl`);
  fs.writeFileSync(file.replace(uuid(1), other), fs.readFileSync(file, 'utf8').replaceAll(uuid(1), other));
  fs.rmSync(file);
  run(['index'], { env: home.env });
  const term = terminal(t, ['ask', 'what did I work on last week?'], { env: { ...home.env, TERM: 'xterm' } });
  assert.equal(await term.exited, 0);
  const text = term.screen.text();
  assert.match(text, /the boarding gate crashes when a ticket has no seat \[\d\]/);
  const opens = [...text.matchAll(/^\[\d\] talaria sessions show (\S+)$/gm)].map((m) => m[1]);
  assert.equal(opens.length, 4, text);
  assert.ok(opens.includes('feedbeef'), text);
  const ids = opens.map((short) => runJson(['sessions', 'show', short], { env: home.env }).id);
  assert.deepEqual(ids.sort(), [...[2, 3, 4].map(uuid), other]);
});
