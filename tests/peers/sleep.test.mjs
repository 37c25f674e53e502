// A whole night with a model server of others, in two dialects: it learns, pays for nothing twice, and
// when the server fails it says what failed and leaves nothing half done.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { bin, root, tmpHome } from '../cli/helpers.mjs';
import { some } from './matrix.mjs';

const cli = path.join(root, 'tests/peers/node_modules/@copilotkit/aimock/dist/cli.js');
const key = 'sk-peer-0123456789abcdefghijkl';
// Keys that somebody left in the sessions, of all shapes that the generator and the demo know.
const leaked = ['ghp_FAKE0123456789FAKE0123456789FAKE01', 'AKIAFAKE0123456789AB', 'sk-FAKE0123456789FAKE0123456789', 'xoxb-FAKE0123456789-FAKE', 'password=hunter2hunter2',
  'Authorization: Bearer FAKE.TOKEN.0123456789'];
const secrets = /FAKE0123456789|AKIAFAKE|ghp_FAKE|hunter2|FAKE\.TOKEN/;
const rule = 'End the answer with \\"Checked by talaria\\".';
const fixtures = { fixtures: [
  { match: { userMessage: 'Reply with one JSON array of at most one object' }, response: { content: '[]' } },
  { match: { userMessage: 'You improve the' }, response: { content: `Here it is:\n[{"op": "add", "content": "${rule}", "rationale": "asked for every time"}]` } },
  { match: { userMessage: 'Judge whether' }, response: { content: '{"score": 1, "reason": "fine"}' } },
  { match: { userMessage: 'End the answer with "Checked by talaria"' }, response: { content: 'It ran at two.\nChecked by talaria' } },
  { match: { userMessage: 'Answer the request below' }, response: { content: 'It ran at two and copied everything.' } },
] };

/** The same request and the same correction, twelve times; one of them with keys in it. */
function makeHome() {
  const home = tmpHome();
  const folder = path.join(home.user, '.claude/projects/p');
  fs.mkdirSync(folder, { recursive: true });
  const places = ['attic', 'cellar', 'harbour', 'tower', 'garden', 'bridge', 'library', 'station', 'market', 'mill', 'quarry', 'orchard'];
  places.forEach((place, i) => {
    const id = `0b1c2d3e-0000-4000-8000-${String(100 + i).padStart(12, '0')}`;
    let s = 0;
    const line = (type, content) => `${JSON.stringify({ type, sessionId: id, cwd: '/srv/attic', entrypoint: 'cli', uuid: `${id}-${s}`,
      timestamp: `2026-11-01T10:${String(i).padStart(2, '0')}:${String(s++).padStart(2, '0')}.000Z`, message: { role: type, content } })}\n`;
    fs.writeFileSync(path.join(folder, `${id}.jsonl`),
      line('user', `check the nightly backup of the ${place}${leaked[i] ? `, I used ${leaked[i]}` : ''}`)
      + line('assistant', [{ type: 'text', text: `It ran at two and copied everything.${leaked[i] ? ` ${leaked[i]}` : ''}` }])
      + line('user', 'no, that is wrong. always end the answer with "Checked by talaria"')
      + line('assistant', [{ type: 'text', text: 'It ran at two.\nChecked by talaria' }]) + line('user', 'thanks, perfect'));
  });
  return home;
}

async function serve(dir, ...args) {
  const file = path.join(dir, 'fixtures.json');
  fs.writeFileSync(file, JSON.stringify(fixtures));
  const child = spawn(process.execPath, [cli, '-p', '0', '-f', file, '-c', '40', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
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

const journal = (base) => new Promise((resolve, reject) => http.get(`${base}/__aimock/journal`, (r) => {
  let text = '';
  r.on('data', (d) => (text += d)).on('end', () => resolve(JSON.parse(text)));
}).on('error', reject));

/** A night; killed once the server has seen `killAfter` requests. */
function sleep(home, base, dialect, killAfter) {
  return new Promise((resolve) => {
    const child = spawn(bin, ['sleep', 'run', '--backend', 'model', '--json'], { stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...home.env, TALARIA_MODEL_BASE_URL: base, TALARIA_MODEL: 'gpt-4o', TALARIA_MODEL_DIALECT: dialect, TALARIA_MODEL_KEY: key } });
    let stdout = '', stderr = '', over = false;
    child.stdout.on('data', (d) => (stdout += d));
    child.stderr.on('data', (d) => (stderr += d));
    child.on('close', (code, signal) => { over = true; resolve({ code, signal, stdout, stderr }); });
    const look = async () => {
      if (over || !killAfter) return;
      if ((await journal(base)).length >= killAfter) child.kill('SIGKILL');
      else setTimeout(look, 5);
    };
    look();
  });
}

const staged = (home) => {
  const folder = path.join(home.data, 'sleep/staging');
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((f) => fs.existsSync(path.join(folder, f, 'manifest.json'))) : [];
};

const filesOf = (dir) => (fs.existsSync(dir) ? fs.readdirSync(dir, { recursive: true, withFileTypes: true }) : []).filter((f) => f.isFile())
  .map((f) => path.join(f.parentPath ?? f.path, f.name));

/** Nothing of a night that failed can be taken for one that ended: no proposal, no report, nothing live. */
function nothingHalfStaged(home) {
  assert.deepEqual(staged(home), []);
  const left = filesOf(path.join(home.data, 'sleep/staging')).map((f) => path.basename(f));
  assert.deepEqual(left.filter((f) => f !== 'evidence.jsonl'), [], 'half staged');
  assert.ok(!fs.existsSync(path.join(home.user, '.claude/skills')) && !fs.existsSync(path.join(home.data, 'skills')), 'something live has changed');
}

/** Neither the model's key nor one that was in the sessions is in any file of ours, or was sent as text. */
async function noKeys(home, base) {
  const files = filesOf(home.data);
  assert.ok(files.length > 3);
  for (const file of files) {
    const text = fs.readFileSync(file, 'latin1');
    assert.ok(!secrets.test(text), `a key is in ${file}`);
    assert.ok(!text.includes(key.slice(3)), `the model's key is in ${file}`);
  }
  const sent = JSON.stringify((await journal(base)).map((e) => [e.path, e.body]));
  assert.ok(!secrets.test(sent), 'a key was sent');
}

describe('nights', { concurrency: true }, () => {
  for (const dialect of some(['openai-chat', 'anthropic'])) {
    test(`${dialect}: killed in the middle and run again, it ends, and nothing is asked twice`, { timeout: 300_000 }, async () => {
      const home = makeHome(), server = await serve(home.dir, '-l', '2');
      try {
        const killed = await sleep(home, server.base, dialect, 12);
        assert.equal(killed.signal, 'SIGKILL', killed.stderr);
        nothingHalfStaged(home);
        const before = (await journal(server.base)).length;
        const r = await sleep(home, server.base, dialect);
        assert.equal(r.code, 0, r.stderr);
        const night = JSON.parse(r.stdout);
        assert.equal(night.resumed, true);
        assert.equal(night.accepted, true, JSON.stringify({ ...night, gate_trials: 0 }));
        const after = await journal(server.base);
        // At most the one whose answer was on its way when the night was killed.
        assert.ok(night.calls >= after.length - 1 && night.calls <= after.length, `${night.calls} calls, ${before} before, ${after.length} in all`);
        await noKeys(home, server.base);
        assert.equal(staged(home).length, 1);

        // Another night over the same history: nothing new, nothing asked.
        const again = await sleep(home, server.base, dialect);
        assert.equal(JSON.parse(again.stdout).no_edits_reason, 'no_tasks');
        assert.equal((await journal(server.base)).length, after.length);
      } finally {
        server.stop();
      }
    });

    test(`${dialect}: rate limits and dropped streams: it ends, or says what failed`, { timeout: 300_000 }, async () => {
      const home = makeHome(), server = await serve(home.dir, '--chaos-ratelimit', '0.03', '--chaos-disconnect', '0.03', '--chaos-drop', '0.03');
      try {
        let r, rounds = 0;
        do {
          r = await sleep(home, server.base, dialect);
          if (r.code !== 0) {
            assert.equal(r.code, 1, r.stderr);
            assert.match(r.stderr, /(rate|limit|overloaded|cut|connection|server|broke|ended)/i);
            nothingHalfStaged(home);
          }
        } while (r.code !== 0 && ++rounds < 10);
        assert.equal(r.code, 0, r.stderr);
        assert.equal(JSON.parse(r.stdout).accepted, true);
        assert.equal(staged(home).length, 1);
        await noKeys(home, server.base);
      } finally {
        server.stop();
      }
    });

    test(`${dialect}: a server that only fails ends the night, with its reason`, { timeout: 300_000 }, async () => {
      const home = makeHome(), server = await serve(home.dir, '--chaos-malformed', '1');
      try {
        const r = await sleep(home, server.base, dialect);
        assert.equal(r.code, 1, r.stdout);
        assert.match(r.stderr, /task/);
        nothingHalfStaged(home);
        assert.ok(!r.stderr.includes(key.slice(3)));
        await noKeys(home, server.base);
      } finally {
        server.stop();
      }
    });
  }
});
