// Drives platform_link: one connection to a platform, without the rest of the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../cli/helpers.mjs';

const program = process.env.TALARIA_PLATFORM_LINK ?? path.join(root, 'build/plain/platform_link');

/** env: TALARIA_<NAME>_*; received: updates in the order in which they were kept. */
export function openLink(t, name, env, { cursor } = {}) {
  const child = spawn(program, [name, ...(cursor ? [String(cursor)] : [])], { env: { PATH: process.env.PATH, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const link = { child, received: [], lost: [], moved: [], stderr: '', cursor: cursor ?? '' };
  const waiting = [];
  const watchers = new Set();
  link.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  t.after(() => {
    if (child.exitCode === null) child.kill('SIGKILL');
    assert.doesNotMatch(link.stderr, /Sanitizer|runtime error/); // where it was built with one
  });
  child.stderr.on('data', (d) => (link.stderr += d));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line);
    if (said.lost) link.lost.push(said);
    else if (said.cursor !== undefined) { // without an update: only the cursor moves
      if (said.update) link.received.push(said);
      link.cursor = said.cursor || link.cursor;
    }
    else if (said.moved) link.moved.push([said.moved, said.to]);
    else if (said.closed) link.closed = true;
    else waiting.shift()(said);
    for (const look of watchers) look();
  });
  link.ask = (what, rest = {}) => new Promise((resolve, reject) => {
    waiting.push(resolve);
    link.exited.then((e) => reject(new Error(`ended (${JSON.stringify(e)}) during ${what}: ${link.stderr}`)));
    child.stdin.write(`${JSON.stringify({ do: what, ...rest })}\n`);
  });
  /** The condition may be asynchronous; it is looked at when something came, and every 50 ms. */
  link.until = async (condition, ms = 20_000) => {
    const end = Date.now() + ms;
    for (;;) {
      const got = await condition();
      if (got) return got;
      if (Date.now() > end) throw new Error(`not within ${ms} ms: ${condition}; ${JSON.stringify(await link.ask('health'))} ${link.stderr}`);
      await new Promise((resolve) => {
        const done = () => { clearTimeout(timer); watchers.delete(done); resolve(); };
        const timer = setTimeout(done, 50);
        watchers.add(done);
      });
    }
  };
  link.state = (state, ms) => link.until(async () => { const h = await link.ask('health'); return h.state === state && h; }, ms);
  link.texts = () => link.received.map((r) => (r.json.message ?? r.json.channel_post)?.text);
  link.kill = () => { child.kill('SIGKILL'); return link.exited; };
  link.close = async () => { child.stdin.end(); return link.exited; };
  return link;
}
