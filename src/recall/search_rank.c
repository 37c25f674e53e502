/* Ranking: a first pass over what the pools hold, a second over the best few hundred of it.
 *
 * Each atom of a question is looked up by itself and shares its weight with the neighbours, so that
 * the answer "yes, that one" is found by the words of what it answers. The score is BM25 over those
 * weights. The length of a document is only known once its row is read: the first pass goes
 * without.
 *
 * Of a word that stands in more documents than can be looked at, those of the newest sessions are
 * ranked (search_newest.c). */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "recall/search_state.h"

enum {
    MAX_ROWS = 4000,  /* of one expression in one table */
    MAX_SEEN = 16000, /* with those that a filter passes over */
    SECOND_PASS = 400,
    PREFIX_PAGES = 80, /* of words that begin so; past them the word itself is asked for */
};

static const double K1 = 0.8, B = 0.35, TOOLS_WORTH = 0.7, FRESH = 0.06, DATE_WORTH = 2.5;

typedef struct Rank {
    Recall *r;
    Arena *arena;
    const SearchQuery *q;
    double idf[TABLES][LIMIT_SEARCH_TERMS];
    TableFacts facts[TABLES];
    int64_t except; /* place of the session that does not count, and its documents */
    double except_rows[TABLES];
    bool tables[TABLES];
    bool partial;                    /* did not look at everything */
    int64_t pages;                   /* that beginnings of words may still take */
    bool narrowed;                   /* a beginning of too many words was taken for a word */
    bool narrow[LIMIT_SEARCH_TERMS]; /* in the table at hand */
    int phrase_atoms[LIMIT_SEARCH_TERMS * 3];
} Rank;

/* -- expressions -- */

/* Which rows at all: without what was excluded, and of the role or tool asked for. */
static void add_conditions(Rank *k, Buf *b)
{
    const SearchFilter *f = &k->q->filter;

    if (f->role >= 0 && f->role < DOC_ROLE_COUNT && !k->q->question)
        buf_addf(b, " AND who : \"%.*s\"", STR_FMT(doc_role_term((DocRole)f->role)));
    if (f->tool.n)
        buf_addf(b, " AND who : \"%.*s\"", STR_FMT(doc_tool_term(k->arena, f->tool)));
    for (size_t i = 0; i < k->q->n_without; i++)
        buf_addf(b, "%s%.*s", i ? " OR " : " NOT (", STR_FMT(k->q->without[i].match));
    if (k->q->n_without)
        buf_addc(b, ')');
    if (f->no_guests)
        buf_addz(b, " NOT who : \"" DOC_GUEST_TERM "\"");
}

/* Atoms first..last joined by the word between them, and the conditions. Phrases are counted in the
 * order in which they stand. */
static Str expression(Rank *k, size_t first, size_t last, const char *between)
{
    AUTO_BUF b = BUF(KIB(64));
    int n = 0;

    buf_addc(&b, '(');
    for (size_t i = first; i <= last; i++) {
        Str match = k->narrow[i] ? k->q->atoms[i].instead : k->q->atoms[i].match;

        buf_addf(&b, "%s%.*s", i > first ? between : "", STR_FMT(match));
        for (int j = 0; j < k->q->atoms[i].phrases; j++)
            k->phrase_atoms[n++] = (int)i;
    }
    buf_addc(&b, ')');
    add_conditions(k, &b);
    k->r->gather.atom_of = k->phrase_atoms;
    k->r->gather.n_phrases = n;
    return str_dup(k->arena, buf_str(&b));
}

/* -- gathering -- */

static double idf_of(double rows, double df)
{
    if (df > rows)
        df = rows;
    return log(1 + (rows - df + 0.5) / (df + 0.5));
}

/* How many rows the atom would have had, where reading ended early: as dense as it was so far. */
static double guess_rows(const Gather *g)
{
    return (double)g->seen / (g->covered < 0.001 ? 0.001 : g->covered);
}

static void gather_begin(Rank *k, bool spread)
{
    Gather *g = &k->r->gather;
    const SearchFilter *f = &k->q->filter;

    *g = (Gather){ .spread = spread,
                   .filtered = !recall_is_plain(f),
                   .except = k->except,
                   .atom_of = g->atom_of,
                   .n_phrases = g->n_phrases };
}

static bool has_prefix(const Rank *k, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        if (k->q->atoms[i].begins.n && !k->narrow[i])
            return true;
    return false;
}

/* The pages of all beginnings in both tables together: what was said comes first. */
static bool choose_narrow(Rank *k, int table, Err *err)
{
    int64_t pages;

    for (size_t i = 0; i < k->q->n; i++) {
        k->narrow[i] = false;
        if (!k->q->atoms[i].begins.n)
            continue;
        if (!recall_prefix_pages(k->r, table, k->q->atoms[i].begins, &pages, err))
            return false;
        k->narrow[i] = pages > k->pages;
        k->narrowed |= k->narrow[i];
        k->pages -= k->narrow[i] ? 0 : pages;
    }
    return true;
}

/* A beginning of words is looked up as a whole however short the stretch is, so that stretches
 * would only repeat the work. */
static GatherHow how_to(const Rank *k, size_t first, size_t last)
{
    Str match = k->narrow[first] ? k->q->atoms[first].instead : k->q->atoms[first].match;

    if (has_prefix(k, first, last))
        return GATHER_WHOLE;
    return first == last && !k->q->n_without && !k->q->filter.tool.n &&
                   str_find(match, STR(" ")) == match.n
               ? GATHER_ALONE
               : GATHER_STRETCHES;
}

/* *ret_common: there may be more of them. */
static bool gather_newest(Rank *k, int table, Str match, GatherHow how, bool *ret_common, Err *err)
{
    int64_t max = k->r->gather.filtered ? MAX_SEEN : MAX_ROWS;

    if (!recall_gather_newest(k->r, table, match, how, &k->q->filter, max, ret_common, err))
        return false;
    k->partial |= *ret_common;
    if (k->r->gather.seen) {
        k->facts[table] = k->r->gather.facts;
        k->facts[table].rows -= k->except_rows[table];
    }
    return true;
}

/* Any of the atoms: each by itself. */
static bool gather_any(Rank *k, int table, Err *err)
{
    for (size_t i = 0; i < k->q->n; i++) {
        bool common = false;
        Str match = expression(k, i, i, "");

        gather_begin(k, table == TABLE_SAID && k->q->question);
        if (!gather_newest(k, table, match, how_to(k, i, i), &common, err))
            return false;
        k->idf[table][i] = idf_of(k->facts[table].rows,
                                  common ? guess_rows(&k->r->gather) : (double)k->r->gather.seen);
    }
    return true;
}

/* All of them in one document. Their idf does not matter then. */
static bool gather_all(Rank *k, int table, Err *err)
{
    Str match = expression(k, 0, k->q->n - 1, " AND ");
    bool common;

    for (size_t i = 0; i < k->q->n; i++)
        k->idf[table][i] = 1;
    gather_begin(k, false);
    return gather_newest(k, table, match, how_to(k, 0, k->q->n - 1), &common, err);
}

/* -- first pass -- */

typedef struct Candidate {
    int64_t row;
    int table;
    const float *weights;
    double score, newest; /* newest: when its session was last written */
} Candidate;

typedef struct Best {
    Candidate all[SECOND_PASS]; /* a heap, the worst on top */
    size_t n;
} Best;

/* Newer is better where all else is the same. */
static bool is_worse(const Candidate *a, const Candidate *b)
{
    if (a->score != b->score)
        return a->score < b->score;
    return a->newest != b->newest ? a->newest < b->newest : a->row < b->row;
}

static void sift_down(Best *b, size_t i)
{
    for (;;) {
        size_t worst = i, left = 2 * i + 1;
        Candidate swap;

        for (size_t c = left; c < left + 2 && c < b->n; c++)
            if (is_worse(&b->all[c], &b->all[worst]))
                worst = c;
        if (worst == i)
            return;
        swap = b->all[i];
        b->all[i] = b->all[worst];
        b->all[worst] = swap;
        i = worst;
    }
}

static void offer(Best *b, Candidate c)
{
    if (b->n < SECOND_PASS) {
        b->all[b->n++] = c;
        if (b->n == SECOND_PASS)
            for (size_t i = b->n / 2; i-- > 0;)
                sift_down(b, i);
    } else if (is_worse(&b->all[0], &c)) {
        b->all[0] = c;
        sift_down(b, 0);
    }
}

/* BM25, times the square of how much of what was asked for is there at all: a place where all words
 * come together, if spread over neighbours, is worth more than one that repeats half of them. */
static double score_of(const Rank *k, int table, const float *weights, double length)
{
    double norm = K1 * (1 - B + B * length / k->facts[table].length), score = 0;
    double found = 0, all = 0, share;

    for (size_t i = 0; i < k->q->n; i++) {
        all += k->idf[table][i];
        if (weights[i] > 0) {
            score += k->idf[table][i] * weights[i] * (K1 + 1) / (weights[i] + norm);
            found += k->idf[table][i];
        }
    }
    share = all > 0 ? found / all : 1;
    score *= share * share;
    return table == TABLE_TOOLS ? score * TOOLS_WORTH : score;
}

static void first_pass(Rank *k, int table, Best *best)
{
    const Pool *p = &k->r->pools[table];

    for (size_t i = 0; i < p->n; i++) {
        const float *w = pool_weights(p, i);

        offer(best,
              (Candidate){ p->rows[i], table, w, score_of(k, table, w, k->facts[table].length),
                           recall_session_newest(k->r, DOC_ORD(p->rows[i])) });
    }
}

/* -- second pass -- */

static bool read_doc(Rank *k, const Candidate *c, Ranked *ret, double *ret_terms, bool *ret_found,
                     Err *err)
{
    AUTO(DbRows) *rows = NULL;

    *ret = (Ranked){ .id = DOC_ID(c->row, c->table), .ord = DOC_ORD(c->row) };
    if (!db_query(k->r->db, &rows, err,
                  "SELECT place, line, part, role, at, terms FROM recall_docs WHERE id = ?",
                  INT(ret->id)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found) {
        ret->place = row_int(rows, 0);
        ret->line = row_int(rows, 1);
        ret->part = (int)row_int(rows, 2);
        ret->role = (DocRole)(row_int(rows, 3) & ~DOC_OF_GUEST);
        ret->guest = row_int(rows, 3) & DOC_OF_GUEST;
        ret->at = (double)row_int(rows, 4) / 1000;
        *ret_terms = row_real(rows, 5);
    }
    return true;
}

static bool passes(const SearchFilter *f, const Ranked *d)
{
    if (f->role >= 0 && f->role < DOC_ROLE_COUNT && (int)d->role != f->role)
        return false;
    if (f->no_guests && d->guest) /* found by the words of its neighbours */
        return false;
    return f->since <= 0 || d->at >= f->since;
}

static double freshness(double at)
{
    double days = (clock_wall() - at) / 86400;

    return 1 / (1 + (days > 0 ? days : 0) / 30);
}

static double final_score(const Rank *k, const Candidate *c, const Ranked *d, double terms)
{
    double score = score_of(k, c->table, c->weights, terms);

    if (k->q->until > 0 && d->at >= k->q->from && d->at < k->q->until)
        score += DATE_WORTH;
    return score * (1 + FRESH * freshness(d->at));
}

static int best_first(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->at != y->at)
        return x->at < y->at ? 1 : -1;
    return x->id < y->id ? 1 : x->id > y->id ? -1 : 0;
}

bool recall_session_key(Recall *r, int64_t ord, int64_t *ret, Err *err)
{
    return db_get_int(r->db, -1, ret, err, "SELECT key FROM recall_sessions WHERE ord = ?",
                      INT(ord));
}

/* The session's key and the tool's name: only for what is handed out. */
static bool complete(Rank *k, Ranked *d, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!recall_session_key(k->r, d->ord, &d->key, err))
        return false;
    if (d->role < DOC_CALL)
        return true;
    if (!db_query(k->r->db, &rows, err,
                  "SELECT name FROM recall_names WHERE id = (SELECT tool FROM recall_docs WHERE id "
                  "= ?)",
                  INT(d->id)) ||
        !db_row(rows, &row, err))
        return false;
    if (row)
        d->tool = str_dup(k->arena, row_text(rows, 0));
    return true;
}

static bool second_pass(Rank *k, const Best *best, size_t max, Ranking *ret, Err *err)
{
    Ranked *all = ARENA_ARRAY(k->arena, Ranked, best->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < best->n; i++) {
        double terms = 0;
        bool found = false;

        if (!read_doc(k, &best->all[i], &all[n], &terms, &found, err))
            return false;
        if (!found || !passes(&k->q->filter, &all[n]))
            continue;
        all[n].score = final_score(k, &best->all[i], &all[n], terms);
        n++;
    }
    qsort(all, n, sizeof *all, best_first);
    ret->more = n > max;
    ret->hits = all;
    ret->n = n < max ? n : max;
    for (size_t i = 0; i < ret->n; i++)
        if (!complete(k, &all[i], err))
            return false;
    return true;
}

/* -- all of it -- */

static bool gather_tables(Rank *k, bool (*how)(Rank *k, int table, Err *err), size_t *ret_found,
                          Err *err)
{
    *ret_found = 0;
    k->pages = PREFIX_PAGES;
    for (int t = 0; t < TABLES; t++) {
        pool_clear(&k->r->pools[t], k->q->n);
        if (!k->tables[t])
            continue;
        if (!choose_narrow(k, t, err) || !how(k, t, err))
            return false;
        *ret_found += k->r->pools[t].n;
    }
    return true;
}

/* A request that is indexed while it is worked on must not change what its own words are worth. */
static bool find_except(Rank *k, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!k->q->filter.except)
        return true;
    if (!db_query(k->r->db, &rows, err,
                  "SELECT ord, said, tools FROM recall_sessions WHERE key = ?",
                  INT(k->q->filter.except)) ||
        !db_row(rows, &row, err))
        return false;
    if (row) {
        k->except = row_int(rows, 0);
        k->except_rows[TABLE_SAID] = row_real(rows, 1);
        k->except_rows[TABLE_TOOLS] = row_real(rows, 2);
    }
    return true;
}

bool recall_rank(Recall *r, Arena *a, const SearchQuery *query, size_t max, Ranking *ret, Err *err)
{
    Rank *k = ARENA_NEW(a, Rank);
    Best *best = ARENA_NEW(a, Best);
    int role = query->filter.role;
    size_t found = 0;

    *k = (Rank){ .r = r, .arena = a, .q = query };
    *ret = (Ranking){ 0 };
    if (!query->n)
        return true;
    if (!find_except(k, err))
        return false;
    k->tables[TABLE_SAID] = role < DOC_CALL && !query->filter.tool.n;
    k->tables[TABLE_TOOLS] = role < 0 || role >= DOC_CALL;
    if (!gather_tables(k, query->question ? gather_any : gather_all, &found, err))
        return false;
    if (!found && !query->question && query->n > 1) {
        ret->some = true;
        if (!gather_tables(k, gather_any, &found, err))
            return false;
    }
    for (int t = 0; t < TABLES; t++)
        first_pass(k, t, best);
    ret->partial = k->partial || k->narrowed;
    ret->narrowed = k->narrowed;
    return second_pass(k, best, max, ret, err);
}
