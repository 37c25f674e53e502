// Agents as peers of a gateway: a fake Hermes, and a Claude Code and a Codex that play what was recorded. In what
// is said to them last, 'approve' makes them ask, and 'hang' makes them say nothing any more and hear no signal. (The fake
// looks at all that it is told, also of the turns before.)
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fixtures } from '../cli/helpers.mjs';
import { fakeHermes } from '../fakes/hermes.mjs';
import { fakeModel } from '../http/fake_model.mjs';

/** A Hermes that is asked over its runs, which wait for approvals. */
export async function hermes(t, { env: base, dir }) {
  const fake = await fakeHermes(t);
  const config = path.join(dir, 'config');
  fs.mkdirSync(path.join(config, 'talaria'), { recursive: true });
  fs.writeFileSync(path.join(config, 'talaria/config.yaml'), 'hermes:\n  transport: runs\n');
  return { ...base, XDG_CONFIG_HOME: config, ...fake.env };
}

function program(dir, name, code) {
  const file = path.join(dir, name);
  fs.writeFileSync(file, `#!${process.execPath}\n${code}`, { mode: 0o755 });
  return file;
}

const deaf = "for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 1000);";

export function claude(t, { env, dir }) {
  const recorded = path.join(fixtures, 'runtimes/claude_ok.jsonl');
  const bin = program(dir, 'claude', `
const fs = require('fs');
if (process.argv.includes('--version')) { console.log('2.0.0 (Claude Code)'); process.exit(0); }
const text = fs.readFileSync(0, 'utf8');
const all = fs.readFileSync(${JSON.stringify(recorded)}, 'utf8');
if (/hang\\s*$/.test(text)) { process.stdout.write(all.split('\\n')[0] + '\\n'); ${deaf} } else process.stdout.write(all);`);
  return { ...env, TALARIA_CLAUDE_BIN: bin };
}

/** The app server: it goes on where the recording does when it is asked or answered. */
export function codex(t, { env, dir }) {
  const recorded = path.join(fixtures, 'runtimes/codex_app_approval.jsonl');
  const bin = program(dir, 'codex', `
const fs = require('fs');
if (process.argv.includes('--version')) { console.log('codex-cli 0.166.0'); process.exit(0); }
const all = fs.readFileSync(${JSON.stringify(recorded)}, 'utf8').trim().split('\\n').map((line) => [JSON.parse(line), line]);
const asked = all.findIndex(([m]) => /requestApproval$/.test(m.method ?? ''));
let at = 0, asks = false;
const say = (end) => { for (; at < end; at++) if (asks || at !== asked) console.log(all[at][1]); };
const behind = (id) => all.findIndex(([m]) => m.id === id && m.result) + 1;
const turn = (text) => {
  asks = /approve[^\\n]*$/.test(text);
  if (/hang\\s*$/.test(text)) { say(behind(3) + 2); ${deaf} } else say(asks ? asked + 1 : all.length);
};
let rest = '';
process.stdin.on('data', (d) => {
  const lines = (rest + d).split('\\n');
  rest = lines.pop();
  for (const m of lines.map((l) => JSON.parse(l))) {
    if (m.method === 'turn/start') turn(m.params.input.at(-1).text.trim());
    else if (m.method === 'turn/interrupt') process.exit(0);
    else if (m.method === undefined) { if (m.result?.decision === 'decline') console.error('declined'); say(all.length); }
    else if (m.id) say(behind(m.id));
  }
});
process.stdin.on('end', () => process.exit(0));`);
  return { ...env, TALARIA_CODEX_BIN: bin };
}

export async function native(t, { env }) {
  const model = await fakeModel(t, (q) => ({ text: `heard: ${q.messages.at(-1).text.slice(0, 40)}`, hang: /hang$/.test(q.messages.at(-1).text) }));
  return { ...env, ...model.env };
}

/** Asked often, so in this process. */
export function query(file, sql) {
  const db = new DatabaseSync(file);
  try {
    db.exec('PRAGMA busy_timeout = 20000');
    return db.prepare(sql).all().map((row) => Object.values(row));
  } finally {
    db.close();
  }
}
