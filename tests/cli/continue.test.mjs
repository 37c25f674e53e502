// Any session goes on: ask -c, chat --resume and /resume, of every agent, whose own files stay as they are.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fakeModel } from '../http/fake_model.mjs';
import { claude, claudeWork, codexWork, start, untouched } from './agents_said.mjs';
import { fixtures, makeStateDb, run, runJson, tmpHome } from './helpers.mjs';

const CLAUDE = '11111111-aaaa-4aaa-8aaa-000000000001', CODEX = '22222222-bbbb-7bbb-8bbb-000000000002';
const conversation = (r) => r.stderr.match(/conversation (\S+)/)[1];
const texts = (turn) => turn.messages.filter((m) => m.role !== 'tool').map((m) => `${m.role}: ${m.text}`);
const conversations = (home) => runJson(['sessions', 'list', '--limit', '0', '--source', 'talaria'], home).sessions;

describe('a transcript goes on as a conversation', () => {
  test('Claude Code: what was said and done is sent, thoughts and side chains are not', async (t) => {
    const fake = await fakeModel(t, (q, n) => ({ text: `answer ${n}` }));
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    const before = untouched(path.join(home.user, '.claude'));
    const first = await start(['ask', '-c', CLAUDE, 'which is faster?'], { env });
    assert.equal(first.code, 0, first.stderr);
    assert.equal(first.stdout, 'answer 1\n');
    assert.deepEqual(texts(fake.turns[0]), ['user: count the boats in the harbour', 'assistant: Looking.', 'assistant: Two boats.',
      'user: and their colours?', 'assistant: Red and blue.', 'user: which is faster?']);
    const sent = fake.turns[0].body.messages;
    const call = sent.find((m) => m.tool_calls);
    assert.deepEqual(call.tool_calls.map((c) => [c.id, c.function.name, JSON.parse(c.function.arguments)]), [['toolu_1', 'Bash', { command: 'ls boats' }]]);
    assert.deepEqual(sent[sent.indexOf(call) + 1], { role: 'tool', tool_call_id: 'toolu_1', content: 'anna\nberta' });
    assert.doesNotMatch(JSON.stringify(sent.slice(1)), /SECRET-THOUGHT|SIDE-ANSWER|toolu_2/);
    const id = conversation(first);
    assert.notEqual(id, CLAUDE);
    // By either name it is the same conversation.
    const second = await start(['ask', '-c', CLAUDE.slice(0, 8), 'and why?'], { env });
    assert.equal(conversation(second), id);
    await start(['ask', '-c', id, 'sure?'], { env });
    assert.deepEqual(texts(fake.turns[2]).slice(5), ['user: which is faster?', 'assistant: answer 1', 'user: and why?', 'assistant: answer 2', 'user: sure?']);
    assert.deepEqual(untouched(path.join(home.user, '.claude')), before);
    const shown = runJson(['sessions', 'show', id], home);
    assert.equal(shown.resume_command, `talaria chat --resume ${id}`);
    assert.equal(shown.cwd, '/tmp/harbour');
  });

  test('Codex', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    codexWork(home, CODEX);
    const before = untouched(path.join(home.user, '.codex'));
    const r = await start(['ask', '-c', CODEX, 'and terns?'], { env });
    assert.equal(r.code, 0, r.stderr);
    assert.deepEqual(texts(fake.turns[0]), ['user: count the gulls', 'assistant: ', 'assistant: Two gulls.', 'user: and terns?']);
    assert.deepEqual(fake.turns[0].results, ['emma\nfiona']);
    assert.deepEqual(untouched(path.join(home.user, '.codex')), before);
  });

  for (const journal of ['delete', 'wal'])
    test(`Hermes, whose database is in ${journal} mode`, async (t) => {
      const fake = await fakeModel(t);
      const home = tmpHome(), env = { ...home.env, ...fake.env };
      makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 4, journal, extra: ['--no-edge'] });
      const s = runJson(['sessions', 'list'], home).sessions.find((x) => x.origin === 'hermes' && x.messages > 2);
      const said = runJson(['sessions', 'show', s.id], home).parts.at(-1).transcript.filter((m) => m.role === 'user' && m.active);
      const before = untouched(home.hermes);
      const r = await start(['ask', '-c', s.id, 'go on'], { env });
      assert.equal(r.code, 0, r.stderr);
      const asked = fake.turns[0].messages.filter((m) => m.role === 'user').map((m) => m.text);
      assert.deepEqual(asked.slice(-1 - said.length, -1), said.map((m) => m.content));
      assert.equal(asked.at(-1), 'go on');
      const after = untouched(home.hermes);
      for (const all of [before, after]) for (const file of Object.keys(all).filter((f) => /-shm$/.test(f))) delete all[file]; // locks of readers
      assert.deepEqual(after, before);
    });

  test('a session of our own database goes on in place', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    const file = path.join(home.dir, 'kept.jsonl');
    fs.writeFileSync(file, run(['sessions', 'export', CLAUDE], home).stdout);
    fs.rmSync(path.join(home.user, '.claude'), { recursive: true });
    assert.equal(run(['sessions', 'import', file], home).code, 0);
    const r = await start(['ask', '-c', CLAUDE, 'which is faster?'], { env });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(conversation(r), CLAUDE);
    assert.ok(texts(fake.turns[0]).includes('assistant: Two boats.'));
  });

  test('a session that has grown since is continued with its new messages', async (t) => {
    const fake = await fakeModel(t, (q, n) => ({ text: `answer ${n}` }));
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    const work = claudeWork(home, CLAUDE);
    const id = conversation(await start(['ask', '-c', CLAUDE, 'first'], { env }));
    work.said('user', 'paint one green').said('assistant', [{ type: 'text', text: 'Berta is green.' }]);
    const r = await start(['ask', '-c', CLAUDE, 'second'], { env });
    assert.equal(conversation(r), id);
    const last = fake.turns.at(-1).messages;
    assert.match(last.at(-1).text, /paint one green[\s\S]*Berta is green\.[\s\S]*second/);
    assert.deepEqual(last.slice(-3, -1).map((m) => m.text), ['first', 'answer 1']);
    // Said once, not with every turn.
    await start(['ask', '-c', CLAUDE, 'third'], { env });
    assert.equal(fake.turns.at(-1).messages.at(-1).text, 'third');
    assert.equal(conversations(home).length, 1);
  });

  test('what was said before counts and is found once, in the session where it was said', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3, extra: ['--no-edge'] });
    const hermes = runJson(['sessions', 'list', '--source', 'hermes'], home).sessions.find((s) => s.messages > 2);
    await start(['ask', '-c', CLAUDE, 'which is faster?'], { env });
    await start(['ask', '-c', hermes.id, 'which is slower?'], { env });
    run(['index'], home);
    const hits = (words) => runJson(['sessions', 'search', words], home).hits.map((h) => h.session);
    assert.deepEqual(hits('colours'), [CLAUDE]);
    assert.equal(hits('faster').length, 1);
    assert.notEqual(hits('faster')[0], CLAUDE);
  });

  test('session and conversation are one thread of work in the list', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    const list = (...args) => runJson(['sessions', 'list', '--limit', '0', ...args], home).sessions;
    const work = claudeWork(home, CLAUDE);
    makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3, extra: ['--no-edge'] });
    const before = list(), hermes = before.find((s) => s.origin === 'hermes' && s.messages > 2);
    const ids = [];
    for (const id of [CLAUDE, hermes.id]) ids.push(conversation(await start(['ask', '-c', id, 'go on'], { env })));
    const after = list();
    assert.equal(after.length, before.length);
    const counted = () => runJson(['status'], home).sources.reduce((n, s) => n + s.sessions, 0);
    assert.equal(counted(), after.length);
    const found = (id) => after.find((s) => s.continues?.session_id === id);
    const worked = [CLAUDE, hermes.id].map((id) => runJson(['sessions', 'show', id], home).tool_calls);
    assert.ok(worked[0] > 0);
    assert.deepEqual([CLAUDE, hermes.id].map((id) => found(id).tool_calls), worked, 'what was done in it is not lost');
    assert.ok(runJson(['sessions', 'show', ids[0]], home).tools.includes('Bash'));
    const counts = runJson(['status'], home), figures = (s) => [s.sessions, s.continued, s.continuing];
    assert.deepEqual(Object.fromEntries(counts.sources.map((s) => [s.name, figures(s)])),
      { hermes: [before.length - 1, 1, 0], claude: [1, 1, 0], codex: [0, 0, 0], talaria: [0, 0, 2] });
    assert.deepEqual(counts.homes.map((h) => h.sessions).reduce((a, b) => a + b) + 1, after.length, 'homes, and the transcript');
    assert.deepEqual(figures(counts.total), [after.length, 2, 0]);
    assert.deepEqual(after.filter((s) => s.continues).map((s) => [s.id, s.continues]).sort(),
      [[ids[0], { session_id: CLAUDE, origin: 'claude' }], [ids[1], { session_id: hermes.id, origin: 'hermes' }]].sort());
    assert.ok(after.every((s) => ![CLAUDE, hermes.id].includes(s.id)));
    assert.deepEqual(list('--source', 'claude').map((s) => [s.id, s.continued_in]), [[CLAUDE, ids[0]]]);
    assert.equal(runJson(['sessions', 'show', hermes.id], home).continued_in, ids[1]);
    assert.match(run(['sessions', 'show', ids[0]], home).stdout, new RegExp(`continues claude session ${CLAUDE}`));
    work.said('user', 'paint one green');
    assert.ok(list().some((s) => s.id === CLAUDE), 'it has messages that the conversation has not');
    assert.equal(run(['sessions', 'archive', ids[1]], home).code, 0);
    assert.ok(list().some((s) => s.id === hermes.id));
    assert.equal(counted(), list().length);
    // A history without our own has no conversation to stand for it.
    const alone = runJson(['--home', home.hermes, 'sessions', 'list', '--limit', '0'], home).sessions;
    assert.ok(alone.some((s) => s.id === hermes.id));
  });

  test('badges count session and conversation once, with the calls of the one and the words of both', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    const work = claudeWork(home, CLAUDE);
    makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 3, extra: ['--no-edge'] });
    const scan = () => runJson(['achievements', 'scan'], home), list = () => runJson(['sessions', 'list', '--limit', '0'], home).sessions;
    const before = scan(), hermes = list().find((s) => s.origin === 'hermes' && s.messages > 2);
    const plugin = runJson(['achievements', 'scan', '--source', 'hermes'], home).aggregate;
    for (const id of [CLAUDE, hermes.id]) await start(['ask', '-c', id, 'go on'], { env });
    const agree = (after) => {
      assert.equal(after.aggregate.session_count, list().length);
      assert.deepEqual(after.sources, Object.fromEntries(runJson(['status'], home).sources.map((s) => [s.name, s.sessions])));
    };
    const after = scan();
    agree(after);
    assert.equal(runJson(['achievements', 'scan', '--source', 'claude'], home).aggregate.session_count, 1, 'it is still that agent\'s');
    assert.equal(after.aggregate.session_count, before.aggregate.session_count, 'no session more');
    for (const [name, value] of Object.entries(before.aggregate))
      if (/calls|weekend|night/.test(name)) assert.equal(after.aggregate[name], value, name);
    assert.deepEqual(runJson(['achievements', 'scan', '--source', 'hermes'], home).aggregate, plugin, "Hermes' own figure is of state.db alone");
    agree(scan()); // of what was kept
    work.said('user', 'paint one green');
    agree(scan());
    assert.equal(scan().aggregate.session_count, before.aggregate.session_count + 1, 'it has gone on by itself');
  });

  test('a turn through another program is one session, with the transcript that this wrote', async (t) => {
    const home = tmpHome(), recorded = path.join(fixtures, 'runtimes/claude_ok.jsonl');
    const id = /"session_id":"([^"]+)"/.exec(fs.readFileSync(recorded, 'utf8'))[1];
    const folder = path.join(home.user, '.claude/projects/-tmp-harbour'), program = path.join(home.dir, 'claude');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(program, `#!/bin/sh
cat >/dev/null
say() { printf '{"type":"%s","message":{"role":"%s","id":"m%s","content":"%s"},"sessionId":"${id}","uuid":"%s","timestamp":"%s"}\\n' $1 $1 $$ "$2" $1$$ "$(date -u +%FT%TZ)"; }
{ say user 'read the note'; say assistant 'It says hello.'; } >> '${folder}/${id}.jsonl'
cat '${recorded}'
`, { mode: 0o755 });
    const env = { ...home.env, TALARIA_CLAUDE_BIN: program };
    const list = (...args) => runJson(['sessions', 'list', '--limit', '0', ...args], { env }).sessions;
    const counted = () => runJson(['status'], { env }).sources.reduce((n, s) => n + s.sessions, 0);
    const first = await start(['ask', '-r', 'claude', 'read the note'], { env });
    assert.equal(first.code, 0, first.stderr);
    assert.deepEqual([list().length, counted()], [0, 0], 'a single question is no session');
    const ours = conversation(first);
    assert.equal((await start(['ask', '-c', ours, 'and again'], { env })).code, 0);
    assert.deepEqual(list().map((s) => s.id), [ours]);
    assert.equal(counted(), 1);
    assert.deepEqual(list('--source', 'claude').map((s) => [s.id, s.continued_in]), [[id, ours]]);
    assert.deepEqual(runJson(['sessions', 'search', 'note'], { env }).hits.map((h) => h.session).filter((s, i, all) => all.indexOf(s) === i).length, 1);
    // Somebody goes on in that program itself.
    fs.appendFileSync(path.join(folder, `${id}.jsonl`), JSON.stringify({ type: 'user', message: { role: 'user', content: 'alone' }, sessionId: id, uuid: 'z',
      timestamp: new Date(Date.now() + 3_600_000).toISOString() }) + '\n');
    assert.deepEqual(list().map((s) => s.id).sort(), [id, ours].sort());
    assert.equal(counted(), 2);
  });

  test('turns of two programs in one conversation: each is found, harvested and counted once, where it is kept', async (t) => {
    const fake = await fakeModel(t, () => ({ text: 'Hung by the pier.' }));
    const home = tmpHome(), recorded = path.join(fixtures, 'runtimes/claude_ok.jsonl');
    const id = /"session_id":"([^"]+)"/.exec(fs.readFileSync(recorded, 'utf8'))[1];
    const folder = path.join(home.user, '.claude/projects/-tmp-harbour'), program = path.join(home.dir, 'claude'), file = path.join(folder, `${id}.jsonl`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(program, `#!/bin/sh
cat >/dev/null
say() { printf '{"type":"%s","message":{"role":"%s","id":"m%s","content":"%s"},"sessionId":"${id}","uuid":"%s","timestamp":"%s"}\\n' $1 $1 $$ "$2" $1$$ "$(date -u +%FT%TZ)"; }
{ say user 'paint the skiff vermilion'; say assistant 'It is painted now.'; } >> '${file}'
cat '${recorded}'
`, { mode: 0o755 });
    const env = { ...home.env, ...fake.env, TALARIA_CLAUDE_BIN: program };
    const ours = conversation(await start(['ask', '-r', 'claude', 'paint the skiff vermilion'], { env }));
    const lamp = await start(['ask', '-c', ours, '-r', 'native', 'where do the lanterns hang?'], { env });
    assert.equal(lamp.code, 0, lamp.stderr);
    const hits = (words) => runJson(['sessions', 'search', words], { env }).hits.map((h) => [h.session, h.role]);
    assert.equal(run(['index'], { env }).code, 0);
    assert.deepEqual(hits('vermilion'), [[id, 'user']]);
    assert.deepEqual(hits('lanterns'), [[ours, 'user']]);
    const list = runJson(['sessions', 'list', '--limit', '0'], { env }).sessions;
    assert.deepEqual(list.map((s) => s.id), [ours]);
    assert.equal(runJson(['status'], { env }).total.sessions, 1);
    const scan = runJson(['achievements', 'scan'], { env });
    assert.equal(scan.aggregate.session_count, 1);
    assert.equal(runJson(['achievements', 'scan', '--full'], { env }).aggregate.session_count, 1);
    assert.deepEqual(runJson(['sleep', 'harvest'], { env }).digests.map((d) => [d.session_id, d.user_prompts]).sort(),
      [[id, ['paint the skiff vermilion']], [ours, ['where do the lanterns hang?']]].sort(), 'no turn twice');
    // Claude Code removes old transcripts: what ours has of it is found again.
    fs.rmSync(file);
    assert.equal(run(['index'], { env }).code, 0);
    assert.deepEqual(hits('vermilion'), [[ours, 'user']]);
    assert.deepEqual(hits('lanterns'), [[ours, 'user']]);
    assert.equal(runJson(['achievements', 'scan'], { env }).aggregate.session_count, 1);
  });

  test('what compaction summed up is not sent again', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE)
      .line({ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', uuid: 'b', isMeta: false })
      .said('user', 'This session is being continued: two boats, red and blue.', { isCompactSummary: true })
      .said('user', 'name them').said('assistant', [{ type: 'text', text: 'Anna and Berta.' }]);
    await start(['ask', '-c', CLAUDE, 'and?'], { env });
    assert.deepEqual(texts(fake.turns[0]), ['user: This session is being continued: two boats, red and blue.', 'user: name them',
      'assistant: Anna and Berta.', 'user: and?']);
  });

  test('a long session fits into the window of the model', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
    fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), 'model:\n  window: 8000\n');
    const work = claude(home, CLAUDE).said('user', 'the beginning');
    for (let i = 0; i < 200; i++)
      work.said('assistant', [{ type: 'tool_use', id: `toolu_${i}`, name: 'Read', input: { file: `f${i}` } }])
        .said('user', [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: `line ${i}\n`.repeat(2000) }]);
    work.said('assistant', [{ type: 'text', text: 'All of it was read.' }]);
    const r = await start(['ask', '-c', CLAUDE, 'well?'], { env });
    assert.equal(r.code, 0, r.stderr);
    const sent = fake.turns[0].body.messages;
    assert.ok(JSON.stringify(sent).length < 8000 * 4, `${JSON.stringify(sent).length} bytes`);
    assert.deepEqual(texts(fake.turns[0]).filter((x) => !/: $/.test(x)), ['user: the beginning', 'assistant: All of it was read.', 'user: well?']);
    const calls = sent.flatMap((m) => m.tool_calls ?? []).map((c) => c.id), results = sent.filter((m) => m.role === 'tool').map((m) => m.tool_call_id);
    assert.deepEqual(results, calls);
    assert.ok(calls.length > 0 && calls.at(-1) === 'toolu_199');
  });

  test('what real programs wrote', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    const claudeId = 'ec47263f-fe0e-4f36-a654-498c47780a8b', codexId = '01a1e1ba-706f-7bc0-a368-a45b219adc88';
    const put = (from, to) => { fs.mkdirSync(path.dirname(to), { recursive: true }); fs.copyFileSync(path.join(fixtures, 'transcripts', from), to); };
    put('claude_2.1.jsonl', path.join(home.user, '.claude/projects/-home-dev-work', `${claudeId}.jsonl`));
    put('codex_0.166.jsonl', path.join(home.user, '.codex/sessions/2026/11/16', `rollout-2026-11-16T00-20-54-${codexId}.jsonl`));
    const before = untouched(home.user);
    for (const [id, name] of [[claudeId, 'claude'], [codexId, 'codex']]) {
      const r = await start(['ask', '-c', id, 'what did it say?'], { env });
      assert.equal(r.code, 0, r.stderr);
      const turn = fake.turns.at(-1), said = texts(turn).filter((x) => !/: $/.test(x));
      assert.equal(said[0], `user: please show ${name} the note`);
      assert.ok(said.includes('assistant: The note says hello.'), said.join('\n'));
      assert.equal(said.at(-1), 'user: what did it say?');
      assert.ok(turn.results.some((x) => x.includes('hello from the note')));
      const calls = turn.body.messages.flatMap((m) => m.tool_calls ?? []).map((c) => c.id);
      assert.deepEqual(turn.body.messages.filter((m) => m.role === 'tool').map((m) => m.tool_call_id), calls);
    }
    assert.deepEqual(untouched(home.user), before);
  });

  test('pictures and documents are named in their place', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    const bytes = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    claude(home, CLAUDE)
      .said('user', [{ type: 'text', text: 'what is this?' }, { type: 'image', source: bytes }])
      .said('assistant', [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file: 'a.png' } }])
      .said('user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source: bytes }] }])
      .said('assistant', [{ type: 'text', text: 'A boat.' }])
      .said('user', [{ type: 'document', source: bytes }])
      .said('assistant', [{ type: 'text', text: 'A bill.' }]);
    await start(['ask', '-c', CLAUDE, 'sure?'], { env });
    assert.deepEqual(texts(fake.turns[0]), ['user: what is this?\n[image]', 'assistant: ', 'assistant: A boat.', 'user: [document]', 'assistant: A bill.', 'user: sure?']);
    assert.deepEqual(fake.turns[0].results, ['(no text)']);
  });

  test('a conversation begins with a template of a session of another agent', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    codexWork(home, CODEX);
    for (const [id, tool] of [[CLAUDE, 'Bash'], [CODEX, 'shell']]) {
      const made = run(['templates', 'create', id, '--name', `from-${tool.toLowerCase()}`], home);
      assert.equal(made.code, 0, made.stderr);
      const r = await start(['ask', '--template', `from-${tool.toLowerCase()}`, 'count again'], { env });
      assert.equal(r.code, 0, r.stderr);
      assert.ok(fake.turns.at(-1).messages.some((m) => m.calls.includes(tool)), tool);
    }
  });

  test('what is not there is said in words', () => {
    const home = tmpHome();
    claudeWork(home, CLAUDE);
    claudeWork(home, '11111111-aaaa-4aaa-8aaa-000000000009');
    const nothing = run(['ask', '-c', 'nope-nope', 'hi'], home);
    assert.equal(nothing.code, 3);
    assert.match(nothing.stderr, /no session 'nope-nope'; 'talaria sessions list' shows them/);
    assert.equal(run(['ask', '-c', '11111111', 'hi'], home).code, 4);
    assert.equal(run(['chat', '--resume', 'nope-nope'], { ...home, input: '' }).code, 3);
    assert.match(run(['chat', '--resume', 'nope-nope'], { ...home, input: '' }).stderr, /'talaria sessions list' shows them/);
    const inside = run(['chat', '--runtime', 'offline'], { ...home, input: '/resume nope-nope\n' });
    assert.match(inside.stdout + inside.stderr, /no session 'nope-nope'; \/sessions shows them/);
    assert.deepEqual(conversations(home), []);
  });
});

describe('at the terminal', () => {
  test('chat --resume shows what was said and writes nothing before the first message', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    const looked = await start(['chat', '--resume', CLAUDE.slice(0, 8)], { env, input: '/quit\n' });
    assert.equal(looked.code, 0, looked.stderr);
    assert.match(looked.stdout + looked.stderr, /and their colours\?[\s\S]*Red and blue\./);
    assert.deepEqual(conversations(home), []);
    const spoken = await start(['chat', '--resume', CLAUDE], { env, input: 'which is faster?\n' });
    assert.equal(spoken.code, 0, spoken.stderr);
    assert.match(spoken.stdout, /fine\./);
    assert.equal(texts(fake.turns[0]).at(-2), 'assistant: Red and blue.');
    const [c] = conversations(home);
    const again = await start(['chat', '--resume', CLAUDE], { env, input: '/quit\n' });
    assert.match(again.stdout + again.stderr, new RegExp(`conversation ${c.id}[\\s\\S]*continues session ${CLAUDE}`));
    assert.match(again.stdout + again.stderr, /which is faster\?[\s\S]*fine\./);
  });

  test('/sessions lists every agent, /resume takes any of them', async (t) => {
    const fake = await fakeModel(t);
    const home = tmpHome(), env = { ...home.env, ...fake.env };
    claudeWork(home, CLAUDE);
    codexWork(home, CODEX);
    const r = await start(['chat'], { env, input: `/sessions\n/resume ${CODEX.slice(0, 9)}\nand terns?\n` });
    assert.equal(r.code, 0, r.stderr);
    const all = r.stdout + r.stderr;
    for (const id of [CLAUDE, CODEX]) assert.match(all, new RegExp(`^ *${id} `, 'm'));
    assert.match(all, /Claude Code/);
    assert.match(all, /Codex/);
    assert.deepEqual(texts(fake.turns[0]).slice(-2), ['assistant: Two gulls.', 'user: and terns?']);
  });
});
