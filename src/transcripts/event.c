/* Text of an event is decoded here and nowhere else, when somebody asks for it.
 *
 * A clip decodes only its head and tail: of a result of 60 KB, the index wants four. Pieces come
 * either from a line whose UTF-8 the scanner has checked, and are escaped, or from a database,
 * where anything may stand. */
#include "transcripts/event.h"

#include "text/json_scan.h"
#include "text/utf8.h"

static const char *const source_names[] = {
#define X(id, name, title) name,
    SOURCES(X)
#undef X
};
static const char *const source_titles[] = {
#define X(id, name, title) title,
    SOURCES(X)
#undef X
};
static const char *const kind_names[] = {
#define X(id, name) name,
    EVENT_KINDS(X)
#undef X
};

const char *source_name(SourceKind s)
{
    return source_names[s];
}

const char *source_title(SourceKind s)
{
    return source_titles[s];
}

bool source_parse(Str name, SourceKind *ret)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        if (str_eqz(name, source_names[i])) {
            *ret = (SourceKind)i;
            return true;
        }
    return false;
}

const char *event_kind_name(EventKind k)
{
    return kind_names[k];
}

size_t event_raw_bytes(const Event *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->text.n; i++)
        n += e->text.pieces[i].n;
    return n;
}

/* -- decoding -- */

static Str make_valid(Arena *a, Str s)
{
    size_t good = utf8_valid_prefix(s), n = 0;
    char *out;

    if (good == s.n)
        return s;
    out = arena_array(a, s.n, 3);
    while (s.n) {
        memcpy(out + n, s.p, good);
        n += good;
        s = str_skip(s, good);
        if (!s.n)
            break;
        n += utf8_put(out + n, utf8_next(&s));
        good = utf8_valid_prefix(s);
    }
    return (Str){ out, n };
}

static Str decode(Arena *a, Str raw, unsigned escaped)
{
    if (!escaped)
        return make_valid(a, raw);
    for (; escaped; escaped--)
        raw = json_unescape(a, raw);
    return raw;
}

/* Raw text is about as long as what it says: twice as much of it has enough, but for text that is
 * nearly all escapes, of which less is shown then. Cut where nothing is torn. */
static Str raw_head(Str raw, size_t want, unsigned escaped)
{
    return escaped ? str_head(raw, json_raw_cut_down(raw, want * 2)) : utf8_head(raw, want * 2);
}

static Str raw_tail(Str raw, size_t want, unsigned escaped)
{
    if (!escaped)
        return utf8_tail(raw, want * 2);
    return raw.n <= want * 2 ? raw : str_skip(raw, json_raw_cut_up(raw, raw.n - want * 2));
}

/* At the second level a cut may tear an inner escape: what is left of it at the end goes. */
static Str inner_head(Str once)
{
    return once.n ? str_head(once, json_raw_cut_down(once, once.n - 1)) : once;
}

static Str inner_tail(Str once)
{
    return once.n > 32 ? str_skip(once, json_raw_cut_up(once, 32)) : once;
}

static Str decode_head(Arena *a, Str raw, size_t max, unsigned escaped)
{
    Str part = raw_head(raw, max, escaped);

    if (escaped == 2 && part.n < raw.n)
        return utf8_head(decode(a, inner_head(json_unescape(a, part)), 1), max);
    return utf8_head(decode(a, part, escaped), max);
}

static Str decode_tail(Arena *a, Str raw, size_t max, unsigned escaped)
{
    Str part = raw_tail(raw, max, escaped);

    if (escaped == 2 && part.n < raw.n)
        return utf8_tail(decode(a, inner_tail(json_unescape(a, part)), 1), max);
    return utf8_tail(decode(a, part, escaped), max);
}

Str event_text(Arena *a, const Event *e)
{
    size_t n = 0;
    char *out;

    if (e->text.n == 0)
        return STR("");
    if (e->text.n == 1)
        return decode(a, e->text.pieces[0], e->text.escaped);
    /* Invalid bytes may grow to three each. */
    out = arena_array(a, event_raw_bytes(e) + e->text.n, e->text.escaped ? 1 : 3);
    for (size_t i = 0; i < e->text.n; i++) {
        Str part = decode(a, e->text.pieces[i], e->text.escaped);

        if (i)
            out[n++] = '\n';
        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    return (Str){ out, n };
}

/* The last pieces that together have `tail` bytes and more. */
static size_t tail_from(const Event *e, size_t tail)
{
    size_t i = e->text.n, n = 0;

    while (i > 0 && n < tail * 2)
        n += e->text.pieces[--i].n;
    return i;
}

static Str join(Arena *a, const Event *e, size_t from, size_t to)
{
    Event part = { .text = { e->text.pieces + from, to - from, e->text.escaped } };

    return event_text(a, &part);
}

static Str paste(Arena *a, Str head, Str tail)
{
    static const Str gap = STR_INIT(" ... ");
    char *out = arena_alloc(a, head.n + gap.n + tail.n);

    memcpy(out, head.p, head.n);
    memcpy(out + head.n, gap.p, gap.n);
    memcpy(out + head.n + gap.n, tail.p, tail.n);
    return (Str){ out, head.n + gap.n + tail.n };
}

static Str clip_many(Arena *a, const Event *e, size_t head, size_t tail)
{
    size_t n = 0, to = 0;
    size_t from = tail_from(e, tail);
    Str first, last;

    while (to < e->text.n && n < head * 2)
        n += e->text.pieces[to++].n;
    if (from <= to) {
        first = event_text(a, e);
        if (first.n <= head + tail)
            return first;
        last = utf8_tail(first, tail);
    } else {
        first = join(a, e, 0, to);
        last = utf8_tail(join(a, e, from, e->text.n), tail);
    }
    return paste(a, utf8_head(first, head), last);
}

Str event_clip(Arena *a, const Event *e, size_t head, size_t tail)
{
    Str raw, all;

    if (e->text.n > 1)
        return clip_many(a, e, head, tail);
    if (!e->text.n)
        return STR("");
    raw = e->text.pieces[0];
    if (raw.n > (head + tail) * 2)
        return paste(a, decode_head(a, raw, head, e->text.escaped),
                     decode_tail(a, raw, tail, e->text.escaped));
    all = decode(a, raw, e->text.escaped);
    if (all.n <= head + tail)
        return all;
    return paste(a, utf8_head(all, head), utf8_tail(all, tail));
}
