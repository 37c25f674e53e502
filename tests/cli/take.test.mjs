// talaria take: the code that a chat gave brings its session to a terminal, once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { gateway, query, until } from './handoffs.mjs';
import { bin, run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const limit = { timeout: 60_000 };
const db = (home) => path.join(home.data, 'talaria.db');

/** A session that is away at the local chat. */
async function away(t, home) {
  const g = await gateway(home.env);
  t.after(() => g.end('SIGKILL'));
  assert.equal(run(['chat'], { env: home.env, input: 'hello there\n/handoff local\n' }).code, 0);
  return query(db(home), 'select id from sessions')[0][0];
}

/** A code for it, as /handoff cli leaves one. */
function offer(home, id, code, minutes = 10) {
  const now = Date.now(), sha = createHash('sha256').update(code).digest('hex');
  query(db(home), `insert into take_code(sha256, home, session_id, made_ms, expires_ms) values('${sha}', '${home.data}', '${id}', ${now}, ${now + minutes * 60000})`);
}

const owner = (home) => query(db(home), 'select owner_surface from session_owner')[0][0];

test('a code opens the session at a terminal, and works once', limit, async (t) => {
  const home = tmpHome(), id = await away(t, home);
  offer(home, id, 'K7QM2XWP');
  const term = terminal(t, ['take', 'k7qm-2xwp'], { env: home.env, columns: 200 });
  await term.until('/help shows');
  await term.until('> hello there');
  assert.equal(owner(home), 'cli');
  assert.equal(query(db(home), 'select count(*) from gateway_routing')[0][0], 0);
  term.type('and more\r');
  await term.until((s) => s.split('-- completed').length > 1);
  term.type('/quit\r');
  assert.equal(await term.exited, 0);
  assert.equal(query(db(home), `select count(*) from messages where session_id = '${id}'`)[0][0], 4);
  const again = run(['take', 'K7QM2XWP'], { env: home.env });
  assert.equal(again.code, 3);
  assert.match(again.stderr, /no session waits under that code/);
});

test('while a session is away the chat answers without a model, the terminal is refused, and take brings all of it', limit, async (t) => {
  const home = tmpHome(), id = await away(t, home);
  const [[thread]] = query(db(home), 'select id from local_thread');
  const refused = run(['ask', 'still here?', '--conversation', id], { env: home.env });
  assert.equal(refused.code, 4);
  assert.match(refused.stderr, /continues in the local chat/);
  query(db(home), `insert into inbox(platform, id, update_json, state, received_ms, updated_ms) values('local', 'm1',
    '${JSON.stringify({ channel: 'home', thread, user: 'you', text: 'where is the ladder', id: 'm1' })}', 'new', 1, 1)`);
  const answers = () => query(db(home), `select text from local_message where thread = '${thread}' and author <> 'you' order by id`).flat();
  await until(() => answers().join('\n'), () => answers().some((x) => /No model is configured/.test(x)), 30_000);
  const rows = () => query(db(home), `select role, content from messages where session_id = '${id}' order by id`);
  await until(() => JSON.stringify(rows()), () => rows().length === 4, 30_000);
  assert.deepEqual(rows().map(([role]) => role), ['user', 'assistant', 'user', 'assistant']);
  assert.equal(rows()[2][1], 'where is the ladder');
  offer(home, id, 'K7QM2XWP');
  let taken;
  await until('the chat is idle', () => (taken = run(['take', 'K7QM2XWP'], { env: home.env })).code !== 4, 30_000);
  assert.equal(taken.code, 0, taken.stderr);
  assert.equal(owner(home), 'cli');
  assert.equal(run(['ask', 'and now here', '--conversation', id], { env: home.env }).code, 0);
  assert.equal(rows().length, 6);
});

test('without a terminal it says how to go on', limit, async (t) => {
  const home = tmpHome(), id = await away(t, home);
  offer(home, id, 'K7QM2XWP');
  const r = run(['take', 'K7QM2XWP'], { env: home.env });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, `talaria chat --resume ${id}\n`);
  assert.equal(owner(home), 'cli');
  assert.equal(run(['handoff', 'local', '--session', id], { env: home.env }).code, 0);
  offer(home, id, 'AAAABBBB');
  assert.deepEqual(runJson(['take', 'aaaa bbbb'], { env: home.env }),
    { format: 1, session_id: id, from: 'local', resume: `talaria chat --resume ${id}` });
  assert.equal(run(['handoff', 'local', '--session', id], { env: home.env }).code, 0);
  offer(home, id, 'CCCCDDDD');
  assert.deepEqual(run(['take', 'CCCC-DDDD', '-q'], { env: home.env }), { code: 0, signal: null, stdout: '', stderr: '' });
});

test('codes that are wrong, too old or none: nothing moves', limit, async (t) => {
  const home = tmpHome(), id = await away(t, home);
  offer(home, id, 'K7QM2XWP', -1);
  for (const code of ['K7QM2XWP', 'ZZZZ9999', '', '\x1b[31m', 'x'.repeat(100_000)]) {
    const r = run(['take', code], { env: home.env });
    assert.equal(r.code, 3, `${code.slice(0, 20)}: ${r.stderr}`);
    assert.ok(!r.stderr.includes('\x1b'));
  }
  assert.equal(run(['take'], { env: home.env }).code, 2);
  assert.equal(run(['take', 'a', 'b'], { env: home.env }).code, 2);
  assert.equal(owner(home), 'local');
  assert.equal(run(['take', 'ZZZZ9999', '--json'], { env: home.env }).stdout, '');
  // Two at once: one gets it.
  offer(home, id, 'CCCCDDDD');
  const both = await Promise.all([1, 2, 3, 4].map(() => new Promise((r) => spawn(bin, ['take', 'CCCCDDDD'], { env: home.env, stdio: 'ignore' }).on('exit', r))));
  assert.deepEqual(both.sort(), [0, 3, 3, 3]);
});

test('while an answer is on its way in the chat the session stays there, and the code stays good; of a gateway that is dead it comes', limit, async (t) => {
  const home = tmpHome();
  let asked;
  const first = new Promise((r) => { asked = r; });
  const server = http.createServer((rq, rs) => rq.resume().on('end', () => {
    rs.writeHead(200, { 'content-type': 'text/event-stream' });
    rs.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'slowly' } }] })}\n\n`);
    asked();
  }));
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  const g = await gateway(home.env, { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm' });
  t.after(() => g.end('SIGKILL'));
  assert.equal(run(['chat'], { env: home.env, input: 'hello there\n/handoff local\n' }).code, 0);
  const id = query(db(home), 'select id from sessions')[0][0];
  await first; // the agent says its first words there
  offer(home, id, 'K7QM2XWP');
  for (const args of [['take', 'K7QM2XWP'], ['handoff', 'back']]) {
    const r = run(args, { env: home.env });
    assert.equal(r.code, 4, args.join(' '));
    assert.match(r.stderr, /still answering/);
  }
  assert.equal(owner(home), 'local');
  await g.end('SIGKILL');
  const r = run(['take', 'K7QM2XWP'], { env: home.env });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(owner(home), 'cli');
});
