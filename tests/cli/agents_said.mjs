// Sessions of other agents, small and exact: what was said, what a tool did, what must never be sent on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { bin } from './helpers.mjs';

const at = (n) => new Date(Date.UTC(2026, 10, 10, 8, 0, n)).toISOString();
const write = (file, lines) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.appendFileSync(file, lines.map((l) => JSON.stringify(l) + '\n').join(''));
};

/** Lines of a transcript of Claude Code: said(role, content) adds one; `more` goes with the line. */
export function claude(home, id, cwd = '/tmp/harbour') {
  const file = path.join(home.user, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'), `${id}.jsonl`);
  let n = 0;
  return {
    id, file,
    said(role, content, more = {}) {
      const message = role === 'user' ? { role, content } : { role, model: 'claude-x', id: `m${n}`, content };
      write(file, [{ type: role, message, sessionId: id, cwd, version: '2.1.0', timestamp: at(n), uuid: `u${n}`, parentUuid: n ? `u${n - 1}` : null,
        isSidechain: false, ...more }]);
      n++;
      return this;
    },
    line(object) {
      write(file, [{ sessionId: id, cwd, timestamp: at(n++), ...object }]);
      return this;
    },
  };
}

/** A session with everything in it: thinking, a call and its result, a call without one, a side chain. */
export function claudeWork(home, id, cwd) {
  return claude(home, id, cwd)
    .said('user', 'count the boats in the harbour')
    .said('assistant', [{ type: 'thinking', thinking: 'SECRET-THOUGHT', signature: 'x' }, { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls boats' } }])
    .said('user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'anna\nberta' }])
    .said('user', 'sub-agent, count again', { isSidechain: true })
    .said('assistant', [{ type: 'text', text: 'SIDE-ANSWER' }], { isSidechain: true })
    .said('assistant', [{ type: 'text', text: 'Two boats.' }, { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'lost' } }])
    .said('user', 'and their colours?')
    .said('assistant', [{ type: 'text', text: 'Red and blue.' }]);
}

export function codex(home, id, cwd = '/tmp/harbour') {
  const file = path.join(home.user, '.codex/sessions/2026/11/10', `rollout-2026-11-10T08-00-00-${id}.jsonl`);
  let n = 0;
  const line = (type, payload) => ({ timestamp: at(n++), type, payload });
  write(file, [line('session_meta', { id, timestamp: at(0), cwd, originator: 'codex_cli_rs', cli_version: '0.160.0' })]);
  const self = {
    id, file,
    item(payload) { write(file, [line('response_item', payload)]); return self; },
    event(payload) { write(file, [line('event_msg', payload)]); return self; },
    user: (text) => self.item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }).event({ type: 'user_message', message: text }),
    agent: (text) => self.item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
    call: (callId, name, args, output) => self.item({ type: 'function_call', name, arguments: JSON.stringify(args), call_id: callId })
      .item({ type: 'function_call_output', call_id: callId, output }),
  };
  return self;
}

export const codexWork = (home, id, cwd) => codex(home, id, cwd)
  .user('count the gulls')
  .call('call_a', 'shell', { command: ['ls', 'gulls'] }, 'emma\nfiona')
  .agent('Two gulls.');

/** Every file below a folder: its bytes and its time. */
export function untouched(dir) {
  const out = {};
  const walk = (d) => {
    for (const e of fs.readdirSync(d, { withFileTypes: true })) {
      const p = path.join(d, e.name);
      if (e.isDirectory()) walk(p);
      else out[p] = [createHash('sha256').update(fs.readFileSync(p)).digest('hex'), fs.statSync(p, { bigint: true }).mtimeNs];
    }
  };
  if (fs.existsSync(dir)) walk(dir);
  return out;
}

/** Like run, without holding up the servers of this very process. */
export function start(args, { env, cwd, input } = {}) {
  const child = spawn(bin, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const r = { stdout: '', stderr: '', child };
  child.stdout.on('data', (d) => (r.stdout += d));
  child.stderr.on('data', (d) => (r.stderr += d));
  child.stdin.on('error', () => {}); // a command need not read its input
  child.stdin.end(input ?? '');
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ ...r, code, signal })));
}
