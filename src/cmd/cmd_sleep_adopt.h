/* cmd_sleep_adopt.h - what is done with a staged night, as rows for `talaria sleep`.
 *
 * The files cmd_sleep_adopt.c, cmd_sleep_review.c and cmd_sleep_schedule.c hold the functions. */
#ifndef TALARIA_CMD_SLEEP_ADOPT_H
#define TALARIA_CMD_SLEEP_ADOPT_H

#include "cmd/cli.h"
#include "sleep/task/places.h"

extern const Option sleep_status_options[], sleep_review_options[], sleep_adopt_options[],
    sleep_undo_options[], sleep_reject_options[], sleep_schedule_options[],
    sleep_unschedule_options[];
extern const Example sleep_adopt_examples[], sleep_schedule_examples[];

MUST_CHECK bool sleep_status(Cli *cli, const Args *args, Err *err);
/* Every night of the project (empty: of all), newest first; and a report, which is Markdown. */
MUST_CHECK bool sleep_print_nights(Cli *cli, const SleepHome *home, Str project, Err *err);
void sleep_print_report(Cli *cli, Str md);
MUST_CHECK bool sleep_review(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_adopt(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_undo(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_reject(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_schedule(Cli *cli, const Args *args, Err *err);
MUST_CHECK bool sleep_unschedule(Cli *cli, const Args *args, Err *err);

/* The rows, in the order in which help lists them. */
#define SLEEP_ADOPT_ROWS                                                                           \
    { .name = "status",                                                                            \
      .summary = "show nights, staged and adopted proposals, schedules",                           \
      .options = sleep_status_options,                                                             \
      .run = sleep_status },                                                                       \
        { .name = "review",                                                                        \
          .operands = "[NIGHT]",                                                                   \
          .summary = "show what a night proposes: diff, edits, scores, answers",                   \
          .details = "Default: the newest night with a proposal, which is the one that "           \
                     "'talaria sleep adopt' adopts. 'talaria sleep status' shows the last night.", \
          .options = sleep_review_options,                                                         \
          .max = 1,                                                                                \
          .run = sleep_review },                                                                   \
        { .name = "adopt",                                                                         \
          .summary = "apply a night's proposals to your skills",                                   \
          .details = "A file that changed since the night is not touched. Either every selected "  \
                     "proposal is applied or none is; 'talaria sleep undo' reverts.",              \
          .options = sleep_adopt_options,                                                          \
          .examples = sleep_adopt_examples,                                                        \
          .acts = true,                                                                            \
          .run = sleep_adopt },                                                                    \
        { .name = "undo",                                                                          \
          .summary = "revert the last adoption",                                                   \
          .details = "Restores a file only if it is unchanged since it was adopted; later edits "  \
                     "are kept.",                                                                  \
          .options = sleep_undo_options,                                                           \
          .acts = true,                                                                            \
          .run = sleep_undo },                                                                     \
        { .name = "reject",                                                                        \
          .operands = "[NIGHT]",                                                                   \
          .summary = "reject a proposal; its edits are not proposed again",                        \
          .options = sleep_reject_options,                                                         \
          .max = 1,                                                                                \
          .acts = true,                                                                            \
          .run = sleep_reject },                                                                   \
        { .name = "schedule",                                                                      \
          .summary = "run 'sleep run' every night (systemd timer or cron)",                        \
          .details = "Keeps all flags of 'talaria sleep run'. A missed night runs at the next "    \
                     "opportunity. API keys are not stored: a scheduled night reads them from "    \
                     "the configuration.",                                                         \
          .options = sleep_schedule_options,                                                       \
          .examples = sleep_schedule_examples,                                                     \
          .draws = true,                                                                           \
          .acts = true,                                                                            \
          .run = sleep_schedule },                                                                 \
    {                                                                                              \
        .name = "unschedule", .summary = "stop the nightly runs of a project",                     \
        .options = sleep_unschedule_options, .acts = true, .run = sleep_unschedule                 \
    }

/* Shared by the three files. */
MUST_CHECK bool sleep_home_of(Cli *cli, SleepHome *ret, Err *err);
/* --project, else the working directory; absolute, canonical where it exists. */
/* For 'setup': a plain night of the current folder, every day at that time; says so. */
MUST_CHECK bool sleep_schedule_here(Cli *cli, int hour, int minute, Err *err);
MUST_CHECK bool sleep_project_of(Cli *cli, const Args *args, Str *ret, Err *err);

#endif
