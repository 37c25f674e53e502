/* question.h - what a question about the history asks for, by a table of phrasings
 * (data/questions.def).
 *
 * Some questions have an answer in the data: which sessions a week had, which commands failed, what
 * was decided, what was fixed. A question is understood as a whole or not at all: one with words
 * that the table does not know is left to the search. Pure; time is passed in. */
#ifndef TALARIA_AGENT_QUESTION_H
#define TALARIA_AGENT_QUESTION_H

#include "base/arena.h"
#include "text/when.h"

/* X(id, "name") */
#define INTENTS(X)                                                                                 \
    X(INTENT_NONE, "none")                                                                         \
    X(INTENT_WORKED, "worked")   /* which sessions there were */                                   \
    X(INTENT_FAILED, "failed")   /* which tool calls failed most */                                \
    X(INTENT_FIXED, "fixed")     /* which sessions fixed something */                              \
    X(INTENT_DECIDED, "decided") /* what was decided about the topic */                            \
    X(INTENT_SESSION, "session") /* what the conversation at hand is about */

typedef enum Intent {
#define X(id, name) id,
    INTENTS(X)
#undef X
} Intent;

const char *intent_name(Intent intent);

typedef struct Question {
    Intent intent;
    bool has_period;
    When period;
    Str period_text; /* as it was typed */
    Str topic;       /* empty: none */
} Question;

Question question_read(Arena *a, Str text, double now);

#endif
