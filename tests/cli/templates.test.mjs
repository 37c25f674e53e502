// Session templates, as scripts and people see them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeStateDb, python, run, runJson, tmpHome, tree } from './helpers.mjs';

const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } });

/** A Hermes home with one session of the given messages: [role, content, {calls, id, tool}]. */
function homeWith(t, sessions) {
  const h = tmpHome(t);
  fs.mkdirSync(h.hermes, { recursive: true });
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, parent_session_id TEXT, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_calls TEXT, tool_call_id TEXT, tool_name TEXT, timestamp REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1);
    CREATE INDEX i ON messages(session_id, timestamp)`);
  const addSession = db.prepare('INSERT INTO sessions(id, source, started_at) VALUES (?, ?, ?)');
  const addMessage = db.prepare('INSERT INTO messages(session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp, active) VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const [id, messages, start = 1.7e9] of sessions) {
    addSession.run(id, 'cli', start);
    messages.forEach(([role, content, { calls, id: callId, tool, active = 1, at } = {}], i) =>
      addMessage.run(id, role, content, calls ? (typeof calls === 'string' ? calls : JSON.stringify(calls)) : null, callId ?? null, tool ?? null, at ?? start + i, active));
  }
  db.close();
  return { ...h, folder: path.join(h.hermes, 'session-templates') };
}
const read = (h, name) => JSON.parse(fs.readFileSync(path.join(h.folder, `${name}.json`), 'utf8'));

const simple = [
  ['user', 'count the lines'],
  ['assistant', null, { calls: [call('c1', 'execute_code', { code: 'print(3)' })] }],
  ['tool', '{"output": "3", "exit_code": 0}', { id: 'c1', tool: 'execute_code' }],
  ['assistant', 'three'],
];

test('list, create, show, delete: the texts that scripts read', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', simple]]);
  assert.deepEqual(run(['templates', 'list'], h), { code: 0, signal: null, stdout: 'No templates found\n', stderr: '' });
  const made = run(['templates', 'create', '20260101_101010_abcdef', '--name', 'lines'], h);
  assert.deepEqual(made, { code: 0, signal: null, stdout: 'Created template: lines\n  Type: code\n  Examples: 1\n', stderr: '' });
  assert.equal(run(['templates', 'list'], h).stdout, 'Found 1 templates:\n  lines: code (1 examples, used 0 times)\n');
  assert.match(run(['templates', 'show', 'lines'], h).stdout, /execute_code/);
  assert.deepEqual(run(['templates', 'delete', 'lines'], h), { code: 0, signal: null, stdout: 'Deleted template: lines\n', stderr: '' });
  for (const word of ['show', 'delete', 'inject'])
    assert.deepEqual(run(['templates', word, 'lines'], { ...h, input: '[]' }), { code: 3, signal: null, stdout: '', stderr: 'Template not found: lines\n' });
});

test('a template file has exactly the keys of the format, in its shape', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', simple]]);
  run(['templates', 'create', '20260101', '--name', 'lines'], { env: { ...h.env, TALARIA_NOW: '1750000000.25' } });
  const text = fs.readFileSync(path.join(h.folder, 'lines.json'), 'utf8');
  assert.deepEqual(read(h, 'lines'), {
    name: 'lines', task_type: 'code', description: 'count the lines (1 call: execute_code)', created_at: 1750000000.25, usage_count: 0,
    source_session_id: '20260101_101010_abcdef',
    examples: [{ tool_name: 'execute_code', arguments: { code: 'print(3)' }, result: '{"output": "3", "exit_code": 0}', success: true }],
  });
  assert.match(text, /^\{\n {2}"name": "lines",\n/, 'two-space indent');
  assert.equal(fs.statSync(path.join(h.folder, 'lines.json')).mode & 0o777, 0o600);
  // A loader of the kind that refuses what it does not know.
  python(`
import dataclasses, json, sys
@dataclasses.dataclass
class Example: tool_name: str; arguments: dict; result: str; success: bool
@dataclasses.dataclass
class Template:
    name: str; task_type: str; examples: list = dataclasses.field(default_factory=list); description: str = ''
    created_at: float = 0; usage_count: int = 0; source_session_id: str = None
t = Template(**json.load(open(sys.argv[1]))); t.examples = [Example(**e) for e in t.examples]`, path.join(h.folder, 'lines.json'));
});

test('a session is found by a beginning of its id; the default name comes from the title', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', simple]]);
  const r = run(['templates', 'create', '20260101'], { env: { ...h.env, TALARIA_NOW: '1750000000' } });
  assert.match(r.stdout, /^Created template: count-the-lines\n/);
});

test('parallel calls keep their own results; failed ones are left out unless asked for', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', [
    ['user', 'go'],
    ['assistant', null, { calls: [call('a', 'read_file', { path: 'x' }), call('b', 'terminal', { command: 'false' }), call('c', 'read_file', { path: 'y' })] }],
    ['tool', 'content of y', { id: 'c', tool: 'read_file' }],
    ['tool', '{"output": "", "exit_code": 1}', { id: 'b', tool: 'terminal' }],
    ['tool', 'content of x', { id: 'a', tool: 'read_file' }],
    ['assistant', null, { calls: [call('d', 'write_file', 'not json'), call('e', '', {})] }],
  ]]]);
  run(['templates', 'create', '20260101', '--name', 'good'], h);
  assert.deepEqual(read(h, 'good').examples, [
    { tool_name: 'read_file', arguments: { path: 'x' }, result: 'content of x', success: true },
    { tool_name: 'read_file', arguments: { path: 'y' }, result: 'content of y', success: true },
    { tool_name: 'write_file', arguments: {}, result: '', success: true },
  ]);
  assert.equal(read(h, 'good').task_type, 'file', 'told from the examples that were kept');
  run(['templates', 'create', '20260101', '--name', 'all', '--include-failed'], h);
  assert.deepEqual(read(h, 'all').examples.map((e) => [e.tool_name, e.success]), [['read_file', true], ['terminal', false], ['read_file', true], ['write_file', true]]);
  run(['templates', 'create', '20260101', '--name', 'two', '--max-examples', '2', '--type', 'research'], h);
  assert.equal(read(h, 'two').examples.length, 2);
  assert.equal(read(h, 'two').task_type, 'research');
});

test('a continuation has its own calls; --chain takes and names all parts', (t) => {
  const turn = (id, tool) => [['user', 'go on'], ['assistant', null, { calls: [call(id, tool, { id })] }], ['tool', 'fine', { id }]];
  const h = homeWith(t, [
    ['20260101_first', turn('a', 'terminal'), 1.7e9], ['20260102_second', turn('b', 'execute_code'), 1.7e9 + 100], ['20260103_third', [['user', 'thanks']], 1.7e9 + 200],
  ]);
  const db = new DatabaseSync(path.join(h.hermes, 'state.db'));
  db.exec(`UPDATE sessions SET ended_at = started_at + 50, end_reason = 'compression' WHERE id < '20260103';
    UPDATE sessions SET parent_session_id = '20260101_first' WHERE id = '20260102_second';
    UPDATE sessions SET parent_session_id = '20260102_second' WHERE id = '20260103_third'`);
  db.close();
  assert.equal(run(['templates', 'create', '20260102_second', '--name', 'own'], h).stdout, 'Created template: own\n  Type: code\n  Examples: 1\n');
  assert.deepEqual(read(h, 'own').examples.map((e) => e.tool_name), ['execute_code']);
  assert.equal(read(h, 'own').source_session_id, '20260102_second');
  const none = run(['templates', 'create', '20260103_third', '--name', 'none'], h);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /no tool calls itself; --chain/);
  const all = run(['templates', 'create', '20260102_second', '--name', 'all', '--chain'], h);
  assert.equal(all.stdout, 'Created template: all\n  Type: mixed\n  Examples: 2\n  Sessions: 20260101_first, 20260102_second, 20260103_third\n');
  assert.deepEqual(read(h, 'all').examples.map((e) => e.tool_name), ['terminal', 'execute_code']);
  assert.match(read(h, 'all').description, /sessions 20260101_first, 20260102_second, 20260103_third/);
  const json = JSON.parse(run(['templates', 'create', '20260102_second', '--dry-run', '--json'], h).stdout);
  assert.deepEqual([json.sessions, json.calls], [['20260102_second'], 1]);
});

test('what Python writes is read as Python reads it, and still there after a use', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', [
    ['assistant', null, { calls: [
      { id: 'a', type: 'function', function: { name: 'terminal', arguments: '{"n": NaN, "big": 1000000000000000000000000000000, "half": "\\ud800"}' } },
      { name: 'read_file', id: 'b', arguments: { path: 'x' } }, // flat
    ] }],
  ]]]);
  run(['templates', 'create', '20260101', '--name', 'made'], h);
  const loads = (name) => JSON.parse(python(`
import json, sys
print(json.dumps([repr(e["arguments"]) for e in json.load(open(sys.argv[1]))["examples"]]))`, path.join(h.folder, `${name}.json`)));
  assert.deepEqual(loads('made'), ["{'n': nan, 'big': 1000000000000000000000000000000, 'half': '\\ud800'}", "{'path': 'x'}"]);
  python(`
import json, sys
values = [float("nan"), float("-inf"), 10**30, "\\ud800", [1], None, "text", {"a": {"b": [float("inf")]}}]
json.dump({"name": "odd", "task_type": "code", "examples": [{"tool_name": "t", "arguments": v, "result": "r", "success": True} for v in values],
  "description": "", "created_at": 1.5, "usage_count": 0, "source_session_id": None}, open(sys.argv[1], "w"), indent=2)`, path.join(h.folder, 'odd.json'));
  const before = loads('odd');
  for (const format of ['openai', 'anthropic']) {
    const r = run(['templates', 'inject', 'odd', '--format', format], { ...h, input: '[]' });
    assert.equal(r.stderr, '');
    JSON.parse(r.stdout);
  }
  assert.deepEqual(loads('odd'), before);
  assert.equal(JSON.parse(run(['templates', 'show', 'odd', '--json'], h).stdout).template.usage_count, 2);
});

test('only active messages count, in order of time, the first 100 of them', (t) => {
  const at = (n) => 1.7e9 + n;
  const many = Array.from({ length: 120 }, (_, i) => ['user', `filler ${i}`, { at: at(10 + i) }]);
  const h = homeWith(t, [['20260101_101010_abcdef', [
    ['assistant', null, { calls: [call('z', 'terminal', { n: 2 })], at: at(5) }],
    ['assistant', null, { calls: [call('y', 'terminal', { n: 1 })], at: at(2) }],
    ['assistant', null, { calls: [call('x', 'terminal', { n: 0 })], at: at(1), active: 0 }],
    ...many,
    ['assistant', null, { calls: [call('w', 'terminal', { n: 3 })], at: at(500) }],
  ]]]);
  run(['templates', 'create', '20260101', '--name', 'x'], h);
  assert.deepEqual(read(h, 'x').examples.map((e) => e.arguments.n), [1, 2]);
});

test('secrets never reach a template', (t) => {
  const secrets = ['sk-FAKEabcdefghij1234567890', 'ghp_FAKEaaaaaaaaaaaaaaaaaaaaaaaa', 'AKIAFAKEEXAMPLE12345', 'xoxb-1234567890-FAKEabc', 'hunter2-FAKE-EXAMPLE'];
  const h = homeWith(t, [['20260101_101010_abcdef', [
    ['user', 'go'],
    ['assistant', null, { calls: [call('a', 'terminal', { command: `curl -H "Authorization: Bearer ${secrets[0]}" x`, password: secrets[4], env: { AWS_KEY: secrets[2] } })] }],
    ['tool', `{"output": "token ${secrets[1]} and ${secrets[3]}; Password=${secrets[4]};", "exit_code": 0}`, { id: 'a', tool: 'terminal' }],
  ]]]);
  run(['templates', 'create', '20260101', '--name', 'x'], h);
  const text = fs.readFileSync(path.join(h.folder, 'x.json'), 'utf8');
  for (const s of secrets) assert.ok(!text.includes(s), s);
  assert.equal(read(h, 'x').examples[0].arguments.password, '[REDACTED]');
  assert.match(text, /REDACTED_GITHUB_TOKEN/);
});

test('a long result is cut in the middle, in words, and the whole template fits its budget', (t) => {
  const huge = 'HEAD' + '中文x'.repeat(20000) + 'TAIL';
  const calls = Array.from({ length: 30 }, (_, i) => ['assistant', null, { calls: [call(`c${i}`, 'read_file', { i })] }]);
  const results = Array.from({ length: 30 }, (_, i) => ['tool', huge, { id: `c${i}`, tool: 'read_file' }]);
  const h = homeWith(t, [['20260101_101010_abcdef', [...calls, ...results]]]);
  run(['templates', 'create', '20260101', '--name', 'x', '--max-examples', '30'], h);
  const { examples } = read(h, 'x');
  assert.ok(examples.length >= 1);
  for (const e of examples) {
    assert.match(e.result, /^HEAD/);
    assert.match(e.result, /TAIL$/);
    assert.match(e.result, /left out/);
    assert.ok(!e.result.includes('\ufffd'));
  }
  assert.ok(fs.statSync(path.join(h.folder, 'x.json')).size < 100_000);
});

test('a session with no usable call creates nothing and says why', (t) => {
  const h = homeWith(t, [
    ['20260101_talkonly', [['user', 'hi'], ['assistant', 'hello']]],
    ['20260102_failed', [['assistant', null, { calls: [call('a', 'terminal', {})] }], ['tool', '{"error": "no such file"}', { id: 'a' }]]],
    ['20260103_broken', [['assistant', null, { calls: '[{broken' }]]],
  ]);
  for (const [id, why] of [['20260101_talkonly', /no tool call/], ['20260102_failed', /--include-failed/], ['20260103_broken', /./]]) {
    const r = run(['templates', 'create', id], h);
    assert.notEqual(r.code, 0);
    assert.match(r.stderr, why);
  }
  assert.equal(run(['templates', 'create', 'nosuchsession'], h).code, 3);
  assert.deepEqual(fs.existsSync(h.folder) ? fs.readdirSync(h.folder).filter((n) => n.endsWith('.json')) : [], []);
});

test('names: only plain ones, and an existing one is refused without --force', (t) => {
  const h = homeWith(t, [['20260101_101010_abcdef', simple]]);
  for (const name of ['../x', 'a/b', '.hidden', '-x', 'a b', '', 'é', 'a'.repeat(129), 'x\n']) {
    const r = run(['templates', 'create', '20260101', `--name=${name}`], h);
    assert.ok([1, 2, 5].includes(r.code), `${JSON.stringify(name)}: ${r.code}`);
    assert.match(r.stderr, /name/);
  }
  assert.equal(run(['templates', 'create', '20260101', '--name', 'Ok_1.2-x'], h).code, 0);
  const before = tree(h.folder);
  const again = run(['templates', 'create', '20260101', '--name', 'Ok_1.2-x'], h);
  assert.equal(again.code, 4);
  assert.match(again.stderr, /--force/);
  assert.deepEqual(tree(h.folder), before);
  assert.equal(run(['templates', 'create', '20260101', '--name', 'Ok_1.2-x', '--force'], h).code, 0);
  for (const name of ['../../etc/passwd', '..', '/etc/passwd'])
    for (const word of ['show', 'delete', 'inject']) assert.notEqual(run(['templates', word, name], { ...h, input: '[]' }).code, 0);
});

// -- files of others ---------------------------------------------------------------------------

function withFiles(t, files) {
  const h = tmpHome(t);
  const folder = path.join(h.data, 'session-templates');
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return { ...h, folder };
}
const example = (tool, success = true) => ({ tool_name: tool, arguments: { x: 1 }, result: 'fine', success });

test('files of others load with defaults; broken ones are skipped with one warning each', (t) => {
  const h = withFiles(t, {
    'least.json': { name: 'least', task_type: 'mixed' },
    'nulls.json': { name: 'nulls', task_type: 'file', examples: [example('read_file')], source_session_id: null, created_at: 0 },
    'stem.json': { name: 'other', task_type: 'code', created_at: 5 },
    'broken.json': '{"name": "broken",',
    'alien.json': { name: 'alien', task_type: 'dance' },
    'nameless.json': { task_type: 'code', created_at: 3 },
    'notes.txt': 'not a template',
  });
  const r = run(['templates', 'list'], h);
  assert.equal(r.code, 0);
  assert.match(r.stdout, / {2}least: mixed \(0 examples, used 0 times\)/);
  assert.match(r.stdout, / {2}stem: code/);
  const warnings = r.stderr.trim().split('\n');
  assert.ok(warnings.some((w) => /broken\.json.*line 1/.test(w)), r.stderr);
  assert.ok(warnings.some((w) => /alien\.json.*dance/.test(w)), r.stderr);
  assert.ok(warnings.some((w) => /stem\.json/.test(w)), r.stderr);
  assert.ok(!/notes\.txt|least|nulls/.test(r.stderr), r.stderr);
  const { templates } = runJson(['templates', 'list'], h);
  assert.ok(templates.find((x) => x.name === 'nulls').created_at > 1.7e9, 'created_at 0 becomes the time of the file');
});

test('listed newest first, and by type', (t) => {
  const h = withFiles(t, {
    'old.json': { name: 'old', task_type: 'code', created_at: 100 },
    'new.json': { name: 'new', task_type: 'file', created_at: 300 },
    'mid.json': { name: 'mid', task_type: 'code', created_at: 200 },
  });
  assert.deepEqual(runJson(['templates', 'list'], h).templates.map((x) => x.name), ['new', 'mid', 'old']);
  assert.equal(run(['templates', 'list', '--type', 'code'], h).stdout, 'Found 2 templates:\n  mid: code (0 examples, used 0 times)\n  old: code (0 examples, used 0 times)\n');
});

// -- injection ---------------------------------------------------------------------------------

const two = { name: 'two', task_type: 'code', examples: [{ tool_name: 'execute_code', arguments: { code: 'print("é")', n: 1.0 }, result: 'ok', success: true }, example('terminal')], created_at: 100 };

test('injection puts the examples right after the leading system messages', (t) => {
  const h = withFiles(t, { 'two.json': two });
  const input = [{ role: 'system', content: 'be brief' }, { role: 'system', content: 'be kind' }, { role: 'user', content: [{ type: 'text', text: 'go' }], extra: { deep: [1, null] } }];
  const r = run(['templates', 'inject', 'two'], { ...h, input: JSON.stringify(input) });
  assert.equal(r.code, 0, r.stderr);
  const out = JSON.parse(r.stdout);
  assert.deepEqual(out.slice(0, 2), input.slice(0, 2));
  assert.deepEqual(out[2], { role: 'system', content: 'Session template: two (code)\nExamples of successful tool calls from previous sessions:' });
  assert.equal(out[3].role, 'assistant');
  assert.equal(out[3].content, null);
  assert.equal(out[3].tool_calls.length, 1);
  assert.equal(out[3].tool_calls[0].id, 'template_0');
  assert.equal(out[3].tool_calls[0].type, 'function');
  assert.equal(out[3].tool_calls[0].function.name, 'execute_code');
  assert.deepEqual(JSON.parse(out[3].tool_calls[0].function.arguments), { code: 'print("é")', n: 1 });
  assert.deepEqual(out[4], { role: 'tool', tool_call_id: 'template_0', content: 'ok' });
  assert.equal(out[5].tool_calls[0].id, 'template_1');
  assert.deepEqual(out[7], input[2]);
  assert.equal(out.length, 8);
  assert.match(run(['templates', 'list'], h).stdout, /two: code \(2 examples, used 1 times\)/);
});

test('injecting twice changes nothing and counts nothing; --replace replaces', (t) => {
  const h = withFiles(t, { 'two.json': two, 'other.json': { ...two, name: 'other', task_type: 'file' } });
  const once = run(['templates', 'inject', 'two'], { ...h, input: '[{"role":"user","content":"go"}]' }).stdout;
  const twice = run(['templates', 'inject', 'other'], { ...h, input: once });
  assert.deepEqual(JSON.parse(twice.stdout), JSON.parse(once));
  assert.equal(runJson(['templates', 'show', 'other'], h).template.usage_count, 0);
  const replaced = JSON.parse(run(['templates', 'inject', 'other', '--replace'], { ...h, input: once }).stdout);
  assert.equal(replaced.filter((m) => m.role === 'system').length, 1);
  assert.match(replaced[0].content, /^Session template: other \(file\)\n/);
  assert.equal(replaced.length, JSON.parse(once).length);
  assert.equal(runJson(['templates', 'show', 'other'], h).template.usage_count, 1);
  // A call id of ours is enough to know it by.
  const byId = '[{"role":"assistant","content":null,"tool_calls":[{"id":"template_3","type":"function","function":{"name":"x","arguments":"{}"}}]}]';
  assert.deepEqual(JSON.parse(run(['templates', 'inject', 'two'], { ...h, input: byId }).stdout), JSON.parse(byId));
});

test('the Anthropic shape: tool_use and tool_result blocks, roles in turn, idempotent too', (t) => {
  const h = withFiles(t, { 'two.json': two });
  const r = run(['templates', 'inject', 'two', '--format', 'anthropic'], { ...h, input: '[{"role":"user","content":"go"}]' });
  const out = JSON.parse(r.stdout);
  const blocks = out.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
  assert.deepEqual(blocks.filter((b) => b.type === 'tool_use').map((b) => [b.id, b.name]), [['template_0', 'execute_code'], ['template_1', 'terminal']]);
  assert.deepEqual(blocks.find((b) => b.id === 'template_1').input, { x: 1 });
  assert.deepEqual(blocks.filter((b) => b.type === 'tool_result').map((b) => b.tool_use_id), ['template_0', 'template_1']);
  assert.ok(out.every((m) => m.role === 'user' || m.role === 'assistant'));
  for (let i = 1; i < out.length; i++) assert.notEqual(out[i].role, out[i - 1].role, 'roles take turns');
  assert.ok(JSON.stringify(out).includes('go'));
  assert.deepEqual(JSON.parse(run(['templates', 'inject', 'two', '--format', 'anthropic'], { ...h, input: r.stdout }).stdout), out);
});

test('--tools leaves out what the new session does not have; nothing left changes nothing', (t) => {
  const h = withFiles(t, { 'two.json': two });
  const some = JSON.parse(run(['templates', 'inject', 'two', '--tools', 'terminal,web_search'], { ...h, input: '[]' }).stdout);
  assert.deepEqual(some.flatMap((m) => m.tool_calls ?? []).map((c) => c.function.name), ['terminal']);
  assert.equal(run(['templates', 'inject', 'two', '--tools', 'none'], { ...h, input: '[]' }).stdout.trim(), '[]');
  assert.equal(runJson(['templates', 'show', 'two'], h).template.usage_count, 1);
});

test('least-used takes the least used, and of those the newest', (t) => {
  const h = withFiles(t, {
    'a.json': { ...two, name: 'a', usage_count: 2, created_at: 900 },
    'b.json': { ...two, name: 'b', usage_count: 1, created_at: 100 },
    'c.json': { ...two, name: 'c', usage_count: 1, created_at: 200 },
    'd.json': { ...two, name: 'd', usage_count: 0, created_at: 50, task_type: 'file' },
  });
  const chosen = (...more) => runJson(['templates', 'inject', ...more], { ...h, input: '[]' }).template;
  assert.equal(chosen('--type', 'code'), 'c');
  assert.equal(chosen('--type', 'code'), 'b');
  assert.equal(chosen('--type', 'file'), 'd');
  assert.equal(run(['templates', 'inject', '--type', 'research'], { ...h, input: '[]' }).code, 3);
});

test('best takes the one whose source session asked for something similar', (t) => {
  const h = homeWith(t, [
    ['20260101_invoice', [['user', 'Convert the supplier invoices to CSV and check the totals'], ...simple.slice(1)]],
    ['20260102_deploy', [['user', 'Deploy the shop to the staging server and watch the logs'], ...simple.slice(1)]],
  ]);
  run(['templates', 'create', '20260101_invoice', '--name', 'invoice'], h);
  run(['templates', 'create', '20260102_deploy', '--name', 'deploy'], h);
  const chosen = (text) => runJson(['templates', 'inject', '--policy', 'best'], { ...h, input: JSON.stringify([{ role: 'user', content: text }]) }).template;
  assert.equal(chosen('please turn these invoices into a csv file'), 'invoice');
  assert.equal(chosen('please turn these invoices into a csv file'), 'invoice');
  assert.equal(chosen('put the shop on staging'), 'deploy');
});

test('messages that are none are refused, with the place', (t) => {
  const h = withFiles(t, { 'two.json': two });
  for (const input of ['', '{', '{}', '"x"', '[1]', '[{"role": 5}]', 'null']) {
    const r = run(['templates', 'inject', 'two'], { ...h, input });
    assert.notEqual(r.code, 0, input);
    assert.equal(r.stdout, '');
    assert.match(r.stderr, /^talaria: /);
  }
  assert.equal(runJson(['templates', 'show', 'two'], h).template.usage_count, 0);
});

// -- harvest and study -------------------------------------------------------------------------

test('harvest makes templates of sessions that went well, says why, and not twice', (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 150, seed: 3 });
  const dry = runJson(['templates', 'harvest', '--limit', '3', '--dry-run'], h);
  assert.ok(!fs.existsSync(path.join(h.hermes, 'session-templates')) || fs.readdirSync(path.join(h.hermes, 'session-templates')).length === 0);
  const first = runJson(['templates', 'harvest', '--limit', '3'], h);
  assert.equal(first.created.length, 3);
  assert.deepEqual(first.created.map((c) => c.session), dry.created.map((c) => c.session));
  for (const c of first.created) assert.ok(c.reason.length > 5);
  const second = runJson(['templates', 'harvest', '--limit', '3'], h);
  const again = second.created.map((c) => c.session).filter((id) => first.created.some((c) => c.session === id));
  assert.deepEqual(again, []);
  for (const l of second.left_out) assert.ok(l.reason.length > 5);
});

test('study counts what is there and says when it is too little', (t) => {
  const rows = (kind, n, fails) => Array.from({ length: n }, (_, s) => [`2026_${kind}_${String(s).padStart(3, '0')}`, [
    ['user', 'go'],
    ...Array.from({ length: 10 }, (_, i) => [
      ['assistant', null, { calls: [call(`c${i}`, kind === 'code' ? 'execute_code' : 'read_file', {})] }],
      ['tool', fails(i) ? '{"success": false}' : '{"success": true}', { id: `c${i}` }],
    ]).flat(),
  ], 1.7e9 + s]);
  const h = homeWith(t, [...rows('code', 25, (i) => i < 5), ...rows('file', 19, () => false)]);
  const s = runJson(['templates', 'study'], h);
  const kind = (name) => s.kinds.find((k) => k.kind === name);
  assert.equal(kind('code-heavy').sessions, 25);
  assert.deepEqual(kind('code-heavy').deciles.map((d) => [d.calls, d.failed]), Array.from({ length: 10 }, (_, i) => [25, i < 5 ? 25 : 0]));
  assert.equal(kind('code-heavy').verdict, 'fewer calls fail as a session goes on');
  assert.equal(kind('file-heavy').sessions, 19);
  assert.equal(kind('file-heavy').verdict, 'too little to tell');
  assert.match(run(['templates', 'study'], h).stderr, /too little to tell/);
});

test('a history with nothing, or with one session, is said in words', (t) => {
  const none = run(['templates', 'study'], tmpHome(t));
  assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'talaria: no sessions found\n']);
  const one = run(['templates', 'harvest'], homeWith(t, [['2026_one', [['user', 'go'], ['assistant', 'gone']], 1.7e9]]));
  assert.match(one.stdout, /^No new templates: the only session does not qualify$/m);
});
