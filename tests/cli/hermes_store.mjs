// Stores that Hermes' own code wrote (tests/fixtures/hermes-store), as homes of their own.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { query } from './handoffs.mjs';
import { fixtures } from './helpers.mjs';

/** name: schema25_delete, schema25_wal (August 2026) or schema11_wal (May 2026, without gateway_routing). */
export function hermesStore(home, name) {
  const file = path.join(home.hermes, 'state.db');
  fs.mkdirSync(home.hermes, { recursive: true });
  fs.writeFileSync(file, zlib.gunzipSync(fs.readFileSync(path.join(fixtures, 'hermes-store', `${name}.db.gz`))), { mode: 0o600 });
  return file;
}

export const sessionsOf = (file) => query(file, 'select id from sessions where parent_session_id is null order by started_at, id').flat();

/** As Hermes' terminal asks; 1 where it was accepted. */
export const request = (file, id, platform) => query(file, `update sessions set handoff_state = 'pending', handoff_platform = '${platform}', handoff_error = null
  where id = '${id}' and (handoff_state is null or handoff_state in ('completed', 'failed')) returning id`).length;
export const shown = (file, id) => query(file, `select handoff_state, handoff_platform from sessions where id = '${id}'`)[0];
