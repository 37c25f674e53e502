/* demo.h - three months of sample sessions, in folders of their own.
 *
 * The demo is data: files recorded under data/demo/, embedded in the program, and moved in time so
 * that they end now (shift.h). It is stored in DATA_FOLDER/demo and has everything that a user has:
 * a data folder, histories of Hermes, Claude Code and Codex, a configuration. With --demo a command
 * uses these folders and nothing else, so the user's own files never mix with it.
 *
 * DATA_FOLDER/demo/.talaria-demo is written first and removed last: a folder without it is not ours
 * and is never removed. demo.json is written last and removed first: the demo is complete while it
 * exists. So a crash at any point leaves a folder that the next run replaces or removes. */
#ifndef TALARIA_DEMO_DEMO_H
#define TALARIA_DEMO_DEMO_H

#include "base/arena.h"
#include "base/err.h"

/* -- folders -- */

typedef struct DemoFolders {
    Str root, data, hermes, claude, codex, config;
} DemoFolders;

DemoFolders demo_folders(Arena *a, Str data_folder);

/* Points this process and its children at the demo below the data folder. Fails if there is
 * none. */
MUST_CHECK bool demo_enter(Arena *a, Str data_folder, Err *err);

/* Whether this process uses the demo. */
bool demo_entered(void);

/* -- making and removing -- */

typedef struct DemoOptions {
    double now;   /* the demo ends at this time */
    bool force;   /* replace an existing demo */
    bool dry_run; /* change nothing */
} DemoOptions;

/* Counts of what is recorded, by their names in demo.json. */
#define DEMO_COUNTS(X)                                                                             \
    X(sessions)                                                                                    \
    X(hermes)                                                                                      \
    X(claude)                                                                                      \
    X(codex)                                                                                       \
    X(talaria)                                                                                     \
    X(messages)                                                                                    \
    X(tool_calls)

typedef struct DemoReport {
    bool already; /* a demo exists, nothing was changed */
    bool removed; /* there was a demo to remove */
#define X(name) int64_t name;
    DEMO_COUNTS(X)
#undef X
    double oldest, newest;
    /* An older version's demo inside the user's own database. */
    size_t old_sessions, old_files;
    Str *left; /* its files that were edited since, and stay */
    size_t n_left, cap_left;
} DemoReport;

/* Texts in the report live in the arena. */
MUST_CHECK bool demo_make(Arena *a, Str data_folder, const DemoOptions *options, DemoReport *ret,
                          Err *err);

/* Removes the demo, also an incomplete one and that of an older version. None is fine. */
MUST_CHECK bool demo_remove(Arena *a, Str data_folder, bool dry_run, DemoReport *ret, Err *err);

/* The part of demo_remove that clears away what earlier versions put into talaria.db (old.c). */
MUST_CHECK bool demo_remove_old(Arena *a, Str data_folder, bool dry_run, DemoReport *report,
                                Err *err);

#endif
