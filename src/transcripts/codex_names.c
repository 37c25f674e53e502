#include "transcripts/codex_names.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "store/db.h"
#include "text/json.h"
#include "transcripts/line.h"

static const char index_name[] = "session_index.jsonl", database_name[] = "state_5.sqlite";

typedef struct Names {
    CodexThreadName *all;
    size_t n, cap;
} Names;

/* -- the index -- */

static void take_line(Arena *a, Names *names, Str line)
{
    AUTO(JsonDoc) *doc = NULL;
    CodexThreadName one = { .at = names->n };
    Err ignored;

    if (!str_trim(line).n || !(doc = json_parse(line, &ignored)))
        return;
    one.id = str_dup(a, json_str(json_get(json_root(doc), STR("id"))));
    one.name = str_dup(a, str_trim(json_str(json_get(json_root(doc), STR("thread_name")))));
    if (one.id.n)
        ARENA_PUSH(a, names->all, names->n, names->cap, one);
}

static int by_id(const void *left, const void *right)
{
    const CodexThreadName *a = left, *b = right;
    int order = str_cmp(a->id, b->id);

    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static void keep_last(Names *names)
{
    size_t kept = 0;

    for (size_t i = 0; i < names->n; i++)
        if (i + 1 == names->n || !str_eq(names->all[i].id, names->all[i + 1].id))
            names->all[kept++] = names->all[i];
    names->n = kept;
}

static bool from_index(Arena *a, Str root, Names *names)
{
    Str text, path = str_join_path(a, root, str_of(index_name));
    size_t line = 0;
    Err err;

    if (!file_read(a, str_z(a, path), LIMIT_CODEX_INDEX_BYTES, &text, &err)) {
        if (err.kind != ERR_NOT_FOUND)
            log_debug("names of threads are not read: %s", err.text);
        return err.kind != ERR_NOT_FOUND;
    }
    while (line < text.n) {
        size_t end = line + str_find(str_skip(text, line), STR("\n"));

        take_line(a, names, str_head(str_skip(text, line), end - line));
        line = end + 1;
    }
    return true;
}

/* -- the database -- */

static bool read_rows(Arena *a, Db *db, Names *names, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool ok;

    if (!db_has_column(db, "threads", "id") || !db_has_column(db, "threads", "name"))
        return true;
    if (!db_query(db, &rows, err, "SELECT id, name FROM threads WHERE name <> ''"))
        return false;
    while (db_next(rows, &ok, err)) {
        ARENA_PUSH(a, names->all, names->n, names->cap,
                   ((CodexThreadName){ .id = str_dup(a, row_text(rows, 0)),
                                       .name = str_dup(a, row_text(rows, 1)) }));
    }
    return ok;
}

static void from_database(Arena *a, Str root, Names *names)
{
    AUTO(Db) *db = NULL;
    Err err;

    db = db_open_read(str_z(a, str_join_path(a, root, str_of(database_name))), &err);
    if (db ? !read_rows(a, db, names, &err) : err.kind != ERR_NOT_FOUND)
        log_debug("names of threads are not read: %s", err.text);
}

/* -- both -- */

void codex_names(Arena *a, Str root, CodexThreadName **ret, size_t *ret_n)
{
    Names names = { 0 };

    if (!from_index(a, root, &names))
        from_database(a, root, &names);
    if (names.n)
        qsort(names.all, names.n, sizeof *names.all, by_id);
    keep_last(&names);
    *ret = names.all;
    *ret_n = names.n;
}

void codex_names_stamp(Arena *a, Str root, Stamp *stamp)
{
    const char *files[] = { index_name, database_name, "state_5.sqlite-wal" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct stat st;
        uint64_t hash = i + 1;

        if (stat(str_z(a, str_join_path(a, root, str_of(files[i]))), &st) != 0)
            continue;
        hash = hash_number(hash_number(hash, (uint64_t)st.st_size), (uint64_t)st.st_mtim.tv_sec);
        stamp_add(stamp, hash_number(hash, (uint64_t)st.st_mtim.tv_nsec));
        if (i == 0)
            return;
    }
}
