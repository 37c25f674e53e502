/* summary_extract.h - summarises a conversation by picking its sentences, without a model.
 *
 * Sentences are ranked by how much of the conversation they cover (BM25 of each as a query on all
 * others). Decisions, file paths, commands, error lines and open questions go first, whatever their
 * rank. The picked sentences keep their order. Pure and deterministic. */
#ifndef TALARIA_AGENT_SUMMARY_EXTRACT_H
#define TALARIA_AGENT_SUMMARY_EXTRACT_H

#include "base/arena.h"

typedef struct TalkTurn {
    bool from_user;
    Str text;
    double at;
} TalkTurn;

/* `previous`: the summary of earlier turns; its lines are ranked too. A list with one sentence per
 * line, at most max_tokens (text/tokens.h). */
Str talk_summary(Arena *a, Str previous, const TalkTurn *turns, size_t n, size_t max_tokens);

/* Whether a summary is due: more tokens than 8,000, or than 60 % of the window (0: not known). */
bool talk_summary_is_due(const TalkTurn *turns, size_t n, size_t window_tokens);

#endif
