/* rules.h - one learned rule: its text, where it comes from, and how it has done since.
 *
 * What is known of a rule stands in an HTML comment at the end of its bullet, so that it travels with
 * the document whoever moves it:
 *   - Always mention "x" in the answer. <!-- rule id=r1a2b3c4d night=3 ... -->
 *
 * A rule that states a check is a sentence made by one function: whoever wants to know whether a
 * document states a check makes the sentence and looks for it. */
#ifndef TALARIA_SLEEP_TASK_RULES_H
#define TALARIA_SLEEP_TASK_RULES_H

#include "sleep/task/judge.h"

enum { RULE_NIGHTS = 30 }; /* nights without use after which a rule is up for deletion */

typedef struct RuleNote {
    Str id; /* empty: nothing is known of this rule */
    int64_t night, until;
    int64_t helpful, harmful;
    StrList sessions;
    Str evidence; /* one line */
} RuleNote;

/* Takes the comment off the end of a rule's text; false where there is none. */
bool rule_note_take(Arena *a, Str *text, RuleNote *ret);
/* The comment, or nothing for a rule without an id. */
Str rule_note_write(Arena *a, const RuleNote *note);

/* The imperative sentence that states a check; empty for an op that nobody knows. */
Str rule_of_check(Arena *a, const Check *check);

/* Whether the documents state the sentence, however their lines are broken. */
bool rule_stated(Arena *a, Str skill, Str memory, Str sentence);

#endif
