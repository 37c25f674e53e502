/* recall_columns.h - the other way to have neighbours count: each turn is stored with what stands
 * around it in columns of their own, and FTS5's bm25() weighs the columns. Only for comparing. */
#ifndef TALARIA_BENCH_RECALL_COLUMNS_H
#define TALARIA_BENCH_RECALL_COLUMNS_H

#include <time.h>

#include "recall_measure.h"

static bool columns_begin(Db *db, Err *err)
{
    return db_script(db,
                     "CREATE VIRTUAL TABLE columns USING fts5(speaker, text, near, far, date, "
                     "tokenize = 'porter unicode61', content = '', contentless_delete = 1)",
                     err);
}

/* The turns `away` before and behind, of the same session. */
static Str columns_around(Arena *a, const TalkTurn *turns, size_t n, size_t i, size_t away)
{
    bool before = i >= away && turns[i - away].session == turns[i].session;
    bool behind = i + away < n && turns[i + away].session == turns[i].session;

    return str_printf(a, "%.*s\n%.*s", STR_FMT(before ? turns[i - away].text : STR("")),
                      STR_FMT(behind ? turns[i + away].text : STR("")));
}

static bool columns_add(Db *db, const TalkTurn *turns, size_t n, size_t i, Err *err)
{
    AUTO(Arena) *a = arena_new();
    time_t at = (time_t)turns[i].at;
    char date[64];
    struct tm tm;

    gmtime_r(&at, &tm);
    strftime(date, sizeof date, "%e %B %Y", &tm);
    return db_exec(db, NULL, err,
                   "INSERT INTO columns(rowid, speaker, text, near, far, date) "
                   "VALUES(?, ?, ?, ?, ?, ?)",
                   INT((int64_t)i + 1), TEXT(turns[i].who), TEXT(turns[i].text),
                   TEXT(columns_around(a, turns, n, i, 1)), TEXT(columns_around(a, turns, n, i, 2)),
                   TEXT(str_of(date)));
}

static bool columns_fill(Db *db, const TalkTurn *turns, size_t n, Err *err)
{
    if (!db_script(db, "BEGIN", err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!columns_add(db, turns, n, i, err))
            return false;
    return db_script(db, "COMMIT", err);
}

/* The words that say something, as ours asks for them. */
static Str columns_match(Arena *a, Str question)
{
    AUTO_BUF b = BUF(8192);
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };

    search_query_parse(a, question, &q);
    for (size_t i = 0; i < q.n; i++)
        buf_addf(&b, "%s\"%.*s\"", i ? " OR " : "", STR_FMT(q.atoms[i].text));
    return str_dup(a, buf_str(&b));
}

static bool columns_ask(Db *db, Str question, const size_t *answers, size_t n_answers, Recalls *ret,
                        Err *err)
{
    static const char sql[] = "SELECT rowid FROM columns WHERE columns MATCH ? "
                              "ORDER BY bm25(columns, 1, 1, 0.5, 0.25, 0.5) LIMIT 10";
    AUTO(Arena) *a = arena_new();
    int64_t start = clock_cpu_ns();
    size_t found[RECALL_TOP], n = 0;

    if (!measure_sql(db, sql, columns_match(a, question), found, &n, err))
        return false;
    ret->ms += (double)(clock_cpu_ns() - start) / 1e6;
    measure_count(ret, found, n, answers, n_answers);
    return true;
}

#endif
