// A platform that cannot be opened when the gateway starts, and can be later, is served then; the others meanwhile.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { runJson, tmpHome } from '../cli/helpers.mjs';
import { worlds } from './worlds.mjs';

const limit = { timeout: 60_000 };
const status = (env, name) => runJson(['gateway', 'status'], { env }).platforms.find((p) => p.platform === name);

test('a token file that comes later is read then, and nobody waits for it', limit, async (t) => {
  const world = await worlds.telegram(t), home = tmpHome();
  const { TALARIA_TELEGRAM_TOKEN: token, ...rest } = world.env;
  const env = { ...home.env, ...rest }, config = path.join(home.user, '.config/talaria');
  fs.mkdirSync(config, { recursive: true });
  fs.writeFileSync(path.join(config, 'config.yaml'), 'platforms: {telegram: {token_file: secret}}\n');
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  const link = (name) => query(`${home.data}/talaria.db`, `select link from platform_state where platform = '${name}'`)[0]?.[0];
  await until(() => `both lines: ${g.said()}`, () => link('local') === 'connected' && link('telegram'));
  const waiting = status(env, 'telegram');
  assert.deepEqual([waiting.enabled, waiting.link], [true, 'reconnecting']);
  assert.match(waiting.error, /cannot read '.*\/secret' \(platforms\.telegram\.token_file\)/);
  fs.writeFileSync(path.join(config, 'secret'), `${token}\n`, { mode: 0o600 });
  await until(() => `a line: ${g.said()}`, () => link('telegram') === 'connected', 30_000);
  world.stranger('hello?');
  await until(() => `an answer: ${g.said()}`, () => world.toStranger().length === 1, 20_000);
  assert.match(g.said(), /telegram is not served: cannot read [^]*telegram is served now/);
  assert.equal(g.said().match(/is not served/g).length, 1, 'told once');
  assert.equal((await g.end()).code, 0);
});

test('what time does not mend is not tried again', limit, async (t) => {
  const world = await worlds.slack(t), home = tmpHome();
  const env = { ...home.env, ...world.env, TALARIA_SLACK_APP_TOKEN: '', TALARIA_SLACK_SIGNING_SECRET: '' };
  const g = await gateway(env);
  t.after(() => g.end('SIGKILL'));
  const slack = await until(() => g.said(), () => { const s = status(env, 'slack'); return s.link && s; });
  assert.equal(slack.link, 'refused');
  assert.match(slack.error, /slack cannot receive messages: set TALARIA_SLACK_APP_TOKEN/);
  assert.equal((await g.end()).code, 0);
});
