/* cmd_handoff.h - what the files of `talaria handoff` and `talaria take` share. */
#ifndef TALARIA_CMD_CMD_HANDOFF_H
#define TALARIA_CMD_CMD_HANDOFF_H

#include "cmd/cli.h"
#include "gateway/pick.h"
#include "handoff/handoff.h"

/* The session of that id; *ret_pick is for handoff_pick_begin. `look`: only those that went before. */
MUST_CHECK bool handoff_find_session(Cli *cli, Str id, bool look, Pick *ret_pick, Picked *ret,
                                     Err *err);

/* With --json the handoff as an object; else nothing. */
void handoff_show(Cli *cli, const Handoff *h);

/* The conversation of ours to go on with; empty: the session is a Hermes' alone. */
Str handoff_conversation(Cli *cli, OwnStore *journal, Str home, Str session_id);
/* How one goes on with a session that is here: a command for the shell. */
Str handoff_resume_hint(Cli *cli, OwnStore *journal, Str home, Str session_id);

bool handoff_status(Cli *cli, const Args *args, Err *err);
bool handoff_cancel_one(Cli *cli, const Args *args, Err *err);
bool handoff_back(Cli *cli, const Args *args, Err *err);

#endif
