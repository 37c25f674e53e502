// A conversation moves from the terminal to the local chat: the model is sent the same words there, tools and all.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';
import { fakeModel } from '../http/fake_model.mjs';
import { bin, python, tmpHome } from './helpers.mjs';

/** Beside the model, which answers from this process. */
const run = (args, { env }) => new Promise((done) => {
  execFile(bin, args, { env, timeout: 60_000, encoding: 'utf8' }, (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
});

async function gateway(t, env) {
  const child = spawn(bin, ['gateway', 'run'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (d) => { said += d; });
  const gone = new Promise((r) => child.once('exit', (code) => r(code)));
  t.after(() => child.kill('SIGKILL'));
  await new Promise((ready, failed) => {
    child.stdout.once('data', ready);
    gone.then(() => failed(new Error(said)));
  });
  return { said: () => said, end: (signal = 'SIGTERM') => { child.kill(signal); return gone; } };
}

async function until(what, condition, ms = 20_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const got = condition();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`not in time: ${what()}`);
}

const sql = (home, text, ...values) => JSON.parse(python(`
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20)
rows = db.execute(sys.argv[2], sys.argv[3:]).fetchall()
db.commit()
print(json.dumps(rows))`, `${home.data}/talaria.db`, text, ...values));

/** As the local chat puts it there when its user writes. */
const write = (home, thread, id, text) => sql(home,
  `insert into inbox(platform, id, update_json, state, received_ms, updated_ms) values('local', ?, ?, 'new', 1, 1)`,
  id, JSON.stringify({ channel: 'home', thread, user: 'you', text, id }));

const said = (home, thread) => sql(home, `select author || ': ' || text from local_message where thread = ? order by id`, thread).flat();

/** Two turns with a tool in between, by talaria ask. */
async function talk(home, env) {
  const ask = async (text, ...more) => {
    const r = await run(['ask', text, '--json', ...more], { env });
    assert.equal(r.code, 0, r.stderr);
    return JSON.parse(r.stdout.split('\n')[0]);
  };
  const first = await ask('look it up');
  const id = first.conversation_id ?? first.data?.conversation_id;
  assert.ok(id, JSON.stringify(first));
  await ask('and again', '--conversation', id);
  return id;
}

const model = (t, seen) => fakeModel(t, (q) => {
  seen.push(q);
  const last = q.messages.at(-1);
  if (last.text === 'look it up') return { calls: [{ name: 'session_search', arguments: { query: 'login' } }] };
  return { text: last.role === 'tool' ? 'looked up' : `you said ${last.text.slice(0, 12)}` };
});

test('the next turn at the destination is sent the same transcript', { timeout: 110_000 }, async (t) => {
  const home = tmpHome(), seen = [];
  const fake = await model(t, seen);
  const env = { ...home.env, ...fake.env };
  const id = await talk(home, env);

  // What the terminal would have sent, in a copy of everything.
  const copy = tmpHome();
  fs.cpSync(home.data, copy.data, { recursive: true });
  assert.equal((await run(['ask', 'go on', '--conversation', id], { env: { ...copy.env, ...fake.env } })).code, 0);
  const stayed = seen.at(-1);
  assert.ok(stayed.messages.some((m) => m.calls.includes('session_search')), 'a call is part of it');
  assert.equal(stayed.results.length, 1);

  const g = await gateway(t, env);
  const r = await run(['handoff', 'local', '--session', id], { env });
  assert.equal(r.code, 0, r.stderr);
  const [[thread]] = sql(home, 'select id from local_thread');
  const there = await until(() => said(home, thread).join('\n') + g.said(), () => {
    const all = said(home, thread);
    return all.length === 2 && /you said \[From Talari/.test(all[1]) && all;
  });
  assert.match(there[0], /^talaria: Session handed over/);
  // Nobody's words were kept for it.
  assert.deepEqual(sql(home, `select count(*) from messages where session_id = ? and role = 'user'`, id), [[2]]);

  // The terminal may not write it any more, and is told where it is.
  const refused = await run(['ask', 'mine', '--conversation', id], { env });
  assert.equal(refused.code, 4, refused.stderr);
  assert.match(refused.stderr, /continues in the local chat; run 'talaria handoff back --session/);

  write(home, thread, 'm1', 'go on');
  await until(() => said(home, thread).join('\n') + g.said(), () => said(home, thread).some((x) => /you said go on/.test(x)));
  const moved = seen.at(-1);
  assert.ok(!moved.messages.some((m) => /From Talaria/.test(m.text)), 'the event is not part of what was said');
  const words = moved.messages.filter((m) => !/^you said \[From/.test(m.text));
  assert.equal(words.length, moved.messages.length - 1);
  assert.deepEqual(words, stayed.messages);
  assert.deepEqual(moved.results, stayed.results);
  assert.deepEqual(sql(home, `select state from inbox where id = 'm1'`), [['done']]);

  // The same update again: it was answered.
  assert.equal(await g.end(), 0);
  sql(home, `update inbox set state = 'new' where id = 'm1'`);
  const before = seen.length, again = await gateway(t, env);
  await until(() => again.said(), () => sql(home, `select state from inbox where id = 'm1'`)[0][0] === 'done');
  assert.equal(seen.length, before);
  assert.equal(said(home, thread).filter((x) => /you said go on/.test(x)).length, 1);

  // And back.
  assert.equal((await run(['handoff', 'back', '--session', id], { env })).code, 0);
  const mine = await run(['ask', 'mine', '--conversation', id], { env });
  assert.equal(mine.code, 0, mine.stderr);
  await again.end();
});
