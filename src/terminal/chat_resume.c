/* Conversations and sessions that were there before: which one is meant, and what was said in it
 * last. */
#include <time.h>

#include "base/clock.h"
#include "recall/history.h"
#include "terminal/chat_inside.h"
#include "text/human.h"
#include "text/utf8.h"

enum { LIST_MS = 300, LOOKS = 10, LOOK_MS = 100, SHOWN_TURNS = 4, SHOWN_BYTES = 4000 };

void chat_abandon(Chat *c)
{
    if (c->fresh)
        service_unbegin(c->service, c->conversation);
    c->fresh = false;
}

void chat_drop_conversation(Chat *c)
{
    chat_abandon(c);
    c->conversation = STR_NONE;
    c->session = false;
    c->run_id = STR_NONE;
    c->n_files = 0;
    c->last = mem_free(c->last);
}

/* -- which one -- */

static bool add_listed(Chat *c, HistoryList *list, size_t max, Listed **ret, size_t *ret_n,
                       Err *err)
{
    size_t cap = 0;
    HistoryItem item;
    bool more;

    while (*ret_n < max) {
        if (!history_next(list, c->scratch, &item, &more, err))
            return false;
        if (!more)
            break;
        ARENA_PUSH(c->scratch, *ret, *ret_n, cap,
                   ((Listed){ .id = item.lineage.tip.id,
                              .origin = str_of(origin_title(item.origin)),
                              .title = item.lineage.title,
                              .last_active = item.lineage.last_active,
                              .messages = item.lineage.messages }));
    }
    return true;
}

static bool list_once(Chat *c, const Homes *homes, Store *store, size_t max, Listed **ret,
                      size_t *ret_n, bool *ret_partial, Err *err)
{
    AUTO(History) *h = history_open(&(HistoryWhere){ .homes = homes,
                                                     .store = store,
                                                     .files = homes->primary->kind != HOME_GIVEN,
                                                     .budget_ms = LIST_MS });
    AUTO(HistoryList) *list = history_list(h, &(HistoryQuery){ 0 }, err);

    *ret = NULL;
    *ret_n = 0;
    if (!list || !add_listed(c, list, max, ret, ret_n, err))
        return false;
    *ret_partial = history_partial(h);
    return true;
}

/* The service of this chat may be reading the transcripts just now: it is given a second to
 * finish. */
bool chat_list(Chat *c, size_t max, Listed **ret, size_t *ret_n, Err *err)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    Homes homes = homes_again(c->scratch, c->options->homes);
    AUTO(Store) *store = store_open(&homes, err);
    bool partial = true;

    if (!store)
        return false;
    for (int i = 0; i < LOOKS && partial; i++) {
        if (i)
            nanosleep(&pause, NULL);
        if (!list_once(c, &homes, store, max, ret, ret_n, &partial, err))
            return false;
    }
    return true;
}

/* The newest but the one at hand. */
static bool find_newest(Chat *c, Runs *r, Conversation *ret, Err *err)
{
    Conversation *all;
    size_t n;

    if (!conversation_list(r, c->scratch, 0, STR_NONE, 2, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eq(all[i].id, c->conversation)) {
            *ret = all[i];
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "no conversation to continue yet");
}

bool chat_find(Chat *c, Str id, Found *ret, Err *err)
{
    Runs *r;
    Str found = STR("");
    bool ok;

    *ret = (Found){ 0 };
    if (id.n && !service_look_up(c->service, c->scratch, id, &found, &ret->preview, err))
        return false;
    ret->session = id.n && !found.n;
    if (ret->session)
        return true;
    r = service_borrow_runs(c->service, err);
    ok = r && (id.n ? conversation_get(r, c->scratch, found, &ret->preview.row, err)
                    : find_newest(c, r, &ret->preview.row, err));
    service_return_runs(c->service, r);
    return ok;
}

/* -- what was said -- */

static void add_passage(Buf *out, Str text)
{
    render_text(out, text);
    buf_addz(out, !text.n || str_ends(text, STR("\n")) ? "" : "\n");
}

/* Text before and after a tool call is separated, as it was then. `left_out` bytes are not
 * shown. */
static void add_passages(Buf *out, Str text, size_t left_out, Str starts)
{
    Str rest = str_skip(starts, 1), one;
    size_t shown = 0;
    int64_t at;

    while (str_split(&rest, ',', &one)) {
        one = str_head(one, str_find(one, STR("]")));
        if (!str_to_int(one, 0, INT64_MAX, &at) || (size_t)at <= left_out + shown ||
            (size_t)at > left_out + text.n)
            continue;
        add_passage(out, str_head(str_skip(text, shown), (size_t)at - left_out - shown));
        shown = (size_t)at - left_out;
    }
    add_passage(out, str_skip(text, shown));
}

static void add_turn(Chat *c, Buf *out, const ChatTurn *t)
{
    bool user = str_eqz(t->role, "user"), color = c->options->color;
    Str text = utf8_tail(t->content, SHOWN_BYTES);

    buf_addz(out, user ? "> " : "");
    if (text.n < t->content.n)
        buf_addf(out, "%s[…]%s ", tint(color, TINT_DIM), tint(color, TINT_OFF));
    add_passages(out, text, t->content.n - text.n, t->passages);
    if (!user && !str_eqz(t->status, "complete"))
        buf_addf(out, "%s-- %.*s%s\n", tint(color, TINT_YELLOW),
                 STR_FMT(str_eqz(t->status, "partial") ? STR("partial: cut off here") : t->status),
                 tint(color, TINT_OFF));
}

static bool last_turns(Chat *c, const Found *found, ChatTurn **ret, size_t *ret_n, Err *err)
{
    const Preview *p = &found->preview;
    Runs *r;
    bool ok;

    if (found->session) {
        *ret_n = p->n_turns < SHOWN_TURNS ? p->n_turns : SHOWN_TURNS;
        *ret = p->turns + (p->n_turns - *ret_n);
        return true;
    }
    r = service_borrow_runs(c->service, err);
    ok = r && turns_recent(r, c->scratch, p->row.id, 0, SHOWN_TURNS, ret, ret_n, err);
    service_return_runs(c->service, r);
    return ok;
}

static bool show_turns(Chat *c, const Found *found, Err *err)
{
    AUTO_BUF out = BUF(MIB(1));
    ChatTurn *turns = NULL;
    size_t n = 0;

    if (!last_turns(c, found, &turns, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        add_turn(c, &out, &turns[i]);
    for (size_t i = n; i > 0 && !c->last; i--)
        if (str_eqz(turns[i - 1].role, "user"))
            c->last = mem_strdup(turns[i - 1].content);
    screen_lines(&c->screen, buf_str(&out));
    return true;
}

/* Where a session of another agent continues as a conversation, its own file stays as it is. */
static void show_name(Chat *c, const Found *found)
{
    const Conversation *row = &found->preview.row;
    Str name = row->title.n ? row->title : row->first_words;

    chat_note(c, "%s %.*s · %.*s · %.*s", found->session ? "session" : "conversation",
              STR_FMT(row->id), STR_FMT(utf8_fit(c->scratch, name.n ? name : STR("untitled"), 60)),
              STR_FMT(human_ago(c->scratch, (double)row->updated_ms / 1000, clock_wall())));
    if (row->continues_id.n && !found->session)
        chat_note(c, "continues session %.*s", STR_FMT(row->continues_id));
    if (row->running.n)
        chat_note(c, "a turn is running in another process");
}

bool chat_resume(Chat *c, Str id, Err *err)
{
    Found found;

    if (!chat_find(c, id, &found, err) ||
        (!found.session && !chat_is_ours(c, found.preview.row.id, err)))
        return false;
    chat_drop_conversation(c);
    c->conversation = str_dup(c->arena, found.preview.row.id);
    c->session = found.session;
    if (!c->options->runtime.n && !found.session)
        c->runtime = str_dup(c->arena, found.preview.row.active);
    show_name(c, &found);
    return show_turns(c, &found, err);
}
