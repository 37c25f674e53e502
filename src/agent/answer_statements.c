/* "What did we fix last week?", "What was decided about X?": sentences that say so, in what people
 * wrote and in what an agent said last before it was the user's turn again. What it says between
 * two tool calls is narration ("Now I will fix the test") and never counts. */
#include <stdlib.h>

#include "agent/answer_inside.h"
#include "agent/render.h"
#include "agent/statement.h"
#include "base/limits.h"
#include "recall/skills_words.h"
#include "runtimes/runtimes.h"
#include "text/letters.h"
#include "text/outcome.h"

enum { SHOWN = 8, QUOTE_CHARS = 400, MAX_TEXT = 16 << 10, TOPIC_WORDS = 8 };

typedef struct Stated {
    size_t talk;
    double at;
    bool by_user;
    Str text;
    size_t repeats;
} Stated;

typedef struct Search {
    Answering *w;
    Statement what;
    Words topic; /* none: anything */
    size_t talk;
    Arena *scratch; /* of one session */
    Str request;    /* the user's latest words */
    size_t requests;
    Str last; /* the agent's latest, not known yet to be its last before the user's turn */
    double last_at;
    bool found, hoped;      /* best: stated; may be if the user says so */
    Stated best, hoped_for; /* of this session */
    Stated *all;
    size_t n, cap;
} Search;

/* -- Sentences -- */

static size_t topic_words(const Search *s, Str text)
{
    return words_in(s->scratch, &s->topic, text, NULL);
}

/* The first sentence that states it and is about the topic, with the one behind it for its
 * reason. */
static bool find_sentence(Search *s, Str text, bool by_user, Str *ret)
{
    Str rest = str_head(text, MAX_TEXT), sentence, next, before = STR_NONE;
    bool more = sentence_next(&rest, &sentence);

    while (more) {
        Str after = rest;
        bool near = sentence_next(&after, &next);

        if (sentence_states(s->scratch, sentence, s->what, by_user) &&
            (!s->topic.n || topic_words(s, sentence) || topic_words(s, before) ||
             (near && topic_words(s, next)))) {
            Str end = near ? next : sentence;

            *ret = (Str){ sentence.p, (size_t)(end.p + end.n - sentence.p) };
            return true;
        }
        before = sentence;
        more = sentence_next(&rest, &sentence);
    }
    return false;
}

static bool is_about(const Search *s, Str text)
{
    Str title = s->w->talks[s->talk].entry.title;
    Str all = str_printf(s->scratch, "%.*s\n%.*s\n%.*s", STR_FMT(title),
                         STR_FMT(str_head(text, MAX_TEXT)), STR_FMT(str_head(s->request, 4096)));

    return !s->topic.n || words_enough(topic_words(s, all), s->topic.n);
}

static void look_at(Search *s, Str text, double at, bool by_user)
{
    Str said;

    if (!answer_in_period(s->w, at) || offline_said(text) || !is_about(s, text) ||
        !find_sentence(s, text, by_user, &said))
        return;
    /* What a person decided counts for more than the agent's "understood". */
    if (s->found && s->best.by_user && !by_user)
        return;
    s->found = true;
    s->best = (Stated){
        .talk = s->talk, .at = at, .by_user = by_user, .text = str_dup(s->w->arena, said)
    };
}

/* -- Reading -- */

static bool speaks_of_trouble(const Search *s)
{
    Str title = s->w->talks[s->talk].entry.title;

    return sentence_states(s->scratch, s->request, STATEMENT_TROUBLE, true) ||
           (s->requests == 1 && sentence_states(s->scratch, title, STATEMENT_TROUBLE, true));
}

/* An answer to a request about something broken: the user may praise it, and then it was fixed. */
static void hope(Search *s)
{
    Str rest = s->last, first, second;

    s->hoped = answer_in_period(s->w, s->last_at) && !offline_said(s->last) &&
               is_about(s, s->last) && speaks_of_trouble(s) && sentence_next(&rest, &first);
    if (!s->hoped)
        return;
    if (sentence_next(&rest, &second))
        first.n = (size_t)(second.p + second.n - first.p);
    s->hoped_for =
        (Stated){ .talk = s->talk, .at = s->last_at, .text = str_dup(s->w->arena, first) };
}

/* The agent's last words of a turn are an answer. */
static void end_turn(Search *s)
{
    if (!s->last.n)
        return;
    look_at(s, s->last, s->last_at, false);
    if (s->what == STATEMENT_FIXED)
        hope(s);
    s->last = STR_NONE;
}

/* "That's still broken": it was not fixed after all. */
static void judge(Search *s, Str remark)
{
    Remark r = outcome_of_remark(remark);

    if (r == REMARK_BLAME)
        s->found = false;
    else if (r == REMARK_PRAISE && s->hoped && !s->found) {
        s->found = true;
        s->best = s->hoped_for;
    }
    s->hoped = false;
}

/* "No, at most 150 words": a correction decides, too, if it is about the topic. */
static void correction(Search *s, double at)
{
    Str first = str_head(s->request, QUOTE_CHARS);

    if (!s->topic.n || s->requests < 2 || !answer_in_period(s->w, at) ||
        !outcome_is_complaint(s->request) || !is_about(s, s->request) ||
        words_of(s->scratch, first, TOPIC_WORDS).n < 2)
        return;
    s->found = true;
    s->best =
        (Stated){ .talk = s->talk, .at = at, .by_user = true, .text = str_dup(s->w->arena, first) };
}

static void on_user(Search *s, const Doc *d)
{
    end_turn(s);
    if (s->what == STATEMENT_FIXED)
        judge(s, d->text);
    s->request = str_dup(s->scratch, str_head(d->text, MAX_TEXT));
    s->requests++;
    if (s->what == STATEMENT_DECIDED &&
        question_read(s->scratch, d->text, s->w->source->now).intent == INTENT_NONE) {
        look_at(s, s->request, d->at, true);
        correction(s, d->at);
    }
}

static bool on_doc(void *ctx, const Doc *d)
{
    Search *s = ctx;

    if (d->guest)
        return true;
    if (d->role == DOC_USER) {
        on_user(s, d);
    } else if (d->role == DOC_ASSISTANT) {
        s->last = str_dup(s->scratch, str_head(d->text, MAX_TEXT));
        s->last_at = d->at;
    } else if (d->role == DOC_CALL) {
        s->last = STR_NONE;
    }
    return true;
}

static bool read_talk(Search *s, size_t talk)
{
    arena_reset(s->scratch);
    s->talk = talk;
    s->found = s->hoped = false;
    s->request = s->last = STR_NONE;
    s->requests = 0;
    if (!answer_read(s->w, &s->w->talks[talk], on_doc, s)) {
        s->w->unread++;
        return false;
    }
    end_turn(s);
    return s->found;
}

/* -- The list -- */

static void add_stated(Search *s, const Stated *x)
{
    for (size_t i = 0; i < s->n; i++)
        if (answer_is_repeat(s->all[i].text, x->text)) {
            s->all[i].repeats++;
            return;
        }
    ARENA_PUSH(s->w->arena, s->all, s->n, s->cap, *x);
}

static int newest_first(const void *left, const void *right)
{
    const Stated *x = left, *y = right;

    return x->at < y->at ? 1 : x->at > y->at ? -1 : 0;
}

static void put_stated(Search *s, const Stated *x, size_t number)
{
    const Talk *t = &s->w->talks[x->talk];
    Buf *out = s->w->out;

    buf_addf(out, "%zu. ", number);
    answer_date(out, x->at > 0 ? x->at : t->entry.last_at);
    if (s->what == STATEMENT_DECIDED)
        buf_addz(out, x->by_user ? ", you" : ", the agent");
    buf_addz(out, ", in ");
    answer_link(out, t->entry.title, t->entry.id);
    if (x->repeats) {
        buf_addz(out, " (and ");
        answer_plural(out, (int64_t)x->repeats, "session", "sessions");
        buf_addz(out, " with the same result)");
    }
    buf_addz(out, "\n\n");
    render_quote(out, x->text, QUOTE_CHARS);
    buf_addc(out, '\n');
}

static void put_list(Search *s)
{
    for (size_t i = 0; i < s->n && i < SHOWN; i++)
        put_stated(s, &s->all[i], i + 1);
    if (s->n > SHOWN)
        buf_addf(s->w->out, "and %zu more\n", s->n - SHOWN);
}

static void read_all(Search *s)
{
    for (size_t i = 0; i < s->w->n; i++)
        if (read_talk(s, i))
            add_stated(s, &s->best);
    if (s->n)
        qsort(s->all, s->n, sizeof *s->all, newest_first);
}

/* -- Fixed -- */

bool answer_fixed(Answering *w, Err *err)
{
    AUTO(Arena) *scratch = arena_new();
    Search s = { .w = w, .what = STATEMENT_FIXED, .scratch = scratch };
    size_t fixed = 0;

    if (!answer_sessions(w, STR(""), err))
        return false;
    s.topic = words_of(w->arena, w->q->topic, TOPIC_WORDS);
    read_all(&s);
    for (size_t i = 0; i < s.n; i++)
        fixed += 1 + s.all[i].repeats;
    buf_addf(w->out, "%zu of ", fixed);
    answer_plural(w->out, (int64_t)w->n, "session", "sessions");
    buf_addf(w->out, " %s that something was fixed (%.*s)%s\n", fixed == 1 ? "says" : "say",
             STR_FMT(w->period_name), fixed ? ":\n" : ".");
    put_list(&s);
    return true;
}

/* -- Decided -- */

/* Sessions in which the topic's words occur, by the index: reading the whole history would take too
 * long. */
static bool mark_sessions(Search *s, int64_t **ret, size_t *ret_n, Err *err)
{
    const AnswerSource *source = s->w->source;
    SearchQuery query = { .filter = SEARCH_FILTER_NONE };
    Arena *a = s->w->arena;
    Ranking ranking;

    /* As a question of words alone: no sign in it is a filter. */
    query.filter.no_guests = true;
    search_query_parse(a, str_printf(a, "%.*s ?", STR_FMT(text_words(a, s->w->q->topic))), &query);
    if (!recall_rank(source->recall, s->w->arena, &query, 400, &ranking, err))
        return false;
    *ret = ARENA_ARRAY(s->w->arena, int64_t, ranking.n + 1);
    *ret_n = ranking.n;
    for (size_t i = 0; i < ranking.n; i++)
        (*ret)[i] = ranking.hits[i].key;
    return true;
}

static bool has_key(const Talk *t, const int64_t *keys, size_t n)
{
    for (size_t p = 0; p < t->n_parts; p++)
        for (size_t i = 0; i < n; i++)
            if (keys[i] == t->parts[p].key)
                return true;
    return false;
}

static void keep_marked(Answering *w, const int64_t *keys, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++)
        if (has_key(&w->talks[i], keys, n))
            w->talks[kept++] = w->talks[i];
    w->n = kept;
}

bool answer_decided(Answering *w, Err *err)
{
    AUTO(Arena) *scratch = arena_new();
    Search s = { .w = w, .what = STATEMENT_DECIDED, .scratch = scratch };
    int64_t *keys;
    size_t n, all;

    if (!answer_sessions(w, STR(""), err))
        return false;
    all = w->n;
    s.topic = words_of(w->arena, w->q->topic, TOPIC_WORDS);
    if (s.topic.n) {
        if (!mark_sessions(&s, &keys, &n, err))
            return false;
        keep_marked(w, keys, n);
    }
    read_all(&s);
    w->found = s.n > 0;
    if (!s.n)
        buf_addz(w->out, "No message states a decision");
    else
        answer_plural(w->out, (int64_t)s.n, "decision", "decisions");
    if (s.w->q->topic.n) {
        buf_addz(s.w->out, " about \"");
        answer_text(s.w->out, s.w->q->topic, 80);
        buf_addc(s.w->out, '"');
    }
    buf_addz(w->out, s.n ? " in " : ", in ");
    answer_plural(w->out, (int64_t)all, "session", "sessions");
    buf_addf(w->out, " (%.*s)%s\n", STR_FMT(w->period_name), s.n ? ", newest first:\n" : ".\n");
    put_list(&s);
    return true;
}
