/* extract.h - from a session to the calls that are worth keeping.
 *
 * Calls are paired with their results, judged by the result (text/outcome.h), redacted, and clipped
 * to a budget an example and one for the whole. Results are cut in the middle and say so; arguments
 * are never cut: a call whose arguments alone do not fit is left out. */
#ifndef TALARIA_TEMPLATES_EXTRACT_H
#define TALARIA_TEMPLATES_EXTRACT_H

#include "recall/history.h"
#include "templates/template.h"
#include "text/outcome.h"

typedef struct ExtractOptions {
    size_t max_messages; /* the first so many, active ones only; 0 = all */
    size_t max_examples;
    bool include_failed; /* keep them, marked success: false */
    bool chain;          /* of every part of a session that compression cut, oldest first */
} ExtractOptions;

#define EXTRACT_DEFAULTS ((ExtractOptions){ .max_messages = 100, .max_examples = 10 })

typedef struct Extract {
    TemplateExample *examples;
    size_t n;
    size_t calls;      /* seen among the messages, whatever became of them */
    size_t failed;     /* of these, with a result that shows a failure */
    size_t too_large;  /* left out for the budget */
    size_t unreadable; /* messages whose tool_calls do not parse */
    size_t tokens;     /* estimate of what is kept */
    Str *sessions;     /* whose calls were looked at */
    size_t n_sessions;
} Extract;

/* -- from messages -- */

/* Never fails; without a usable call n is 0. */
void extract_examples(Arena *a, const Message *messages, size_t n, const ExtractOptions *options,
                      Extract *ret);

/* Whether a call that has a result worked. */
Outcome extract_outcome(const Exchange *x, Str content);

/* At most LIMIT_EXAMPLE_CHARS or `max` bytes: head and tail, and in words what is missing. */
Str extract_clip(Arena *a, Str text, size_t max);

/* A JSON object with its secrets taken out, value by value. */
Str extract_redact_arguments(Arena *a, Str json);

/* -- from the history -- */

/* A template of a session of any program, without name, type by its examples; not saved. `session`
 * is what the user typed: the part of the lineage that it names becomes source_session_id, and the
 * calls are its own; with options->chain those of the whole lineage. ERR_INVALID where there is no
 * usable call, with the reason. */
MUST_CHECK bool extract_template(History *h, Arena *a, Str session, const ExtractOptions *options,
                                 Template *ret, Extract *ret_extract, Err *err);

#endif
