/* What Claude Code prints. Three things in it look like what they are not:
 * the result of a failed turn has subtype "success" (is_error counts); the text of a failure comes
 * as a message of the assistant (told by its error, or by the model's name "<synthetic>"); and each
 * message comes twice, in pieces and whole. A connection that breaks in the middle of a message
 * makes it begin that message again. */
#include "runtimes/claude_stream.h"

#include "base/limits.h"
#include "runtimes/lines.h"

void claude_stream_init(ClaudeStream *s, Teller *t, Arena *a, bool resuming)
{
    *s = (ClaudeStream){ .t = t, .arena = a, .resuming = resuming };
}

/* -- pieces of messages -- */

static void block_delta(ClaudeStream *s, Json delta)
{
    if (is_at(delta, "type", "text_delta"))
        teller_text(s->t, str_at(delta, "text"));
    else if (is_at(delta, "type", "thinking_delta"))
        teller_think(s->t, str_at(delta, "thinking"));
}

static void stream_event(ClaudeStream *s, Json event)
{
    s->partials = true;
    if (is_at(event, "type", "message_start")) {
        if (s->restarting)
            teller_restart(s->t);
        else if (!s->at_limit) /* else it continues where it was cut off, in the middle of a word */
            teller_segment(s->t);
        s->restarting = s->at_limit = false;
    } else if (is_at(event, "type", "message_delta")) {
        s->at_limit = is_at(at(event, "delta"), "stop_reason", "max_tokens");
    } else if (is_at(event, "type", "content_block_delta")) {
        block_delta(s, at(event, "delta"));
    }
}

/* -- whole messages -- */

static void block(ClaudeStream *s, Json b)
{
    if (is_at(b, "type", "tool_use"))
        teller_tool_begin(s->t, str_at(b, "id"), str_at(b, "name"),
                          text_of(s->line, at(b, "input")));
    else if (is_at(b, "type", "text") && !s->partials)
        teller_text(s->t, str_at(b, "text"));
    else if (is_at(b, "type", "thinking") && !s->partials)
        teller_think(s->t, str_at(b, "thinking"));
}

static Str first_text(Json content)
{
    JsonIter it = json_each(content);
    Json item;
    Str key;

    while (json_next(&it, &key, &item))
        if (is_at(item, "type", "text"))
            return str_at(item, "text");
    return STR("");
}

static void assistant(ClaudeStream *s, Json line)
{
    Json message = at(line, "message"), item;
    JsonIter it = json_each(at(message, "content"));
    Str error = str_at(line, "error"), key;

    if (error.n || is_at(message, "model", "<synthetic>")) {
        s->error = str_dup(s->arena, error);
        s->text = str_dup(s->arena, first_text(at(message, "content")));
        return;
    }
    if (!s->partials)
        teller_segment(s->t);
    while (json_next(&it, &key, &item))
        block(s, item);
}

/* The results of tools come back as messages of the user. */
static void user(ClaudeStream *s, Json line)
{
    JsonIter it = json_each(at(at(line, "message"), "content"));
    Json item;
    Str key;

    while (json_next(&it, &key, &item))
        if (is_at(item, "type", "tool_result"))
            teller_tool_end(s->t, str_at(item, "tool_use_id"), STR(""), true_at(item, "is_error"),
                            text_of(s->line, at(item, "content")), -1);
}

/* -- the rest -- */

static void system_line(ClaudeStream *s, Json line)
{
    if (is_at(line, "subtype", "init")) {
        s->session = str_dup(s->arena, str_at(line, "session_id"));
        teller_session(s->t, s->session, s->resuming ? CONTINUITY_RESUMED : CONTINUITY_NEW,
                       str_at(line, "model"), str_at(line, "claude_code_version"));
    } else if (is_at(line, "subtype", "api_retry")) {
        s->restarting = true;
        teller_retry(s->t, (int)int_at(line, "attempt") + 1, str_at(line, "error"));
    } else if (is_at(line, "subtype", "model_refusal_no_fallback")) {
        s->refused = true;
    } else if (is_at(line, "subtype", "compact_boundary")) {
        teller_say(s->t, RUNTIME_COMPACT, STR(""), STR("the conversation was compacted"));
    }
}

static void result(ClaudeStream *s, Json line)
{
    Json usage = at(line, "usage"), errors = at(line, "errors");
    int64_t cached = int_at(usage, "cache_read_input_tokens");

    s->over = true;
    s->failed = true_at(line, "is_error") || !is_at(line, "subtype", "success");
    s->status = (int)int_at(line, "api_error_status");
    s->interrupted = str_starts(str_at(line, "terminal_reason"), STR("aborted"));
    s->stop_reason = str_dup(s->arena, str_at(line, "stop_reason"));
    if (str_at(line, "session_id").n)
        s->session = str_dup(s->arena, str_at(line, "session_id"));
    if (s->failed && !s->text.n)
        s->text = str_dup(s->arena, json_count(errors) ? text_of(s->arena, json_at(errors, 0))
                                                       : str_at(line, "result"));
    s->usage = (RuntimeUsage){
        .input =
            int_at(usage, "input_tokens") + cached + int_at(usage, "cache_creation_input_tokens"),
        .output = int_at(usage, "output_tokens"),
        .cached = cached,
        .reasoning = int_at(at(usage, "output_tokens_details"), "thinking_tokens"),
    };
}

void claude_stream_line(ClaudeStream *s, Str line, bool cut)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = cut ? NULL : json_parse_mended(a, line);
    Json root = doc ? json_root(doc) : (Json){ 0 };
    Str type = str_at(root, "type");
    bool inner = str_at(root, "parent_tool_use_id").n > 0; /* of an agent that it started */

    s->line = a;
    if (!type.n) {
        if (++s->junk == LIMIT_RUN_LINES)
            teller_fail(s->t, RUN_PROTOCOL_VIOLATION, STR("too much that is no JSON"), 0, STR(""));
        return;
    }
    s->any = true;
    if (str_eqz(type, "stream_event") && !inner)
        stream_event(s, at(root, "event"));
    else if (str_eqz(type, "assistant") && inner)
        teller_say(s->t, RUNTIME_SUBAGENT, STR(""), first_text(at(at(root, "message"), "content")));
    else if (str_eqz(type, "assistant"))
        assistant(s, root);
    else if (str_eqz(type, "user") && !inner)
        user(s, root);
    else if (str_eqz(type, "system"))
        system_line(s, root);
    else if (str_eqz(type, "result"))
        result(s, root);
}

/* -- the verdict -- */

static RunError code_of_failure(const ClaudeStream *s)
{
    static const struct {
        const char *error;
        RunError code;
    } rows[] = {
        { "authentication_failed", RUN_RUNTIME_AUTH },
        { "billing_error", RUN_RUNTIME_REJECTED },
        { "rate_limit", RUN_RATE_LIMITED },
        { "overloaded", RUN_UPSTREAM_ERROR },
        { "server_error", RUN_UPSTREAM_ERROR },
        { "invalid_request", RUN_RUNTIME_REJECTED },
    };

    if (str_find(s->text, STR("No conversation found")) < s->text.n)
        return RUN_CONTINUITY_LOST;
    if (str_find_nocase(s->text, STR("prompt is too long")) < s->text.n)
        return RUN_CONTEXT_TOO_LARGE;
    if (s->status)
        return run_error_of_status(s->status);
    if (s->t->chars) /* whatever it was: the answer broke off */
        return RUN_STREAM_TRUNCATED;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eqz(s->error, rows[i].error))
            return rows[i].code;
    return RUN_UPSTREAM_ERROR;
}

void claude_stream_end(ClaudeStream *s, Str obituary)
{
    if (s->over && !s->failed)
        teller_usage(s->t, &s->usage);
    if (s->over && (s->refused || str_eqz(s->stop_reason, "refusal")))
        teller_fail(s->t, RUN_RUNTIME_REJECTED, s->text.n ? s->text : STR("the model refused"), 0,
                    STR("refusal"));
    else if (s->over && (str_eqz(s->error, "max_output_tokens") ||
                         (!s->failed && str_eqz(s->stop_reason, "max_tokens"))))
        teller_finish(s->t, RUNTIME_TRUNCATED, STR("max_tokens"), s->session);
    else if (s->over && !s->failed)
        teller_finish(s->t, RUNTIME_COMPLETED, s->stop_reason.n ? s->stop_reason : STR("stop"),
                      s->session);
    else if (s->over && s->interrupted)
        teller_finish(s->t, RUNTIME_CANCELLED, STR("interrupted"), STR(""));
    else if (s->over)
        teller_fail(s->t, code_of_failure(s), s->text, s->status, s->error);
    else if (s->any)
        teller_fail(s->t, RUN_STREAM_TRUNCATED, obituary, 0, STR(""));
    else
        teller_fail(s->t, RUN_RUNTIME_UNAVAILABLE, obituary, 0, STR(""));
}
