/* Files in blocks into one buffer, lines by memchr, tokens by simdjson's first stage.
 *
 * The buffer holds the longest line that is read as a whole and one block; it is the same for every
 * file. A block is small enough to be still in the cache when it is scanned. Memory-mapping would
 * save a copy, but a file that is cut while it is read would end the process.
 *
 * A last line without line end is not complete: its writer may be in the middle of it. Once the
 * file has been left alone for SETTLED_SECONDS it is taken as it is, if it is JSON; if it is not,
 * it waits on, and costs nothing until the file changes. */
#include "transcripts/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "text/utf8.h"
#include "transcripts/codex_base.h"
#include "transcripts/line.h"
#include "transcripts/longline.h"
#include "transcripts/packed.h"

enum {
    BLOCK_BYTES = 64 << 10,
    PROOF_BYTES = 1 << 10,
    BACK_BYTES = 64 << 10,
    SETTLED_SECONDS = 60,
};

struct Reader {
    JsonScan *scan;
    Arena *a;
    char *buf;
    LongLine *longline;
    LineState state;
};

/* One reading of one file, or of bytes in memory. */
typedef struct Run {
    Reader *r;
    SourceKind source;
    ReadStats stats;
    unsigned kinds;
    bool inherited;
    int64_t shift; /* where in the whole stream the file at hand begins */
    EventFn *fn;
    void *ctx;
    Err *err;
} Run;

Reader *reader_new(void)
{
    Reader *r = mem_alloc(sizeof *r);

    r->scan = json_scan_new(LIMIT_TRANSCRIPT_LINE);
    r->a = arena_new();
    r->buf = mem_resize(NULL, LIMIT_TRANSCRIPT_LINE + BLOCK_BYTES + JSON_SCAN_SLACK, 1);
    r->longline = longline_new();
    return r;
}

Reader *reader_free(Reader *r)
{
    if (r) {
        json_scan_free(r->scan);
        arena_free(r->a);
        mem_free(r->buf);
        longline_free(r->longline);
        mem_free(r);
    }
    return NULL;
}

/* -- lines -- */

static Str repair(Arena *a, Str s)
{
    char *out = arena_alloc(a, s.n * 3 + JSON_SCAN_SLACK);
    size_t n = 0;

    while (s.n) {
        size_t good = utf8_valid_prefix(s);

        memcpy(out + n, s.p, good);
        n += good;
        s = str_skip(s, good);
        if (s.n)
            n += utf8_put(out + n, utf8_next(&s));
    }
    return (Str){ out, n };
}

static bool scan_line(Run *run, Str text)
{
    ScanResult result = json_scan(run->r->scan, text);

    if (result == SCAN_NOT_UTF8) {
        text = repair(run->r->a, text);
        result = text.n > LIMIT_TRANSCRIPT_LINE ? SCAN_BROKEN : json_scan(run->r->scan, text);
    }
    return result == SCAN_OK;
}

/* `text` has JSON_SCAN_SLACK readable bytes behind it. */
static bool take_line(Run *run, Str text, int64_t where, int64_t bytes)
{
    Line l = { .scan = run->r->scan,
               .a = run->r->a,
               .state = &run->r->state,
               .stats = &run->stats,
               .kinds = run->kinds,
               .all = run->inherited,
               .fn = run->fn,
               .ctx = run->ctx,
               .err = run->err,
               .where = where + run->shift,
               .bytes = bytes };

    run->stats.lines++;
    run->r->state.line++;
    arena_reset(run->r->a);
    if (!scan_line(run, text)) {
        run->stats.broken++;
        return true;
    }
    if (json_tok_char(l.scan, 0) != '{') {
        run->stats.foreign++;
        return true;
    }
    return run->source == SOURCE_CLAUDE ? claude_line(&l) : codex_line(&l);
}

static bool is_blank(Str s)
{
    return str_trim(s).n == 0;
}

static bool short_line(Run *run, Str text, int64_t where)
{
    if (is_blank(str_head(text, 64)) && is_blank(text))
        return true;
    return take_line(run, text, where, (int64_t)text.n);
}

static bool long_line(Run *run, int64_t where, int64_t bytes)
{
    Str text;

    run->stats.long_lines++;
    if (longline_end(run->r->longline, &text))
        return take_line(run, text, where, bytes);
    run->stats.lines++;
    run->stats.broken++;
    return true;
}

/* -- files -- */

typedef struct Window {
    int fd;
    int64_t at;   /* where in the file the buffer begins; of a long line, what comes next */
    int64_t stop; /* where reading ends; 0: at the end of the file */
    int64_t done; /* behind the last complete line */
    size_t have;  /* bytes in the buffer */
    bool in_long; /* the line that begins at `done` is passing through */
    bool end;
} Window;

static bool read_at(int fd, void *into, size_t n, int64_t at, size_t *ret, Err *err)
{
    ssize_t got;

    do {
        got = pread(fd, into, n, at);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(err, "cannot read on");
    *ret = (size_t)got;
    return true;
}

static bool more(Run *run, Window *w)
{
    int64_t from = w->at + (int64_t)w->have, left = w->stop - from;
    size_t got,
        wanted = w->stop && left < BLOCK_BYTES ? (size_t)(left > 0 ? left : 0) : BLOCK_BYTES;

    if (!read_at(w->fd, run->r->buf + w->have, wanted, from, &got, run->err))
        return false;
    w->have += got;
    w->end = got < BLOCK_BYTES;
    run->stats.bytes += (int64_t)got;
    return true;
}

/* Drops the first n bytes of the buffer. */
static void advance(Run *run, Window *w, size_t n)
{
    memmove(run->r->buf, run->r->buf + n, w->have - n);
    w->have -= n;
    w->at += (int64_t)n;
}

/* All complete lines of the buffer; `fresh` is where bytes begin in which no line end was
 * sought. */
static bool take_lines(Run *run, Window *w, size_t fresh)
{
    char *buf = run->r->buf, *end;
    size_t start = 0;

    memset(buf + w->have, 0, JSON_SCAN_SLACK);
    while ((end = memchr(buf + fresh, '\n', w->have - fresh))) {
        Str text = { buf + start, (size_t)(end - buf) - start };

        if (!short_line(run, text, w->at + (int64_t)start))
            return false;
        start = fresh = (size_t)(end - buf) + 1;
        w->done = w->at + (int64_t)start;
    }
    advance(run, w, start);
    return true;
}

/* The buffer goes through the shortener, up to the line's end where that is in it. */
static bool pass_long(Run *run, Window *w)
{
    char *buf = run->r->buf, *end = memchr(buf, '\n', w->have);
    size_t n = end ? (size_t)(end - buf) : w->have;

    longline_feed(run->r->longline, (Str){ buf, n });
    if (!end) {
        w->at += (int64_t)n;
        w->have = 0;
        return true;
    }
    if (!long_line(run, w->done, w->at + (int64_t)n - w->done))
        return false;
    advance(run, w, n + 1);
    w->in_long = false;
    w->done = w->at;
    return take_lines(run, w, 0);
}

static bool read_lines(Run *run, Window *w)
{
    while (!w->end) {
        size_t before = w->have;

        if (!more(run, w))
            return false;
        if (w->in_long ? !pass_long(run, w) : !take_lines(run, w, before))
            return false;
        if (!w->in_long && w->have > LIMIT_TRANSCRIPT_LINE) {
            w->in_long = true;
            longline_begin(run->r->longline);
            if (!pass_long(run, w))
                return false;
        }
    }
    return true;
}

/* What stands behind the last line end, in a file that nobody writes any more. */
static bool take_rest(Run *run, Window *w)
{
    int64_t broken = run->stats.broken, lines = run->stats.lines, n = w->at + (int64_t)w->have;

    memset(run->r->buf + w->have, 0, JSON_SCAN_SLACK);
    if (w->in_long ? !long_line(run, w->done, n - w->done)
                   : !short_line(run, (Str){ run->r->buf, w->have }, w->at))
        return false;
    if (run->stats.broken == broken) {
        w->done = n;
        return true;
    }
    run->stats.broken = broken;
    run->stats.lines = lines;
    return true;
}

/* -- cursors -- */

static double age_of(const TranscriptFile *f)
{
    return clock_wall() - (double)f->mtime_ns / 1e9;
}

bool cursor_is_current(const Cursor *c, const TranscriptFile *f)
{
    if (c->size != f->size || c->mtime_ns != f->mtime_ns || c->inode != f->inode)
        return false;
    return cursor_is_settled(c) || age_of(f) < SETTLED_SECONDS;
}

bool cursor_is_settled(const Cursor *c)
{
    return c->offset == c->size || c->settled;
}

static bool proof_of(int fd, int64_t offset, uint64_t *ret, Err *err)
{
    char bytes[2 * PROOF_BYTES];
    size_t n = offset < PROOF_BYTES ? (size_t)offset : PROOF_BYTES, head, tail;

    if (!read_at(fd, bytes, n, 0, &head, err) ||
        !read_at(fd, bytes + head, n, offset - (int64_t)n, &tail, err))
        return false;
    *ret = hash_text((uint64_t)offset, (Str){ bytes, head + tail }) >> 1;
    return true;
}

/* Lines before the cursor are read again without being told: which calls of the model were
 * counted, and which turns wait for their twin. */
static bool recollect(Run *run, int fd, int64_t offset)
{
    int64_t from = offset > BACK_BYTES ? offset - BACK_BYTES : 0;
    Run silent = { .r = run->r, .source = run->source, .err = run->err };
    char *buf = run->r->buf, *end;
    size_t n, start = 0;

    if (!read_at(fd, buf, (size_t)(offset - from), from, &n, run->err))
        return false;
    memset(buf + n, 0, JSON_SCAN_SLACK);
    if (from > 0) {
        end = memchr(buf, '\n', n);
        start = end ? (size_t)(end - buf) + 1 : n;
    }
    while ((end = memchr(buf + start, '\n', n - start))) {
        Str text = { buf + start, (size_t)(end - buf) - start };

        if (!short_line(&silent, text, 0))
            return false;
        start = (size_t)(end - buf) + 1;
    }
    return true;
}

/* Where to begin: behind the cursor where what stands before it is still the same. */
static bool find_start(Run *run, int fd, const TranscriptFile *f, const Cursor *cursor,
                       int64_t *ret, Err *err)
{
    int64_t offset = cursor->offset - run->shift;
    uint64_t proof;

    *ret = 0;
    run->stats.anew = cursor->offset > 0;
    if (offset <= 0 || (f->size < offset && !path_is_packed(f->path)))
        return true;
    if (!proof_of(fd, offset, &proof, err))
        return false;
    if (proof == cursor->proof) {
        *ret = offset;
        run->stats.anew = false;
    }
    return true;
}

/* One of the files that this one continues from. Its place in the stream is before what `shift`
 * says of the file itself. */
static bool read_part(Run *run, Arena *a, const CodexPart *part)
{
    Window w = { .stop = part->end };
    int64_t shift = run->shift;
    bool ok;

    if (!transcript_open(a, part->path, part->end, &w.fd, run->err))
        return false;
    run->shift = part->before;
    run->r->state.inherited = part->inherited;
    ok = read_lines(run, &w);
    run->r->state.inherited = false;
    run->shift = shift;
    close(w.fd);
    return ok;
}

/* The first line says what the session is, also where it is a fork. */
static bool read_bases(Run *run, Arena *a, Window *own, const CodexBase *base)
{
    Window first = { .fd = own->fd, .stop = base->first };

    if (!base->n || own->at > 0)
        return true;
    if (!read_lines(run, &first))
        return false;
    for (size_t i = 0; i < base->n; i++)
        if (!read_part(run, a, &base->parts[i]))
            return false;
    own->at = own->done = base->first;
    return true;
}

static bool read_file(Run *run, Arena *a, int fd, const TranscriptFile *f, const CodexBase *base,
                      Cursor *cursor, void (*anew)(void *ctx), Err *err)
{
    Cursor next = { .size = f->size, .mtime_ns = f->mtime_ns, .inode = f->inode };
    Window w = { .fd = fd };

    run->shift = base->bytes;
    if (!find_start(run, fd, f, cursor, &w.at, err))
        return false;
    if (run->stats.anew && anew)
        anew(run->ctx);
    w.done = w.at;
    run->r->state = (LineState){ .side_file = f->side_chain,
                                 .is_fork = f->source == SOURCE_CODEX && f->parent.n > 0 };
    if (w.at > 0 && !recollect(run, fd, w.at))
        return false;
    run->r->state.has_session = w.at > 0;
    if (w.at > 0)
        run->r->state.inherited = false;
    if (!read_bases(run, a, &w, base))
        return false;
    (void)posix_fadvise(fd, w.at, 0, POSIX_FADV_SEQUENTIAL);
    if (!read_lines(run, &w))
        return false;
    next.settled = age_of(f) >= SETTLED_SECONDS;
    if ((w.have || w.in_long) && next.settled && !take_rest(run, &w))
        return false;
    next.offset = w.done + run->shift;
    run->stats.incomplete = w.done < w.at + (int64_t)w.have;
    if (!proof_of(fd, w.done, &next.proof, err))
        return false;
    *cursor = next;
    return true;
}

bool transcript_read(Reader *r, const TranscriptFile *f, const ReadOptions *options, Cursor *cursor,
                     EventFn *fn, void (*anew)(void *ctx), void *ctx, ReadStats *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Run run = { .r = r,
                .source = f->source,
                .kinds = options ? options->kinds : 0,
                .inherited = options && options->inherited,
                .fn = fn,
                .ctx = ctx,
                .err = err };
    CodexBase base = { 0 };
    int fd;
    bool ok;

    if (!transcript_open(a, f->path, 0, &fd, err))
        return false;
    if (f->source == SOURCE_CODEX)
        base = codex_base(a, f->path);
    ok = read_file(&run, a, fd, f, &base, cursor, anew, err);
    close(fd);
    if (!ok)
        return err_wrap(err, "'%.*s'", STR_FMT(f->path));
    if (ret)
        *ret = run.stats;
    return true;
}

/* -- one line, and bytes -- */

static bool read_one(Run *run, int fd, int64_t where, int64_t line_bytes, Err *err)
{
    Window w = { .fd = fd, .at = where, .done = where };
    char before = '\n';
    size_t n = 1;

    if (where > 0 && !read_at(fd, &before, 1, where - 1, &n, err))
        return false;
    if (n != 1 || before != '\n')
        return err_set(err, ERR_NOT_FOUND, "no line begins at byte %lld", (long long)where);
    if (line_bytes > (int64_t)LIMIT_TRANSCRIPT_LINE) {
        w.in_long = true;
        longline_begin(run->r->longline);
    }
    while (w.at + (int64_t)w.have < where + line_bytes) {
        size_t before_n = w.have;

        if (!more(run, &w))
            return false;
        if (w.end && w.at + (int64_t)w.have < where + line_bytes)
            return err_set(err, ERR_NOT_FOUND, "the line at byte %lld is gone", (long long)where);
        if (w.at + (int64_t)w.have > where + line_bytes)
            w.have = (size_t)(where + line_bytes - w.at);
        if (memchr(run->r->buf + before_n, '\n', w.have - before_n))
            return err_set(err, ERR_NOT_FOUND, "the line at byte %lld is another one",
                           (long long)where);
        if (w.in_long && !pass_long(run, &w))
            return false;
    }
    return take_rest(run, &w);
}

bool transcript_line(Reader *r, SourceKind source, Str path, int64_t where, int64_t line_bytes,
                     EventFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Run run = { .r = r, .source = source, .fn = fn, .ctx = ctx, .err = err };
    CodexBase base = { 0 };
    int fd;
    bool ok;

    if (source == SOURCE_CODEX)
        base = codex_base(a, path);
    run.shift = base.bytes;
    for (size_t i = 0; i < base.n && where < base.bytes; i++)
        if (where >= base.parts[i].before && where < base.parts[i].before + base.parts[i].end) {
            path = base.parts[i].path;
            run.shift = base.parts[i].before;
        }
    if (!transcript_open(a, path, where - run.shift + line_bytes + 1, &fd, err))
        return false;
    r->state = (LineState){ 0 };
    ok = read_one(&run, fd, where - run.shift, line_bytes, err);
    close(fd);
    return ok;
}

/* A block at a time through the same buffer as a file's bytes. */
bool transcript_parse(Reader *r, SourceKind source, Str bytes, const ReadOptions *options,
                      EventFn *fn, void *ctx, ReadStats *ret, Err *err)
{
    Run run = { .r = r,
                .source = source,
                .kinds = options ? options->kinds : 0,
                .fn = fn,
                .ctx = ctx,
                .err = err };
    Window w = { .fd = -1 };

    r->state = (LineState){ 0 };
    while (bytes.n) {
        size_t n = bytes.n < BLOCK_BYTES ? bytes.n : BLOCK_BYTES, before = w.have;

        memcpy(r->buf + w.have, bytes.p, n);
        w.have += n;
        bytes = str_skip(bytes, n);
        run.stats.bytes += (int64_t)n;
        if (w.in_long ? !pass_long(&run, &w) : !take_lines(&run, &w, before))
            return false;
        if (!w.in_long && w.have > LIMIT_TRANSCRIPT_LINE) {
            w.in_long = true;
            longline_begin(r->longline);
            if (!pass_long(&run, &w))
                return false;
        }
    }
    if ((w.have || w.in_long) && !take_rest(&run, &w))
        return false;
    run.stats.incomplete = w.done < w.at + (int64_t)w.have;
    if (ret)
        *ret = run.stats;
    return true;
}
