/* Files: what is there is joined with what is known, both in order of path. A file whose size, time
 * and inode are the same is not opened. */
#include <stdlib.h>

#include "base/log.h"
#include "transcripts/catalogue_inside.h"
#include "transcripts/codex_names.h"

typedef struct FilesRun {
    Update *u;
    Reader *reader;
    TranscriptFile *files;
    Known **known_of; /* by file; NULL: new */
    size_t n, at;     /* at: where the joining stands */
    Known *lost;      /* entries without a file */
    size_t lost_n, lost_cap;
} FilesRun;

/* Stands for every entry whose file is as it was: nothing more is kept of those. */
static Known unchanged;

static void on_anew(void *ctx)
{
    update_anew(ctx);
}

static Entry fresh_entry(const TranscriptFile *f)
{
    return (Entry){ .source = f->source,
                    .home = STR(""),
                    .id = f->stem,
                    .path = f->path,
                    .parent = f->parent,
                    .side_chain = f->side_chain,
                    .archived = f->archived };
}

/* A file that cannot be read is left for the next time; the others are not kept waiting. */
static bool pass_over(Update *u, const TranscriptFile *f)
{
    Err why = *u->err;

    if (why.kind == ERR_INTERRUPTED || !update_drop(u))
        return false;
    u->waits = true;
    if (why.kind != ERR_NOT_FOUND)
        log_warning("'%.*s' is left out: %s", STR_FMT(f->path), why.text);
    return true;
}

static bool read_one(FilesRun *run, const TranscriptFile *f, const Known *known)
{
    Update *u = run->u;
    Entry fresh = fresh_entry(f);
    ReadOptions options = { .kinds = u->kinds == ~0u ? 0 : u->kinds };
    Cursor cursor = known ? known->cursor : (Cursor){ 0 };
    TranscriptFile file = *f;
    ReadStats stats;

    if (!update_begin(u, known, &fresh))
        return false;
    /* A rollout says in its first line that it is a sub-agent's: this may be behind the cursor. */
    file.side_chain |= u->row.e.side_chain;
    if (!file.parent.n)
        file.parent = u->row.e.parent;
    if (!transcript_read(run->reader, &file, &options, &cursor, update_event, on_anew, u, &stats,
                         u->err))
        return pass_over(u, f);
    u->row.e.cursor = cursor;
    u->waits |= !cursor_is_settled(&cursor);
    u->stats.messages += stats.lines;
    u->stats.broken += stats.broken;
    return update_end(u, stats.bytes);
}

/* Codex moves rollouts between folders: one that is new here and gone there is the same one. */
static Known *moved_from(FilesRun *run, const TranscriptFile *f)
{
    if (f->source != SOURCE_CODEX)
        return NULL;
    for (size_t i = 0; i < run->lost_n; i++)
        if (!run->lost[i].found && str_eq(run->lost[i].id, f->stem)) {
            run->lost[i].found = true;
            return &run->lost[i];
        }
    return NULL;
}

static void join(void *ctx, const Known *k)
{
    FilesRun *run = ctx;
    Known *kept;
    int order = 1;

    while (run->at < run->n && (order = str_cmp(run->files[run->at].path, k->path)) < 0)
        run->at++;
    if (run->at < run->n && order == 0) {
        kept = &unchanged;
        if (cursor_is_current(&k->cursor, &run->files[run->at])) {
            run->u->waits |= !cursor_is_settled(&k->cursor);
        } else {
            kept = ARENA_NEW(run->u->a, Known);
            *kept = *k;
        }
        run->known_of[run->at++] = kept;
    } else {
        Known lost = *k;

        lost.id = str_dup(run->u->a, k->id);
        ARENA_PUSH(run->u->a, run->lost, run->lost_n, run->lost_cap, lost);
    }
}

typedef struct Changed {
    const TranscriptFile *file;
    Known *known;
} Changed;

static int oldest_first(const void *a, const void *b)
{
    int64_t x = ((const Changed *)a)->file->mtime_ns, y = ((const Changed *)b)->file->mtime_ns;

    return x < y ? -1 : x > y;
}

static bool read_changed(FilesRun *run)
{
    Update *u = run->u;
    Changed *changed = ARENA_ARRAY(u->a, Changed, run->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < run->n; i++)
        if (run->known_of[i] != &unchanged)
            changed[n++] = (Changed){ &run->files[i], run->known_of[i] };
    u->stats.due += (int64_t)n;
    if (u->show)
        *u->show = u->stats;
    /* In the order in which they were written, so that what listeners number grows with time. */
    if (n)
        qsort(changed, n, sizeof *changed, oldest_first);
    for (size_t i = 0; i < n; i++) {
        const TranscriptFile *f = changed[i].file;
        Known *known = changed[i].known;

        if (u->stop && u->stop(u->stop_ctx))
            return err_set(u->err, ERR_INTERRUPTED, "interrupted");
        if (!run->reader)
            run->reader = reader_new();
        if (!read_one(run, f, known ? known : moved_from(run, f)))
            return false;
    }
    return true;
}

TranscriptRoots catalogue_roots(const CatalogueQuery *q)
{
    TranscriptRoots roots = q->roots;

    roots.claude_present = roots.claude_present && q->claude;
    roots.codex_present = roots.codex_present && q->codex;
    return roots;
}

/* -- names of threads -- */

/* They are kept beside the rollouts, and may change when those do not. */
static bool name_threads(Update *u, Str root)
{
    CodexThreadName *all;
    size_t n;

    codex_names(u->a, root, &all, &n);
    if (!update_commit(u))
        return false;
    for (size_t i = 0; i < n; i++)
        if (all[i].name.n &&
            !db_exec(u->c->db, NULL, u->err,
                     "UPDATE entries SET title = ?1, titled = 1 WHERE id = ?2 AND source = ?3 "
                     "AND home = '' AND title IS NOT ?1",
                     TEXT(all[i].name), TEXT(all[i].id), INT(SOURCE_CODEX)))
            return false;
    return true;
}

bool update_files(Update *u)
{
    const CatalogueQuery *q = &u->c->query;
    TranscriptRoots roots = catalogue_roots(q);
    FilesRun run = { .u = u };
    bool ok;

    if (!transcripts_look(u->a, &roots, &run.files, &run.n, &u->stamp, u->err))
        return false;
    run.known_of = ARENA_ARRAY(u->a, Known *, run.n + 1);
    if (!update_known(u, STR(""), join, &run))
        return false;
    u->stats.files += (int64_t)run.n;
    u->stats.sessions += (int64_t)run.n;
    ok = read_changed(&run);
    reader_free(run.reader);
    for (size_t i = 0; ok && i < run.lost_n; i++)
        if (!run.lost[i].found)
            ok = update_gone(u, run.lost[i].key);
    return ok && (!roots.codex_present || name_threads(u, roots.codex));
}
