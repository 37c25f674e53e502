// Conversations with models of others: a real one, tiny, in llama.cpp; and a model server with chaos.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fixtures, root, tmpHome } from '../cli/helpers.mjs';
import { request, startServer } from '../http/helpers.mjs';
import { pairs } from './matrix.mjs';

const peers = path.join(root, 'tests/peers');

/** A program of others that says on its standard output where it listens. */
async function serve(t, args, pattern, cwd = peers) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (d) => { const m = pattern.exec(out += d); if (m) resolve(m[1]); });
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${out}`)));
  });
}

const post = (server, target, body) => request(server, target, { method: 'POST', body });
const data = (text) => text.split('\n\n').filter((f) => f.includes('event: ')).map((f) => ({ id: /^id: (.*)$/m.exec(f)[1], event: /^event: (.*)$/m.exec(f)[1], data: JSON.parse(/^data: (.*)$/m.exec(f)[1]) }));
const said = (frames) => frames.filter((f) => f.event === 'chunk').map((f) => f.data.text).join('');

/** Reads a run until the line is dropped after `chunks` of them; what came, and the last id. */
function dropAfter(server, target, body, chunks) {
  return new Promise((resolve, reject) => {
    const bytes = JSON.stringify(body);
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: target, method: 'POST', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) } }, (res) => {
      let text = '';
      res.on('data', (d) => {
        text += d;
        const whole = data(text.slice(0, text.lastIndexOf('\n\n') + 2).replace(/^retry: \d+\n/, ''));
        if (whole.filter((f) => f.event === 'chunk').length >= chunks) { res.destroy(); resolve(whole); }
      });
      res.on('end', () => resolve(data(text.replace(/^retry: \d+\n/, ''))));
    });
    rq.on('error', reject);
    rq.end(bytes);
  });
}

test('a conversation with a real language model: streamed, dropped, resumed, gone on with', async (t) => {
  const folder = path.join(fixtures, 'tinylm');
  const url = await serve(t, [path.join(folder, 'server.mjs'), path.join(folder, 'stories260k.gguf')], /(http:\S+)\n/, path.join(peers, 'tinylm'));
  const server = await startServer(t, { env: { TALARIA_MODEL_BASE_URL: url, TALARIA_MODEL: 'stories260K' } });
  const { id } = (await post(server, '/api/conversations', {})).json;
  const first = await dropAfter(server, `/api/conversations/${id}/chat`, { text: 'Once upon a time there was a little girl who' }, 5);
  const run = first[0].data.run_id;
  const rest = data((await request(server, `/api/runs/${run}/events`, { headers: { 'Last-Event-ID': first.at(-1).id } })).text.replace(/^retry: \d+\n/, ''));
  const whole = data((await request(server, `/api/runs/${run}/events`)).text.replace(/^retry: \d+\n/, ''));
  assert.deepEqual([...first, ...rest], whole);
  assert.equal(whole.at(-1).data.status, 'completed');
  assert.ok(whole.at(-1).data.usage.output > 10);
  const { messages } = (await request(server, `/api/conversations/${id}/messages`)).json;
  assert.equal(messages[1].content, said(whole));
  assert.match(said(whole), /[a-z]{3,} [a-z]{2,}/); // words
  // The same request is the same answer: nothing of it is ours.
  const other = (await post(server, '/api/conversations', {})).json.id;
  assert.equal(said(data((await post(server, `/api/conversations/${other}/chat`, { text: 'Once upon a time there was a little girl who' })).text.replace(/^retry: \d+\n/, ''))), said(whole));
  const second = data((await post(server, `/api/conversations/${id}/chat`, { text: 'Then she' })).text.replace(/^retry: \d+\n/, ''));
  assert.equal(second[0].data.continuity.mode, 'resumed');
  assert.equal(second.at(-1).data.status, 'completed');
  assert.ok(said(second).length > 0);
}, { timeout: 60_000 });

describe('aimock, through the whole service', () => {
  const cli = path.join(peers, 'node_modules/@copilotkit/aimock/dist/cli.js');
  const { dir } = tmpHome();
  const answer = 'Found it: wörld 你好, in several pieces.';
  const mocks = path.join(dir, 'fixtures.json');
  fs.writeFileSync(mocks, JSON.stringify({ fixtures: [
    { match: { userMessage: 'look it up', hasToolResult: true }, response: { content: answer } },
    { match: { userMessage: 'look it up' }, response: { toolCalls: [{ name: 'session_search', arguments: { query: 'login' } }] } },
    { match: { userMessage: 'greet me' }, response: { content: answer } },
  ] }));
  const dialects = ['openai-chat', 'openai-responses', 'anthropic'];
  for (const dialect of dialects) {
    test(`${dialect}: a tool, then the answer`, async (t) => {
      const url = await serve(t, [cli, '-p', '0', '-f', mocks, '-c', '5'], /listening on (http:\S+)/);
      const server = await startServer(t, { env: { TALARIA_MODEL_BASE_URL: url, TALARIA_MODEL: 'gpt-4o', TALARIA_MODEL_DIALECT: dialect, TALARIA_MODEL_KEY: 'mock' } });
      const { id } = (await post(server, '/api/conversations', {})).json;
      const frames = data((await post(server, `/api/conversations/${id}/chat`, { text: 'look it up' })).text.replace(/^retry: \d+\n/, ''));
      assert.equal(frames.at(-1).data.status, 'completed', JSON.stringify(frames.find((f) => f.event === 'error')?.data));
      assert.equal(said(frames), answer);
      assert.deepEqual(frames.filter((f) => f.data.stage === 'tool').map((f) => [f.data.tool, f.data.status]), [['session_search', 'started'], ['session_search', 'completed']]);
    });
  }
  for (const [dialect, chaos] of pairs(dialects, ['drop', 'malformed', 'disconnect'])) {
    test(`${dialect}, chaos ${chaos}: every turn is the whole answer or one error, and what was said is kept`, async (t) => {
      const url = await serve(t, [cli, '-p', '0', '-f', mocks, '-c', '5', `--chaos-${chaos}`, '0.4'], /listening on (http:\S+)/);
      const server = await startServer(t, { env: { TALARIA_MODEL_BASE_URL: url, TALARIA_MODEL: 'gpt-4o', TALARIA_MODEL_DIALECT: dialect, TALARIA_MODEL_KEY: 'mock' } });
      let good = 0;
      for (let i = 0; i < 12; i++) {
        const { id } = (await post(server, '/api/conversations', {})).json;
        const frames = data((await post(server, `/api/conversations/${id}/chat`, { text: 'greet me' })).text.replace(/^retry: \d+\n/, ''));
        const { status, chars } = frames.at(-1).data, errors = frames.filter((f) => f.event === 'error');
        assert.match(frames.map((f) => f.event[0]).join(''), /^m[pc]*e?d$/);
        assert.equal(errors.length, status === 'completed' ? 0 : 1);
        if (status === 'completed') { good++; assert.equal(said(frames), answer); } else assert.ok(answer.startsWith(said(frames)));
        const { messages } = (await request(server, `/api/conversations/${id}/messages`)).json;
        assert.equal(messages[1].content, said(frames));
        assert.equal(Buffer.byteLength(messages[1].content), chars);
      }
      assert.ok(good > 0);
    });
  }
}, { timeout: 300_000 });
