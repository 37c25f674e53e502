/* The comment is `key=value` in a fixed order with the evidence last, since it may hold blanks.
 * Values from outside lose what would end a comment. */
#include "sleep/task/rules.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/letters.h"

static const Str opening = STR_INIT("<!-- rule ");
static const Str closing = STR_INIT(" -->");

enum { NOTE_BYTES = 4096, MAX_SESSIONS = 8 };

/* -- The note -- */

static void set_value(Arena *a, RuleNote *note, Str key, Str value)
{
    const struct {
        const char *key;
        int64_t *number;
    } numbers[] = { { "night", &note->night },
                    { "until", &note->until },
                    { "helpful", &note->helpful },
                    { "harmful", &note->harmful } };
    Str one;

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (str_eqz(key, numbers[i].key))
            (void)!str_to_int(value, 0, INT64_MAX, numbers[i].number);
    if (str_eqz(key, "id"))
        note->id = str_dup(a, value);
    while (str_eqz(key, "sessions") && str_split(&value, ',', &one))
        if (one.n)
            LIST_PUSH(a, &note->sessions, str_dup(a, one));
}

static RuleNote read_note(Arena *a, Str body)
{
    RuleNote note = { 0 };
    Str word;

    while (body.n) {
        size_t equals;

        if (str_starts(body, STR("evidence="))) {
            note.evidence = str_dup(a, str_skip(body, 9));
            break;
        }
        (void)str_split(&body, ' ', &word);
        equals = str_find(word, STR("="));
        set_value(a, &note, str_head(word, equals), str_skip(word, equals + 1));
    }
    return note;
}

bool rule_note_take(Arena *a, Str *text, RuleNote *ret)
{
    Str s = text_trim(*text);
    size_t start = s.n, found;

    if (!str_ends(s, closing))
        return false;
    for (size_t from = 0; from < s.n; from = found + 1) {
        found = from + str_find(str_skip(s, from), opening);
        if (found >= s.n)
            break;
        start = found;
    }
    if (start + opening.n + closing.n > s.n)
        return false;
    *ret =
        read_note(a, str_head(str_skip(s, start + opening.n), s.n - start - opening.n - closing.n));
    *text = text_trim(str_head(s, start));
    return true;
}

/* One line without what ends a comment, and without blanks where a value must have none. */
static void add_value(Buf *out, Str value, bool blanks)
{
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        if ((unsigned char)c < ' ' || (c == ' ' && !blanks))
            c = blanks ? ' ' : '_';
        if (c == '-' && out->n && out->p[out->n - 1] == '-')
            continue;
        if (c == '<' || c == '>')
            continue;
        buf_addc(out, c);
    }
}

Str rule_note_write(Arena *a, const RuleNote *note)
{
    AUTO_BUF out = BUF(NOTE_BYTES);

    if (!note->id.n)
        return STR("");
    buf_add(&out, opening);
    buf_addz(&out, "id=");
    add_value(&out, note->id, false);
    buf_addf(&out, " night=%lld until=%lld helpful=%lld harmful=%lld", (long long)note->night,
             (long long)note->until, (long long)note->helpful, (long long)note->harmful);
    for (size_t i = 0; i < note->sessions.n && i < MAX_SESSIONS; i++) {
        buf_addz(&out, i ? "," : " sessions=");
        add_value(&out, str_head(note->sessions.items[i], 128), false);
    }
    if (note->evidence.n) {
        buf_addz(&out, " evidence=");
        add_value(&out, text_cut(note->evidence, 400), true);
    }
    buf_add(&out, closing);
    return str_dup(a, buf_str(&out));
}

/* -- Checks as sentences -- */

Str rule_of_check(Arena *a, const Check *c)
{
    if (c->says.n)
        return c->says;
    switch (c->op) {
    case CHECK_SECTION_PRESENT:
        return str_printf(a, "Always include a section headed \"%.*s\".", STR_FMT(c->arg));
    case CHECK_SECTION_CONTAINS:
        return str_printf(a, "Always include a heading with \"%.*s\" in it.", STR_FMT(c->arg));
    case CHECK_REGEX:
        return str_printf(a, "Always write something that matches the pattern `%.*s`.",
                          STR_FMT(c->arg));
    case CHECK_MAX_CHARS:
        return str_printf(a, "Keep the whole answer within %.*s characters.", STR_FMT(c->arg));
    case CHECK_MIN_CHARS:
        return str_printf(a, "Write at least %.*s characters.", STR_FMT(c->arg));
    case CHECK_CONTAINS:
        return str_printf(a, "Always mention \"%.*s\" in the answer.", STR_FMT(c->arg));
    case CHECK_NOT_CONTAINS:
        return str_printf(a, "Never write \"%.*s\" in the answer.", STR_FMT(c->arg));
    case CHECK_NO_REFUSAL:
        return STR("Answer the request instead of declining it.");
    case CHECK_TOOL_CALLED:
        return str_printf(a, "Always call %.*s before answering.", STR_FMT(c->arg));
    case CHECK_OTHER:
        break;
    }
    return STR("");
}

static bool states(Arena *a, Str doc, Str sentence, Str collapsed)
{
    Str text;

    if (!doc.n || str_find(doc, sentence) < doc.n)
        return doc.n > 0;
    text = text_collapse(a, doc); /* the sentence may be broken into lines */
    return str_find(text, collapsed) < text.n;
}

bool rule_stated(Arena *a, Str skill, Str memory, Str sentence)
{
    Str collapsed = text_collapse(a, sentence);

    return collapsed.n &&
           (states(a, skill, sentence, collapsed) || states(a, memory, sentence, collapsed));
}
