// The service with everything joined: two runtimes side by side, told the same, kept apart.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import OpenAI from 'openai';
import { fillHome, run, tmpHome } from '../cli/helpers.mjs';
import { fakeHermes } from '../fakes/hermes.mjs';
import { fakeModel } from './fake_model.mjs';
import { indexed, request, startServer } from './helpers.mjs';

const post = (server, target, body, headers = {}) => request(server, target, { method: 'POST', body, headers });
const sha = (text) => createHash('sha256').update(text).digest('hex');

async function conversation(server, body = {}) {
  const r = await post(server, '/api/conversations', body);
  assert.equal(r.status, 201, r.text);
  return r.json.id;
}

/** One turn, checked for what holds for every turn; the frames and the attachments by kind. */
async function turn(server, id, body) {
  const r = await post(server, `/api/conversations/${id}/chat`, body);
  assert.equal(r.status, 200, r.text);
  const frames = r.text.slice('retry: 2000\n'.length).split('\n\n').filter((f) => f && !f.startsWith(':')).map((f) => {
    const [, seq, event, data] = /^id: [^:]*:(\d+)\nevent: (.*)\ndata: (.*)$/.exec(f);
    return { seq: Number(seq), event, data: JSON.parse(data) };
  });
  assert.deepEqual(frames.map((f) => f.seq), frames.map((_, i) => i + 1));
  assert.match(frames.map((f) => f.event[0]).join(''), /^m[pc]*e?d$/);
  const text = frames.filter((f) => f.event === 'chunk').map((f) => f.data.text).join('');
  assert.equal(frames.at(-1).data.chars, Buffer.byteLength(text));
  const run = r.headers['x-run-id'];
  const { attachments } = (await request(server, `/api/conversations/${id}/attachments?run=${run}`)).json;
  const bodies = {};
  for (const a of attachments) bodies[a.kind] = { ...a, text: (await request(server, `/api/attachments/${a.id}`)).text };
  const { messages } = (await request(server, `/api/conversations/${id}/messages?after=0`)).json;
  const kept = messages.find((m) => m.id === frames[0].data.assistant_message_id);
  assert.equal(kept.content, text);
  return { run, frames, text, kept, attachments: bodies, metadata: frames[0].data, done: frames.at(-1).data, error: frames.find((f) => f.event === 'error')?.data,
    progress: (stage) => frames.filter((f) => f.event === 'progress' && f.data.stage === stage).map((f) => f.data) };
}

async function handles(server, id) {
  const { text } = await request(server, `/api/conversations/${id}`);
  return { state: JSON.parse(text).agent_state, raw: text };
}

/** The bytes of one handle in the document; nothing where there is none. */
function handleOf({ raw }, name) {
  const state = raw.slice(raw.indexOf('"agent_state"'));
  const at = state.indexOf(`"${name}": {`, state.indexOf('"runtimes"'));
  if (at < 0) return '';
  const rest = state.slice(at + name.length + 4);
  let depth = 0, quoted = false;
  for (let i = 0; i < rest.length; i++) {
    if (quoted) { if (rest[i] === '\\') i++; else quoted = rest[i] !== '"'; continue; }
    if (rest[i] === '"') quoted = true;
    else if (rest[i] === '{') depth++;
    else if (rest[i] === '}' && --depth === 0) return rest.slice(0, i + 1);
  }
  throw new Error('no end');
}

const hurried = (r) => r.attachments.context_receipt.text.includes('there was no time for it');
const ask = 'Look up how we fixed the failing test, then write release notes into notes/release.md; meanwhile check src/shop/cart.py';

test('the same turn on native and on hermes: the same receipts and steps, byte for byte; rows of the same shape', async (t) => {
  const fake = await fakeModel(t), hermes = (await fakeHermes(t)).env;
  const demo = tmpHome(t);
  fillHome(demo.env, '2026-11-15');
  const got = {};
  for (const runtime of ['native', 'hermes']) {
    // A turn that went on without some of its context, since there was no time, is made anew: the machine was busy.
    for (let tries = 0; tries < 8 && !(got[runtime] && !hurried(got[runtime])); tries++) {
      const home = tmpHome(t);
      fs.cpSync(demo.data, home.data, { recursive: true });
      // The index is whole before the server looks: none is made anew while the turn is prepared.
      run(['index'], { env: home.env });
      const server = await startServer(t, { home, env: { ...fake.env, ...hermes } });
      await indexed(server, 150);
      got[runtime] = await turn(server, await conversation(server, { runtime }), { text: ask });
      await server.stop();
    }
  }
  const { native, hermes: other } = got;
  assert.equal(native.done.status, 'completed');
  assert.equal(other.done.status, 'completed');
  assert.ok(native.metadata.context.recalled > 0 && native.metadata.context.user > 0, JSON.stringify(native.metadata.context));
  assert.ok(native.metadata.skills.some((s) => s.name === 'release-notes'));
  for (const kind of ['context_receipt', 'task_graph']) {
    assert.ok(native.attachments[kind].text.length > 100);
    assert.equal(other.attachments[kind].text, native.attachments[kind].text, kind);
    assert.equal(other.attachments[kind].sha256, sha(native.attachments[kind].text));
  }
  // Every item that was given has its receipt, and the text that was given is what the receipts say.
  const receipt = JSON.parse(native.attachments.context_receipt.text);
  for (const r of receipt.receipts) for (const key of ['kind', 'id', 'score', 'reason', 'chars']) assert.ok(key in r, key);
  assert.match(fake.turns.at(-1).system, /recalled-memory/);
  assert.equal(receipt.receipts.filter((r) => r.kind === 'recalled').length, native.metadata.context.recalled);
  // The decision is the runtime's: one who delegates may do steps at once, our own loop does not.
  assert.deepEqual({ ...other.metadata.graph, decision: '', score: 0 }, { ...native.metadata.graph, decision: '', score: 0 });
  assert.equal(native.metadata.graph.decision, 'serial');
  assert.deepEqual(Object.keys(other.kept).sort(), Object.keys(native.kept).sort());
  for (const key of Object.keys(native.kept)) if (other.kept[key] !== null) assert.equal(typeof other.kept[key], typeof native.kept[key], key);
  // What the peer really sent is in a trace that is not shown; nothing of it is in the message.
  assert.equal(other.attachments.runtime_trace?.visible ?? false, false);
  assert.ok(!other.text.includes('data:') && !other.text.includes('"event"'));
});

test('the agent_state of another program is jarvis\' handle, byte for byte, and is told to be of no use', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'anew' }));
  const server = await startServer(t, { env: fake.env });
  for (const old of ['{"thread":  "th_1",\n "z":1, "a":[ 2 ]}', '{"v":1}', '{"v":1,"messages":[{"role":"user","text":"theirs"}]}',
    '{"v":1, "dropped":0, "messages":[], "plan":{"step":3}}', 'not JSON at all']) {
    const id = await conversation(server, { runtime: 'native', agent_state: old });
    const theirs = async () => { const { state, raw } = await handles(server, id); return typeof state.runtimes.jarvis === 'string' ? state.runtimes.jarvis : raw.includes(`"jarvis": ${old}`) ? old : raw; };
    assert.equal(await theirs(), old);
    const r = await turn(server, id, { text: 'go on' });
    assert.equal(r.done.status, 'completed');
    assert.equal(r.metadata.continuity.mode, 'lost', old);
    assert.equal(r.progress('session').at(-1).detail, 'lost');
    assert.ok(!JSON.stringify(fake.turns.at(-1)).includes('theirs'));
    assert.equal(await theirs(), old, 'it stays as it is');
    // Ours is kept beside it, and goes on.
    const again = await turn(server, id, { text: 'and on' });
    assert.equal(again.metadata.continuity.mode, 'resumed');
    assert.equal(again.progress('session').at(-1).detail, 'resumed');
    assert.deepEqual(fake.turns.at(-1).messages.map((m) => m.text), ['go on', 'anew', 'and on']);
    assert.equal(await theirs(), old);
  }
  const ours = await request(server, '/api/conversations', { method: 'POST', body: { agent_state: '{"v":1,"active":"jarvis","runtimes":{}}' } });
  assert.equal(ours.status, 422, ours.text);
  assert.match(ours.text, /branch/);
});

test('fifty turns in turn: the handle of the one that waits never changes by a byte', async (t) => {
  const fake = await fakeModel(t, (_, n) => ({ text: `answer ${n}` }));
  const server = await startServer(t, { env: { ...fake.env, ...(await fakeHermes(t)).env } });
  const id = await conversation(server);
  const names = { native: 'jarvis', hermes: 'hermes' };
  let before = { state: { runtimes: {} } };
  for (let i = 0; i < 50; i++) {
    const runtime = i % 2 ? 'hermes' : 'native', other = names[i % 2 ? 'native' : 'hermes'];
    const r = await turn(server, id, { text: `turn ${i}`, runtime });
    assert.equal(r.done.status, 'completed', JSON.stringify(r.error));
    const now = await handles(server, id);
    assert.equal(now.state.active, names[runtime]);
    // The handles stand in the document as they are: bytes are compared, not values.
    if (before.raw) assert.equal(sha(handleOf(now, other)), sha(handleOf(before, other)), `turn ${i}`);
    if (runtime === 'native') assert.notEqual(handleOf(now, 'jarvis'), before.raw ? handleOf(before, 'jarvis') : '');
    assert.equal(r.metadata.continuity.mode, i < 2 ? 'new' : 'resumed');
    before = now;
  }
  // Neither loses the thread: what the other was told meanwhile is told, once.
  const last = fake.turns.at(-1).messages.at(-1).text;
  assert.match(last, /turn 47/);
  assert.match(last, /turn 48$/);
  assert.doesNotMatch(last, /turn 45/);
}, { timeout: 120_000 });

test('native calls its tools in every dialect, and the memory that it writes is there in the next conversation', async (t) => {
  for (const dialect of ['openai-chat', 'openai-responses', 'anthropic']) {
    const fake = await fakeModel(t, (q) => (q.results.length === 0
      ? { text: 'Let me look. ', calls: [{ name: 'session_search', arguments: { query: 'failing test' } }, { name: 'memory', arguments: { action: 'add', target: 'user', content: `likes ${dialect}` } }] }
      : q.results.length === 2 ? { calls: [{ name: 'session_read', arguments: { session: JSON.parse(q.results[0]).hits[0].session, limit: 3 } }, { name: 'skill_view', arguments: { name: 'release-notes' } }, { name: 'skill_view', arguments: { name: 'none' } }] }
        : { text: 'Found it.' }));
    const server = await startServer(t, { demo: true, env: { ...fake.env, TALARIA_MODEL_DIALECT: dialect } });
    await indexed(server, 150);
    const r = await turn(server, await conversation(server), { text: 'which test failed?' });
    assert.equal(r.text, 'Let me look. \n\nFound it.', dialect);
    assert.equal(r.done.status, 'completed');
    // Read back later, what it said before and after its tools is apart as it was in the stream.
    const kept = (await request(server, `/api/conversations/${r.metadata.conversation_id}/messages`)).json.messages;
    assert.deepEqual(kept.map((m) => m.passages), [null, [0, 'Let me look. '.length]]);
    assert.deepEqual(fake.turns[0].tools, ['session_search', 'session_read', 'skill_view', 'memory']);
    const results = fake.turns.at(-1).results;
    assert.ok(JSON.parse(results[0]).hits.length > 0);
    assert.equal(JSON.parse(results[1]).success, true);
    assert.equal(JSON.parse(results[2]).messages.length, 3);
    assert.match(JSON.parse(results[3]).body, /\S/);
    assert.match(results[4], /no skill 'none'/);
    assert.equal(r.progress('tool').filter((p) => p.status === 'completed').length, 4, JSON.stringify(r.progress('tool')));
    assert.equal(r.progress('tool').filter((p) => p.status === 'failed').length, 1);
    assert.match(fs.readFileSync(path.join(server.home.data, 'memories/USER.md'), 'utf8'), new RegExp(`likes ${dialect}`));
    // This conversation keeps the memory of its beginning; the next one has the new; refresh asks for it.
    const same = r.metadata.conversation_id;
    assert.doesNotMatch((await turn(server, same, { text: 'and now?' }), fake.turns.at(-1).system), new RegExp(`likes ${dialect}`));
    assert.match((await turn(server, await conversation(server), { text: 'and now?' }), fake.turns.at(-1).system), new RegExp(`likes ${dialect}`));
    assert.match((await turn(server, same, { text: 'and now?', refresh: true }), fake.turns.at(-1).system), new RegExp(`likes ${dialect}`));
  }
}, { timeout: 120_000 });

test('trouble with history, skills or notes makes a turn poorer and says so', async (t) => {
  const fake = await fakeModel(t);
  const home = tmpHome(t);
  fs.mkdirSync(path.join(home.data, 'memories/USER.md'), { recursive: true }); // no file
  const server = await startServer(t, { home, env: fake.env });
  const r = await turn(server, await conversation(server), { text: 'hello there friend' });
  assert.equal(r.done.status, 'completed');
  assert.deepEqual(r.progress('context').map((p) => p.status), ['degraded']);
  assert.match(r.progress('context')[0].detail, /user/);
  assert.deepEqual(r.progress('skills').map((p) => p.status), ['completed']);
  assert.deepEqual(r.progress('graph').map((p) => p.status), ['completed']);
});

test('models by name, for a conversation and for a turn; each has its own address and key', async (t) => {
  const small = await fakeModel(t, () => ({ text: 'small' })), large = await fakeModel(t, () => ({ text: 'large' }));
  const home = tmpHome(t);
  fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), `models:
  small: {base_url: "${small.url}", name: s-1, dialect: anthropic, api_key_env: SMALL_KEY}
  v2.large: {base_url: "${large.url}", name: l-1, dialect: openai-responses}
`);
  const server = await startServer(t, { home, env: { SMALL_KEY: 'of-small' } });
  const runtimes = (await request(server, '/api/runtimes')).json;
  assert.equal(runtimes.default, 'native');
  assert.deepEqual(runtimes.models, ['small', 'v2.large']);
  const id = await conversation(server, { model: 'v2.large' });
  assert.equal((await turn(server, id, { text: 'a' })).text, 'large');
  assert.equal((await turn(server, id, { text: 'b', model: 'small' })).text, 'small');
  assert.equal((await turn(server, id, { text: 'c' })).text, 'large');
  assert.equal(small.turns[0].body.model, 's-1');
  assert.equal(small.turns[0].dialect, 'anthropic');
  assert.equal(small.turns[0].authorization, 'of-small');
  assert.equal(large.turns[0].body.model, 'l-1');
  assert.equal(large.turns[0].authorization, undefined);
  // Where the turn does not say, the first is the default.
  assert.equal((await turn(server, await conversation(server), { text: 'd' })).text, 'small');
  assert.equal(run(['config', 'list'], { env: home.env }).stdout.includes('models.v2.large.name: l-1'), true);
});

test('a long conversation is summed up by the model that is there for it; where that fails, the old one stays', async (t) => {
  let sums = 0;
  const fake = await fakeModel(t, (q) => {
    if (!/Sum up a conversation/.test(q.system)) return { text: `${'the plan is to move src/app.py to lib and test it again. '.repeat(90)}` };
    sums++;
    return sums === 1 ? { status: 400 } : { text: 'SUMMARY: app.py moves to lib.' };
  });
  const home = tmpHome(t);
  fs.mkdirSync(path.join(home.user, '.config/talaria'), { recursive: true });
  fs.writeFileSync(path.join(home.user, '.config/talaria/config.yaml'), 'memory: {summary_model: m}\n');
  const server = await startServer(t, { home, env: fake.env });
  const id = await conversation(server);
  const told = () => fake.turns.filter((q) => !/Sum up a conversation/.test(q.system)).at(-1)?.system ?? '';
  for (let i = 0; i < 30 && !/SUMMARY: app.py/.test(told()); i++) await turn(server, id, { text: `go on ${i}` });
  assert.ok(sums >= 2, `asked ${sums} times`);
  assert.match(told(), /conversation-summary[^]*SUMMARY: app.py moves to lib\./);
}, { timeout: 60_000 });

test('the openai SDK: what it says as the system is an instruction; frames of ours have no choices', async (t) => {
  const fake = await fakeModel(t, () => ({ text: 'yes' }));
  const server = await startServer(t, { env: fake.env });
  const client = new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey: server.token, maxRetries: 0 });
  const messages = [{ role: 'system', content: 'Answer in one word.' }, { role: 'developer', content: 'Be kind.' }, { role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'user', content: 'c?' }];
  const stream = await client.chat.completions.create({ model: 'native', messages, stream: true, stream_options: { include_progress: true } });
  let said = '';
  const ours = [];
  for await (const chunk of stream) {
    assert.ok(Array.isArray(chunk.choices));
    if (chunk.talaria_progress) ours.push(chunk);
    said += chunk.choices[0]?.delta.content ?? '';
  }
  assert.equal(said, 'yes');
  assert.ok(ours.length > 0 && ours.every((c) => c.choices.length === 0));
  assert.match(fake.turns[0].system, /Answer in one word\.\n\nBe kind\./);
  assert.deepEqual(fake.turns[0].messages.map((m) => [m.role, m.text]), [['user', 'a'], ['assistant', 'b'], ['user', 'c?']]);
  const [c] = (await request(server, '/api/conversations')).json.conversations;
  assert.equal((await request(server, `/api/conversations/${c.id}/messages`)).json.messages.every((m) => m.role !== 'system'), true);
});

test('the openai SDK reads what was wrong with a request, and which token it lacks', async (t) => {
  const server = await startServer(t);
  const client = (apiKey) => new OpenAI({ baseURL: `http://${server.host}/v1`, apiKey, maxRetries: 0 });
  await assert.rejects(client(server.token).chat.completions.create({ model: 'offline', messages: [] }), (e) => e instanceof OpenAI.APIError
    && e.status === 400 && /'messages' must be a list/.test(e.error?.message) && e.type === 'invalid_request_error' && e.code === 'usage');
  await assert.rejects(client('wrong').chat.completions.create({ model: 'offline', messages: [] }), (e) => e instanceof OpenAI.AuthenticationError
    && /server-token/.test(e.message));
});

test('steps cost what they have cost here, once there are five of a kind', async (t) => {
  const fake = await fakeModel(t), home = tmpHome(t);
  const costOf = async (server) => {
    const { attachments } = await turn(server, await conversation(server), { text: 'fix the parser in lib/dates.py', runtime: 'native' });
    const { nodes } = JSON.parse(attachments.task_graph.text);
    assert.deepEqual(nodes.map((n) => n.kind), ['code']);
    return nodes[0].cost;
  };
  let server = await startServer(t, { home, env: fake.env });
  for (let i = 0; i < 5; i++) assert.equal(await costOf(server), 120, 'so long as nothing better is known');
  await server.stop();
  server = await startServer(t, { home, env: fake.env });
  const cost = await costOf(server);
  assert.ok(cost > 0 && cost < 60, `the median of five short turns, not ${cost}`);
});
