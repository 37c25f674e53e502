/* summary_extract.h - a conversation in few sentences of its own, without a model.
 *
 * Sentences are ranked by how much of the rest of the conversation they speak of (BM25 of each as a
 * question to all others). Decisions, file paths, commands, error lines and questions that are still
 * open go first, whatever their rank. What is picked stands in the order in which it was said. Pure
 * and deterministic. */
#ifndef TALARIA_AGENT_SUMMARY_EXTRACT_H
#define TALARIA_AGENT_SUMMARY_EXTRACT_H

#include "base/arena.h"

typedef struct TalkTurn {
    bool from_user;
    Str text;
    double at;
} TalkTurn;

/* `previous`: the summary of what came before the turns; its lines take part. At most so many tokens
 * (text/tokens.h), as a list with one sentence a line. */
Str talk_summary(Arena *a, Str previous, const TalkTurn *turns, size_t n, size_t most_tokens);

/* Whether it is time: more tokens than 8,000, or than 60 % of the window (0: not known). */
bool talk_summary_is_due(const TalkTurn *turns, size_t n, size_t window_tokens);

#endif
