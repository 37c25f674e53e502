// The frame of every command: options, help, exit codes, messages, completion, man pages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bin, fixtures, run, runJson, tmpHome } from './helpers.mjs';

test('--version names the libraries, and SQLite is new enough for write-ahead logs', (t) => {
  const { env } = tmpHome(t);
  const r = run(['--version'], { env });
  assert.equal(r.code, 0);
  const version = /^SQLite (\d+)\.(\d+)\.(\d+)$/m.exec(r.stdout);
  assert.ok(version, r.stdout);
  const [, major, minor, patch] = version.map(Number);
  assert.ok(major * 1e6 + minor * 1e3 + patch >= 3051003, version[0]);
  assert.match(r.stdout, /^talaria \d+\.\d+\.\d+$/m);
  assert.match(r.stdout, /^simdjson /m);
});

const mistakes = [
  [['sesions'], /unknown command 'sesions'; did you mean 'sessions'\?/],
  [['sessions', 'lst'], /unknown command 'sessions lst'; did you mean 'sessions list'\?/],
  [['templates', 'harvst'], /did you mean 'templates harvest'\?/],
  [['status', '--jsn'], /unknown option '--jsn'; did you mean '--json'\?/],
  [['sessions', 'list', '--limt', '3'], /did you mean '--limit'\?/],
  [['sessions', 'list', '--limit', 'many'], /'--limit' needs a whole number, not 'many'/],
  [['sessions', 'list', '--limit'], /'--limit' needs N/],
  [['status', '--json=yes'], /'--json' takes no value/],
  [['status', '--color', 'pink'], /'--color' is one of auto\|always\|never/],
  [['sessions', 'list', '--limit', '-3'], /'--limit' cannot be negative, but is -3/],
  [['sessions', 'list', '--limit', '99999999999'], /'--limit' is at most 2147483647/],
  [['sessions', 'list', '--since', 'soon'], /'--since' needs a time such as 7d, .*last week.*, not 'soon'/],
  [['status', 'now'], /unexpected argument 'now'; see 'talaria status --help'/],
  [['sessions', 'show'], /'talaria sessions show' needs SESSION; see 'talaria sessions show --help'/],
  [['list'], /unknown command 'list'; did you mean 'sessions list'\?/],
  [['search'], /unknown command 'search'; did you mean 'sessions search'\?/],
  [['version'], /unknown command 'version'; did you mean '--version'\?/],
  [['usage'], /unknown command 'usage'; see 'talaria --help'/],
  [['cost'], /unknown command 'cost'; see 'talaria --help'/],
  [['mcp'], /unknown command 'mcp'; see 'talaria --help'/],
  [['handoff', 'whatsapp'], /unknown command 'handoff whatsapp'; see 'talaria handoff --help'/],
  [['sessions', 'list', '--sort'], /unknown option '--sort'; see 'talaria sessions list --help'/],
  [['-z'], /unknown option '-z'/],
];
for (const [args, message] of mistakes) {
  test(`wrong usage is exit 2 and says the way out: ${args.join(' ')}`, (t) => {
    const r = run(args, { env: tmpHome(t).env });
    assert.equal(r.code, 2, r.stderr);
    assert.match(r.stderr, message);
    assert.match(r.stderr, /^talaria: [^A-Z].*[^.\n]\n$/, 'lower case, no full stop');
    assert.equal(r.stdout, '');
  });
}

test('a command that wants another word prints its help and exits with 2', (t) => {
  const { env } = tmpHome(t);
  for (const args of [[], ['sessions'], ['templates'], ['config']]) {
    const r = run(args, { env });
    assert.equal(r.code, 2);
    assert.match(r.stdout, /Usage/);
    assert.match(r.stdout, /Commands/);
  }
});

test('global options work before and after the command', (t) => {
  const { env } = tmpHome(t);
  for (const args of [['--json', 'status'], ['status', '--json']])
    assert.equal(JSON.parse(run(args, { env }).stdout).format, 1);
});

test('--json failures are JSON on stderr, nothing on stdout', (t) => {
  const { env } = tmpHome(t);
  const r = run(['sessions', 'show', 'nosuch', '--json'], { env });
  assert.equal(r.code, 3);
  assert.equal(r.stdout, '');
  assert.deepEqual(JSON.parse(r.stderr).error, 'not_found');
});

test('wrong usage with --json is JSON on stderr, wherever --json is given', (t) => {
  const { env } = tmpHome(t);
  for (const args of [['sessions', 'bogus', '--json'], ['--json', 'sessions', 'bogus'], ['sessions', 'list', '--limit', '-3', '--json'], ['sessions', '--json']]) {
    const r = run(args, { env });
    assert.equal(r.code, 2, args.join(' '));
    assert.equal(r.stdout, '');
    assert.equal(JSON.parse(r.stderr).error, 'usage', args.join(' '));
  }
});

test('every command has help with three examples, and a man page that scdoc takes', (t) => {
  const { env } = tmpHome(t);
  const names = [...run(['help'], { env }).stdout.split('Commands')[1].split('Options')[0].matchAll(/^ {2}([a-z]+)/gm)].map((m) => m[1]);
  assert.ok(names.includes('status') && names.includes('templates'), names.join());
  for (const name of names) {
    const help = run([name, '--help'], { env });
    assert.equal(help.code, 0);
    const examples = help.stdout.split('Examples\n')[1].split('\n\n')[0].split('\n').filter((l) => /^ {2}\S/.test(l));
    assert.ok(examples.length >= 3 && examples.every((l) => l.includes('talaria')), `${name}: ${examples}`);
    const man = run(['help', '--man', name], { env });
    const made = spawnSync('scdoc', { input: man.stdout, encoding: 'utf8' });
    assert.equal(made.status, 0, `${name}: ${made.stderr}`);
    assert.match(made.stdout, new RegExp(`\\.TH "talaria\\\\?-${name}"`));
  }
});

test('bash completion offers commands, subcommands, options and choices', (t) => {
  const { env, dir } = tmpHome(t);
  const script = path.join(dir, 'completion.bash');
  fs.writeFileSync(script, run(['help', '--completion', 'bash'], { env }).stdout);
  const complete = (...words) => {
    const code = `source ${script}; COMP_WORDS=(${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _talaria; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const r = spawnSync('bash', ['-c', code], { encoding: 'utf8' });
    assert.equal(r.stderr, '');
    return r.stdout.trim().split('\n');
  };
  assert.deepEqual(complete('talaria', 'sess'), ['sessions']);
  assert.deepEqual(complete('talaria', 'sessions', 'l'), ['list']);
  assert.ok(complete('talaria', 'sessions', 'list', '--li').includes('--limit'));
  assert.deepEqual(complete('talaria', '--color', 'n'), ['never']);
});

test('completion is that of the command: its own values, session ids, templates, settings', (t) => {
  const { env, dir } = tmpHome(t);
  assert.equal(run(['demo'], { env }).code, 0);
  env.TALARIA_DEMO = '1';
  const script = path.join(dir, 'completion.bash');
  fs.writeFileSync(script, run(['help', '--completion', 'bash'], { env }).stdout);
  const complete = (...words) => {
    const code = `source ${script}; COMP_WORDS=('${bin}' ${words.map((w) => `'${w}'`).join(' ')}); COMP_CWORD=${words.length}; _talaria; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const r = spawnSync('bash', ['-c', code], { encoding: 'utf8', env });
    assert.equal(r.stderr, '');
    return r.stdout.trim().split('\n');
  };
  assert.deepEqual(complete('templates', 'inject', '--format', ''), ['openai', 'anthropic']);
  assert.deepEqual(complete('achievements', 'export', '--format', ''), ['json', 'md']);
  assert.deepEqual(complete('sessions', 'export', '--format', ''), ['jsonl', 'hermes', 'md']);
  assert.deepEqual(complete('--color', 'never', 'sessions', 'l'), ['list']);
  assert.ok(!complete('ask', '--runtime', '').includes('jarvis'));
  assert.ok(complete('sessions', 'list', '--limit', '3', '--source', '').includes('claude'));
  assert.ok(complete('sessions', 'show', 'b1e9').some((id) => id.startsWith('b1e94368-')), 'a transcript that no command has read yet');
  const id = runJson(['sessions', 'list', '--limit', '1'], { env }).sessions[0].id;
  assert.ok(complete('sessions', 'show', id.slice(0, 5)).includes(id));
  assert.ok(complete('ask', '-c', id.slice(0, 5)).includes(id));
  assert.ok(complete('config', 'get', 'homes.').includes('homes.profiles'));
  assert.ok(complete('achievements', 'show', 'let_').includes('let_him_cook'));
  const titled = run(['help', '--complete-values', 'sessions'], { env });
  assert.match(titled.stdout, /^\S+\t.+ \(demo\)$/m);
  assert.doesNotMatch(run(['help', '--help'], { env }).stdout, /complete-values/);
});

test('zsh and fish completion name every command', (t) => {
  const { env } = tmpHome(t);
  for (const shell of ['zsh', 'fish']) {
    const r = run(['help', '--completion', shell], { env });
    assert.equal(r.code, 0);
    for (const word of ['status', 'sessions', 'templates', 'harvest', 'limit']) assert.ok(r.stdout.includes(word), `${shell}: ${word}`);
  }
});

/** What each shell offers for a line, where the shell is installed. */
const shells = {
  zsh(dir, env, line) {
    const r = spawnSync('zsh', ['-f', path.join(fixtures, 'complete.zsh'), dir, line], { encoding: 'utf8', env, timeout: 60_000 });
    assert.equal(r.stderr, '');
    return r.stdout.split('\n').filter(Boolean);
  },
  fish(dir, env, line) {
    const r = spawnSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', path.join(dir, '_talaria'), line], { encoding: 'utf8', env, timeout: 60_000 });
    assert.equal(r.stderr, '');
    return r.stdout.split('\n').filter(Boolean).map((l) => l.split('\t')[0]);
  },
};

for (const [shell, offers] of Object.entries(shells)) {
  const missing = spawnSync(shell, ['-c', 'true']).error ? `${shell} is not installed` : false;
  test(`${shell} offers commands, subcommands, options and values`, { skip: missing }, (t) => {
    const { env, dir } = tmpHome(t);
    assert.equal(run(['demo'], { env }).code, 0);
    Object.assign(env, { TALARIA_DEMO: '1', PATH: `${dir}:${env.PATH}`, TERM: 'dumb' });
    fs.symlinkSync(bin, path.join(dir, 'talaria'));
    fs.writeFileSync(path.join(dir, '_talaria'), run(['help', '--completion', shell], { env }).stdout);
    const complete = (line) => offers(dir, env, `talaria ${line}`);
    assert.ok(['sessions', 'templates', 'help'].every((c) => complete('').includes(c)));
    assert.deepEqual(complete('sess'), ['sessions']);
    assert.deepEqual(complete('sessions l'), ['list']);
    assert.deepEqual(complete('--color never sessions l'), ['list']);
    assert.deepEqual(complete('--color ').sort(), ['always', 'auto', 'never']);
    const options = complete('sessions list --');
    assert.ok(['--limit', '--source', '--json'].every((o) => options.includes(o)), options.join(' '));
    assert.ok(!options.includes('--include-failed'));
    assert.deepEqual(complete('templates inject --format ').sort(), ['anthropic', 'openai']);
    const id = runJson(['sessions', 'list', '--limit', '1'], { env }).sessions[0].id;
    const ids = complete(`sessions show ${id.slice(0, 5)}`);
    assert.ok(ids.includes(id) && !ids.includes('list'), ids.join(' '));
  });
}

test('colour is for terminals: off in a pipe, on when asked for, off by NO_COLOR', (t) => {
  const { env } = tmpHome(t);
  const colored = (args, extra) => run(['help', ...args], { env: { ...env, ...extra } }).stdout.includes('\x1b[');
  assert.equal(colored([], {}), false);
  assert.equal(colored(['--color=always'], {}), true);
  assert.equal(colored([], { CLICOLOR_FORCE: '1' }), true);
  assert.equal(colored([], { CLICOLOR_FORCE: '1', NO_COLOR: '1' }), false);
});

test('a reader that goes away is no failure', (t) => {
  const { env } = tmpHome(t);
  const r = spawnSync('bash', ['-c', `set -o pipefail; '${bin}' help | head -1`], { env, encoding: 'utf8' });
  assert.equal(r.status, 0, r.stderr);
});

test('output that cannot be written is a failure', (t) => {
  const { env } = tmpHome(t);
  const r = spawnSync('bash', ['-c', `'${bin}' help > /dev/full`], { env, encoding: 'utf8' });
  assert.equal(r.status, 1);
  assert.match(r.stderr, /cannot write the output: No space left/);
});

test('settings: a misspelt key and a wrong value are refused with line and way out', (t) => {
  const { env, user } = tmpHome(t);
  const file = path.join(user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const cases = [
    ['homes:\n  profils: true\n', /line 2: unknown setting 'homes.profils'; did you mean 'homes.profiles'\?/],
    ['homes:\n  profiles: maybe\n', /line 2: 'homes.profiles' must be true or false, not 'maybe'/],
    ['sessions: [1]\n', /'sessions' cannot be a list/],
    ['a: b: c\n', /line 1: mapping values are not allowed/],
  ];
  for (const [yaml, message] of cases) {
    fs.writeFileSync(file, yaml);
    const r = run(['status'], { env });
    assert.equal(r.code, 1);
    assert.match(r.stderr, message);
    const list = run(['config', 'list'], { env });
    assert.equal(list.code, 0, 'the way out works');
    assert.match(list.stderr, message);
    assert.match(list.stdout, /^homes\.profiles\b/m);
  }
  fs.writeFileSync(file, 'sessions:\n  limit: 7\n');
  assert.equal(runJson(['config', 'get', 'sessions.limit'], { env }).value, '7');
});

test('what an option takes is listed once, and reads as a sentence', (t) => {
  const { env } = tmpHome(t), help = (...words) => run([...words, '--help'], { env }).stdout.replace(/\s+/g, ' ');
  assert.match(help('sleep', 'run'), /--backend B mock: simulated answers, free; model: your model; handoff: answers from files --model/);
  assert.match(help('sleep', 'run'), /agent whose sessions to learn from: all, hermes, claude, codex \(default: all\)/);
  assert.match(help('sessions', 'search'), /'tool' means tool calls and their results \(user, assistant, tool, call, result\)/);
  assert.match(help('ask'), /runtime that answers: native, hermes,/);
});
