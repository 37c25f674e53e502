#include "recall/history_files.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/limits.h"
#include "recall/index.h"

void files_done(Files *f)
{
    f->catalogue = catalogue_close(f->catalogue);
    f->arena = arena_free(f->arena);
}

static bool find_roots(Files *f, Err *err)
{
    if (f->roots_known)
        return true;
    if (!f->arena)
        f->arena = arena_new();
    if (f->where.files && !transcript_roots(f->arena, NULL, NULL, &f->roots, err))
        return false;
    f->roots_known = true;
    return true;
}

bool files_present(Files *f, bool *ret, Err *err)
{
    if (!find_roots(f, err))
        return false;
    *ret = f->roots.claude_present || f->roots.codex_present;
    return true;
}

bool files_catalogue(Files *f, Catalogue **ret, Err *err)
{
    CatalogueQuery query = { .homes = f->where.homes };

    if (!f->catalogue) {
        if (!find_roots(f, err))
            return false;
        query.roots = f->roots;
        f->catalogue = catalogue_open(&query, err);
    }
    *ret = f->catalogue;
    return f->catalogue != NULL;
}

/* -- bringing it up to date -- */

static bool out_of_time(void *ctx)
{
    const int64_t *end = ctx;

    return clock_mono_ms() > *end;
}

/* Where there is a search index, what is new goes into it in the same reading. The first time a
 * list does not wait for the index: that takes far longer than the list. */
static bool index_along(Catalogue *c, RecallIndex **ret, CatalogueListener *ret_listener, Err *err)
{
    int64_t any = 0;

    if (!db_get_int(catalogue_db(c), 0, &any, err, "SELECT EXISTS (SELECT 1 FROM recall_sessions)"))
        return false;
    if (!any)
        return true;
    *ret = recall_index_open(catalogue_db(c), err);
    if (*ret)
        *ret_listener = recall_index_listener(*ret);
    return *ret != NULL;
}

/* A private index is seen by its own handle alone: the one that answers gets a copy of what was
 * read. */
static bool share(Files *f, Catalogue *read, Err *err)
{
    Catalogue *whole;

    if (!db_is_private(catalogue_db(read)) || read == f->catalogue)
        return true;
    return files_catalogue(f, &whole, err) && db_copy(catalogue_db(whole), catalogue_db(read), err);
}

/* Once a handle: what comes meanwhile is seen by the next command. Homes are read only where the
 * catalogue is to answer for them: a first reading of a long history takes its time. */
static bool update(Files *f, bool homes, Err *err)
{
    CatalogueQuery files_alone = {
        .homes = f->where.homes, .roots = f->roots, .claude = true, .codex = true
    };
    int64_t end = clock_mono_ms() + f->where.budget_ms;
    AUTO(Catalogue) *narrow = NULL;
    AUTO(RecallIndex) *index = NULL;
    CatalogueListener listener;
    UpdateStats stats = { 0 };
    Catalogue *c;

    if (homes) {
        if (!files_catalogue(f, &c, err))
            return false;
    } else {
        c = narrow = catalogue_open(&files_alone, err);
        if (!narrow)
            return false;
    }
    if (!index_along(c, &index, &listener, err))
        return false;
    if (!catalogue_update(c, &listener, index != NULL, out_of_time, &end, &stats, err)) {
        if (err->kind != ERR_INTERRUPTED)
            return false;
        f->partial = true;
    }
    f->partial |= stats.busy;
    return share(f, c, err);
}

bool files_update(Files *f, bool homes, Err *err)
{
    HistoryUpdates *updates = f->where.updates;

    if (f->updated)
        return true;
    f->updated = true;
    if (f->where.budget_ms <= 0) {
        f->partial = updates && !atomic_load(&updates->whole[homes]);
        return true;
    }
    if (!update(f, homes, err))
        return false;
    if (updates)
        atomic_store(&updates->whole[homes], !f->partial);
    if (updates && homes && !f->partial) /* transcripts were among it */
        atomic_store(&updates->whole[0], true);
    return true;
}

/* -- entries as sessions -- */

static Str text_or_none(Str s)
{
    return s.n ? s : STR_NONE;
}

static Session session_of(const Entry *e, size_t homes)
{
    return (Session){ .id = e->id,
                      .source = str_of(source_name(e->source)),
                      .model = text_or_none(e->model),
                      .title = text_or_none(e->title),
                      .parent_session_id = text_or_none(e->parent),
                      .cwd = text_or_none(e->cwd),
                      .git_branch = text_or_none(e->branch),
                      .started_at = e->started_at,
                      .last_activity_at = e->last_at,
                      .message_count = e->messages,
                      .tool_call_count = e->calls,
                      .input_tokens = e->input_tokens,
                      .output_tokens = e->output_tokens,
                      .cache_read_tokens = e->cache_read_tokens,
                      .cache_write_tokens = e->cache_write_tokens,
                      .actual_cost_usd = e->cost_usd,
                      .archived = e->archived,
                      .home = homes + e->source,
                      .rowid = e->key };
}

static Lineage lineage_of(Arena *a, const Session *s)
{
    Session *part = ARENA_NEW(a, Session);

    *part = *s;
    return (Lineage){ .tip = *s,
                      .parts = part,
                      .n_parts = 1,
                      .title = s->title.n ? s->title : STR("Untitled"),
                      .started_at = s->started_at,
                      .last_active = s->last_activity_at > 0 ? s->last_activity_at : s->started_at,
                      .messages = s->message_count,
                      .tool_calls = s->tool_call_count,
                      .input_tokens = s->input_tokens,
                      .output_tokens = s->output_tokens,
                      .cache_read_tokens = s->cache_read_tokens,
                      .cache_write_tokens = s->cache_write_tokens,
                      .cost_usd = s->actual_cost_usd };
}

void files_facts(Arena *a, const Entry *e, HistoryItem *ret)
{
    (void)a;
    ret->has_facts = true;
    memcpy(ret->activity, e->activity, sizeof ret->activity);
    ret->tools = e->tools;
}

void files_item(Arena *a, const Entry *e, size_t homes, HistoryItem *ret)
{
    Session s = session_of(e, homes);

    *ret = (HistoryItem){ .origin = e->source == SOURCE_CODEX ? ORIGIN_CODEX : ORIGIN_CLAUDE,
                          .lineage = lineage_of(a, &s),
                          .is_file = true,
                          .side_chain = e->side_chain,
                          .continued_in = e->continued_in,
                          .continues = e->continues,
                          .continues_origin = str_of(source_name(e->source)),
                          .mark = { homes + e->source, e->last_at, e->key } };
    ret->home = str_of(origin_name(ret->origin));
    entry_file(e, &ret->file);
    files_facts(a, e, ret);
}

/* -- finding -- */

bool files_begins(Files *f, Arena *a, Str prefix, size_t max, Session **ret, size_t *ret_n,
                  Err *err)
{
    Session *sessions = NULL;
    size_t n_all = 0, n = 0, cap = 0;
    bool present = false;
    Entry *all = NULL;
    Catalogue *c;

    if (!files_present(f, &present, err))
        return false;
    if (present &&
        (!files_catalogue(f, &c, err) || !catalogue_begins(c, a, prefix, max, &all, &n_all, err)))
        return false;
    for (size_t i = 0; i < n_all; i++)
        if (all[i].source != SOURCE_HERMES) {
            Session s = session_of(&all[i], f->where.homes->n);

            ARENA_PUSH(a, sessions, n, cap, s);
        }
    *ret = sessions;
    *ret_n = n;
    return true;
}

/* One that the catalogue does not know yet: by the names of the files, and read whole. */
static bool find_by_name(Files *f, Arena *a, Str id, HistoryItem *ret, Err *err)
{
    const TranscriptFile *found = NULL;
    LoadOptions options = { 0 };
    TranscriptFile *all;
    Session *matches = NULL;
    size_t n, n_matches = 0, cap = 0;
    Loaded loaded;

    if (!transcripts_find(a, &f->roots, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Session s = { .id = all[i].stem, .started_at = (double)all[i].mtime_ns / 1e9 };

        if (!str_eq(all[i].stem, id) && (id.n < MIN_ID_PREFIX || !str_starts(all[i].stem, id)))
            continue;
        found = &all[i];
        if (found->stem.n == id.n) {
            n_matches = 1;
            break;
        }
        ARENA_PUSH(a, matches, n_matches, cap, s);
    }
    if (n_matches > 1)
        return session_ambiguous(a, id, matches, n_matches, err);
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'; 'talaria sessions list' shows them",
                       STR_FMT(id));
    if (!transcript_load(a, found, &options, &loaded, err))
        return false;
    for (size_t i = 0; i < loaded.n && !loaded.session.title.n; i++)
        if (str_eqz(loaded.messages[i].role, "user"))
            loaded.session.title = transcript_title(a, loaded.messages[i].content);
    *ret = (HistoryItem){ .origin = found->source == SOURCE_CODEX ? ORIGIN_CODEX : ORIGIN_CLAUDE,
                          .lineage = lineage_of(a, &loaded.session),
                          .is_file = true,
                          .file = *found,
                          .side_chain = found->side_chain };
    ret->home = str_of(origin_name(ret->origin));
    return true;
}

bool files_find(Files *f, Arena *a, Str id, HistoryItem *ret, Err *err)
{
    Catalogue *c;
    bool present;
    Entry e;

    if (!files_present(f, &present, err))
        return false;
    if (!present)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'; 'talaria sessions list' shows them",
                       STR_FMT(id));
    if (files_catalogue(f, &c, err) && catalogue_find(c, a, id, &e, err) &&
        e.source != SOURCE_HERMES) {
        files_item(a, &e, f->where.homes->n, ret);
        return true;
    }
    /* Not known yet, or the catalogue is of no help: the files themselves are. */
    return find_by_name(f, a, id, ret, err);
}
