/* routing_inside.h - what the files of routing share. */
#ifndef TALARIA_HANDOFF_ROUTING_INSIDE_H
#define TALARIA_HANDOFF_ROUTING_INSIDE_H

#include "base/arena.h"
#include "handoff/handoff.h"
#include "handoff/session_db.h"

struct ChatAddress;
struct SessionOwner;

/* Under which name the entries of a home stand: the folder of its sessions, resolved. */
Str routing_scope(Arena *a, Str home);
Str routing_id_in(Arena *a, Str entry_json);

/* What sessions.json has to follow, once it is committed. */
typedef struct Change {
    Str key, entry; /* empty: nothing is new */
    Str *gone;
    size_t n_gone;
} Change;

/* -- rows of the table, inside of a transaction: routing_table.c -- */

MUST_CHECK bool routing_put(SessionDb *s, Arena *a, Str scope, Str key, Str entry, Err *err);
MUST_CHECK bool routing_drop(SessionDb *s, Str scope, Str key, Err *err);
/* A session lives in one place: other keys that lead to it go. *ret_prev: what `key` led to. */
MUST_CHECK bool routing_clear(SessionDb *s, Arena *a, Str scope, Str key, Str session_id,
                              Str *ret_prev, Str **ret_gone, size_t *ret_n, Err *err);

/* To which session a key of the home leads; empty: to none. */
MUST_CHECK bool routing_leads_to(SessionDb *s, Arena *a, Str scope, Str key, Str *ret, Err *err);

/* -- binding -- */

/* Inside of a transaction. h: session_id, dest_key, dest_source_json; prev_session_id is set. */
MUST_CHECK bool routing_bind_session(SessionDb *s, Arena *a, Handoff *h, Str scope, Change *c,
                                     Err *err);
MUST_CHECK bool routing_needs_table(const SessionDb *s, Str home, Err *err);
/* ERR_BUSY: a turn of the session is under way, and would be written by two. */
MUST_CHECK bool routing_is_idle(SessionDb *s, Str session_id, Err *err);
/* ERR_BUSY: its thread is gone since somebody looked, so nobody would be heard there. */
MUST_CHECK bool routing_is_there(OwnStore *own, Arena *a, Str address_json, Err *err);
/* What the session's row says of where it comes from. */
MUST_CHECK bool routing_source(SessionDb *s, Arena *a, Str session_id, Str *ret_source, Err *err);
/* Says at the place where the session was that it has left, unless that is *noted already. */
MUST_CHECK bool routing_note(OwnStore *own, Arena *a, SessionDb *s, Str session_id,
                             const struct SessionOwner *owner, bool *noted, Err *err);
/* Says in the chat to which h came that it continues there; once for a thread. */
MUST_CHECK bool routing_note_gone(OwnStore *own, Arena *a, SessionDb *s, const Handoff *h,
                                  const struct ChatAddress *from, Err *err);
void routing_follow(Arena *a, const SessionDb *s, Str home, const Change *c);

#endif
