/* The words of a session as they would be sent to a model now: of its newest part, without what compaction put
 * away, every call followed by its result. A call whose result was never kept goes, and so does a result that
 * nothing asked for: servers refuse either. */
#include "agent/service_inside.h"
#include "agent/words.h"
#include "base/limits.h"
#include "store/conversations_adopt.h"

typedef struct Words {
    Arena *arena;
    Message *messages;
    size_t n;
    Exchange *exchanges;
    size_t n_exchanges, next; /* in the order of the messages that made the calls */
    Thread thread;
    ChatTurn *turns;
    size_t n_turns, cap_turns;
} Words;

/* -- as a model sees them ------------------------------------------------------------------------------ */

static Str call_id(Arena *a, const Exchange *x, size_t i)
{
    return x->call.id.n ? x->call.id : str_printf(a, "call_%zu", i);
}

static void add_results(Words *w, size_t message, size_t from)
{
    for (size_t i = from; i < w->next; i++)
        if (w->exchanges[i].has_result && w->exchanges[i].message == message)
            thread_add(&w->thread,
                       (ModelMessage){ .role = MODEL_TOOL,
                                       .text = message_text(w->arena, w->exchanges[i].content),
                                       .call_id = call_id(w->arena, &w->exchanges[i], i) });
}

static void add_answer(Words *w, size_t message, Str text)
{
    ModelToolCall *calls;
    size_t n = 0, from = w->next;

    while (w->next < w->n_exchanges && w->exchanges[w->next].message <= message)
        w->next++;
    calls = ARENA_ARRAY(w->arena, ModelToolCall, w->next - from + 1);
    for (size_t i = from; i < w->next; i++)
        if (w->exchanges[i].has_result && w->exchanges[i].message == message)
            calls[n++] =
                (ModelToolCall){ call_id(w->arena, &w->exchanges[i], i), w->exchanges[i].call.name,
                                 w->exchanges[i].call.arguments };
    if (!n && !text.n)
        return;
    thread_add(
        &w->thread,
        (ModelMessage){ .role = MODEL_ASSISTANT, .text = text, .calls = calls, .n_calls = n });
    add_results(w, message, from);
}

static void add_turn(Words *w, const Message *m, Str text)
{
    ChatTurn t = { .message_id = m->id,
                   .role = m->role,
                   .runtime = str_eqz(m->role, "assistant") ? STR("native") : STR_NONE,
                   .content = text,
                   .created_ms = (int64_t)(m->timestamp * 1000) };

    if (text.n)
        ARENA_PUSH(w->arena, w->turns, w->n_turns, w->cap_turns, t);
}

/* What a helper of the agent said on the side was never part of the conversation. */
static void add_message(Words *w, size_t i)
{
    const Message *m = &w->messages[i];
    bool user = str_eqz(m->role, "user"), agent = str_eqz(m->role, "assistant");
    Str text;

    if ((!user && !agent) || str_eqz(m->display_kind, "side_chain"))
        return;
    text = message_text(w->arena, m->content);
    if (user && text.n)
        thread_add(&w->thread, (ModelMessage){ .role = MODEL_USER, .text = text });
    else if (agent)
        add_answer(w, i, text);
    add_turn(w, m, text);
}

static bool load(Words *w, Store *store, const Session *tip, Err *err)
{
    if (!messages_load(store, w->arena, tip, &(MessageQuery){ 0 }, &w->messages, &w->n, err))
        return false;
    exchanges_pair(w->arena, w->messages, w->n, &w->exchanges, &w->n_exchanges);
    w->thread = (Thread){ .arena = w->arena };
    thread_add(&w->thread, (ModelMessage){ .role = MODEL_SYSTEM });
    for (size_t i = 0; i < w->n; i++)
        add_message(w, i);
    return true;
}

bool words_load(Store *store, Arena *a, const Session *tip, SessionWords *ret, Err *err)
{
    Words w = { .arena = a };

    if (!load(&w, store, tip, err))
        return false;
    *ret = (SessionWords){ .thread = w.thread, .turns = w.turns, .n_turns = w.n_turns };
    return true;
}

/* -- as a conversation ----------------------------------------------------------------------------------- */

/* A name that only the other program's server knows is of no use to ours. */
static Str known_model(Service *s, Str name)
{
    return name.n && settings_model(s->options.settings, name) ? name : STR("");
}

static bool adopt(Service *s, Runs *r, Store *store, Arena *a, const Home *home, const Lineage *l,
                  Str *ret_id, Err *err)
{
    bool ours = str_eq(home->path, s->options.homes->data);
    SessionWords words;
    Adoption x = { .home = home->path,
                   .session_id = l->tip.id,
                   .thread = STR("jarvis"),
                   .row = { .id = ours ? l->tip.id : id_new(a, 'c'),
                            .title = l->tip.title,
                            .model = known_model(s, l->tip.model),
                            .cwd = l->tip.cwd } };

    if (!store_fingerprint(store, a, &l->tip, &x.fingerprint, err))
        return false;
    if (!ours &&
        (!adoption_find(r, a, x.home, x.session_id, x.fingerprint, ret_id, err) || ret_id->n))
        return ret_id->n > 0;
    if (!words_load(store, a, &l->tip, &words, err))
        return false;
    x.turns = words.turns;
    x.n_turns = words.n_turns;
    if (words.thread.n > 1)
        x.handle = thread_handle(&words.thread, a);
    return adoption_make(r, a, &x, ret_id, err);
}

static bool is_conversation(Runs *r, Arena *a, Str id, bool *ret, Err *err)
{
    Conversation c;

    *ret = conversation_get(r, a, id, &c, err);
    return *ret || err->kind == ERR_NOT_FOUND;
}

bool service_adopt(Service *s, Arena *a, const Home *home, Str session_id, Str *ret_id, Err *err)
{
    Home one = *home;
    Homes homes = { .all = &one, .n = 1, .primary = &one, .data = s->options.homes->data };
    bool ours = str_eq(home->path, homes.data), there = false, ok;
    AUTO(Store) *store = NULL;
    Runs *r = service_take(s, err);
    Lineage l;

    ok = r && (!ours || is_conversation(r, a, session_id, &there, err));
    *ret_id = session_id;
    if (ok && !there) {
        store = store_open(&homes, err);
        ok = store && store_find(store, a, session_id, &l, err) &&
             adopt(s, r, store, a, home, &l, ret_id, err);
    }
    service_give(s, r);
    return ok;
}
