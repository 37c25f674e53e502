/* The words of a session as they would be sent to a model now. A call whose result was never kept
 * goes, and so does a result that nothing asked for: servers refuse either. */
#include "agent/words.h"

#include "text/tokens.h"
#include "text/utf8.h"
#include "transcripts/load.h"

typedef struct Words {
    Arena *arena;
    Message *messages;
    size_t n;
    Exchange *exchanges;
    size_t n_exchanges, next; /* in the order of the messages that made the calls */
    Thread thread;
    ChatTurn *turns;
    size_t n_turns, cap_turns;
    bool side_chain; /* all of it was said on the side: then that is the conversation */
} Words;

/* -- As a model sees them -- */

static Str call_id(Arena *a, const Exchange *x, size_t i)
{
    return x->call.id.n ? x->call.id : str_printf(a, "call_%zu", i);
}

/* A result may have been a picture alone, and servers refuse an empty one. */
static Str result_text(const Words *w, size_t i)
{
    Str text = message_text(w->arena, w->exchanges[i].content);

    return text.n ? text : STR("(no text)");
}

static void add_results(Words *w, size_t message, size_t from)
{
    for (size_t i = from; i < w->next; i++)
        if (w->exchanges[i].has_result && w->exchanges[i].message == message)
            thread_add(&w->thread,
                       (ModelMessage){ .role = MODEL_TOOL,
                                       .text = result_text(w, i),
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

/* What was summed up is not sent again; it was said all the same. */
static void begin_from_summary(Words *w, const Message *m)
{
    Str text = message_text(w->arena, m->content);

    if (!text.n)
        return;
    w->thread.n = 1;
    thread_add(&w->thread, (ModelMessage){ .role = MODEL_USER, .text = text });
}

/* What a helper of the agent said on the side was never part of the conversation. */
static void add_message(Words *w, size_t i)
{
    const Message *m = &w->messages[i];
    bool user = str_eqz(m->role, "user"), agent = str_eqz(m->role, "assistant");
    Str text;

    if (str_eqz(m->display_kind, MESSAGE_SUMMARY))
        begin_from_summary(w, m);
    if ((!user && !agent) || (!w->side_chain && str_eqz(m->display_kind, "side_chain")) ||
        str_eqz(m->display_kind, MESSAGE_SUMMARY))
        return;
    text = message_text(w->arena, m->content);
    if (user && text.n)
        thread_add(&w->thread, (ModelMessage){ .role = MODEL_USER, .text = text });
    else if (agent)
        add_answer(w, i, text);
    add_turn(w, m, text);
}

void words_from(Arena *a, Message *messages, size_t n, SessionWords *ret)
{
    Words w = {
        .arena = a, .messages = messages, .n = n, .thread = { .arena = a }, .side_chain = true
    };

    for (size_t i = 0; i < n; i++)
        w.side_chain &= str_eqz(messages[i].display_kind, "side_chain");
    exchanges_pair(a, messages, n, &w.exchanges, &w.n_exchanges);
    thread_add(&w.thread, (ModelMessage){ .role = MODEL_SYSTEM });
    for (size_t i = 0; i < n; i++)
        add_message(&w, i);
    *ret = (SessionWords){ .thread = w.thread, .turns = w.turns, .n_turns = w.n_turns };
}

bool words_load(Store *store, Arena *a, const Session *tip, SessionWords *ret, Err *err)
{
    Message *messages;
    size_t n;

    if (!messages_load(store, a, tip, &(MessageQuery){ 0 }, &messages, &n, err))
        return false;
    words_from(a, messages, n, ret);
    return true;
}

/* -- Within a model's window -- */

enum { RESULT_HEAD = 1200, RESULT_TAIL = 400, RESULT_NOTE = 100 };

static size_t tokens_in(const Thread *t)
{
    size_t sum = 0;

    for (size_t i = 0; i < t->n; i++) {
        sum += tokens_estimate(t->messages[i].text);
        for (size_t k = 0; k < t->messages[i].n_calls; k++)
            sum += tokens_estimate(t->messages[i].calls[k].name) +
                   tokens_estimate(t->messages[i].calls[k].arguments);
    }
    return sum;
}

static Str shortened(Arena *a, Str text)
{
    Str head, tail;

    if (text.n <= RESULT_HEAD + RESULT_TAIL + RESULT_NOTE)
        return text;
    head = utf8_head(text, RESULT_HEAD);
    tail = utf8_tail(text, RESULT_TAIL);
    return str_printf(a, "%.*s\n[... %zu bytes left out ...]\n%.*s", STR_FMT(head),
                      text.n - head.n - tail.n, STR_FMT(tail));
}

static void shorten_results(Thread *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (t->messages[i].role == MODEL_TOOL)
            t->messages[i].text = shortened(t->arena, t->messages[i].text);
}

/* Calls go with their results, the oldest first, until the rest fits; what was said stays. */
static void drop_calls(Thread *t, size_t tokens)
{
    size_t sum = tokens_in(t), kept = 1;
    bool dropping = false;

    for (size_t i = 1; i < t->n; i++) {
        ModelMessage m = t->messages[i];

        if (m.role != MODEL_TOOL)
            dropping = sum > tokens;
        if (dropping && m.role == MODEL_TOOL)
            sum -= tokens_estimate(m.text);
        for (size_t k = 0; dropping && k < m.n_calls; k++)
            sum -= tokens_estimate(m.calls[k].name) + tokens_estimate(m.calls[k].arguments);
        if (dropping)
            m.n_calls = 0;
        if (!dropping || (m.role != MODEL_TOOL && m.text.n))
            t->messages[kept++] = m;
    }
    t->n = kept;
}

void words_fit(SessionWords *words, size_t tokens)
{
    Thread *t = &words->thread;

    if (tokens_in(t) > tokens)
        shorten_results(t);
    if (tokens_in(t) > tokens)
        drop_calls(t, tokens);
    thread_fit(t, tokens);
}
