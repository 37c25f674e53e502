// kill -9 of the terminal: at every call that the gateway makes at a platform while it waits, before anybody has claimed the
// handoff, after it is done, in the middle of the way back, and together with the gateway at random. Afterwards the session has
// one owner, at most one thread, its card once (or marked), and the next words go on in it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import test from 'node:test';
import { gateway, idleGateway, query, until } from '../cli/handoffs.mjs';
import { bin, fixtures, tmpHome } from '../cli/helpers.mjs';
import { terminal } from '../cli/terminal.mjs';
import { worlds } from '../platforms/worlds.mjs';
import { allDone, awhile, begin, check, checkOwner, free, run, talk } from './handed.mjs';
import { seeded } from './seeded.mjs';

const long = Boolean(process.env.TALARIA_LONG);
const rounds = long ? 100 : 2; // of both sides, on each platform

/** talaria handoff PLATFORM, and /handoff PLATFORM in a chat; end() kills it. */
const sides = {
  command(t, w, id) {
    const child = spawn(bin, ['handoff', w.world.name, '--session', id, '--no-turn'], { env: w.env, stdio: 'ignore' });
    const gone = new Promise((r) => child.once('exit', r));
    t.after(() => child.kill('SIGKILL'));
    return { gone, end: () => { child.kill('SIGKILL'); return gone; } };
  },
  async chat(t, w, id) {
    const term = terminal(t, ['chat', '--resume', id], { env: w.env, columns: 200 });
    await term.until('/help shows', awhile);
    term.type(`/handoff ${w.world.name}\r`);
    return { gone: term.exited, end: () => { try { process.kill(term.pid(), 'SIGKILL'); } catch { /* it has left */ } return term.exited; } };
  },
};

const asked = (w, id) => query(w.file, `select state from handoff where session_id = '${id}'`)[0]?.[0];

/** A handoff whose terminal is killed at the at-th call (-1: before there is a gateway); how many calls there were. */
async function killedAt(t, w, g, side, at) {
  const text = `${side} ${at}.`, id = await talk(w, text), before = w.world.threads();
  let n = 0, killed = null, term = null;
  w.world.onCall(async () => { if (n++ === at) { killed = term.end(); await killed; } });
  const idle = at < 0 && await idleGateway({ data: path.dirname(w.file) });
  term = await sides[side](t, w, id);
  if (at < 0) {
    await until('it was asked for', () => asked(w, id), awhile);
    await term.end();
    await idle.end();
    g.now = await gateway(w.env);
  }
  await until(() => `${side} ${at}: ${asked(w, id)} ${g.now.said()}`, () => asked(w, id) === 'done', awhile);
  if (at >= 0 && !killed) await term.gone; // it was there to the end: it leaves
  w.world.onCall(() => {});
  await check(w, id, text, g.now, before);
  return n;
}

for (const [index, [name, open]] of Object.entries(worlds).entries()) {
  test(`${name}: the terminal is killed at every call of a handoff`, { timeout: 300_000 }, async (t) => {
    const w = await begin(t, open), g = { now: null }, both = Object.keys(sides);
    t.after(() => g.now?.end('SIGKILL'));
    const calls = await killedAt(t, w, g, both[index % 2], -1);
    assert.ok(calls >= 2);
    // In turn the one and the other; in the long run both at every call. At the last nobody is killed.
    for (let at = 0; at <= calls; at++)
      for (const side of long ? both : [both[(at + index) % 2]]) await killedAt(t, w, g, side, at);
    await g.now.end('SIGKILL');
  });

  test(`${name}: terminal and gateway are killed together, at random`, { timeout: rounds * 20_000 + 60_000 }, async (t) => {
    const w = await begin(t, open), random = seeded(t);
    for (let i = 0; i < rounds; i++) {
      const text = `together ${i}.`, id = await talk(w, text), before = w.world.threads();
      const pause = () => new Promise((r) => setTimeout(r, random() * 120));
      const g = await gateway(w.env), term = await sides[i % 2 ? 'chat' : 'command'](t, w, id);
      await Promise.all([pause().then(() => g.end('SIGKILL')), pause().then(term.end)]);
      free(w.file);
      const next = await gateway(w.env);
      await allDone(w, next);
      // It may have died before it asked: then nothing has moved.
      if (asked(w, id)) await check(w, id, text, next, before);
      else assert.deepEqual(query(w.file, `select count(*) from session_owner where session_id = '${id}'`), [[0]]);
      await next.end('SIGKILL');
    }
  });
}

/** The commands that bring a session back, killed at every call that changes the disk. */
function preload() {
  const library = path.join(tmpHome().dir, 'killat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

const ways = {
  'handoff back': (w, id) => ['handoff', 'back', '--session', id],
  take(w, id) {
    const code = 'K7QM2XWP', now = Date.now();
    query(w.file, `insert or replace into take_code(sha256, home, session_id, made_ms, expires_ms) values('${createHash('sha256').update(code).digest('hex')}', '${path.dirname(w.file)}', '${id}', ${now}, ${now + 600_000})`);
    return ['take', code];
  },
};

for (const [way, args] of Object.entries(ways)) {
  test(`${way}: killed at every call that changes the disk`, { timeout: 300_000 }, async (t) => {
    const home = tmpHome(t), w = { env: home.env, file: `${home.data}/talaria.db` }, library = preload();
    const id = await talk(w, 'there and back'), g = await gateway(w.env);
    t.after(() => g.end('SIGKILL'));
    let back = 0;
    for (let at = 1, dies = true; dies; at++) {
      assert.ok(at < 500, 'it comes to an end');
      if (query(w.file, `select owner_surface from session_owner where session_id = '${id}'`)[0]?.[0] !== 'local')
        assert.equal((await run(['handoff', 'local', '--session', id, '--no-turn'], w.env)).code, 0);
      const r = spawnSync(bin, args(w, id), { env: { ...w.env, LD_PRELOAD: library, KILL_AT: String(at) }, encoding: 'utf8' });
      dies = r.signal === 'SIGKILL';
      const [[owner]] = query(w.file, `select owner_surface from session_owner where session_id = '${id}'`);
      assert.match(owner, dies ? /^(cli|local)$/ : /^cli$/, r.stderr);
      checkOwner(w, id, owner);
      if (owner === 'cli') { back++; assert.equal((await run(['ask', `back ${at}`, '--conversation', id], w.env)).code, 0); }
    }
    assert.ok(back > 1, 'it was killed after the session had come back, too');
  });
}
