/* Lines out of a stream, however it is cut. */
#include "unit.h"

#include "base/buf.h"
#include "net/ndjson.h"

static void write_line(void *ctx, Str line, bool cut)
{
    buf_addf(ctx, "%s<%.*s>", cut ? "cut" : "", STR_FMT(line));
}

static const struct {
    Str text, lines; /* lines of at most 8 bytes */
} cases[] = {
    { STR_INIT("{}\n[1]\n"), STR_INIT("<{}><[1]>") },
    { STR_INIT("{}\r\n\n \t\r\n[1]"), STR_INIT("<{}><[1]>") },
    { STR_INIT("12345678\n1\n"), STR_INIT("<12345678><1>") },
    { STR_INIT("123456789\n1\n"), STR_INIT("cut<12345678><1>") },
    { STR_INIT("123456789012345678901234567890"), STR_INIT("cut<12345678>") },
    { STR_INIT("\n\n"), STR_INIT("") },
    { STR_INIT("a\rb\n"), STR_INIT("<a\rb>") },
};

static void lines_are_the_same_however_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece <= cases[i].text.n; piece++) {
            AUTO_BUF out = BUF(4096);
            Ndjson n = ndjson_of(8, write_line, &out);

            for (size_t at = 0; at < cases[i].text.n; at += piece)
                ndjson_feed(&n, str_head(str_skip(cases[i].text, at), piece));
            ndjson_finish(&n);
            assert_str(buf_str(&out), cases[i].lines);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines_are_the_same_however_cut) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
