// A Hermes home as the reference makes it, search triggers and all, and a gateway on it that does to the store what
// Hermes' own does: polls, claims, binds, runs its synthetic turn, completes or fails, answers messages.
import fs from 'node:fs';
import path from 'node:path';
import { makeStateDb, python, pythonPeer } from './helpers.mjs';

const TRIGGERS = `
create virtual table messages_fts using fts5(content, tool_name, tool_calls, content='messages', content_rowid='id');
insert into messages_fts(messages_fts) values('rebuild');
create trigger messages_fts_insert after insert on messages
when new.id > coalesce((select cast(value as integer) from state_meta where key = 'fts_rebuild_high_water'), -1)
begin
  insert into messages_fts(rowid, content, tool_name, tool_calls) values (new.id, new.content, new.tool_name, new.tool_calls);
end;
create trigger messages_fts_delete after delete on messages
begin
  insert into messages_fts(messages_fts, rowid, content, tool_name, tool_calls) values ('delete', old.id, old.content, old.tool_name, old.tool_calls);
end;
create virtual table messages_fts_trigram using fts5(content, tokenize='trigram');
create trigger messages_fts_trigram_insert after insert on messages when new.role <> 'tool'
begin
  insert into messages_fts_trigram(rowid, content) values (new.id, coalesce(new.content, ''));
end;
create trigger messages_fts_trigram_delete after delete on messages when old.role <> 'tool'
begin
  delete from messages_fts_trigram where rowid = old.id;
end;`;

/** A home with a few sessions, set up for Telegram. */
export function hermesHome(home, { journal = 'wal' } = {}) {
  const file = path.join(home.hermes, 'state.db');
  makeStateDb(file, { sessions: 3, messages: 4, journal, extra: ['--no-edge'] });
  python('import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])', file, TRIGGERS);
  fs.writeFileSync(path.join(home.hermes, '.env'), 'TELEGRAM_BOT_TOKEN=1:abc\nTELEGRAM_HOME_CHANNEL=555\n', { mode: 0o600 });
  return file;
}

/** Whether Hermes' own search finds every message there is, and no other. */
export const searchIsSound = (file) => python(`
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("insert into messages_fts(messages_fts, rank) values('integrity-check', 1)")
want = [r[0] for r in db.execute("select id from messages where role <> 'tool' and id > (select min(id) from messages_fts_trigram_docsize)")]
have = {r[0] for r in db.execute("select id from messages_fts_trigram_docsize")}
print(db.execute('pragma integrity_check').fetchone()[0] if all(i in have for i in want) else 'trigram')`, file).trim();

/** mode: complete, fail, late (fails after the chat was bound), idle (is there, and takes nothing). say('text') is a message in the chat. */
export async function hermesGateway(home, mode = 'complete') {
  const peer = pythonPeer(`
import fcntl, json, os, select, sqlite3, sys, time
home, mode = sys.argv[1:3]
fd = os.open(home + '/gateway.lock', os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
db = sqlite3.connect(home + '/state.db', timeout=20, isolation_level=None)
key = 'agent:main:telegram:dm:555:9'
scope = os.path.realpath(home) + '/sessions'
def write(sql, *values):
    db.execute('begin immediate')
    n = db.execute(sql, values).rowcount
    db.execute('commit')
    return n
def add(id, role, text):
    write('insert into messages(session_id, role, content, timestamp) values(?, ?, ?, ?)', id, role, text, time.time())
    write('update sessions set message_count = message_count + 1 where id = ?', id)
def take(id, title):
    if not write("update sessions set handoff_state = 'running' where id = ? and handoff_state = 'pending'", id): return
    print('running ' + id)
    if mode == 'slow':
        sys.stdin.readline()
    if mode == 'fail':
        write("update sessions set handoff_state = 'failed', handoff_error = 'platform telegram is not active' where id = ?", id)
        print('failed ' + id)
        return
    write('insert or replace into gateway_routing values(?, ?, ?, ?)', scope, key, json.dumps({'session_key': key, 'session_id': id}), time.time())
    write("update sessions set source = 'telegram', session_key = ?, chat_id = '555', thread_id = '9' where id = ?", key, id)
    add(id, 'user', '[Session was just handed off from CLI to telegram. The title is %s.]' % title)
    if mode == 'late':
        write("update sessions set handoff_state = 'failed', handoff_error = 'adapter.send failed: boom' where id = ?", id)
        print('failed ' + id)
        return
    add(id, 'assistant', 'I am here.')
    write("update sessions set handoff_state = 'completed', handoff_error = null where id = ?", id)
    print('completed ' + id)
def hear(text):
    row = db.execute('select entry_json from gateway_routing where session_key = ?', (key,)).fetchone()
    id = row and json.loads(row[0])['session_id']
    if id and db.execute('select ended_at from sessions where id = ?', (id,)).fetchone()[0] is not None: id = None
    if not id:
        print('new session')
        return
    add(id, 'user', text)
    add(id, 'assistant', 'you said ' + text)
    print('answered')
print('ready')
while True:
    if mode != 'idle':
        for id, title in db.execute("select id, title from sessions where handoff_state = 'pending' order by started_at").fetchall():
            take(id, title)
    if select.select([sys.stdin], [], [], 0.02)[0]:
        line = sys.stdin.readline().strip()
        if line: hear(line)`, home.hermes, mode);
  await peer.next();
  return peer;
}
