/* talaria chat: a conversation at the terminal. */
#include "base/limits.h"
#include "cmd/commands.h"
#include "runtimes/runtimes.h"
#include "terminal/chat.h"

static const Option options[] = {
    { OPT_TEXT("runtime", "NAME", "runtime that answers"), .letter = 'r',
      .choices = RUNTIME_CHOICES },
    { OPT_TEXT("conversation", "ID", "continue this conversation, or any session of any agent"),
      .letter = 'c', .values = "sessions" },
    { OPT_FLAG("resume",
               "continue session ID, whichever agent wrote it, or the newest conversation") },
    { OPT_TEXT("template", "auto|NAME|none", "start a new session from a template"),
      .values = "templates" },
    { OPT_TEXT("model", "NAME", "model that the runtime should use") },
    { OPT_TEXT("file", "FILE", "attach a file to the first message (can be repeated)"),
      .letter = 'f' },
    { 0 },
};

static bool check(const Cli *cli, const Args *args, const ChatOptions *o, Err *err)
{
    bool named = args_count(args) > 0;

    if (cli->json)
        return err_set(err, ERR_USAGE, "chat has no --json; 'talaria ask --json' prints events");
    if (named && !o->resume)
        return err_set(err, ERR_USAGE, "an ID goes with --resume; 'talaria ask' takes a message");
    if (args_given(args, "conversation") && o->resume)
        return err_set(err, ERR_USAGE, "--conversation or --resume, not both");
    if (o->template.n && (o->resume || o->conversation.n))
        return err_set(err, ERR_USAGE, "--template is for a new conversation");
    return true;
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    ChatOptions o = { .settings = &cli->settings,
                      .runtime = args_text(args, "runtime"),
                      .model = args_text(args, "model"),
                      .template = args_text(args, "template"),
                      .conversation = args_count(args) ? args_operand(args, 0)
                                                       : args_text(args, "conversation"),
                      .resume = args_flag(args, "resume"),
                      .color = cli->color,
                      .quiet = cli->quiet };
    Str *files;

    if (!check(cli, args, &o, err) ||
        !args_files(cli->arena, args, LIMIT_FILES, &files, &o.n_files, err))
        return false;
    o.files = files;
    return cli_homes(cli, &o.homes, err) && chat(&o, &cli->told, err);
}

static const Example examples[] = {
    { "talaria chat", "start a chat; without a model, answers are quotes from your history" },
    { "talaria chat --runtime hermes --file notes.md", "chat with Hermes about a file" },
    { "talaria chat --resume", "continue the most recent session" },
    { 0 },
};

const Command cmd_chat = { .name = "chat",
                           .operands = "[ID]",
                           .values = "sessions",
                           .summary = "chat with an agent in the terminal",
                           .details = CHAT_DETAILS,
                           .options = options,
                           .examples = examples,
                           .draws = true,
                           .run = run };
