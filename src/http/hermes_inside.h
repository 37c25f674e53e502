/* hermes_inside.h - what the stand-in remembers: small tables, one lock. Its server is hermes_double.c, the streams that it
 * plays are hermes_play.c. */
#ifndef TALARIA_HTTP_HERMES_INSIDE_H
#define TALARIA_HTTP_HERMES_INSIDE_H

#include <microhttpd.h>
#include <pthread.h>

#include "http/hermes_double.h"
#include "http/hermes_script.h"

enum { DOUBLE_SESSIONS = 1024, DOUBLE_RUNS = 256, DOUBLE_NAME = 128 };

typedef struct DoubleSession {
    char id[DOUBLE_NAME];
    int turns;
} DoubleSession;

typedef struct DoubleRun {
    char id[DOUBLE_NAME];
    Arena *arena;  /* of what it was asked, until another takes its place */
    Script script; /* in a copy of the run the arena is the copy's own */
    bool stopped, answered, waiting, over;
} DoubleRun;

struct HermesDouble {
    struct MHD_Daemon *daemon;
    Arena *arena;
    Str fail, key;
    uint16_t port;
    pthread_mutex_t lock;
    bool ending;
    DoubleSession sessions[DOUBLE_SESSIONS]; /* a ring, as the runs */
    size_t n_sessions;
    DoubleRun runs[DOUBLE_RUNS];
    size_t n_runs;
};

/* Under the lock; NULL: there is none. */
DoubleSession *double_session(HermesDouble *d, Str id);
DoubleSession *double_make_session(HermesDouble *d, Str id);
DoubleRun *double_run(HermesDouble *d, Str id);

/* Answers with the script, frame by frame. run: the one that can be stopped and answered, or "". */
enum MHD_Result double_stream(HermesDouble *d, struct MHD_Connection *c, const Script *script,
                              const char *run);

#endif
