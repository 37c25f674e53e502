// config set, get, unset: the text of config.yaml stays as people wrote it, secrets never show.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, run, runJson, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

function place(text) {
  const home = tmpHome();
  const folder = path.join(home.user, '.config/talaria');
  const file = path.join(folder, 'config.yaml');
  if (text !== undefined) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file, text);
  }
  const config = (...args) => run(['config', ...args], { env: home.env });
  return { ...home, folder, file, config, read: () => fs.readFileSync(file, 'utf8') };
}

const mode = (file) => (fs.statSync(file).mode & 0o777).toString(8);

test('set makes the file where there is none, for its owner alone', () => {
  const h = place();
  assert.equal(h.config('set', 'model.name', 'gpt-5-mini').stdout, 'model.name is now gpt-5-mini\n');
  assert.equal(h.config('set', 'platforms.telegram.enabled', 'false').code, 0);
  assert.equal(h.config('set', 'model.base_url', 'https://api.example/v1').code, 0);
  assert.equal(h.read(), 'model:\n  name: gpt-5-mini\n  base_url: https://api.example/v1\nplatforms:\n  telegram:\n    enabled: false\n');
  assert.deepEqual([mode(h.file), mode(h.folder)], ['600', '700']);
  assert.equal(h.config('get', 'telegram.enabled').stdout, 'false\n');
  assert.deepEqual(runJson(['config', 'get', 'model.name'], { env: h.env }), { format: 1, key: 'model.name', value: 'gpt-5-mini' });
});

test('comments, order and unknown keys stay; unset takes one line out', () => {
  const before = '# my settings\nmodel:\n    # the small one\n    name: old   # for now\nfuture:\n  thing: [1, 2]\nsessions: {limit: 7}\n# end\n';
  const h = place(before);
  assert.equal(h.config('set', 'model.name', 'a: #b').code, 0, 'a file with an unknown key can still be changed');
  assert.equal(h.read(), before.replace('old ', '"a: #b" '));
  assert.equal(h.config('set', 'sessions.limit', '9').code, 0);
  assert.equal(h.config('set', 'model.window', '1000').code, 0);
  assert.equal(h.read(), before.replace('old ', '"a: #b" ').replace('limit: 7', 'limit: 9').replace('# for now\n', '# for now\n    window: 1000\n'));
  assert.equal(h.config('unset', 'model.window').stdout, 'model.window has its default again\n');
});

test('what cannot be is refused in words, and nothing is written', () => {
  const h = place('model:\n  name: x\n');
  const before = h.read();
  for (const [args, code, words] of [
    [['model.nam', 'x'], 1, /unknown setting 'model\.nam'; did you mean 'model\.name'\?/],
    [['quite.another', 'x'], 1, /unknown setting 'quite\.another'; 'talaria config list' shows all of them/],
    [['sessions.limit', 'many'], 1, /'sessions\.limit' must be a whole number, not 'many'/],
    [['model.dialect', 'klingon'], 1, /'model\.dialect' must be openai-chat, openai-responses or anthropic, not 'klingon'/],
    [['homes.profiles', 'maybe'], 1, /'homes\.profiles' must be true or false, not 'maybe'/],
    [['model.name'], 2, /'config set model\.name' needs a value/],
    [['models.fast.nam', 'x'], 1, /unknown setting 'models\.fast\.nam'/],
  ]) {
    const r = h.config('set', ...args);
    assert.equal(r.code, code, `${args}: ${r.stderr}`);
    assert.match(r.stderr, words);
  }
  assert.equal(h.read(), before);
  assert.equal(h.config('unset', 'sessions.limit').code, 3);
  fs.writeFileSync(h.file, 'model: [\n');
  const broken = h.config('set', 'model.name', 'y');
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /config\.yaml': line 2/);
  assert.equal(h.read(), 'model: [\n');
});

test('a secret comes from standard input into a file of its own, and is never shown', () => {
  const h = place('# keep\n');
  const token = '123456:sekret-token';
  const given = h.config('set', 'platforms.telegram.token', token);
  assert.equal(given.code, 2);
  assert.match(given.stderr, /is a secret.*run 'talaria config set platforms\.telegram\.token' and type it, or pipe it to standard input/);
  assert.equal(h.read(), '# keep\n');
  const r = run(['config', 'set', 'telegram.token'], { env: h.env, input: `${token}\n` });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, 'platforms.telegram.token is set\n');
  const secret = path.join(h.folder, 'secrets/platforms.telegram.token');
  assert.deepEqual([fs.readFileSync(secret, 'utf8'), mode(secret), mode(path.dirname(secret))], [`${token}\n`, '600', '700']);
  assert.equal(h.read(), '# keep\nplatforms:\n  telegram:\n    token_file: secrets/platforms.telegram.token\n');
  const shown = [h.config('list'), h.config('list', '--json'), h.config('get', 'telegram.token'), h.config('get', 'telegram.token', '--json')].map((x) => x.stdout + x.stderr).join('\n');
  assert.ok(!shown.includes('sekret'));
  assert.match(shown, /platforms\.telegram\.token: \(set: .*secrets\/platforms\.telegram\.token\)/);
  assert.match(shown, /platforms\.discord\.token: \(not set\)/);
  assert.equal(runJson(['config', 'list'], { env: h.env }).secrets['platforms.telegram.token'], true);
  assert.match(run(['gateway', 'status'], { env: h.env }).stdout, /telegram\tset up/, 'the gateway reads it');
  for (const bad of ['', 'two words', 'x'.repeat(5000)]) assert.notEqual(run(['config', 'set', 'telegram.token'], { env: h.env, input: bad }).code, 0);
  assert.equal(h.config('unset', 'telegram.token').stdout, 'platforms.telegram.token is no longer set\n');
  assert.ok(!fs.existsSync(secret));
  assert.equal(h.read(), '# keep\n');
});

test('at a terminal a secret is typed without being shown, and Ctrl-C leaves everything as it was', async (t) => {
  const h = place();
  const typed = terminal(t, ['config', 'set', 'model.api_key'], { env: h.env });
  await typed.until('API key of the model (not shown):');
  typed.type('sk-wrong\x15sk-hidden1x\x7f\n');
  assert.equal(await typed.exited, 0);
  assert.ok(!typed.raw().includes('hidden') && !typed.raw().includes('wrong'));
  assert.equal(fs.readFileSync(path.join(h.folder, 'secrets/model.api_key'), 'utf8'), 'sk-hidden1\n');
  const left = terminal(t, ['config', 'set', 'model.api_key'], { env: h.env });
  await left.until('(not shown):');
  left.type('sk-other\x03');
  assert.equal(await left.exited, 130);
  assert.equal(fs.readFileSync(path.join(h.folder, 'secrets/model.api_key'), 'utf8'), 'sk-hidden1\n');
});

test('twelve programs set twelve keys at once: none is lost', async () => {
  const h = place('# shared\n');
  const keys = ['sessions.limit', 'model.window', 'model.at_once', 'model.max_tokens', 'sleep.seed', 'sleep.edit_budget', 'sleep.recall_k',
    'sleep.dream_factor', 'achievements.ttl', 'sleep.max_tasks_per_night', 'sleep.max_calls_per_night', 'sleep.dream_rollouts'];
  await Promise.all(keys.map((key, i) => new Promise((done) => spawn(bin, ['config', 'set', key, String(i + 1)], { env: h.env, stdio: 'ignore' }).once('exit', done))));
  const { settings } = runJson(['config', 'list'], { env: h.env });
  assert.deepEqual(keys.map((k) => settings[k]), keys.map((_, i) => String(i + 1)));
  assert.ok(h.read().startsWith('# shared\n'));
});

test('a config.yaml that is a link stays one: the file behind it is changed', () => {
  const h = place();
  const real = path.join(h.dir, 'dotfiles.yaml');
  fs.mkdirSync(h.folder, { recursive: true });
  fs.writeFileSync(real, 'sessions:\n  limit: 3\n');
  fs.symlinkSync(real, h.file);
  assert.equal(h.config('set', 'sessions.limit', '4').code, 0);
  assert.ok(fs.lstatSync(h.file).isSymbolicLink());
  assert.equal(fs.readFileSync(real, 'utf8'), 'sessions:\n  limit: 4\n');
});

test('a group with nothing in it is no mistake', () => {
  const h = place('model:\n#  name: x\nplatforms:\n  telegram:\n');
  assert.equal(h.config('get', 'sessions.limit').stdout, '50\n');
});
