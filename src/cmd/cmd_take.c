/* talaria take CODE: a session that was offered to a terminal by /handoff cli in a chat comes here. */
#include <unistd.h>

#include "cmd/cmd_handoff.h"
#include "cmd/commands.h"
#include "gateway/wait.h"
#include "store/routing.h"
#include "store/take_codes.h"
#include "terminal/chat.h"

typedef struct Taken {
    Str home, session_id, from;
    Str conversation; /* of ours; empty: the session is a Hermes' */
    Str resume;       /* command that goes on with it */
} Taken;

static void show(Cli *cli, const Taken *t)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_str(&w, "session_id", t->session_id);
    json_field_str(&w, "from", t->from.n ? t->from : STR_NONE);
    json_field_str(&w, "resume", t->resume);
    cli_json_end(cli, &w);
}

/* Where somebody sits and the session is ours it is opened, else they are told how. */
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

/* The code is used up before the session moves: of two who type it, one alone gets the session. While an answer is on
 * its way in the chat it stays good. */
static bool release(Cli *cli, Str code, Taken *ret, Err *err)
{
    AUTO(Journal) *journal = journal_open(cli->homes.data, err);
    SessionOwner owner;

    if (!journal || !take_code_find(journal, cli->arena, code, &ret->home, &ret->session_id, err) ||
        !handoff_idle(&cli->homes, ret->home, ret->session_id, err) ||
        !take_code_use(journal, cli->arena, code, &ret->home, &ret->session_id, err))
        return false;
    if (!owner_get(journal, cli->arena, ret->home, ret->session_id, &owner, err) ||
        !handoff_bring_back(&cli->homes, journal, ret->home, ret->session_id, err))
        return err_wrap(err,
                        "the session has not moved; 'talaria handoff back --session %.*s' tries "
                        "again",
                        STR_FMT(ret->session_id));
    ret->from = owner.surface;
    ret->conversation = handoff_conversation(cli, journal, ret->home, ret->session_id);
    ret->resume = handoff_resume_hint(cli, journal, ret->home, ret->session_id);
    return true;
}

static bool take(Cli *cli, const Args *args, Err *err)
{
    Taken t;

    if (!cli_homes(cli, &(const Homes *){ NULL }, err) ||
        !release(cli, args_operand(args, 0), &t, err))
        return false;
    if (!cli->json)
        return go_on(cli, &t, err);
    show(cli, &t);
    return true;
}

static const Example examples[] = {
    { "talaria take K7QM-2XWP", "the session of the chat in which /handoff cli gave that code" },
    { "talaria take K7QM2XWP --json", "the same, and says what to type next" },
    { "talaria handoff back", "without a code: the session that was handed over last" },
    { 0 },
};

const Command cmd_take = {
    .name = "take",
    .operands = "CODE",
    .summary = "take a session from a chat with the code that it gave",
    .details = "In a chat '/handoff cli' offers its session to a terminal under a code that works "
               "once and soon expires. At a terminal the session is opened, as by 'talaria chat "
               "--resume'; elsewhere the command that does so is printed. A code that is wrong, "
               "was used or is too old: exit code 3. While an answer is on its way in the chat: "
               "exit code 4, and the code stays good.",
    .examples = examples,
    .least = 1,
    .most = 1,
    .run = take
};
