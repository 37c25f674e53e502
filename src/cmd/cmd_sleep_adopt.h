/* cmd_sleep_adopt.h - what is done with a staged night, as rows for `talaria sleep`.
 *
 * The files cmd_sleep_adopt.c, cmd_sleep_review.c and cmd_sleep_schedule.c hold the functions. */
#ifndef TALARIA_CMD_SLEEP_ADOPT_H
#define TALARIA_CMD_SLEEP_ADOPT_H

#include "cmd/cli.h"
#include "sleep/places.h"

extern const Option sleep_status_options[], sleep_review_options[], sleep_adopt_options[],
    sleep_undo_options[], sleep_reject_options[], sleep_schedule_options[],
    sleep_unschedule_options[];
extern const Example sleep_adopt_examples[], sleep_schedule_examples[];

MUST_CHECK bool sleep_status(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_review(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_adopt(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_undo(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_reject(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_schedule(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_unschedule(Cli *cli, const Args *args, Err *err);

/* The rows, in the order in which help lists them. */
#define SLEEP_ADOPT_ROWS                                                                           \
    { .name = "status",                                                                            \
      .summary = "nights so far, what is staged, what is adopted, what is scheduled",              \
      .options = sleep_status_options,                                                             \
      .run = sleep_status },                                                                       \
        { .name = "review",                                                                        \
          .operands = "[NIGHT]",                                                                   \
          .summary = "what a night proposes: diff, edits, scores, answers",                        \
          .details = "Without NIGHT the newest that proposes something: the one that "             \
                     "'talaria sleep adopt' takes. 'talaria sleep status' tells of the last one.", \
          .options = sleep_review_options,                                                         \
          .most = 1,                                                                               \
          .run = sleep_review },                                                                   \
        { .name = "adopt",                                                                         \
          .summary = "put proposals in place",                                                     \
          .details =                                                                               \
              "A document that has changed since the night is left alone. Everything chosen "      \
              "changes, or nothing does; 'talaria sleep undo' takes it back.",                     \
          .options = sleep_adopt_options,                                                          \
          .examples = sleep_adopt_examples,                                                        \
          .run = sleep_adopt },                                                                    \
        { .name = "undo",                                                                          \
          .summary = "take the last adoption back",                                                \
          .details = "Only where the document still is what was adopted: what was written since "  \
                     "stays.",                                                                     \
          .options = sleep_undo_options,                                                           \
          .run = sleep_undo },                                                                     \
        { .name = "reject",                                                                        \
          .operands = "[NIGHT]",                                                                   \
          .summary = "turn a proposal down: its edits are not proposed again",                     \
          .options = sleep_reject_options,                                                         \
          .most = 1,                                                                               \
          .run = sleep_reject },                                                                   \
        { .name = "schedule",                                                                      \
          .summary = "a night every night: systemd timer, else cron",                              \
          .details = "All flags of 'talaria sleep run' are kept. A night that was missed is made " \
                     "up for. API keys are not kept: a scheduled night takes them from the "       \
                     "configuration.",                                                             \
          .options = sleep_schedule_options,                                                       \
          .examples = sleep_schedule_examples,                                                     \
          .run = sleep_schedule },                                                                 \
    {                                                                                              \
        .name = "unschedule", .summary = "no more nights for a project",                           \
        .options = sleep_unschedule_options, .run = sleep_unschedule                               \
    }

/* Shared by the three files. */
MUST_CHECK bool sleep_home_of(Cli *cli, SleepHome *ret, Err *err);
/* --project, else the working directory; absolute, canonical where it exists. */
MUST_CHECK bool sleep_project_of(Cli *cli, const Args *args, Str *ret, Err *err);

#endif
