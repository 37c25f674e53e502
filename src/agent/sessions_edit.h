/* sessions_edit.h - rename, archive and delete a session of talaria.db.
 *
 * Whether or not the session is a conversation. Each call is one synced transaction: a crash leaves
 * all of a session or none of it. Refused with ERR_CONFLICT while the session is being answered, is
 * being handed over, or is in a chat. On a Runs handle, so one thread. */
#ifndef TALARIA_AGENT_SESSIONS_EDIT_H
#define TALARIA_AGENT_SESSIONS_EDIT_H

#include "agent/runs.h"

/* The parts of one session: a chain that compression split has several, the newest last. */
typedef struct SessionParts {
    const Str *ids;
    size_t n;
} SessionParts;

/* An empty title removes it. ERR_CONFLICT if another session has the title. */
MUST_CHECK bool session_rename(Runs *r, SessionParts parts, Str title, Err *err);
MUST_CHECK bool session_archive(Runs *r, SessionParts parts, bool archived, Err *err);
/* With messages, runs, events, attachments, summaries, continuity, handoffs. Files are the
 * caller's. */
MUST_CHECK bool session_delete(Runs *r, SessionParts parts, Err *err);

#endif
