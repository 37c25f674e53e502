// Agents that ask in the middle of a turn, and turns that never end, at chat platforms: what is asked is read and answered
// there, once, by whoever may; /stop ends whatever runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { gateway, until } from '../cli/handoffs.mjs';
import { bin, tmpHome } from '../cli/helpers.mjs';
import * as agents from './agents.mjs';
import { worlds } from './worlds.mjs';

const { query } = agents;
const awhile = 30_000, limit = { timeout: 120_000 };

const run = (args, env) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

/** The chat that needs no account, in the shape of worlds.mjs. */
function local(file) {
  const thread = () => query(file, 'select id from local_thread').map(([id]) => id);
  let n = 0;
  return {
    name: 'local', env: {}, threads: thread,
    ours: (id) => query(file, `select text from local_message where author = 'talaria' and thread = '${id}' order by id`).map(([x]) => x),
    says: (id, text) => query(file, `insert into inbox(platform, id, update_json, state, received_ms, updated_ms)
      values('local', 'w${++n}', '${JSON.stringify({ channel: 'home', thread: id, user: 'you', text, id: `w${n}` })}', 'new', ${Date.now()}, ${Date.now()})`),
  };
}

/** A session of that runtime, at a place where one can write. */
async function away(t, runtime, open) {
  const home = tmpHome(), file = `${home.data}/talaria.db`;
  const world = open ? await open(t) : local(file);
  const env = { ...await agents[runtime](t, home), ...world.env };
  const asked = await run(['ask', 'hello there', '--runtime', runtime, '--json'], env);
  assert.equal(asked.code, 0, asked.stderr);
  const first = JSON.parse(asked.stdout.split('\n')[0]), id = first.conversation_id ?? first.data.conversation_id;
  let g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  assert.equal((await run(['handoff', world.name, '--session', id, '--no-turn'], env)).code, 0);
  await until(() => `a line: ${g.said()}`, () => query(file, `select link from platform_state where platform = '${world.name}'`)[0]?.[0] === 'connected', awhile);
  const [thread] = world.threads();
  return {
    world, env, id, file, said: () => world.ours(thread).slice(1), // without the card
    says: (text) => world.says(thread, text), thread,
    hears: (pattern) => until(() => `${pattern}: ${JSON.stringify(world.ours(thread))} ${g.said()}`, () => world.ours(thread).slice(1).find((x) => pattern.test(x)), awhile),
    restart: async () => { await g.end('SIGKILL'); g = await gateway(env); },
    gateway: () => g,
  };
}

for (const [name, open] of [['local', null], ['telegram', worlds.telegram], ['slack', worlds.slack]]) {
  test(`${name}: what an agent asks stands there, and one word lets it go on`, limit, async (t) => {
    const a = await away(t, 'hermes', open), mark = name === 'slack' ? '!' : '/';
    const fenced = name === 'telegram' ? /rm -r build/ : /```\nrm -r build\n```/;
    a.says('please approve it');
    const question = await a.hears(/The agent needs your approval/);
    assert.match(question, fenced);
    assert.match(question, new RegExp(`${mark}approve - once\n${mark}approve session - [^\n]+\n${mark}approve always - [^\n]+\n${mark}deny - no\n\nIt is denied if you do not answer within 5 minutes\\.$`));
    a.says(`${mark}approve maybe`);
    await a.hears(/^This did not work: unknown choice 'maybe'/);
    a.says(`${mark}approve session`);
    await a.hears(/^Approved for the rest of the session\.$/);
    const answer = await a.hears(/You said: please approve it/);
    assert.equal(a.said().filter((x) => /The agent needs your approval/.test(x)).length, 1);
    assert.ok(a.said().indexOf(answer) > a.said().findIndex((x) => /The agent needs your approval/.test(x)), 'the rest stands below');
    a.says(`${mark}approve`);
    await a.hears(/^This did not work: nothing is waiting for your approval/);
    assert.deepEqual(query(a.file, 'select distinct state from run'), [['completed']]);
    assert.equal((await a.gateway().end()).code, 0);
  });
}

test('telegram: a stranger in the same thread answers nothing', limit, async (t) => {
  const a = await away(t, 'hermes', worlds.telegram), { fake } = a.world;
  a.says('please approve it');
  await a.hears(/The agent needs your approval/);
  fake.say({ chat: -100777, from: 99, thread: Number(a.thread), text: '/approve' });
  await until('it was read', () => query(a.file, `select count(*) from inbox where state = 'ignored' and reason = 'of a stranger in a group'`)[0][0] === 1, awhile);
  assert.deepEqual(query(a.file, `select state from run order by started_ms desc limit 1`), [['running']]);
  a.says('/deny');
  await a.hears(/^Denied\.$/);
  await a.hears(/You said: please approve it/);
});

test('another message ends the turn and its question; a gateway that dies takes the question with it', limit, async (t) => {
  const a = await away(t, 'codex'), questions = () => a.said().filter((x) => /The agent needs your approval/.test(x)).length;
  a.says('please approve it');
  await a.hears(/The agent needs your approval/);
  a.says('forget it');
  await a.hears(/The note says hello/);
  a.says('/approve');
  await a.hears(/nothing is waiting for your approval/);
  a.says('now approve that');
  await until('a question', () => questions() === 2, awhile);
  await a.restart();
  // It is made anew and asks anew: an answer to the old question, written before, reaches neither.
  await until('asked again', () => questions() === 3, awhile);
  query(a.file, `insert into inbox(platform, id, update_json, state, received_ms, updated_ms)
    values('local', 'old', '${JSON.stringify({ channel: 'home', thread: a.thread, user: 'you', text: '/approve', id: 'old' })}', 'new', ${Date.now() - 60_000}, 1)`);
  await a.hears(/newer than your answer; read it first/);
  a.says('/approve');
  await until('an answer', () => a.said().filter((x) => /The note says hello/.test(x)).length === 2, awhile);
  assert.equal(query(a.file, `select count(*) from run where state = 'failed' and error_code = 'internal'`)[0][0], 1, 'the dead run is closed as such');
  await until('all of it is sent', () => query(a.file, `select count(*) from outbox where state <> 'sent'`)[0][0] === 0, awhile);
});

for (const [word, choice] of [['/approve', /^Approved once\.$/], ['/deny', /^Denied\.$/]])
  test(`codex: ${word}`, limit, async (t) => {
    const a = await away(t, 'codex');
    a.says('please approve it');
    const question = await a.hears(/The agent needs your approval/);
    assert.ok(!/always/.test(question), 'only what it offers');
    a.says('/approve always');
    await a.hears(/'always' is not one of the choices here/);
    a.says(word);
    await a.hears(choice);
    await until(() => JSON.stringify(a.said()), () => a.said().filter((x) => /The note says hello/.test(x)).length === 1, awhile);
  });

const over = (a) => query(a.file, `select state from run order by started_ms desc, id desc limit 1`)[0][0] !== 'running';

for (const runtime of ['native', 'hermes', 'claude', 'codex'])
  test(`${runtime}: /stop ends a turn that never would`, limit, async (t) => {
    const a = await away(t, runtime);
    for (const text of runtime === 'hermes' ? ['please approve it', 'be slow'] : runtime === 'codex' ? ['hang', 'please approve it'] : ['hang']) {
      const before = a.said().length;
      a.says(text);
      if (/approve/.test(text)) await a.hears(/The agent needs your approval/);
      await until('it runs', () => query(a.file, `select count(*) from run where state = 'running'`)[0][0] === 1, awhile);
      a.says('/stop');
      await until(() => `stopped: ${JSON.stringify(a.said())}`, () => a.said().slice(before).some((x) => /^Stopped\./.test(x)), awhile);
      await until(() => `over: ${JSON.stringify(query(a.file, 'select state, error_code from run'))}`, () => over(a), awhile);
      assert.deepEqual(query(a.file, `select state from run order by started_ms desc, id desc limit 1`), [['cancelled']]);
    }
    const count = query(a.file, `select count(*) from run`)[0][0];
    if (runtime === 'hermes') return; // the fake is told what was said before, and would ask again, slowly
    a.says('go on');
    await until(() => `an answer: ${JSON.stringify(a.said())}`, () => query(a.file, `select count(*) from run where state = 'completed'`)[0][0] >= 2 && query(a.file, `select count(*) from run`)[0][0] === count + 1, awhile);
    await until('all was said', () => query(a.file, `select count(*) from outbox where state <> 'sent'`)[0][0] === 0, awhile);
  });
