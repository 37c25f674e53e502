/* What there is of each origin, and what filters can offer. */
#include "recall/history.h"
#include "recall/history_files.h"

static void count_homes(const HomeFacts *facts, size_t n, SourceFacts ret[ORIGIN_COUNT])
{
    for (size_t i = 0; i < n; i++) {
        SourceFacts *s = &ret[facts[i].home->kind == HOME_OURS ? ORIGIN_TALARIA : ORIGIN_HERMES];

        s->present |= facts[i].home->present;
        s->sessions += facts[i].sessions;
        if (facts[i].newest > s->newest)
            s->newest = facts[i].newest;
    }
}

/* Sub-agents are parts of the sessions that called them. */
static void count_file(const TranscriptFile *f, SourceFacts *ret)
{
    double at = (double)f->mtime_ns / 1e9;

    ret->sessions += !f->side_chain;
    if (at > ret->newest)
        ret->newest = at;
}

bool history_sources(Arena *a, bool files, const HomeFacts *facts, size_t n_facts,
                     SourceFacts ret[ORIGIN_COUNT], Err *err)
{
    TranscriptRoots roots = { 0 };
    TranscriptFile *all = NULL;
    size_t n = 0;

    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        ret[i] = (SourceFacts){ .origin = (Origin)i, .folder = STR("") };
    count_homes(facts, n_facts, ret);
    if (!files)
        return true;
    if (!transcript_roots(a, NULL, NULL, &roots, err))
        return false;
    ret[ORIGIN_CLAUDE].folder = roots.claude;
    ret[ORIGIN_CLAUDE].present = roots.claude_present;
    ret[ORIGIN_CODEX].folder = roots.codex;
    ret[ORIGIN_CODEX].present = roots.codex_present;
    if ((roots.claude_present || roots.codex_present) &&
        !transcripts_find(a, &roots, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        count_file(&all[i], &ret[all[i].source == SOURCE_CODEX ? ORIGIN_CODEX : ORIGIN_CLAUDE]);
    return true;
}
