// Messages that were written to be expensive: the transcript answers with them as text, small and soon; other requests do not wait.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { tmpHome } from '../cli/helpers.mjs';
import { request, startServer } from './helpers.mjs';

const texts = {
  table: '|a'.repeat(5000) + '\n' + '|-'.repeat(5000) + '\n' + 'a\n'.repeat(5000),
  addresses: 'a@'.repeat(131_000),
  quotes: '>'.repeat(262_000),
  references: `[a]: ${'x'.repeat(30_000)}\n\n${'[a] '.repeat(8000)}`,
  html: '<command-name>/clear</command-name>\n\n<div onclick="x()">shown</div>',
};

test('messages that cost much elsewhere are text here, and raw HTML is shown', async (t) => {
  const home = tmpHome();
  fs.mkdirSync(home.hermes, { recursive: true });
  const db = new DatabaseSync(path.join(home.hermes, 'state.db'));
  db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, timestamp REAL);`);
  for (const [name, text] of Object.entries(texts)) {
    db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?)').run(`costly_${name}`, 'cli', 1790000000, name);
    db.prepare('INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)').run(`costly_${name}`, 'user', text, 1790000001);
  }
  db.close();
  const server = await startServer(t, { home });
  for (const [name, text] of Object.entries(texts)) {
    const r = await request(server, `/api/sessions/costly_${name}/messages`);
    assert.equal(r.status, 200, `${name}: ${r.text.slice(0, 200)}`);
    assert.ok(r.text.length < 16 * text.length + 4096, `${name}: ${r.text.length} bytes for ${text.length}`);
    const [message] = r.json.messages;
    assert.doesNotMatch(message.html, /<table|<div|omitted/);
    if (name === 'html') assert.match(message.html, /&lt;command-name&gt;\/clear[^]*&lt;div onclick=&quot;x\(\)&quot;&gt;shown&lt;\/div&gt;/);
  }
});
