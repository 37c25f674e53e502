/* recall_measure.h - two indexes over the same turns, ours and FTS5 as it comes, asked the same. */
#ifndef TALARIA_BENCH_RECALL_MEASURE_H
#define TALARIA_BENCH_RECALL_MEASURE_H

#include "base/buf.h"
#include "base/clock.h"
#include "embedded.h"
#include "recall/search.h"
#include "recall_talk.h"

enum { RECALL_TOP = 10 };

typedef struct Recalls {
    double at_1, at_5, at_10, mrr; /* sums over the questions asked */
    double ms;                     /* of CPU, over all of them */
    size_t asked;
} Recalls;

/* The tables, in an empty database; one transaction is open when it returns. */
static bool measure_begin(Db *db, Err *err)
{
    return db_script(db, (const char *)data_schema_index_003_sql, err) &&
           db_script(db, "CREATE VIRTUAL TABLE plain USING fts5(text, tokenize='unicode61')",
                     err) &&
           db_script(db, "BEGIN", err);
}

static bool measure_add(Db *db, RecallIndex *x, const TalkTurn *t, size_t i, Err *err)
{
    Doc d = { .role = i % 2 ? DOC_ASSISTANT : DOC_USER,
              .who = t->who,
              .text = t->text,
              .at = t->at,
              .place = (int64_t)i };
    AUTO(DbRows) *plain = NULL;
    bool row;

    if (!db_query(db, &plain, err, "INSERT INTO plain(rowid, text) VALUES(?, ? || ': ' || ?)",
                  INT(i + 1), TEXT(t->who), TEXT(t->text)))
        return false;
    return db_row(plain, &row, err) && recall_index_add(x, &d, err);
}

static bool measure_fill(Db *db, const TalkTurn *turns, size_t n, Err *err)
{
    AUTO(RecallIndex) *x = recall_index_open(db, err);
    DocSession s = { 0 };

    if (!x)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || turns[i].session != turns[i - 1].session;
        bool last = i + 1 == n || turns[i].session != turns[i + 1].session;

        s.key = turns[i].session + 1;
        s.last_at = turns[i].at;
        if ((first && !recall_index_begin(x, &s, false, err)) ||
            !measure_add(db, x, &turns[i], i, err) || (last && !recall_index_end(x, &s, err)))
            return false;
    }
    return recall_index_flush(x, err) && db_script(db, "COMMIT", err);
}

/* Turns best first, from ours. */
static bool measure_ours(Recall *r, Arena *a, Str question, size_t *ret, size_t *ret_n, Err *err)
{
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };
    Ranking ranking;

    search_query_parse(a, question, &q);
    if (!recall_rank(r, a, &q, RECALL_TOP, &ranking, err))
        return false;
    for (size_t i = 0; i < ranking.n; i++)
        ret[i] = (size_t)ranking.hits[i].place;
    *ret_n = ranking.n;
    return true;
}

/* The question's words, each quoted, joined by OR: what one gets without further thought. */
static Str plain_match(Arena *a, Str question)
{
    AUTO_BUF b = BUF(8192);
    size_t i = 0;

    while (i < question.n) {
        size_t from = i;

        while (i < question.n && ((question.p[i] | 32) >= 'a' && (question.p[i] | 32) <= 'z'))
            i++;
        while (i > from ? false : i < question.n && question.p[i] >= '0' && question.p[i] <= '9')
            i++;
        if (i > from)
            buf_addf(&b, "%s\"%.*s\"", b.n ? " OR " : "", (int)(i - from), question.p + from);
        else
            i++;
    }
    return str_dup(a, buf_str(&b));
}

/* Turns best first, from a table that has them by their number. */
static bool measure_sql(Db *db, const char *sql, Str match, size_t *ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = true;

    *ret_n = 0;
    if (!db_query_once(db, &rows, err, sql, TEXT(match)))
        return false;
    while (row) {
        if (!db_row(rows, &row, err))
            return false;
        if (row)
            ret[(*ret_n)++] = (size_t)row_int(rows, 0) - 1;
    }
    return true;
}

/* A question with several answers counts by the share of them that was found. */
static void measure_count(Recalls *to, const size_t *found, size_t n, const size_t *answers,
                          size_t n_answers)
{
    size_t first = 0;

    to->asked++;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_answers; k++) {
            double share = 1.0 / (double)n_answers;

            if (found[i] != answers[k])
                continue;
            if (!first)
                first = i + 1;
            to->at_1 += i < 1 ? share : 0;
            to->at_5 += i < 5 ? share : 0;
            to->at_10 += share;
        }
    if (first)
        to->mrr += 1.0 / (double)first;
}

static bool measure_ask(Db *db, Recall *r, Str question, const size_t *answers, size_t n_answers,
                        Recalls *ours, Recalls *plain, Err *err)
{
    static const char sql[] =
        "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT 10";
    AUTO(Arena) *a = arena_new();
    size_t found[RECALL_TOP], n;
    int64_t start = clock_cpu_ns();

    if (!measure_ours(r, a, question, found, &n, err))
        return false;
    ours->ms += (double)(clock_cpu_ns() - start) / 1e6;
    measure_count(ours, found, n, answers, n_answers);
    start = clock_cpu_ns();
    if (!measure_sql(db, sql, plain_match(a, question), found, &n, err))
        return false;
    plain->ms += (double)(clock_cpu_ns() - start) / 1e6;
    measure_count(plain, found, n, answers, n_answers);
    return true;
}

#endif
