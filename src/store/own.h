/* own.h - our own database, talaria.db: the sessions that Talaria keeps itself.
 *
 * Hermes-shaped tables (data/schema/) and ours in one file, so that one transaction holds all that
 * belongs together. WAL, synchronous=FULL: what was acknowledged survives a power cut. Migrations
 * go forward only; a database of a newer Talaria is refused, not touched. One thread a handle. */
#ifndef TALARIA_STORE_OWN_H
#define TALARIA_STORE_OWN_H

#include "store/session.h"

typedef struct OwnStore OwnStore;

/* Makes folder and database where they are missing. */
MUST_CHECK OwnStore *own_store_open(Str data_folder, Err *err);
/* For one who only looks: where the folder cannot be written a copy in memory, of which nothing is
 * kept. */
MUST_CHECK OwnStore *own_store_open_to_read(Str data_folder, bool *ret_copy, Err *err);
OwnStore *own_store_close(OwnStore *own);
AUTO_FREE(OwnStore, own_store_close)

/* For operations of a feature, and for tests: the same handle, so the same transaction. */
struct Db *own_store_db(OwnStore *own);
Str own_store_data(const OwnStore *own); /* its folder */
MUST_CHECK bool own_store_begin(OwnStore *own, Err *err);
MUST_CHECK bool own_store_end(OwnStore *own, bool ok, Err *err); /* commits, or rolls back */

/* -- writing -- */

MUST_CHECK bool own_add_session(OwnStore *own, const Session *s, Err *err);
MUST_CHECK bool own_add_message(OwnStore *own, const Message *m, Err *err); /* m->id is not used */
MUST_CHECK bool own_delete_session(OwnStore *own, Str id,
                                   Err *err); /* with its messages; none is fine */

/* Whether a session other than `except` has this title: titles name sessions. */
MUST_CHECK bool own_title_taken(OwnStore *own, Str title, Str except, bool *ret, Err *err);

/* -- who made what -- */

/* What a maker ("demo") put there, so that it can be taken out again and nothing else. */
typedef struct Made {
    Str kind;   /* "session", "file", "folder" */
    Str name;   /* session id, or path relative to the home */
    Str digest; /* of a file's bytes as they were made; empty elsewhere */
} Made;

MUST_CHECK bool own_note_made(OwnStore *own, const char *maker, const Made *made, Err *err);
MUST_CHECK bool own_list_made(OwnStore *own, Arena *a, const char *maker, Made **ret, size_t *ret_n,
                              Err *err);
/* Whether a maker has put anything there, asked without a change to the folder: no migration, and
 * the files beside the database stay or stay away. */
MUST_CHECK bool own_has_made(Str data_folder, bool *ret, Err *err);
MUST_CHECK bool own_forget_made(OwnStore *own, const char *maker, const Made *made, Err *err);

enum { ULID_CHARS = 27 };
void ulid_make(int64_t now_ms, char ret[ULID_CHARS]); /* 26 characters that sort by time */

#endif
