/* The block is a list of parts with their bytes. Only a part that an edit changed is written again,
 * the others are copied: so nothing else can change. */
#include "sleep/task/document.h"

#include "base/limits.h"
#include "text/letters.h"

static const Str start_marker = STR_INIT("<!-- SKILLOPT-SLEEP:LEARNED START -->");
static const Str end_marker = STR_INIT("<!-- SKILLOPT-SLEEP:LEARNED END -->");

const char document_banner[] =
    "Learned overnight from past sessions and kept only where they made answers better. Edit or "
    "delete any line; text outside of this block is never touched.";

/* -- Lines -- */

/* The next line with its line feed. */
static bool next_line(Str *rest, Str *ret)
{
    size_t n;

    if (!rest->n)
        return false;
    n = str_find(*rest, STR("\n"));
    *ret = str_head(*rest, n + 1);
    *rest = str_skip(*rest, ret->n);
    return true;
}

/* ``` or ~~~, three or more, at most three blanks before: its character, how many, what follows. */
static char fence(Str line, size_t *ret_n, Str *ret_info)
{
    size_t blanks = 0, n = 0;
    char c;

    while (blanks < line.n && line.p[blanks] == ' ')
        blanks++;
    line = str_skip(line, blanks);
    if (blanks > 3 || !line.n || (line.p[0] != '`' && line.p[0] != '~'))
        return 0;
    c = line.p[0];
    while (n < line.n && line.p[n] == c)
        n++;
    *ret_n = n;
    *ret_info = str_trim(str_skip(line, n));
    return n >= 3 ? c : 0;
}

typedef struct Fence {
    char open; /* 0: outside */
    size_t n, line;
} Fence;

static void follow_fence(Fence *f, Str line, size_t nth)
{
    size_t n = 0;
    Str info = STR_NONE;
    char c = fence(line, &n, &info);

    if (!c)
        return;
    if (!f->open && !(c == '`' && str_find(info, STR("`")) < info.n))
        *f = (Fence){ c, n, nth };
    else if (c == f->open && n >= f->n && !info.n)
        f->open = 0;
}

/* -- Finding the block -- */

typedef struct Places {
    size_t start_line, end_line; /* from 1; 0: none */
    Str start, body, end;
} Places;

static bool find_block(Str text, Places *ret, Err *err)
{
    Places p = { 0 };
    Fence code = { 0 };
    size_t nth = 0;
    Str rest = text, line;

    while (next_line(&rest, &line)) {
        Str bare = str_trim(line);
        bool inside = p.start_line && !p.end_line;

        nth++;
        if (!inside)
            follow_fence(&code, line, nth);
        if (code.open && !inside)
            continue;
        if (str_eq(bare, start_marker)) {
            if (p.start_line)
                return err_set(err, ERR_INVALID,
                               "line %zu: a second start marker (the first: line %zu)", nth,
                               p.start_line);
            p.start_line = nth;
            p.start = line;
            p.body = (Str){ line.p + line.n, 0 };
        } else if (str_eq(bare, end_marker)) {
            if (!p.start_line || p.end_line)
                return err_set(err, ERR_INVALID, "line %zu: an end marker without its start", nth);
            p.end_line = nth;
            p.end = line;
            p.body.n = (size_t)(line.p - p.body.p);
        }
    }
    if (p.start_line && !p.end_line)
        return err_set(err, ERR_INVALID, "line %zu: a start marker without an end", p.start_line);
    if (!p.start_line && code.open)
        return err_set(err, ERR_INVALID, "line %zu: fenced code that never ends", code.line);
    *ret = p;
    return true;
}

/* -- The parts of the block -- */

static bool is_blank(Str line)
{
    return !str_trim(line).n;
}

static Str without_eol(Str line)
{
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    return line;
}

/* Bytes of the rule at the beginning of s: its bullet, indented lines, blank ones between them. */
static size_t rule_bytes(Str s)
{
    Str rest = s, line = STR_NONE;
    size_t n;

    (void)next_line(&rest, &line);
    n = line.n;
    while (next_line(&rest, &line)) {
        if ((str_starts(line, STR("  ")) || str_starts(line, STR("\t"))) && !is_blank(line))
            n = (size_t)(line.p + line.n - s.p);
        else if (!is_blank(line))
            break;
    }
    return n;
}

static Rule read_rule(Arena *a, Str raw)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_DOCUMENT);
    Str rest = raw, line = STR_NONE;
    Rule rule = { .raw = raw };

    (void)next_line(&rest, &line);
    buf_add(&text, without_eol(str_skip(line, 2)));
    while (next_line(&rest, &line)) {
        size_t indent = str_starts(line, STR("\t")) ? 1 : str_starts(line, STR("  ")) ? 2 : 0;

        buf_addc(&text, '\n');
        buf_add(&text, without_eol(str_skip(line, indent)));
    }
    rule.text = text_trim(str_dup(a, buf_str(&text)));
    (void)rule_note_take(a, &rule.text, &rule.note);
    return rule;
}

static bool read_parts(Arena *a, Str body, Document *d, Err *err)
{
    size_t rules = 0;

    while (body.n) {
        size_t n;
        Str rest = body, line = STR_NONE;
        BlockPart part = { 0 };

        (void)next_line(&rest, &line);
        part.is_rule = str_starts(line, STR("- "));
        n = part.is_rule ? rule_bytes(body) : line.n;
        part.raw = str_head(body, n);
        if (part.is_rule)
            part.rule = read_rule(a, part.raw);
        LIST_PUSH(a, &d->parts, part);
        body = str_skip(body, n);
        rules += part.is_rule;
        if (rules > LIMIT_SLEEP_RULES)
            return err_set(err, ERR_TOO_LARGE, "more than %d learned rules", LIMIT_SLEEP_RULES);
    }
    return true;
}

bool document_parse(Arena *a, Str text, Document *ret, Err *err)
{
    Document d = { .text = text, .before = text, .eol = "\n" };
    Places p;

    if (text.n > LIMIT_SLEEP_DOCUMENT)
        return err_set(err, ERR_TOO_LARGE, "a document of more than %d bytes",
                       LIMIT_SLEEP_DOCUMENT);
    if (!find_block(text, &p, err))
        return false;
    if (str_find(text, STR("\r\n")) < text.n)
        d.eol = "\r\n";
    if (p.start_line) {
        d.before = str_head(text, (size_t)(p.start.p - text.p));
        d.after = str_skip(text, (size_t)(p.end.p + p.end.n - text.p));
        d.start = p.start;
        d.end = p.end;
        if (!read_parts(a, p.body, &d, err))
            return false;
    }
    *ret = d;
    return true;
}

/* -- Writing -- */

static void put_rule(Arena *a, Buf *out, const Document *d, const Rule *rule)
{
    Str rest = rule->text, line, note = rule_note_write(a, &rule->note);
    bool first = true;

    while (str_split(&rest, '\n', &line)) {
        line = without_eol(line);
        buf_addz(out, first ? "- " : line.n ? "  " : "");
        buf_add(out, line);
        if (!rest.n && note.n) {
            buf_addc(out, ' ');
            buf_add(out, note);
        }
        buf_addz(out, d->eol);
        first = false;
    }
}

Str document_write(Arena *a, const Document *d)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT * 4);

    if (!d->start.n && !d->parts.n)
        return d->text;
    buf_add(&out, d->before);
    if (d->start.n) {
        buf_add(&out, d->start);
    } else { /* a new block: after a blank line, with heading and banner */
        if (d->before.n && !str_ends(d->before, STR("\n")))
            buf_addz(&out, d->eol);
        if (d->before.n)
            buf_addz(&out, d->eol);
        buf_add(&out, start_marker);
        buf_addf(&out, "%s## Learned preferences & procedures%s%s%s%s%s", d->eol, d->eol, d->eol,
                 document_banner, d->eol, d->eol);
    }
    for (size_t i = 0; i < d->parts.n; i++) {
        const BlockPart *part = &d->parts.items[i];

        if (part->is_rule && !part->rule.raw.n)
            put_rule(a, &out, d, &part->rule);
        else
            buf_add(&out, part->raw);
    }
    if (d->end.n) {
        buf_add(&out, d->end);
    } else {
        buf_add(&out, end_marker);
        buf_addz(&out, d->eol);
    }
    buf_add(&out, d->after);
    return str_dup(a, buf_str(&out));
}

/* -- Rules -- */

size_t document_rules(const Document *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->parts.n; i++)
        n += d->parts.items[i].is_rule;
    return n;
}

Rule *document_rule(Document *d, size_t nth)
{
    for (size_t i = 0; i < d->parts.n; i++)
        if (d->parts.items[i].is_rule && nth-- == 0)
            return &d->parts.items[i].rule;
    return NULL;
}

/* Behind the last rule; in a block without any, before the blank lines at its end. */
static size_t place_for_rule(const Document *d)
{
    size_t at = 0;

    for (size_t i = 0; i < d->parts.n; i++)
        if (d->parts.items[i].is_rule || !is_blank(d->parts.items[i].raw))
            at = i + 1;
    for (size_t i = d->parts.n; i > 0; i--)
        if (d->parts.items[i - 1].is_rule)
            return i;
    return at < d->parts.n ? at + 1 : at;
}

void document_add(Arena *a, Document *d, Str text, const RuleNote *note)
{
    BlockPart part = { .is_rule = true, .rule = { .text = str_dup(a, text), .note = *note } };
    size_t at = place_for_rule(d);

    LIST_PUSH(a, &d->parts, part);
    memmove(d->parts.items + at + 1, d->parts.items + at,
            (d->parts.n - 1 - at) * sizeof *d->parts.items);
    d->parts.items[at] = part;
}

void document_remove(Document *d, const Rule *rule)
{
    for (size_t i = 0; i < d->parts.n; i++)
        if (&d->parts.items[i].rule == rule) {
            memmove(d->parts.items + i, d->parts.items + i + 1,
                    (d->parts.n - i - 1) * sizeof *d->parts.items);
            d->parts.n--;
            return;
        }
}

Str document_bare(Arena *a, Str text)
{
    Document d;
    Err err;

    if (str_find(text, STR("<!-- rule ")) == text.n || !document_parse(a, text, &d, &err))
        return text;
    for (size_t i = 0; i < d.parts.n; i++) {
        Rule *rule = &d.parts.items[i].rule;

        if (!d.parts.items[i].is_rule || !rule->note.id.n)
            continue;
        rule->raw = STR_NONE;
        rule->note = (RuleNote){ 0 };
    }
    return document_write(a, &d);
}

Str document_scaffold(Arena *a, Str name, Str description)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT);
    Str quoted = text_cut(description, 1024);

    buf_addf(&out, "---\nname: %.*s\ndescription: \"", STR_FMT(name));
    for (size_t i = 0; i < quoted.n; i++) {
        if (quoted.p[i] == '"' || quoted.p[i] == '\\')
            buf_addc(&out, '\\');
        buf_addc(&out, (unsigned char)quoted.p[i] < ' ' ? ' ' : quoted.p[i]);
    }
    buf_addf(
        &out,
        "\"\n---\n\n# %.*s\n\n## When to Use\n\nRead these rules before answering a request that "
        "has come up before. They were learned from past sessions.\n",
        STR_FMT(name));
    return str_dup(a, buf_str(&out));
}

bool document_protected(Str text)
{
    static const Str words[] = { STR_INIT("<!--"), STR_INIT("-->"), STR_INIT("SKILLOPT-SLEEP:"),
                                 STR_INIT("SLOW_UPDATE_") };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(text, words[i]) < text.n)
            return true;
    return false;
}
