/* Any bytes as the query of an address: what comes out is clean text and numbers in range, and the
 * marks of pages that we make are read back as they were. */
#include "http/query.h"

#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(Str s)
{
    ASSERT(utf8_valid_prefix(s) == s.n);
    ASSERT(!s.n || !memchr(s.p, 0, s.n));
}

static void check_marks(Arena *a, Str text)
{
    MessageMark mark, mark_again;
    Session s, s_again;
    Err err;

    if (cursor_parse_session(text, 4, &s, &err)) {
        ASSERT(s.home < 4);
        ASSERT(cursor_parse_session(cursor_of_session(a, &s), 4, &s_again, &err));
        ASSERT(s_again.home == s.home && s_again.rowid == s.rowid &&
               s_again.started_at == s.started_at);
    }
    if (cursor_parse_message(text, 9, &mark, &err)) {
        ASSERT(mark.part < 9);
        ASSERT(cursor_parse_message(cursor_of_message(a, mark.part, &mark.last), 9, &mark_again,
                                    &err));
        ASSERT(mark_again.last.id == mark.last.id);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str raw = { (const char *)data, size }, text;
    int64_t number;
    double when;
    bool flag;
    Err err;

    if (url_decode(a, raw, true, &text))
        check_text(text);
    if (query_text(a, raw, "cursor", &text, &err) && text.p) {
        check_text(text);
        check_marks(a, text);
    }
    check_marks(a, raw);
    if (query_number(a, raw, "limit", 1, 500, 50, &number, &err))
        ASSERT(number >= 1 && number <= 500);
    (void)!query_flag(a, raw, "archived", &flag, &err);
    (void)!query_time(a, raw, "since", &when, &err);
    return 0;
}
