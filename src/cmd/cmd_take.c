/* talaria take CODE: a session that was offered to a terminal by /handoff cli in a chat comes
 * here. */
#include <unistd.h>

#include "cmd/cmd_handoff.h"
#include "cmd/commands.h"
#include "handoff/routing.h"
#include "handoff/take_codes.h"
#include "handoff/wait.h"
#include "terminal/chat.h"

typedef struct Taken {
    Str home, session_id, from;
    Str conversation; /* Talaria's; empty: a session of Hermes */
    Str resume;       /* command that continues it */
} Taken;

/* On a terminal a Talaria session is opened; else the command to continue is printed. */
static bool go_on(Cli *cli, const Taken *t, Err *err)
{
    ChatOptions o = { .homes = &cli->homes,
                      .settings = &cli->settings,
                      .conversation = t->conversation,
                      .color = cli->color,
                      .quiet = cli->quiet };

    if (t->conversation.n && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return chat(&o, &cli->told, err);
    say(cli, "%.*s\n", STR_FMT(t->resume));
    return true;
}

/* The code is used up before the session moves: of two who type it, one alone gets the session.
 * While an answer is on its way in the chat it stays good. */
static bool release(Cli *cli, Str code, Taken *ret, Err *err)
{
    AUTO(OwnStore) *journal = own_store_open(cli->homes.data, err);
    SessionOwner owner;

    if (!journal || !take_code_find(journal, cli->arena, code, &ret->home, &ret->session_id, err) ||
        !handoff_idle(&cli->homes, ret->home, ret->session_id, err) ||
        !take_code_use(journal, cli->arena, code, &ret->home, &ret->session_id, err))
        return false;
    if (!owner_get(journal, cli->arena, ret->home, ret->session_id, &owner, err) ||
        !handoff_bring_back(&cli->homes, journal, ret->home, ret->session_id, err))
        return err_wrap(
            err, "the session has not moved; to try again: 'talaria handoff back --session %.*s'",
            STR_FMT(ret->session_id));
    ret->from = owner.surface;
    ret->conversation = handoff_conversation(cli, journal, ret->home, ret->session_id);
    ret->resume = handoff_resume_hint(cli, journal, ret->home, ret->session_id);
    return true;
}

static bool take(Cli *cli, const Args *args, Err *err)
{
    JsonWriter w;
    Taken t;

    if (!cli_homes(cli, &(const Homes *){ NULL }, err) ||
        !release(cli, args_operand(args, 0), &t, err))
        return false;
    if (!cli->json)
        return go_on(cli, &t, err);
    w = cli_json_begin(cli);
    json_field_str(&w, "session_id", t.session_id);
    json_field_str(&w, "from", t.from.n ? t.from : STR_NONE);
    json_field_str(&w, "resume", t.resume);
    cli_json_end(cli, &w);
    return true;
}

static const Example examples[] = {
    { "talaria take K7QM-2XWP", "continue the chat session that showed this code" },
    { "talaria take K7QM2XWP --json", "the same, and print the command that continues it" },
    { "talaria handoff back", "without a code: bring back the last session handed over" },
    { 0 },
};

const Command cmd_take = {
    .name = "take",
    .operands = "CODE",
    .summary = "bring a chat session to this terminal with the code from /handoff cli",
    .details = "Type '/handoff cli' in a chat to get a code. It works once and expires soon. On a "
               "terminal, 'take' opens the session like 'talaria chat --resume'; otherwise it "
               "prints the command that does. Exit code 3: the code is wrong, used or expired. "
               "Exit code 4: the agent is still answering in the chat; the code remains valid.",
    .examples = examples,
    .draws = true,
    .acts = true,
    .run = take
};
