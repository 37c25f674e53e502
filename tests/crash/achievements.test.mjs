// kill -9 at random points of scan, write and reset: files are whole, unlock dates are never lost.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bin, makeStateDb, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { seeded } from './seeded.mjs';

const kills = process.env.TALARIA_LONG === '1' ? 1000 : 120;

test(`${kills} kills: files whole, dates kept, the next scan right`, async (t) => {
  const h = tmpHome(t);
  const file = path.join(h.hermes, 'state.db');
  makeStateDb(file, { sessions: 150, messages: 20, seed: 11 });
  const folder = path.join(h.hermes, 'plugins/hermes-achievements');
  const right = runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h);
  const dates = JSON.parse(fs.readFileSync(path.join(folder, 'state.json'), 'utf8')).unlocks;
  const random = seeded(t);
  let killed = 0;
  for (let i = 0; i < kills; i++) {
    if (i % 3 === 0) fs.rmSync(path.join(h.data, 'index.db'), { force: true });
    const child = spawn(bin, ['achievements', 'scan', '--source', 'hermes', ...(i % 2 ? ['--full'] : [])], { env: h.env, stdio: 'ignore' });
    const ended = new Promise((r) => child.on('exit', (code, signal) => r(signal)));
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * 60);
    if ((await ended) === 'SIGKILL') killed++;
    clearTimeout(timer);
    for (const name of ['state.json', 'scan_snapshot.json', 'scan_checkpoint.json']) JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    assert.deepEqual(JSON.parse(fs.readFileSync(path.join(folder, 'state.json'), 'utf8')).unlocks, dates);
  }
  assert.ok(killed > kills / 10, `${killed} were killed in the middle`);
  const after = runJson(['achievements', 'scan', '--source', 'hermes'], h);
  assert.deepEqual(after.aggregate, right.aggregate);
  assert.deepEqual(after.sessions, right.sessions);
});

test('a reset is there whole or not at all', async (t) => {
  const h = tmpHome(t);
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: 60, seed: 12 });
  const state = path.join(h.hermes, 'plugins/hermes-achievements/state.json');
  for (let i = 0; i < kills / 4; i++) {
    run(['achievements', 'scan', '--source', 'hermes'], h);
    const before = fs.readFileSync(state, 'utf8');
    const child = spawn(bin, ['achievements', 'reset', '--source', 'hermes', '--yes'], { env: h.env, stdio: 'ignore' });
    const ended = new Promise((r) => child.on('exit', r));
    setTimeout(() => child.kill('SIGKILL'), (i * 7) % 9);
    await ended;
    const now = fs.readFileSync(state, 'utf8');
    assert.ok(now === before || now === '{\n  "unlocks": {}\n}', now.slice(0, 200));
  }
});
