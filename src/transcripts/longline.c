/* A state machine over bytes, which writes what it reads as long as there is room.
 *
 * Room is rationed by depth: below the second level values are taken until `most_deep` bytes are
 * written, above it until a little more, so that fields behind a huge one still fit. A value that
 * gets no room is read and not written, with its key and its comma. A string keeps its first
 * HEAD_BYTES and its last ones; two halves take turns at holding these, each filled in whole units
 * (characters, escapes, pairs of surrogates), so that no cut tears anything. */
#include "transcripts/longline.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/json_scan.h"

enum {
    HEAD_BYTES = 64 << 10,
    HALF_BYTES = 32 << 10,
    KEY_BYTES = 1 << 10,
    UNIT_BYTES = 12,
    MAX_DEEP = 3 << 20,
    MAX_TOP = MAX_DEEP + (512 << 10),
};

typedef enum State {
    WANT_VALUE,
    WANT_VALUE_OR_END,
    WANT_KEY,
    WANT_KEY_OR_END,
    WANT_COLON,
    WANT_COMMA_OR_END,
    IN_KEY,
    IN_STRING,
    IN_SCALAR,
    DONE,
    BROKEN
} State;

struct LongLine {
    State state;
    Buf out;
    size_t depth, muted_at; /* depth at which the value that is left out began; 0: none is */
    struct {
        bool is_object, has_items;
    } open[LIMIT_JSON_DEPTH];
    char key[KEY_BYTES];
    size_t key_n;
    bool key_dropped;
    char unit[UNIT_BYTES]; /* an escape that is not complete yet */
    size_t unit_n;
    size_t head_n; /* bytes of the string's head */
    char half[2][HALF_BYTES];
    size_t half_n[2];
    int half_now;
    bool cut; /* something of the string was let go */
};

LongLine *longline_new(void)
{
    LongLine *l = mem_alloc(sizeof *l);

    l->out = BUF(LIMIT_TRANSCRIPT_LINE + JSON_SCAN_SLACK);
    return l;
}

LongLine *longline_free(LongLine *l)
{
    if (l) {
        buf_done(&l->out);
        mem_free(l);
    }
    return NULL;
}

void longline_begin(LongLine *l)
{
    buf_clear(&l->out);
    l->state = WANT_VALUE;
    l->depth = l->muted_at = 0;
}

/* -- values -- */

static bool is_muted(const LongLine *l)
{
    return l->muted_at > 0;
}

/* Whether the value that begins here is written: then its comma and key are. */
static bool begin_value(LongLine *l)
{
    bool in_object = l->depth && l->open[l->depth - 1].is_object;

    if (is_muted(l))
        return false;
    if (l->out.n >= (l->depth > 2 ? MAX_DEEP : MAX_TOP) || (in_object && l->key_dropped) ||
        (in_object && l->depth == 1 && str_eqz((Str){ l->key, l->key_n }, "toolUseResult"))) {
        l->muted_at = l->depth + 1;
        return false;
    }
    if (l->depth) {
        if (l->open[l->depth - 1].has_items)
            buf_addc(&l->out, ',');
        l->open[l->depth - 1].has_items = true;
    }
    if (in_object) {
        buf_addc(&l->out, '"');
        buf_add(&l->out, (Str){ l->key, l->key_n });
        buf_addz(&l->out, "\":");
    }
    return true;
}

static void end_value(LongLine *l)
{
    if (l->muted_at == l->depth + 1)
        l->muted_at = 0;
    l->state = l->depth ? WANT_COMMA_OR_END : DONE;
}

static void open_container(LongLine *l, char c)
{
    if (begin_value(l))
        buf_addc(&l->out, c);
    if (l->depth == LIMIT_JSON_DEPTH) {
        l->state = BROKEN;
        return;
    }
    l->open[l->depth].is_object = c == '{';
    l->open[l->depth].has_items = false;
    l->depth++;
    l->state = c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
}

static void close_container(LongLine *l, char c)
{
    if (!l->depth || l->open[l->depth - 1].is_object != (c == '}')) {
        l->state = BROKEN;
        return;
    }
    if (!is_muted(l))
        buf_addc(&l->out, c);
    l->depth--;
    end_value(l);
}

/* -- strings -- */

static bool is_inside(char c) /* of a UTF-8 sequence */
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* As much of the run as fits into `room`, between characters where these are any. */
static size_t fitting(Str run, size_t room)
{
    if (run.n <= room)
        return run.n;
    for (size_t back = 0; back <= 3 && back <= room; back++)
        if (!is_inside(run.p[room - back]))
            return room - back;
    return room;
}

static void keep_in_halves(LongLine *l, Str run, bool whole)
{
    while (run.n) {
        size_t *n = &l->half_n[l->half_now];
        size_t take =
            whole ? (run.n <= HALF_BYTES - *n ? run.n : 0) : fitting(run, HALF_BYTES - *n);

        memcpy(l->half[l->half_now] + *n, run.p, take);
        *n += take;
        run = str_skip(run, take);
        if (run.n) {
            l->half_now ^= 1;
            l->cut |= l->half_n[l->half_now] > 0;
            l->half_n[l->half_now] = 0;
        }
    }
}

/* A run of plain characters, or one unit that must not be torn. */
static void keep(LongLine *l, Str run, bool whole)
{
    size_t take;

    if (l->state == IN_KEY) {
        l->key_dropped |= run.n > KEY_BYTES - l->key_n;
        if (!l->key_dropped) {
            memcpy(l->key + l->key_n, run.p, run.n);
            l->key_n += run.n;
        }
        return;
    }
    if (is_muted(l))
        return;
    take = l->head_n >= HEAD_BYTES ? 0
           : whole                 ? (run.n <= HEAD_BYTES - l->head_n ? run.n : 0)
                                   : fitting(run, HEAD_BYTES - l->head_n);
    buf_add(&l->out, str_head(run, take));
    l->head_n += take;
    if (take == run.n)
        return;
    l->head_n = HEAD_BYTES; /* nothing may overtake what goes into the halves */
    keep_in_halves(l, str_skip(run, take), whole);
}

static void begin_string(LongLine *l, bool is_key)
{
    l->unit_n = l->head_n = l->half_n[0] = l->half_n[1] = 0;
    l->half_now = 0;
    l->cut = false;
    if (is_key) {
        l->state = IN_KEY;
        l->key_n = 0;
        l->key_dropped = false;
    } else {
        if (begin_value(l))
            buf_addc(&l->out, '"');
        l->state = IN_STRING;
    }
}

static void end_string(LongLine *l)
{
    if (l->state == IN_KEY) {
        l->state = WANT_COLON;
        return;
    }
    if (!is_muted(l)) {
        if (l->cut)
            buf_addz(&l->out, " ... ");
        buf_add(&l->out, (Str){ l->half[!l->half_now], l->half_n[!l->half_now] });
        buf_add(&l->out, (Str){ l->half[l->half_now], l->half_n[l->half_now] });
        buf_addc(&l->out, '"');
    }
    end_value(l);
}

static bool is_surrogate(const char *escape, char min, char max)
{
    char third = (char)(escape[3] | 0x20);

    return escape[1] == 'u' && (escape[2] | 0x20) == 'd' &&
           (third >= 'a' ? third : escape[3]) >= min && (third >= 'a' ? third : escape[3]) <= max;
}

/* One more byte of an escape. The first half of a surrogate pair waits for the second. */
static void feed_escape(LongLine *l, char c)
{
    size_t last; /* where the escape at hand begins: behind a first half that waits */

    l->unit[l->unit_n++] = c;
    last = l->unit_n > 6 ? 6 : 0;
    if (l->unit_n - last == 1)
        return;
    if (l->unit[last + 1] == 'u' && l->unit_n - last < 6)
        return;
    if (last == 0 && l->unit_n == 6 && is_surrogate(l->unit, '8', 'b'))
        return;
    keep(l, (Str){ l->unit, l->unit_n }, true);
    l->unit_n = 0;
}

static size_t plain_run(Str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '"' && s.p[n] != '\\' && (unsigned char)s.p[n] >= 0x20)
        n++;
    return n;
}

static Str feed_string(LongLine *l, Str s)
{
    size_t n;

    if (l->unit_n && l->unit_n != 6) {
        feed_escape(l, s.p[0]);
        return str_skip(s, 1);
    }
    if (s.p[0] == '\\') {
        feed_escape(l, '\\');
        return str_skip(s, 1);
    }
    if (l->unit_n) { /* a first half that has no second one */
        keep(l, (Str){ l->unit, l->unit_n }, true);
        l->unit_n = 0;
    }
    n = plain_run(s);
    if (n) {
        keep(l, str_head(s, n), false);
        return str_skip(s, n);
    }
    if (s.p[0] == '"')
        end_string(l);
    else
        l->state = BROKEN;
    return str_skip(s, 1);
}

/* -- everything else -- */

static bool is_scalar_char(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
           c == '+' || c == '.';
}

static void begin_any(LongLine *l, char c)
{
    if (c == '"') {
        begin_string(l, false);
    } else if (c == '{' || c == '[') {
        open_container(l, c);
    } else if (is_scalar_char(c)) {
        if (begin_value(l))
            buf_addc(&l->out, c);
        l->state = IN_SCALAR;
    } else {
        l->state = BROKEN;
    }
}

/* A byte between strings; false: it ended a scalar and is to be looked at again. */
static bool feed_byte(LongLine *l, char c)
{
    if (l->state == IN_SCALAR) {
        if (!is_scalar_char(c)) {
            end_value(l);
            return false;
        }
        if (!is_muted(l))
            buf_addc(&l->out, c);
        return true;
    }
    if (c == ' ' || c == '\t' || c == '\r')
        return true;
    if ((c == ']' && (l->state == WANT_VALUE_OR_END || l->state == WANT_COMMA_OR_END)) ||
        (c == '}' && (l->state == WANT_KEY_OR_END || l->state == WANT_COMMA_OR_END)))
        close_container(l, c);
    else if (l->state == WANT_VALUE || l->state == WANT_VALUE_OR_END)
        begin_any(l, c);
    else if (c == '"' && (l->state == WANT_KEY || l->state == WANT_KEY_OR_END))
        begin_string(l, true);
    else if (c == ':' && l->state == WANT_COLON)
        l->state = WANT_VALUE;
    else if (c == ',' && l->state == WANT_COMMA_OR_END)
        l->state = l->open[l->depth - 1].is_object ? WANT_KEY : WANT_VALUE;
    else
        l->state = BROKEN;
    return true;
}

void longline_feed(LongLine *l, Str bytes)
{
    while (bytes.n && l->state != BROKEN) {
        if (l->state == IN_STRING || l->state == IN_KEY)
            bytes = feed_string(l, bytes);
        else if (feed_byte(l, bytes.p[0]))
            bytes = str_skip(bytes, 1);
    }
}

bool longline_end(LongLine *l, Str *ret)
{
    size_t n = l->out.n;

    if (l->state == IN_SCALAR)
        end_value(l);
    if (l->state != DONE || is_muted(l))
        return false;
    buf_pad(&l->out, '\0', JSON_SCAN_SLACK);
    if (buf_full(&l->out))
        return false;
    *ret = (Str){ l->out.p, n };
    return true;
}
