/* doctor.h - what `talaria doctor` looks at: one row a check.
 *
 * A check looks, changes nothing, and says one line for each thing that it looked at, with what to
 * do about it. The rows run in this order. */
#ifndef TALARIA_CMD_DOCTOR_H
#define TALARIA_CMD_DOCTOR_H

#include "cmd/cli.h"
#include "store/check.h"

/* X(id, "name", mark, style) */
#define FINDING_LEVELS(X)                                                                          \
    X(FINDING_OK, "ok", "✓", STYLE_GREEN)                                                          \
    X(FINDING_NOTE, "note", "·", STYLE_CYAN)                                                       \
    X(FINDING_WARNING, "warning", "!", STYLE_YELLOW)                                               \
    X(FINDING_PROBLEM, "problem", "✗", STYLE_RED)

typedef enum FindingLevel {
#define X(id, name, mark, style) id,
    FINDING_LEVELS(X)
#undef X
} FindingLevel;

/* X(name, title): doctor_<name> does it */
#define DOCTOR_CHECKS(X)                                                                           \
    X(versions, "versions")                                                                        \
    X(config, "settings")                                                                          \
    X(clock, "clock")                                                                              \
    X(homes, "history folders")                                                                    \
    X(sources, "sources")                                                                          \
    X(schema, "tables and columns")                                                                \
    X(integrity, "integrity")                                                                      \
    X(search, "search indexes")                                                                    \
    X(holders, "databases in use")                                                                 \
    X(deleted, "deleted files in use")                                                             \
    X(journals, "unfinished writes")                                                               \
    X(permissions, "permissions")                                                                  \
    X(token, "server token")                                                                       \
    X(space, "disk space")

typedef struct Finding {
    const char *id; /* of the check */
    FindingLevel level;
    Str subject, text, advice;
} Finding;

/* A database that is looked at, and what was found in it. */
typedef struct Patient {
    Str name, path, folder;
    bool ours;
    DbReport report;
} Patient;

typedef struct Doctor {
    Cli *cli;
    Arena *arena;
    const Homes *homes;
    Err config_error; /* where the settings cannot be read */
    bool config_wrong;
    bool full;
    HomeFacts *facts;
    size_t n_facts;
    Patient *patients;
    size_t n_patients;
    const char *at; /* id of the check that runs */
    Finding *findings;
    size_t n, cap;
} Doctor;

/* Adds a line; advice may be "". */
void doctor_say(Doctor *d, FindingLevel level, Str subject, const char *advice, const char *fmt,
                ...) PRINTF(5, 6);

#define X(name, title) void doctor_##name(Doctor *d);
DOCTOR_CHECKS(X)
#undef X

#endif
