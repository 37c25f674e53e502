/* Recorded answers of every dialect: what they come to, and that it does not depend on how the
 * bytes are cut. */
#include "unit.h"

#include "base/buf.h"
#include "base/file.h"
#include "model/stream.h"

typedef struct Script {
    Buf out;
    ModelEventKind last;
    bool any;
    int terminals;
} Script;

/* Pieces of text that follow each other read as one. */
static void begin(Script *s, ModelEventKind kind)
{
    bool goes_on = s->any && s->last == kind && (kind == MODEL_TEXT || kind == MODEL_REASONING);

    if (!goes_on && s->any)
        buf_addc(&s->out, ' ');
    if (!goes_on)
        buf_addf(&s->out, "%s:", model_event_name(kind));
    s->any = true;
    s->last = kind;
}

static void on_event(void *ctx, const ModelEvent *e)
{
    Script *s = ctx;

    begin(s, e->kind);
    s->terminals += model_event_is_last(e);
    if (e->kind == MODEL_TEXT || e->kind == MODEL_REASONING)
        buf_add(&s->out, e->text);
    else if (e->kind == MODEL_TOOL_CALL)
        buf_addf(&s->out, "%.*s/%.*s/%.*s", STR_FMT(e->call.id), STR_FMT(e->call.name),
                 STR_FMT(e->call.arguments));
    else if (e->kind == MODEL_USAGE)
        buf_addf(&s->out, "%d+%d(%d,%d)", (int)e->usage.input, (int)e->usage.output,
                 (int)e->usage.cached, (int)e->usage.reasoning);
    else if (e->kind == MODEL_FINISH)
        buf_addz(&s->out, model_finish_name(e->finish));
    else
        buf_addz(&s->out, model_fail_name(e->fail.kind));
}

static const struct {
    const char *file, *events;
} cases[] = {
    { "chat_text.sse", "text:Hello, wörld 你好 🙂 usage:12+5(8,2) finish:stop" },
    { "chat_tools.sse", "reasoning:Two files. tool_call:call_a/read/{\"path\":\"a.txt\"} "
                        "tool_call:call_b/list/{} usage:12+5(8,2) finish:tool_calls" },
    { "chat_length.sse", "text:Once upon finish:length" },
    { "chat_half.sse", "text:a\xef\xbf\xbd\xef\xbf\xbd"
                       "b finish:stop" },
    { "chat_no_done.sse", "text:Hi finish:stop" },
    { "chat_cut.sse", "text:Hi the error:cut" },
    { "chat_cut_event.sse", "text:Hi error:cut" },
    { "chat_error.sse", "text:Hi error:overloaded" },
    { "chat_filter.sse", "text:Hi error:content_filter" },
    { "chat_empty.sse", "error:empty" },
    { "chat_only_reasoning.sse", "reasoning:Hmm error:empty" },
    { "chat_refusal.sse", "text:I cannot finish:refusal" },
    { "chat_bad_arguments.sse", "error:malformed" },
    { "chat_malformed.sse", "text:Hi error:malformed" },
    { "chat_extension.sse", "text:Hi finish:stop" },
    { "chat_no_index.sse", "tool_call:a/one/{} tool_call:b/two/{\"k\":1} finish:tool_calls" },
    { "chat_whole.json", "text:Hello tool_call:a/one/{\"k\":1} usage:12+5(8,2) finish:tool_calls" },
    { "responses_text.sse", "reasoning:Two files. text:Hello, wörld usage:12+5(8,2) finish:stop" },
    { "responses_tools.sse",
      "tool_call:call_a/read/{\"path\":\"a.txt\"} usage:12+5(8,2) finish:tool_calls" },
    { "responses_incomplete.sse", "text:Once usage:12+5(8,2) finish:length" },
    { "responses_failed.sse", "text:Hi error:rate_limited" },
    { "responses_error.sse", "error:overloaded" },
    { "responses_refusal.sse", "text:I cannot usage:12+5(8,2) finish:refusal" },
    { "responses_cut.sse", "text:Hi error:cut" },
    { "responses_empty.sse", "error:empty" },
    { "responses_whole.json", "reasoning:Hmm text:Hello, wörld "
                              "tool_call:call_a/read/{\"path\":\"a.txt\"} usage:12+5(8,2) "
                              "finish:tool_calls" },
    { "anthropic_text.sse", "reasoning:Two files. text:Hello, wörld usage:12+5(8,0) finish:stop" },
    { "anthropic_tools.sse", "text:Looking. tool_call:toolu_a/read/{\"path\":\"a.txt\"} "
                             "tool_call:toolu_b/list/{} usage:12+5(8,0) finish:tool_calls" },
    { "anthropic_length.sse", "usage:12+5(8,0) finish:length" },
    { "anthropic_overloaded.sse", "error:overloaded" },
    { "anthropic_refusal.sse", "text:Hi error:content_filter" },
    { "anthropic_window.sse", "text:Hi error:context_too_long" },
    { "anthropic_cut.sse", "text:Hi error:cut" },
    { "anthropic_empty.sse", "error:empty" },
    { "anthropic_unknown.sse", "text:Hi usage:12+5(8,0) finish:other" },
    { "anthropic_whole.json", "reasoning:Hmm text:Hello tool_call:t/read/{\"path\": \"a.txt\"} "
                              "usage:3+5(0,0) finish:tool_calls" },
};

static ModelDialect dialect_of_file(Str file)
{
    return str_starts(file, STR("chat"))        ? MODEL_OPENAI_CHAT
           : str_starts(file, STR("responses")) ? MODEL_OPENAI_RESPONSES
                                                : MODEL_ANTHROPIC;
}

static Str fixture(Arena *a, const char *file)
{
    const char *root = getenv("TALARIA_FIXTURES");
    Str bytes;
    Err err;

    assert_non_null(root);
    if (!file_read(a, str_printf(a, "%s/model/%s", root, file).p, 1 << 20, &bytes, &err))
        fail_msg("%s", err.text);
    return bytes;
}

static void check(size_t i, Str bytes, size_t first, size_t piece)
{
    Script script = { .out = BUF(1 << 16) };
    Str file = str_of(cases[i].file);
    AUTO(ModelStream) *s =
        model_stream_new(dialect_of_file(file), str_ends(file, STR(".json")), on_event, &script);

    (void)model_stream_feed(s, str_head(bytes, first));
    for (size_t at = first; at < bytes.n; at += piece)
        (void)model_stream_feed(s, str_head(str_skip(bytes, at), piece));
    model_stream_end(s);
    model_stream_end(s);
    if (!str_eqz(buf_str(&script.out), cases[i].events))
        fail_msg("%s, cut at %zu, pieces of %zu:\n  got      %s\n  expected %s", cases[i].file,
                 first, piece, script.out.p, cases[i].events);
    assert_int_equal(script.terminals, 1);
    buf_done(&script.out);
}

static void recorded_answers(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Str bytes = fixture(a, cases[i].file);

        check(i, bytes, 0, bytes.n);
        check(i, bytes, 0, 1);
        check(i, bytes, 0, 7);
        for (size_t cut = 1; cut < bytes.n; cut++)
            check(i, bytes, cut, bytes.n);
    }
}

/* Cut anywhere before its end, an answer is no success, whatever its dialect. */
static void no_beginning_is_a_success(void **state)
{
    static const struct {
        const char *file, *end; /* from where on it is one */
    } wholes[] = { { "chat_text.sse", "\"finish_reason\":\"stop\"}]}" },
                   { "responses_text.sse", "event: response.completed" },
                   { "anthropic_text.sse", "event: message_stop" } };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wholes); i++) {
        Str bytes = fixture(a, wholes[i].file);
        size_t end = str_find(bytes, str_of(wholes[i].end));

        assert_true(end < bytes.n);
        for (size_t n = 0; n < end; n++) {
            Script script = { .out = BUF(1 << 16) };
            AUTO(ModelStream) *s =
                model_stream_new(dialect_of_file(str_of(wholes[i].file)), false, on_event, &script);

            (void)model_stream_feed(s, str_head(bytes, n));
            model_stream_end(s);
            if (!str_ends(buf_str(&script.out), STR("error:cut")))
                fail_msg("%s, %zu bytes: %s", wholes[i].file, n, script.out.p);
            buf_done(&script.out);
        }
    }
}

static void a_huge_line_is_malformed(void **state)
{
    AUTO(Arena) *a = arena_new();
    size_t n = (1 << 20) + 100;
    char *bytes = arena_alloc(a, n);
    Script script = { .out = BUF(1 << 16) };
    AUTO(ModelStream) *s = model_stream_new(MODEL_OPENAI_CHAT, false, on_event, &script);

    (void)state;
    memset(bytes, 'x', n);
    assert_false(model_stream_feed(s, (Str){ bytes, n }));
    assert_false(model_stream_feed(s, STR("data: [DONE]\n\n")));
    model_stream_end(s);
    assert_str(buf_str(&script.out), STR("error:malformed"));
    buf_done(&script.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_answers),
        cmocka_unit_test(no_beginning_is_a_success),
        cmocka_unit_test(a_huge_line_is_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
