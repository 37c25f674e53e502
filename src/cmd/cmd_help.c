/* talaria help: the tables of every command, as help, man page or completion; and the limits. */
#include "base/limits.h"
#include "cmd/args.h"
#include "cmd/commands.h"

static const Option options[] = {
    { OPT_FLAG("man", "print the man page's scdoc source") },
    { OPT_CHOICE("completion", "SHELL", "print the completion script for a shell"),
      .choices = "bash|zsh|fish" },
    { OPT_TEXT("complete-values", "KIND", "list values for completion"), .hidden = true },
    { OPT_FLAG("limits", "print the built-in limits") },
    { 0 },
};

static const Example examples[] = {
    { "talaria help templates inject", "help for 'templates inject'" },
    { "eval \"$(talaria help --completion bash)\"", "enable completion in this shell" },
    { "talaria help --man sessions | scdoc | man -l -", "read the manual of 'sessions'" },
    { 0 },
};

static void print_limits(Cli *cli)
{
    static const struct {
        const char *name;
        size_t value;
        const char *what;
    } limits[] = {
#define X(name, value, what) { #name, value, what },
        LIMITS(X)
#undef X
    };
    JsonWriter w;

    if (!cli->json) {
        for (size_t i = 0; i < ARRAY_LEN(limits); i++)
            say(cli, "%-24s %12zu  %s\n", limits[i].name + strlen("LIMIT_"), limits[i].value,
                limits[i].what);
        return;
    }
    w = cli_json_begin(cli);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        json_field_int(&w, limits[i].name + strlen("LIMIT_"), (int64_t)limits[i].value);
    cli_json_end(cli, &w);
}

static bool run_help(Cli *cli, const Args *args, Err *err)
{
    const Command *path[MAX_DEPTH] = { cli->root };
    size_t depth = 1;

    if (args_given(args, "completion"))
        return help_completion(cli, args_text(args, "completion"), err);
    if (args_given(args, "complete-values"))
        return help_values(cli, args_text(args, "complete-values"), err);
    if (args_flag(args, "man"))
        return help_man(cli, args_operand(args, 0), err);
    if (args_flag(args, "limits")) {
        print_limits(cli);
        return true;
    }
    for (size_t i = 0; i < args_count(args) && depth < MAX_DEPTH; i++) {
        const Command *c = command_child(path[depth - 1], args_operand(args, i));

        if (!c)
            return err_set(err, ERR_NOT_FOUND, "no command '%.*s'; 'talaria help' lists them",
                           STR_FMT(args_operand(args, i)));
        path[depth++] = c;
    }
    help_print(cli, path, depth);
    return true;
}

const Command cmd_help = { .name = "help",
                           .operands = "[COMMAND...]",
                           .summary = "help, man pages and shell completion",
                           .options = options,
                           .examples = examples,
                           .run = run_help };
