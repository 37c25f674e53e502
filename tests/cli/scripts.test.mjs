// The scripts of a developer and of continuous integration, as far as they can be tried without installing anything;
// script/fresh tries the rest on a fresh Debian.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, root, run, tmpHome } from './helpers.mjs';

const script = (name, args, options) => spawnSync(path.join(root, 'script', name), args, { encoding: 'utf8', ...options });
const packagesFor = (...groups) => script('bootstrap', ['--list', ...groups]).stdout.trim().split('\n');

/** The file that the compiler finds for each header, by the lines that it marks in its output. */
function headerFiles(headers, flags) {
  const text = headers.map((h) => `#include <${h}>\n`).join('');
  const out = execFileSync('g++', ['-D_GNU_SOURCE', '-std=gnu++17', '-mssse3', '-E', '-x', 'c++', ...flags, '-'], { input: text, encoding: 'utf8', maxBuffer: 1 << 28 });
  const files = new Set();
  let depth = 0;
  for (const [, file, mark] of out.matchAll(/^# \d+ "([^"]+)"((?: \d)*)$/gm)) {
    if (/ 1/.test(mark) && depth++ === 0) files.add(file);
    if (/ 2/.test(mark)) depth--;
  }
  return [...files];
}

function includesOf(...folders) {
  const found = execFileSync('grep', ['-rhoE', '^ *# *include <[^>]+>', ...folders.map((f) => path.join(root, f))], { encoding: 'utf8' });
  return [...new Set([...found.matchAll(/<([^>]+)>/g)].map((m) => m[1]))].filter((h) => h !== 'sqlite3.h'); // from npm
}

test('script/bootstrap asks by name for the package of every header that is included', () => {
  // What gcc, g++ and the C library's package bring along is theirs.
  const compilers = /^(gcc|g\+\+|cpp|libgcc|libstdc\+\+)-/;
  const modules = ['yaml-0.1', 'simdjson', 'libhs', 'libmicrohttpd', 'libcmark-gfm', 'zlib', 'libzstd', 'libutf8proc', 'libpcre2-8', 'libcurl', 'libwebsockets', 'libedit'];
  const flags = execFileSync('pkg-config', ['--cflags', ...modules], { encoding: 'utf8' }).trim().split(/\s+/).filter((f) => f.startsWith('-I'));
  for (const [folders, groups] of [[['src'], ['build']], [['tests/unit', 'tests/fuzz', 'tests/platforms', 'bench'], ['build', 'smoke']]]) {
    const asked = new Set(packagesFor(...groups));
    // cmocka.h expects these before it; pcre2.h a width.
    const headers = ['stdarg.h', 'stddef.h', 'setjmp.h', 'stdint.h', ...includesOf(...folders)];
    const files = headerFiles(headers, [...flags, '-DPCRE2_CODE_UNIT_WIDTH=8']);
    assert.ok(files.some((f) => f.endsWith('/uthash.h')) || !folders.includes('src'), files.join(' '));
    const real = files.map((f) => fs.realpathSync(f));
    const owners = new Map(spawnSync('dpkg', ['-S', ...real], { encoding: 'utf8' }).stdout.trim().split('\n').map((line) => [line.split(': ')[1], line.split(/[:,]/)[0]]));
    for (const file of real) {
      const owner = owners.get(file);
      assert.ok(owner, `no package owns ${file}`);
      assert.ok(asked.has(owner) || compilers.test(owner), `${file} is of '${owner}', which script/bootstrap ${groups.join(' ')} does not name`);
    }
  }
});

test('script/bootstrap: building asks for no second compiler, browser or tracer', () => {
  for (const name of packagesFor('build', 'install')) assert.doesNotMatch(name, /clang|llvm|chromium|strace|cmocka|mmdebstrap|npm/);
  assert.ok(packagesFor('lint').includes('clang-tidy'));
  assert.ok(packagesFor('fuzz').includes('clang'));
  assert.ok(packagesFor('test').includes('chromium'));
  const wrong = script('bootstrap', ['everything']);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /^usage: script\/bootstrap /);
});

test('the packages for building come without those for tests', () => {
  const { dependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const imported = new Set();
  for (const file of fs.readdirSync(path.join(root, 'web'), { recursive: true }).filter((f) => /^(src\/.*\.tsx?|build\.mjs)$/.test(f)))
    for (const [, name] of fs.readFileSync(path.join(root, 'web', file), 'utf8').matchAll(/from "([a-z@][^"]*)"/g)) imported.add(name.split('/')[0]);
  for (const name of [...imported].filter((n) => !n.startsWith('node:'))) assert.ok(dependencies[name], `web/ needs '${name}'`);
  for (const name of Object.keys(dependencies)) assert.ok(!devDependencies[name], name);
});

test('script/install: what it installs works, and --uninstall removes exactly that', () => {
  const home = tmpHome(), prefix = path.join(home.dir, 'a prefix');
  const below = () => execFileSync('find', [prefix, '-printf', '%P\n'], { encoding: 'utf8' }).trim().split('\n').sort();
  fs.mkdirSync(path.join(prefix, 'share/man'), { recursive: true });
  fs.writeFileSync(path.join(prefix, 'share/man/mine'), 'of somebody else');
  const before = below();

  const made = script('install', ['--built', '--prefix', prefix], { env: { ...home.env, TALARIA_BIN: bin } });
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stdout, /is not on your PATH; add this line[^]*\n {2}export PATH=".*\/a prefix\/bin:\$PATH"\n/);
  assert.match(spawnSync('talaria', ['--version'], { env: { ...home.env, PATH: `${prefix}/bin:${home.env.PATH}` }, encoding: 'utf8' }).stdout, /^talaria \d/);
  const commands = [...run(['help', '--completion', 'fish'], home).stdout.matchAll(/-n __talaria_at -a '?([a-z]+)/g)].map((m) => m[1]);
  assert.ok(commands.includes('up') && commands.includes('take'), commands.join(' '));
  for (const page of ['talaria', ...commands.map((c) => `talaria-${c}`)]) assert.match(fs.readFileSync(path.join(prefix, 'share/man/man1', `${page}.1`), 'utf8'), /^\.TH "talaria/m, page);
  assert.match(fs.readFileSync(path.join(prefix, 'share/systemd/user/talaria.service'), 'utf8'), new RegExp(`^ExecStart="${prefix}/bin/talaria" up$`, 'm'));
  const verified = spawnSync('systemd-analyze', ['verify', '--user', path.join(prefix, 'share/systemd/user/talaria.service')], { encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: home.dir } });
  if (!verified.error) assert.doesNotMatch(verified.stderr, /talaria\.service.*(Unknown|Invalid|invalid|ignoring|not absolute|not executable)/);
  for (const file of ['bash-completion/completions/talaria', 'zsh/site-functions/_talaria', 'fish/vendor_completions.d/talaria.fish']) assert.ok(fs.statSync(path.join(prefix, 'share', file)).size > 500, file);

  // Again, over an earlier version that had a file which this one has not.
  fs.writeFileSync(path.join(prefix, 'share/man/man1/talaria-old.1'), '');
  fs.appendFileSync(path.join(prefix, 'share/talaria/installed'), 'share/man/man1/talaria-old.1\n../outside\n');
  fs.writeFileSync(path.join(home.dir, 'outside'), '');
  assert.equal(script('install', ['--built', '--prefix', prefix], { env: home.env }).status, 0);
  assert.ok(!fs.existsSync(path.join(prefix, 'share/man/man1/talaria-old.1')));
  assert.ok(fs.existsSync(path.join(home.dir, 'outside')));

  const gone = script('install', ['--uninstall', '--prefix', prefix], { env: home.env });
  assert.equal(gone.status, 0, gone.stderr);
  assert.deepEqual(below(), before);
  const twice = script('install', ['--uninstall', '--prefix', prefix], { env: home.env });
  assert.equal(twice.status, 1);
  assert.match(twice.stderr, /nothing was installed to '.*a prefix'/);
});

test('the Debian package has the version of the program and names the libraries that it opens itself', () => {
  const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');
  const [, version] = /^ *version: '(.*)',$/m.exec(read('meson.build'));
  assert.match(read('debian/changelog'), new RegExp(`^talaria \\(${version.replaceAll('.', '\\.')}\\) `));
  assert.match(run(['--version'], tmpHome()).stdout, new RegExp(`^talaria ${version}\n`));
  // dpkg-shlibdeps does not see what dlopen() brings.
  for (const name of ['libcurl4', 'libwebsockets17', 'libedit2']) assert.match(read('debian/control'), new RegExp(`^ ${name},$`, 'm'));
});

/** Programs of the given names in front of the others, each a shell script. */
function stubs(home, programs) {
  const folder = fs.mkdtempSync(path.join(home.dir, 'stubs-'));
  for (const [name, text] of Object.entries(programs)) fs.writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return { ...home.env, PATH: `${folder}:${home.env.PATH}` };
}

test('script/fresh fails in words where root or namespaces are missing; it is never skipped', () => {
  const home = tmpHome();
  for (const [programs, words] of [[{ id: 'echo 1000' }, /a minimal root can only be made by root/], [{ id: 'echo 0', unshare: 'exit 1' }, /allows no mount or process namespaces/]]) {
    const r = script('fresh', [], { env: stubs(home, programs), timeout: 60_000 });
    assert.equal(r.status, 1);
    assert.match(r.stderr, words);
    assert.match(r.stdout, /\n0 passed, 1 failed\n$/);
  }
});

test('.ci/run adds up its parts, names every failure at the end, and a part that dies is one', () => {
  const home = tmpHome(), folder = path.join(home.dir, 'checkout');
  const put = (name, text) => { fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true }); fs.writeFileSync(path.join(folder, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 }); };
  fs.mkdirSync(path.join(folder, '.ci'), { recursive: true });
  fs.copyFileSync(path.join(root, '.ci/run'), path.join(folder, '.ci/run'));
  const ci = () => { const r = spawnSync(path.join(folder, '.ci/run'), { env: home.env, encoding: 'utf8' }); return { ...r, last: r.stdout.split('\n').slice(-6).join('\n') }; };
  put('script/test', 'case $1 in --peers) echo "7 passed, 0 failed" ;; *) echo "5 passed, 0 failed" ;; esac');
  put('script/fresh', 'echo "3 passed, 0 failed"');
  assert.equal(ci().status, 0);
  assert.match(ci().stdout, /\n15 passed, 0 failed\n$/);
  put('script/test', 'case $1 in --peers) exit 1 ;; *) printf "Failed:\\n  a test\\n5 passed, 1 failed\\n"; exit 1 ;; esac');
  const bad = ci();
  assert.equal(bad.status, 1);
  assert.match(bad.stdout, /\nFailed:\n {2}test: a test\n {2}peers: ended without a summary\n8 passed, 2 failed\n$/);
});
