/* What there is of each origin: the one place where sessions are counted. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "recall/history.h"
#include "recall/history_files.h"
#include "text/human.h"

/* -- homes -- */

/* A time that cannot be is not taken for the last activity. */
static void note_time(SessionCounts *c, double at)
{
    if (at > c->newest && at < clock_wall() + 86400)
        c->newest = at;
}

static void count(SessionCounts *c, bool part, bool aside, bool archived, int64_t n)
{
    if (part)
        c->parts += n;
    else if (aside)
        c->sub_agents += n;
    else if (archived)
        c->archived += n;
    else
        c->sessions += n;
}

static void count_alike(const HomeFacts *f, const HomeCount *alike, SessionCounts *home,
                        HistoryFacts *ret)
{
    SessionCounts *source = &ret->sources[origin_of(f->home, alike->source)].counts;
    bool aside = session_is_aside(alike->source);

    count(home, alike->part, aside, alike->archived, alike->n);
    count(source, alike->part, aside, alike->archived, alike->n);
    note_time(home, alike->newest);
    note_time(source, alike->newest);
}

static void count_homes(const HomeFacts *facts, size_t n, HistoryFacts *ret)
{
    for (size_t i = 0; i < n; i++) {
        SourceFacts *s = &ret->sources[origin_of(facts[i].home, STR(""))];

        s->present |= facts[i].home->present;
        note_time(&ret->homes[i], facts[i].newest);
        note_time(&s->counts, facts[i].newest);
        for (size_t k = 0; k < facts[i].n_counts; k++)
            count_alike(&facts[i], &facts[i].counts[k], &ret->homes[i], ret);
    }
}

/* -- transcripts -- */

static bool count_entries(History *h, Arena *a, HistoryFacts *ret, Err *err)
{
    static const Origin origins[] = {
        [SOURCE_CLAUDE] = ORIGIN_CLAUDE, [SOURCE_CODEX] = ORIGIN_CODEX
    };
    Catalogue *c;

    if (!files_update(&h->files, false, err) || !files_catalogue(&h->files, &c, err))
        return false;
    for (SourceKind k = SOURCE_CLAUDE; k <= SOURCE_CODEX; k++) {
        EntryQuery query = { .source = (int)k, .side_chains = true, .archived = true };
        SourceFacts *s = &ret->sources[origins[k]];
        Entry *all;
        size_t n;

        if (!catalogue_list(c, a, &query, &all, &n, err))
            return false;
        for (size_t i = 0; i < n; i++) {
            HistoryItem item;
            bool begun_there;

            files_item(a, &all[i], h->where.homes->n, &item);
            if (history_covered_by(h, a, &item, &begun_there).n && !begun_there)
                continue;
            if (begun_there)
                history_count_begun(h, ret, &item);
            count(&s->counts, false, all[i].side_chain, all[i].archived, 1);
            if (!all[i].side_chain)
                note_time(&s->counts, all[i].last_at);
        }
    }
    ret->partial = history_partial(h);
    return true;
}

/* Before the catalogue has seen them: by the names and times of the files. */
static bool count_files(History *h, Arena *a, HistoryFacts *ret, Err *err)
{
    int64_t known[ORIGIN_COUNT];
    TranscriptFile *all;
    size_t n;

    if (!transcripts_find(a, &h->files.roots, &all, &n, err))
        return false;
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        known[i] = ret->sources[i].counts.sessions;
    for (size_t i = 0; i < n; i++) {
        SourceFacts *s =
            &ret->sources[all[i].source == SOURCE_CODEX ? ORIGIN_CODEX : ORIGIN_CLAUDE];

        if (all[i].side_chain || all[i].archived || --known[s->origin] >= 0)
            continue;
        s->counts.sessions++;
        note_time(&s->counts, (double)all[i].mtime_ns / 1e9);
    }
    return true;
}

static bool count_transcripts(History *h, Arena *a, HistoryFacts *ret, Err *err)
{
    bool present = false;
    Err why;

    if (!files_present(&h->files, &present, err))
        return false;
    ret->sources[ORIGIN_CLAUDE].folder = str_dup(a, h->files.roots.claude);
    ret->sources[ORIGIN_CLAUDE].present = h->files.roots.claude_present;
    ret->sources[ORIGIN_CODEX].folder = str_dup(a, h->files.roots.codex);
    ret->sources[ORIGIN_CODEX].present = h->files.roots.codex_present;
    if (!present)
        return true;
    ret->partial = !count_entries(h, a, ret, &why) || ret->partial;
    return !ret->partial || count_files(h, a, ret, err);
}

/* -- all of it -- */

static bool name_places(const HistoryWhere *where, Arena *a, HistoryFacts *ret, Err *err)
{
    static const char *const variables[] = { [ORIGIN_HERMES] = "HERMES_HOME",
                                             [ORIGIN_CLAUDE] = "CLAUDE_CONFIG_DIR",
                                             [ORIGIN_CODEX] = "CODEX_HOME",
                                             [ORIGIN_TALARIA] = "TALARIA_HOME" };
    const Home *first = where->homes->primary;

    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        ret->sources[i] =
            (SourceFacts){ .origin = (Origin)i, .folder = STR(""), .variable = variables[i] };
    if (first->kind == HOME_GIVEN) {
        ret->sources[origin_of(first, STR(""))].folder = first->path;
        return true;
    }
    ret->sources[ORIGIN_TALARIA].folder = where->homes->data;
    return homes_hermes_folder(a, &ret->sources[ORIGIN_HERMES].folder, err);
}

bool history_facts(const HistoryWhere *where, Arena *a, const HomeFacts *facts, size_t n_facts,
                   HistoryFacts *ret, Err *err)
{
    HistoryWhere files = *where;
    AUTO(History) *h = NULL;
    Err ignored;

    *ret = (HistoryFacts){ .homes = ARENA_ARRAY(a, SessionCounts, n_facts + 1) };
    if (!name_places(where, a, ret, err))
        return false;
    count_homes(facts, n_facts, ret);
    files.store = NULL;
    h = history_open(&files);
    if (!history_count_continued(h, a, ret, &ignored))
        log_debug("conversations are counted beside their sessions: %s", ignored.text);
    return !where->files || count_transcripts(h, a, ret, err);
}

SessionCounts history_total(const HistoryFacts *facts)
{
    SessionCounts total = { 0 };

    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        const SessionCounts *c = &facts->sources[i].counts;

        total.sessions += c->sessions;
        total.parts += c->parts;
        total.sub_agents += c->sub_agents;
        total.archived += c->archived;
        total.continued += c->continued;
    }
    return total;
}

Str history_count_text(Arena *a, const SessionCounts *c)
{
    AUTO_BUF out = BUF(1024);
    const struct {
        int64_t n;
        const char *one, *many;
    } beside[] = { { c->parts, "more part of a compressed one", "more parts of compressed ones" },
                   { c->sub_agents, "sub-agent run", "sub-agent runs" },
                   { c->archived, "archived", "archived" },
                   { c->continued, "continued in Talaria", "continued in Talaria" },
                   { c->continuing, "more continues another agent's session",
                     "more continue other agents' sessions" } };
    size_t n = 0;

    buf_addf(&out, "%.*s session%s", STR_FMT(human_count(a, c->sessions)),
             c->sessions == 1 ? "" : "s");
    for (size_t i = 0; i < ARRAY_LEN(beside); i++)
        if (beside[i].n)
            buf_addf(&out, "%s%.*s %s", n++ ? ", " : " (", STR_FMT(human_count(a, beside[i].n)),
                     beside[i].n == 1 ? beside[i].one : beside[i].many);
    if (n)
        buf_addc(&out, ')');
    return str_dup(a, buf_str(&out));
}
