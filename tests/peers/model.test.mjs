// A model server of others, in all three dialects: what it says arrives whole, and what goes wrong with
// it is told as what it is. Chaos is on in the second half: requests dropped with 500, malformed
// answers, broken connections, rate limits.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bin, root, tmpHome } from '../cli/helpers.mjs';

const cli = path.join(root, 'tests/peers/node_modules/@copilotkit/aimock/dist/cli.js');
const dialects = ['openai-chat', 'openai-responses', 'anthropic'];
const answer = 'Hello there, wörld. 你好! 🙂 This is long enough for several pieces, with a **mark** in it.';
const key = 'sk-peer-0123456789abcdefghijkl';

const { dir, env } = tmpHome();
const fixtures = path.join(dir, 'fixtures.json');
fs.writeFileSync(fixtures, JSON.stringify({ fixtures: [
  { match: { userMessage: 'greet me' }, response: { content: answer } },
  { match: { userMessage: 'think first' }, response: { content: 'Done.', reasoning: 'Let me see.' } },
  { match: { userMessage: 'call a tool' }, response: { toolCalls: [{ name: 'read', arguments: { path: 'ä.txt', lines: [1, 2] } }] } },
  { match: { userMessage: 'fail badly' }, response: { error: { message: 'this model is not for you', type: 'invalid_request_error' }, status: 400 } },
] }));

/** Starts aimock on a port of its own choosing and waits until it answers. */
async function serve(...args) {
  const child = spawn(process.execPath, [cli, '-p', '0', '-f', fixtures, '-c', '7', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const base = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (d) => {
      text += d;
      const m = text.match(/listening on (http:\/\/[^\s]+)/);
      if (m) resolve(m[1]);
    });
    child.on('exit', (code) => reject(new Error(`aimock: exit ${code}: ${text}`)));
  });
  return { base, stop: () => child.kill() };
}

/** One prompt through the real program; its events. */
function ask(base, dialect, prompt, ...more) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin, ['debug', 'model', '--json', '--base-url', base, '--model', 'gpt-4o', '--dialect', dialect, '--timeout', '60', prompt, ...more],
      { env: { ...env, TALARIA_MODEL_KEY: key }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '', stderr = '';
    child.stdout.on('data', (d) => (stdout += d));
    child.stderr.on('data', (d) => (stderr += d));
    child.on('error', reject);
    child.on('close', (code) => {
      const events = stdout.trim().split('\n').map((line) => JSON.parse(line));
      const texts = events.filter((e) => e.event === 'text').map((e) => e.text);
      resolve({ code, events, stderr, texts, text: texts.join(''), last: events.at(-1), kinds: events.map((e) => e.event) });
    });
  });
}

const journal = (base) => new Promise((resolve, reject) => http.get(`${base}/__aimock/journal`, (r) => {
  let text = '';
  r.on('data', (d) => (text += d)).on('end', () => resolve(JSON.parse(text)));
}).on('error', reject));

let calm;
before(async () => { calm = await serve(); });
after(() => calm?.stop());

// They mostly wait, for the next try, so they wait together.
describe('dialects', { concurrency: true }, () => {
  for (const dialect of dialects) {
    test(`${dialect}: text, reasoning, tool calls, errors`, async () => {
      const greeted = await ask(calm.base, dialect, 'greet me');
      assert.equal(greeted.code, 0, greeted.stderr);
      assert.equal(greeted.text, answer);
      assert.ok(greeted.texts.length > 5, 'it came as a stream');
      assert.equal(greeted.last.event, 'finish');
      assert.equal(greeted.last.reason, 'stop');
      assert.deepEqual(greeted.events[0], { format: 1, event: 'start', base_url: calm.base, model: 'gpt-4o', dialect, key: true });

      const whole = await ask(calm.base, dialect, 'greet me', '--whole');
      assert.deepEqual(whole.texts, [answer]);

      const thought = await ask(calm.base, dialect, 'think first');
      assert.equal(thought.events.filter((e) => e.event === 'reasoning').map((e) => e.text).join(''), 'Let me see.');
      assert.equal(thought.text, 'Done.');

      for (const more of [[], ['--whole']]) {
        const called = await ask(calm.base, dialect, 'call a tool', ...more);
        const [call] = called.events.filter((e) => e.event === 'tool_call');
        assert.equal(call.name, 'read');
        assert.deepEqual(JSON.parse(call.arguments), { path: 'ä.txt', lines: [1, 2] });
        assert.equal(called.last.reason, 'tool_calls');
      }

      const failed = await ask(calm.base, dialect, 'fail badly');
      assert.equal(failed.code, 1);
      assert.equal(failed.last.kind, 'bad_request');
      assert.equal(failed.last.status, 400);
      assert.match(failed.stderr, /this model is not for you/);
      assert.ok(!failed.kinds.includes('retry'), 'a bad request is not sent again');
    });

    test(`${dialect}: everything fails, and says what`, async () => {
      const cases = [
        ['--chaos-drop', 'overloaded', true],
        ['--chaos-disconnect', 'cut', true],
        ['--chaos-malformed', 'malformed', false],
        ['--chaos-ratelimit', 'rate_limited', true],
      ];
      await Promise.all(cases.map(async ([flag, kind, again]) => {
        const server = await serve(flag, '1');
        try {
          const r = await ask(server.base, dialect, 'greet me');
          assert.equal(r.code, 1, `${flag}: ${r.stderr}`);
          assert.equal(r.last.event, 'error');
          assert.equal(r.last.kind, kind, flag);
          assert.equal(r.kinds.filter((k) => k === 'retry').length, again ? 4 : 0, flag);
          assert.equal(r.kinds.filter((k) => k === 'finish' || k === 'error').length, 1);
          assert.equal(r.text, '');
          assert.ok(!(JSON.stringify(r.events) + r.stderr).includes(key.slice(3)), 'the key shows nowhere');
        } finally {
          server.stop();
        }
      }));
    });

    test(`${dialect}: in chaos an answer is whole or an error, never something in between`, async (t) => {
      const server = await serve('--chaos-drop', '0.3', '--chaos-disconnect', '0.3', '--chaos-malformed', '0.1', '-l', '1');
      let whole = 0, retried = 0;
      try {
        for (const r of await Promise.all(Array.from({ length: 12 }, () => ask(server.base, dialect, 'greet me')))) {
          retried += r.kinds.includes('retry');
          if (r.code === 0) {
            whole++;
            assert.equal(r.text, answer);
            assert.equal(r.last.event, 'finish');
          } else {
            assert.equal(r.last.event, 'error');
            assert.ok(['overloaded', 'cut', 'malformed', 'network'].includes(r.last.kind), r.last.kind);
            assert.ok(answer.startsWith(r.text));
          }
        }
      } finally {
        server.stop();
      }
      t.diagnostic(`${whole} of 12 whole, ${retried} after further tries`);
      assert.ok(whole > 0 && retried > 0);
    });
  }
});

test('what the server was really sent', async () => {
  const entries = await journal(calm.base);
  const sent = JSON.stringify(entries);
  for (const route of ['/v1/chat/completions', '/v1/responses', '/v1/messages']) assert.ok(sent.includes(route), route);
});
