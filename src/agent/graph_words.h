/* graph_words.h - the words by which a request is taken apart; inside of graph only. */
#ifndef TALARIA_AGENT_GRAPH_WORDS_H
#define TALARIA_AGENT_GRAPH_WORDS_H

#include "agent/graph.h"

typedef enum Marker { MARKER_NONE, MARKER_THEN, MARKER_ALSO } Marker;

/* Whether a word of order or of togetherness begins here, and how long it is. `s` is the whole
 * text. */
Marker marker_at(Str s, size_t at, size_t *ret_bytes);

/* Kind, resources and references of a step, from its text alone. */
void task_describe(Arena *a, TaskNode *node);

/* Whether the words before a list, or anywhere in a request, say that all of it may go at once. */
bool text_says_together(Str s);

/* Whether it says that what is to be done stands behind it: "the following", 以下. */
bool text_announces(Str s);

/* Whether a sentence tells something and asks for nothing, by the way it is built. In doubt it does
 * not. */
bool text_is_statement(Str s);

/* "first", "then" and the like in front of a step are not part of it. */
Str without_opener(Str s);
Str without_closer(Str s); /* commas and the like behind it */

#endif
