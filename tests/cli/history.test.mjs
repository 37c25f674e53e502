// One list over Hermes, Claude Code, Codex and our own home: order, filters, finding, showing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fillHome, makeStateDb, run, runJson, tmpHome, tree } from './helpers.mjs';
import { makeTranscripts } from './transcripts.mjs';

describe('a history of four sources', () => {
  const home = tmpHome();
  const list = (...args) => runJson(['sessions', 'list', '--limit', '0', ...args], home).sessions;
  let truth, all;

  before(() => {
    makeStateDb(path.join(home.hermes, 'state.db'), { extra: ['--no-edge'] });
    truth = makeTranscripts(home, { sessions: 30 });
    fillHome(home.env, '2026-11-15');
    all = list();
  });

  test('everything is listed once, newest first, and says where it comes from', () => {
    const ids = all.map((s) => s.id);
    assert.equal(new Set(ids).size, ids.length);
    for (const origin of ['hermes', 'claude', 'codex', 'talaria']) assert.ok(all.some((s) => s.origin === origin), origin);
    const main = truth.filter((t) => !/subagents|archived_sessions|agent-/.test(t.path));
    for (const t of main) assert.ok(ids.includes(t.session_id), `${t.source} ${t.session_id}`);
    const time = (s) => (['claude', 'codex'].includes(s.origin) ? s.last_active : s.parts.at(-1).started_at);
    for (let i = 1; i < all.length; i++) assert.ok(time(all[i - 1]) >= time(all[i]), `${all[i - 1].id} before ${all[i].id}`);
    const claude = all.find((s) => s.origin === 'claude');
    assert.equal(claude.activity.length, 16);
    assert.ok(claude.activity.every((n) => Number.isInteger(n) && n >= 0 && n <= 255));
    assert.ok(Array.isArray(claude.tools));
    assert.equal(all.find((s) => s.origin === 'hermes').activity, null);
  });

  test('a source is an origin, or a name of Hermes\' own', () => {
    for (const origin of ['hermes', 'claude', 'codex', 'talaria']) {
      const ids = list('--source', origin).map((s) => s.id);
      assert.deepEqual(ids, all.filter((s) => s.origin === origin).map((s) => s.id), origin);
    }
    const cli = list('--source', 'cli');
    assert.ok(cli.length && cli.every((s) => s.source === 'cli'));
    assert.deepEqual(list('--source', 'nobody'), []);
  });

  test('times: since and until cut the list', () => {
    const middle = all[Math.floor(all.length / 2)];
    const at = middle.parts.at(-1).started_at;
    const later = list('--since', String(at)), earlier = list('--until', String(at));
    assert.ok(later.length && earlier.length);
    const ids = new Set([...later, ...earlier].map((s) => s.id));
    for (const s of all) assert.ok(ids.has(s.id), s.id);
    assert.ok(earlier.every((s) => s.parts.at(-1).started_at < at));
  });

  test('project, model and tool, over all sources', () => {
    const projects = new Set(all.map((s) => s.cwd).filter(Boolean));
    const project = [...projects].find((p) => all.some((s) => s.cwd === p && s.origin === 'claude'));
    const found = list('--project', project);
    assert.deepEqual(found.map((s) => s.id).sort(), all.filter((s) => s.cwd === project || s.cwd?.startsWith(project + '/')).map((s) => s.id).sort());
    assert.deepEqual(list('--project', path.basename(project)).length >= found.filter((s) => s.cwd === project).length, true);
    const byTool = list('--tool', 'Bash');
    assert.ok(byTool.length && byTool.every((s) => s.tools.includes('Bash')));
    const hermesTool = list('--tool', 'terminal', '--source', 'hermes');
    assert.ok(hermesTool.length && hermesTool.every((s) => s.origin === 'hermes' && s.tools.includes('terminal')));
    const model = all.find((s) => s.origin === 'claude' && s.model).model;
    assert.ok(list('--model', model).every((s) => s.model.includes(model)));
  });

  test('any session is shown by its id, or by the beginning of it', () => {
    for (const origin of ['claude', 'codex', 'hermes', 'talaria']) {
      const s = all.find((x) => x.origin === origin && x.tool_calls > 0);
      const shown = runJson(['sessions', 'show', s.id], home);
      assert.equal(shown.id, s.id);
      assert.equal(shown.origin, origin);
      assert.ok(shown.parts.at(-1).transcript.length > 0, origin);
    }
    const claude = all.find((s) => s.origin === 'claude' && s.tools.length);
    const short = runJson(['sessions', 'show', claude.id.slice(0, 13)], home);
    assert.equal(short.id, claude.id);
    const calls = short.parts[0].transcript.flatMap((m) => m.tool_calls);
    assert.ok(calls.length && calls.every((c) => c.name && JSON.parse(c.arguments)));
    const text = run(['sessions', 'show', claude.id], home);
    assert.equal(text.code, 0);
    assert.match(text.stdout, new RegExp(`file     .*${claude.id}\\.jsonl`));
    assert.equal(run(['sessions', 'show', 'ffffffff-nobody'], home).code, 3);
  });

  test('every transcript has as many messages as the list says', () => {
    const files = all.filter((s) => ['claude', 'codex'].includes(s.origin));
    assert.ok(files.length);
    for (const s of files) {
      const shown = runJson(['sessions', 'show', s.id], home);
      const n = shown.parts.reduce((sum, p) => sum + p.transcript.length, 0);
      assert.equal(n, s.messages, `${s.origin} ${s.id}`);
    }
  });

  test('a transcript that nothing has read yet is found by its name', () => {
    const s = all.find((x) => x.origin === 'codex');
    const fresh = { env: { ...home.env, TALARIA_HOME: path.join(home.dir, 'fresh') } };
    assert.equal(runJson(['sessions', 'show', s.id], fresh).id, s.id);
  });

  test('a template from a session of Claude Code', () => {
    const s = all.find((x) => x.origin === 'claude' && x.tools.includes('Bash'));
    const made = runJson(['templates', 'create', s.id.slice(0, 18), '--name', 'from-claude'], home);
    assert.equal(made.source_session_id, s.id);
    assert.ok(made.examples > 0);
  });

  test('--home means that home alone, whatever the environment says', () => {
    const env = { ...home.env, CLAUDE_CONFIG_DIR: path.join(home.user, '.claude'), CODEX_HOME: path.join(home.user, '.codex') };
    for (const dir of [home.hermes, home.data]) {
      const alone = runJson(['sessions', 'list', '--limit', '0', '--home', dir], { env }).sessions;
      assert.ok(alone.length && alone.every((s) => !['claude', 'codex'].includes(s.origin)));
      assert.equal(new Set(alone.map((s) => s.origin)).size, 1);
    }
    const id = all.find((s) => s.origin === 'claude').id;
    assert.equal(run(['sessions', 'show', id, '--home', home.data], { env }).code, 3);
    const status = runJson(['status', '--home', home.data], { env });
    assert.ok(status.sources.filter((s) => ['claude', 'codex'].includes(s.name)).every((s) => !s.present && s.sessions === 0));
  });

  test('status counts every source', () => {
    const { sources } = runJson(['status'], home);
    assert.deepEqual(sources.map((s) => s.name), ['hermes', 'claude', 'codex', 'talaria']);
    for (const s of sources) assert.ok(s.present && s.sessions > 0, s.name);
    assert.match(run(['status'], home).stdout, /^claude\t.*\.claude\tfound\t\d+\t20.*Z\t$/m);
    assert.match(run(['doctor'], home).stdout, /\tClaude Code\t\d+ sessions/);
  });

  test('files of others are only read', () => {
    const before = tree(path.join(home.user, '.claude'));
    list('--tool', 'Bash');
    assert.deepEqual(tree(path.join(home.user, '.claude')), before);
  });
});

test('without an index that can be written, homes are still listed', () => {
  const home = tmpHome();
  makeStateDb(path.join(home.hermes, 'state.db'), { extra: ['--no-edge'] });
  makeTranscripts(home, { sessions: 5 });
  fs.mkdirSync(path.join(home.data, 'index.db'), { recursive: true });
  const r = run(['sessions', 'list', '--json'], home);
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, /without transcripts: /);
  const report = JSON.parse(r.stdout);
  assert.ok(report.partial);
  assert.ok(report.sessions.length > 0);
});
