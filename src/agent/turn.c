/* One turn: prepared on a worker, dispatched, heard on the loop, ended by the writer.
 *
 * The end is decided in one place, `finish`, by the first terminal event; what comes later is dropped. The
 * answer's text is what went out as chunks, byte for byte, whatever the verdict. */
#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "runtimes/teller.h"
#include "text/redact.h"
#include "text/sha256.h"
#include "text/utf8.h"

/* -- frames --------------------------------------------------------------------------------------- */

static void on_frame(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Going *g = ctx;

    g->logged += data.n;
    live_add(g->live, event, seq, data);
}

static void on_frame_instead(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Going *g = ctx;

    live_add_instead(g->live, event, seq, data);
}

static Str id_text(Arena *a, int64_t id)
{
    return str_printf(a, "%lld", (long long)id);
}

static void put_raw_or(JsonWriter *w, const char *key, Str json, Str otherwise)
{
    json_key(w, key);
    json_put_raw(w, json.n ? json : otherwise);
}

static void put_metadata(void *ctx, JsonWriter *w)
{
    Going *g = ctx;

    json_field_str(w, "run_id", g->run.id);
    json_field_str(w, "conversation_id", g->run.conversation_id);
    json_field_str(w, "user_message_id",
                   g->run.user_message_id ? id_text(g->arena, g->run.user_message_id) : STR_NONE);
    json_field_str(w, "assistant_message_id", id_text(g->arena, g->run.assistant_message_id));
    json_key(w, "continuity");
    json_begin(w, '{');
    json_field_str(w, "mode",
                   g->lost                    ? STR("lost")
                   : g->continuity.generation ? STR("resumed")
                                              : STR("new"));
    json_end(w, '}');
    put_raw_or(w, "context", g->prepared.stages[STAGE_CONTEXT].json,
               STR("{\"tokens\":0,\"user\":0,\"summary\":0,\"recalled\":0,\"brain\":0}"));
    put_raw_or(w, "skills", g->prepared.stages[STAGE_SKILLS].json, STR("[]"));
    put_raw_or(w, "graph", g->prepared.stages[STAGE_GRAPH].json,
               STR("{\"nodes\":1,\"edges\":0,\"decision\":\"serial\",\"score\":0,\"waves\":1}"));
}

static void tell_stages(Going *g)
{
    static const char *const names[] = {
#define X(id, name) name,
        SERVICE_STAGES(X)
#undef X
    };

    for (size_t i = 0; g->service->knowledge && i < STAGE_COUNT; i++)
        frames_progress(&g->frames, names[i],
                        g->prepared.stages[i].degraded ? "degraded" : "completed", STR_NONE,
                        redact_text(g->arena, g->prepared.stages[i].detail));
    if (g->request.gap.n)
        frames_progress(&g->frames, "session", "running", STR("adding turns from other runtimes"),
                        STR_NONE);
    if (g->request.examples.n)
        frames_progress(&g->frames, "context", "completed", STR("template"), g->template);
    if (g->no_template.n)
        frames_progress(&g->frames, "context", "degraded", STR("template"),
                        redact_text(g->arena, g->no_template));
}

/* -- the end ---------------------------------------------------------------------------------------- */

static void attach(Going *g, const char *kind, Str runtime, const char *mime, Str body,
                   bool visible)
{
    Attachment *x = &g->attachments[g->end.n_attachments++];

    *x = (Attachment){ .id = id_new(g->arena, 'a'),
                       .run_id = g->run.id,
                       .kind = str_of(kind),
                       .runtime = runtime,
                       .name = str_of(kind),
                       .mime = str_of(mime),
                       .body = body,
                       .size = (int64_t)body.n,
                       .sha256 = sha256_hex(g->arena, body),
                       .visible = visible };
}

static void attach_error(Going *g, const RuntimeEvent *e)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "code", str_of(run_error_name(e->code)));
    json_field_str(&w, "message", e->text);
    json_field_int(&w, "http_status", e->http_status);
    json_field_str(&w, "runtime_code", e->runtime_code);
    json_end(&w, '}');
    attach(g, "error_detail", str_of(g->runtime->name), "application/json",
           str_dup(g->arena, buf_str(&out)), true);
}

static void attach_all(Going *g, const RuntimeEvent *e)
{
    Str trace = run_trace_text(&g->trace);

    if (g->prepared.receipt.n)
        attach(g, "context_receipt", STR_NONE, "application/json", g->prepared.receipt, true);
    if (g->prepared.graph.n)
        attach(g, "task_graph", STR_NONE, "application/json", g->prepared.graph, true);
    if (trace.n)
        attach(g, "runtime_trace", str_of(g->runtime->name), "text/plain", trace, false);
    if (e->kind == RUNTIME_FAIL && e->code != RUN_CANCELLED)
        attach_error(g, e);
}

static Str usage_json(Going *g)
{
    const RuntimeUsage *u = &g->usage;

    return u->known ? str_printf(g->arena,
                                 "{\"input\":%lld,\"output\":%lld,\"reasoning\":%lld,"
                                 "\"cached\":%lld,\"total\":%lld}",
                                 (long long)u->input, (long long)u->output, (long long)u->reasoning,
                                 (long long)u->cached, (long long)u->total)
                    : STR_NONE;
}

/* A turn that did not come to its end keeps the old handle, save where the runtime itself changed it. */
static void decide_handle(Going *g, bool ended_well)
{
    bool write = g->handle.n && (ended_well || g->mode == CONTINUITY_ROTATED) &&
                 !(g->continuity.generation && str_eq(g->handle, g->continuity.handle));

    g->end.thread = g->thread;
    g->end.handle = write ? g->handle : STR_NONE;
    g->end.generation = g->continuity.generation;
    g->end.lost = g->mode == CONTINUITY_LOST;
}

static void decide(Going *g, const RuntimeEvent *e)
{
    bool failed = e->kind == RUNTIME_FAIL && e->code != RUN_CANCELLED;
    bool cancelled =
        e->kind == RUNTIME_FAIL ? e->code == RUN_CANCELLED : e->status == RUNTIME_CANCELLED;
    bool cut = e->kind == RUNTIME_FINISH && e->status == RUNTIME_TRUNCATED;

    g->end.run_id = g->run.id;
    g->end.state = failed      ? STR("failed")
                   : cancelled ? STR("cancelled")
                   : cut       ? STR("truncated")
                               : STR("completed");
    g->end.message_status = cancelled   ? STR("cancelled")
                            : cut       ? STR("partial")
                            : !failed   ? STR("complete")
                            : g->text.n ? STR("partial")
                                        : STR("failed");
    g->end.error_code = failed ? str_of(run_error_name(e->code)) : STR_NONE;
    g->end.text = buf_str(&g->text);
    g->end.passages = passages_json(&g->passages, g->arena);
    g->end.model = g->model;
    g->end.usage_json = usage_json(g);
    g->end.finish_reason = failed ? STR("error") : str_dup(g->arena, e->reason);
    g->end.input_tokens = g->usage.input;
    g->end.output_tokens = g->usage.output;
    g->end.reasoning_tokens = g->usage.reasoning;
    g->end.attachments = g->attachments;
    decide_handle(g, !failed && !cancelled);
}

/* On the loop, when the callback with the last event has returned; whoever failed the turn before a runtime
 * was there has left the lock by then, too. */
static void let_go(void *ctx)
{
    Going *g = ctx;

    pthread_mutex_lock(&g->lock);
    pthread_mutex_unlock(&g->lock);
    if (g->running)
        g->runtime->free(g->running);
    service_gone(g->service, g);
}

/* On the writer's thread. */
static void on_ended(void *ctx, bool saved, const Err *err)
{
    Going *g = ctx;

    if (!saved) {
        g->frames.over = false;
        g->frames.seq = g->terminal - 1;
        g->frames.fn = on_frame_instead;
        frames_fail(&g->frames,
                    &(RuntimeEvent){ .kind = RUNTIME_FAIL,
                                     .code = RUN_STORE_UNAVAILABLE,
                                     .text = str_of(err->text),
                                     .usage = g->usage },
                    "persist");
    }
    net_post(g->service->net, let_go, g);
}

/* Under the turn's lock, or before the runtime was started. */
static void finish(Going *g, const RuntimeEvent *e, const char *stage)
{
    g->over = true;
    g->terminal = g->frames.seq + 1;
    if (e->usage.known)
        g->usage = e->usage;
    if (e->kind == RUNTIME_FAIL)
        frames_fail(&g->frames, e, stage);
    else
        frames_event(&g->frames, e);
    attach_all(g, e);
    decide(g, e);
    live_end(g->live, g->terminal, &g->end, on_ended, g);
}

static void fail(Going *g, RunError code, const char *stage, Str text)
{
    finish(g,
           &(RuntimeEvent){ .kind = RUNTIME_FAIL,
                            .code = code,
                            .text = redact_text(g->arena, text),
                            .usage = g->usage },
           stage);
}

/* -- what the runtime says ------------------------------------------------------------------------- */

static void dispatch(Going *g);

/* On the loop, when the callback with the end of the first try has returned. */
static void begin_anew(void *ctx)
{
    Going *g = ctx;
    RuntimeRun *old = g->running;

    pthread_mutex_lock(&g->lock);
    g->running = NULL;
    pthread_mutex_unlock(&g->lock);
    g->runtime->free(old);
    dispatch(g);
}

/* The runtime does not know its own handle any more, and has done nothing yet: a new session, which is told
 * what was said so far. Once. */
static bool is_lost(const Going *g, const RuntimeEvent *e)
{
    return e->kind == RUNTIME_FAIL && e->code == RUN_CONTINUITY_LOST && g->request.handle.n &&
           !g->text.n && !g->acted && !g->cancelled;
}

static void hear_end(Going *g, const RuntimeEvent *e)
{
    RuntimeEvent end = *e;

    if (is_lost(g, e)) {
        g->lost = true;
        g->request.handle = g->request.gap = STR("");
        net_post(g->service->net, begin_anew, g);
        return;
    }
    if (e->handle.n)
        g->handle = str_dup(g->arena, e->handle);
    if (g->usage.known && !end.usage.known)
        end.usage = g->usage;
    if (e->kind == RUNTIME_FAIL) {
        end.text = redact_text(g->arena, e->text);
        /* Somebody wanted it to end: whatever words the runtime found for that. */
        if (g->cancelled)
            end.code = RUN_CANCELLED;
        finish(g, &end, "dispatch");
    } else if (e->status == RUNTIME_COMPLETED && !g->text.n && !g->acted) {
        fail(g, RUN_EMPTY_RESPONSE, "dispatch", STR("the runtime ended without an answer"));
    } else {
        finish(g, &end, "dispatch");
    }
}

/* One that does not end by itself. */
static void cut_off(Going *g, Str why)
{
    g->runtime->cancel(g->running);
    fail(g, RUN_PROTOCOL_VIOLATION, "dispatch", why);
}

static void hear_text(Going *g, const RuntimeEvent *e)
{
    RuntimeEvent said = *e;

    said.text = utf8_repair(g->arena, e->text);
    if (g->text.n + said.text.n > LIMIT_RUN_TEXT) {
        cut_off(g, STR("the answer is too long"));
        return;
    }
    if (said.text.n)
        passages_add(&g->passages, said.segment, g->text.n);
    buf_add(&g->text, said.text);
    frames_event(&g->frames, &said);
}

static void hear_session(Going *g, const RuntimeEvent *e)
{
    RuntimeEvent told = *e;

    told.mode = g->mode = g->lost ? CONTINUITY_LOST : e->mode;
    if (e->handle.n)
        g->handle = str_dup(g->arena, e->handle);
    if (e->model.n)
        g->model = str_dup(g->arena, e->model);
    frames_event(&g->frames, &told);
}

static void hear_approval(Going *g, const RuntimeEvent *e)
{
    bool asked = !e->name.n && e->call_id.n < sizeof g->waiting;
    AUTO_BUF offered = BUF(sizeof g->offered - 1);

    memset(g->waiting, 0, sizeof g->waiting);
    if (asked)
        memcpy(g->waiting, e->call_id.p, e->call_id.n);
    for (size_t i = 0; i < e->n_choices; i++)
        buf_addf(&offered, "%s%.*s", i ? "|" : "", STR_FMT(e->choices[i]));
    snprintf(g->offered, sizeof g->offered, "%.*s", STR_FMT(buf_str(&offered)));
    frames_event(&g->frames, e);
}

static void hear(Going *g, const RuntimeEvent *e)
{
    switch (e->kind) {
    case RUNTIME_SESSION:
        hear_session(g, e);
        break;
    case RUNTIME_TEXT:
        hear_text(g, e);
        break;
    case RUNTIME_APPROVAL:
        hear_approval(g, e);
        break;
    case RUNTIME_TRACE:
        run_trace_add(&g->trace, e->text);
        break;
    case RUNTIME_FINISH:
    case RUNTIME_FAIL:
        hear_end(g, e);
        break;
    case RUNTIME_USAGE:
        g->usage = e->usage;
        frames_event(&g->frames, e);
        break;
    case RUNTIME_TOOL_BEGIN:
        g->acted = true;
        frames_event(&g->frames, e);
        break;
    default:
        frames_event(&g->frames, e);
    }
}

static bool is_end(const RuntimeEvent *e)
{
    return e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL;
}

static void on_event(void *ctx, const RuntimeEvent *e)
{
    Going *g = ctx;

    pthread_mutex_lock(&g->lock);
    if (!g->over && g->logged > LIMIT_RUN_LOG && !is_end(e))
        cut_off(g, STR("the runtime's output exceeds the limit of a run"));
    else if (!g->over)
        hear(g, e);
    else if (e->kind != RUNTIME_TRACE)
        log_debug("run '%.*s': '%s' came after its end", STR_FMT(g->run.id),
                  runtime_event_name(e->kind));
    pthread_mutex_unlock(&g->lock);
}

/* -- the way to the runtime -------------------------------------------------------------------------- */

/* The lock is held over the start: the first event may come before it returns. */
static void dispatch(Going *g)
{
    Err err = { 0 };

    pthread_mutex_lock(&g->lock);
    if (g->cancelled) {
        fail(g, RUN_CANCELLED, "dispatch", STR_NONE);
    } else {
        g->running = g->runtime->start(going_knows(g) ? &g->service->host : &g->service->bare,
                                       &g->request, on_event, g, &err);
        if (!g->running)
            fail(g, RUN_RUNTIME_UNAVAILABLE, "dispatch", str_of(err.text));
    }
    pthread_mutex_unlock(&g->lock);
}

static bool load(Going *g, Err *err)
{
    Runs *r = service_take(g->service, err);
    bool ok = r && going_load(g, r, err);

    service_give(g->service, r);
    return ok;
}

void going_run(void *going)
{
    Going *g = going;
    Err err = { 0 };
    bool loaded;

    frames_init(&g->frames, g->runtime->name, id_text(g->arena, g->run.assistant_message_id),
                on_frame, g);
    loaded = load(g, &err);
    if (loaded)
        going_enrich(g);
    frames_metadata(&g->frames, put_metadata, g);
    if (!loaded) {
        fail(g, RUN_STORE_UNAVAILABLE, "load", str_of(err.text));
        return;
    }
    going_request(g);
    tell_stages(g);
    dispatch(g);
}

void going_cancel(Going *g)
{
    pthread_mutex_lock(&g->lock);
    g->cancelled = true;
    if (g->running && !g->over)
        g->runtime->cancel(g->running);
    pthread_mutex_unlock(&g->lock);
}
