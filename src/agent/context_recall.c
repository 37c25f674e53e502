/* What other sessions have to say. Requests and answers are asked for apart, so that tool output,
 * of which there is most, does not crowd them out; then one passage a lineage. Whether anything is
 * about the request at all is decided by its words, not by the score alone: a score says which is
 * best, not whether that is any good. */
#include <stdlib.h>

#include "agent/answer.h"
#include "agent/context.h"
#include "base/limits.h"
#include "recall/near.h"
#include "recall/skills_words.h"
#include "recall/snippet.h"
#include "runtimes/runtimes.h"
#include "text/utf8.h"

enum {
    WORDS = 12,
    CANDIDATES = 48,
    ALL_CANDIDATES = 400, /* where the first ones only repeat the request */
    LINEAGE_STEPS = 32,
    NEAR_WORDS_CHARS = 4000,
    SHORT_REQUEST = 200,
    TURN_STEPS = 64
};

static const double DEMOTED = 0.5, LEAST = 0.3; /* of the best */
static const double NARRATION = 0.25; /* what was said before a tool call, not what came of it */

typedef struct Candidate {
    Ranked at;
    Entry entry;
    Str root;
    double score;
} Candidate;

typedef struct Recalling {
    const ContextQuery *q;
    Arena *arena;
    Words words;
    DocReader *reader;
    Candidate *all;
    size_t n, cap;
    Str own_root;
    int64_t own_key; /* of the conversation itself in the catalogue; 0: it is not there yet */
} Recalling;

/* The request as a question of its first words: none of its signs is a filter or a phrase. */
static Str question_of(Arena *a, Str text)
{
    AUTO_BUF b = BUF(LIMIT_SEARCH_QUERY);
    TermIter it = { .rest = str_head(text, LIMIT_REQUEST_READ), .plain = true };
    size_t words = 0;
    bool in_run = false;
    Term t;

    while (words < WORDS && b.n < LIMIT_SEARCH_QUERY / 2 && term_next(&it, &t)) {
        bool pair = t.pair && !t.last;

        if (!t.pair) {
            buf_addf(&b, "%s%.*s", b.n ? " " : "", STR_FMT(term_str(&t)));
            words += !term_is_stop(term_str(&t));
        } else if (!in_run && b.n) {
            buf_addc(&b, ' ');
        }
        /* A run of pairs is written out again as the characters that it is made of. */
        if (t.pair && !(t.last && in_run))
            buf_add(&b, t.last ? t.place : utf8_head(t.place, 3));
        if (t.pair && t.last && in_run)
            buf_add(&b, t.place);
        words += pair;
        in_run = pair;
    }
    buf_addz(&b, " ?");
    return str_dup(a, buf_str(&b));
}

/* -- Whose session it is -- */

static Str root_of(Recalling *r, const Entry *e)
{
    Entry at = *e;
    Err err;

    for (int i = 0; i < LINEAGE_STEPS && at.parent.n; i++) {
        Entry parent;

        if (!catalogue_find(r->q->catalogue, r->arena, at.parent, &parent, &err))
            return at.parent;
        at = parent;
    }
    return at.id;
}

static bool is_in(Str id, Str text)
{
    return id.n && str_find(text, id) < text.n;
}

static bool is_own(const Recalling *r, const Candidate *c)
{
    if (str_eq(c->entry.id, r->q->conversation_id) ||
        (r->own_root.n && str_eq(c->root, r->own_root)))
        return true;
    for (size_t i = 0; i < r->q->n_own_ids; i++)
        if (is_in(c->entry.id, r->q->own_ids[i]) || is_in(c->root, r->q->own_ids[i]))
            return true;
    return false;
}

static bool is_automation(const Entry *e)
{
    return e->side_chain ||
           (e->entrypoint.n && str_is_one_of(e->entrypoint, "cron|subagent|tool|kanban|batch"));
}

/* -- Candidates -- */

static bool rank_role(Recalling *r, Str question, DocRole role, size_t max, Err *err)
{
    SearchQuery query = { .filter = SEARCH_FILTER_NONE };
    Ranking ranking;

    query.filter.role = (int)role;
    search_query_parse(r->arena, question, &query);
    query.filter.except = r->own_key;
    query.filter.no_guests = true;
    if (!recall_rank(r->q->recall, r->arena, &query, max, &ranking, err))
        return false;
    for (size_t i = 0; i < ranking.n; i++) {
        Candidate c = { .at = ranking.hits[i], .score = ranking.hits[i].score };
        Err why;

        if (!catalogue_get(r->q->catalogue, r->arena, c.at.key, &c.entry, &why))
            continue;
        c.root = root_of(r, &c.entry);
        if (is_automation(&c.entry))
            c.score *= DEMOTED;
        if (!is_own(r, &c))
            ARENA_PUSH(r->arena, r->all, r->n, r->cap, c);
    }
    return true;
}

static int best_first(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->at.id < y->at.id ? 1 : x->at.id > y->at.id ? -1 : 0;
}

/* -- Reading -- */

static Str read_doc(Recalling *r, const Candidate *c, const Ranked *at)
{
    Str text = STR("");
    Err err;

    if (!doc_read(r->reader, r->arena, &c->entry, at->place, at->line, at->part, &text, &err))
        return STR("");
    return text;
}

static Str text_near(Recalling *r, const Candidate *c, const Ranked *at, int steps)
{
    Ranked near;
    bool found = false;
    Err err;

    if (!recall_near(catalogue_db(r->q->catalogue), at, steps, &near, &found, &err) || !found ||
        near.guest)
        return STR("");
    return read_doc(r, c, &near);
}

/* What came of a request: the agent's last words before the user's next ones. */
static Str text_after(Recalling *r, const Candidate *c, const Ranked *at)
{
    Ranked near, last = *at;
    bool found = true;
    Err err;

    if (at->role != DOC_USER)
        return text_near(r, c, at, 1);
    for (int steps = 1; steps <= TURN_STEPS && found; steps++) {
        if (!recall_near(catalogue_db(r->q->catalogue), at, steps, &near, &found, &err) || !found ||
            near.guest || near.role != DOC_ASSISTANT)
            break;
        last = near;
    }
    return last.role == DOC_ASSISTANT ? read_doc(r, c, &last) : STR("");
}

static size_t words_of_turn(const Recalling *r, Str text)
{
    return words_in(r->arena, &r->words, str_head(text, NEAR_WORDS_CHARS), NULL);
}

/* Ranking weighs the turns around one, too: "thanks, that was it" is found by the words of what it
 * is about. The passage is then the turn beside it that has the words. */
static Ranked passage_of(Recalling *r, const Candidate *c)
{
    Ranked best = c->at;
    size_t max = words_of_turn(r, read_doc(r, c, &c->at));

    for (int steps = -1; steps <= 1; steps += 2) {
        Ranked near;
        bool found = false;
        size_t n;
        Err err;

        if (!recall_near(catalogue_db(r->q->catalogue), &c->at, steps, &near, &found, &err) ||
            !found || near.guest)
            continue;
        n = words_of_turn(r, read_doc(r, c, &near));
        if (n > max) {
            max = n;
            best = near;
        }
    }
    return best;
}

/* What was found once says nothing new: neither an answer that only quoted, nor the question to
 * it. */
static bool is_echo(const Recalling *r, const Recalled *hit)
{
    Str text = str_trim(hit->text);
    bool same = str_eq(text, str_trim(r->q->text));

    if (offline_said(text) || (same && !hit->after.n))
        return true;
    /* A short request that was answered from the history asked, and told nothing. */
    return offline_said(hit->after) && (same || text.n < SHORT_REQUEST);
}

static bool is_narration(const Recalling *r, const Ranked *at)
{
    bool narration = false;
    Err err;

    return recall_is_narration(catalogue_db(r->q->catalogue), at, &narration, &err) && narration;
}

/* False: it is not about the request, or not there any more. */
static bool take(Recalling *r, const Candidate *c, Ranked at, Str text, Recalled *ret)
{
    Str all, which;
    size_t n;

    *ret = (Recalled){ .session = c->entry.id,
                       .title = c->entry.title,
                       .at = at.at,
                       .role = at.role,
                       .text = text,
                       .before = text_near(r, c, &at, -1),
                       .after = text_after(r, c, &at) };
    all = str_printf(r->arena, "%.*s\n%.*s\n%.*s", STR_FMT(str_head(ret->text, NEAR_WORDS_CHARS)),
                     STR_FMT(str_head(ret->before, NEAR_WORDS_CHARS)),
                     STR_FMT(str_head(ret->after, NEAR_WORDS_CHARS)));
    n = words_in(r->arena, &r->words, all, &which);
    ret->narration = is_narration(r, &at);
    ret->score = c->score * (double)n / (double)r->words.n * (ret->narration ? NARRATION : 1);
    ret->id =
        str_printf(r->arena, "%.*s/%lld.%d", STR_FMT(c->entry.id), (long long)at.place, at.part);
    ret->why = str_printf(r->arena, "%zu of %zu words: %.*s%s", n, r->words.n, STR_FMT(which),
                          is_automation(&c->entry) ? "; automation, half its score" : "");
    return ret->text.n && words_enough(n, r->words.n) && words_of_turn(r, ret->text) &&
           !is_echo(r, ret);
}

static bool root_is_taken(const Str *roots, size_t n, Str root)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(roots[i], root))
            return true;
    return false;
}

static int better_first(const void *a, const void *b)
{
    const Recalled *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->at < y->at ? 1 : x->at > y->at ? -1 : str_cmp(x->id, y->id);
}

/* Of passages that say the same the best one stays; they are in order. Narration is for want of
 * anything better. */
static size_t drop_repeats(Recalled *hits, size_t n)
{
    bool better = false;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        better |= !hits[i].narration;
    for (size_t i = 0; i < n; i++) {
        bool repeat = better && hits[i].narration;

        for (size_t k = 0; k < kept && !repeat; k++)
            repeat = answer_is_repeat(hits[k].text, hits[i].text);
        if (!repeat)
            hits[kept++] = hits[i];
    }
    return kept;
}

/* More are read than are wanted: only who has read a turn knows how many of the words are there. A
 * request that was made before is the best match of itself and tells nothing new: one of those is
 * enough, and neither their number nor their score keeps anything else out. False: there was
 * nothing else. */
static bool take_best(Recalling *r, size_t max, Recalled **ret, size_t *ret_n)
{
    size_t read = 0, n = 0, enough = max * 3;
    double best = 0;
    bool asked = false;
    Str *roots = ARENA_ARRAY(r->arena, Str, enough + 1);
    Recalled *hits = ARENA_ARRAY(r->arena, Recalled, enough + 1);

    for (size_t i = 0; i < r->n && read < enough; i++) {
        const Candidate *c = &r->all[i];
        Ranked at;
        bool asks;
        Str text;

        if (c->score < LEAST * best)
            break;
        if (root_is_taken(roots, n, c->root))
            continue;
        at = passage_of(r, c);
        text = read_doc(r, c, &at);
        asks = answer_is_repeat(r->q->text, text);
        if (asks && asked)
            continue;
        if (!asks) {
            read++;
            best = best > 0 ? best : c->score;
        }
        if (take(r, c, at, text, &hits[n])) {
            roots[n++] = c->root;
            asked |= asks;
        }
    }
    qsort(hits, n, sizeof *hits, better_first);
    n = drop_repeats(hits, n);
    *ret = hits;
    *ret_n = n < max ? n : max;
    return read > 0;
}

static bool rank_all(Recalling *r, Str question, size_t max, Err *err)
{
    r->n = 0;
    if (!rank_role(r, question, DOC_USER, max, err) ||
        !rank_role(r, question, DOC_ASSISTANT, max, err))
        return false;
    if (r->n)
        qsort(r->all, r->n, sizeof *r->all, best_first);
    return true;
}

bool context_recall(Arena *a, const ContextQuery *query, size_t max, Recalled **ret, size_t *ret_n,
                    Err *err)
{
    Recalling r = { .q = query, .arena = a };
    Str question;
    bool ok = true;
    Entry own;
    Err why;

    *ret = NULL;
    *ret_n = 0;
    if (!query->recall || !query->catalogue)
        return err_set(err, ERR_NOT_FOUND, "there is no search index");
    r.words = words_of(a, str_head(query->text, LIMIT_REQUEST_READ), WORDS);
    if (!r.words.n)
        return true;
    if (query->conversation_id.n > 3 &&
        catalogue_find(query->catalogue, a, query->conversation_id, &own, &why)) {
        r.own_key = own.key;
        r.own_root = root_of(&r, &own);
    }
    question = question_of(a, query->text);
    if (!rank_all(&r, question, CANDIDATES, err))
        return false;
    if (!r.n)
        return true;
    r.reader = doc_reader_new(query->homes);
    if (!take_best(&r, max, ret, ret_n)) {
        ok = rank_all(&r, question, ALL_CANDIDATES, err);
        if (ok)
            (void)take_best(&r, max, ret, ret_n);
    }
    r.reader = doc_reader_free(r.reader);
    return ok;
}
