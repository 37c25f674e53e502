/* talaria sessions resume: becomes the program that wrote a session, in the session's folder. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "cmd/cmd_sessions.h"
#include "recall/resume.h"

const Example sessions_resume_examples[] = {
    { "talaria sessions resume 3add75b6", "open it in the agent that wrote it" },
    { "talaria sessions resume 3add75b6 --print", "print the command instead" },
    { 0 },
};

const Option sessions_resume_options[] = {
    { OPT_FLAG("print", "print the command, run nothing") },
    { 0 },
};

/* As a shell looks for it, but never in the folder we happen to be in. */
static Str on_path(Arena *a, Str program)
{
    Str rest = str_of(getenv("PATH")), folder;

    while (str_split(&rest, ':', &folder)) {
        Str path = str_join_path(a, folder, program);

        if (str_starts(folder, STR("/")) && access(str_z(a, path), X_OK) == 0)
            return path;
    }
    return STR_NONE;
}

/* Talaria means this program, wherever it is installed, with the same data folder. */
static bool find_program(Cli *cli, const Resume *r, Str *ret, Err *err)
{
    if (str_eqz(r->program, "talaria")) {
        (void)setenv("TALARIA_HOME", str_z(cli->arena, cli->homes.data), 1);
        *ret = STR("/proc/self/exe");
        return true;
    }
    if (!on_path(cli->arena, r->program).n)
        return err_set(err, ERR_NOT_FOUND,
                       "'%.*s' is not on PATH; install it, or continue here: "
                       "talaria chat --resume %.*s",
                       STR_FMT(r->program), STR_FMT(r->argv[r->n - 1]));
    *ret = on_path(cli->arena, r->argv[0]);
    return true;
}

/* Returns only where it failed. */
static bool become(Cli *cli, const Resume *r, Err *err)
{
    char *argv[RESUME_WORDS + 1] = { NULL };
    size_t n = 0;
    Str path;

    if (!find_program(cli, r, &path, err))
        return false;
    if (r->folder.n && chdir(str_z(cli->arena, r->folder)) != 0)
        return err_errno(err, "cannot enter '%.*s', the session's folder", STR_FMT(r->folder));
    for (size_t i = 0; i < r->n; i++)
        if (!str_eqz(r->argv[i], "--demo")) /* the environment is the demo's already */
            argv[n++] = str_z(cli->arena, r->argv[i]);
    (void)unsetenv("TALARIA_DEMO");
    signal(SIGPIPE, SIG_DFL); /* ours to ignore, not the agent's */
    execv(str_z(cli->arena, path), argv);
    return err_errno(err, "cannot run '%.*s'", STR_FMT(r->program));
}

static bool print(Cli *cli, const HistoryItem *item)
{
    Str line = resume_command(cli->arena, item);
    JsonWriter w;

    if (cli->json) {
        w = cli_json_begin(cli);
        json_field_str(&w, "id", item->lineage.tip.id);
        json_field_str(&w, "resume_command", line);
        cli_json_end(cli, &w);
    } else {
        say_text(cli, line, false);
        say(cli, "\n");
    }
    return true;
}

bool sessions_resume(Cli *cli, const Args *args, Err *err)
{
    AUTO(History) *h = sessions_history(cli, err);
    HistoryItem item;
    Resume r;

    if (!h || !history_find(h, cli->arena, args_operand(args, 0), &item, err))
        return false;
    if (!resume_plan(cli->arena, &item, &r))
        return err_set(err, ERR_INVALID,
                       "session '%.*s' cannot be resumed in its own program; 'talaria chat "
                       "--resume %.*s' continues it here",
                       STR_FMT(item.lineage.tip.id), STR_FMT(item.lineage.tip.id));
    return args_flag(args, "print") || cli->json ? print(cli, &item) : become(cli, &r, err);
}
