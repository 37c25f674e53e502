/* However the bytes of a peer are cut, what is heard is the same: every recording, cut in two at
 * every place (larger ones at every eleventh, save with TALARIA_LONG=1), and byte by byte. */
#include "unit.h"

#include <dirent.h>

#include "base/file.h"
#include "base/limits.h"
#include "net/ndjson.h"
#include "runtimes/claude_stream.h"
#include "runtimes/codex_stream.h"
#include "runtimes/frames.h"
#include "runtimes/hermes_stream.h"

enum { SMALL = 2500 };

typedef struct Heard {
    Frames frames;
    Buf all;
} Heard;

static void on_frame(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Heard *h = ctx;
    Str rest = data, field;

    (void)seq;
    buf_addf(&h->all, "%s", frame_event_name(event));
    /* Times are of the clock: everything else counts. */
    while (str_split(&rest, ',', &field))
        if (str_find(field, STR("\"ts\"")) == field.n && str_find(field, STR("_ms\"")) == field.n)
            buf_addf(&h->all, " %.*s", STR_FMT(field));
    buf_addc(&h->all, '\n');
}

static void on_event(void *ctx, const RuntimeEvent *e)
{
    frames_event(&((Heard *)ctx)->frames, e);
}

static void claude_line(void *ctx, Str line, bool cut)
{
    claude_stream_line(ctx, line, cut);
}

static void codex_line(void *ctx, Str line, bool cut)
{
    codex_stream_line(ctx, line, cut);
}

/* -- one recording, in pieces -- */

typedef struct Cut {
    Str bytes;
    size_t at;   /* in two, here; */
    size_t step; /* or in pieces of so many; 0: not */
} Cut;

static bool next_piece(const Cut *cut, size_t *from, Str *ret)
{
    size_t to = cut->step ? *from + cut->step : *from < cut->at ? cut->at : cut->bytes.n;

    if (*from >= cut->bytes.n)
        return false;
    if (to > cut->bytes.n)
        to = cut->bytes.n;
    *ret = (Str){ cut->bytes.p + *from, to - *from };
    *from = to;
    return true;
}

static void feed_lines(Ndjson *lines, const Cut *cut)
{
    size_t from = 0;
    Str piece;

    while (next_piece(cut, &from, &piece))
        ndjson_feed(lines, piece);
    ndjson_finish(lines);
}

static void play_hermes(Arena *a, Teller *t, Str name, const Cut *cut)
{
    HermesDialect dialect;
    HermesStream s;
    size_t from = 0;
    Str piece, rest = name, word;

    (void)(str_split(&rest, '_', &word) && str_split(&rest, '_', &word));
    assert_true(hermes_dialect_of(word, &dialect));
    hermes_stream_init(&s, dialect, t, a);
    teller_session(t, STR(""), CONTINUITY_NEW, STR(""), STR(""));
    while (next_piece(cut, &from, &piece))
        (void)hermes_stream_feed(&s, piece);
    hermes_stream_verdict(&s, STR(""));
    hermes_stream_done(&s);
}

static void play_claude(Arena *a, Teller *t, const Cut *cut)
{
    ClaudeStream s;
    Ndjson lines = ndjson_of(LIMIT_NDJSON_LINE, claude_line, &s);

    claude_stream_init(&s, t, a, false);
    feed_lines(&lines, cut);
    claude_stream_end(&s, STR("the recording ends here"));
}

static void play_codex(Arena *a, Teller *t, const Cut *cut)
{
    CodexStream s;
    Ndjson lines = ndjson_of(LIMIT_NDJSON_LINE, codex_line, &s);

    codex_stream_init(&s, t, a, false);
    feed_lines(&lines, cut);
    codex_stream_end(&s, STR("the recording ends here"));
}

static Str play(Arena *keep, Str name, const Cut *cut)
{
    AUTO(Arena) *a = arena_new();
    Heard h = { .all = BUF(MIB(4)) };
    Teller t;
    Str all;

    frames_init(&h.frames, "peer", STR(""), on_frame, &h);
    frames_metadata(&h.frames, NULL, NULL);
    teller_init(&t, on_event, &h);
    if (str_starts(name, STR("hermes_")))
        play_hermes(a, &t, name, cut);
    else if (str_starts(name, STR("claude_")))
        play_claude(a, &t, cut);
    else
        play_codex(a, &t, cut);
    teller_done(&t);
    frames_done(&h.frames);
    all = str_dup(keep, buf_str(&h.all));
    buf_done(&h.all);
    return all;
}

/* -- all of them -- */

static void check_recording(const char *folder, const char *name)
{
    AUTO(Arena) *a = arena_new();
    Str path = str_join_path(a, str_of(folder), str_of(name)), bytes, whole;
    Err err;

    assert_true(file_read(a, str_z(a, path), MIB(1), &bytes, &err));
    whole = play(a, str_of(name), &(Cut){ .bytes = bytes, .at = bytes.n });
    assert_true(str_ends(whole, STR("}\n")) && str_find(whole, STR("\ndone")) < whole.n);
    for (size_t at = 1; at<bytes.n; at += bytes.n> SMALL && !getenv("TALARIA_LONG") ? 11 : 1) {
        AUTO(Arena) *once = arena_new();

        assert_str(play(once, str_of(name), &(Cut){ .bytes = bytes, .at = at }), whole);
    }
    assert_str(play(a, str_of(name), &(Cut){ .bytes = bytes, .step = 1 }), whole);
    assert_str(play(a, str_of(name), &(Cut){ .bytes = bytes, .step = 7 }), whole);
}

static void cuts_change_nothing(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str folder = str_join_path(a, str_of(getenv("TALARIA_FIXTURES")), STR("runtimes"));
    DIR *d = opendir(str_z(a, folder));
    size_t n = 0;

    (void)state;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            check_recording(str_z(a, folder), e->d_name);
            n++;
        }
    closedir(d);
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(cuts_change_nothing) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
