/* slack_form.h - the form in which a slash command of Slack's comes over HTTP.
 *
 * Pure; what it gives lives in the arena. Strict as all that reads requests: what is not well
 * formed, or given twice, is ERR_USAGE. */
#ifndef TALARIA_HTTP_SLACK_FORM_H
#define TALARIA_HTTP_SLACK_FORM_H

#include "base/arena.h"
#include "base/err.h"

/* X(field): what is kept of a command. Not its `token`, an older kind of proof, nor its
 * response_url. */
#define SLACK_COMMAND_FIELDS(X)                                                                    \
    X(command)                                                                                     \
    X(text)                                                                                        \
    X(channel_id)                                                                                  \
    X(channel_name)                                                                                \
    X(user_id)                                                                                     \
    X(user_name)                                                                                   \
    X(team_id)                                                                                     \
    X(trigger_id)

/* As an envelope of Socket Mode has it. *ret_json empty: it names no command. ERR_TOO_LARGE: no
 * inbox keeps it. */
MUST_CHECK bool slack_form_read(Arena *a, Str form, Str *ret_json, Err *err);

#endif
