/* From argv to a command and its arguments, by the tables alone.
 *
 * Global options may appear anywhere. An error names the nearest known word only if it is close. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cmd/args.h"
#include "text/when.h"

const Option global_options[] = {
    { OPT_FOLDER("home", "DIR", "use only this history folder") },
    { OPT_FOLDER("data", "DIR", "Talaria's data folder (default: $TALARIA_HOME)") },
    { OPT_FOLDER("claude-home", "DIR",
                 "Claude Code folder (default: $CLAUDE_CONFIG_DIR, ~/.claude)") },
    { OPT_FOLDER("codex-home", "DIR", "Codex folder (default: $CODEX_HOME, ~/.codex)") },
    { OPT_FLAG("demo", "use the sample data of 'talaria demo' and nothing else") },
    { OPT_FLAG("json", "print JSON") },
    { OPT_FLAG("quiet", "print errors only"), .letter = 'q' },
    { OPT_CHOICE("color", "WHEN", "use colors"), .fallback = "auto",
      .choices = "auto|always|never" },
    { OPT_FLAG("version", "print the versions of Talaria and its libraries") },
    { OPT_FLAG("help", "print this help"), .letter = 'h' },
    { 0 },
};

/* -- "did you mean" -- */

typedef struct Nearest {
    Str word;
    const char *best; /* NULL: nothing is close */
    size_t distance;
} Nearest;

/* A guess helps only if it is close: two letters at most, and less than half of the word. The
 * beginning of a word is close however long the rest is. */
static void consider(Nearest *n, const char *candidate)
{
    Str other = str_of(candidate);
    size_t d = str_distance(n->word, other);

    if (n->word.n >= 3 && str_starts(other, n->word) && d > 1)
        d = 1;
    if (d > 2 || 2 * d >= n->word.n || (n->best && d >= n->distance))
        return;
    n->distance = d;
    n->best = candidate;
}

/* " sessions list", as the command is typed. */
static void add_path(Buf *out, const Args *args)
{
    for (size_t i = 1; i < args->depth; i++)
        buf_addf(out, " %s", args->path[i]->name);
}

static bool unknown_option(const Args *args, Str word, Err *err)
{
    Nearest n = { .word = word };
    AUTO_BUF path = BUF(KIB(1));

    for (size_t i = 0; i < args->n_values; i++)
        consider(&n, args->values[i].option->name);
    add_path(&path, args);
    if (n.best)
        return err_set(err, ERR_USAGE, "unknown option '--%.*s'; did you mean '--%s'?",
                       STR_FMT(word), n.best);
    return err_set(err, ERR_USAGE, "unknown option '--%.*s'; see 'talaria%.*s --help'",
                   STR_FMT(word), STR_FMT(buf_str(&path)));
}

/* The same word as a command of another one ("list" is "sessions list"), or as an option. */
static bool known_elsewhere(const Args *args, const char *word, Buf *out)
{
    const Command *root = args->path[0];

    for (const Option *o = global_options; o->kind != OPTION_END; o++)
        if (strcmp(o->name, word) == 0) {
            buf_addf(out, "--%s", word);
            return true;
        }
    for (const Command *c = root->children; c->name; c++)
        if (command_child(c, str_of(word))) {
            buf_addf(out, "%s %s", c->name, word);
            return true;
        }
    return false;
}

static bool unknown_command(const Args *args, const char *word, Err *err)
{
    const Command *parent = args->path[args->depth - 1];
    Nearest n = { .word = str_of(word) };
    AUTO_BUF path = BUF(KIB(1)), guess = BUF(KIB(1));
    Str before;

    add_path(&path, args);
    buf_addc(&path, ' ');
    before = str_skip(buf_str(&path), 1);
    for (const Command *c = parent->children; c->name; c++)
        consider(&n, c->name);
    if (n.best)
        buf_addf(&guess, "%.*s%s", STR_FMT(before), n.best);
    else if (args->depth > 1 || !known_elsewhere(args, word, &guess))
        return err_set(err, ERR_USAGE, "unknown command '%.*s%s'; see 'talaria %.*s--help'",
                       STR_FMT(before), word, STR_FMT(before));
    return err_set(err, ERR_USAGE, "unknown command '%.*s%s'; did you mean '%.*s'?",
                   STR_FMT(before), word, STR_FMT(buf_str(&guess)));
}

/* -- options -- */

static void add_options(Args *args, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        ASSERT(args->n_values < MAX_OPTIONS);
        args->values[args->n_values++] = (ArgValue){ .option = options };
    }
}

/* By name, or (with an empty name) by letter. */
static ArgValue *find_option(Args *args, Str name, char letter)
{
    for (size_t i = 0; i < args->n_values; i++) {
        const Option *o = args->values[i].option;

        if (name.n ? str_eqz(name, o->name) : letter && o->letter == letter)
            return &args->values[i];
    }
    return NULL;
}

static bool keep_given(Args *args, ArgValue *v, const char *text, Err *err)
{
    if (args->n_given == MAX_GIVEN)
        return err_set(err, ERR_USAGE, "more than %d options", MAX_GIVEN);
    args->given[args->n_given].option = v->option;
    args->given[args->n_given++].text = text;
    v->text = text;
    return true;
}

static bool set_number(ArgValue *v, Str text, Err *err)
{
    const char *name = v->option->name;
    int64_t n;

    if (!str_to_int(text, INT64_MIN + 1, INT64_MAX, &n))
        return err_set(err, ERR_USAGE, "option '--%s' needs a whole number, not '%.*s'", name,
                       STR_FMT(text));
    if (n < 0)
        return err_set(err, ERR_USAGE, "option '--%s' cannot be negative, but is %.*s", name,
                       STR_FMT(text));
    if (n > INT32_MAX)
        return err_set(err, ERR_USAGE, "option '--%s' is at most %d, not %.*s", name, INT32_MAX,
                       STR_FMT(text));
    v->number = n;
    return true;
}

static bool set_value(Args *args, ArgValue *v, const char *text, Err *err)
{
    const Option *o = v->option;
    Str s = str_of(text);
    When when;

    if (o->kind == OPTION_NUMBER && !set_number(v, s, err))
        return false;
    if (o->kind == OPTION_TIME) {
        if (!when_parse(s, clock_wall(), &when))
            return err_set(err, ERR_USAGE, "option '--%s' needs a time such as %s, not '%s'",
                           o->name, WHEN_FORMS, text);
        v->time = when.from;
    }
    if (o->kind == OPTION_CHOICE && !str_is_one_of(s, o->choices))
        return err_set(err, ERR_USAGE, "option '--%s' is one of %s, not '%s'", o->name, o->choices,
                       text);
    return keep_given(args, v, text, err);
}

/* --name, --name=value, --name value. *at moves past what was used. */
static bool long_option(Args *args, int argc, char **argv, int *at, Err *err)
{
    Str word = str_of(argv[*at] + 2), name = word;
    const char *equals = strchr(argv[*at], '=');
    ArgValue *v;

    if (equals)
        name.n = (size_t)(equals - name.p);
    v = find_option(args, name, 0);
    if (!v)
        return unknown_option(args, name, err);
    if (v->option->kind == OPTION_FLAG) {
        if (equals)
            return err_set(err, ERR_USAGE, "option '--%s' takes no value", v->option->name);
        return keep_given(args, v, "", err);
    }
    if (equals)
        return set_value(args, v, equals + 1, err);
    if (*at + 1 >= argc)
        return err_set(err, ERR_USAGE, "option '--%s' needs %s", v->option->name,
                       v->option->metavar ? v->option->metavar : "a value");
    return set_value(args, v, argv[++*at], err);
}

/* -q, -hq, -nVALUE, -n VALUE. */
static bool short_options(Args *args, int argc, char **argv, int *at, Err *err)
{
    for (const char *p = argv[*at] + 1; *p; p++) {
        ArgValue *v = find_option(args, STR(""), *p);

        if (!v)
            return err_set(err, ERR_USAGE, "unknown option '-%c' in '%s'; see 'talaria help'", *p,
                           argv[*at]);
        if (v->option->kind == OPTION_FLAG) {
            if (!keep_given(args, v, "", err))
                return false;
            continue;
        }
        if (p[1])
            return set_value(args, v, p + 1, err);
        if (*at + 1 >= argc)
            return err_set(err, ERR_USAGE, "option '-%c' needs a value", *p);
        return set_value(args, v, argv[++*at], err);
    }
    return true;
}

/* -- words -- */

const Command *command_child(const Command *c, Str name)
{
    for (const Command *child = c->children; child && child->name; child++)
        if (str_eqz(name, child->name))
            return child;
    return NULL;
}

static bool descend(Args *args, const char *word, Err *err)
{
    const Command *c = command_child(args->path[args->depth - 1], str_of(word));

    if (!c)
        return unknown_command(args, word, err);
    ASSERT(args->depth < MAX_DEPTH);
    args->path[args->depth++] = c;
    add_options(args, c->options);
    return true;
}

/* How many operands a command takes: of "KEY [VALUE]" 1 or 2, of "FILE..." any number from 1 on. */
static void operand_range(const Command *c, size_t *ret_min, size_t *ret_max)
{
    Str rest = str_of(c->operands), word;

    *ret_min = *ret_max = 0;
    while (rest.n && str_split(&rest, ' ', &word)) {
        *ret_min += word.p[0] != '[';
        *ret_max = str_find(word, STR("...")) < word.n ? MAX_OPERANDS : *ret_max + 1;
    }
}

static bool take_word(Args *args, const char *word, Err *err)
{
    const Command *c = args->path[args->depth - 1];

    size_t min, max;

    if (c->children)
        return descend(args, word, err);
    operand_range(c, &min, &max);
    if (args->n_operands >= max) {
        AUTO_BUF path = BUF(KIB(1));

        add_path(&path, args);
        return err_set(err, ERR_USAGE, "unexpected argument '%s'; see 'talaria%.*s --help'", word,
                       STR_FMT(buf_str(&path)));
    }
    args->operands[args->n_operands++] = word;
    return true;
}

static bool check_operands(const Args *args, Err *err)
{
    const Command *c = args->path[args->depth - 1];
    AUTO_BUF path = BUF(KIB(1));
    size_t min, max;

    operand_range(c, &min, &max);
    if (args->n_operands >= min || args->help)
        return true;
    add_path(&path, args);
    return err_set(err, ERR_USAGE, "'talaria%.*s' needs %s; see 'talaria%.*s --help'",
                   STR_FMT(buf_str(&path)), c->operands, STR_FMT(buf_str(&path)));
}

/* Histories are looked for in many places, and in the programs that are started: the environment
 * reaches all of them. */
static bool take_folder(const Args *args, const char *option, const char *variable, Err *err)
{
    const char *given = args_z(args, option);
    struct stat st;

    if (!given)
        return true;
    if (stat(given, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_NOT_FOUND, "no folder '%s'", given);
    return setenv(variable, given, 1) == 0 || err_errno(err, "cannot set %s", variable);
}

static void take_globals(Cli *cli, Args *args)
{
    cli->where.home = args_z(args, "home");
    cli->where.data = args_z(args, "data");
    cli->json = args_flag(args, "json");
    cli->quiet = args_flag(args, "quiet");
    args->help = args_flag(args, "help");
    args->version = args_flag(args, "version");
}

/* Whether an error must be JSON, though the parser has not come to --json yet. */
static bool asks_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

bool cli_parse(Cli *cli, Arena *a, int argc, char **argv, const Command **ret_command,
               Args **ret_args, Err *err)
{
    Args *args = ARENA_NEW(a, Args);
    bool only_operands = false;

    args->path[args->depth++] = cli->root;
    add_options(args, global_options);
    add_options(args, cli->root->options);
    *ret_args = args;
    *ret_command = cli->root;
    for (int at = 1; at < argc; at++) {
        const char *word = argv[at];
        bool ok;

        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (only_operands || word[0] != '-' || !word[1])
            ok = take_word(args, word, err);
        else if (word[1] == '-')
            ok = long_option(args, argc, argv, &at, err);
        else
            ok = short_options(args, argc, argv, &at, err);
        *ret_command = args->path[args->depth - 1];
        take_globals(cli, args);
        if (!ok) {
            cli->json = asks_for_json(argc, argv);
            return false;
        }
    }
    return take_folder(args, "claude-home", "CLAUDE_CONFIG_DIR", err) &&
           take_folder(args, "codex-home", "CODEX_HOME", err) && check_operands(args, err);
}

/* -- answers -- */

/* A command that asks for an option that its table does not have is a bug. */
static const ArgValue *value_of(const Args *args, const char *option)
{
    const ArgValue *found = NULL;

    for (size_t i = 0; i < args->n_values; i++)
        if (strcmp(args->values[i].option->name, option) == 0)
            found = &args->values[i];
    ASSERT(found);
    return found;
}

bool args_given(const Args *args, const char *option)
{
    return value_of(args, option)->text != NULL;
}

bool args_each(const Args *args, size_t *at, const Option **ret_option, Str *ret_text)
{
    if (*at >= args->n_given)
        return false;
    *ret_option = args->given[*at].option;
    *ret_text = str_of(args->given[(*at)++].text);
    return true;
}

bool args_files(Arena *a, const Args *args, size_t max, Str **ret, size_t *ret_n, Err *err)
{
    *ret = ARENA_ARRAY(a, Str, args->n_given + 1);
    *ret_n = 0;
    for (size_t i = 0; i < args->n_given; i++)
        if (strcmp(args->given[i].option->name, "file") == 0)
            (*ret)[(*ret_n)++] = str_of(args->given[i].text);
    return *ret_n <= max || err_set(err, ERR_USAGE, "at most %zu files", max);
}

bool args_flag(const Args *args, const char *option)
{
    return args_given(args, option);
}

const char *args_z(const Args *args, const char *option)
{
    const ArgValue *v = value_of(args, option);

    return v->text ? v->text : v->option->fallback;
}

Str args_text(const Args *args, const char *option)
{
    return str_of(args_z(args, option));
}

int64_t args_number(const Args *args, const char *option)
{
    const ArgValue *v = value_of(args, option);
    int64_t n = 0;

    if (v->text)
        return v->number;
    ASSERT(!v->option->fallback || str_to_int(str_of(v->option->fallback), 0, INT32_MAX, &n));
    return n;
}

double args_time(const Args *args, const char *option)
{
    return value_of(args, option)->time;
}

size_t args_count(const Args *args)
{
    return args->n_operands;
}

Str args_operand(const Args *args, size_t i)
{
    return i < args->n_operands ? str_of(args->operands[i]) : STR_NONE;
}

Str args_words(Arena *a, const Args *args)
{
    AUTO_BUF b = BUF(LIMIT_OUTPUT_BYTES);

    for (size_t i = 0; i < args->n_operands; i++)
        buf_addf(&b, "%s%s", i ? " " : "", args->operands[i]);
    return str_dup(a, buf_str(&b));
}
