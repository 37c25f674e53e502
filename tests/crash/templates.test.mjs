// Templates under fire: many processes count exactly, and a kill never leaves a broken file.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, run, tmpHome } from '../cli/helpers.mjs';
import { seeded } from './seeded.mjs';

const long = process.env.TALARIA_LONG === '1';
const injections = long ? 8000 : 1000;
const kills = long ? 5000 : 150;

const template = {
  name: 'busy', task_type: 'code', description: 'Template with 1 examples', created_at: 1700000000.5, usage_count: 0,
  source_session_id: null, examples: [{ tool_name: 'execute_code', arguments: { code: 'print(1)' }, result: '1', success: true }],
};
const messages = JSON.stringify([{ role: 'user', content: 'go' }]);

function home(t) {
  const h = tmpHome(t);
  const folder = path.join(h.data, 'session-templates');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'busy.json'), JSON.stringify(template));
  return { ...h, folder, file: path.join(folder, 'busy.json') };
}

function inject(env) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin, ['templates', 'inject', 'busy'], { env, stdio: ['pipe', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (d) => (stderr += d));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(stderr))));
    child.stdin.end(messages);
  });
}

test(`8 processes inject ${injections} times: usage_count is exactly right`, async (t) => {
  const { env, file } = home(t);
  let left = injections;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left-- > 0) await inject(env);
  }));
  assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).usage_count, injections);
});

test(`kill -9 in the middle, ${kills} times: the file is whole, every acknowledged use is counted`, async (t) => {
  const { env, folder, file } = home(t);
  const random = seeded(t);
  let acknowledged = 0;
  for (let i = 0; i < kills; i++) {
    const child = spawn(bin, ['templates', 'inject', 'busy'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.on('error', () => {});
    child.stdin.end(messages);
    const exited = new Promise((r) => child.on('exit', (code) => r(code)));
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * 12);
    if ((await exited) === 0) acknowledged++;
    clearTimeout(timer);
    const now = JSON.parse(fs.readFileSync(file, 'utf8'));
    assert.ok(now.usage_count >= acknowledged, `kill ${i}: ${now.usage_count} < ${acknowledged}`);
    assert.deepEqual({ ...now, usage_count: 0 }, template);
  }
  assert.ok(acknowledged < kills, 'some were killed before they were done');
  // The next one finds no lock held, and what a kill left behind does not get in the way.
  assert.equal(run(['templates', 'inject', 'busy'], { env, input: messages }).code, 0);
  assert.equal(run(['templates', 'list'], { env }).stderr, '');
  assert.ok(fs.readdirSync(folder).includes('busy.json'));
});
