/* manage.h - rename, archive and delete sessions that Talaria keeps itself.
 *
 * Sessions of Hermes, Claude Code and Codex belong to those programs: they are refused with the
 * file's name, and nothing is written. On a Runs handle, so one thread. */
#ifndef TALARIA_AGENT_MANAGE_H
#define TALARIA_AGENT_MANAGE_H

#include "agent/runs.h"
#include "recall/history.h"

/* ERR_REFUSED: the session is another program's. */
MUST_CHECK bool manage_check_own(const Homes *homes, const HistoryItem *item, Err *err);

MUST_CHECK bool manage_rename(Runs *r, const Homes *homes, const HistoryItem *item, Str title,
                              Err *err);
MUST_CHECK bool manage_archive(Runs *r, const Homes *homes, const HistoryItem *item, bool archived,
                               Err *err);
/* With its files and what the search index holds of it. */
MUST_CHECK bool manage_delete(Runs *r, const Homes *homes, const HistoryItem *item, Err *err);

#endif
