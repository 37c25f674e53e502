/* The text of a session is its rows joined by line feeds, and a match may go from one row into the
 * next through white space. So rows are gathered in a buffer, with a line feed before and behind,
 * and searched whenever enough of them wait and no match can go on from here; everything the rules
 * remember within a text ends at a line or a match, so that a new text begins with a clean slate.
 *
 * Four code points equal an ASCII letter without being one. A row that holds one of them is written
 * folded into the buffer; the two rules that care look at it apart, as it was. */
#include "achievements/metrics.h"

#include "achievements/calls.h"
#include "achievements/chars.h"
#include "achievements/rules.h"
#include "base/buf.h"
#include "base/limits.h"
#include "text/letters.h"
#include "text/pyjson.h"

enum {
    ENOUGH =
        128 * 1024, /* bytes of text that are searched at once; stays in the processor's cache */
    TOO_MUCH = 1 << 30,    /* then it is cut at the next row, match or not */
    KEPT = 4 * 1024 * 1024 /* room for text that is kept for the next session */
};

typedef struct Text {
    char *p; /* begins and ends with a line feed that is not part of the text */
    size_t n, cap;
    uint32_t *row_ends;
    int64_t *row_ids;
    size_t n_rows, rows_cap;
    Span *folded;
    size_t n_folded, folded_cap;
} Text;

struct Scanner {
    Matcher *matcher;
    Names *names;
    Text text;
    Tally tally;
    Arena *scratch;
    Buf json, row;
    int64_t rows;
    int64_t last_row, last_path; /* messages */
    ScannerOptions options;
    int64_t memory_reads;
};

const char *metric_name(size_t metric)
{
    static const char *const names[] = {
#define X(enumerator, name) #name,
        METRICS(X)
#undef X
    };

    return names[metric];
}

bool metric_is_flag(size_t metric)
{
    return metric == METRIC_PORT_CONFLICT;
}

/* -- text -- */

static char *text_room(Text *text, size_t n)
{
    if (text->cap - text->n < n) {
        text->cap = text->cap * 2 > text->n + n ? text->cap * 2 : text->n + n + KIB(64);
        text->p = mem_resize(text->p, text->cap, 1);
    }
    return text->p + text->n;
}

static void text_add(Text *text, Str s)
{
    if (s.n)
        memcpy(text_room(text, s.n), s.p, s.n);
    text->n += s.n;
}

static void text_clear(Text *text)
{
    text->n = 0;
    text->n_rows = text->n_folded = 0;
    text_add(text, STR("\n"));
}

static void text_end_row(Text *text, int64_t id)
{
    if (text->n_rows == text->rows_cap) {
        text->rows_cap = text->rows_cap ? text->rows_cap * 2 : 256;
        text->row_ends = mem_resize(text->row_ends, text->rows_cap, sizeof *text->row_ends);
        text->row_ids = mem_resize(text->row_ids, text->rows_cap, sizeof *text->row_ids);
    }
    text->row_ids[text->n_rows] = id;
    text->row_ends[text->n_rows++] = (uint32_t)(text->n - 1);
    text_add(text, STR("\n"));
}

static void text_done(Text *text)
{
    mem_free(text->p);
    mem_free(text->row_ends);
    mem_free(text->row_ids);
    mem_free(text->folded);
    *text = (Text){ 0 };
}

static void text_note_folded(Text *text, Span span)
{
    if (text->n_folded == text->folded_cap) {
        text->folded_cap = text->folded_cap ? text->folded_cap * 2 : 16;
        text->folded = mem_resize(text->folded, text->folded_cap, sizeof *text->folded);
    }
    text->folded[text->n_folded++] = span;
}

/* -- folding -- */

/* The ASCII letter that the code point at p equals, and its bytes; '\0': none. */
static char folds_to(Str s, size_t *ret_n)
{
    static const struct {
        Str bytes;
        char letter;
    } folds[] = { { STR_INIT("\xc4\xb0"), 'i' },
                  { STR_INIT("\xc4\xb1"), 'i' },
                  { STR_INIT("\xc5\xbf"), 's' },
                  { STR_INIT("\xe2\x84\xaa"), 'k' } };

    for (size_t i = 0; i < ARRAY_LEN(folds); i++)
        if (str_starts(s, folds[i].bytes)) {
            *ret_n = folds[i].bytes.n;
            return folds[i].letter;
        }
    return '\0';
}

static bool is_ascii(Str s)
{
    uint64_t word, all = 0;

    for (; s.n >= sizeof word; s = str_skip(s, sizeof word)) {
        memcpy(&word, s.p, sizeof word);
        all |= word;
    }
    for (size_t i = 0; i < s.n; i++)
        all |= (unsigned char)s.p[i];
    return !(all & 0x8080808080808080u);
}

static bool needs_folding(Str s)
{
    static const char leads[] = { '\xc4', '\xc5', '\xe2' };

    if (is_ascii(s))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        Str rest = s;
        const char *p;

        while (rest.n && (p = memchr(rest.p, leads[i], rest.n))) {
            size_t n;

            rest = str_skip(rest, (size_t)(p - rest.p));
            if (folds_to(rest, &n))
                return true;
            rest = str_skip(rest, 1);
        }
    }
    return false;
}

static void add_folded(Scanner *s, Str row)
{
    Text *text = &s->text;
    size_t begin = text->n;

    buf_clear(&s->row);
    buf_addc(&s->row, '\n');
    buf_add(&s->row, row);
    buf_addz(&s->row, "\n");
    tally_original(&s->tally, (Str){ s->row.p + 1, row.n });
    (void)text_room(text, row.n);
    while (row.n) {
        size_t n = 1;
        char c = (unsigned char)*row.p < 0x80 ? '\0' : folds_to(row, &n);

        text->p[text->n++] = c ? c : *row.p;
        row = str_skip(row, n);
    }
    text_note_folded(text, (Span){ (uint32_t)(begin - 1), (uint32_t)(text->n - 1) });
}

static void add_row(Scanner *s, Str row)
{
    if (needs_folding(row))
        add_folded(s, row);
    else
        text_add(&s->text, row);
}

/* -- searching -- */

/* The message whose text has this offset. */
static int64_t row_at(const Text *text, uint32_t at)
{
    size_t low = 0, high = text->n_rows;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (text->row_ends[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < text->n_rows ? text->row_ids[low] : 0;
}

static void note_path(Scanner *s, int64_t message)
{
    if (message > s->last_path)
        s->last_path = message;
}

static void search(Scanner *s)
{
    TallyText text = { .text = s->text.n < 2 ? STR("") : (Str){ s->text.p + 1, s->text.n - 2 },
                       .row_ends = s->text.row_ends };
    size_t n;
    const Hit *hits = matcher_scan(s->matcher, text.text, &n);

    text_note_folded(&s->text, (Span){ UINT32_MAX, UINT32_MAX });
    text.folded = s->text.folded;
    tally_text(&s->tally, &text, hits, n);
    if (s->tally.new_path)
        note_path(s, row_at(&s->text, s->tally.new_path));
    text_clear(&s->text);
}

/* Whether no match can continue behind the row that ended last. What may precede white space in
 * the rules: git, conflict, background, exit_code, a quote, a colon, an equals sign. */
static bool may_cut(const Text *text)
{
    const char *p = text->p + text->n;
    uint32_t c;

    if (text->n >= TOO_MUCH)
        return true;
    do {
        c = char_before(p--);
        while (p > text->p && ((unsigned char)*p & 0xc0) == 0x80)
            p--;
    } while (p > text->p && letter_is_space(c));
    return c >= 0x80 || !strchr("tde:='\"", lower((char)c));
}

/* -- content -- */

/* As Python shows bytes: b'...'. */
static void add_bytes(Text *text, Str bytes)
{
    static const char hex[] = "0123456789abcdef";
    char quote =
        bytes.n && memchr(bytes.p, '\'', bytes.n) && !memchr(bytes.p, '"', bytes.n) ? '"' : '\'';
    char *p = text_room(text, bytes.n * 4 + 3), *at = p;

    *at++ = 'b';
    *at++ = quote;
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\0';

        if (c == '\\' || c == (unsigned char)quote || letter) {
            *at++ = '\\';
            *at++ = letter ? letter : (char)c;
        } else if (c >= 0x20 && c < 0x7f) {
            *at++ = (char)c;
        } else {
            *at++ = '\\';
            *at++ = 'x';
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }
    }
    *at++ = quote;
    text->n += (size_t)(at - p);
}

static void add_content(Scanner *s, const ScanRow *row)
{
    static const Str mark = STR_INIT("\0json:");
    PyValue v;

    if (row->content_is_blob) {
        add_bytes(&s->text, row->content);
        return;
    }
    if (!row->content.n || row->content.p[0] || !str_starts(row->content, mark) ||
        !pyjson_read(s->scratch, str_skip(row->content, mark.n), &v)) {
        add_row(s, row->content);
    } else if (v.type == PY_STR) {
        add_row(s, v.text);
    } else if (v.type != PY_NULL) {
        buf_clear(&s->json);
        pyjson_write(&s->json, &v);
        text_add(&s->text, buf_str(&s->json));
    }
}

/* -- sessions -- */

Scanner *scanner_new(Err *err)
{
    AUTO(Scanner) *s = mem_alloc(sizeof *s);

    s->matcher = matcher_new(err);
    if (!s->matcher)
        return NULL;
    s->names = names_new();
    s->tally.paths = paths_new();
    s->scratch = arena_new();
    s->json = BUF(LIMIT_OUTPUT_BYTES);
    s->row = BUF(TOO_MUCH);
    return TAKE(s);
}

Scanner *scanner_free(Scanner *s)
{
    if (s) {
        matcher_free(s->matcher);
        names_free(s->names);
        paths_free(s->tally.paths);
        text_done(&s->text);
        arena_free(s->scratch);
        buf_done(&s->json);
        buf_done(&s->row);
        mem_free(s);
    }
    return NULL;
}

void scanner_set(Scanner *s, const ScannerOptions *options)
{
    s->options = *options;
    names_map(s->names, options->map_tools);
}

void scanner_begin(Scanner *s)
{
    s->rows = s->memory_reads = s->last_row = s->last_path = 0;
    text_clear(&s->text);
    names_begin(s->names);
    paths_clear(s->tally.paths);
    memset(s->tally.count, 0, sizeof s->tally.count);
    memset(s->tally.flag, 0, sizeof s->tally.flag);
}

void scanner_row(Scanner *s, const ScanRow *row)
{
    size_t paths = paths_count(s->tally.paths);
    Str calls = row->tool_calls;

    s->rows++;
    s->last_row = row->id;
    names_row(s->names, row->id);
    add_content(s, row);
    text_end_row(&s->text, row->id);
    if (row->tool_name.n)
        names_see(s->names, row->tool_name, !str_eqz(row->role, "tool"));
    if (calls.n) {
        if (s->options.double_encoded)
            calls = calls_unwrap(calls, s->scratch);
        if (s->options.memory_writes)
            s->memory_reads += calls_memory_reads(calls, s->scratch);
        if (!calls_read_plain(calls, s->names, s->tally.paths))
            calls_read_exact(calls, s->scratch, &s->json, s->names, s->tally.paths);
    }
    if (paths_count(s->tally.paths) != paths)
        note_path(s, row->id);
    arena_reset(s->scratch);
    if (s->text.n >= ENOUGH && may_cut(&s->text))
        search(s);
}

/* The metrics that follow from others and from the flags. */
static void conclude(const Tally *t, int64_t *value)
{
    int64_t errors = t->count[METRIC_ERROR_COUNT];

    value[METRIC_WEB_BROWSER_CALLS] = value[METRIC_WEB_CALLS] + value[METRIC_BROWSER_CALLS];
    value[METRIC_PORT_CONFLICT] = value[METRIC_PORT_CONFLICT_EVENTS] = t->flag[FLAG_PORT];
    value[METRIC_INSTALL_ERROR_EVENTS] = t->flag[FLAG_INSTALL] && errors > 0;
    value[METRIC_INSTALL_SUCCESS_EVENTS] = t->flag[FLAG_INSTALL] && t->flag[FLAG_SUCCESS];
    value[METRIC_RESTART_AFTER_ERROR_EVENTS] = t->flag[FLAG_RESTART] && errors > 0;
    value[METRIC_TINY_PATCH_AFTER_ERRORS_EVENTS] = t->flag[FLAG_TINY] && errors >= 5;
    if (errors == 0)
        value[METRIC_YAML_ERROR_EVENTS] = 0;
}

void scanner_end(Scanner *s, Arena *a, SessionMetrics *ret)
{
    int64_t *message = ret->message;

    if (s->text.n > 1)
        search(s);
    memcpy(ret->value, s->tally.count, sizeof ret->value);
    memset(ret->message, 0, sizeof ret->message);
    names_end(s->names, a, ret);
    ret->value[METRIC_MESSAGE_COUNT] = s->rows;
    ret->value[METRIC_FILES_TOUCHED_COUNT] = (int64_t)paths_count(s->tally.paths);
    ret->value[METRIC_MEMORY_WRITE_EVENTS] -= s->memory_reads;
    conclude(&s->tally, ret->value);
    /* Which message brought a count to where it ended, where the best session is shown. */
    message[METRIC_MESSAGE_COUNT] = s->last_row;
    message[METRIC_FILES_TOUCHED_COUNT] = s->last_path;
    message[METRIC_WEB_BROWSER_CALLS] = message[METRIC_WEB_CALLS] > message[METRIC_BROWSER_CALLS]
                                            ? message[METRIC_WEB_CALLS]
                                            : message[METRIC_BROWSER_CALLS];
    if (s->text.cap > KEPT)
        text_done(&s->text);
    if (s->row.cap > KEPT)
        buf_done(&s->row);
}
