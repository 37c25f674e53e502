// A session of ours goes to a Hermes gateway as a copy, and the terminal is killed at calls that change the disk, SQLite's
// included (every one with TALARIA_LONG, else every eighth; in each journal mode of Hermes' database others): afterwards there is one copy
// or none, the same request finds it, and both databases are sound.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import test from 'node:test';
import { query, until } from '../cli/handoffs.mjs';
import { bin, fixtures, python, run, runJson, tmpHome } from '../cli/helpers.mjs';
import { hermesGateway, hermesHome, searchIsSound } from '../cli/hermes_gateway.mjs';

const STEP = process.env.TALARIA_LONG ? 1 : 8;
const MODES = [['wal', 1], ['delete', process.env.TALARIA_LONG ? 1 : 1 + STEP / 2]]; // and the first write that is died at

function preload() {
  const { dir } = tmpHome();
  const library = path.join(dir, 'killat.so');
  const made = spawnSync('gcc', ['-shared', '-fPIC', '-O2', path.join(fixtures, 'killat.c'), '-o', library, '-ldl'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return library;
}

/** A conversation of two messages, answered without a model. */
function conversation(env) {
  const r = run(['chat'], { env, input: 'hello there\n' });
  return /--resume (c\w+)/.exec(r.stderr)[1];
}

/** All that is asked after a death, by one program. */
const look = (file, ours, id) => JSON.parse(python(`
import json, sqlite3, sys
theirs, ours = sqlite3.connect(sys.argv[1], timeout=20), sqlite3.connect(sys.argv[2], timeout=20)
one = lambda db, sql, *values: db.execute(sql, values).fetchone()
print(json.dumps({
  'copies': theirs.execute('select s.id, count(m.id) from sessions s left join messages m on m.session_id = s.id where s.handoff_state is not null group by s.id').fetchall(),
  'messages': one(theirs, 'select count(*) from messages')[0],
  'away': one(ours, "select count(*) from session_owner where session_id = ? and owner_surface <> 'cli'", sys.argv[3])[0],
  'open': one(ours, "select count(*) from handoff where state not in ('done', 'failed', 'cancelled')")[0],
  'turns': one(ours, 'select count(*) from conversation_message where conversation_id = ?', sys.argv[3])[0],
  'sound': one(ours, 'pragma quick_check')[0]}))`, file, ours, id));

for (const [journal, first] of MODES) {
  test(`asking, killed at any write, journal ${journal}`, { timeout: 600_000 }, async (t) => {
    const library = preload(), home = tmpHome(), { env } = home;
    const file = hermesHome(home, { journal }), ours = path.join(home.data, 'talaria.db');
    const g = await hermesGateway(home, 'idle');
    t.after(() => g.end());
    const id = conversation(env);
    const ask = ['handoff', 'telegram', '--session', id, '--detach'];
    const before = look(file, ours, id);
    let died = 0;
    for (let n = first; n < 2000; n += STEP) {
      const r = run(ask, { env: { ...env, LD_PRELOAD: library, KILL_IN_DATABASES: '1', KILL_AT: String(n) } });
      let now = look(file, ours, id);
      const { copies, away } = now;
      assert.ok(copies.length <= 1, `killed at ${n}: ${JSON.stringify(copies)}`);
      if (copies.length) assert.equal(copies[0][1], 2, `killed at ${n}: half of a copy`);
      if (r.signal !== 'SIGKILL') {
        assert.equal(r.code, 0, r.stderr);
        assert.equal(copies.length, 1);
        break;
      }
      died++;
      // Every other time it is asked for again first: the copy that is there is the one that was promised.
      const again = died % 2 === 0;
      if (again) {
        const { copy } = runJson(ask, { env });
        now = look(file, ours, id);
        assert.deepEqual(now.copies, [[copy, 2]], `killed at ${n}`);
        if (copies.length) assert.equal(copies[0][0], copy, `killed at ${n}`);
      }
      const back = run(['handoff', 'back', '--session', id], { env });
      assert.equal(back.code, away || again ? 0 : 4, `killed at ${n}: ${back.stderr}`);
      assert.deepEqual(look(file, ours, id), before, `killed at ${n}`);
    }
    assert.ok(died > 5, `${died} deaths`);
    assert.equal(searchIsSound(file), 'ok');
    assert.equal(query(file, 'pragma journal_mode')[0][0], journal);
  });

  test(`a terminal that waits is killed: its copy is still the one, and still ours to take out, journal ${journal}`, { timeout: 110_000 }, async (t) => {
    const home = tmpHome(), { env } = home;
    const file = hermesHome(home, { journal }), ours = path.join(home.data, 'talaria.db');
    const g = await hermesGateway(home, 'idle');
    t.after(() => g.end());
    const id = conversation(env), before = look(file, ours, id);
    const child = spawn(bin, ['handoff', 'telegram', '--session', id], { env, stdio: 'ignore' });
    const gone = new Promise((r) => child.once('exit', r));
    await until('the copy', () => look(file, ours, id).copies.length === 1, 30_000);
    child.kill('SIGKILL');
    await gone;
    const { copies: [[copy]] } = look(file, ours, id);
    const refused = run(['ask', 'mine', '--conversation', id], { env });
    assert.equal(refused.code, 4, 'it may be taken at any moment');
    assert.equal(runJson(['handoff', 'telegram', '--session', id, '--detach'], { env }).copy, copy);
    assert.deepEqual(look(file, ours, id).copies, [[copy, 2]]);
    assert.equal(run(['handoff', 'back', '--session', id], { env }).code, 0);
    assert.deepEqual(look(file, ours, id), before);
  });

  test(`bringing back, killed at any write, journal ${journal}`, { timeout: 600_000 }, async (t) => {
    const library = preload(), home = tmpHome(), { env } = home;
    const file = hermesHome(home, { journal }), ours = path.join(home.data, 'talaria.db');
    const g = await hermesGateway(home, 'complete');
    t.after(() => g.end());
    const id = conversation(env);
    let turns = 2, died = 0;
    for (let n = first; n < 2000; n += STEP) {
      const { copy } = runJson(['handoff', 'telegram', '--session', id], { env });
      assert.equal(await g.next(), `running ${copy}`);
      assert.equal(await g.next(), `completed ${copy}`);
      const r = run(['handoff', 'back', '--session', id], { env: { ...env, LD_PRELOAD: library, KILL_IN_DATABASES: '1', KILL_AT: String(n) } });
      if (r.signal === 'SIGKILL') {
        died++;
        const again = run(['handoff', 'back', '--session', id], { env });
        assert.ok([0, 4].includes(again.code), `killed at ${n}: ${again.stderr}`);
      } else {
        assert.equal(r.code, 0, r.stderr);
      }
      turns += 1; // the answer of Hermes; what its gateway said to its agent is nobody's message
      const now = look(file, ours, id);
      assert.deepEqual([now.turns, now.away, now.open, now.sound], [turns, 0, 0, 'ok'], `killed at ${n}`);
      assert.deepEqual(query(file, `select archived, end_reason from sessions where id = '${copy}'`), [[1, 'session_switch']], `killed at ${n}`);
      if (r.signal !== 'SIGKILL') break;
    }
    assert.ok(died > 5, `${died} deaths`);
    assert.equal(searchIsSound(file), 'ok');
    assert.equal(query(file, 'pragma journal_mode')[0][0], journal);
  });
}
