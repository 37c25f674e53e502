/* Frames of Slack's Socket Mode, one a line: what is acknowledged has a name that fits, and the
 * acknowledgement is one object with that name. */
#include "platforms/slack/slack.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_acknowledgement(Arena *a, Str envelope)
{
    Str out = slack_acknowledgement(a, envelope);
    AUTO(JsonDoc) *doc = NULL;
    Err err;

    ASSERT(envelope.n && envelope.n <= SLACK_ENVELOPE_CHARS);
    ASSERT(out.n <= 32 + 6 * SLACK_ENVELOPE_CHARS);
    doc = json_parse(out, &err);
    ASSERT(doc && json_count(json_root(doc)) == 1);
    ASSERT(str_eq(json_str(json_get(json_root(doc), STR("envelope_id"))), envelope));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str rest = { (const char *)data, size }, frame;

    while (str_split(&rest, '\n', &frame)) {
        AUTO(Arena) *a = arena_new();
        SlackFrame what = SLACK_FRAME_UPDATE;
        Str envelope = STR_NONE;

        if (!slack_frame_read(a, frame, &what, &envelope))
            ASSERT(what == SLACK_FRAME_OTHER && !envelope.n);
        if (what == SLACK_FRAME_UPDATE)
            check_acknowledgement(a, envelope);
    }
    return 0;
}
