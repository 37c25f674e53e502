// Runtimes as a user sees them: recorded streams of real programs through their adapters, and a Hermes
// (a fake) over HTTP in all its dialects, with what can go wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fakeHermes } from '../fakes/hermes.mjs';
import { bin, fillHome, fixtures, run, tmpHome } from './helpers.mjs';

const recordings = path.join(fixtures, 'runtimes');
const names = ['metadata', 'progress', 'chunk', 'error', 'done'];

/** Checks what holds for every stream of events: grammar, numbers, offsets, sizes. */
function check(stdout) {
  const events = stdout.trim().split('\n').map((line) => JSON.parse(line));
  const kinds = events.map((e) => e.event);
  assert.ok(kinds.every((k) => names.includes(k)), kinds.join(' '));
  assert.match(kinds.map((k) => k[0]).join(''), /^m[pc]*e?d$/);
  events.forEach((e, i) => assert.equal(e.data.seq, i + 1));
  const chunks = events.filter((e) => e.event === 'chunk').map((e) => e.data);
  let offset = 0, segment = 0;
  for (const c of chunks) {
    assert.equal(c.offset, offset);
    assert.ok(c.segment === segment || c.segment === segment + 1);
    segment = c.segment;
    offset += Buffer.byteLength(c.text);
  }
  const done = events.at(-1).data;
  const error = events.find((e) => e.event === 'error')?.data;
  assert.equal(done.chars, offset);
  assert.equal(done.segments, chunks.length ? segment + 1 : 0);
  assert.equal(done.status === 'failed', error !== undefined);
  if (error) assert.equal(error.chars, offset);
  return { events, text: chunks.map((c) => c.text).join(''), done, error, segments: done.segments,
    progress: (stage) => events.filter((e) => e.event === 'progress' && e.data.stage === stage).map((e) => e.data) };
}

describe('recordings', () => {
  const part = 'This is a part';
  const rows = [
    // file, runtime, dialect, status, error code, text
    ['claude_ok.jsonl', 'claude', '', 'completed', null, 'Let me look.\n\nThe note says hello, wörld 你好.'],
    ['claude_400.jsonl', 'claude', '', 'failed', 'runtime_rejected', ''],
    ['claude_401.jsonl', 'claude', '', 'failed', 'runtime_auth', ''],
    ['claude_529.jsonl', 'claude', '', 'failed', 'upstream_error', ''],
    ['claude_cut.jsonl', 'claude', '', 'failed', 'stream_truncated', part],
    ['claude_error.jsonl', 'claude', '', 'failed', 'stream_truncated', part],
    ['claude_refused.jsonl', 'claude', '', 'failed', 'upstream_error', ''],
    ['claude_bad_resume.jsonl', 'claude', '', 'failed', 'continuity_lost', ''],
    ['claude_refusal.jsonl', 'claude', '', 'failed', 'runtime_rejected', 'Half of it\n\nHalf of it'],
    // Cut off, it goes on in the middle of a word, three times.
    ['claude_output_limit.jsonl', 'claude', '', 'truncated', null, 'Half of itHalf of itHalf of itHalf of it'],
    ['claude_sigint.jsonl', 'claude', '', 'cancelled', null, part],
    ['codex_exec_ok.jsonl', 'codex', 'exec', 'completed', null, 'The note says hello, wörld 你好.'],
    ['codex_exec_400.jsonl', 'codex', 'exec', 'failed', 'runtime_rejected', ''],
    ['codex_exec_401.jsonl', 'codex', 'exec', 'failed', 'runtime_auth', ''],
    ['codex_exec_cut.jsonl', 'codex', 'exec', 'failed', 'stream_truncated', ''],
    ['codex_exec_error.jsonl', 'codex', 'exec', 'failed', 'stream_truncated', ''],
    ['codex_exec_refused.jsonl', 'codex', 'exec', 'failed', 'stream_truncated', ''],
    ['codex_exec_sigint.jsonl', 'codex', 'exec', 'failed', 'stream_truncated', ''],
    ['codex_exec_bad_resume.jsonl', 'codex', 'exec', 'failed', 'runtime_unavailable', ''],
    ['codex_app_ok.jsonl', 'codex', 'app-server', 'completed', null, 'The note says hello, wörld 你好.'],
    ['codex_app_approval.jsonl', 'codex', 'app-server', 'completed', null, 'The note says hello, wörld 你好.'],
    ['codex_app_400.jsonl', 'codex', 'app-server', 'failed', 'runtime_rejected', ''],
    ['codex_app_cut.jsonl', 'codex', 'app-server', 'failed', 'stream_truncated', part],
    ['hermes_chat_ok.sse', 'hermes', 'chat', 'completed', null, 'This is the stand-in for a Hermes, turn 1. You said: use a tool, wörld 你好'],
    ['hermes_chat_400.sse', 'hermes', 'chat', 'failed', 'empty_response', ''],
    ['hermes_chat_cut.sse', 'hermes', 'chat', 'failed', 'stream_truncated', 'This is the '],
    ['hermes_chat_empty.sse', 'hermes', 'chat', 'failed', 'empty_response', ''],
    ['hermes_responses_ok.sse', 'hermes', 'responses', 'completed', null, 'This is the stand-in for a Hermes, turn 1. You said: use a tool, wörld 你好'],
    ['hermes_responses_400.sse', 'hermes', 'responses', 'failed', 'runtime_rejected', ''],
    ['hermes_responses_cut.sse', 'hermes', 'responses', 'failed', 'stream_truncated', 'This is the '],
    ['hermes_responses_empty.sse', 'hermes', 'responses', 'failed', 'empty_response', ''],
    ['hermes_runs_ok.sse', 'hermes', 'runs', 'completed', null, 'This is the stand-in for a Hermes, turn 1. You said: use a tool, wörld 你好'],
    ['hermes_runs_400.sse', 'hermes', 'runs', 'failed', 'runtime_rejected', ''],
    ['hermes_runs_cut.sse', 'hermes', 'runs', 'failed', 'stream_truncated', 'This is the '],
    ['hermes_runs_empty.sse', 'hermes', 'runs', 'failed', 'empty_response', ''],
    ['hermes_session_ok.sse', 'hermes', 'session', 'completed', null, 'This is the stand-in for a Hermes, turn 1. You said: use a tool, wörld 你好'],
    ['hermes_session_400.sse', 'hermes', 'session', 'failed', 'runtime_rejected', ''],
    ['hermes_session_cut.sse', 'hermes', 'session', 'failed', 'stream_truncated', 'This is the '],
    ['hermes_session_empty.sse', 'hermes', 'session', 'failed', 'empty_response', ''],
    // Of a real Hermes whose model's server refused, said nothing, or was cut off at the limit and then failed.
    ['hermes_chat_fail400_real.sse', 'hermes', 'chat', 'failed', 'runtime_rejected', ''],
    ['hermes_chat_fail401_real.sse', 'hermes', 'chat', 'failed', 'runtime_auth', ''],
    ['hermes_chat_emptyit_real.sse', 'hermes', 'chat', 'failed', 'empty_response', ''],
    ['hermes_chat_lengthit_real.sse', 'hermes', 'chat', 'failed', 'upstream_error', 'too long text'],
    ['hermes_responses_fail400_real.sse', 'hermes', 'responses', 'failed', 'runtime_rejected', ''],
    ['hermes_responses_fail401_real.sse', 'hermes', 'responses', 'failed', 'runtime_auth', ''],
    ['hermes_responses_emptyit_real.sse', 'hermes', 'responses', 'failed', 'upstream_error', ''],
    ['hermes_responses_lengthit_real.sse', 'hermes', 'responses', 'failed', 'upstream_error', ''],
    ['hermes_runs_fail400_real.sse', 'hermes', 'runs', 'failed', 'runtime_rejected', ''],
    ['hermes_runs_fail401_real.sse', 'hermes', 'runs', 'failed', 'runtime_auth', ''],
    ['hermes_runs_emptyit_real.sse', 'hermes', 'runs', 'failed', 'upstream_error', ''],
    ['hermes_runs_lengthit_real.sse', 'hermes', 'runs', 'failed', 'upstream_error', 'too long text'],
    ['hermes_session_fail400_real.sse', 'hermes', 'session', 'failed', 'runtime_rejected', ''],
    ['hermes_session_fail401_real.sse', 'hermes', 'session', 'failed', 'runtime_auth', ''],
    ['hermes_session_emptyit_real.sse', 'hermes', 'session', 'failed', 'upstream_error', ''],
    ['hermes_session_lengthit_real.sse', 'hermes', 'session', 'failed', 'upstream_error', 'too long text'],
  ];
  const { env } = tmpHome();
  for (const [file, runtime, dialect, status, code, text] of rows) {
    test(file, () => {
      const r = run(['debug', 'replay', '--runtime', runtime, ...(dialect ? ['--dialect', dialect] : []), path.join(recordings, file)], { env });
      assert.equal(r.code, 0, r.stderr);
      const seen = check(r.stdout);
      assert.equal(seen.done.status, status);
      assert.equal(seen.error?.code ?? null, code);
      assert.equal(seen.text, text);
      // Where text failed, the words of the failure are in the error and nowhere in the text.
      if (seen.error) assert.ok(!seen.text.includes('Error'), seen.text);
    });
  }

  test('tools are begun and ended, in a segment of their own', () => {
    const seen = check(run(['debug', 'replay', '--runtime', 'claude', path.join(recordings, 'claude_ok.jsonl')], { env }).stdout);
    assert.deepEqual(seen.progress('tool').map((p) => p.status), ['started', 'completed']);
    assert.equal(seen.progress('tool')[1].result_preview, 'hello from the note');
    assert.equal(seen.segments, 2);
  });

  test('warnings of codex are notices, tries are retries', () => {
    const seen = check(run(['debug', 'replay', '--runtime', 'codex', path.join(recordings, 'codex_exec_401.jsonl')], { env }).stdout);
    assert.equal(seen.progress('notice').length, 1);
    assert.equal(seen.progress('retry').length, 1);
    assert.equal(seen.error.http_status, 401);
  });

  test('codex: the limit of an answer is no failure; its version is a version', () => {
    const { dir } = tmpHome();
    const file = path.join(dir, 'turn.jsonl'), words = 'stream error: Incomplete response returned, reason: max_output_tokens';
    const replay = (dialect, ...lines) => {
      fs.writeFileSync(file, lines.map((l) => `${JSON.stringify(l)}\n`).join(''));
      return check(run(['debug', 'replay', '--runtime', 'codex', '--dialect', dialect, file], { env }).stdout);
    };
    const exec = replay('exec', { type: 'thread.started', thread_id: 't1' }, { type: 'item.completed', item: { type: 'agent_message', text: 'Half of it' } }, { type: 'turn.failed', error: { message: words } });
    assert.deepEqual([exec.done.status, exec.error, exec.text], ['truncated', undefined, 'Half of it']);
    const app = replay('app-server', { id: 1, result: { userAgent: 'talaria/0.166.0 (Debian 12.0.0; x86_64) xterm (talaria; 0.1.0)' } }, { id: 2, result: { thread: { id: 't1' }, model: 'm' } },
      { method: 'item/agentMessage/delta', params: { delta: 'Half of it' } }, { method: 'turn/completed', params: { turn: { status: 'failed', error: { message: words } } } });
    assert.deepEqual([app.done.status, app.error, app.text], ['truncated', undefined, 'Half of it']);
    assert.equal(app.progress('session')[0].runtime_version, '0.166.0');
    const other = replay('exec', { type: 'thread.started', thread_id: 't1' }, { type: 'turn.failed', error: { message: 'stream error: Incomplete response returned, reason: content_filter' } });
    assert.equal(other.done.status, 'failed');
  });

  test('the streams of a Hermes', () => {
    const { dir } = tmpHome();
    const chat = (delta, finish, more = {}) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
    const zero = { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } };
    const some = { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } };
    const runs = (...events) => events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join('') + ': stream closed\n\n';
    const cases = [
      ['chat', chat({ content: 'Hi.' }) + chat({}, 'stop', some) + 'data: [DONE]\n\n', 'completed', null, 'Hi.'],
      ['chat', chat({}, 'stop', zero) + 'data: [DONE]\n\n', 'failed', 'empty_response', ''],
      ['chat', chat({ content: 'Hi.' }) + chat({}, 'stop', zero) + 'data: [DONE]\n\n', 'truncated', null, 'Hi.'],
      ['chat', chat({ content: 'Hi.' }) + chat({}, 'stop', some), 'failed', 'stream_truncated', 'Hi.'],
      ['chat', chat({ content: 'Err' }) + chat({ content: 'or: Error code: 401' }) + chat({}, 'stop', zero) + 'data: [DONE]\n\n', 'failed', 'runtime_auth', ''],
      ['chat', chat({ content: 'Error: is a word' }) + chat({}, 'stop', some) + 'data: [DONE]\n\n', 'completed', null, 'Error: is a word'],
      ['runs', runs({ event: 'message.delta', delta: 'a' }, { event: 'reasoning.available', text: 'a' }, { event: 'tool.started', tool: 't' }, { event: 'tool.completed', tool: 't', duration: 1 }, { event: 'message.delta', delta: 'b' }, { event: 'run.completed', output: 'b', usage: { input_tokens: 1 } }), 'completed', null, 'a\n\nb'],
      ['runs', runs({ event: 'run.failed', error: 'Error code: 400 - no' }), 'failed', 'runtime_rejected', ''],
      ['runs', runs({ event: 'message.delta', delta: 'a' }, { event: 'run.cancelled' }), 'cancelled', null, 'a'],
      ['runs', runs({ event: 'tool.started', tool: 't' }, { event: 'run.completed', output: 'whole' }), 'completed', null, 'whole'],
    ];
    for (const [dialect, bytes, status, code, text] of cases) {
      const file = path.join(dir, 'turn.sse');
      fs.writeFileSync(file, bytes);
      const seen = check(run(['debug', 'replay', '--runtime', 'hermes', '--dialect', dialect, file], { env }).stdout);
      assert.deepEqual([seen.done.status, seen.error?.code ?? null, seen.text], [status, code, text], bytes);
      assert.equal(seen.progress('thinking').length, 0);
    }
  });

  test('whose words a turn of Hermes ends with is told by its structure', () => {
    const { dir } = tmpHome();
    const named = (...events) => events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('');
    const runs = (...events) => events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join('');
    const usage = (input, output) => ({ usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } });
    const session = (deltas, content, end) => named(['message.started', {}], ...deltas.map((delta) => ['assistant.delta', { delta }]),
      ['assistant.completed', { content, completed: true }], ['run.completed', { completed: true, ...end }], ['done', {}]);
    const responses = (deltas, end) => named(...deltas.map((delta) => ['response.output_text.delta', { type: 'response.output_text.delta', delta }]),
      ['response.completed', { type: 'response.completed', response: { id: 'r', status: 'completed', ...end } }]);
    const words = 'The moon is 384,400 km away.';
    const kept = { messages: [{ role: 'assistant', content: words }] };
    const cases = [
      // Streamed by a model server that counts no tokens: an answer.
      ['session', session(['The moon is ', '384,400 km away.'], words, { messages: [], ...usage(0, 0) }), 'completed', null, words],
      ['runs', runs({ event: 'message.delta', delta: words }, { event: 'run.completed', output: words, ...usage(0, 0) }), 'completed', null, words],
      ['responses', responses(['The moon is ', '384,400 km away.'], usage(0, 0)), 'completed', null, words],
      // Not streamed, but counted, or kept (an answer out of a cache), or nothing is known of either.
      ['session', session([], words, usage(9, 7)), 'completed', null, words],
      ['session', session([], words, { ...kept, ...usage(0, 0) }), 'completed', null, words],
      ['session', session([], words, {}), 'completed', null, words],
      ['session', session([], words, { usage: { input_tokens: 9 } }), 'completed', null, words],
      ['session', session([], words, { usage: { total_tokens: 16 } }), 'completed', null, words],
      ['runs', runs({ event: 'run.completed', output: words, ...usage(9, 7) }), 'completed', null, words],
      ['runs', runs({ event: 'run.completed', output: words }), 'completed', null, words],
      ['responses', responses([words], usage(9, 7)), 'completed', null, words],
      ['responses', responses([words], {}), 'completed', null, words],
      // Neither streamed nor counted nor kept: whatever the words are, they are not the model's.
      ['session', session([], words, { messages: [], ...usage(0, 0) }), 'failed', 'upstream_error', ''],
      ['session', session([], words, { messages: [] }), 'failed', 'upstream_error', ''],
      ['session', session([], words, usage(9, 0)), 'failed', 'upstream_error', ''],
      ['runs', runs({ event: 'run.completed', output: words, ...usage(0, 0) }), 'failed', 'upstream_error', ''],
      ['responses', responses([words], usage(0, 0)), 'failed', 'upstream_error', ''],
      ['runs', runs({ event: 'run.completed', output: 'HTTP 429: slow down', ...usage(0, 0) }), 'failed', 'rate_limited', ''],
      ['runs', runs({ event: 'run.completed', output: 'API call failed after 3 retries: HTTP 503: down', ...usage(0, 0) }), 'failed', 'upstream_error', ''],
      // The model broke off, and the end has other words than were streamed.
      ['session', session(['The moon ', 'is'], words.toUpperCase(), { messages: [], ...usage(0, 0) }), 'failed', 'upstream_error', 'The moon is'],
      // Hermes' mark for a model that said nothing, also where tokens of reasoning were counted.
      ['session', session([], '(empty)', { messages: [{ role: 'assistant', content: '(empty)' }], ...usage(9, 7) }), 'failed', 'empty_response', ''],
      ['runs', runs({ event: 'run.completed', output: '(empty)', ...usage(9, 7) }), 'failed', 'empty_response', ''],
      ['responses', responses(['(empty)'], usage(9, 7)), 'failed', 'empty_response', ''],
      ['runs', runs({ event: 'message.delta', delta: '(empty)' }, { event: 'run.completed', output: '(empty)', ...usage(9, 7) }), 'completed', null, '(empty)'],
    ];
    for (const [dialect, bytes, status, code, text] of cases) {
      const file = path.join(dir, 'turn.sse');
      fs.writeFileSync(file, bytes);
      const seen = check(run(['debug', 'replay', '--runtime', 'hermes', '--dialect', dialect, file], { env }).stdout);
      assert.deepEqual([seen.done.status, seen.error?.code ?? null, seen.text], [status, code, text], bytes);
    }
  });

  test('a model, in three dialects, and what is refused', () => {
    const { dir } = tmpHome();
    const file = path.join(dir, 'turn.sse');
    fs.writeFileSync(file, 'data: {"choices":[{"delta":{"content":"Hi."}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    const seen = check(run(['debug', 'replay', '--runtime', 'jarvis', '--dialect', 'openai-chat', file], { env }).stdout);
    assert.equal(seen.text, 'Hi.');
    const wrong = run(['debug', 'replay', '--runtime', 'native', '--dialect', 'chat', file], { env });
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.equal(run(['debug', 'replay', '--runtime', 'nobody', file], { env }).code, 2);
    assert.equal(run(['debug', 'replay', '--runtime', 'claude', path.join(dir, 'none')], { env }).code, 3);
  });
});

test('counts that no program can mean do no harm', () => {
  const { dir, env } = tmpHome();
  const file = path.join(dir, 'turn'), most = '9223372036854775807';
  const replay = (runtime, dialect, text) => {
    fs.writeFileSync(file, text);
    return check(run(['debug', 'replay', '--runtime', runtime, '--dialect', dialect, file], { env }).stdout);
  };
  const fine = ({ done, text }) => {
    assert.equal(text, 'Hi.');
    for (const n of Object.values(done.usage)) assert.ok(n === true || (n >= 0 && n <= 2 ** 33), JSON.stringify(done.usage));
  };
  fine(replay('hermes', 'runs', `data: {"event":"message.delta","delta":"Hi."}\n\ndata: {"event":"run.completed","usage":{"input_tokens":${most},"prompt_tokens":${most},"output_tokens":${most},"completion_tokens":1}}\n\n`));
  fine(replay('claude', 'stream-json', `{"type":"system","subtype":"api_retry","attempt":2147483647}\n{"type":"assistant","message":{"content":[{"type":"text","text":"Hi."}]}}\n`
    + `{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":${most},"cache_read_input_tokens":${most},"output_tokens":-5}}\n`));
  fine(replay('codex', 'exec', `{"type":"item.completed","item":{"type":"agent_message","text":"Hi."}}\n{"type":"turn.completed","usage":{"input_tokens":${most},"output_tokens":${most}}}\n`));
  const calls = (id, more) => `data: {"choices":[{"delta":{"tool_calls":[{${more}"id":"${id}","function":{"name":"ls","arguments":"{}"}}]}}]}\n\n`;
  fine(replay('native', 'openai-chat', `data: {"choices":[{"delta":{"content":"Hi."}}]}\n\n${calls('a', `"index":${most},`)}${calls('b', '')}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`));
});

test('offline: says that it found nothing, and never more', () => {
  const { env } = tmpHome();
  const r = run(['debug', 'run', '--runtime', 'offline', 'who am I?'], { env });
  assert.equal(r.code, 0, r.stderr);
  assert.match(check(r.stdout).text, /^No model is configured \(run 'talaria setup' to add one\), and nothing/);
});

test('offline: where there is a history it is looked at; where there is a model, that is not denied', () => {
  const { env } = tmpHome();
  fillHome(env, '2026-11-15');
  const ask = (more) => {
    let text;
    do ({ text } = check(run(['debug', 'run', '--runtime', 'offline', 'which test was red on main?'], { env: { ...env, ...more } }).stdout));
    while (/Search index \d+ % complete/.test(text)); // a slow machine
    return text;
  };
  assert.match(ask({}), /^No model is configured \(run 'talaria setup' to add one\)\. This is what your own history says:\n\n1\. /);
  assert.match(ask({ TALARIA_MODEL_BASE_URL: 'http://127.0.0.1:9/v1', TALARIA_MODEL: 'm' }), /^No model was asked\. This is what/);
});

test('debug run: a file that is not there is said, one that is has its size', () => {
  const { dir, env } = tmpHome();
  const missing = run(['debug', 'run', '--runtime', 'offline', '--file', path.join(dir, 'none'), 'hello'], { env });
  assert.deepEqual([missing.code, missing.stdout], [3, '']);
});

test('codex: questions that come together are asked one after the other; what is no question is refused', () => {
  const { dir, env } = tmpHome();
  const program = path.join(dir, 'codex'), answers = path.join(dir, 'answers');
  fs.writeFileSync(program, `#!${process.execPath}
const say = (o) => console.log(JSON.stringify(o)), got = [];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  if (m.method === 'initialize') say({ id: m.id, result: { userAgent: 'fake/1' } });
  else if (m.method === 'thread/start') say({ id: m.id, result: { thread: { id: 't1' }, model: 'm' } });
  else if (m.method === 'turn/start') {
    say({ id: m.id, result: { turn: { id: 'u1' } } });
    say({ method: 'item/commandExecution/requestApproval', id: 0, params: { command: 'first' } });
    say({ method: 'item/tool/requestUserInput', id: 'q-1', params: {} });
    say({ method: 'item/fileChange/requestApproval', id: 'second', params: { reason: 'write it' } });
  } else if (m.id !== undefined && !m.method && got.push(m) === 3) {
    require('node:fs').writeFileSync(${JSON.stringify(answers)}, JSON.stringify(got));
    say({ method: 'item/completed', params: { item: { type: 'agentMessage', text: 'Done.' } } });
    say({ method: 'turn/completed', params: { turn: { status: 'completed' } } });
  }
});
`, { mode: 0o755 });
  const r = run(['debug', 'run', '--runtime', 'codex', '--approve', 'once', '--timeout', '20', 'go'], { env: { ...env, TALARIA_CODEX_BIN: program } });
  const seen = check(r.stdout);
  assert.equal(seen.text, 'Done.', r.stderr);
  assert.deepEqual(seen.progress('approval').map((p) => [p.status, p.approval.command ?? '']), [['waiting', 'first'], ['completed', ''], ['waiting', 'write it'], ['completed', '']]);
  const by = Object.fromEntries(JSON.parse(fs.readFileSync(answers, 'utf8')).map((a) => [a.id, a.result?.decision ?? a.error?.code]));
  assert.deepEqual(by, { 0: 'accept', 'q-1': -32601, second: 'accept' });
});

describe('the fake Hermes sends what is recorded of it', () => {
  /** Frames as [event, data], with the data as values: the recordings differ in their spaces. */
  const frames = (text) => text.split('\n\n').filter(Boolean).map((frame) => {
    const [, event, data] = /^(?:event: (.*)\n)?(?:data: )?(.*)$/.exec(frame);
    return [event, data.startsWith('{') ? JSON.parse(data) : data];
  });
  const turns = {
    session: async (post, prompt) => { await post('/api/sessions', { id: 's1' }); return post('/api/sessions/s1/chat/stream', { message: prompt }); },
    runs: async (post, prompt, url) => fetch(`${url}/v1/runs/${(await (await post('/v1/runs', { session_id: 's1', input: prompt })).json()).run_id}/events`),
    responses: (post, prompt) => post('/v1/responses', { conversation: 's2', input: prompt }),
    chat: (post, prompt) => post('/v1/chat/completions', { messages: [{ role: 'user', content: prompt }] }),
  };
  for (const fail of ['', '400', 'cut', 'empty']) {
    test(fail || 'ok', async (t) => {
      const { url } = await fakeHermes(t, { fail });
      const post = (where, body) => fetch(url + where, { method: 'POST', body: JSON.stringify(body) });
      for (const [transport, ask] of Object.entries(turns)) {
        let text = '', whole = true;
        const decoder = new TextDecoder();
        const response = await ask(post, fail === 'empty' ? 'hello' : 'use a tool, wörld 你好', url);
        try { for await (const piece of response.body) text += decoder.decode(piece, { stream: true }); } catch { whole = false; }
        assert.equal(whole, fail !== 'cut', transport);
        assert.deepEqual(frames(text), frames(fs.readFileSync(path.join(recordings, `hermes_${transport}_${fail || 'ok'}.sse`), 'utf8')), transport);
      }
    });
  }
});

describe('hermes', () => {
  const home = tmpHome();
  const config = path.join(home.dir, 'config');
  fs.mkdirSync(path.join(config, 'talaria'), { recursive: true });
  function ask(server, transport, ...args) {
    fs.writeFileSync(path.join(config, 'talaria/config.yaml'), `hermes:\n  transport: ${transport}\n`);
    const env = { ...home.env, XDG_CONFIG_HOME: config, TALARIA_HERMES_BASE_URL: server.url };
    const r = run(['debug', 'run', '--runtime', 'hermes', '--timeout', '20', ...args], { env });
    return { ...check(r.stdout), code: r.code, handle: /handle: (\{.*\})/.exec(r.stderr)?.[1], stderr: r.stderr };
  }
  let well;
  before(async () => { well = await fakeHermes(); });
  after(() => well?.stop());
  const answer = (n, prompt) => `This is the stand-in for a Hermes, turn ${n}. You said: ${prompt}`;

  for (const transport of ['auto', 'session', 'runs', 'responses', 'chat']) {
    test(`${transport}: text, a tool, usage`, () => {
      const r = ask(well, transport, 'use a tool');
      assert.equal(r.code, 0, r.stderr);
      assert.equal(r.text, answer(1, 'use a tool'));
      assert.equal(r.done.status, 'completed');
      assert.deepEqual(r.progress('tool').map((p) => p.status), ['started', 'completed']);
      assert.equal(r.done.usage.total, 34);
      assert.equal(JSON.parse(r.handle).transport, transport === 'auto' ? 'session' : transport);
    });
  }

  test('a session goes on, rotates, goes on', () => {
    const first = ask(well, 'auto', 'one');
    const second = ask(well, 'auto', '--handle', first.handle, 'please rotate');
    assert.equal(second.text, answer(2, 'please rotate'));
    assert.deepEqual(second.progress('session').map((p) => p.detail), ['resumed', 'rotated']);
    const [a, b] = [JSON.parse(first.handle), JSON.parse(second.handle)];
    assert.notEqual(a.session_id, b.session_id);
    assert.deepEqual(b.rotated_from, [a.session_id]);
    const third = ask(well, 'auto', '--handle', second.handle, 'three');
    assert.equal(third.text, answer(3, 'three'));
  });

  test('a session that is gone is lost, and said to be', () => {
    const handle = JSON.parse(ask(well, 'auto', 'one').handle);
    const r = ask(well, 'auto', '--handle', JSON.stringify({ ...handle, session_id: 'nobody' }), 'two');
    assert.equal(r.error.code, 'continuity_lost');
    assert.equal(r.code, 1);
  });

  test('a handle of another server begins anew', () => {
    const handle = JSON.parse(ask(well, 'auto', 'one').handle);
    const r = ask(well, 'auto', '--handle', JSON.stringify({ ...handle, base_url_hash: '0' }), 'two');
    assert.equal(r.progress('session')[0].detail, 'lost');
    assert.equal(r.progress('session')[0].status, 'degraded');
    assert.equal(r.text, answer(1, 'two'));
  });

  test('an approval is asked for, answered, and the run goes on', () => {
    const r = ask(well, 'runs', '--approve', 'once', 'approve this');
    assert.deepEqual(r.progress('approval').map((p) => p.status), ['waiting', 'completed']);
    assert.equal(r.progress('approval')[0].approval.command, 'rm -r build');
    assert.equal(r.done.status, 'completed');
  });

  test('an approval that nobody answers ends in time', () => {
    const r = ask(well, 'runs', '--timeout', '1', 'approve this');
    assert.equal(r.error.code, 'approval_timeout');
  });

  for (const transport of ['session', 'runs', 'responses', 'chat']) {
    test(`${transport}: Ctrl-C stops the turn`, async () => {
      fs.writeFileSync(path.join(config, 'talaria/config.yaml'), `hermes:\n  transport: ${transport}\n`);
      const child = spawn(bin, ['debug', 'run', '--runtime', 'hermes', 'be slow'], { env: { ...home.env, XDG_CONFIG_HOME: config, TALARIA_HERMES_BASE_URL: well.url } });
      let out = '', sent = false;
      child.stdout.on('data', (d) => {
        out += d;
        if (!sent && out.includes('"chunk"')) sent = child.kill('SIGINT');
      });
      await new Promise((resolve) => child.on('close', resolve));
      const seen = check(out);
      assert.equal(seen.done.status, 'cancelled');
      assert.ok(answer(1, 'be slow').startsWith(seen.text) && seen.text.length > 0);
    });
  }

  const failures = {
    401: { session: 'runtime_auth', runs: 'runtime_auth', responses: 'runtime_auth', chat: 'runtime_auth' },
    400: { session: 'runtime_rejected', runs: 'runtime_rejected', responses: 'runtime_rejected', chat: 'empty_response' },
    empty: { session: 'empty_response', runs: 'empty_response', responses: 'empty_response', chat: 'empty_response' },
    cut: { session: 'stream_truncated', runs: null, responses: 'stream_truncated', chat: 'stream_truncated' },
  };
  for (const [how, codes] of Object.entries(failures)) {
    test(`a turn that fails: ${how}`, async (t) => {
      const bad = await fakeHermes(t, { fail: how });
      for (const [transport, code] of Object.entries(codes)) {
        const r = ask(bad, transport, 'hello there');
        assert.equal(r.error?.code ?? null, code, transport);
        assert.equal(r.code, code ? 1 : 0);
        // Talaria asks for the state of a run whose connection broke: nothing is missing, nothing is said twice.
        if (!code) assert.equal(r.text, answer(1, 'hello there'));
        else if (how === 'cut') assert.equal(r.text, 'This is the ');
        else assert.equal(r.text, '');
      }
    });
  }

  test('nobody there: tried again, then unavailable', () => {
    const r = ask({ url: 'http://127.0.0.1:9' }, 'auto', 'hello');
    assert.equal(r.error.code, 'runtime_unavailable');
    assert.deepEqual(r.progress('retry').map((p) => p.attempt), [2, 3]);
  });
});
