// talaria debug session-key: the keys of the reference, and lines that make no sense.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fixtures, run, tmpHome } from './helpers.mjs';

test('prints the keys that the reference makes', () => {
  const { cases } = JSON.parse(fs.readFileSync(path.join(fixtures, 'handoff/session_keys.json'), 'utf8'));
  const input = cases.map(({ source, flags }) => JSON.stringify({ source, flags })).join('\n');
  const r = run(['debug', 'session-key'], { env: tmpHome().env, input });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(r.stdout.trimEnd().split('\n'), cases.map((c) => c.key));
});

test('names the lines that cannot be read and goes on', () => {
  const input = '{"source":{"platform":"telegram","chat_id":"5"}}\n{"source":\n\n{"source":{}}\n{"source":{"platform":"email","chat_id":"a@b"}}\n';
  const r = run(['debug', 'session-key'], { env: tmpHome().env, input });
  assert.equal(r.code, 1);
  assert.equal(r.stdout, 'agent:main:telegram:dm:5\nagent:main:email:dm:a@b\n');
  assert.match(r.stderr, /line 2: not JSON/);
  assert.match(r.stderr, /line 4: a place needs a 'platform'/);
});

test('--json gives one object a line', () => {
  const r = run(['debug', 'session-key', '--json'], { env: tmpHome().env, input: '{"source":{"platform":"slack","chat_id":"D1","scope_id":"T1","thread_id":"1.2"}}' });
  assert.deepEqual(JSON.parse(r.stdout), { format: 1, key: 'agent:main:slack:dm:T1:D1:1.2' });
});

test('--update reads what a platform sends', () => {
  const input = '{"message":{"chat":{"id":-100777,"type":"supergroup","is_forum":true},"from":{"id":5},"text":"hi"}}\n{"edited_message":{}}\n';
  const r = run(['debug', 'session-key', '--update', 'telegram'], { env: tmpHome().env, input });
  assert.equal(r.stdout, 'agent:main:telegram:group:-100777:1\n');
  assert.match(r.stderr, /line 2: no message of telegram/);
});
