// Whole-database goldens: what the reference made of databases that the generator makes again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fixtures, makeStateDb } from './helpers.mjs';

export const golden = (name) => JSON.parse(fs.readFileSync(path.join(fixtures, 'achievements/golden', `${name}.json`), 'utf8'));

/** The database that a golden names, in the home. */
export function generate(h, args) {
  const option = (name) => new RegExp(`--${name} (\\S+)`).exec(args)?.[1];
  const extra = [];
  if (/--no-edge/.test(args)) extra.push('--no-edge');
  if (/--fts/.test(args)) extra.push('--fts');
  if (option('poison')) extra.push('--poison', option('poison'));
  makeStateDb(path.join(h.hermes, 'state.db'), { sessions: option('sessions'), messages: option('messages-per-session'), seed: option('seed'), extra });
}

/** Everything the golden says, against one whole scan. */
export function compare(g, scan) {
  for (const [key, value] of Object.entries(g.aggregate)) assert.equal(scan.aggregate[key], value, `aggregate ${key}`);
  assert.equal(scan.sessions.length, g.sessions.length);
  g.sessions.forEach((row, i) => {
    g.session_columns.forEach((column, k) => {
      assert.deepEqual(scan.sessions[i][column], row[k], `session ${row[0]}: ${column}`);
    });
  });
  g.achievements.forEach((a, i) => {
    const ours = scan.achievements[i];
    if (ours.evidence) { // ours alone
      assert.ok(Number.isInteger(ours.evidence.message_id), `${a.id}: ${ours.evidence.message_id}`);
      delete ours.evidence.message_id;
    }
    for (const [key, value] of Object.entries(a)) assert.deepEqual(ours[key], value, `${a.id}: ${key}`);
  });
  for (const [key, value] of Object.entries(g.counts)) assert.equal(scan.counts[key], value, key);
}
