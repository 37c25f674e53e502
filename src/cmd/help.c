/* What the tables say: as help on the terminal, and as man pages (scdoc). */
#include <stdarg.h>

#include "cmd/args.h"
#include "cmd/version.h"
#include "text/utf8.h"
#include "text/wrap.h"

/* -- words -- */

static void add_path(Buf *out, const Command *const *path, size_t depth, const char *between)
{
    for (size_t i = 0; i < depth; i++)
        buf_addf(out, "%s%s", i ? between : "", path[i]->name);
}

/* "--limit N", "--type code|file", "-q, --quiet" */
static void add_option(Buf *out, const Option *o)
{
    if (o->letter)
        buf_addf(out, "-%c, ", o->letter);
    buf_addf(out, "--%s", o->name);
    if (o->kind != OPTION_FLAG)
        buf_addf(out, " %s", o->metavar ? o->metavar : "VALUE");
}

/* "mock: simulated answers; model: your model" says already what can be chosen. */
static bool explains_choices(Arena *a, const Option *o)
{
    Str rest = str_of(o->choices), one;

    while (rest.n && str_split(&rest, '|', &one)) {
        Str named = str_printf(a, "%.*s: ", STR_FMT(one));

        if (str_find(str_of(o->help), named) == strlen(o->help))
            return false;
    }
    return true;
}

/* Before the default; in brackets if the help text has a colon or semicolon. */
static void add_choices(Buf *out, const Option *o)
{
    Str help = str_of(o->help), text = str_head(help, str_find(help, STR(" (default")));
    bool apart = memchr(text.p, ':', text.n) || memchr(text.p, ';', text.n);

    buf_add(out, text);
    buf_addz(out, apart ? " (" : ": ");
    for (const char *p = o->choices; *p; p++)
        if (*p == '|')
            buf_addz(out, ", ");
        else
            buf_addc(out, *p);
    if (o->kind == OPTION_TEXT)
        buf_addz(out, ", ...");
    if (apart)
        buf_addc(out, ')');
    buf_add(out, str_skip(help, text.n));
}

static void add_option_help(Arena *a, Buf *out, const Option *o)
{
    if (o->choices && !explains_choices(a, o))
        add_choices(out, o);
    else
        buf_addz(out, o->help);
    if (o->fallback)
        buf_addf(out, " (default: %s)", o->fallback);
}

/* -- the terminal -- */

/* Two columns; the right one is wrapped at words, in a pipe too: help is always for a person. */
static void row(Cli *cli, Str left, Str right, size_t indent)
{
    size_t width = cli_width(cli), used = 2 + utf8_columns(left);

    say(cli, "  %s%.*s%s", style(cli, STYLE_BOLD), STR_FMT(left), style(cli, STYLE_OFF));
    if (used + 2 > indent) {
        say(cli, "\n");
        used = 0;
    }
    say(cli, "%*s", (int)(indent - used), "");
    text_wrap(cli->out, right, indent, indent, width < 100 ? width : 100);
    say(cli, "\n");
}

static void title(Cli *cli, const char *text)
{
    say(cli, "\n%s%s%s\n", style(cli, STYLE_CYAN), text, style(cli, STYLE_OFF));
}

static void print_options(Cli *cli, const char *heading, const Option *options)
{
    if (!options || options->kind == OPTION_END)
        return;
    title(cli, heading);
    for (; options->kind != OPTION_END; options++) {
        if (options->hidden)
            continue;
        AUTO_BUF left = BUF(256), right = BUF(1024);

        add_option(&left, options);
        add_option_help(cli->arena, &right, options);
        row(cli, buf_str(&left), buf_str(&right), 28);
    }
}

static void print_children(Cli *cli, const Command *c)
{
    title(cli, "Commands");
    for (const Command *child = c->children; child->name; child++) {
        AUTO_BUF left = BUF(256);

        buf_addf(&left, "%s%s%s", child->name, child->operands ? " " : "",
                 child->operands ? child->operands : "");
        row(cli, buf_str(&left), str_of(child->summary), 28);
    }
}

void help_print(Cli *cli, const Command *const *path, size_t depth)
{
    const Command *c = path[depth - 1];
    AUTO_BUF name = BUF(256);

    add_path(&name, path, depth, " ");
    say_prosef(cli, 4, "%s: %s", name.p, c->summary);
    if (c->examples) {
        title(cli, "Examples");
        for (const Example *e = c->examples; e->command; e++) {
            say(cli, "  %s%s%s\n      ", style(cli, STYLE_BOLD), e->command, style(cli, STYLE_OFF));
            say_prose(cli, 6, 6, str_of(e->meaning));
        }
    }
    title(cli, "Usage");
    say(cli, "  %s%s%s%s%s\n", name.p, c->children ? " COMMAND" : "",
        c->options || depth == 1 ? " [OPTIONS]" : "", c->operands ? " " : "",
        c->operands ? c->operands : "");
    if (c->details) {
        say(cli, "\n");
        say_prose(cli, 0, 0, str_of(c->details));
    }
    if (c->children)
        print_children(cli, c);
    print_options(cli, "Options", c->options);
    print_options(cli, depth == 1 ? "Options" : "Global options", global_options);
}

/* -- man pages -- */

/* scdoc takes _ * < and friends for markup. */
static void man_text(Cli *cli, const char *text)
{
    for (; *text; text++) {
        if (strchr("_*\\#`<[", *text))
            say(cli, "\\");
        say(cli, "%c", *text);
    }
}

static void man_options(Cli *cli, const Option *options)
{
    for (; options && options->kind != OPTION_END; options++) {
        if (options->hidden)
            continue;
        AUTO_BUF help = BUF(1024);

        say(cli, "*%s--%s*",
            options->letter ? (char[]){ '-', options->letter, '*', ',', ' ', '*', 0 } : "",
            options->name);
        if (options->kind != OPTION_FLAG)
            say(cli, " _%s_", options->metavar ? options->metavar : "VALUE");
        add_option_help(cli->arena, &help, options);
        say(cli, "\n\t");
        man_text(cli, help.p);
        say(cli, "\n\n");
    }
}

static void man_command(Cli *cli, const Command *c, const char *prefix)
{
    say(cli, "*%s %s*", prefix, c->name);
    if (c->operands) {
        say(cli, " ");
        man_text(cli, c->operands);
    }
    say(cli, "\n\t");
    man_text(cli, c->summary);
    if (c->details) {
        say(cli, "\n\n\t");
        for (const char *p = c->details; *p; p++) {
            const char one[2] = { *p, 0 };

            man_text(cli, one);
            if (*p == '\n' && p[1] && p[1] != '\n')
                say(cli, "\t");
        }
    }
    say(cli, "\n\n");
}

static void man_examples(Cli *cli, const Example *e)
{
    if (!e)
        return;
    say(cli, "# EXAMPLES\n\n");
    for (; e->command; e++) {
        say(cli, "*");
        man_text(cli, e->command);
        say(cli, "*\n\t");
        man_text(cli, e->meaning);
        say(cli, "\n\n");
    }
}

bool help_man(Cli *cli, Str command, Err *err)
{
    const Command *c = command.n ? command_child(cli->root, command) : cli->root;

    if (!c)
        return err_set(err, ERR_NOT_FOUND, "no command '%.*s'", STR_FMT(command));
    say(cli, "talaria%s%.*s(1)\n\n# NAME\n\ntalaria%s%.*s - ", command.n ? "-" : "",
        STR_FMT(command), command.n ? "-" : "", STR_FMT(command));
    man_text(cli, c->summary);
    say(cli, "\n\n# SYNOPSIS\n\n*talaria*%s%.*s%s", command.n ? " *" : "", STR_FMT(command),
        command.n ? "*" : "");
    say(cli, "%s \\[options\\] ", c->children ? " _COMMAND_" : "");
    if (c->operands)
        man_text(cli, c->operands);
    say(cli, "\n\n");
    if (c->children)
        say(cli, "# COMMANDS\n\n");
    for (const Command *child = c->children; child && child->name; child++) {
        man_command(cli, child,
                    command.n ? str_printf(cli->arena, "talaria %s", c->name).p : "talaria");
        if (child->options && command.n)
            man_options(cli, child->options);
    }
    if (!c->children && c->details) {
        say(cli, "# DESCRIPTION\n\n");
        man_text(cli, c->details);
        say(cli, "\n\n");
    }
    say(cli, "# OPTIONS\n\n");
    man_options(cli, c->options);
    man_options(cli, global_options);
    man_examples(cli, c->examples);
    say(cli,
        "# EXIT STATUS\n\n0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict or locked, 5 "
        "refused, 130 and 143 ended by a signal.\n\n# SEE ALSO\n\n*talaria*(1)\n");
    return true;
}
