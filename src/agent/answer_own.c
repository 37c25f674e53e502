/* The conversation at hand: what it is about, and what of it answers a question. It is read from
 * the store and not through the index, which may not know a session yet that was handed over a
 * moment ago. */
#include "agent/answer_inside.h"
#include "agent/render.h"
#include "base/limits.h"
#include "recall/skills_words.h"
#include "runtimes/runtimes.h"
#include "store/store.h"
#include "text/outcome.h"

enum { SHOWN = 3, QUOTE_CHARS = 500, MAX_MESSAGES = 4000, MAX_TEXT = 8 << 10, QUESTION_WORDS = 12 };

/* A request and the agent's last words to it. */
typedef struct Turn {
    Str request, answer;
    double at;
} Turn;

typedef struct Own {
    Arena *arena;
    const AnswerSource *source;
    Turn *turns;
    size_t n, cap;
    int64_t calls, failed;
} Own;

static bool on_message(void *ctx, const Message *m, Err *err)
{
    Own *o = ctx;
    Str text = str_trim(message_text(o->arena, m->content));
    bool user = str_eqz(m->role, "user"), agent = str_eqz(m->role, "assistant");

    (void)err;
    o->calls += str_eqz(m->role, "tool");
    o->failed += str_eqz(m->role, "tool") && outcome_of_result(text) != OUTCOME_OK;
    if (!text.n || (!user && !agent))
        return true;
    text = str_dup(o->arena, str_head(text, MAX_TEXT));
    if (user || !o->n)
        ARENA_PUSH(o->arena, o->turns, o->n, o->cap, ((Turn){ .at = m->timestamp }));
    if (user)
        o->turns[o->n - 1].request = text;
    else
        o->turns[o->n - 1].answer = text;
    return true;
}

/* Neither the question itself, nor others that were answered from the history. */
static void drop_questions(Own *o)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->n; i++) {
        const Turn *t = &o->turns[i];
        bool at_hand = !t->answer.n && str_eq(str_trim(t->request), str_trim(o->source->text));

        if (!at_hand && !offline_said(t->answer))
            o->turns[kept++] = *t;
    }
    o->n = kept;
}

/* All messages, those too that were copied from the session that it continues: the index leaves
 * them to that. */
static void read_own(Arena *a, const AnswerSource *source, Own *ret)
{
    AUTO(Store) *store = NULL;
    MessageQuery query = { .max = MAX_MESSAGES };
    Err ignored;

    *ret = (Own){ .arena = a, .source = source };
    if (source->conversation_id.n)
        store = store_open(source->homes, &ignored);
    for (size_t i = 0; store && i < source->homes->n; i++) {
        Session session = { .id = source->conversation_id, .home = i };

        if (source->homes->all[i].kind == HOME_OURS && source->homes->all[i].present)
            (void)!messages_each(store, &session, &query, on_message, ret, &ignored);
    }
    drop_questions(ret);
}

static void put_turn(Buf *out, const Turn *t)
{
    if (t->request.n) {
        answer_date(out, t->at);
        buf_addz(out, ", you:\n\n");
        render_quote(out, t->request, QUOTE_CHARS);
        buf_addc(out, '\n');
    }
    if (t->answer.n) {
        buf_addz(out, "The agent:\n\n");
        render_quote(out, t->answer, QUOTE_CHARS);
        buf_addc(out, '\n');
    }
}

static void put_head(Buf *out, const Own *o)
{
    buf_addz(out, "This session has ");
    answer_plural(out, (int64_t)o->n, "request", "requests");
    if (o->calls) {
        buf_addz(out, " and ");
        answer_plural(out, o->calls, "tool call", "tool calls");
        if (o->failed)
            buf_addf(out, " (%lld failed)", (long long)o->failed);
    }
    buf_addz(out, ". It began with:\n\n");
}

/* The first request says what it is about, the last ones where it is. */
bool answer_session(Answering *w, Err *err)
{
    Own o;
    size_t from;

    (void)err;
    read_own(w->arena, w->source, &o);
    if (!o.n)
        return true;
    put_head(w->out, &o);
    put_turn(w->out, &o.turns[0]);
    from = o.n > SHOWN + 1 ? o.n - SHOWN : 1;
    if (from < o.n)
        buf_addz(w->out, from > 1 ? "And last:\n\n" : "Then:\n\n");
    for (size_t i = from; i < o.n; i++)
        put_turn(w->out, &o.turns[i]);
    return true;
}

bool answer_from_own(Arena *a, const AnswerSource *source, Str *ret, Err *err)
{
    AUTO_BUF out = BUF(KIB(16));
    Words words = words_of(a, str_head(source->text, MAX_TEXT), QUESTION_WORDS);
    const Turn *best = NULL;
    size_t max = 0;
    Own o;

    (void)err;
    read_own(a, source, &o);
    for (size_t i = 0; words.n && i < o.n; i++) {
        Str both =
            str_printf(a, "%.*s\n%.*s", STR_FMT(o.turns[i].request), STR_FMT(o.turns[i].answer));
        size_t n = words_in(a, &words, both, NULL);

        if (words_enough(n, words.n) && n >= max) {
            max = n;
            best = &o.turns[i];
        }
    }
    if (best) {
        buf_addz(&out, "In this session, ");
        put_turn(&out, best);
    }
    *ret = str_dup(a, buf_str(&out));
    return true;
}
