/* Slack's mark-up, what its events read as, and its signature. */
#include "unit.h"

#include "platforms/slack/slack.h"
#include "text/sha256.h"

static void markdown_becomes_slacks_markup(void **state)
{
    static const struct {
        const char *markdown, *slack;
    } rows[] = {
        { "plain", "plain" },
        { "**a** and *b* and ~~c~~", "*a* and _b_ and ~c~" },
        { "***both***", "_*both*_" }, /* CommonMark's order; it looks the same */
        { "**two\nlines** _of_ it", "*two*\n*lines* _of_ it" },
        { "__a__ _b_ snake_case_name 2 * 3 * 4", "*a* _b_ snake_case_name 2 * 3 * 4" },
        { "a < b && c > d", "a &lt; b &amp;&amp; c &gt; d" },
        { "<!channel> <@U1> <!here|x>", "&lt;!channel&gt; &lt;@U1&gt; &lt;!here|x&gt;" },
        { "`**a** <b>`", "`**a** &lt;b&gt;`" },
        { "[words](https://e.org/a?b&c)", "<https://e.org/a?b&amp;c|words>" },
        { "[w|x](https://e.org)", "<https://e.org|w/x>" },
        { "[words](javascript:x)", "words" },
        { "[**bold** `code`](https://e.org)", "<https://e.org|bold code>" },
        { "[](https://e.org)", "<https://e.org>" },
        { "[words][1]\n\n[1]: https://e.org", "<https://e.org|words>" },
        { "<a@e.org>", "<mailto:a@e.org|a@e.org>" },
        { "AT&amp;T &lt;b&gt;", "AT&amp;T &lt;b&gt;" },
        { "![a picture](https://e.org/p.png)", "<https://e.org/p.png|a picture>" },
        { "<https://e.org>", "<https://e.org>" },
        { "# One\n###### Six", "*One*\n*Six*" },
        { "#no title", "#no title" },
        { "# **One**\ntext", "*One*\ntext" },
        { "One\n===\ntext", "*One*\ntext" },
        { "one\n\ntwo\n\n\n\nthree", "one\n\ntwo\n\nthree" },
        { "> said\n>\n> more\n\nnot", "> said\n>\n> more\n\nnot" },
        { "> said\nmore", "> said\n> more" }, /* a quote's paragraph goes on without its mark */
        { "> ```\n> a\n> ```", "> ```\n> a\n> ```" },
        { "- a\n  * b", "\xe2\x80\xa2 a\n  \xe2\x80\xa2 b" },
        { "- a\n  b\n\n  c\n-\n- d", "\xe2\x80\xa2 a\n  b\n\n  c\n\xe2\x80\xa2 \n\xe2\x80\xa2 d" },
        { "3. a\n3. b\n   - c", "3. a\n4. b\n  \xe2\x80\xa2 c" },
        { "- [x] done", "\xe2\x80\xa2 [x] done" },
        { "```c\na < **b**\n```\nafter", "```\na &lt; **b**\n```\nafter" },
        { "```c\nunfinished", "```\nunfinished\n```" },
        { "| a | b |\n|---|:-:|\n| 1 | 2 |\n\nafter",
          "```\n| a | b |\n|---|:-:|\n| 1 | 2 |\n```\n\nafter" },
        { "| a |\n|---|\n| 1 |\n# after", "```\n| a |\n|---|\n| 1 |\n```\n*after*" },
        { "before\r\n\r> | a |\r> |---|\r> | **1** < |\r",
          "before\n\n> ```\n> | a |\n> |---|\n> | **1** &lt; |\n> ```" },
        { "| a |\n|-|\n\n| b |\n|-|", "```\n| a |\n|-|\n```\n\n```\n| b |\n|-|\n```" },
        { "| no table", "| no table" },
        { "\\*not\\*", "*not*" },
        { "** not ** this", "** not ** this" },
        { "unfinished **bold", "unfinished **bold" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(str_z(a, slack_from_markdown(a, str_of(rows[i].markdown))),
                            rows[i].slack);
}

static void slacks_markup_becomes_markdown(void **state)
{
    static const struct {
        const char *slack, *markdown;
    } rows[] = {
        { "a &lt; b &amp;amp; c", "a < b &amp; c" },
        { "see <https://e.org|this> and <https://e.org>",
          "see [this](https://e.org) and https://e.org" },
        { "<@U2> in <#C1|general> <!here>", "@U2 in #general @here" },
        { "a < b", "a < b" },
        { "<", "<" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(str_z(a, slack_to_markdown(a, str_of(rows[i].slack))),
                            rows[i].markdown);
}

#define EVENT(fields)                                                                              \
    "{\"team_id\":\"T1\",\"event\":{\"ts\":\"1.2\",\"channel\":\"C1\",\"user\":\"U1\"," fields "}" \
    "}"

static void who_is_addressed(void **state)
{
    static const struct {
        const char *update, *text;
        bool is, addressed, by_us;
    } rows[] = {
        { EVENT("\"type\":\"message\",\"text\":\"hi\""), "hi", true, false, false },
        { EVENT("\"type\":\"message\",\"text\":\"<@UME>: !status\""), "!status", true, true,
          false },
        { EVENT("\"type\":\"message\",\"text\":\"ask <@UME|me>\""), "ask @me", true, true, false },
        { EVENT("\"type\":\"message\",\"text\":\"<@UMEX> hi\""), "@UMEX hi", true, false, false },
        { EVENT("\"type\":\"app_mention\",\"text\":\"<@UME> hi\""), "hi", true, true, false },
        { EVENT("\"type\":\"message\",\"channel_type\":\"im\",\"text\":\"hi\""), "hi", true, true,
          false },
        { EVENT("\"type\":\"message\",\"channel_type\":\"mpim\",\"text\":\"hi\""), "hi", true,
          false, false },
        { EVENT("\"type\":\"message\",\"parent_user_id\":\"UME\",\"text\":\"hi\""), "hi", true,
          true, false },
        { EVENT("\"type\":\"message\",\"subtype\":\"file_share\",\"text\":\"hi\""), "hi", true,
          false, false },
        { EVENT("\"type\":\"message\",\"subtype\":\"message_deleted\""), "", false, false, false },
        { EVENT("\"type\":\"message\",\"user\":\"UME\",\"text\":\"hi\""), "hi", true, false, true },
    };
    Identity me = { .id = STR("UME") };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Inbound in = { 0 };
        bool is;
        Err err;

        assert_true(shape_slack.parse(a, str_of(rows[i].update), &me, &in, &is, &err));
        assert_int_equal(is, rows[i].is);
        if (!is)
            continue;
        assert_string_equal(str_z(a, in.text), rows[i].text);
        assert_int_equal(in.addressed, rows[i].addressed);
        assert_int_equal(in.by_us, rows[i].by_us);
    }
}

/* Slack's own example, and RFC 4231's of a key that is longer than a block. */
static void signatures(void **state)
{
    static const char body[] =
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id="
        "G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-"
        "collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%"
        "2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
        "803a0bc887a14d10d2c447fce8b6703c";
    SlackSigned s = { .timestamp = STR("1531420618"),
                      .signature = STR(
                          "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"),
                      .body = { body, sizeof body - 1 } };
    Str secret = STR("8f742231b10e8888abcd99yyyzzz85a5");
    char key[131];
    uint8_t hash[SHA256_BYTES];
    AUTO(Arena) *a = arena_new();
    Err err;

    (void)state;
    assert_true(slack_verify(a, secret, &s, 1531420618 + 300, &err));
    assert_false(slack_verify(a, secret, &s, 1531420618 + 301, &err));
    assert_false(slack_verify(a, secret, &s, 1531420618 - 301, &err));
    s.timestamp = STR("1531420619");
    assert_false(slack_verify(a, secret, &s, 1531420618, &err));
    memset(key, 0xaa, sizeof key);
    hmac_sha256((Str){ key, sizeof key },
                STR("Test Using Larger Than Block-Size Key - Hash Key First"), hash);
    assert_int_equal(hash[0], 0x60);
    assert_int_equal(hash[31], 0x54);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_becomes_slacks_markup),
        cmocka_unit_test(slacks_markup_becomes_markdown),
        cmocka_unit_test(who_is_addressed),
        cmocka_unit_test(signatures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
