#include "terminal/slash.h"

const SlashRow slash_rows[SLASH_COUNT] = {
#define X(name, needs, operand, idle, what) { #name, operand, what, needs, idle },
    SLASH_COMMANDS(X)
#undef X
};

const SlashRow *slash_nearest(Str name)
{
    const SlashRow *best = NULL;
    size_t min = 3; /* edits that still look like a slip of the finger */

    for (size_t i = 0; i < SLASH_COUNT; i++) {
        Str row = str_of(slash_rows[i].name);
        size_t d = name.n > 1 && str_starts(row, name) ? 0 : str_distance(name, row);

        if (d < min && d < row.n) {
            min = d;
            best = &slash_rows[i];
        }
    }
    return best;
}

static SlashKind wrong(Str name, Err *err)
{
    const SlashRow *near = slash_nearest(name);

    if (near)
        (void)err_set(err, ERR_USAGE, "no command '/%.*s'; did you mean /%s?", STR_FMT(name),
                      near->name);
    else
        (void)err_set(err, ERR_USAGE, "no command '/%.*s'; /help shows them", STR_FMT(name));
    return SLASH_WRONG;
}

/* Of ASCII letters alone, up to a blank or the end; 0: not a command. */
static size_t name_length(Str s)
{
    size_t n = 0;

    while (n < s.n && ((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'z'))
        n++;
    return n == s.n || s.p[n] == ' ' || s.p[n] == '\t' || s.p[n] == '\n' ? n : 0;
}

static SlashKind command(const SlashRow *row, SlashId id, Str rest, SlashId *ret_id, Err *err)
{
    if (row->needs == SLASH_MUST && !rest.n) {
        (void)err_set(err, ERR_USAGE, "/%s needs%s: %s", row->name, row->operand, row->what);
        return SLASH_WRONG;
    }
    if (row->needs == SLASH_ALONE && rest.n) {
        (void)err_set(err, ERR_USAGE, "/%s takes no argument: %s", row->name, row->what);
        return SLASH_WRONG;
    }
    *ret_id = id;
    return SLASH_COMMAND;
}

/* Blanks before the first word belong to a message: it may be code. */
static Str message(Str line, Str trimmed)
{
    if (str_starts(trimmed, STR("//")))
        return str_skip(trimmed, 1);
    return trimmed.n ? (Str){ line.p, (size_t)(trimmed.p + trimmed.n - line.p) } : trimmed;
}

SlashKind slash_parse(Str line, SlashId *ret_id, Str *ret_rest, Err *err)
{
    Str name, trimmed = str_trim(line);
    size_t n = trimmed.n && trimmed.p[0] == '/' ? name_length(str_skip(trimmed, 1)) : 0;

    *ret_rest = message(line, trimmed);
    if (!n)
        return SLASH_MESSAGE;
    name = str_head(str_skip(trimmed, 1), n);
    *ret_rest = str_trim(str_skip(trimmed, n + 1));
    for (size_t i = 0; i < SLASH_COUNT; i++)
        if (str_eq_nocase(name, str_of(slash_rows[i].name)))
            return command(&slash_rows[i], (SlashId)i, *ret_rest, ret_id, err);
    return wrong(name, err);
}

void slash_help_add(Buf *out)
{
    enum { WIDE = 40 };

    for (size_t i = 0; i < SLASH_COUNT; i++) {
        const SlashRow *row = &slash_rows[i];
        size_t before = out->n;

        buf_addf(out, "  /%s%s", row->name, row->operand);
        buf_pad(out, ' ', before + WIDE > out->n ? before + WIDE - out->n : 1);
        buf_addf(out, "%s\n", row->what);
    }
}
