/* journal.h - several live documents changed as one, or not at all.
 *
 * The journal (".adopt-transaction.json" in the night's folder) is written and synced before the first
 * change and removed after the last: its removal is the commit. It holds what every document was, so
 * that whoever comes next puts things back as they were, by the journal alone. A document that somebody
 * else has changed in between keeps that change: then the journal is set aside
 * (".adopt-transaction.kept.json", with the bytes from before) and stands in nobody's way. */
#ifndef TALARIA_SLEEP_ADOPTION_JOURNAL_H
#define TALARIA_SLEEP_ADOPTION_JOURNAL_H

#include "sleep/adoption/live.h"
#include "sleep/adoption/manifest.h"
#include "sleep/task/places.h"

typedef struct Change {
    ItemKind kind;
    Str name;
    LiveDoc live; /* as it was found under the lock */
    bool to_exist;
    Str to;       /* the bytes from now on */
    Str backup;   /* below the night's folder: keeps what was there; "" for none */
    Str *folders; /* made before where the document is to exist, else removed after if empty */
    size_t n_folders;
} Change;

typedef struct Transaction {
    Str folder; /* of the night */
    Str action; /* "adopt" or "undo" */
    const Change *changes;
    size_t n;
    Str receipts_file; /* in the folder */
    Str receipts;      /* what it is to hold */
} Transaction;

/* All of it, or nothing and the reason. The caller holds the locks. */
MUST_CHECK bool journal_run(Arena *a, const Transaction *t, Err *err);

typedef struct Recovery {
    size_t found; /* interrupted transactions that were rolled back */
    size_t kept;  /* documents that somebody else had changed and that were left alone */
    Str note;     /* about the last of those; "" for none */
} Recovery;

/* Rolls back what was interrupted in one night's folder. */
MUST_CHECK bool journal_recover(Arena *a, Str folder, Recovery *ret, Err *err);

/* In every night. The caller holds the lock. */
MUST_CHECK bool journal_recover_all(Arena *a, const SleepHome *home, Recovery *ret, Err *err);

#endif
