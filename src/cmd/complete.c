/* Shell completion for bash, zsh and fish, from the tables of the commands. */
#include "achievements/catalogue.h"
#include "cmd/cli.h"
#include "recall/history.h"
#include "recall/skills.h"
#include "templates/template.h"
#include "text/utf8.h"

/* The words after `path`, for every command: "list create show" and "--json --quiet". */
static void words(Buf *out, const Command *c, bool options)
{
    if (!options) {
        for (const Command *child = c->children; child && child->name; child++)
            buf_addf(out, "%s ", child->name);
        return;
    }
    for (const Option *o = c->options; o && o->kind != OPTION_END; o++)
        if (!o->hidden)
            buf_addf(out, "--%s ", o->name);
    for (const Option *o = global_options; o->kind != OPTION_END; o++)
        buf_addf(out, "--%s ", o->name);
}

static void bash_case(Cli *cli, const Command *c, const char *pattern)
{
    AUTO_BUF children = BUF(4096), options = BUF(4096);

    words(&children, c, false);
    words(&options, c, true);
    say(cli, "    %s) words='%s'; options='%s'; values='%s' ;;\n", pattern,
        children.p ? children.p : "", options.p ? options.p : "", c->values ? c->values : "");
}

/* What completes after an option of one command; `path` empty: of every command. */
static void bash_values(Cli *cli, const char *path, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        if (options->hidden ||
            (!options->choices && !options->values && options->kind != OPTION_FOLDER))
            continue;
        say(cli, "    '%s'*' --%s'", path, options->name);
        if (options->letter)
            say(cli, "|'%s'*' -%c'", path, options->letter);
        if (options->values)
            say(cli, ") _talaria_values %s; return ;;\n", options->values);
        else if (options->choices)
            say(cli,
                ") IFS='|'; mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"); return ;;\n",
                options->choices);
        else
            say(cli, ") mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n");
    }
}

/* Calls `fn` for every command, those with two words first: patterns are tried in that order. */
static void each_command(Cli *cli, void (*fn)(Cli *cli, const Command *c, const char *path))
{
    for (const Command *c = cli->root->children; c->name; c++) {
        for (const Command *child = c->children; child && child->name; child++)
            fn(cli, child, str_printf(cli->arena, "%s %s", c->name, child->name).p);
        fn(cli, c, c->name);
    }
}

static void bash_command_values(Cli *cli, const Command *c, const char *path)
{
    bash_values(cli, path, c->options);
}

static void bash_command_case(Cli *cli, const Command *c, const char *path)
{
    bash_case(cli, c, str_printf(cli->arena, c->children ? "'%s'" : "'%s'|'%s '*", path, path).p);
}

/* The path holds the words that are neither options nor values of global ones. */
static void bash_completion(Cli *cli)
{
    say(cli, "# bash completion for talaria: eval \"$(talaria help --completion bash)\"\n"
             "_talaria_values() {\n"
             "  local IFS=$'\\n'\n"
             "  mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]}\" help "
             "--complete-values \"$1\" 2>/dev/null | cut -f1)\" -- \"$cur\")\n"
             "}\n"
             "_talaria() {\n"
             "  local cur prev path='' w skip='' words='' options='' values='' IFS=$' \\t\\n'\n"
             "  cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}\n"
             "  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
             "    if [ -n \"$skip\" ]; then skip=''; continue; fi\n"
             "    case $w in --home|--data|--color) skip=1 ;; -*) ;; *) path=\"${path:+$path }$w\" "
             ";; esac\n"
             "  done\n"
             "  case \"$path $prev\" in\n");
    each_command(cli, bash_command_values);
    bash_values(cli, "", global_options);
    say(cli, "  esac\n  case $path in\n");
    bash_case(cli, cli->root, "''");
    each_command(cli, bash_command_case);
    say(cli, "  esac\n  case $cur in -*) words=$options; values='' ;; esac\n"
             "  if [ -n \"$values\" ]; then _talaria_values \"$values\"; return; fi\n"
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
        if (options->hidden)
            continue;
        say(cli, "complete -c talaria %s -l %s", condition, options->name);
        if (options->letter)
            say(cli, " -s %c", options->letter);
        if (options->kind != OPTION_FLAG)
            say(cli, " -r");
        if (options->values) {
            say(cli, " -f -a '(talaria help --complete-values %s 2>/dev/null)'", options->values);
        } else if (options->choices) {
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

static void fish_operands(Cli *cli, const Command *c, const char *condition)
{
    if (c->values)
        say(cli, "complete -c talaria -f %s -a '(talaria help --complete-values %s 2>/dev/null)'\n",
            condition, c->values);
}

/* Options with a value that may precede the command: "--home --data --color". */
static void say_valued(Cli *cli, const char *between)
{
    bool first = true;

    for (const Option *o = global_options; o->kind != OPTION_END; o++)
        if (o->kind != OPTION_FLAG) {
            say(cli, "%s--%s", first ? "" : between, o->name);
            first = false;
        }
}

static const char *fish_in(Cli *cli, const char *test, const char *command, const char *child)
{
    return str_printf(cli->arena, "-n '__talaria_%s %s%s%s'", test, command, *child ? " " : "",
                      child)
        .p;
}

static void fish_completion(Cli *cli)
{
    say(cli, "# fish completion for talaria: talaria help --completion fish | source\n"
             "function __talaria_path\n"
             "    set -l words (commandline -opc)\n    set -l skip 0\n"
             "    for w in $words[2..-1]\n        if test $skip = 1\n            set skip 0\n"
             "            continue\n        end\n        switch $w\n            case ");
    say_valued(cli, " ");
    say(cli, "\n                set skip 1\n            case '-*'\n            case '*'\n"
             "                echo $w\n        end\n    end\nend\n"
             "function __talaria_at\n    set -l path (__talaria_path)\n"
             "    test \"$path\" = \"$argv\"\nend\n"
             "function __talaria_in\n    set -l path (__talaria_path)\n"
             "    set -l n (count $argv)\n    test \"$path[1..$n]\" = \"$argv\"\nend\n");
    fish_children(cli, cli->root, "-n __talaria_at");
    fish_options(cli, global_options, "");
    for (const Command *c = cli->root->children; c->name; c++) {
        const char *in = fish_in(cli, "in", c->name, "");

        fish_children(cli, c, fish_in(cli, "at", c->name, ""));
        fish_options(cli, c->options, in);
        fish_operands(cli, c, in);
        for (const Command *child = c->children; child && child->name; child++) {
            in = fish_in(cli, "in", c->name, child->name);
            fish_options(cli, child->options, in);
            fish_operands(cli, child, in);
        }
    }
}

static void zsh_options(Cli *cli, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        AUTO_BUF spec = BUF(1024);

        if (options->hidden)
            continue;

        buf_addf(&spec, "--%s[", options->name);
        for (const char *p = options->help; *p; p++)
            if (!strchr("[]:", *p))
                buf_addc(&spec, *p);
        buf_addz(&spec, "]");
        if (options->values) {
            buf_addf(&spec, ":%s:_talaria_values %s", options->name, options->values);
        } else if (options->choices) {
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
    if (c->values)
        say(cli, " '*: :_talaria_values %s'", c->values);
    else
        say(cli, " '*: :_files'");
}

static void zsh_completion(Cli *cli)
{
    say(cli,
        "#compdef talaria\n# zsh completion for talaria: save as _talaria in a folder of $fpath\n"
        "_talaria_values() {\n  local -a values_\n  local kind_=$argv[-1]\n"
        "  values_=(${(f)\"$(talaria help --complete-values $kind_ 2>/dev/null | sed -e "
        "'s/:/\\\\:/g' -e $'s/\\t/:/')\"})\n"
        "  _describe $kind_ values_\n}\n"
        "_talaria() {\n  local -a words_ path_\n  local w skip_=0\n"
        "  for w in ${words[2,CURRENT-1]}; do\n"
        "    if (( skip_ )); then skip_=0; elif [[ $w == (");
    say_valued(cli, "|");
    say(cli, ") ]]; then skip_=1; elif [[ $w != -* ]]; then path_+=$w; fi\n  done\n"
             "  case \"$path_\" in\n    '') if (( skip_ )) || [[ $PREFIX == -* ]]; then ");
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

/* -- values: session ids, templates, settings, skills -- */

enum { MAX_SESSIONS = 200, MAX_TEXT = 60, LOOK_MS = 200 };

/* "value<Tab>what it is": fish takes it so, the scripts of bash and zsh cut it. */
static void put_value(Cli *cli, Str value, Str text)
{
    say_text(cli, value, false);
    if (text.n) {
        say(cli, "\t");
        say_text(cli, utf8_fit(cli->arena, text, MAX_TEXT), false);
    }
    say(cli, "\n");
}

static bool open_list(Cli *cli, History **ret_history, HistoryList **ret, Err *err)
{
    HistoryWhere where = { .files = !cli->where.home, .budget_ms = LOOK_MS };

    if (!cli_homes(cli, &where.homes, err) || !cli_store(cli, &where.store, err))
        return false;
    *ret_history = history_open(&where);
    *ret = history_list(*ret_history, &(HistoryQuery){ 0 }, err);
    return *ret != NULL;
}

static bool put_sessions(Cli *cli, Err *err)
{
    AUTO(History) *h = NULL;
    AUTO(HistoryList) *list = NULL;
    bool more = true;

    if (!open_list(cli, &h, &list, err))
        return false;
    for (size_t i = 0; i < MAX_SESSIONS; i++) {
        HistoryItem item;

        if (!history_next(list, cli->arena, &item, &more, err))
            return false;
        if (!more)
            break;
        put_value(cli, item.lineage.tip.id, item.lineage.title);
    }
    return true;
}

static bool put_sources(Cli *cli, Err *err)
{
    AUTO(History) *h = NULL;
    AUTO(HistoryList) *list = NULL;
    Str seen[32];
    size_t n = 0;
    bool more = true;

#define X(id, name, title) seen[n++] = STR(name);
    ORIGINS(X)
#undef X
    for (size_t i = 0; i < n; i++)
        put_value(cli, seen[i], STR_NONE);
    if (!open_list(cli, &h, &list, err))
        return false;
    for (size_t i = 0; i < MAX_SESSIONS && n < ARRAY_LEN(seen); i++) {
        HistoryItem item;
        size_t k = 0;

        if (!history_next(list, cli->arena, &item, &more, err))
            return false;
        if (!more)
            break;
        while (k < n && !str_eq(seen[k], item.lineage.tip.source))
            k++;
        if (k == n && item.lineage.tip.source.n)
            put_value(cli, seen[n++] = item.lineage.tip.source, STR_NONE);
    }
    return true;
}

static bool put_templates(Cli *cli, Err *err)
{
    const Homes *homes;
    Template *all;
    size_t n;

    if (!cli_homes(cli, &homes, err) || !templates_load(cli->arena, homes, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        put_value(cli, all[i].name, all[i].description);
    return true;
}

static bool put_settings(Cli *cli, Err *err)
{
    (void)err;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        put_value(cli, str_of(setting_infos[i].key), str_of(setting_infos[i].help));
    return true;
}

static bool put_skills(Cli *cli, Err *err)
{
    SkillPlaces places = { 0 };
    AUTO(Skills) *s = NULL;
    const Skill *all;
    size_t n;

    if (!cli_homes(cli, &places.homes, err))
        return false;
    s = skills_open(&places, err);
    if (!s || !skills_refresh(s, 0, err))
        return false;
    all = skills_all(s, &n);
    for (size_t i = 0; i < n; i++)
        put_value(cli, all[i].name, all[i].description);
    return true;
}

static bool put_badges(Cli *cli, Err *err)
{
    const Catalogue *c = catalogue();

    (void)err;
    for (size_t i = 0; i < c->n; i++)
        put_value(cli, c->all[i].id, c->all[i].name);
    return true;
}

bool help_values(Cli *cli, Str kind, Err *err)
{
    static const struct {
        const char *kind;
        bool (*put)(Cli *cli, Err *err);
    } kinds[] = { { "sessions", put_sessions },   { "sources", put_sources },
                  { "templates", put_templates }, { "settings", put_settings },
                  { "skills", put_skills },       { "badges", put_badges } };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eqz(kind, kinds[i].kind))
            return kinds[i].put(cli, err);
    return err_set(err, ERR_USAGE, "no values for '%.*s'", STR_FMT(kind));
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
