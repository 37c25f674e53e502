/* continues.h - when a session continues in another one: the one rule, as SQL. */
#ifndef TALARIA_STORE_CONTINUES_H
#define TALARIA_STORE_CONTINUES_H

/* A child continues where its parent was compressed: it began after the parent's end, and is
 * neither a branch nor a delegate. Of several the newest, as Hermes resumes it. */
#define CONTINUES                                                                                  \
    "child.parent_session_id = parent.id AND parent.end_reason = 'compression' "                   \
    "AND child.started_at >= parent.ended_at"
#define NO_BRANCH                                                                                  \
    " AND (child.model_config IS NULL OR (instr(child.model_config, '\"_branched_from\"') = 0 "    \
    "AND instr(child.model_config, '\"_delegate_from\"') = 0))"

#endif
