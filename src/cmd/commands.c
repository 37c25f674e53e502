/* The commands of the program, in the order in which help lists them. */
#include "cmd/commands.h"

static const Example examples[] = {
    { "talaria status", "show which sessions were found, and where" },
    { "talaria sessions list", "list the most recent sessions of every agent" },
    { "talaria templates harvest", "create templates from successful sessions" },
    { 0 },
};

/* Rows live in their own files; C does not let a static table be made of them. */
const Command *commands_root(void)
{
    static Command children[24];
    static const Command root = {
        .name = "talaria",
        .summary = "search, measure and continue every agent session on this machine",
        .examples = examples,
        .children = children
    };
    const Command *const all[] = { &cmd_status,    &cmd_demo,         &cmd_index,   &cmd_sessions,
                                   &cmd_templates, &cmd_achievements, &cmd_sleep,   &cmd_skills,
                                   &cmd_chat,      &cmd_ask,          &cmd_handoff, &cmd_take,
                                   &cmd_gateway,   &cmd_serve,        &cmd_up,      &cmd_doctor,
                                   &cmd_debug,     &cmd_setup,        &cmd_config,  &cmd_help };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        children[i] = *all[i];
    return &root;
}
