/* What Codex writes. An item of type "error" is a warning, and an "error" that says "Reconnecting"
 * is a note about a try: only the end of the turn says that it failed. */
#include "runtimes/codex_stream.h"

#include "base/limits.h"
#include "runtimes/lines.h"

void codex_stream_init(CodexStream *s, Teller *t, Arena *a, bool resuming)
{
    *s = (CodexStream){ .t = t, .arena = a, .resuming = resuming };
}

static void set_thread(CodexStream *s, Str id, Str model)
{
    if (s->thread.n || !id.n)
        return;
    s->thread = str_dup(s->arena, id);
    teller_session(s->t, s->thread, s->resuming ? CONTINUITY_RESUMED : CONTINUITY_NEW, model,
                   s->version);
}

/* -- items -- */

/* Kinds of items that are tools: their name in exec, in the app server, for people, what they are
 * given and what comes back. */
static const struct ToolItem {
    const char *exec, *app, *tool, *argument, *exec_result, *app_result;
} tool_items[] = {
    { "command_execution", "commandExecution", "command", "command", "aggregated_output",
      "aggregatedOutput" },
    { "file_change", "fileChange", "file_change", "changes", "status", "status" },
    { "mcp_tool_call", "mcpToolCall", NULL, "arguments", "result", "result" },
    { "dynamic_tool_call", "dynamicToolCall", NULL, "arguments", "result", "result" },
    { "web_search", "webSearch", "web_search", "query", "status", "status" },
    { "collab_tool_call", "collabToolCall", NULL, "prompt", "status", "status" },
};

static const struct ToolItem *tool_item(Json item)
{
    Str type = str_at(item, "type");

    for (size_t i = 0; i < ARRAY_LEN(tool_items); i++)
        if (str_eqz(type, tool_items[i].exec) || str_eqz(type, tool_items[i].app))
            return &tool_items[i];
    return NULL;
}

static bool item_failed(Json item)
{
    int64_t code = 0;

    return is_at(item, "status", "failed") || is_at(item, "status", "declined") ||
           (json_int(at(item, "exit_code"), &code) && code != 0) ||
           (json_int(at(item, "exitCode"), &code) && code != 0);
}

static void begin_tool(CodexStream *s, Json item, const struct ToolItem *row)
{
    teller_tool_begin(s->t, str_at(item, "id"),
                      row->tool ? str_of(row->tool) : str_at(item, "tool"),
                      text_of(s->line, at(item, row->argument)));
}

static void end_tool(CodexStream *s, Json item, const struct ToolItem *row)
{
    Json result = at(item, row->exec_result);
    int64_t ms = -1;

    begin_tool(s, item, row); /* nothing where it has begun */
    if (json_type(result) == JSON_NONE)
        result = at(item, row->app_result);
    (void)json_int(at(item, "durationMs"), &ms);
    teller_tool_end(s->t, str_at(item, "id"), STR(""), item_failed(item), text_of(s->line, result),
                    ms);
}

static bool is_message(Json item)
{
    return is_at(item, "type", "agent_message") || is_at(item, "type", "agentMessage");
}

static void item_started(CodexStream *s, Json item)
{
    const struct ToolItem *row = tool_item(item);

    if (row) {
        begin_tool(s, item, row);
    } else if (is_message(item)) {
        if (s->restarting)
            teller_restart(s->t);
        else
            teller_segment(s->t);
        s->restarting = s->pieces = false;
    }
}

static void item_completed(CodexStream *s, Json item)
{
    const struct ToolItem *row = tool_item(item);
    Str type = str_at(item, "type");

    if (row) {
        end_tool(s, item, row);
    } else if (is_message(item)) {
        if (!s->pieces) {
            teller_segment(s->t);
            teller_text(s->t, str_at(item, "text"));
        }
        teller_segment(s->t);
        s->pieces = false;
    } else if (str_eqz(type, "reasoning")) {
        teller_think(s->t, str_at(item, "text"));
    } else if (str_eqz(type, "error")) {
        teller_say(s->t, RUNTIME_NOTICE, STR(""), str_at(item, "message"));
    } else if (str_eqz(type, "todo_list") || str_eqz(type, "plan")) {
        teller_say(s->t, RUNTIME_PLAN, STR(""), text_of(s->line, at(item, "items")));
    } else if (str_eqz(type, "contextCompaction")) {
        teller_say(s->t, RUNTIME_COMPACT, STR(""), STR("the conversation was compacted"));
    }
}

/* -- failures -- */

static int status_in_text(Str text)
{
    size_t at_status = str_find(text, STR("unexpected status "));
    int64_t status = 0;

    if (at_status == text.n ||
        !str_to_int(str_head(str_skip(text, at_status + 18), 3), 100, 599, &status))
        return 0;
    return (int)status;
}

static void set_failure(CodexStream *s, Json error)
{
    Json info = at(error, "codexErrorInfo");
    JsonIter it = json_each(info);
    Str key = json_str(info);
    Json inner;

    s->over = s->failed = true;
    s->text = str_dup(s->arena, error_text(s->arena, error));
    s->status = status_in_text(s->text);
    if (json_type(info) == JSON_OBJECT && json_next(&it, &key, &inner) &&
        int_at(inner, "httpStatusCode"))
        s->status = (int)int_at(inner, "httpStatusCode");
    s->kind = str_dup(s->arena, key);
    if (str_find(str_at(error, "message"), STR("invalid_request_error")) <
        str_at(error, "message").n)
        s->kind = STR("badRequest");
}

/* Tries are counted by us: it does not always say. */
static void note_try(CodexStream *s, Str text)
{
    s->restarting = true;
    teller_retry(s->t, ++s->retries + 1, text);
}

/* -- exec -- */

static void exec_line(CodexStream *s, Json root, Str type)
{
    Json usage = at(root, "usage");
    RuntimeUsage used = { .input = int_at(usage, "input_tokens"),
                          .output = int_at(usage, "output_tokens"),
                          .cached = int_at(usage, "cached_input_tokens"),
                          .reasoning = int_at(usage, "reasoning_output_tokens") };

    if (str_eqz(type, "thread.started")) {
        set_thread(s, str_at(root, "thread_id"), STR(""));
    } else if (str_eqz(type, "item.started")) {
        item_started(s, at(root, "item"));
    } else if (str_eqz(type, "item.completed")) {
        item_completed(s, at(root, "item"));
    } else if (str_eqz(type, "turn.completed")) {
        s->over = true;
        teller_usage(s->t, &used);
    } else if (str_eqz(type, "turn.failed")) {
        set_failure(s, at(root, "error"));
    } else if (str_eqz(type, "error")) {
        if (str_starts(str_at(root, "message"), STR("Reconnecting")))
            note_try(s, str_at(root, "message"));
        else
            s->text = str_dup(s->arena, error_text(s->arena, root));
    }
}

/* -- the app server -- */

static void app_usage(CodexStream *s, Json last)
{
    RuntimeUsage used = { .input = int_at(last, "inputTokens"),
                          .output = int_at(last, "outputTokens"),
                          .cached = int_at(last, "cachedInputTokens"),
                          .reasoning = int_at(last, "reasoningOutputTokens"),
                          .total = int_at(last, "totalTokens") };

    teller_usage(s->t, &used);
}

static void turn_completed(CodexStream *s, Json turn)
{
    s->over = true;
    if (is_at(turn, "status", "interrupted"))
        s->interrupted = true;
    else if (!is_at(turn, "status", "completed"))
        set_failure(s, at(turn, "error"));
}

static Str json_of(Arena *a, Json v)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

static void ask(CodexStream *s, const struct CodexAsk *x)
{
    s->asked = x->id;
    teller_approval(s->t, x->id, x->what, "once|session|deny");
}

void codex_stream_answered(CodexStream *s)
{
    struct CodexAsk next = s->queue[0];

    s->asked = STR("");
    if (!s->n_queue)
        return;
    memmove(s->queue, s->queue + 1, --s->n_queue * sizeof *s->queue);
    ask(s, &next);
}

/* Answered, here or elsewhere. */
static void resolved(CodexStream *s, Str id)
{
    if (!s->asked.n || !str_eq(id, s->asked))
        return;
    teller_approved(s->t, s->asked, STR("answered"));
    codex_stream_answered(s);
}

static void app_event(CodexStream *s, Str method, Json params)
{
    if (str_eqz(method, "item/agentMessage/delta")) {
        s->pieces = true;
        teller_text(s->t, str_at(params, "delta"));
    } else if (str_eqz(method, "item/started")) {
        item_started(s, at(params, "item"));
    } else if (str_eqz(method, "item/completed")) {
        item_completed(s, at(params, "item"));
    } else if (str_eqz(method, "item/reasoning/textDelta") ||
               str_eqz(method, "item/reasoning/summaryTextDelta")) {
        teller_think(s->t, str_at(params, "delta"));
    } else if (str_eqz(method, "item/commandExecution/outputDelta")) {
        teller_tool_update(s->t, str_at(params, "itemId"), str_at(params, "delta"));
    } else if (str_eqz(method, "turn/plan/updated")) {
        teller_say(s->t, RUNTIME_PLAN, STR(""), text_of(s->line, at(params, "plan")));
    } else if (str_eqz(method, "thread/tokenUsage/updated")) {
        app_usage(s, at(at(params, "tokenUsage"), "last"));
    } else if (str_eqz(method, "warning")) {
        teller_say(s->t, RUNTIME_NOTICE, STR(""), str_at(params, "message"));
    } else if (str_eqz(method, "error") && true_at(params, "willRetry")) {
        note_try(s, error_text(s->line, params));
    } else if (str_eqz(method, "serverRequest/resolved")) {
        resolved(s, json_of(s->line, at(params, "requestId")));
    } else if (str_eqz(method, "turn/completed")) {
        turn_completed(s, at(params, "turn"));
    }
}

/* One question at a time, in the order in which they came. */
static void app_request(CodexStream *s, Json root, Str method, Json params)
{
    Str command = str_at(params, "command");
    struct CodexAsk x = {
        json_of(s->arena, at(root, "id")),
        str_dup(s->arena, command.n ? command : str_at(params, "reason")),
    };

    if (!str_ends(method, STR("/requestApproval")) || s->n_queue == ARRAY_LEN(s->queue))
        s->refused = x.id;
    else if (s->asked.n)
        s->queue[s->n_queue++] = x;
    else
        ask(s, &x);
}

static void app_answer(CodexStream *s, Json root)
{
    Json result = at(root, "result"), thread = at(result, "thread");

    if (json_type(at(root, "error")) == JSON_OBJECT) {
        set_failure(s, at(root, "error"));
        if (s->resuming && !s->thread.n)
            s->kind = STR("no_thread");
        return;
    }
    if (str_at(result, "userAgent").n) {
        s->ready = true;
        s->version = str_dup(s->arena, version_in(str_at(result, "userAgent")));
    }
    set_thread(s, str_at(thread, "id"), str_at(result, "model"));
    if (str_at(at(result, "turn"), "id").n)
        s->turn = str_dup(s->arena, str_at(at(result, "turn"), "id"));
}

void codex_stream_line(CodexStream *s, Str line, bool cut)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = cut ? NULL : json_parse_mended(a, line);
    Json root = doc ? json_root(doc) : (Json){ 0 };
    Str type = str_at(root, "type"), method = str_at(root, "method");
    bool has_id = json_type(at(root, "id")) != JSON_NONE;

    s->line = a;
    if (!type.n && !method.n && !has_id) {
        if (++s->junk == LIMIT_RUN_LINES)
            teller_fail(s->t, RUN_PROTOCOL_VIOLATION, STR("too much that is no JSON"), 0, STR(""));
        return;
    }
    s->any = true;
    if (type.n)
        exec_line(s, root, type);
    else if (method.n && has_id)
        app_request(s, root, method, at(root, "params"));
    else if (method.n)
        app_event(s, method, at(root, "params"));
    else
        app_answer(s, root);
}

/* -- the verdict -- */

static RunError code_of_failure(const CodexStream *s)
{
    static const struct {
        const char *kind;
        RunError code;
    } rows[] = {
        { "no_thread", RUN_CONTINUITY_LOST },
        { "contextWindowExceeded", RUN_CONTEXT_TOO_LARGE },
        { "usageLimitExceeded", RUN_RATE_LIMITED },
        { "unauthorized", RUN_RUNTIME_AUTH },
        { "badRequest", RUN_RUNTIME_REJECTED },
        { "httpConnectionFailed", RUN_UPSTREAM_ERROR },
    };

    if (s->status)
        return run_error_of_status(s->status);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eqz(s->kind, rows[i].kind))
            return rows[i].code;
    if (str_starts(s->text, STR("stream disconnected")))
        return RUN_STREAM_TRUNCATED;
    return RUN_UPSTREAM_ERROR;
}

/* The provider's own word for it, in the text of the failure. */
static bool is_at_limit(const CodexStream *s)
{
    return s->failed && !s->status && str_find(s->text, STR("max_output_tokens")) < s->text.n;
}

void codex_stream_end(CodexStream *s, Str obituary)
{
    if (s->over && s->interrupted)
        teller_finish(s->t, RUNTIME_CANCELLED, STR("interrupted"), STR(""));
    else if (s->over && !s->failed)
        teller_finish(s->t, RUNTIME_COMPLETED, STR("stop"), s->thread);
    else if (s->over && is_at_limit(s))
        teller_finish(s->t, RUNTIME_TRUNCATED, STR("max_output_tokens"), s->thread);
    else if (s->over)
        teller_fail(s->t, code_of_failure(s), s->text, s->status, s->kind);
    else if (str_find(obituary, STR("no rollout found")) < obituary.n)
        teller_fail(s->t, RUN_CONTINUITY_LOST, obituary, 0, STR(""));
    else if (s->thread.n)
        teller_fail(s->t, RUN_STREAM_TRUNCATED, obituary, 0, STR(""));
    else
        teller_fail(s->t, RUN_RUNTIME_UNAVAILABLE, obituary, 0, STR(""));
}
