/* answer.h - answers from data, for questions that need no model (question.h).
 *
 * Each says which period it looked at and how many sessions that were, links sessions by their
 * titles, and quotes no passage twice. Markdown; text of the history in it is escaped or quoted,
 * without secrets. */
#ifndef TALARIA_AGENT_ANSWER_H
#define TALARIA_AGENT_ANSWER_H

#include "agent/question.h"
#include "base/buf.h"
#include "recall/search.h"

typedef struct AnswerSource {
    const Homes *homes;
    Catalogue *catalogue;
    Recall *recall;
    Str conversation_id; /* the one at hand; may be empty */
    Str text;            /* the question */
    double now;
} AnswerSource;

/* *ret is empty if there is nothing to answer from (a question about an empty conversation).
 * *ret_found is false if a search might say more. On one thread: the handles'. */
MUST_CHECK bool answer_question(Arena *a, const AnswerSource *source, const Question *q, Str *ret,
                                bool *ret_found, Err *err);

/* Turns of the conversation at hand that are about the question, quoted; empty: none is. */
MUST_CHECK bool answer_from_own(Arena *a, const AnswerSource *source, Str *ret, Err *err);

/* "[Title](/sessions/ID)" */
void answer_link(Buf *out, Str title, Str id);

/* Whether two passages say the same, but for a few words. */
bool answer_is_repeat(Str one, Str other);

#endif
