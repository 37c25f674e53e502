/* The list below an answer: what opens each of its links in this terminal. */
#include "recall/history.h"
#include "recall/resume.h"
#include "terminal/paint_inside.h"
#include "text/utf8.h"

static const Str sessions = STR_INIT("/sessions/");

static History *open_history(const Homes *homes, Store *store)
{
    return history_open(&(HistoryWhere){
        .homes = homes, .store = store, .files = homes->primary->kind != HOME_GIVEN });
}

/* A link may name a session that does not exist: then no beginning of its id means it. */
static Str short_id(History *h, Arena *a, Str id)
{
    HistoryItem item;
    Err ignored;

    return h && history_find(h, a, id, &item, &ignored) ? history_short_id(h, a, id) : id;
}

/* The id is as the link has it, %XX and all. */
static void put_link(Paint *p, Buf *out, size_t number, History *h)
{
    Str target = p->links[number - 1];
    AUTO_BUF line = BUF(KIB(8));

    buf_addf(&line, "[%zu] ", number);
    if (str_starts(target, sessions))
        buf_addf(&line, "%s sessions show %.*s", resume_program(),
                 STR_FMT(short_id(h, p->arena, str_skip(target, sessions.n))));
    else
        buf_add(&line, target);
    buf_addz(out, p->options.color ? "\033[2m" : "");
    utf8_show(out, buf_str(&line), false);
    buf_addz(out, p->options.color ? "\033[0m\n" : "\n");
}

static bool names_sessions(const Paint *p)
{
    for (size_t i = 0; i < p->n_links; i++)
        if (str_starts(p->links[i], sessions))
            return true;
    return false;
}

void paint_links(Paint *p, Buf *out)
{
    AUTO(Store) *store = NULL;
    AUTO(History) *h = NULL;
    Homes homes;
    Err ignored;

    if (p->options.homes && names_sessions(p)) {
        homes = homes_again(p->arena, p->options.homes);
        store = store_open(&homes, &ignored);
        h = store ? open_history(&homes, store) : NULL;
    }
    for (size_t i = 1; i <= p->n_links; i++)
        put_link(p, out, i, h);
}
