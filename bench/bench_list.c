/* sessions list of 100,000 sessions, the first 50 shown: at most 100 ms, whole command. Beside it
 * the same question asked through Python's sqlite3, as Hermes asks it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "common.h"
#include "store/own.h"

enum { SESSIONS = 100000, MESSAGES = 3, CHAIN = 20 };

static const char peer_script[] =
    "import sqlite3,sys\n"
    "c=sqlite3.connect('file:'+sys.argv[1]+'?mode=ro',uri=True)\n"
    "c.execute(\"SELECT count(*) FROM sessions\").fetchone()\n"
    "print(c.execute(\"SELECT s.*,(SELECT substr(m.content,1,63) FROM messages m WHERE "
    "m.session_id=s.id AND m.role='user' ORDER BY m.timestamp,m.id LIMIT 1),coalesce((SELECT "
    "max(m.timestamp) FROM messages m WHERE m.session_id=s.id),s.started_at) FROM sessions s WHERE "
    "s.archived=0 ORDER BY s.started_at DESC LIMIT 50\").fetchall())\n";

/* Every twentieth session goes on in the next one: lineages are part of the question. */
static bool add_session(OwnStore *own, Arena *a, size_t i, Err *err)
{
    Session s = { .id = str_printf(a, "20260101_%06zu_%06zx", i, i * 2654435761u & 0xffffff),
                  .source = STR("cli"),
                  .model = STR("anthropic/claude-sonnet-4.5"),
                  .started_at = 1767225600 + (double)i * 60,
                  .ended_at = 1767225600 + (double)i * 60 + 50,
                  .end_reason = i % CHAIN == 0 ? STR("compression") : STR("cli_exit"),
                  .message_count = MESSAGES };

    if (i % CHAIN == 1)
        s.parent_session_id =
            str_printf(a, "20260101_%06zu_%06zx", i - 1, (i - 1) * 2654435761u & 0xffffff);
    if (!own_add_session(own, &s, err))
        return false;
    for (size_t k = 0; k < MESSAGES; k++) {
        Message m = { .session_id = s.id,
                      .role = k % 2 ? STR("assistant") : STR("user"),
                      .content = STR("please look at the failing test and say what is wrong"),
                      .timestamp = s.started_at + (double)k,
                      .active = 1 };

        if (!own_add_message(own, &m, err))
            return false;
    }
    return true;
}

static bool fill(const char *folder, Err *err)
{
    AUTO(OwnStore) *own = own_store_open(str_of(folder), err);
    AUTO(Arena) *a = arena_new();

    if (!own || !own_store_begin(own, err))
        return false;
    for (size_t i = 0; i < SESSIONS; i++) {
        arena_reset(a);
        if (!add_session(own, a, i, err))
            return false;
    }
    return own_store_end(own, true, err);
}

int main(void)
{
    char folder[256], database[300];
    double ours, peer;
    Err err;

    bench_folder(folder);
    if (!fill(folder, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    snprintf(database, sizeof database, "%s/talaria.db", folder);
    ours = bench_median_ms((char *[]){ (char *)bench_binary(), "--home", folder, "--data", folder,
                                       "sessions", "list", NULL },
                           15);
    peer = bench_median_ms((char *[]){ bench_python(), "-c", (char *)peer_script, database, NULL },
                           15);
    bench_line("sessions_list_100k", ours, "ms", peer, "run", peer / ours, ours > 0 && ours <= 100);
    bench_drop_folder(folder);
    return ours > 0 && ours <= 100 ? 0 : 1;
}
