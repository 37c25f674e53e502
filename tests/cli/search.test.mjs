// talaria index and talaria sessions search, over transcripts of every source.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { bin, endlessReads, makeStateDb, python, pythonPeer, run, runJson, tmpHome } from './helpers.mjs';
import { claude, id } from './said.mjs';
import { terminal } from './terminal.mjs';

const hits = (home, ...args) => runJson(['sessions', 'search', ...args], { env: home.env });
const texts = (answer) => answer.hits.map((h) => h.snippet.map((p) => (p.hit ? `[${p.text}]` : p.text)).join(''));

test('words, phrases, filters and questions find what was said and done', (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['the parser fails on empty input', 'I will look', { tool: 'Bash', input: { command: 'make zebra', description: 'x' }, result: 'Error: missing quagga' }]);
  claude(home, 2, ['Which cache, redis or memcached?', 'The second one.'], { cwd: '/work/web' });
  const one = hits(home, 'parser', 'failing');
  assert.deepEqual(texts(one), ['the [parser] [fails] on empty input']);
  assert.equal(one.format, 1);
  assert.equal(one.hits[0].session, id(1));
  assert.equal(one.hits[0].origin, 'claude');
  assert.equal(one.hits[0].project, '/work/app');
  assert.equal(one.hits[0].role, 'user');
  assert.deepEqual(texts(hits(home, '"empty input"')), ['the parser fails on [empty] [input]']);
  assert.deepEqual(hits(home, '"input empty"').hits, []);
  assert.equal(hits(home, 'zebra', 'tool:Bash').hits[0].role, 'call');
  assert.equal(hits(home, 'quagga').hits[0].tool, 'Bash');
  assert.deepEqual(hits(home, 'secretthought').hits, []);
  assert.deepEqual(hits(home, 'description').hits, [], 'names of arguments are not indexed');
  assert.deepEqual(texts(hits(home, 'What did we choose, redis?')), ['Which cache, [redis] or memcached?', 'The second one.']);
  assert.equal(hits(home, 'redis', '--project', 'web').hits.length, 1);
  assert.equal(hits(home, 'redis', '--project', 'app').hits.length, 0);
  assert.equal(hits(home, 'redis', '--source', 'codex').hits.length, 0);
  assert.equal(hits(home, 'redis', '--since', '2027-01-01').hits.length, 0);
  assert.equal(hits(home, 'redis', '--role', 'assistant').hits.length, 0);
  assert.deepEqual(texts(hits(home, '--substring', 'mcach')), ['Which cache, redis or me[mcach]ed?']);
  assert.deepEqual(texts(hits(home, '--substring', 's on empty inp')), ['the parser fail[s on empty inp]ut']);
});

test('filters of a search: every source that the list prints, models, times, archived sessions', (t) => {
  const home = tmpHome(t);
  run(['demo'], { env: home.env });
  home.env.TALARIA_DEMO = '1';
  const list = runJson(['sessions', 'list', '--limit', '0', '--archived'], { env: home.env }).sessions;
  const sources = [...new Set(list.map((s) => s.source))];
  assert.ok(sources.length > 3, sources.join());
  for (const source of [...sources, 'hermes', 'talaria']) {
    const r = run(['sessions', 'search', '--json', '--source', source, 'backup'], { env: home.env });
    assert.equal(r.code, 0, `${source}: ${r.stderr}`);
    for (const h of JSON.parse(r.stdout).hits) assert.ok(h.source === source || h.origin === source, `${source}: ${h.source}`);
    assert.doesNotMatch(hits(home, `source:${source} backup`).note ?? '', /unknown filter/, source);
  }
  assert.match(hits(home, 'source:bogus backup').note, /unknown filter 'source:bogus'; searched as text/);
  const wrong = run(['sessions', 'search', '--source', 'bogus', 'backup'], { env: home.env });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /unknown source 'bogus'; known sources: hermes, claude, codex, talaria, cli/);
  const all = hits(home, '--limit', '200', 'backup').hits;
  const middle = all.map((h) => h.at).sort((a, b) => a - b)[all.length >> 1];
  assert.ok(all.length > 10);
  assert.ok(hits(home, '--limit', '200', '--until', String(middle), 'backup').hits.every((h) => h.at < middle));
  assert.ok(hits(home, '--limit', '200', '--since', String(middle), 'backup').hits.every((h) => h.at >= middle));
  assert.deepEqual(hits(home, '--model', 'nosuchmodel', 'backup').hits, []);
  const model = list.find((s) => s.model)?.model;
  assert.ok(hits(home, '--model', model.toUpperCase(), 'backup').hits.length > 0, model);
});

test('people see a search grouped by session, what was said first, and tools in plain text', async (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 4; n++)
    claude(home, n, [`please look at the quokka, number ${'abcd'[n - 1].repeat(5)}`, { tool: 'Bash', input: { command: 'quokka --status' }, result: JSON.stringify({ output: `quokka.service failed\nexit at 0${n}:00`, exit_code: n }) }]);
  runJson(['index'], { env: home.env });
  const term = terminal(t, ['sessions', 'search', 'quokka'], { env: home.env });
  assert.equal(await term.exited, 0);
  const text = term.screen.text();
  assert.equal((text.match(/^0{8}-0000-4000-8000-0{11}[1-4] {2}/gm) ?? []).length, 4, text);
  assert.match(text, /^ {2}user {2}please look at the quokka/m);
  assert.match(text, /^ {2}Bash \(result\) {2}quokka\.service failed exit at 0\d:00 exit_code: \d/m);
  assert.doesNotMatch(text, /"output"/);
  assert.equal(text.match(/quokka\.service failed/g).length, 1, 'nearly the same passage is shown once');
  assert.ok(text.indexOf('user  please') < text.indexOf('Bash (result)'));
  assert.match(text, /similar passages not shown/);
  const piped = run(['sessions', 'search', 'quokka'], { env: home.env });
  assert.equal(piped.stderr, '');
  for (const line of piped.stdout.trimEnd().split('\n')) assert.equal(line.split('\t').length, 7, line);
});

test('what a fork copied from another session is found once, where it was said', (t) => {
  const home = tmpHome(t);
  const file = claude(home, 50, Array.from({ length: 30 }, (_, i) => `the okapi number ${i}`));
  const lines = fs.readFileSync(file, 'utf8');
  for (let n = 51; n <= 59; n++) {
    // As Claude Code does it: each message with its uuid and time, and the id of the new session.
    fs.writeFileSync(file.replace(id(50), id(n)), lines.replaceAll(id(50), id(n)));
    claude(home, n, [`fork ${n} goes on with a bongo`]);
  }
  for (const query of [['okapi'], ['--substring', 'kapi'], ['What about the okapi?']]) {
    const found = hits(home, '--limit', '20', ...query);
    assert.equal(found.hits.length, 20, query.join(' '));
    assert.equal(new Set(texts(found)).size, 20, query.join(' '));
    assert.equal(found.more, true);
    // Text as it stands is looked for in the newest sessions first, and no further than need be.
    if (query[0] !== '--substring') assert.deepEqual(new Set(found.hits.map((h) => h.session)), new Set([id(50)]));
  }
  assert.equal(hits(home, 'bongo').hits.length, 9);
});

test('a query without a word says so', (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['the parser fails']);
  for (const query of ['', 'role:user', 'role:user -parser', '???', ' ']) {
    const answer = hits(home, query);
    assert.deepEqual(answer.hits, []);
    assert.match(answer.note, /nothing to search for/, query);
  }
  assert.match(hits(home, '--substring', 'role:user').note, /nothing to search for/);
  assert.doesNotMatch(hits(home, 'nosuchword').note ?? '', /no word/);
});

test('a Hermes home is searched too, and its messages are shown again', (t) => {
  const home = tmpHome(t);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 5, messages: 10 });
  python(`import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("update messages set content='please polish the xylophone today' where id=(select min(id) from messages where role='user')"); c.commit()`,
    path.join(home.hermes, 'state.db'));
  const found = hits(home, 'xylophones');
  assert.deepEqual(texts(found), ['please polish the [xylophone] today']);
  assert.equal(found.hits[0].origin, 'hermes');
  assert.equal(hits(home, '--home', home.hermes, 'xylophone').hits.length, 1);
});

test('what is new is found at once; what is gone is not', (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['first']);
  assert.equal(hits(home, 'marsupial').hits.length, 0);
  const file = claude(home, 1, ['a marsupial'], {});
  assert.equal(hits(home, 'marsupial').hits.length, 1);
  claude(home, 1, ['another marsupial']);
  assert.equal(hits(home, 'marsupial').hits.length, 2);
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('marsupial', 'wallaby'));
  assert.equal(hits(home, 'marsupial').hits.length, 0);
  assert.equal(hits(home, 'wallaby').hits.length, 2);
  fs.rmSync(file);
  assert.equal(hits(home, 'wallaby').hits.length, 0);
});

test('the index says what it holds, and can be made anew', (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 5; n++) claude(home, n, ['hello there', 'general greeting', 'more words']);
  const first = runJson(['index'], { env: home.env });
  assert.equal(first.sessions, 5);
  assert.equal(first.messages, 15);
  assert.ok(first.bytes_read > 0 && first.text_bytes > 0 && first.index_bytes > 0 && first.cpu_seconds >= 0);
  const second = runJson(['index'], { env: home.env });
  assert.equal(second.bytes_read, 0);
  const third = runJson(['index', '--rebuild'], { env: home.env });
  assert.equal(third.bytes_read, first.bytes_read);
  assert.equal(hits(home, 'greeting').hits.length, 5);
  fs.writeFileSync(path.join(home.data, 'index.db'), 'no database at all');
  assert.equal(hits(home, 'greeting').hits.length, 5, 'a damaged index costs a rebuild');
});

test('what the catalogue read while nobody listened is indexed afterwards', (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['an aardvark', 'fine']);
  hits(home, 'x');
  claude(home, 1, ['a second aardvark']);
  claude(home, 2, ['a third aardvark']);
  // As if another command had brought the catalogue up to date: its cursors stand at the end, ours do not.
  hits(home, 'x');
  python(`import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("update recall_sessions set offset=1 where key=1"); c.commit()`, path.join(home.data, 'index.db'));
  assert.equal(hits(home, 'aardvark').hits.length, 3, 'and nothing twice');
});

test('people get text, a hint, and a note where there is nothing', (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['\u001b[31mred herring\u001b[0m']);
  const shown = run(['sessions', 'search', 'herring'], { env: { ...home.env, CLICOLOR_FORCE: '1' } });
  assert.equal(shown.code, 0);
  assert.match(shown.stdout, /^00000000-[^\t]*\tclaude\t[^\t]*\tuser\t\t[^\t]*\t[^\t]*red herring[^\t]*\n$/, 'a pipe gets data');
  assert.doesNotMatch(shown.stdout, /\u001b\[/, 'text from outside cannot steer the terminal');
  const none = run(['sessions', 'search', 'nothinglikethis'], { env: home.env });
  assert.equal(none.code, 0);
  assert.equal(none.stdout, '');
  assert.match(none.stderr, /no matches/);
  const odd = run(['sessions', 'search', 'role:nobody "herring'], { env: home.env });
  assert.match(odd.stderr, /unknown filter 'role:nobody'; searched as text/);
  assert.equal(run(['sessions', 'search', '--role', 'nobody', 'x'], { env: home.env }).code, 2);
  assert.equal(run(['sessions', 'search', '--limit', '0', 'x'], { env: home.env }).code, 2);
  assert.equal(run(['sessions', 'search'], { env: home.env }).code, 2);
});

test('an interrupted index keeps what it has, and goes on there', async (t) => {
  const home = tmpHome(t);
  for (let n = 1; n <= 400; n++) claude(home, n, Array.from({ length: 40 }, (_, i) => `pangolin ${n} ${i} ` + 'lorem ipsum dolor '.repeat(60)));
  const child = spawn(bin, ['index'], { env: home.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((r) => child.once('exit', r));
  let said = '';
  child.stderr.on('data', (d) => (said += d));
  while (!fs.existsSync(path.join(home.data, 'index.lock')) && child.exitCode === null) await new Promise((r) => setImmediate(r));
  child.kill('SIGINT');
  assert.equal(await ended, 130);
  assert.match(said, /what was indexed is kept/);
  const rest = runJson(['index'], { env: home.env });
  assert.equal(rest.sessions, 400);
  assert.equal(rest.messages, 16000);
});

test('an index that a read keeps is ended by the second Ctrl-C', { timeout: 60_000 }, async (t) => {
  const home = tmpHome(t), reads = endlessReads(home);
  makeStateDb(path.join(home.hermes, 'state.db'), { sessions: 5, messages: 4 });
  reads.hang();
  const child = spawn(bin, ['index'], { env: { ...home.env, ...reads.env }, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  const ended = new Promise((r) => child.once('exit', (code, signal) => r(signal)));
  await reads.hung();
  const again = setInterval(() => child.kill('SIGINT'), 200);
  t.after(() => clearInterval(again));
  assert.equal(await ended, 'SIGINT');
});

/** Another process is updating the index, until release() is called. */
async function updating(t, home) {
  fs.mkdirSync(home.data, { recursive: true });
  const peer = pythonPeer('import fcntl,sys; f=open(sys.argv[1],"a"); fcntl.flock(f, fcntl.LOCK_EX); print("held"); sys.stdin.readline(); f.close(); print("free")',
    path.join(home.data, 'index.lock'));
  t.after(() => peer.end());
  assert.equal(await peer.next(), 'held');
  return { release: async () => { peer.say('go'); assert.equal(await peer.next(), 'free'); } };
}

test('a first search waits for the index, up to a second', async (t) => {
  // A busy machine may need longer than the second: then the answer must say so, and another home is tried.
  for (let attempt = 1; ; attempt++) {
    const home = tmpHome(t);
    claude(home, 1, ['the first numbat']);
    const other = await updating(t, home);
    const child = spawn(bin, ['sessions', 'search', 'numbat', '--json'], { env: home.env, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (d) => (out += d));
    const ended = new Promise((r) => child.once('close', r));
    while (!fs.existsSync(path.join(home.data, 'index.db')) && child.exitCode === null) await new Promise((r) => setImmediate(r));
    await other.release();
    assert.equal(await ended, 0);
    const answer = JSON.parse(out);
    assert.equal(answer.partial, answer.hits.length === 0, 'never half an answer without a word');
    if (answer.hits.length) return;
    assert.ok(attempt < 10, out);
  }
});

test('an index that is not complete in time is named, with how far it is; stale rows are not hits', async (t) => {
  const home = tmpHome(t);
  const file = claude(home, 1, ['the numbat one']);
  claude(home, 2, ['the numbat two']);
  assert.equal(hits(home, 'numbat').hits.length, 2);
  await updating(t, home);
  const began = Date.now();
  const answer = hits(home, 'numbat');
  assert.ok(Date.now() - began >= 1000, 'it waited');
  assert.equal(answer.partial, true);
  assert.match(answer.note, /^Search index \d+ % complete: some results may be missing \('talaria index' finishes it\)/);
  assert.equal(answer.hits.length, 2);
  // The data is replaced while the index is behind.
  fs.writeFileSync(file, JSON.stringify({ type: 'summary', summary: 'other' }) + '\n');
  const after = hits(home, 'numbat');
  assert.equal(after.hits.length, 1);
  for (const h of after.hits) assert.ok(h.snippet.map((p) => p.text).join('').trim(), 'no hit without a snippet');
  const shown = run(['sessions', 'search', 'numbat'], { env: home.env });
  assert.match(shown.stderr, /Search index \d+ % complete/);
});

test('a person who waits sees progress; a pipe does not', async (t) => {
  const home = tmpHome(t);
  claude(home, 1, ['the numbat one']);
  await updating(t, home);
  const term = terminal(t, ['sessions', 'search', 'numbat'], { env: home.env });
  assert.equal(await term.exited, 0);
  assert.match(term.raw(), /indexing sessions: \d+/);
  assert.doesNotMatch(term.screen.text(), /indexing sessions/, 'it is taken away again');
  assert.doesNotMatch(run(['sessions', 'search', 'numbat'], { env: home.env }).stderr, /indexing/);
});
