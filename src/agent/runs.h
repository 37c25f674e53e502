/* runs.h - what the agent service keeps: runs, their events, continuity, attachments.
 *
 * Everything lies in talaria.db beside the sessions and messages that it belongs to, so that a
 * turn's words, its last event and the runtime's handle are committed together or not at all. Two
 * degrees of safety: what is acknowledged (a user's message, the end of a run) is synced to the
 * disk before the call returns; events on the way survive the death of the process, not a power
 * cut.
 *
 * A Runs is for one thread. What it hands out lives in the arena that was passed in. */
#ifndef TALARIA_AGENT_RUNS_H
#define TALARIA_AGENT_RUNS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

typedef struct Runs Runs;

MUST_CHECK Runs *runs_open(Str data_folder, Err *err);
Runs *runs_close(Runs *r);
AUTO_FREE(Runs, runs_close)

enum { ID_CHARS = 26 };
/* "r" and 24 random hexadecimal digits. */
void id_make(char kind, char ret[ID_CHARS]);
Str id_new(Arena *a, char kind);

/* -- Runs -- */

typedef struct Run {
    Str id, conversation_id, runtime, state, error_code, owner;
    int64_t user_message_id, assistant_message_id;
    int64_t last_seq, started_ms, ended_ms; /* ended_ms 0: it is not over */
} Run;

typedef struct RunRequest {
    Str id, conversation_id, runtime, owner, text;
    Str idem_key, idem_sha256; /* empty: none */
    Str memory;                /* to be kept with the conversation; empty: as it is */
    Str surface;        /* the chat platform from which it is asked; empty: terminal or page */
    bool internal;      /* nobody said it: no words of a user are kept */
    bool guest;         /* asked by a guest (trust.h) */
    int64_t of_message; /* the user's message is kept already, by a run that died; 0: it is not */
    const Str *files;   /* ids of attachments of the conversation that belong to the message */
    size_t n_files;
} RunRequest;

/* The user's message and the run, synced. ERR_CONFLICT where another run of the conversation is not
 * over (ret is that one), or where the session lives elsewhere now (ret->id is empty). An
 * idempotency key that was used: ret is that run and *ret_again true, or ERR_CONFLICT where
 * something else was asked under it. */
MUST_CHECK bool runs_begin(Runs *r, Arena *a, const RunRequest *request, Run *ret, bool *ret_again,
                           Err *err);
MUST_CHECK bool runs_get(Runs *r, Arena *a, Str id, Run *ret, Err *err); /* ERR_NOT_FOUND */
MUST_CHECK bool runs_by_key(Runs *r, Arena *a, Str idem_key, Run *ret, bool *ret_found, Err *err);

/* -- Events -- */

typedef struct RunEvent {
    Str run_id;
    int64_t seq;
    Str type, payload; /* payload: one line of JSON */
    int64_t created_ms;
} RunEvent;

/* Events with seq > after, in order. */
MUST_CHECK bool runs_events(Runs *r, Arena *a, Str id, int64_t after, RunEvent **ret, size_t *ret_n,
                            Err *err);

typedef struct Attachment {
    Str id, conversation_id, run_id, kind, runtime, name, mime, sha256, body, path;
    int64_t message_id, size, created_ms;
    bool visible;
} Attachment;

/* Where the passages of an answer begin, in bytes: an agent speaks before and after its tools. */
typedef struct Passages {
    Buf json;
    int64_t segment;
    size_t n;
} Passages;

void passages_init(Passages *p);
void passages_done(Passages *p);
/* For every chunk: `at` is how much of the text stands before it. */
void passages_add(Passages *p, int64_t segment, size_t at);
Str passages_json(const Passages *p, Arena *a); /* empty: it is one */

/* How a run ended; written in one transaction with the events of its batch. */
typedef struct RunEnd {
    Str run_id;
    Str state;          /* completed, failed, cancelled, truncated */
    Str message_status; /* complete, partial, failed, cancelled */
    Str error_code;     /* empty: none */
    Str text;           /* of the answer */
    Str passages;       /* where they begin in it, as JSON; empty: it is one */
    Str model, usage_json, finish_reason;
    int64_t input_tokens, output_tokens, reasoning_tokens;
    Str thread; /* under which name the handle of the runtime is kept */
    Str handle; /* empty: the old one stays */
    int64_t
        generation; /* on which the handle builds: where it is another one, nothing is written */
    bool lost;      /* the old handle was of no use any more */
    const Attachment *attachments;
    size_t n_attachments;
} RunEnd;

/* Of a run that continues, events may be said first, in their order, and come to their place later:
 * in a piece that begins where the one before it ended. The end of a run needs all of them in their
 * place. */
typedef struct RunBatch {
    const RunEvent *events; /* to their place, from where runs_events reads them */
    size_t n_events;
    const RunEnd *ends;
    size_t n_ends;
    const RunEvent *said; /* kept for the case that this process dies */
    size_t n_said;
} RunBatch;

/* All of it in one transaction, which is not synced: runs_sync before an end is acknowledged.
 * *ret_stale counts the handles that were not written because somebody else wrote one in
 * between. */
MUST_CHECK bool runs_write(Runs *r, const RunBatch *batch, size_t *ret_stale, Err *err);

/* Everything that was committed before, by whatever handle, survives a power cut from here on. */
MUST_CHECK bool runs_sync(Runs *r, Err *err);

/* Moves what the write-ahead log holds into the database, without holding up writers. Handles of
 * this kind do not do it by themselves: a commit is to cost an append. */
void runs_checkpoint(Runs *r);

/* Takes away what was said by runs that are over, a little at a time: its place is elsewhere. */
MUST_CHECK bool runs_sweep(Runs *r, Err *err);

/* Unfinished runs of owners for whom `is_gone` is true get error{internal, "engine restarted"} and
 * done{failed}; the text that their events hold becomes the message, with the status partial. */
typedef bool RunOwnerGone(void *ctx, Str run_id, Str owner);
MUST_CHECK bool runs_recover(Runs *r, RunOwnerGone *is_gone, void *ctx, size_t *ret_n, Err *err);

/* Takes away the events of runs that ended before; the runs themselves stay. */
MUST_CHECK bool runs_prune(Runs *r, int64_t before_ms, Err *err);

/* -- Continuity -- */

typedef struct Continuity {
    Str runtime, handle, sha256;
    int64_t generation, updated_ms; /* generation 0: there is none */
} Continuity;

MUST_CHECK bool continuity_get(Runs *r, Arena *a, Str conversation_id, Str runtime, Continuity *ret,
                               Err *err);
MUST_CHECK bool continuity_list(Runs *r, Arena *a, Str conversation_id, Continuity **ret,
                                size_t *ret_n, Err *err);

/* -- How long it took -- */

/* Of the newest runs that came to a good end, but for those of one runtime: the graph of the
 * request, and how long it took. */
typedef void RunGraphFn(void *ctx, Str graph, int64_t ms);
MUST_CHECK bool runs_graphs(Runs *r, Str but_runtime, int64_t max, RunGraphFn *fn, void *ctx,
                            Err *err);

/* -- Attachments -- */

MUST_CHECK bool attachment_add(Runs *r, const Attachment *x, Err *err);
/* With its body. ERR_NOT_FOUND. */
MUST_CHECK bool attachment_get(Runs *r, Arena *a, Str id, Attachment *ret, Err *err);
/* Oldest first, without bodies; run_id empty: of the whole conversation. */
MUST_CHECK bool attachment_list(Runs *r, Arena *a, Str conversation_id, Str run_id,
                                Attachment **ret, size_t *ret_n, Err *err);

/* Ids of the files of the newest message of a conversation, where its run was cancelled; else
 * none. */
MUST_CHECK bool attachment_unanswered(Runs *r, Arena *a, Str conversation_id, Str **ret,
                                      size_t *ret_n, Err *err);

/* -- Summaries -- */

typedef struct Summary {
    int64_t generation, covers_through_seq; /* generation 0: there is none */
    Str text, source;
} Summary;

MUST_CHECK bool summary_get(Runs *r, Arena *a, Str conversation_id, Summary *ret, Err *err);
/* The next generation; one that exists already is left alone. */
MUST_CHECK bool summary_add(Runs *r, Str conversation_id, const Summary *s, Err *err);

#endif
