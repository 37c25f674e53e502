/* peer.h - a program of others that speaks lines of JSON, as the far end of a run.
 *
 * Found by an environment variable, a setting or PATH; given the variables that its kind needs and
 * no others. Lines go to the adapter; what it writes to standard error is kept (the last of it) for
 * the case that it dies without another word, and goes into the trace. */
#ifndef TALARIA_RUNTIMES_PEER_H
#define TALARIA_RUNTIMES_PEER_H

#include "net/child.h"
#include "net/ndjson.h"
#include "runtimes/run.h"

typedef struct PeerKind {
    const char *title;    /* "Claude Code" */
    SettingId bin;        /* setting of its path */
    const char *variable; /* of the environment, before the setting */
    const char *names;    /* of variables that it inherits: "A|B|PREFIX_*" */
} PeerKind;

typedef struct Peer {
    RuntimeRun *run;
    const PeerKind *kind;
    NetId id; /* 0: does not run */
    Ndjson lines;
    Buf errors;
    bool ended;
    ChildDone done; /* how, once it has ended */
    void (*on_line)(RuntimeRun *run, Str line, bool cut);
    void (*on_end)(RuntimeRun *run);
} Peer;

/* On the loop. argv[0] is put in front by this. False: on_end will not come. */
MUST_CHECK bool peer_start(Peer *p, RuntimeRun *run, const PeerKind *kind, const char *const *argv,
                           Str input, bool keep_input, const int64_t *patience, Err *err);
void peer_write(Peer *p, Str line); /* a line feed is added */
void peer_close(Peer *p);           /* its input */
void peer_cancel(Peer *p);
void peer_dispose(Peer *p);

/* Why it could not be started or how it died, with its own last words. */
Str peer_obituary(Arena *a, const Peer *p);

/* Asks `BIN --version`: whether it is there, which one, else why not. Waits, at most two seconds;
 * not on the loop. */
void peer_probe(const RuntimeHost *host, const PeerKind *kind, Arena *a, RuntimeCaps *ret);

/* An id of a session goes on a command line: nothing else may. */
bool peer_id_is_plain(Str id);

#endif
