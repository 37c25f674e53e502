/* Markdown as HTML: what each construct becomes, and that no text costs more than its size
 * allows. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/markdown.h"

static const struct {
    const char *markdown, *html;
} rows[] = {
    { "", "" },
    { "a *b* **c** ~~d~~ ~e~ `f`",
      "<p>a <em>b</em> <strong>c</strong> <del>d</del> <del>e</del> <code>f</code></p>\n" },
    { "# H\ntext\n\n---", "<h1>H</h1>\n<p>text</p>\n<hr />\n" },
    { "- a\n- b\n  - c", "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n" },
    { "3. a\n\n4. b", "<ol start=\"3\">\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>\n" },
    { "- [x] a\n- [ ] b",
      "<ul>\n<li><input type=\"checkbox\" checked=\"\" disabled=\"\" /> a</li>\n"
      "<li><input type=\"checkbox\" disabled=\"\" /> b</li>\n</ul>\n" },
    { "> q", "<blockquote>\n<p>q</p>\n</blockquote>\n" },
    { "```c x\na<b\n```", "<pre lang=\"c\"><code>a&lt;b\n</code></pre>\n" },
    { "a  \nb\nc", "<p>a<br />\nb\nc</p>\n" },
    { "|a|b|\n|:-|-:|\n|1|2|", "<table>\n<thead>\n<tr>\n<th align=\"left\">a</th>\n<th "
                               "align=\"right\">b</th>\n</tr>\n</thead>\n"
                               "<tbody>\n<tr>\n<td align=\"left\">1</td>\n<td "
                               "align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n" },
    /* links */
    { "[t](https://e.org/?a=1&b=ü \"T\")",
      "<p><a href=\"https://e.org/?a=1&amp;b=%C3%BC\" title=\"T\">t</a></p>\n" },
    { "[t](javascript:x) [u](a.md)", "<p><a href=\"\">t</a> <a href=\"\">u</a></p>\n" },
    { "![i](http://e.org/i.png)", "<p><a href=\"http://e.org/i.png\">i</a></p>\n" },
    { "see https://e.org/a_b(c), (www.e.org) and me@e.org.",
      "<p>see <a href=\"https://e.org/a_b(c)\">https://e.org/a_b(c)</a>, (<a "
      "href=\"http://www.e.org\">www.e.org</a>)"
      " and <a href=\"mailto:me@e.org\">me@e.org</a>.</p>\n" },
    { "[x https://e.org](https://f.org) a@b xhttp://e.org http://",
      "<p><a href=\"https://f.org\">x https://e.org</a> a@b xhttp://e.org http://</p>\n" },
    /* raw HTML is text */
    { "<div onclick=\"x\">\nhi\n</div>",
      "<p class=\"plain\">&lt;div onclick=&quot;x&quot;&gt;\nhi\n&lt;/div&gt;</p>\n" },
    { "<command-name>/clear</command-name>",
      "<p>&lt;command-name&gt;/clear&lt;/command-name&gt;</p>\n" },
    { "a <b>x</b> <!-- c --> &lt;i&gt;",
      "<p>a &lt;b&gt;x&lt;/b&gt; &lt;!-- c --&gt; &lt;i&gt;</p>\n" },
    { "bad \xff byte", "<p>bad \xef\xbf\xbd byte</p>\n" },
};

static void every_construct(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(Arena) *a = arena_new();

        assert_str(markdown_html(a, str_of(rows[i].markdown)), str_of(rows[i].html));
    }
}

static void add_times(Buf *b, const char *s, size_t n)
{
    while (n--)
        buf_addz(b, s);
}

static bool contains(Str s, const char *what)
{
    return str_find(s, str_of(what)) < s.n;
}

static void a_table_of_too_many_cells_stays_as_typed(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(MIB(1));
    Str html;

    (void)state;
    add_times(&text, "|a", 1500);
    add_times(&text, "\n", 1);
    add_times(&text, "|-", 1500);
    add_times(&text, "\n", 1);
    add_times(&text, "a\n", 1500);
    add_times(&text, "\n**b**\n\n|c|\n|-|\n", 1);
    html = markdown_html(a, buf_str(&text));
    assert_true(html.n < 2 * text.n);
    assert_false(contains(html, "<table>"));
    assert_true(contains(html, "|a|a|a"));
    assert_true(contains(html, "<strong>b</strong>")); /* the rest is Markdown all the same */
}

static void an_ordinary_table_is_one(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(MIB(1));
    Str html;

    (void)state;
    add_times(&text, "| name | a | b |\n|---|---|---|\n", 1);
    add_times(&text, "| some row | 1 | 2 |\n", 2000);
    html = markdown_html(a, buf_str(&text));
    assert_true(contains(html, "<td>some row</td>"));
}

static void a_long_text_is_plain(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(MIB(1));
    Str html;

    (void)state;
    add_times(&text, "**a** <b>\n", LIMIT_MARKDOWN_BYTES / 10 + 1);
    html = markdown_html(a, buf_str(&text));
    assert_true(str_starts(html, STR("<p class=\"plain\">**a** &lt;b&gt;\n**a**")));
    assert_true(html.n < 2 * text.n);
}

/* Reference links copy their target, nested blocks are looked at with every line. */
static void what_multiplies_is_plain(void **state)
{
    static const struct {
        const char *head, *between;
        size_t n_head;
        const char *tail;
        size_t n_tail;
    } texts[] = {
        { "x", "\n\n", 30000, "[a]", 8000 },
        { "* ", "a\n", 500, "\n", 60000 },
        { ">", "a\n", 4000, "a\n", 10000 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(Arena) *a = arena_new();
        AUTO_BUF text = BUF(MIB(1));
        Str html;

        buf_addz(&text, i ? "" : "[a]: ");
        add_times(&text, texts[i].head, texts[i].n_head);
        buf_addz(&text, texts[i].between);
        add_times(&text, texts[i].tail, texts[i].n_tail);
        html = markdown_html(a, str_head(buf_str(&text), LIMIT_MARKDOWN_BYTES));
        assert_true(str_starts(html, STR("<p class=\"plain\">")));
        assert_true(html.n < 6 * text.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_construct),
        cmocka_unit_test(a_table_of_too_many_cells_stays_as_typed),
        cmocka_unit_test(an_ordinary_table_is_one),
        cmocka_unit_test(a_long_text_is_plain),
        cmocka_unit_test(what_multiplies_is_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
