#include "handoff/card.h"

#include "base/limits.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { MAX_WORDS = 600, MAX_TITLE = 100 };

/* The newest words of either side; each in its own place, so that a long session costs no
 * memory. */
typedef struct Exchanged {
    Arena *arenas[2];
    Str words[2]; /* of the user, of the agent */
} Exchanged;

static bool look_at(void *ctx, const Message *m, Err *err)
{
    Exchanged *x = ctx;
    int side = str_eqz(m->role, "user") ? 0 : str_eqz(m->role, "assistant") ? 1 : -1;
    Str text;

    (void)err;
    if (side < 0 || !m->content.n)
        return true;
    arena_reset(x->arenas[side]);
    text = str_trim(message_text(x->arenas[side], m->content));
    x->words[side] = str_dup(x->arenas[side], text);
    return true;
}

static Str clipped(Arena *a, Str s)
{
    Str head = utf8_head(s, MAX_WORDS);

    return head.n == s.n ? s : str_printf(a, "%.*s\xe2\x80\xa6", STR_FMT(head));
}

static void put_line(Buf *out, const char *label, Str value)
{
    if (value.n)
        buf_addf(out, "%s %.*s\n", label, STR_FMT(value));
}

static Str written(Arena *a, const Lineage *l, Str title, const Exchanged *x, bool ours)
{
    AUTO_BUF out = BUF(KIB(16));

    buf_addf(&out, "Session handed over: %.*s\n", STR_FMT(title));
    put_line(&out, "Folder:", l->tip.cwd);
    put_line(&out, "Branch:", l->tip.git_branch);
    put_line(&out, "Model:", l->tip.model);
    buf_addf(&out, "Messages: %lld\n", (long long)l->messages);
    if (x->words[0].n)
        buf_addf(&out, "\nYou: %.*s\n", STR_FMT(clipped(a, x->words[0])));
    if (x->words[1].n)
        buf_addf(&out, "\nAgent: %.*s\n", STR_FMT(clipped(a, x->words[1])));
    buf_addz(&out, "\nWrite here to continue.");
    if (!ours)
        buf_addz(&out, " New messages are kept by Talaria; Hermes does not see them.");
    return redact_text(a, str_dup(a, buf_str(&out)));
}

bool card_make(Arena *a, const Homes *homes, Str session_id, Card *ret, Err *err)
{
    AUTO(Arena) *user = arena_new(), *agent = arena_new();
    Homes now = homes_again(a, homes);
    AUTO(Store) *store = store_open(&now, err);
    Exchanged x = { .arenas = { user, agent } };
    Lineage l;

    if (!store || !store_find(store, a, session_id, &l, err) ||
        !messages_each(store, &l.tip, &(MessageQuery){ 0 }, look_at, &x, err))
        return false;
    ret->title = redact_text(a, str_dup(a, utf8_head(l.title, MAX_TITLE)));
    ret->text = written(a, &l, ret->title, &x, store_home(store, l.tip.home)->kind == HOME_OURS);
    return true;
}
