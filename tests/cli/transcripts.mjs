// Transcripts of Claude Code and Codex in a home of a test, and what is true of them.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fixtures } from './helpers.mjs';

/** Fills ~/.claude and ~/.codex; gives one row a session: session_id, source, path, project, n_user. */
export function makeTranscripts(home, { sessions = 30, mb = 1, seed = 1 } = {}) {
  const made = spawnSync('python3', [path.join(fixtures, 'tools/gen_transcripts.py'), '--sessions', sessions,
    '--mb', mb, '--seed', seed, '--out', home.user].map(String), { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return fs.readFileSync(path.join(home.user, 'truth.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
}
