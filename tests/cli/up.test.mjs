// talaria up: what cannot be served ends at once, in words.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { query } from './handoffs.mjs';
import { fillHome, run, tmpHome } from './helpers.mjs';

test('a database of a newer Talaria ends it with the words', { timeout: 60_000 }, () => {
  const home = tmpHome(), { env } = home;
  fillHome(env);
  query(path.join(home.data, 'talaria.db'), 'pragma user_version = 9999');
  const r = run(['up', '--port', '0'], { env, timeout: 30_000 });
  assert.equal(r.code, 4, r.stderr);
  assert.match(r.stderr, /was written by a newer Talaria \(schema 9999/);
  assert.doesNotMatch(r.stderr, /started again/);
});
