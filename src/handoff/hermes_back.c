/* First the copy is ended, so that nothing more is said to it; then what was said is read; then
 * ours continues with it, in one transaction with its owner. Whoever dies in between has done
 * nothing that cannot be done again.
 *
 * What is new is what was said after the request. Where Hermes compressed the session meanwhile,
 * what it kept was said again by the new part, and is left out by its words. */
#include "agent/conversation.h"
#include "agent/conversations_adopt.h"
#include "agent/words.h"
#include "base/limits.h"
#include "base/log.h"
#include "handoff/copy.h"
#include "handoff/hermes.h"
#include "handoff/routing.h"

typedef struct Back {
    Arena *arena;
    Store *store; /* of the Hermes */
    Lineage copy;
    double since;
    bool compressed;
    ChatTurn *turns;
    size_t n, cap;
} Back;

/* -- what is new -- */

static bool was_said(const Back *b, const Message *all, size_t n, Str role, Str text)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(all[i].role, role) && str_eq(message_text(b->arena, all[i].content), text))
            return true;
    for (size_t i = 0; i < b->n; i++)
        if (str_eq(b->turns[i].role, role) && str_eq(b->turns[i].content, text))
            return true;
    return false;
}

/* What Hermes' gateway says to its agent when the session arrives stands in its database as the
 * user's words. */
static bool is_prompt_of_gateway(Str text)
{
    return str_starts(text, STR("[Session was just handed off from CLI"));
}

static void add_turn(Back *b, const Message *all, size_t i)
{
    const Message *m = &all[i];
    bool agent = str_eqz(m->role, "assistant");
    ChatTurn t = { .role = m->role,
                   .runtime = agent ? STR("native") : STR_NONE,
                   .content = message_text(b->arena, m->content),
                   .created_ms = (int64_t)(m->timestamp * 1000) };

    if ((!agent && !str_eqz(m->role, "user")) || !t.content.n || m->timestamp <= b->since ||
        (!m->active && !m->compacted) || str_eqz(m->display_kind, "side_chain") ||
        (!agent && is_prompt_of_gateway(t.content)) ||
        (b->compressed && was_said(b, all, i, t.role, t.content)))
        return;
    ARENA_PUSH(b->arena, b->turns, b->n, b->cap, t);
}

static bool read_turns(Back *b, Err *err)
{
    b->compressed = b->copy.n_parts > 1;
    for (size_t p = 0; p < b->copy.n_parts; p++) {
        Message *all;
        size_t n;

        if (!messages_load(b->store, b->arena, &b->copy.parts[p],
                           &(MessageQuery){ .inactive = true }, &all, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            b->compressed |= all[i].compacted != 0;
        for (size_t i = 0; i < n; i++)
            add_turn(b, all, i);
    }
    return true;
}

/* -- ours -- */

/* A session that was only kept here becomes a conversation, so that it can go on. */
static bool make_conversation(const Homes *homes, Runs *r, Arena *a, Str id, Err *err)
{
    AUTO(Store) *store = NULL;
    SessionWords words;
    Conversation c;
    OneHome ours;
    Adoption x;
    Lineage l;
    Str same;

    if (conversation_get(r, a, id, &c, err))
        return true;
    if (err->kind != ERR_NOT_FOUND)
        return false;
    one_home(a, homes, homes->data, &ours);
    store = store_open(&ours.homes, err);
    if (!store || !store_find(store, a, id, &l, err) || !words_load(store, a, &l.tip, &words, err))
        return false;
    x = (Adoption){ .from = { homes->data, id },
                    .row = { .id = id, .cwd = l.tip.cwd },
                    .turns = words.turns,
                    .n_turns = words.n_turns };
    return adoption_make(r, a, &x, &same, err);
}

static bool go_on(const Homes *homes, Back *b, const Handoff *h, int64_t fence,
                  const SessionWords *words, Err *err)
{
    AUTO(Runs) *r = runs_open(homes->data, err);
    Comeback x = { .conversation_id = h->session_id,
                   .fence = fence,
                   .archived = str_eqz(h->before_json, COPY_OF_ARCHIVED),
                   .turns = b->turns,
                   .n_turns = b->n };
    Continuity c;
    bool foreign;

    if (words->thread.n > 1)
        x.handle = thread_handle(&words->thread, b->arena);
    if (!r || !make_conversation(homes, r, b->arena, h->session_id, err) ||
        !continuity_of(r, b->arena, h->session_id, runtime_find(STR("native")), &c, &foreign, err))
        return false;
    x.thread = c.runtime;
    return comeback_make(r, b->arena, &x, err);
}

/* -- from there -- */

static bool end_copy(OwnStore *own, const Back *b, const Handoff *h, Err *err)
{
    Str *parts = ARENA_ARRAY(b->arena, Str, b->copy.n_parts);

    for (size_t i = 0; i < b->copy.n_parts; i++)
        parts[i] = b->copy.parts[i].id;
    return copy_end(own, b->arena, h, parts, b->copy.n_parts, err);
}

static void drop_prompt(Thread *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->messages[i].role != MODEL_USER || !is_prompt_of_gateway(t->messages[i].text))
            t->messages[kept++] = t->messages[i];
    t->n = kept;
}

static bool fetch(OwnStore *own, Back *b, const Handoff *h, SessionWords *words, Err *err)
{
    if (!end_copy(own, b, h, err) || !read_turns(b, err) ||
        !words_load(b->store, b->arena, &b->copy.tip, words, err))
        return false;
    drop_prompt(&words->thread);
    return true;
}

bool lend_back(const Homes *homes, OwnStore *own, const Handoff *h, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Store) *store = NULL;
    Back b = { .arena = a, .since = (double)h->requested_ms / 1000 };
    SessionWords words = { 0 };
    SessionOwner owner;
    OneHome theirs;

    if (!owner_get(own, a, h->home, h->session_id, &owner, err))
        return false;
    one_home(a, homes, h->copy_home, &theirs);
    b.store = store = store_open(&theirs.homes, err);
    if (!store)
        return false;
    if (store_find(store, a, h->copy_id, &b.copy, err)) {
        if (!fetch(own, &b, h, &words, err))
            return false;
    } else if (err->kind == ERR_NOT_FOUND) {
        log_warning("Hermes has no session '%.*s' any more: what was said there is lost",
                    STR_FMT(h->copy_id));
    } else {
        return false;
    }
    return go_on(homes, &b, h, owner.fence, &words, err);
}
