/* copy.h - a session of ours in the database of a Hermes, so that its gateway can take it over.
 *
 * Intent, effect, acknowledgement: the request is a row of the journal that names the copy, and
 * from then on nobody here may write the session; then the copy is written, whole or not at all, as
 * a session with a pending handoff; what becomes of it is read from its row. Whoever comes after a
 * death finds the name and either the copy or none. A copy that no gateway took, or that one failed
 * before it led anywhere, is taken out again: it was ours. One that a gateway took is Hermes' from
 * then on, and stays.
 *
 * This is the one place that writes `messages` of others. Columns are looked up; where Hermes'
 * triggers, or columns that we do not know, refuse a row, nothing is written: ERR_REFUSED. On a
 * OwnStore, so one thread. */
#ifndef TALARIA_HANDOFF_COPY_H
#define TALARIA_HANDOFF_COPY_H

#include "handoff/handoff.h"
#include "store/session.h"

/* In before_json of one that arrived: its user had put the session aside before. */
#define COPY_OF_ARCHIVED "{\"archived\": 1}"

/* `row` and `messages` become the copy; id, source, counts and what Hermes has not spent are set
 * here. A copy that is there already is left as it is. A failure ends the handoff, and the session
 * is here again. */
MUST_CHECK bool copy_write(OwnStore *own, Arena *a, const Handoff *h, const Session *row,
                           const Message *messages, size_t n, Err *err);

/* The copy and what compression made of it (`parts`, the newest last) lead nowhere any more: ended,
 * put aside, and no key leads to them. May be repeated. */
MUST_CHECK bool copy_end(OwnStore *own, Arena *a, const Handoff *h, const Str *parts, size_t n,
                         Err *err);

/* The handoff by which the session lives in a copy, or is on its way there; *ret_lent false: there
 * is none. */
MUST_CHECK bool copy_find(OwnStore *own, Arena *a, Str home, Str session_id, Handoff *ret,
                          bool *ret_lent, Err *err);

/* -- for transactions of this room -- */

/* The row of the journal, and the fence. ERR_CONFLICT: the session is elsewhere; ERR_BUSY: a turn
 * is under way. */
MUST_CHECK bool copy_request(OwnStore *own, Arena *a, const HandoffRequest *request, const char *id,
                             Err *err);
/* What a gateway of Hermes has made of it. */
MUST_CHECK bool copy_follow(OwnStore *own, Arena *a, Handoff *h, Err *err);
/* ERR_CONFLICT: a gateway has it. */
MUST_CHECK bool copy_withdraw(OwnStore *own, const Handoff *h, Err *err);
/* The session is the terminal's again. */
MUST_CHECK bool copy_stays(OwnStore *own, const Handoff *h, Err *err);

#endif
