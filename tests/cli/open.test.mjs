// What `talaria up` and `talaria serve` print when they start, on a terminal and in a pipe, and --open.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bin, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

async function until(what, check) {
  for (const end = Date.now() + 20_000; Date.now() < end; await wait(20)) {
    const found = check();
    if (found) return found;
  }
  assert.fail(`never: ${what}`);
}
const tokenOf = (home) => fs.readFileSync(path.join(home.data, 'server-token'), 'utf8').trim();

/** A browser that notes what it is given; exits with `code`. */
function browser(home, code = 0) {
  const file = path.join(home.dir, 'browser'), note = path.join(home.dir, 'opened');
  fs.writeFileSync(file, `#!/bin/sh\necho "$@" >${note}.new\nmv ${note}.new ${note}\nexit ${code}\n`, { mode: 0o755 });
  return { file, opened: () => until('the browser is started', () => fs.existsSync(note) && fs.readFileSync(note, 'utf8').trim()) };
}

for (const command of ['up', 'serve']) {
  test(`${command} on a terminal of 80 columns: one link to click, and no line wraps`, async (t) => {
    const home = tmpHome();
    const it = terminal(t, [command, '--port', '0'], { env: home.env });
    await it.until(/if the page asks for one:\n +[0-9a-f]{32,}/);
    const token = tokenOf(home), [, url] = /running at (http:\/\/127\.0\.0\.1:\d+\/) /.exec(it.screen.text());
    assert.deepEqual(it.screen.links, [`${url}#token=${token}`], 'the link signs in');
    assert.ok(it.screen.text().includes(`\n  ${token}\n`) || it.screen.text().endsWith(`\n  ${token}`), 'the token is on one line');
    assert.deepEqual(it.screen.odd, []);
    assert.equal((await fetch(url)).status, 200);
    it.type('\x03');
    assert.equal(await it.exited, 0);
  });
}

test('a terminal without escape sequences gets none', async (t) => {
  const home = tmpHome();
  const it = terminal(t, ['serve', '--port', '0'], { env: { ...home.env, TERM: 'dumb' } });
  await it.until(/if the page asks for one:\n +[0-9a-f]{32,}/);
  assert.ok(!it.raw().includes('\x1b'), JSON.stringify(it.raw()));
});

test('--open starts the browser on a private file that leads to the page; the token is in no argument', async (t) => {
  const home = tmpHome(), it = browser(home);
  const server = terminal(t, ['serve', '--port', '0', '--open'], { env: { ...home.env, BROWSER: `/nonexistent/browser:${it.file}` } });
  const file = await it.opened();
  assert.equal(file, path.join(home.data, 'open.html'));
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  await server.until('running at');
  assert.ok(fs.readFileSync(file, 'utf8').includes(`url=${server.screen.links[0]}"`));
});

test('--open without a browser says so, and the page is served', async (t) => {
  const home = tmpHome(), broken = browser(home, 3);
  for (const [env, words] of [[{ BROWSER: '/nonexistent/browser' }, /no browser found \('\/nonexistent\/browser' cannot be started\)/],
    [{ BROWSER: broken.file }, /the browser could not be opened; open the address above yourself/]]) {
    const child = spawn(bin, ['serve', '--port', '0', '--open'], { env: { ...home.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    let out = '', said = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (said += d));
    await until(`it says ${words}; it said: ${said}`, () => words.test(said));
    await until('the address', () => out.includes('\n'));
    assert.match(out, /^http:\/\/127\.0\.0\.1:\d+\/\n$/, 'a pipe gets the address and nothing else');
    assert.equal((await fetch(out.trim())).status, 200);
    child.kill('SIGTERM');
    await new Promise((r) => child.once('exit', r));
  }
});
