/* cli.h - the frame of every command: options, output, settings, errors.
 *
 * A command is one row: name, operands, summary, options, examples, children, function. The rows
 * are the parser, the help, the man page and the completion: there is no second place to keep in
 * step. A command parses nothing itself, calls one feature and prints.
 *
 * Data goes to cli->out (standard output, flushed at the end; a closed pipe ends quietly), talk
 * goes to the log. With --json the command writes one JSON object that begins with "format": 1. */
#ifndef TALARIA_CMD_CLI_H
#define TALARIA_CMD_CLI_H

#include "base/buf.h"
#include "base/err.h"
#include "store/homes.h"
#include "store/store.h"
#include "text/json.h"
#include "text/settings.h"

typedef struct Cli Cli;
typedef struct Args Args;

/* -- tables -- */

typedef enum OptionKind {
    OPTION_END, /* a row of zeros ends the table */
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER, /* a whole number, not negative */
    OPTION_CHOICE,
    OPTION_FOLDER, /* text that completes to folders */
    OPTION_TIME    /* as when_parse takes it: 7d, yesterday, last week, 2026-11-15 */
} OptionKind;

typedef struct Option {
    OptionKind kind;
    const char *name, *metavar, *help;
    const char *fallback; /* default as text, or NULL */
    const char *choices;  /* "a|b|c"; with OPTION_TEXT what completion offers beside other text */
    char letter;          /* short form, or 0 */
    const char *values; /* completes to what `help --complete-values` lists: "sessions", or NULL */
    bool hidden;        /* only for the completion scripts: not in the help */
} Option;

/* The fields that every row has: { OPT_TEXT("project", "PROJECT", "only sessions in this folder")
 * }, and further ones behind. */
#define OPT_ROW(kind_, name_, metavar_, help_)                                                     \
    .kind = (kind_), .name = (name_), .metavar = (metavar_), .help = (help_)
#define OPT_FLAG(name, help)            OPT_ROW(OPTION_FLAG, name, NULL, help)
#define OPT_TEXT(name, metavar, help)   OPT_ROW(OPTION_TEXT, name, metavar, help)
#define OPT_NUMBER(name, metavar, help) OPT_ROW(OPTION_NUMBER, name, metavar, help)
#define OPT_CHOICE(name, metavar, help) OPT_ROW(OPTION_CHOICE, name, metavar, help)
#define OPT_FOLDER(name, metavar, help) OPT_ROW(OPTION_FOLDER, name, metavar, help)
#define OPT_TIME(name, metavar, help)   OPT_ROW(OPTION_TIME, name, metavar, help)

typedef struct Example {
    const char *command, *meaning;
} Example;

typedef struct Command {
    const char *name, *summary;
    const char *operands; /* "KEY [VALUE]", "FILE...": the parser counts by it; or NULL */
    const char *details;  /* further paragraphs for --help and the man page, or NULL */
    const Option *options;
    const Example *examples;        /* ended by a row of zeros, or NULL */
    const struct Command *children; /* likewise */
    bool any_settings;              /* runs, by the defaults, also where config.yaml is wrong */
    bool draws;                     /* its output is not prose: no line of it is wrapped */
    bool acts;          /* its output only reports what it did: nothing of it with --quiet */
    const char *values; /* what its operands complete to, as of an Option */
    bool outside_demo;  /* runs on the user's own folders also with --demo */
    bool (*run)(Cli *cli, const Args *args, Err *err);
} Command;

/* -- what a command is given -- */

struct Cli {
    Arena *arena; /* lives as long as the command */
    Buf *out;
    bool json, quiet, color;
    bool told; /* the command has said on stderr itself why it fails */
    Settings settings;
    HomesQuery where;
    Homes homes;
    bool homes_known;
    bool with_profiles; /* also where the setting homes.profiles does not ask for them */
    Store *store;
    const Command *root;
};

bool args_flag(const Args *args, const char *option);
bool args_given(const Args *args, const char *option);    /* on the command line */
Str args_text(const Args *args, const char *option);      /* p NULL: not given, no default */
const char *args_z(const Args *args, const char *option); /* the same, NUL-terminated; or NULL */
int64_t args_number(const Args *args, const char *option);
double args_time(const Args *args, const char *option); /* 0: not given */
/* Options as they came, for those that may be repeated: size_t at = 0; while (args_each(...)). */
bool args_each(const Args *args, size_t *at, const Option **ret_option, Str *ret_text);
/* Every --file, at most `max`. */
MUST_CHECK bool args_files(Arena *a, const Args *args, size_t max, Str **ret, size_t *ret_n,
                           Err *err);
size_t args_count(const Args *args);
Str args_operand(const Args *args, size_t i); /* p NULL past the last one */
Str args_words(Arena *a, const Args *args); /* all of them as one text, as if it had been quoted */

/* The homes that --home, --data and the environment mean; the store over them. Opened once. */
MUST_CHECK bool cli_homes(Cli *cli, const Homes **ret, Err *err);
MUST_CHECK bool cli_store(Cli *cli, Store **ret, Err *err);

/* Begins the object of --json: the caller adds fields and ends with cli_json_end. */
JsonWriter cli_json_begin(Cli *cli);
void cli_json_end(Cli *cli, JsonWriter *w);

/* printf to cli->out. */
void say(Cli *cli, const char *fmt, ...) PRINTF(2, 3);
/* Text from outside, made safe for a terminal (no escapes, no controls). */
void say_text(Cli *cli, Str s, bool lines);
/* Prose that begins at column `used` and ends its line: on a terminal wrapped at words, with
 * further lines indented; in a pipe one line. say_prose takes text as it is, say_prosef formats
 * it. */
void say_prose(Cli *cli, size_t used, size_t indent, Str text);
void say_prosef(Cli *cli, size_t indent, const char *fmt, ...) PRINTF(3, 4);
/* Advice on what to do next. Only for a person: on stderr, if both outputs are terminals, and
 * neither with --quiet nor with --json. */
void hint(Cli *cli, const char *fmt, ...) PRINTF(2, 3);

typedef enum Style {
    STYLE_OFF,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_BLUE,
    STYLE_MAGENTA,
    STYLE_CYAN
} Style;
const char *style(const Cli *cli, Style s); /* "" without colour */

bool cli_on_terminal(const Cli *cli); /* a person reads standard output */
size_t cli_width(const Cli *cli);     /* columns of that terminal; $COLUMNS or 100 in a pipe */

/* The child of that name, or NULL. */
const Command *command_child(const Command *c, Str name);

/* -- the frame itself -- */

extern const Option global_options[];

/* Parses and runs; returns the exit code. argv as given to main. */
int cli_main(const Command *root, int argc, char **argv);

/* Parses only. On success the leaf command and its arguments. For main, and for the fuzz target. */
MUST_CHECK bool cli_parse(Cli *cli, Arena *a, int argc, char **argv, const Command **ret_command,
                          Args **ret_args, Err *err);

/* -- help.c and complete.c: what the tables say -- */

void help_print(Cli *cli, const Command *const *path, size_t depth);
MUST_CHECK bool help_man(Cli *cli, Str command, Err *err); /* scdoc source */
MUST_CHECK bool help_completion(Cli *cli, Str shell, Err *err);
MUST_CHECK bool help_values(Cli *cli, Str kind, Err *err); /* for completion: one a line */

#endif
