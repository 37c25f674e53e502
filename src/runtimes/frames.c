/* Runtime events as frames. One row a kind says its stage and status; what a kind has beyond text
 * is added below the row. */
#include "runtimes/frames.h"

#include "base/clock.h"
#include "base/limits.h"

const char *frame_event_name(FrameEvent e)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        FRAME_EVENTS(X)
#undef X
    };

    return names[e];
}

void frames_init(Frames *f, const char *runtime, Str message_id, FrameFn *fn, void *ctx)
{
    *f = (Frames){ .fn = fn, .ctx = ctx, .runtime = runtime, .message_id = message_id };
    f->line = BUF(LIMIT_OUTPUT_BYTES);
    f->began_ms = clock_mono_ms();
    f->first_ms = -1;
}

void frames_done(Frames *f)
{
    buf_done(&f->line);
}

static JsonWriter begin(Frames *f)
{
    JsonWriter w;

    buf_clear(&f->line);
    w = JSON_WRITER(&f->line, 0);
    json_begin(&w, '{');
    json_field_int(&w, "seq", ++f->seq);
    json_field_int(&w, "ts", clock_wall_ms());
    return w;
}

static void end(Frames *f, JsonWriter *w, FrameEvent event)
{
    json_end(w, '}');
    f->over = f->over || event == FRAME_DONE;
    f->fn(f->ctx, event, f->seq, buf_str(&f->line));
}

static void field_if(JsonWriter *w, const char *key, Str s)
{
    if (s.n)
        json_field_str(w, key, s);
}

void frames_metadata(Frames *f, void (*fields)(void *ctx, JsonWriter *w), void *ctx)
{
    JsonWriter w = begin(f);

    json_field_int(&w, "v", 1);
    json_field_str(&w, "runtime", str_of(f->runtime));
    if (fields)
        fields(ctx, &w);
    end(f, &w, FRAME_METADATA);
}

static JsonWriter begin_progress(Frames *f, const char *stage, const char *status)
{
    JsonWriter w = begin(f);

    json_field_str(&w, "stage", str_of(stage));
    json_field_str(&w, "status", str_of(status));
    return w;
}

void frames_progress(Frames *f, const char *stage, const char *status, Str label, Str detail)
{
    JsonWriter w;

    if (f->over)
        return;
    w = begin_progress(f, stage, status);
    field_if(&w, "label", label);
    field_if(&w, "detail", detail);
    end(f, &w, FRAME_PROGRESS);
}

/* -- on the way -- */

static void put_usage(JsonWriter *w, const RuntimeUsage *u)
{
    json_field_begin(w, "usage", '{');
    json_field_int(w, "input", u->input);
    json_field_int(w, "output", u->output);
    if (u->reasoning)
        json_field_int(w, "reasoning", u->reasoning);
    if (u->cached)
        json_field_int(w, "cached", u->cached);
    json_field_int(w, "total", u->total);
    if (u->estimated || !u->known)
        json_field_bool(w, "estimated", true);
    json_end(w, '}');
}

static void chunk(Frames *f, const RuntimeEvent *e)
{
    JsonWriter w;

    if (!e->text.n)
        return;
    if (f->first_ms < 0)
        f->first_ms = clock_mono_ms();
    w = begin(f);
    json_field_str(&w, "text", e->text);
    json_field_int(&w, "offset", (int64_t)f->chars);
    json_field_int(&w, "segment", e->segment);
    f->chars += e->text.n;
    f->segments = e->segment + 1;
    end(f, &w, FRAME_CHUNK);
}

static void session(Frames *f, const RuntimeEvent *e)
{
    static const char *const modes[] = { [CONTINUITY_NEW] = "new",
                                         [CONTINUITY_RESUMED] = "resumed",
                                         [CONTINUITY_ROTATED] = "rotated",
                                         [CONTINUITY_LOST] = "lost" };
    JsonWriter w =
        begin_progress(f, "session", e->mode == CONTINUITY_LOST ? "degraded" : "completed");

    json_field_str(&w, "detail", str_of(modes[e->mode]));
    field_if(&w, "model", e->model);
    field_if(&w, "runtime_version", e->version);
    end(f, &w, FRAME_PROGRESS);
}

static void tool(Frames *f, const RuntimeEvent *e)
{
    bool over = e->kind == RUNTIME_TOOL_END;
    JsonWriter w = begin_progress(f, "tool",
                                  e->kind == RUNTIME_TOOL_BEGIN ? "started"
                                  : !over                       ? "running"
                                  : e->failed                   ? "failed"
                                                                : "completed");

    field_if(&w, "tool", e->name);
    field_if(&w, "call_id", e->call_id);
    field_if(&w, e->kind == RUNTIME_TOOL_BEGIN ? "args_preview" : "result_preview", e->text);
    if (e->duration_ms >= 0)
        json_field_int(&w, "duration_ms", e->duration_ms);
    end(f, &w, FRAME_PROGRESS);
}

/* Asked, or (with the answer as its name) answered. */
static void approval(Frames *f, const RuntimeEvent *e)
{
    JsonWriter w = begin_progress(f, "approval", e->name.n ? "completed" : "waiting");

    field_if(&w, "detail", e->name);
    json_field_begin(&w, "approval", '{');
    json_field_str(&w, "id", e->call_id);
    json_field_begin(&w, "choices", '[');
    for (size_t i = 0; i < e->n_choices; i++)
        json_put_str(&w, e->choices[i]);
    json_end(&w, ']');
    field_if(&w, "command", e->text);
    json_end(&w, '}');
    end(f, &w, FRAME_PROGRESS);
}

static void other(Frames *f, const RuntimeEvent *e)
{
    static const char *const stages[][2] = {
        [RUNTIME_THINK] = { "thinking", "running" },
        [RUNTIME_PLAN] = { "plan", "running" },
        [RUNTIME_RETRY] = { "retry", "running" },
        [RUNTIME_COMPACT] = { "compaction", "running" },
        [RUNTIME_SUBAGENT] = { "subagent", "running" },
        [RUNTIME_USAGE] = { "usage", "completed" },
        [RUNTIME_NOTICE] = { "notice", "completed" },
    };
    JsonWriter w = begin_progress(f, stages[e->kind][0], stages[e->kind][1]);

    field_if(&w, "label", e->name);
    field_if(&w, e->kind == RUNTIME_THINK ? "text" : "detail", e->text);
    if (e->kind == RUNTIME_RETRY)
        json_field_int(&w, "attempt", e->attempt);
    if (e->kind == RUNTIME_USAGE)
        put_usage(&w, &e->usage);
    end(f, &w, FRAME_PROGRESS);
}

/* -- the end -- */

static void error_frame(Frames *f, const RuntimeEvent *e, const char *stage)
{
    JsonWriter w = begin(f);

    json_field_str(&w, "code", str_of(run_error_name(e->code)));
    json_field_str(&w, "message", e->text);
    json_field_bool(&w, "retryable", run_error_is_retryable(e->code) && !f->chars);
    json_field_str(&w, "stage", str_of(stage));
    json_field_str(&w, "runtime", str_of(f->runtime));
    if (e->http_status)
        json_field_int(&w, "http_status", e->http_status);
    field_if(&w, "runtime_code", e->runtime_code);
    json_field_bool(&w, "partial", f->chars > 0);
    json_field_int(&w, "chars", (int64_t)f->chars);
    end(f, &w, FRAME_ERROR);
}

static void done_frame(Frames *f, const char *status, Str reason, const RuntimeUsage *usage)
{
    JsonWriter w = begin(f);

    json_field_str(&w, "status", str_of(status));
    json_field_str(&w, "finish_reason", reason.n ? reason : str_of(status));
    if (f->message_id.n)
        json_field_str(&w, "message_id", f->message_id);
    json_field_int(&w, "chars", (int64_t)f->chars);
    json_field_int(&w, "segments", f->segments);
    put_usage(&w, usage);
    json_field_int(&w, "elapsed_ms", clock_mono_ms() - f->began_ms);
    if (f->first_ms >= 0)
        json_field_int(&w, "ttft_ms", f->first_ms - f->began_ms);
    end(f, &w, FRAME_DONE);
}

static void fail(Frames *f, const RuntimeEvent *e, const char *stage)
{
    if (e->code != RUN_CANCELLED)
        error_frame(f, e, stage);
    done_frame(f, e->code == RUN_CANCELLED ? "cancelled" : "failed",
               str_of(run_error_name(e->code)), &e->usage);
}

void frames_fail(Frames *f, const RuntimeEvent *e, const char *stage)
{
    if (!f->over)
        fail(f, e, stage);
}

void frames_event(Frames *f, const RuntimeEvent *e)
{
    static const char *const statuses[] = { [RUNTIME_COMPLETED] = "completed",
                                            [RUNTIME_CANCELLED] = "cancelled",
                                            [RUNTIME_TRUNCATED] = "truncated" };

    if (f->over)
        return;
    switch (e->kind) {
    case RUNTIME_SESSION:
        session(f, e);
        break;
    case RUNTIME_TEXT:
        chunk(f, e);
        break;
    case RUNTIME_TOOL_BEGIN:
    case RUNTIME_TOOL_UPDATE:
    case RUNTIME_TOOL_END:
        tool(f, e);
        break;
    case RUNTIME_APPROVAL:
        approval(f, e);
        break;
    case RUNTIME_TRACE:
        break;
    case RUNTIME_FINISH:
        done_frame(f, statuses[e->status], e->reason, &e->usage);
        break;
    case RUNTIME_FAIL:
        fail(f, e, "dispatch");
        break;
    default:
        other(f, e);
    }
}
