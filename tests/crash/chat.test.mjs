// The server killed in the middle of an answer: what a reader saw is there, the run is closed truthfully, and
// the rest of its log follows exactly.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { request, startServer } from '../http/helpers.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { seeded } from './seeded.mjs';

const rounds = process.env.TALARIA_LONG === '1' ? 200 : 20;
const words = Array.from({ length: 400 }, (_, i) => `wörd${i} `);

async function model(t) {
  const server = http.createServer((rq, rs) => {
    rq.resume();
    rq.on('end', () => {
      let i = 0;
      rs.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => {
        if (i === words.length || rs.destroyed) { clearInterval(timer); rs.end('data: [DONE]\n\n'); return; }
        rs.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: words[i++] }, finish_reason: null }] })}\n\n`);
      }, 1);
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm' };
}

const parse = (text) => text.replace(/^retry: 2000\n/, '').split('\n\n').slice(0, -1).filter((f) => !f.startsWith(':'));
const data = (frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7));

/** Chats, and kills the server when so many frames were seen. Gives the whole frames that came. */
function chatUntilKilled(server, id, most) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ text: 'go' });
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: `/api/conversations/${id}/chat`, method: 'POST', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': body.length } }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (d) => {
        text += d;
        if (parse(text).length >= most) server.child.kill('SIGKILL');
      });
      const done = () => resolve({ run: res.headers['x-run-id'], frames: parse(text) });
      res.on('close', done);
      res.on('error', () => {});
    });
    rq.on('error', reject);
    rq.end(body);
  });
}

test(`killed ${rounds} times in the middle of an answer`, { timeout: 30_000 + rounds * 5000 }, async (t) => {
  const env = await model(t), home = tmpHome(t), random = seeded(t);
  let server = await startServer(t, { home, env });
  for (let i = 0; i < rounds; i++) {
    const c = (await request(server, '/api/conversations', { method: 'POST', body: { runtime: 'native' } })).json;
    const { run, frames } = await chatUntilKilled(server, c.id, 2 + Math.floor(random() * 60));
    await server.exited;
    server = await startServer(t, { home, env });

    const row = (await request(server, `/api/runs/${run}`)).json;
    assert.equal(row.state, 'failed');
    assert.equal(row.error_code, 'internal');
    const log = parse((await request(server, `/api/runs/${run}/events`)).text);
    assert.deepEqual(log.slice(0, frames.length), frames, 'what was seen is what was kept');
    const rest = parse((await request(server, `/api/runs/${run}/events`, { headers: { 'Last-Event-ID': `${run}:${frames.length}` } })).text);
    assert.deepEqual([...frames, ...rest], log);
    assert.deepEqual(log.slice(-2).map((f) => /event: (.*)/.exec(f)[1]), ['error', 'done']);
    assert.equal(data(log.at(-2)).message, 'engine restarted');

    const said = log.filter((f) => f.includes('\nevent: chunk\n')).map((f) => data(f).text).join('');
    const { messages } = (await request(server, `/api/conversations/${c.id}/messages`)).json;
    assert.equal(messages[1].content, said);
    assert.equal(messages[1].status, said ? 'partial' : 'failed');
    assert.ok(words.join('').startsWith(said));
    // The conversation is free again.
    assert.equal((await request(server, `/api/conversations/${c.id}`)).json.running, null);
  }
  await server.stop();
});

/** A program that speaks as Claude Code does, a word every few milliseconds, and says which process it is. */
function talker(home) {
  const bin = path.join(home.dir ?? path.dirname(home.data), 'bin'), pids = path.join(bin, 'pids');
  const word = (n) => JSON.stringify({ type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `w${n} ` } } });
  fs.mkdirSync(bin, { recursive: true });
  fs.writeFileSync(path.join(bin, 'claude'), `#!${process.execPath}
require('node:fs').appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
console.log(${JSON.stringify(JSON.stringify({ type: 'system', subtype: 'init', session_id: '5f9d7a52-7f5e-4f65-9f8e-0d4c52b5a001', model: 'm' }))});
let n = 0;
setInterval(() => console.log(${JSON.stringify(word('@'))}.replace('@', n++)), 3);
`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH}`, pids: () => fs.readFileSync(pids, 'utf8').trim().split('\n').map(Number) };
}

function lives(pid) {
  try { return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8')); } catch { return false; }
}

test('a child that was speaking dies with the server, and what it said is kept', { timeout: 60_000 + rounds * 5000 }, async (t) => {
  const home = tmpHome(t), random = seeded(t), { PATH, pids } = talker(home);
  let server = await startServer(t, { home, env: { PATH } });
  for (let i = 0; i < Math.max(3, rounds / 10); i++) {
    const c = (await request(server, '/api/conversations', { method: 'POST', body: { runtime: 'claude' } })).json;
    const { run, frames } = await chatUntilKilled(server, c.id, 8 + Math.floor(random() * 40));
    await server.exited;
    const pid = pids().at(-1), since = Date.now();
    while (lives(pid)) assert.ok(Date.now() - since < 5000, `child ${pid} outlived the server`);
    server = await startServer(t, { home, env: { PATH } });
    const log = parse((await request(server, `/api/runs/${run}/events`)).text);
    assert.deepEqual(log.slice(0, frames.length), frames);
    assert.deepEqual(log.slice(-2).map((f) => /event: (.*)/.exec(f)[1]), ['error', 'done']);
    const said = log.filter((f) => f.includes('\nevent: chunk\n')).map((f) => data(f).text).join('');
    assert.match(said, /^w0 w1 /);
    const { messages } = (await request(server, `/api/conversations/${c.id}/messages`)).json;
    assert.deepEqual([messages[1].content, messages[1].status], [said, 'partial']);
  }
  await server.stop();
});
