/* Shell completion for bash, zsh and fish, from the tables of the commands. */
#include "cmd/cli.h"

/* The words after `path`, for every command: "list create show" and "--json --quiet". */
static void words(Buf *out, const Command *c, bool options)
{
    if (!options) {
        for (const Command *child = c->children; child && child->name; child++)
            buf_addf(out, "%s ", child->name);
        return;
    }
    for (const Option *o = c->options; o && o->kind != OPTION_END; o++)
        buf_addf(out, "--%s ", o->name);
    for (const Option *o = global_options; o->kind != OPTION_END; o++)
        buf_addf(out, "--%s ", o->name);
}

static void bash_case(Cli *cli, const Command *c, const char *pattern)
{
    AUTO_BUF children = BUF(4096), options = BUF(4096);

    words(&children, c, false);
    words(&options, c, true);
    say(cli, "    '%s') words='%s'; options='%s' ;;\n", pattern, children.p ? children.p : "",
        options.p ? options.p : "");
}

/* Choices and folders complete after their option, whatever the command. */
static void bash_values(Cli *cli, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        if (options->kind == OPTION_FOLDER)
            say(cli, "    --%s) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n",
                options->name);
        if (options->choices)
            say(cli, "    --%s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"); return ;;\n",
                options->name, options->choices);
    }
}

static void bash_completion(Cli *cli)
{
    const Command *root = cli->root;

    say(cli, "# bash completion for talaria: eval \"$(talaria help --completion bash)\"\n"
             "_talaria() {\n"
             "  local cur prev path='' w words='' options=''\n"
             "  cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}\n"
             "  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
             "    case $w in -*) ;; *) path=\"${path:+$path }$w\" ;; esac\n"
             "  done\n"
             "  local IFS='|'\n  case $prev in\n");
    bash_values(cli, global_options);
    for (const Command *c = root->children; c->name; c++) {
        bash_values(cli, c->options);
        for (const Command *child = c->children; child && child->name; child++)
            bash_values(cli, child->options);
    }
    say(cli, "  esac\n  IFS=$' \\t\\n'\n  case $path in\n");
    bash_case(cli, root, "");
    for (const Command *c = root->children; c->name; c++) {
        bash_case(cli, c, c->name);
        for (const Command *child = c->children; child && child->name; child++)
            bash_case(cli, child, str_printf(cli->arena, "%s %s", c->name, child->name).p);
    }
    say(cli, "  esac\n  case $cur in -*) words=$options ;; esac\n"
             "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
             "}\ncomplete -o default -F _talaria talaria\n");
}

/* In single quotes for a shell. */
static void quoted(Cli *cli, const char *text)
{
    say(cli, "'");
    for (; *text; text++)
        if (*text == '\'')
            say(cli, "'\\''");
        else
            say(cli, "%c", *text);
    say(cli, "'");
}

static void fish_options(Cli *cli, const Option *options, const char *condition)
{
    for (; options && options->kind != OPTION_END; options++) {
        say(cli, "complete -c talaria %s -l %s", condition, options->name);
        if (options->letter)
            say(cli, " -s %c", options->letter);
        if (options->kind != OPTION_FLAG)
            say(cli, " -r");
        if (options->choices) {
            say(cli, " -f -a '");
            for (const char *p = options->choices; *p; p++)
                say(cli, "%c", *p == '|' ? ' ' : *p);
            say(cli, "'");
        }
        say(cli, " -d ");
        quoted(cli, options->help);
        say(cli, "\n");
    }
}

static void fish_children(Cli *cli, const Command *c, const char *condition)
{
    for (const Command *child = c->children; child && child->name; child++) {
        say(cli, "complete -c talaria -f %s -a %s -d ", condition, child->name);
        quoted(cli, child->summary);
        say(cli, "\n");
    }
}

static void fish_completion(Cli *cli)
{
    say(cli, "# fish completion for talaria: talaria help --completion fish | source\n");
    fish_children(cli, cli->root, "-n __fish_use_subcommand");
    fish_options(cli, global_options, "");
    for (const Command *c = cli->root->children; c->name; c++) {
        const char *seen = str_printf(cli->arena, "-n '__fish_seen_subcommand_from %s'", c->name).p;

        fish_children(cli, c, seen);
        fish_options(cli, c->options, seen);
        for (const Command *child = c->children; child && child->name; child++)
            fish_options(cli, child->options,
                         str_printf(cli->arena,
                                    "-n '__fish_seen_subcommand_from %s; and "
                                    "__fish_seen_subcommand_from %s'",
                                    c->name, child->name)
                             .p);
    }
}

static void zsh_options(Cli *cli, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        AUTO_BUF spec = BUF(1024);

        buf_addf(&spec, "--%s[", options->name);
        for (const char *p = options->help; *p; p++)
            if (!strchr("[]:", *p))
                buf_addc(&spec, *p);
        buf_addz(&spec, "]");
        if (options->choices) {
            buf_addf(&spec, ":%s:(", options->name);
            for (const char *p = options->choices; *p; p++)
                buf_addc(&spec, *p == '|' ? ' ' : *p);
            buf_addz(&spec, ")");
        } else if (options->kind != OPTION_FLAG) {
            buf_addf(&spec, ":%s:%s", options->name,
                     options->kind == OPTION_FOLDER ? "_files -/" : "");
        }
        say(cli, " ");
        quoted(cli, spec.p);
    }
}

static void zsh_children(Cli *cli, const Command *c)
{
    say(cli, "words_=(");
    for (const Command *child = c->children; child && child->name; child++) {
        say(cli, " ");
        quoted(cli, str_printf(cli->arena, "%s:%s", child->name, child->summary).p);
    }
    say(cli, "); _describe command words_");
}

static void zsh_leaf(Cli *cli, const Command *c)
{
    say(cli, "_arguments -s");
    zsh_options(cli, c->options);
    zsh_options(cli, global_options);
    say(cli, " '*: :_files'");
}

static void zsh_completion(Cli *cli)
{
    say(cli,
        "#compdef talaria\n# zsh completion for talaria: save as _talaria in a folder of $fpath\n"
        "_talaria() {\n  local -a words_ path_\n  local w\n"
        "  for w in ${words[2,CURRENT-1]}; do [[ $w == -* ]] || path_+=$w; done\n"
        "  case \"$path_\" in\n    '') if [[ $PREFIX == -* ]]; then ");
    zsh_leaf(cli, cli->root);
    say(cli, "; else ");
    zsh_children(cli, cli->root);
    say(cli, "; fi ;;\n");
    for (const Command *c = cli->root->children; c->name; c++) {
        if (c->children) {
            say(cli, "    '%s') ", c->name);
            zsh_children(cli, c);
            say(cli, " ;;\n");
        }
        for (const Command *child = c->children; child && child->name; child++) {
            say(cli, "    '%s %s'*) ", c->name, child->name);
            zsh_leaf(cli, child);
            say(cli, " ;;\n");
        }
        if (!c->children) {
            say(cli, "    '%s'*) ", c->name);
            zsh_leaf(cli, c);
            say(cli, " ;;\n");
        }
    }
    say(cli, "  esac\n}\n_talaria \"$@\"\n");
}

bool help_completion(Cli *cli, Str shell, Err *err)
{
    static const struct {
        const char *shell;
        void (*print)(Cli *cli);
    } shells[] = { { "bash", bash_completion },
                   { "zsh", zsh_completion },
                   { "fish", fish_completion } };

    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (str_eqz(shell, shells[i].shell)) {
            shells[i].print(cli);
            return true;
        }
    return err_set(err, ERR_USAGE, "no completion for '%.*s'", STR_FMT(shell));
}
