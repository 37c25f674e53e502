/* Any text as Markdown: the HTML holds only tags that do nothing, and links that go nowhere but to
 * http, https and mail. */
#include "text/markdown.h"

#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tags[] =
    "p|h1|h2|h3|h4|h5|h6|em|strong|del|code|pre|blockquote|ul|ol|li|a|hr|br|table|"
    "thead|tbody|tr|th|td|input";

static size_t name_length(Str s)
{
    size_t n = 0;

    while (n < s.n && ((s.p[n] >= 'a' && s.p[n] <= 'z') || (s.p[n] >= '0' && s.p[n] <= '9')))
        n++;
    return n;
}

/* Outside of quotes: a class may well be called "language-href=". */
static size_t find_attribute(Str inside, Str name)
{
    bool quoted = false;

    for (size_t i = 0; i < inside.n; i++) {
        Str rest = str_skip(inside, i);

        quoted ^= inside.p[i] == '"';
        if (!quoted && str_find_nocase(str_head(rest, name.n), name) == 0)
            return i;
    }
    return inside.n;
}

static void check_attribute(Str inside)
{
    static const char *const fine[] = { "href=\"\"", "href=\"http://", "href=\"https://",
                                        "href=\"mailto:" };
    size_t at = find_attribute(inside, STR("href="));
    bool ok = at == inside.n;

    for (size_t i = 0; i < ARRAY_LEN(fine); i++)
        ok = ok || str_find_nocase(str_head(str_skip(inside, at), 16), str_of(fine[i])) == 0;
    ASSERT(ok);
}

static void check_tag(Str rest)
{
    Str name;

    rest = str_skip(rest, 1);
    if (rest.n && rest.p[0] == '/')
        rest = str_skip(rest, 1);
    name = str_head(rest, name_length(rest));
    ASSERT(str_is_one_of(name, tags));
    check_attribute(str_head(rest, str_find(rest, STR(">"))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str html = markdown_html(a, (Str){ (const char *)data, size });

    ASSERT(utf8_valid_prefix(html) == html.n);
    for (size_t i = 0; i < html.n; i++)
        if (html.p[i] == '<')
            check_tag(str_skip(html, i));
    return 0;
}
