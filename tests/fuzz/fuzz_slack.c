/* What Slack sends over HTTP (time, signature, body, one a line), and its mark-up in both
 * directions: nothing is accepted without the secret, a refusal does not depend on luck, and
 * nothing that was written calls a channel. */
#include "platforms/slack/slack.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_signature(Arena *a, Str text)
{
    SlackSigned s = { 0 };
    Err err;

    (void)(str_split(&text, '\n', &s.timestamp) && str_split(&text, '\n', &s.signature));
    s.body = text;
    ASSERT(!slack_verify(a, STR(""), &s, 1000, &err));
    ASSERT(!slack_verify(a, STR("a secret that is not in the corpus"), &s, 1000, &err));
    ASSERT(err.kind == ERR_REFUSED);
}

static void check_update(Arena *a, Str text)
{
    Identity me = { .id = STR("U1") };
    Str name = STR_NONE;
    bool wanted = false;
    Err err;

    if (slack_name(a, text, &me, &name, &wanted, &err))
        ASSERT(!wanted || name.n > 1);
}

static void check_text(Arena *a, Str text)
{
    Str out = slack_from_markdown(a, text);

    ASSERT(str_find(out, STR("<!")) == out.n && str_find(out, STR("<@")) == out.n);
    ASSERT(utf8_valid_prefix(out) == out.n);
    (void)slack_to_markdown(a, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };

    check_signature(a, text);
    check_update(a, text);
    check_text(a, text);
    return 0;
}
