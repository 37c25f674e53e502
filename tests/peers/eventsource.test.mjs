// A run followed through the EventSource that programs use, in two generations, over a connection that breaks three times meanwhile.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { request, startServer } from '../http/helpers.mjs';

const listen = (t, server) => new Promise((r) => {
  t.after(() => server.close());
  server.listen(0, '127.0.0.1', () => r(server.address().port));
});

/** A model that says its next word when it is told to. */
async function model(t) {
  let answer, asked;
  const ready = new Promise((r) => { asked = r; });
  const frame = (delta, finish_reason = null) => answer.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  const server = http.createServer((rq, rs) => { answer = rs; rq.resume().on('end', () => { rs.writeHead(200, { 'content-type': 'text/event-stream' }); asked(); }); });
  const port = await listen(t, server);
  t.after(() => server.closeAllConnections());
  return { ready, say: (content) => frame({ content }), end: () => { frame({}, 'stop'); answer.end('data: [DONE]\n\n'); },
    env: { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`, TALARIA_MODEL: 'm', TALARIA_MODEL_DIALECT: 'openai-chat' } };
}

/** Stands before the server; cut() breaks every connection that goes through it. */
async function proxy(t) {
  const open = new Set(), front = { cut: () => open.forEach((s) => s.destroy()) };
  front.port = await listen(t, net.createServer((a) => {
    const b = net.connect(front.to, '127.0.0.1');
    for (const s of [a, b]) { open.add(s); s.on('error', () => {}).on('close', () => { open.delete(s); a.destroy(); b.destroy(); }); }
    a.pipe(b).pipe(a);
  }));
  t.after(front.cut);
  return front;
}

for (const version of [4, 5])
  test(`eventsource ${version}: three cuts, every event once and in order, and it stops at the end`, { timeout: 60_000 }, async (t) => {
    const { EventSource } = await import(`eventsource${version}`), fake = await model(t), front = await proxy(t);
    const server = await startServer(t, { env: fake.env, args: ['--allow-host', `127.0.0.1:${front.port}`] });
    front.to = server.port;
    const { id } = (await request(server, '/api/conversations', { method: 'POST', body: { runtime: 'native' } })).json;
    const whole = request(server, `/api/conversations/${id}/chat`, { method: 'POST', body: { text: 'go' } });
    await fake.ready;
    const run = (await request(server, `/api/conversations/${id}`)).json.running ?? (await request(server, `/api/conversations/${id}/messages`)).json.messages.at(-1).run_id;
    const got = [], statuses = [];
    let seen = () => {};
    const source = new EventSource(`http://127.0.0.1:${front.port}/api/runs/${run}/events`, {
      fetch: async (url, init) => {
        const answer = await fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${server.token}` } });
        statuses.push(answer.status);
        return answer;
      },
    });
    t.after(() => source.close());
    const closed = new Promise((r) => source.addEventListener('error', () => source.readyState === 2 && r()));
    for (const name of ['metadata', 'progress', 'chunk', 'done']) source.addEventListener(name, (e) => { got.push({ id: e.lastEventId, event: name, data: JSON.parse(e.data) }); seen(); });
    const said = () => got.filter((f) => f.event === 'chunk').map((f) => f.data.text).join('');
    let text = '';
    for (let i = 0; i < 8; i++) {
      // Some words are said while nobody listens.
      if (i % 2 === 1 && i < 6) front.cut();
      const word = `wörd${i} `;
      text += word;
      fake.say(word);
      if (i % 2 === 0) await new Promise((r) => { seen = () => said() === text && r(); seen(); });
    }
    fake.end();
    await closed;
    assert.deepEqual(statuses, [200, 200, 200, 200, 204]);
    const want = (await whole).text.replace(/^retry: 2000\n/, '').split('\n\n').filter((f) => f && !f.startsWith(':')).map((f) => {
      const line = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(f)[1];
      return { id: line('id'), event: line('event'), data: JSON.parse(line('data')) };
    });
    assert.deepEqual(got, want);
    assert.equal(said(), text);
  });
