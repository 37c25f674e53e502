/* One session by its id, or by the beginning of one. */
#include <stdlib.h>

#include "base/limits.h"
#include "store/store_inside.h"
#include "text/human.h"
#include "text/utf8.h"

/* -- finding -- */

static bool find_exact(Store *s, Arena *a, Str id, Session *ret, size_t *ret_n, Err *err)
{
    *ret_n = 0;
    for (size_t i = 0; i < s->homes->n; i++) {
        Session found;
        bool there = false;

        if (!s->conns[i])
            continue;
        if (!s->engine->get(s->conns[i], a, id, &found, &there, err))
            return false;
        if (there && (*ret_n)++ == 0) {
            *ret = found;
            ret->home = i;
        }
    }
    return true;
}

bool store_begins(Store *s, Arena *a, Str prefix, size_t max, Session **ret, size_t *ret_n,
                  Err *err)
{
    Session *all = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < s->homes->n && n < max; i++) {
        Session *found;
        size_t n_found = 0;

        if (!s->conns[i])
            continue;
        if (!s->engine->begins(s->conns[i], a, prefix, max - n, &found, &n_found, err))
            return false;
        for (size_t k = 0; k < n_found; k++) {
            found[k].home = i;
            ARENA_PUSH(a, all, n, cap, found[k]);
        }
    }
    *ret = all;
    *ret_n = n;
    return true;
}

static bool tip_of(Store *s, Arena *a, Session *session, Err *err)
{
    size_t home = session->home;

    for (size_t i = 0; i < LIMIT_LINEAGE_PARTS; i++) {
        Session next;
        bool found = false;

        if (!s->engine->continuation(s->conns[home], a, session, &next, &found, err))
            return false;
        if (!found)
            break;
        *session = next;
        session->home = home;
    }
    return true;
}

static int latest_session_first(const void *a, const void *b)
{
    const Session *x = a, *y = b;

    return x->started_at < y->started_at ? 1 : x->started_at > y->started_at ? -1 : 0;
}

bool session_ambiguous(Arena *a, Str id, Session *all, size_t n, Err *err)
{
    enum { SHOWN = 5, LINE = 80 - 11, DATE = 10 }; /* behind "talaria: " and an indent */
    AUTO_BUF text = BUF(KIB(4));

    qsort(all, n, sizeof *all, latest_session_first);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        size_t used = utf8_columns(all[i].id) + 2 + DATE + 2;

        buf_addf(&text, "\n  %.*s  %.*s  %.*s", STR_FMT(all[i].id),
                 STR_FMT(str_head(human_time(a, all[i].started_at), DATE)),
                 STR_FMT(utf8_fit(a, all[i].title, used < LINE - 10 ? LINE - used : 10)));
    }
    if (n > SHOWN)
        buf_addz(&text, "\n  ...");
    return err_set(err, ERR_CONFLICT, "'%.*s' matches %s%zu sessions; type more of the id:%.*s",
                   STR_FMT(id), n >= CANDIDATES_COUNTED ? "more than " : "",
                   n >= CANDIDATES_COUNTED ? n - 1 : n, STR_FMT(buf_str(&text)));
}

bool store_find(Store *s, Arena *a, Str id, Lineage *ret, Err *err)
{
    Session session = { 0 }, *all;
    size_t n = 0;

    if (!find_exact(s, a, id, &session, &n, err))
        return false;
    if (n > 1)
        return err_set(err, ERR_CONFLICT,
                       "session '%.*s' is in %zu history folders; choose one with --home",
                       STR_FMT(id), n);
    if (n == 0 && id.n >= MIN_ID_PREFIX) {
        if (!store_begins(s, a, id, CANDIDATES_COUNTED, &all, &n, err))
            return false;
        if (n > 1)
            return session_ambiguous(a, id, all, n, err);
        if (n == 1)
            session = all[0];
    }
    if (n == 0)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'; 'talaria sessions list' shows them",
                       STR_FMT(id));
    return tip_of(s, a, &session, err) && store_lineage(s, a, &session, ret, err);
}
