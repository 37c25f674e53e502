/* history_json.h - a history as the JSON that every surface gives, on top of
 * store/session_json.h. */
#ifndef TALARIA_RECALL_HISTORY_JSON_H
#define TALARIA_RECALL_HISTORY_JSON_H

#include "recall/history.h"
#include "text/json.h"

/* Fields of one session: those of lineage_put, then origin, branch, side_chain, resume_command (a
 * line for a shell, or null), continues ({session_id, origin} or null), continued_in (an id or
 * null), activity (16 numbers or null) and tools (names or null). The caller adds "parts". */
void history_put(JsonWriter *w, Arena *a, const HistoryItem *item);

/* "sessions", "parts", "sub_agents", "archived", "continued", "continuing". */
void counts_put(JsonWriter *w, const SessionCounts *c);

/* The fields of `status`: data, homes, sources, total, partial. */
void status_put(JsonWriter *w, const Homes *homes, const HomeFacts *facts, size_t n,
                const HistoryFacts *history);

#endif
