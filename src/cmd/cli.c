/* Runs a command: settings, homes, store and output around it, and its failure in words. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/args.h"
#include "cmd/version.h"
#include "demo/demo.h"
#include "recall/resume.h"
#include "text/redact.h"
#include "text/utf8.h"
#include "text/wrap.h"

/* -- output -- */

static bool to_stdout(void *ctx, const char *p, size_t n)
{
    int *failure = ctx;

    while (n) {
        ssize_t put = write(STDOUT_FILENO, p, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            *failure = errno;
            return false;
        }
        p += put;
        n -= (size_t)put;
    }
    return true;
}

/* Commands that we name are to be typed: in the demo they need its option. */
static void add_with_commands(Buf *out, Str text)
{
    const Str begin = STR("'talaria "), demo = STR("demo");
    size_t at;

    for (; (at = str_find(text, begin)) < text.n; text = str_skip(text, begin.n)) {
        Str rest = str_skip(text, at + begin.n);
        Str command = str_head(rest, str_find(rest, STR("'")));

        buf_add(out, str_head(text, at));
        text = str_skip(text, at);
        if (str_starts(rest, demo) || str_find(command, STR("--demo")) < command.n)
            buf_add(out, begin);
        else
            buf_addf(out, "'%s ", resume_program());
    }
    buf_add(out, text);
}

void say(Cli *cli, const char *fmt, ...)
{
    char small[512];
    va_list args, again;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    ASSERT(n >= 0);
    if ((size_t)n < sizeof small && strstr(fmt, "'talaria ")) {
        add_with_commands(cli->out, (Str){ small, (size_t)n });
    } else if ((size_t)n < sizeof small) {
        buf_add(cli->out, (Str){ small, (size_t)n });
    } else {
        char *room = buf_room(cli->out, (size_t)n);

        if (room) {
            vsnprintf(room, (size_t)n + 1, fmt, again);
            cli->out->n += (size_t)n;
        }
    }
    va_end(again);
}

void say_text(Cli *cli, Str s, bool lines)
{
    utf8_show(cli->out, s, lines);
}

const char *style(const Cli *cli, Style s)
{
    static const char *const codes[] = {
        [STYLE_OFF] = "\033[0m",   [STYLE_BOLD] = "\033[1m",     [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m",   [STYLE_YELLOW] = "\033[33m",
        [STYLE_BLUE] = "\033[34m", [STYLE_MAGENTA] = "\033[35m", [STYLE_CYAN] = "\033[36m",
    };

    return cli->color ? codes[s] : "";
}

bool cli_on_terminal(const Cli *cli)
{
    (void)cli;
    return isatty(STDOUT_FILENO);
}

static size_t width_of(int fd)
{
    struct winsize size;
    int64_t columns;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return str_to_int(str_of(getenv("COLUMNS")), 40, 1000, &columns) ? (size_t)columns : 100;
}

size_t cli_width(const Cli *cli)
{
    (void)cli;
    return width_of(STDOUT_FILENO);
}

/* Lines of prose that are longer are hard to read, however wide the window is. */
static size_t prose_width(int fd)
{
    enum { LONGEST = 100 };
    size_t width = width_of(fd);

    return width < LONGEST ? width : LONGEST;
}

void say_prose(Cli *cli, size_t used, size_t indent, Str text)
{
    if (cli_on_terminal(cli))
        text_wrap(cli->out, text, used, indent, prose_width(STDOUT_FILENO));
    else
        buf_add(cli->out, text);
    buf_addc(cli->out, '\n');
}

void say_prosef(Cli *cli, size_t indent, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    say_prose(cli, 0, indent, str_of(text));
}

void hint(Cli *cli, const char *fmt, ...)
{
    AUTO_BUF line = BUF(KIB(8)), named = BUF(KIB(8));
    char text[1024];
    va_list args;

    if (cli->json || cli->quiet || !isatty(STDERR_FILENO) || !cli_on_terminal(cli))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_flush(cli->out); /* first what the hint is about */
    buf_addz(&line, style(cli, STYLE_DIM));
    add_with_commands(&named, str_of(text));
    text_wrap(&line, buf_str(&named), 0, 0, prose_width(STDERR_FILENO));
    buf_addf(&line, "%s\n", style(cli, STYLE_OFF));
    (void)!write(STDERR_FILENO, line.p, line.n);
}

static bool wants_color(const Args *args)
{
    const char *when = args_z(args, "color");
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    if (no && *no)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(STDOUT_FILENO);
}

JsonWriter cli_json_begin(Cli *cli)
{
    JsonWriter w = JSON_WRITER(cli->out, 2);

    json_begin(&w, '{');
    json_field_int(&w, "format", 1);
    return w;
}

void cli_json_end(Cli *cli, JsonWriter *w)
{
    json_end(w, '}');
    buf_addc(cli->out, '\n');
}

/* -- lines broken between words, on a terminal -- */

/* Whatever a command prints passes through here, so that no word is broken by the edge of the
 * window. A line that is too long continues below its own indent. Escape sequences have no
 * width. */
typedef struct Wrapped {
    size_t width;
    BufSink *sink; /* where the lines go */
    void *sink_ctx;
    size_t column, indent, spaces;
    bool begun; /* the line has a word */
    bool open;  /* the last word may continue in the next piece */
    Buf word;
} Wrapped;
/* The length of the escape sequence at the beginning: ESC [ ... letter, or ESC ] ... BEL or ESC
 * \. */
static size_t escape_length(Str s)
{
    size_t i = 2;

    if (s.n < 2 || s.p[0] != '\033')
        return 0;
    if (s.p[1] == '[') {
        while (i < s.n && (unsigned char)s.p[i] < 0x40)
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    if (s.p[1] != ']')
        return 2;
    while (i < s.n && s.p[i] != '\a' && s.p[i] != '\033')
        i++;
    if (i < s.n && s.p[i] == '\033')
        i++;
    return i < s.n ? i + 1 : s.n;
}

static size_t visible_columns(Str s)
{
    size_t columns = 0;

    while (s.n) {
        size_t skip = escape_length(s), run = 0;

        s = str_skip(s, skip);
        while (run < s.n && s.p[run] != '\033')
            run++;
        columns += utf8_columns(str_head(s, run));
        s = str_skip(s, run);
        if (!skip && !run)
            break;
    }
    return columns;
}

static bool put(Wrapped *w, Str s)
{
    return !s.n || w->sink(w->sink_ctx, s.p, s.n);
}

static bool put_spaces(Wrapped *w, size_t n)
{
    static const char spaces[] = "                                ";
    bool ok = true;

    for (; n && ok; n -= n < 32 ? n : 32)
        ok = put(w, (Str){ spaces, n < 32 ? n : 32 });
    return ok;
}

/* A word of which an earlier piece is on the line already stays there. */
static bool put_word(Wrapped *w)
{
    Str word = buf_str(&w->word);
    size_t columns = visible_columns(word), hang = w->indent + 2;
    bool ok;

    if (!w->begun && !w->open)
        w->indent = w->spaces;
    if (hang > w->width / 2)
        hang = w->width / 2;
    if (w->begun && !w->open && columns && w->column + w->spaces + columns > w->width) {
        ok = put(w, STR("\n")) && put_spaces(w, hang);
        w->column = hang;
    } else {
        ok = put_spaces(w, w->spaces);
        w->column += w->spaces;
    }
    ok = ok && put(w, word);
    w->column += columns;
    w->begun |= columns > 0;
    w->spaces = 0;
    w->open = columns > 0;
    w->word.n = 0;
    return ok;
}

/* A BufSink; ctx is a Wrapped. Nothing is held back between two calls. */
static bool wrapped_write(void *ctx, const char *p, size_t n)
{
    Wrapped *w = ctx;
    bool ok = true;

    for (size_t i = 0; i < n && ok; i++) {
        if (p[i] != ' ' && p[i] != '\n') {
            buf_addc(&w->word, p[i]);
            continue;
        }
        if (w->word.n)
            ok = put_word(w);
        if (p[i] == '\n') {
            w->column = w->spaces = w->indent = 0;
            w->begun = false;
            ok = ok && put(w, STR("\n"));
        } else {
            w->spaces++;
        }
        w->open = false;
    }
    if (ok && w->word.n)
        ok = put_word(w);
    return ok;
}

/* -- homes and store -- */

bool cli_homes(Cli *cli, const Homes **ret, Err *err)
{
    if (!cli->homes_known) {
        cli->where.profiles =
            cli->with_profiles || setting_bool(&cli->settings, SETTING_HOMES_PROFILES);
        if (!homes_find(cli->arena, &cli->where, &cli->homes, err))
            return false;
        cli->homes_known = true;
    }
    *ret = &cli->homes;
    return true;
}

bool cli_store(Cli *cli, Store **ret, Err *err)
{
    const Homes *homes;

    if (!cli->store) {
        if (!cli_homes(cli, &homes, err))
            return false;
        cli->store = store_open(homes, err);
    }
    *ret = cli->store;
    return cli->store != NULL;
}

/* -- running -- */

static int tell_failure(const Cli *cli, const Err *err)
{
    if (cli->told)
        return err_exit_code(err);
    if (cli->json) {
        AUTO_BUF text = BUF(KIB(8)), line = BUF(KIB(8));
        JsonWriter w = JSON_WRITER(&line, 0);

        redact_to(&text, str_of(err->text));
        json_begin(&w, '{');
        json_field_int(&w, "format", 1);
        json_field_str(&w, "error", str_of(err_name(err)));
        json_field_str(&w, "message", buf_str(&text));
        json_end(&w, '}');
        fprintf(stderr, "%s\n", line.p);
    } else {
        log_error("%s", err->text);
    }
    return err_exit_code(err);
}

/* --demo or $TALARIA_DEMO: from here on every folder, setting and token is the demo's. */
static bool enter_demo(Cli *cli, const Command *command, const Args *args, Err *err)
{
    Str variable = str_trim(str_of(getenv("TALARIA_DEMO")));
    HomesQuery query = { .data = cli->where.data };
    Homes outer;

    if (command->outside_demo)
        return true;
    if (!args_flag(args, "demo") && (!variable.n || str_eqz(variable, "0")))
        return true;
    if (cli->where.home)
        return err_set(err, ERR_USAGE, "--demo and --home exclude each other");
    if (!homes_find(cli->arena, &query, &outer, err) || !demo_enter(cli->arena, outer.data, err))
        return false;
    cli->where.data = NULL;
    resume_in_demo();
    return true;
}

static bool run(Cli *cli, const Command *command, Args *args, Err *err)
{
    if (args->version) {
        version_print(cli);
        return true;
    }
    if (args->help) {
        help_print(cli, args->path, args->depth);
        return true;
    }
    if (!command->run) {
        /* A word is missing: the help tells which there are. */
        if (!cli->json)
            help_print(cli, args->path, args->depth);
        cli->told = !cli->json;
        return err_set(err, ERR_USAGE, "'%s' needs a command; see 'talaria help'", command->name);
    }
    if (!enter_demo(cli, command, args, err))
        return false;
    if (!settings_load(cli->arena, &cli->settings, err)) {
        if (!command->any_settings)
            return false;
        settings_defaults(&cli->settings);
        cli->settings.path = settings_path(cli->arena);
    }
    return command->run(cli, args, err);
}

/* What the log writes to a terminal is prose: no word of it is broken. */
static void redacted_line(Str line, Buf *out)
{
    AUTO_BUF clean = BUF(KIB(8)), named = BUF(KIB(8)), shown = BUF(KIB(24));
    Str rest;

    redact_to(&clean, line);
    add_with_commands(&named, str_trim(buf_str(&clean)));
    rest = buf_str(&named);
    /* It contains names and ids from files: none of them may steer the terminal or look like our
     * message. Lists of ours have indented lines; every other break is shown as a sign. */
    for (size_t at; (at = str_find(rest, STR("\n  "))) < rest.n; rest = str_skip(rest, at + 3)) {
        utf8_show(&shown, str_head(rest, at), false);
        buf_add(&shown, STR("\n  "));
    }
    utf8_show(&shown, rest, false);
    buf_addc(&shown, '\n');
    if (isatty(STDERR_FILENO))
        text_wrap(out, buf_str(&shown), 0, strlen("talaria: "), prose_width(STDERR_FILENO));
    else
        buf_add(out, buf_str(&shown));
}

/* Where the report of a command goes with --quiet. */
static bool to_nowhere(void *ctx, const char *p, size_t n)
{
    (void)ctx;
    (void)p;
    (void)n;
    return true;
}

/* With --dry-run or --print what a command would do is what it was asked for. */
static bool only_looks(const Args *args)
{
    const Option *o;
    size_t at = 0;
    Str ignored;

    while (args_each(args, &at, &o, &ignored))
        if (strcmp(o->name, "dry-run") == 0 || strcmp(o->name, "print") == 0)
            return true;
    return false;
}

int cli_main(const Command *root, int argc, char **argv)
{
    AUTO(Arena) *arena = arena_new();
    int write_failure = 0, code = 0;
    AUTO_BUF out = { .max = LIMIT_OUTPUT_BYTES, .sink = to_stdout, .sink_ctx = &write_failure };
    Wrapped lines = { .sink = to_stdout, .sink_ctx = &write_failure, .word = BUF(MIB(1)) };
    Cli cli = { .arena = arena, .out = &out, .root = root };
    const Command *command;
    Args *args;
    double now;
    Err err = { .kind = ERR_INTERNAL, .text = "the command failed without a reason" };

    signal(SIGPIPE, SIG_IGN);
    if (str_to_double(str_of(getenv("TALARIA_NOW")), &now)) /* for tests and reproducible demos */
        clock_fix_wall(now);
    log_set_filter(redacted_line);
    if (!cli_parse(&cli, arena, argc, argv, &command, &args, &err))
        return tell_failure(&cli, &err);
    cli.color = wants_color(args);
    if (cli.quiet)
        log_set_level(LOG_ERROR);
    if (cli.quiet && !cli.json && command->acts && !only_looks(args) && !args->help &&
        !args->version)
        out.sink = to_nowhere;
    else if (cli_on_terminal(&cli) && !command->draws && !cli.json) {
        lines.width = cli_width(&cli);
        out.sink = wrapped_write;
        out.sink_ctx = &lines;
    }
    if (!run(&cli, command, args, &err))
        code = tell_failure(&cli, &err);
    progress_end();
    store_free(cli.store);
    buf_flush(&out);
    buf_done(&lines.word);
    /* A reader that went away (`| head`) is no failure; a full disk is. */
    if (write_failure && write_failure != EPIPE) {
        errno = write_failure;
        (void)err_errno(&err, "cannot write the output");
        code = tell_failure(&cli, &err);
    }
    return code;
}
