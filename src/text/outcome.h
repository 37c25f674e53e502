/* outcome.h - did it work? Told from what came back, and from what the user said next.
 *
 * Text alone decides, since that is all a history holds. Both judges lean towards "it worked":
 * a log that mentions an error, a file about exceptions, `"error": null` and "0 errors" are
 * successes. What counts as a failure is the tables in outcome.c. Pure and thread-safe. */
#ifndef TALARIA_TEXT_OUTCOME_H
#define TALARIA_TEXT_OUTCOME_H

#include "base/str.h"

/* X(name, text for people) */
#define OUTCOMES(X)                                                                                \
    X(OUTCOME_OK, "it worked")                                                                     \
    X(OUTCOME_UNSUCCESSFUL, "it says that it did not succeed")                                     \
    X(OUTCOME_ERROR, "it carries an error")                                                        \
    X(OUTCOME_EXIT_CODE, "its exit code is not 0")                                                 \
    X(OUTCOME_TRACEBACK, "it ends in a traceback")                                                 \
    X(OUTCOME_REFUSED, "it was refused")

typedef enum Outcome {
#define X(name, text) name,
    OUTCOMES(X)
#undef X
} Outcome;

const char *outcome_text(Outcome outcome);

/* Of a tool's result: JSON of Hermes and MCP, the plain text of Claude Code and Codex. */
Outcome outcome_of_result(Str result);

/* What a user's message says of the work that was done, in English, Chinese, Japanese or Russian.
 * Where blame and praise are in one message, the later one counts; thanks alone are praise. */
typedef enum Remark { REMARK_NONE, REMARK_BLAME, REMARK_PRAISE } Remark;
Remark outcome_of_remark(Str message);

bool outcome_is_complaint(Str message); /* it is blame */

#endif
