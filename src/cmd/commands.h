/* commands.h - one row a command; each is defined in cmd_<name>.c. */
#ifndef TALARIA_CMD_COMMANDS_H
#define TALARIA_CMD_COMMANDS_H

#include "cmd/cli.h"

extern const Command cmd_status, cmd_demo, cmd_sessions, cmd_templates, cmd_achievements, cmd_serve,
    cmd_index, cmd_sleep, cmd_skills, cmd_chat, cmd_ask, cmd_handoff, cmd_take, cmd_gateway, cmd_up,
    cmd_doctor, cmd_debug, cmd_config, cmd_setup, cmd_help;

/* The root of the tree: talaria itself. */
const Command *commands_root(void);

#endif
