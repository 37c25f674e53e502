/* cmd_handoff.h - what the files of `talaria handoff` and `talaria take` share. */
#ifndef TALARIA_CMD_CMD_HANDOFF_H
#define TALARIA_CMD_CMD_HANDOFF_H

#include "cmd/cli.h"
#include "handoff/handoff.h"
#include "handoff/pick.h"

/* The session of that id; *ret_pick is for handoff_pick_begin. `look`: only those that went
 * before. */
MUST_CHECK bool handoff_find_session(Cli *cli, Str id, bool look, Pick *ret_pick, Picked *ret,
                                     Err *err);

/* With --json the handoff as an object; else nothing. */
void handoff_show(Cli *cli, const Handoff *h);

/* The Talaria conversation that continues the session; empty: it exists only in Hermes. */
Str handoff_conversation(Cli *cli, OwnStore *journal, Str home, Str session_id);
/* The shell command that continues a session that is here. */
Str handoff_resume_hint(Cli *cli, OwnStore *journal, Str home, Str session_id);

bool handoff_status(Cli *cli, const Args *args, Err *err);
bool handoff_cancel_one(Cli *cli, const Args *args, Err *err);
bool handoff_back(Cli *cli, const Args *args, Err *err);

#endif
