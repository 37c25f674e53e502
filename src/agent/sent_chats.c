#include "agent/sent_chats.h"

#include "agent/runs_inside.h"
#include "base/limits.h"

static DbValue key_of(const uint8_t key[SHA256_BYTES])
{
    return BLOB(((Str){ (const char *)key, SHA256_BYTES }));
}

/* A row that takes over the place of an older one of the same key gets a new number, too. */
static bool put(Runs *r, const uint8_t key[SHA256_BYTES], Str conversation_id, Err *err)
{
    return db_exec(runs_db(r), NULL, err,
                   "INSERT OR REPLACE INTO sent_chat(sha256, conversation_id) VALUES(?, ?)",
                   key_of(key), TEXT(conversation_id)) &&
           db_exec(runs_db(r), NULL, err,
                   "DELETE FROM sent_chat WHERE n <= (SELECT max(n) FROM sent_chat) - ?",
                   INT(LIMIT_OPENAI_CHATS));
}

bool sent_chat_put(Runs *r, const uint8_t key[SHA256_BYTES], Str conversation_id, Err *err)
{
    return runs_begin_tx(r, err) && runs_end_tx(r, put(r, key, conversation_id, err), err);
}

bool sent_chat_find(Runs *r, Arena *a, const uint8_t key[SHA256_BYTES], Str *ret, Err *err)
{
    AUTO(DbRows) *q = NULL;
    bool row;

    if (!db_query(runs_db(r), &q, err, "SELECT conversation_id FROM sent_chat WHERE sha256 = ?",
                  key_of(key)) ||
        !db_row(q, &row, err))
        return false;
    *ret = row ? row_dup(a, q, 0) : STR("");
    return true;
}
