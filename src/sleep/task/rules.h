/* rules.h - one learned rule: its text, its origin, and its record since.
 *
 * The note about a rule is an HTML comment at the end of its bullet, so that it moves with the
 * document:
 *   - Always mention "x" in the answer. <!-- rule id=r1a2b3c4d night=3 ... -->
 *
 * One function makes the sentence that states a check; to see whether a document states the check,
 * make the sentence and look for it. */
#ifndef TALARIA_SLEEP_TASK_RULES_H
#define TALARIA_SLEEP_TASK_RULES_H

#include "sleep/task/judge.h"

enum { RULE_NIGHTS = 30 }; /* nights without use after which a rule is up for deletion */

typedef struct RuleNote {
    Str id; /* empty: the rule has no note */
    int64_t night, until;
    int64_t helpful, harmful;
    StrList sessions;
    Str evidence; /* one line */
} RuleNote;

/* Takes the comment off the end of a rule's text; false if there is none. */
bool rule_note_take(Arena *a, Str *text, RuleNote *ret);
/* The comment; "" for a rule without an id. */
Str rule_note_write(Arena *a, const RuleNote *note);

/* The imperative sentence that states a check; empty for an unknown op. */
Str rule_of_check(Arena *a, const Check *check);

/* Whether the documents state the sentence, however their lines are broken. */
bool rule_stated(Arena *a, Str skill, Str memory, Str sentence);

#endif
