/* Conversations that were there before: which one is meant, and what was said in it last. */
#include "base/clock.h"
#include "terminal/chat_inside.h"
#include "text/human.h"
#include "text/utf8.h"

enum { LOOKED_AT = 500, SHOWN_TURNS = 4, SHOWN_BYTES = 4000 };

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
    c->run_id = STR_NONE;
    c->n_files = 0;
    c->last = mem_free(c->last);
}

bool chat_list(Chat *c, size_t most, Conversation **ret, size_t *ret_n, Err *err)
{
    Runs *r = service_take(c->service, err);
    bool ok = r && conversation_list(r, c->scratch, 0, STR_NONE, most, ret, ret_n, err);

    service_give(c->service, r);
    return ok;
}

/* The newest but the one at hand; or the one whose id begins so, which must be one alone. */
bool chat_find(Chat *c, Str id, Conversation *ret, Err *err)
{
    Conversation *all;
    size_t n, found = 0;

    if (!chat_list(c, LOOKED_AT, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (id.n ? !str_starts(all[i].id, id) : str_eq(all[i].id, c->conversation))
            continue;
        if (!found++ || str_eq(all[i].id, id))
            *ret = all[i];
        if (!id.n || str_eq(all[i].id, id))
            return true;
    }
    if (found > 1)
        return err_set(err, ERR_USAGE, "%zu conversations begin with '%.*s'", found, STR_FMT(id));
    if (!found && id.n)
        return err_set(err, ERR_NOT_FOUND, "no conversation '%.*s'; /sessions shows them",
                       STR_FMT(id));
    return found || err_set(err, ERR_NOT_FOUND, "there is no conversation to go on with");
}

static void add_passage(Buf *out, Str text)
{
    render_text(out, text);
    buf_addz(out, !text.n || str_ends(text, STR("\n")) ? "" : "\n");
}

/* What was said before and after a tool stands apart, as it did then. `left_out` bytes are not shown. */
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
                 STR_FMT(str_eqz(t->status, "partial") ? STR("partial: it was cut off here")
                                                       : t->status),
                 tint(color, TINT_OFF));
}

static bool show_turns(Chat *c, const Conversation *row, Err *err)
{
    AUTO_BUF out = BUF(MIB(1));
    Runs *r = service_take(c->service, err);
    ChatTurn *turns = NULL;
    size_t n = 0;
    bool ok = r && turns_recent(r, c->scratch, row->id, 0, SHOWN_TURNS, &turns, &n, err);

    service_give(c->service, r);
    for (size_t i = 0; ok && i < n; i++)
        add_turn(c, &out, &turns[i]);
    for (size_t i = n; ok && i > 0 && !c->last; i--)
        if (str_eqz(turns[i - 1].role, "user"))
            c->last = mem_strdup(turns[i - 1].content);
    if (ok)
        screen_lines(&c->screen, buf_str(&out));
    return ok;
}

bool chat_resume(Chat *c, Str id, Err *err)
{
    Conversation row = { 0 };
    Str name;

    if (!chat_find(c, id, &row, err) || !chat_is_ours(c, row.id, err))
        return false;
    chat_drop_conversation(c);
    c->conversation = str_dup(c->arena, row.id);
    if (!c->options->runtime.n)
        c->runtime = str_dup(c->arena, row.active);
    name = row.title.n ? row.title : row.first_words;
    chat_note(c, "conversation %.*s · %.*s · %.*s", STR_FMT(row.id),
              STR_FMT(utf8_fit(c->scratch, name.n ? name : STR("without a title"), 60)),
              STR_FMT(human_ago(c->scratch, (double)row.updated_ms / 1000, clock_wall())));
    if (row.running.n)
        chat_note(c, "a turn of it runs in another process");
    return show_turns(c, &row, err);
}
