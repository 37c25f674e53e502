#include "chat/chats.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/db.h"

#define SESSIONS_OF(at_the_platform)                                                               \
    "SELECT id, coalesce(title, ''), started_at FROM sessions WHERE " at_the_platform              \
    " AND chat_id = ?2 AND (session_key = ?3 OR chat_type = 'dm' OR user_id = ?4) AND end_reason " \
    "IS NOT 'compression' ORDER BY started_at DESC LIMIT ?5"

static const char sql[] = SESSIONS_OF("source = ?1");
/* One of ours that left the chat still says where it was. */
static const char sql_ours[] = SESSIONS_OF(
    "(source = ?1 OR (json_valid(origin_json) AND json_extract(origin_json, '$.platform') = ?1))");

typedef struct Found {
    Arena *a;
    ChatSession *all;
    size_t n, cap;
} Found;

static bool look_in(Found *f, const Home *home, const ChatAddress *at, Str key, size_t max,
                    Err *err)
{
    AUTO(Db) *db = db_open_read(str_z(f->a, home->database), err);
    AUTO(DbRows) *rows = NULL;
    bool ok;

    if (!db || !db_query_once(db, &rows, err, home->kind == HOME_OURS ? sql_ours : sql,
                              TEXT(at->platform), TEXT(at->chat_id.n ? at->chat_id : STR("")),
                              TEXT(key), TEXT(at->user_id.n ? at->user_id : STR_NONE), INT(max)))
        return false;
    while (db_next(rows, &ok, err)) {
        ChatSession s = { .home = home->path };

        s.id = str_dup(f->a, row_text(rows, 0));
        s.title = str_dup(f->a, row_text(rows, 1));
        s.started_at = row_real(rows, 2);
        ARENA_PUSH(f->a, f->all, f->n, f->cap, s);
    }
    return ok;
}

static int newest_first(const void *a, const void *b)
{
    const ChatSession *x = a, *y = b;

    if (x->started_at != y->started_at)
        return x->started_at < y->started_at ? 1 : -1;
    return str_cmp(y->id, x->id);
}

void chat_sessions(Arena *a, const Homes *homes, const ChatAddress *at, Str key, size_t max,
                   ChatSession **ret, size_t *ret_n)
{
    Found f = { .a = a };
    Err err;

    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].present && !look_in(&f, &homes->all[i], at, key, max, &err))
            log_debug("no chats in '%.*s': %s", STR_FMT(homes->all[i].path), err.text);
    if (f.n)
        qsort(f.all, f.n, sizeof *f.all, newest_first);
    *ret = f.all;
    *ret_n = f.n < max ? f.n : max;
}

const ChatSession *chat_session_meant(const ChatSession *all, size_t n, Str said)
{
    const ChatSession *found = NULL;
    int64_t number;

    if (str_to_int(said, 1, (int64_t)n, &number))
        return &all[number - 1];
    for (size_t i = 0; i < n; i++)
        if (str_eq(all[i].id, said))
            return &all[i];
    for (size_t i = 0; i < n; i++) {
        if (!said.n || !str_eq_nocase(all[i].title, said))
            continue;
        if (found)
            return NULL;
        found = &all[i];
    }
    return found;
}
