// talaria setup at a terminal, against fakes: every step can be skipped, what is given is tried before it is kept.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { fakeModel } from '../http/fake_model.mjs';
import { run, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

/** Bot accounts of three platforms behind one address; the token 'good' is theirs. */
async function platforms(t) {
  const server = http.createServer((rq, rs) => {
    const say = (status, body) => rs.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    rq.resume();
    if (rq.url === '/tg/botgood/getMe') say(200, { ok: true, result: { id: 1, username: 'walrus_bot' } });
    else if (rq.url.startsWith('/tg/')) say(401, { ok: false, error_code: 401, description: 'Unauthorized' });
    else if (rq.url === '/dc/users/@me') rq.headers.authorization === 'Bot good' ? say(200, { id: '1', username: 'walrus' }) : say(401, { message: '401: Unauthorized', code: 0 });
    else if (rq.url === '/sl/auth.test') rq.headers.authorization === 'Bearer good' ? say(200, { ok: true, user: 'walrus', user_id: 'U1', team_id: 'T1' }) : say(200, { ok: false, error: 'invalid_auth' });
    else say(404, {});
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  const base = `http://127.0.0.1:${server.address().port}`;
  return { TALARIA_TELEGRAM_API_BASE: `${base}/tg`, TALARIA_DISCORD_API_BASE: `${base}/dc`, TALARIA_SLACK_API_BASE: `${base}/sl` };
}

const folder = (home) => path.join(home.user, '.config/talaria');
const config = (home) => fs.readFileSync(path.join(folder(home), 'config.yaml'), 'utf8');
const secret = (home, name) => fs.readFileSync(path.join(folder(home), 'secrets', name), 'utf8');

async function start(t, args, env) {
  // Not run(): the fakes live in this process.
  const { spawn } = await import('node:child_process');
  const { bin } = await import('./helpers.mjs');
  const child = spawn(bin, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const r = { stdout: '', stderr: '' };
  child.stdout.on('data', (d) => (r.stdout += d));
  child.stderr.on('data', (d) => (r.stderr += d));
  return new Promise((done) => child.once('close', (code) => done({ ...r, code })));
}

test('all steps with Enter: the state is shown, and nothing is written', async (t) => {
  const home = tmpHome();
  const tty = terminal(t, ['setup'], { env: home.env });
  await tty.until(/Model +- +not configured; answers quote your history/);
  await tty.until('Provider (openai, anthropic, openrouter, ollama, other; Enter: skip):');
  tty.type('\n');
  await tty.until('Bot token from @BotFather');
  tty.type('\n');
  await tty.until('discord.com/developers (not shown');
  tty.type('\n');
  await tty.until('(xoxb-');
  tty.type('\n');
  await tty.until('Run one every night at');
  tty.type('\n');
  await tty.until('Done.');
  assert.equal(await tty.exited, 0);
  assert.ok(!fs.existsSync(path.join(folder(home), 'config.yaml')));
});

test('a night is scheduled at the time that was typed; a scheduler that fails is reported', async (t) => {
  const home = tmpHome(), fake = path.join(home.dir, 'fake'), tab = path.join(home.dir, 'crontab');
  fs.mkdirSync(fake);
  fs.writeFileSync(path.join(fake, 'systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const crontab = (body) => fs.writeFileSync(path.join(fake, 'crontab'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const env = { ...home.env, PATH: `${fake}:${home.env.PATH}` };
  const setup = async (time, shown) => {
    const tty = terminal(t, ['setup'], { env, columns: 200 });
    for (const prompt of ['Provider (openai', '@BotFather', 'discord.com/developers', '(xoxb-']) {
      await tty.until(prompt);
      tty.type('\n');
    }
    await tty.until('Run one every night at');
    tty.type(`${time}\n`);
    await tty.until(shown);
    assert.equal(await tty.exited, 0);
  };
  crontab(`if [ "$1" = -l ]; then if [ -f '${tab}' ]; then cat '${tab}'; else echo "no crontab for me" >&2; exit 1; fi; else cat > '${tab}'; fi`);
  await setup('4:05', /04:05|4:05/);
  const line = fs.readFileSync(tab, 'utf8').split('\n').find((l) => l.includes(' sleep run '));
  assert.match(line, /^5 \* \* \* \* .*--due/);
  const [row] = JSON.parse((await start(t, ['sleep', 'status', '--json'], env)).stdout).schedules;
  assert.deepEqual([row.hour, row.minute, row.kind], [4, 5, 'cron']);
  crontab('echo "the disk is full" >&2; exit 1');
  await setup('5', /failed +.*the disk is full/);
});

test('a model and a bot that work are kept, secrets unseen; --check agrees', async (t) => {
  const home = tmpHome();
  const fake = await fakeModel(t, () => ({ text: 'OK' }));
  const env = { ...home.env, ...await platforms(t) };
  const tty = terminal(t, ['setup'], { env });
  await tty.until('Provider');
  tty.type('nonsense\n');
  // The next prompt, whole: what is typed before it is echoed into it.
  await tty.until(/Not one of these[^]*Provider \(openai[^]*skip\):/);
  tty.type('other\n');
  await tty.until('Address of the API');
  tty.type(`${fake.env.TALARIA_MODEL_BASE_URL}\n`);
  await tty.until('API (openai-chat');
  tty.type('\n');
  await tty.until('Model (for example');
  tty.type('tiny\n');
  await tty.until('API key (not shown');
  tty.type('sk-unseen\n');
  await tty.until(/ok +tiny answered in \d/);
  await tty.until('@BotFather');
  tty.type('good\n');
  await tty.until('works as @walrus_bot');
  await tty.until('discord.com/developers');
  tty.type('wrong-one\n');
  await tty.until(/failed +Discord does not accept the token \(401: Unauthorized\)/);
  await tty.until('Keep it anyway? [y/N]');
  tty.type('n\n');
  await tty.until('Nothing was changed.');
  await tty.until('(xoxb-');
  tty.type('good\n');
  await tty.until('(xapp-');
  tty.type('xapp-unseen\n');
  await tty.until('works as @walrus\n');
  await tty.until('every night at');
  tty.type('25:99\n');
  await tty.until('Not a time of day');
  tty.type('\n');
  assert.equal(await tty.exited, 0);
  assert.ok(!tty.raw().includes('unseen') && !tty.raw().includes('wrong-one'));
  assert.match(config(home), /base_url: http:\/\/127\.0\.0\.1:\d+/);
  assert.match(config(home), /name: tiny\n/);
  assert.doesNotMatch(config(home), /unseen|discord/);
  assert.deepEqual([secret(home, 'model.api_key'), secret(home, 'platforms.telegram.token'), secret(home, 'platforms.slack.app_token')], ['sk-unseen\n', 'good\n', 'xapp-unseen\n']);
  const checked = await start(t, ['setup', '--check', '--json'], env);
  assert.equal(checked.code, 0, checked.stderr + checked.stdout);
  assert.deepEqual(JSON.parse(checked.stdout).checks.map((c) => [c.name, c.status]),
    [['model', 'ok'], ['telegram', 'ok'], ['discord', 'unset'], ['slack', 'ok'], ['nights', 'unset']]);
  const asked = await start(t, ['ask', '-r', 'native', 'hello'], home.env);
  assert.equal(asked.stdout, 'OK\n', asked.stderr);
});

test('--check fails where something that is configured does not work; without a terminal setup says what to do', async (t) => {
  const home = tmpHome();
  const env = { ...home.env, ...await platforms(t), TALARIA_TELEGRAM_TOKEN: 'bad', TALARIA_MODEL_BASE_URL: 'http://127.0.0.1:1/v1', TALARIA_MODEL: 'm' };
  const r = await start(t, ['setup', '--check'], env);
  assert.equal(r.code, 1);
  assert.match(r.stdout, /Telegram +failed +Telegram does not accept the token \(Unauthorized\); copy it again from @BotFather/);
  assert.match(r.stdout, /Model +failed/);
  assert.match(r.stdout, /Discord +- +no token; run 'talaria setup'/);
  const plain = run(['setup'], { env: home.env });
  assert.equal(plain.code, 2);
  assert.match(plain.stderr, /needs a terminal; 'talaria config set KEY VALUE' changes a setting/);
});
