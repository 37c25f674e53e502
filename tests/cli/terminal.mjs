// A terminal for tests: a real pty (tests/fixtures/tools/terminal.py) and enough of an emulator to know what a person
// would see on it, with everything that has scrolled away.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { bin, fixtures } from './helpers.mjs';

const isWide = (ch) => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(ch);

/** What a VT100 with the usual additions makes of bytes. `odd` gathers sequences that it does not know,
 * `links` the targets of hyperlinks (OSC 8). */
export class Screen {
  constructor(rows, columns) {
    Object.assign(this, { rows, columns, lines: [[]], row: 0, col: 0, full: false, rest: '', odd: [], links: [], modes: new Set() });
  }

  get top() { return Math.max(0, this.lines.length - this.rows); }

  text() { return this.lines.map((l) => Array.from(l, (c) => c ?? ' ').join('').trimEnd()).join('\n').trimEnd(); }

  down() {
    this.row++;
    while (this.lines.length <= this.row) this.lines.push([]);
  }

  put(ch) {
    const width = isWide(ch) ? 2 : 1;
    if (this.full || this.col + width > this.columns) { this.down(); this.col = 0; }
    if (this.insert) this.lines[this.row].splice(this.col, 0, ...Array(width).fill(' '));
    this.lines[this.row][this.col] = ch;
    if (width === 2) this.lines[this.row][this.col + 1] = '';
    this.col += width;
    this.full = this.col >= this.columns;
    if (this.full) this.col = this.columns - 1;
  }

  csi(params, final) {
    const n = Math.max(1, parseInt(params, 10) || 0), line = this.lines[this.row];
    if (params.startsWith('?')) { if (final === 'h') this.modes.add(params); else this.modes.delete(params); return; }
    this.full = false;
    if (final === 'A') this.row = Math.max(this.top, this.row - n);
    else if (final === 'B') while (this.row < this.lines.length - 1 && n) { this.row++; break; }
    else if (final === 'C') this.col = Math.min(this.columns - 1, this.col + n);
    else if (final === 'D') this.col = Math.max(0, this.col - n);
    else if (final === 'G') this.col = n - 1;
    else if (final === 'K') line.length = Math.min(line.length, this.col);
    else if (final === 'J') { line.length = Math.min(line.length, this.col); this.lines.length = this.row + 1; }
    else if (final === 'P') line.splice(this.col, n);
    else if (final === '@') line.splice(this.col, 0, ...Array(n).fill(' '));
    else if (params === '4' && 'hl'.includes(final)) this.insert = final === 'h';
    else if (final !== 'm') this.odd.push(`CSI ${params}${final}`);
  }

  feed(text) {
    this.rest += text;
    while (this.rest) {
      const seq = /^\x1b(?:\[([0-9;?]*)([@-~])|([=>78M]))/.exec(this.rest);
      if (seq) {
        if (seq[2]) this.csi(seq[1], seq[2]); else if (seq[3] === 'M') this.csi('', 'A'); else if (seq[3] === '7' || seq[3] === '8') this.odd.push(`ESC ${seq[3]}`);
        this.rest = this.rest.slice(seq[0].length);
        continue;
      }
      const link = /^\x1b\]8;[^;\x1b\x07]*;([^\x1b\x07]*)(?:\x1b\\|\x07)/.exec(this.rest);
      if (link) {
        if (link[1]) this.links.push(link[1]);
        this.rest = this.rest.slice(link[0].length);
        continue;
      }
      if (/^\x1b(\[[0-9;?]*|\]8[^\x07]*)?$/.test(this.rest)) return;
      const ch = String.fromCodePoint(this.rest.codePointAt(0));
      this.rest = this.rest.slice(ch.length);
      if (ch === '\r') { this.col = 0; this.full = false; }
      else if (ch === '\n') { this.down(); this.full = false; }
      else if (ch === '\b') { this.col = Math.max(0, this.col - 1); this.full = false; }
      else if (ch === '\t') this.col = Math.min(this.columns - 1, (this.col >> 3) * 8 + 8);
      else if (ch === '\x07') continue;
      else if (ch < ' ') this.odd.push(`control ${ch.charCodeAt(0)}`);
      else this.put(ch);
    }
  }
}

/** talaria at a terminal; ended with the test. */
export function terminal(t, args, { env, rows = 24, columns = 80, cwd } = {}) {
  const child = spawn('python3', [path.join(fixtures, 'tools/terminal.py'), rows, columns, bin, ...args].map(String),
    { env: { TERM: 'xterm', ...env }, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const screen = new Screen(rows, columns), waiting = new Set();
  const order = (o) => { if (child.stdin.writable) child.stdin.write(JSON.stringify(o) + '\n'); };
  let raw = '', said = '', pid, gone = false;
  const look = () => waiting.forEach((check) => check());
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (d) => { raw += d; screen.feed(d); look(); });
  child.stderr.on('data', (d) => { said += d; pid ??= /"pid": (\d+)/.exec(said)?.[1]; });
  child.stdin.on('error', () => {});
  const exited = new Promise((r) => child.on('close', () => { look(); gone = true; look(); r(JSON.parse(/\{"exit".*\}/.exec(said)?.[0] ?? '{}').exit); }));
  t.after(() => { child.stdin.end(); child.kill('SIGKILL'); });

  /** Until the screen has it; a text or a pattern. */
  const until = (what, timeout = 20_000) => new Promise((resolve, reject) => {
    const has = () => (typeof what === 'function' ? what(screen.text()) : what instanceof RegExp ? what.test(screen.text()) : screen.text().includes(what));
    const end = (how) => { waiting.delete(check); clearTimeout(timer); how(); };
    const never = () => end(() => reject(new assert.AssertionError({ message: `never seen: ${what}\non the screen:\n${screen.text()}\n${said}` })));
    const timer = setTimeout(never, timeout);
    const check = () => { if (has()) end(() => resolve(screen.text())); else if (gone) never(); };
    waiting.add(check);
    check();
  });
  return { child, screen, until, exited, raw: () => raw, pid: () => Number(pid),
    type: (text) => order({ type: text }), resize: (...size) => order({ size }), signal: (n) => order({ signal: n }) };
}

/** What a command prints on a terminal that is wide enough for its lines, without colours. */
export async function seen(t, args, { env }) {
  const term = terminal(t, args, { env, columns: 400 });
  await term.exited;
  return term.screen.text() + '\n';
}
