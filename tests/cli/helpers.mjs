// What the tests of the command line share: the binary, homes of their own, databases.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const bin = process.env.TALARIA_BIN ?? path.join(root, 'build/talaria');
export const fixtures = path.join(root, 'tests/fixtures');

// At the end of the file's process: by then every program that a test began has been ended.
const folders = [];
process.on('exit', () => folders.forEach((dir) => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })));

/** A folder that goes away with the tests, and an environment in which nothing else is seen. */
export function tmpHome() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'talaria-test-'));
  folders.push(dir);
  const user = path.join(dir, 'user');
  fs.mkdirSync(user);
  const env = {
    PATH: process.env.PATH,
    HOME: user,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    COLUMNS: '120',
    TALARIA_HOME: path.join(dir, 'data'),
  };
  return { dir, user, hermes: path.join(user, '.hermes'), data: env.TALARIA_HOME, env };
}

/** Runs talaria to its end. */
export function run(args, { env, input, cwd, timeout = 60_000 } = {}) {
  const r = spawnSync(bin, args, { env, input, cwd, timeout, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (r.error && r.error.code !== 'EPIPE') throw r.error; // a command need not read its input
  return { code: r.status, signal: r.signal, stdout: r.stdout, stderr: r.stderr };
}

/** The same, --json parsed. */
export function runJson(args, options) {
  const r = run([...args, '--json'], options);
  if (r.code !== 0) throw new Error(`talaria ${args.join(' ')}: exit ${r.code}: ${r.stderr}`);
  return JSON.parse(r.stdout);
}

/** The demo's 159 sessions as Talaria's own, with skills, memory and notes, in the data folder of env; as at `now`. */
export function fillHome(env, now) {
  const made = spawnSync('python3', [path.join(fixtures, 'tools/fill_home.py'), env.TALARIA_HOME, ...(now ? ['--now', now] : [])], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return { code: made.status, stderr: made.stderr };
}

/** A Hermes database by the generator; journal 'wal' or 'delete'. */
export function makeStateDb(file, { sessions = 40, messages = 20, seed = 1, journal = 'delete', extra = [] } = {}) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const made = spawnSync('python3', [path.join(fixtures, 'tools/gen_state_db.py'), '--sessions', sessions,
    '--messages-per-session', messages, '--seed', seed, '--out', file, ...extra].map(String), { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  if (journal === 'wal') python(`import sqlite3; sqlite3.connect(${JSON.stringify(file)}).execute('pragma journal_mode=wal')`);
}

/** Runs a Python program to its end (Hermes is written in it: its SQLite is the peer here). */
export function python(code, ...args) {
  const r = spawnSync('python3', ['-c', code, ...args], { encoding: 'utf8' });
  if (r.status !== 0) throw new Error(r.stderr);
  return r.stdout;
}

/** A Python program that goes on: say(line) writes to it, next() awaits its next line. */
export function pythonPeer(code, ...args) {
  const child = spawn('python3', ['-u', '-c', code, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = [], waiting = [];
  let rest = '';
  child.stdout.on('data', (d) => {
    rest += d;
    for (let i; (i = rest.indexOf('\n')) >= 0; rest = rest.slice(i + 1)) {
      const line = rest.slice(0, i);
      if (waiting.length) waiting.shift()(line);
      else lines.push(line);
    }
  });
  return {
    child,
    say: (line) => child.stdin.write(line + '\n'),
    next: () => (lines.length ? Promise.resolve(lines.shift()) : new Promise((r) => waiting.push(r))),
    end: (signal = 'SIGKILL') => new Promise((r) => {
      if (child.exitCode !== null || child.signalCode) return r();
      child.once('exit', r);
      child.kill(signal);
    }),
  };
}

export function sha(file) {
  return fs.existsSync(file) ? createHash('sha256').update(fs.readFileSync(file)).digest('hex') : 'absent';
}

/** Digest of every file below a folder, by name. */
export function tree(dir) {
  const out = {};
  const walk = (d) => {
    for (const e of fs.readdirSync(d, { withFileTypes: true })) {
      const p = path.join(d, e.name);
      if (e.isDirectory()) walk(p);
      else out[path.relative(dir, p)] = sha(p);
    }
  };
  if (fs.existsSync(dir)) walk(dir);
  return out;
}

/** Reads of a home's state.db that never end, from hang() on: env is for the program, hung() is there when it is in one. */
export function endlessReads(home) {
  const library = path.join(home.dir, 'hangread.so'), file = path.join(home.dir, 'hang');
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'hangread.c'), '-o', library, '-ldl']);
  return {
    env: { LD_PRELOAD: library, HANG_WHILE: file, HANG_AT: 'state.db' },
    hang: () => fs.writeFileSync(file, ''),
    async hung() {
      for (const end = Date.now() + 30_000; !fs.existsSync(`${file}.hung`); await new Promise((r) => setTimeout(r, 20)))
        if (Date.now() > end) throw new Error('nobody reads it');
    },
  };
}
