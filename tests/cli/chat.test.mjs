// talaria chat as a person sits in front of it: a real pty, a model on loopback that says what the test says.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { fakeHermes } from '../fakes/hermes.mjs';
import { bin, python, root, run, tmpHome } from './helpers.mjs';
import { terminal } from './terminal.mjs';

const limit = { timeout: 60_000 };

/** A model whose words the test sends one by one. */
async function model(t) {
  const turns = [], waiting = [];
  const server = http.createServer((rq, rs) => {
    let body = '';
    rq.setEncoding('utf8');
    rq.on('data', (d) => { body += d; });
    rq.on('end', () => {
      rs.writeHead(200, { 'content-type': 'text/event-stream' });
      rs.flushHeaders();
      const send = (delta, finish = null) => rs.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
      const turn = { body: JSON.parse(body), gone: new Promise((r) => rs.on('close', r)), say: (content) => send({ content }), think: (reasoning_content) => send({ reasoning_content }),
        end: () => { send({}, 'stop'); rs.end('data: [DONE]\n\n'); } };
      if (waiting.length) waiting.shift()(turn); else turns.push(turn);
    });
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { env: { TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm' },
    turn: () => (turns.length ? Promise.resolve(turns.shift()) : new Promise((r) => waiting.push(r))) };
}

async function withModel(t, args = [], options = {}) {
  const home = options.home ?? tmpHome(), m = await model(t);
  const env = { ...home.env, ...m.env, TERM: options.term ?? 'xterm' };
  const term = terminal(t, ['chat', ...args], { env, ...options });
  await term.until(/^> $|^>$/m);
  return { home, env, term, model: m };
}

/** Lines wrapped at blanks and before wide characters, as they are drawn. */
function wrapped(text, width) {
  const columns = (word) => [...word].reduce((n, c) => n + (c >= '\u2e80' ? 2 : 1), 0);
  return text.trimEnd().split('\n').map((line) => {
    let out = '', col = 0;
    for (const [all, blank, word] of line.trimEnd().matchAll(/( ?)([\u2e80-\uffdc]?[^ \u2e80-\uffdc]*)/g)) {
      if (!all) continue;
      if (col && col + blank.length + columns(word) > width) { out += '\n' + word; col = columns(word); } else { out += blank + word; col += blank.length + columns(word); }
    }
    return out;
  }).join('\n');
}

const count = (text, word) => text.split(word).length - 1;

test('the first minute: offline answers at once, leaving says how to come back', limit, async (t) => {
  const home = tmpHome();
  const term = terminal(t, ['chat'], { env: home.env });
  await term.until(/^Runtime: offline \(no model; quotes from your history\)\.\nTo add a model: talaria setup$/m);
  await term.until('/help');
  term.type('hello there\r');
  const text = await term.until('-- completed');
  assert.match(text, /> hello there\nNo model is configured \(run 'talaria setup' to add one\), and nothing in your\s+history answers this\.\n-- completed · \d+/);
  term.type('\x04');
  assert.equal(await term.exited, 0);
  const id = /to continue: talaria chat --resume (c\w+)/.exec(term.screen.text())[1];
  assert.deepEqual(term.screen.odd, []);
  assert.equal(term.screen.modes.size, 0, 'the terminal is as it was');
  assert.ok(term.raw().includes('\x1b[2m-- completed'), 'colours at a terminal');

  const again = terminal(t, ['chat', '--resume', id], { env: home.env });
  const seen = await again.until('/help');
  assert.match(seen, /hello there[^]*> hello there\nNo model is configured/);
  again.type('\x1b[A'); // what was typed before is there too
  await again.until((s) => count(s, '> hello there') === 2);
  again.type('\x15/quit\r');
  assert.equal(await again.exited, 0);
  assert.equal(fs.statSync(path.join(home.data, 'chat-history')).mode & 0o777, 0o600);
});

for (const name of ['xterm', 'linux', 'screen']) test(`typing while an answer streams (${name}): the line is kept, the words are in one piece`, limit, async (t) => {
  const { term, model: m } = await withModel(t, [], { columns: 40, term: name });
  term.type('go\r');
  const turn = await m.turn();
  let said = '';
  const say = (s) => { said += s; turn.say(s); };
  say('The first words ');
  await term.until('The first words');
  term.type('a line that is lo');
  await term.until(/\+ a line that is lo$/m);
  for (let i = 0; i < 30; i++) {
    say(i % 7 === 6 ? `n${i}.\n` : i % 5 === 4 ? `宽字${i} ` : `word${i} `);
    if (i === 10) term.type('nger than the row of the terminal is wide');
    if (i === 15) term.type('\x1b\rnext row');
    if (i === 20) term.type('\x01X\x05Y'); // at its beginning and its end
    if (i % 3 === 0) await term.until((s) => s.replace(/\n/g, '').includes(`${i}`));
  }
  await term.until((s) => s.replace(/\n/g, '').includes('+ Xa line that is longer than the row of the terminal is widenext rowY'));
  await term.until(/wide\nnext rowY$/);
  const plain = wrapped(said, 39);
  // While words come the line is away for a moment; it settles with all of it there, once.
  await term.until((s) => s.includes(plain) && count(s, 'The first words') === 1 && count(s, 'Xa line that is') === 1);
  turn.end();
  await term.until('-- completed');
  await term.until((s) => s.replace(/\n/g, '').includes('> Xa line that is longer'));
  assert.deepEqual(term.screen.odd, []);
});

test('Enter while a turn runs queues; the queued message is answered next', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  term.type('one\r');
  const first = await m.turn();
  first.say('answer to ');
  await term.until('answer to');
  term.type('two\r');
  await term.until('1 queued');
  term.type('three\r');
  await term.until('2 queued');
  first.say('one');
  first.end();
  const second = await m.turn();
  assert.equal(second.body.messages.at(-1).content, 'two');
  await term.until(/> two\n/);
  second.say('answer to two');
  second.end();
  const third = await m.turn();
  third.say('answer to three');
  third.end();
  const text = await term.until((s) => count(s, '-- completed') === 3);
  assert.match(text, /> one\nanswer to one\n--.*\n> two\nanswer to two\n--.*\n> three\nanswer to three\n--/);
});

test('Ctrl-C cancels the turn and keeps what was said; at an empty line it says how to leave', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  term.type('\x03');
  await term.until('Ctrl-D or /quit leaves');
  term.type('half a thought');
  await term.until('half a thought');
  term.type('\x03');
  await term.until((s) => s.split('\n').at(-1).trim() === '>');
  term.type('go\r');
  const turn = await m.turn();
  turn.say('as far as this');
  await term.until('as far as this');
  term.type('kept');
  await term.until('+ kept');
  term.type('\x03');
  await term.until('-- cancelled');
  await turn.gone;
  await term.until(/> kept$/m);
  assert.ok(!term.screen.text().includes('error'));
  term.type('\x15/stop\r');
  await term.until('nothing is running');
  term.type('again\r');
  const next = await m.turn();
  next.say('words');
  await term.until('words');
  term.type('/stop\r');
  await term.until((s) => count(s, '-- cancelled') === 2);
});

test('a paste with line feeds is one message; escapes in it are nobody\'s', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  assert.ok(term.screen.modes.has('?2004'));
  term.type('look: \x1b[200~first line\rsecond \x1b[31mline\r\nthird: grüße 你好\x1b[201~');
  await term.until('third: grüße 你好');
  term.type('!');
  await term.until('你好!');
  term.type('\r');
  const turn = await m.turn();
  assert.equal(turn.body.messages.at(-1).content, 'look: first line\nsecond [31mline\nthird: grüße 你好!');
  turn.say('ok');
  turn.end();
  await term.until('-- completed');
  term.type('\x1b[A'); // the arrow brings it back whole
  await term.until((s) => count(s, 'third: grüße 你好!') === 2);
  term.type('\r');
  assert.equal((await m.turn()).body.messages.at(-1).content, 'look: first line\nsecond [31mline\nthird: grüße 你好!');
});

test('a paste that is larger than the screen arrives whole', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  const text = Array.from({ length: 2000 }, (_, i) => `line ${i}: ${'wörd '.repeat(i % 30)}end`).join('\n');
  term.type(`\x1b[200~${text.replaceAll('\n', '\r')}\x1b[201~`);
  await term.until('line 1999');
  term.type('!');
  await term.until('end!');
  term.type('\r');
  const turn = await m.turn();
  assert.ok(turn.body.messages.at(-1).content === `${text}!`);
  turn.say('a short answer');
  turn.end();
  const shown = await term.until('-- completed');
  assert.match(shown, /a short answer\n-- completed/);
});

test('nothing that a model says steers the terminal', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  term.type('go\r');
  const turn = await m.turn();
  turn.think('thin\x1b]52;c;AAAA\x07king');
  turn.say('a\x1b]0;title\x07b\x1b[2Jc\x9b31md\r\x1bP$q\x1b\\e\u202ef\x08\x7f\n');
  turn.say('\x1b');
  turn.say('[31mred');
  turn.end();
  const text = await term.until('-- completed');
  assert.ok(text.includes('a␛]0;title␇b␛[2Jc�31md␍␛P$q␛\\e�f␈␡'), text);
  assert.ok(text.includes('␛[31mred'));
  assert.match(text, /thought: thin␛\]52;c;AAAA␇king/);
  for (const bad of ['\x1b]', '\x1b[2J', '\x1b[31mred', '\x1bP', '\x9b', '\u202e'])
    assert.ok(!term.raw().includes(bad), JSON.stringify(bad));
  assert.deepEqual(term.screen.odd, []);
});

test('commands: help is the documentation, Tab completes, a slip is named', limit, async (t) => {
  const home = tmpHome();
  fs.writeFileSync(path.join(home.dir, 'notes.md'), '# hi\n');
  const term = terminal(t, ['chat'], { env: { ...home.env, NO_COLOR: '1' }, columns: 100, rows: 40, cwd: home.dir });
  await term.until(/^>/m);
  term.type('/hel\t\r');
  const help = await term.until('Tab completes');
  const docs = fs.readFileSync(path.join(root, 'docs/terminal.md'), 'utf8');
  const rows = [...help.matchAll(/^ {2}(\/[a-z]+(?: \S+)*) {2,}(\S.*)$/gm)];
  assert.equal(rows.length, 17);
  for (const [, name, what] of rows) assert.ok(docs.includes(`| \`${name}\` | ${what} |`), `${name} in docs/terminal.md`);
  term.type('/se\t\r');
  await term.until('no sessions yet');
  term.type('/re\t');
  await term.until('/resume  /retry');
  term.type('t\t\r');
  await term.until('nothing sent yet');
  term.type('/runtime off\t\r');
  await term.until('runtime: offline (');
  term.type('/file not\t\r');
  await term.until('notes.md (5 B) is attached to your next message');
  term.type('/sesions\r');
  await term.until("no command '/sesions'; did you mean /sessions?");
  term.type('/runtime nobody\r');
  await term.until("unknown runtime 'nobody'; choose native, hermes");
  term.type('/memory\r');
  await term.until('about the user');
  term.type('/skills\r');
  await term.until('no skills found');
  term.type('/context\r');
  await term.until('no turn yet');
  term.type('/etc/hosts is a path\r');
  await term.until((s) => count(s, '-- completed') === 1);
  term.type('/title A good name\r');
  await term.until('named');
  term.type('/context\r');
  term.type('/new\r');
  await term.until('your next message starts a new conversation');
  term.type('//slash\r');
  await term.until((s) => count(s, '-- completed') === 2);
  term.type('/sessions\r');
  const listed = await term.until(/c[0-9a-f]{24}.*A good name/);
  const id = /(c[0-9a-f]{24}).*A good name/.exec(listed)[1];
  term.type(`/resume ${id.slice(0, 12)}\r`);
  await term.until(new RegExp(`conversation ${id} · A good name`));
  term.type('/quit\r');
  assert.equal(await term.exited, 0);
  assert.match(term.screen.text(), new RegExp(`--resume ${id}`));
  assert.ok(!/\x1b\[\d*m/.test(term.raw()), 'no colours where none are wanted');
});

test('/context shows the receipts that a turn left', limit, async (t) => {
  const home = tmpHome();
  const { stderr } = run(['chat'], { env: home.env, input: 'hello\n' });
  const id = /--resume (c\w{24})/.exec(stderr)[1];
  const receipt = { format: 1, tokens: 9, parts: {}, receipts: [{ kind: 'recalled', id: 's1/4', score: 1.25, reason: 'speaks of \x1b[5mit', chars: 40 }] };
  python(`import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("insert into attachment(id, conversation_id, kind, name, mime, size, sha256, visible, body, created_ms) values('a1', ?, 'context_receipt', 'context.json', 'application/json', ?, '', 0, ?, 9999999999999)", (sys.argv[2], len(sys.argv[3]), sys.argv[3].encode()))`,
  path.join(home.data, 'talaria.db'), id, JSON.stringify(receipt));
  const term = terminal(t, ['chat', '--resume'], { env: home.env });
  await term.until('/help');
  term.type('/context\r');
  await term.until(/recalled s1\/4 +1\.25 · 40 characters · speaks of ␛\[5mit/);
});

test('a runtime that asks is answered in the line', limit, async (t) => {
  const home = tmpHome();
  const { url } = await fakeHermes(t);
  const config = path.join(home.user, '.config/talaria/config.yaml');
  fs.mkdirSync(path.dirname(config), { recursive: true });
  fs.writeFileSync(config, `hermes:\n  base_url: ${url}\n  transport: runs\n`);
  const term = terminal(t, ['chat', '--runtime', 'hermes'], { env: home.env });
  await term.until(/^>/m);
  term.type('use a tool and approve\r');
  await term.until('approval needed: rm -r build');
  await term.until('once/session/always/deny?');
  term.type('what?\r');
  await term.until('answer first');
  term.type('o\r');
  await term.until('answered: once');
  const text = await term.until('-- completed');
  assert.match(text, /tool: \S+ .*· ok · [\d.]+ m?s/);
  assert.match(text, /-- completed · [\d,]+ tokens in, \d+ out · [\d.]+ m?s/);
  term.type('/runtime\r');
  await term.until(/hermes \(answers\) +ready/);
});

test('what a provider refuses has a meaning, its own words, and a way out', limit, async (t) => {
  for (const [status, words, way] of [[429, /^error: too many requests \(.*slow down/m, 'wait a moment, then /retry'], [401, /^error: not authorised \(.*bad key/m, 'check its API key']]) {
    const server = http.createServer((rq, rs) => { rq.resume(); rs.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: status === 429 ? 'slow down' : 'bad key' } })); });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => { server.closeAllConnections(); server.close(); });
    const term = terminal(t, ['chat', '--runtime', 'native'], { env: { ...tmpHome().env, TALARIA_MODEL_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, TALARIA_MODEL: 'm' } });
    await term.until(/^>/m);
    term.type('hello\r');
    await term.until('-- failed');
    await term.until(words);
    assert.doesNotMatch(await term.until(way), /rate_limited|runtime_auth/);
  }
});

test('trouble is told in words, with a way out, and the chat goes on', limit, async (t) => {
  const home = tmpHome();
  const term = terminal(t, ['chat', '--runtime', 'native'], { env: { ...home.env, TALARIA_MODEL_BASE_URL: 'http://127.0.0.1:9/v1', TALARIA_MODEL: 'm' } });
  await term.until(/^>/m);
  term.type('hello\r');
  assert.doesNotMatch(await term.until(/^error: /m), /error:? [a-z]+_[a-z]+\b/);
  await term.until('/runtime lists the alternatives');
  await term.until('-- failed');
  term.type('/runtime offline\r');
  await term.until('runtime: offline (');
  term.type('/retry\r');
  await term.until('-- completed');
  term.type('\x04');
  assert.equal(await term.exited, 0);
});

test('kill -9 in the middle of an answer: --resume shows what was said', limit, async (t) => {
  const { env, term, model: m } = await withModel(t);
  term.type('tell me\r');
  const turn = await m.turn();
  turn.say('the beginning of a long ');
  turn.say('story');
  await term.until('a long story');
  term.signal(9);
  assert.equal(await term.exited, -9);
  const again = terminal(t, ['chat', '--resume'], { env });
  const text = await again.until('-- partial');
  assert.match(text, /> tell me\nthe beginning of a long story\n-- partial: cut off here/);
  again.type('go on\r');
  const next = await m.turn();
  assert.ok(JSON.stringify(next.body.messages).includes('the beginning of a long story'));
  next.say('the end');
  next.end();
  await again.until('-- completed');
});

test('a terminal that goes away or is resized', limit, async (t) => {
  const { term, model: m } = await withModel(t);
  term.type('go\r');
  const turn = await m.turn();
  turn.say('some words');
  await term.until('some words');
  term.resize(30, 120);
  term.type('still here');
  await term.until('still here');
  term.signal(20); // Ctrl-Z: the terminal is the shell's again
  await term.until(() => !term.screen.modes.has('?2004'));
  // As a shell does: what is told to go on must have stopped, else nobody ever tells it.
  while (!/\) T /.test(fs.readFileSync(`/proc/${term.pid()}/stat`, 'utf8'))) await new Promise((r) => setTimeout(r, 5));
  term.signal(18);
  await term.until(() => term.screen.modes.has('?2004'));
  await term.until(/\+ still here$/m);
  term.signal(15);
  assert.equal(await term.exited, -15);
  assert.match(term.screen.text(), /-- cancelled[^]*--resume c/);
  assert.equal(term.screen.modes.size, 0);
});

test('standard input from a pipe: every line is a message, the exit code is the last turn\'s', limit, async (t) => {
  const home = tmpHome();
  const r = run(['chat'], { env: home.env, input: '/runtime offline\none\n\ntwo\n' });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, "No model is configured (run 'talaria setup' to add one), and nothing in your history answers this.\n".repeat(2));
  assert.match(r.stderr, /--resume c\w{24}/);
  assert.ok(!r.stderr.includes('\x1b'));
  const failed = run(['chat', '-r', 'native'], { env: { ...home.env, TALARIA_MODEL_BASE_URL: 'http://127.0.0.1:9/v1', TALARIA_MODEL: 'm' }, input: 'x\n' });
  assert.equal(failed.code, 1, failed.stderr);
  assert.match(failed.stderr, /^error: /m);
  assert.equal(run(['chat'], { env: home.env, input: '/nonsense\n' }).code, 2);
  assert.equal(run(['chat', '--json'], { env: home.env, input: '' }).code, 2);
  assert.equal(run(['chat', '--resume', 'nobody'], { env: home.env, input: '' }).code, 3);
  const id = /--resume (c\w{24})/.exec(r.stderr)[1];
  const on = run(['chat', '--resume', id], { env: home.env, input: 'three\n' });
  assert.equal(on.code, 0, on.stderr);
  assert.match(on.stderr, /> two\n/);
  assert.equal(run(['chat'], { env: home.env, input: '' }).code, 0);
  assert.equal(run(['chat', '--template', 'nobody'], { env: home.env, input: '' }).code, 3);
  const file = path.join(home.dir, 'a.txt');
  fs.writeFileSync(file, 'text');
  const quiet = run(['chat', '-q', '-f', file, '-f', file], { env: home.env, input: 'with files' });
  assert.equal(quiet.code, 0, quiet.stderr);
  assert.equal(quiet.stderr, '');
  assert.equal(quiet.stdout, "2 files are kept, not read. No model is configured (run 'talaria setup' to add one), and nothing in your history answers this.\n");
  assert.equal(run(['chat', '-f', `${file}x`], { env: home.env, input: 'x\n' }).code, 3);
  // Where nothing was said, nothing stays: neither a conversation nor its file.
  const kept = () => fs.readdirSync(path.join(home.data, 'files')).length;
  const before = kept();
  const silent = run(['chat'], { env: home.env, input: `/file ${file}\n/new\n/file ${file}\n` });
  assert.equal(silent.code, 0, silent.stderr);
  assert.doesNotMatch(silent.stderr, /--resume/);
  assert.equal(kept(), before);
  const long = run(['chat'], { env: home.env, input: `${'x'.repeat(1 << 21)}\n/quit\n` });
  assert.match(long.stderr, /longer than 1048576 bytes/);
  assert.equal(long.code, 1);
});

test('a pipe that is interrupted while nothing comes', limit, async (t) => {
  const home = tmpHome();
  const child = spawn(bin, ['chat'], { env: home.env, stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  child.stdin.write('hello\n');
  await new Promise((r) => child.stdout.once('data', r));
  child.kill('SIGINT');
  assert.equal(await new Promise((r) => child.on('close', (code) => r(code))), 130);
});

test('Markdown is drawn while it comes: styles, wrapped lists, code, tables, links as commands', limit, async (t) => {
  const { term, model: m } = await withModel(t, [], { columns: 40 });
  term.type('go\r');
  const turn = await m.turn();
  const text = '## What **we** did\n\n- the first point is long enough to wrap around\n- see [The gate](/sessions/abc-1) and `code`\n\n```sh\nls -la\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted **words**, with \x1b[31mescapes\n';
  for (let at = 0; at < text.length; at += 3) turn.say(text.slice(at, at + 3));
  await term.until('escapes');
  turn.end();
  const seen = await term.until('-- completed');
  for (const part of ['What we did\n\n• the first point is long enough to\n  wrap around\n• see The gate [1] and code\n\n    ls -la\n\na  b\n1  2\n\n│ quoted words, with ␛[31mescapes\n\n[1] talaria sessions show abc-1\n-- completed'])
    assert.ok(seen.includes(part), seen);
  assert.ok(term.raw().includes('\x1b[1m'), 'bold');
  assert.ok(!term.raw().includes('\x1b[31mesc'));
  assert.ok(!seen.includes('**') && !seen.includes('](') && !seen.includes('```'));
  assert.deepEqual(term.screen.odd, []);
});
