/* One turn: prepared on a worker, dispatched, heard on the loop, ended by the writer.
 *
 * The end is decided in one place, `finish`, by the first terminal event; what comes later is
 * dropped. The answer's text is what went out as chunks, byte for byte, whatever the verdict. */
#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "runtimes/teller.h"
#include "text/redact.h"
#include "text/sha256.h"
#include "text/utf8.h"

/* -- Frames -- */

static void on_frame(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Turn *turn = ctx;

    turn->logged += data.n;
    live_add(turn->live, event, seq, data);
}

static void on_frame_instead(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Turn *turn = ctx;

    live_add_instead(turn->live, event, seq, data);
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
    Turn *turn = ctx;

    json_field_str(w, "run_id", turn->run.id);
    json_field_str(w, "conversation_id", turn->run.conversation_id);
    json_field_str(w, "user_message_id",
                   turn->run.user_message_id ? id_text(turn->arena, turn->run.user_message_id)
                                             : STR_NONE);
    json_field_str(w, "assistant_message_id", id_text(turn->arena, turn->run.assistant_message_id));
    json_field_begin(w, "continuity", '{');
    json_field_str(w, "mode",
                   turn->lost                    ? STR("lost")
                   : turn->continuity.generation ? STR("resumed")
                                                 : STR("new"));
    json_end(w, '}');
    put_raw_or(w, "context", turn->prepared.stages[STAGE_CONTEXT].json,
               STR("{\"tokens\":0,\"user\":0,\"summary\":0,\"recalled\":0,\"brain\":0}"));
    put_raw_or(w, "skills", turn->prepared.stages[STAGE_SKILLS].json, STR("[]"));
    put_raw_or(w, "graph", turn->prepared.stages[STAGE_GRAPH].json,
               STR("{\"nodes\":1,\"edges\":0,\"decision\":\"serial\",\"score\":0,\"waves\":1}"));
}

static void tell_stages(Turn *turn)
{
    static const char *const names[] = {
#define X(id, name) name,
        SERVICE_STAGES(X)
#undef X
    };

    for (size_t i = 0; turn->service->knowledge && i < STAGE_COUNT; i++)
        frames_progress(&turn->frames, names[i],
                        turn->prepared.stages[i].degraded ? "degraded" : "completed", STR_NONE,
                        redact_text(turn->arena, turn->prepared.stages[i].detail));
    if (turn->request.gap.n)
        frames_progress(&turn->frames, "session", "running",
                        STR("adding turns from other runtimes"), STR_NONE);
    if (turn->request.examples.n)
        frames_progress(&turn->frames, "context", "completed", STR("template"), turn->template);
    if (turn->no_template.n)
        frames_progress(&turn->frames, "context", "degraded", STR("template"),
                        redact_text(turn->arena, turn->no_template));
}

/* -- The end -- */

static void attach(Turn *turn, const char *kind, Str runtime, const char *mime, Str body,
                   bool visible)
{
    Attachment *x = &turn->attachments[turn->end.n_attachments++];

    *x = (Attachment){ .id = id_new(turn->arena, 'a'),
                       .run_id = turn->run.id,
                       .kind = str_of(kind),
                       .runtime = runtime,
                       .name = str_of(kind),
                       .mime = str_of(mime),
                       .body = body,
                       .size = (int64_t)body.n,
                       .sha256 = sha256_hex(turn->arena, body),
                       .visible = visible };
}

static void attach_error(Turn *turn, const RuntimeEvent *e)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "code", str_of(run_error_name(e->code)));
    json_field_str(&w, "message", e->text);
    json_field_int(&w, "http_status", e->http_status);
    json_field_str(&w, "runtime_code", e->runtime_code);
    json_end(&w, '}');
    attach(turn, "error_detail", str_of(turn->runtime->name), "application/json",
           str_dup(turn->arena, buf_str(&out)), true);
}

static void attach_all(Turn *turn, const RuntimeEvent *e)
{
    Str trace = run_trace_text(&turn->trace);

    if (turn->prepared.receipt.n)
        attach(turn, "context_receipt", STR_NONE, "application/json", turn->prepared.receipt, true);
    if (turn->prepared.graph.n)
        attach(turn, "task_graph", STR_NONE, "application/json", turn->prepared.graph, true);
    if (trace.n)
        attach(turn, "runtime_trace", str_of(turn->runtime->name), "text/plain", trace, false);
    if (e->kind == RUNTIME_FAIL && e->code != RUN_CANCELLED)
        attach_error(turn, e);
}

static Str usage_json(Turn *turn)
{
    const RuntimeUsage *u = &turn->usage;

    return u->known ? str_printf(turn->arena,
                                 "{\"input\":%lld,\"output\":%lld,\"reasoning\":%lld,"
                                 "\"cached\":%lld,\"total\":%lld}",
                                 (long long)u->input, (long long)u->output, (long long)u->reasoning,
                                 (long long)u->cached, (long long)u->total)
                    : STR_NONE;
}

/* A turn that did not come to its end keeps the old handle, save where the runtime itself changed
 * it. */
static void decide_handle(Turn *turn, bool ended_well)
{
    bool write = turn->handle.n && (ended_well || turn->mode == CONTINUITY_ROTATED) &&
                 !(turn->continuity.generation && str_eq(turn->handle, turn->continuity.handle));

    turn->end.thread = turn->thread;
    turn->end.handle = write ? turn->handle : STR_NONE;
    turn->end.generation = turn->continuity.generation;
    turn->end.lost = turn->mode == CONTINUITY_LOST;
}

static void decide(Turn *turn, const RuntimeEvent *e)
{
    bool failed = e->kind == RUNTIME_FAIL && e->code != RUN_CANCELLED;
    bool cancelled =
        e->kind == RUNTIME_FAIL ? e->code == RUN_CANCELLED : e->status == RUNTIME_CANCELLED;
    bool cut = e->kind == RUNTIME_FINISH && e->status == RUNTIME_TRUNCATED;

    turn->end.run_id = turn->run.id;
    turn->end.state = failed      ? STR("failed")
                      : cancelled ? STR("cancelled")
                      : cut       ? STR("truncated")
                                  : STR("completed");
    turn->end.message_status = cancelled      ? STR("cancelled")
                               : cut          ? STR("partial")
                               : !failed      ? STR("complete")
                               : turn->text.n ? STR("partial")
                                              : STR("failed");
    turn->end.error_code = failed ? str_of(run_error_name(e->code)) : STR_NONE;
    turn->end.text = buf_str(&turn->text);
    turn->end.passages = passages_json(&turn->passages, turn->arena);
    turn->end.model = turn->model;
    turn->end.usage_json = usage_json(turn);
    turn->end.finish_reason = failed ? STR("error") : str_dup(turn->arena, e->reason);
    turn->end.input_tokens = turn->usage.input;
    turn->end.output_tokens = turn->usage.output;
    turn->end.reasoning_tokens = turn->usage.reasoning;
    turn->end.attachments = turn->attachments;
    decide_handle(turn, !failed && !cancelled);
}

/* On the loop, when the callback with the last event has returned; whoever failed the turn before a
 * runtime was there has left the lock by then, too. */
static void let_go(void *ctx)
{
    Turn *turn = ctx;

    pthread_mutex_lock(&turn->lock);
    pthread_mutex_unlock(&turn->lock);
    if (turn->running)
        turn->runtime->free(turn->running);
    service_end_turn(turn->service, turn);
}

/* On the writer's thread. */
static void on_ended(void *ctx, bool saved, const Err *err)
{
    Turn *turn = ctx;

    if (!saved) {
        turn->frames.over = false;
        turn->frames.seq = turn->terminal - 1;
        turn->frames.fn = on_frame_instead;
        frames_fail(&turn->frames,
                    &(RuntimeEvent){ .kind = RUNTIME_FAIL,
                                     .code = RUN_STORE_UNAVAILABLE,
                                     .text = str_of(err->text),
                                     .usage = turn->usage },
                    "persist");
    }
    net_post(turn->service->net, let_go, turn);
}

/* Under the turn's lock, or before the runtime was started. */
static void finish(Turn *turn, const RuntimeEvent *e, const char *stage)
{
    turn->over = true;
    turn->terminal = turn->frames.seq + 1;
    if (e->usage.known)
        turn->usage = e->usage;
    if (e->kind == RUNTIME_FAIL)
        frames_fail(&turn->frames, e, stage);
    else
        frames_event(&turn->frames, e);
    attach_all(turn, e);
    decide(turn, e);
    live_end(turn->live, turn->terminal, &turn->end, on_ended, turn);
}

static void fail(Turn *turn, RunError code, const char *stage, Str text)
{
    finish(turn,
           &(RuntimeEvent){ .kind = RUNTIME_FAIL,
                            .code = code,
                            .text = redact_text(turn->arena, text),
                            .usage = turn->usage },
           stage);
}

/* -- What the runtime says -- */

static void dispatch(Turn *turn);

/* On the loop, when the callback with the end of the first try has returned. */
static void begin_anew(void *ctx)
{
    Turn *turn = ctx;
    RuntimeRun *old = turn->running;

    pthread_mutex_lock(&turn->lock);
    turn->running = NULL;
    pthread_mutex_unlock(&turn->lock);
    turn->runtime->free(old);
    dispatch(turn);
}

/* The runtime does not know its own handle any more, and has done nothing yet: a new session, which
 * is told what was said so far. Once. */
static bool is_lost(const Turn *turn, const RuntimeEvent *e)
{
    return e->kind == RUNTIME_FAIL && e->code == RUN_CONTINUITY_LOST && turn->request.handle.n &&
           !turn->text.n && !turn->acted && !turn->cancelled;
}

static void hear_end(Turn *turn, const RuntimeEvent *e)
{
    RuntimeEvent end = *e;

    if (is_lost(turn, e)) {
        turn->lost = true;
        turn->request.handle = turn->request.gap = STR("");
        net_post(turn->service->net, begin_anew, turn);
        return;
    }
    if (e->handle.n)
        turn->handle = str_dup(turn->arena, e->handle);
    if (turn->usage.known && !end.usage.known)
        end.usage = turn->usage;
    if (e->kind == RUNTIME_FAIL) {
        end.text = redact_text(turn->arena, e->text);
        /* Somebody wanted it to end: whatever words the runtime found for that. */
        if (turn->cancelled)
            end.code = RUN_CANCELLED;
        finish(turn, &end, "dispatch");
    } else if (e->status == RUNTIME_COMPLETED && !turn->text.n && !turn->acted) {
        fail(turn, RUN_EMPTY_RESPONSE, "dispatch", STR("the runtime ended without an answer"));
    } else {
        finish(turn, &end, "dispatch");
    }
}

/* One that does not end by itself. */
static void cut_off(Turn *turn, Str why)
{
    turn->runtime->cancel(turn->running);
    fail(turn, RUN_PROTOCOL_VIOLATION, "dispatch", why);
}

static void hear_text(Turn *turn, const RuntimeEvent *e)
{
    RuntimeEvent said = *e;

    said.text = utf8_repair(turn->arena, e->text);
    if (turn->text.n + said.text.n > LIMIT_RUN_TEXT) {
        cut_off(turn, STR("the answer is too long"));
        return;
    }
    if (said.text.n)
        passages_add(&turn->passages, said.segment, turn->text.n);
    buf_add(&turn->text, said.text);
    frames_event(&turn->frames, &said);
}

static void hear_session(Turn *turn, const RuntimeEvent *e)
{
    RuntimeEvent told = *e;

    told.mode = turn->mode = turn->lost ? CONTINUITY_LOST : e->mode;
    if (e->handle.n)
        turn->handle = str_dup(turn->arena, e->handle);
    if (e->model.n)
        turn->model = str_dup(turn->arena, e->model);
    frames_event(&turn->frames, &told);
}

static void hear_approval(Turn *turn, const RuntimeEvent *e)
{
    bool asked = !e->name.n && e->call_id.n < sizeof turn->waiting;
    AUTO_BUF offered = BUF(sizeof turn->offered - 1);

    memset(turn->waiting, 0, sizeof turn->waiting);
    if (asked)
        memcpy(turn->waiting, e->call_id.p, e->call_id.n);
    for (size_t i = 0; i < e->n_choices; i++)
        buf_addf(&offered, "%s%.*s", i ? "|" : "", STR_FMT(e->choices[i]));
    snprintf(turn->offered, sizeof turn->offered, "%.*s", STR_FMT(buf_str(&offered)));
    frames_event(&turn->frames, e);
}

static void hear(Turn *turn, const RuntimeEvent *e)
{
    switch (e->kind) {
    case RUNTIME_SESSION:
        hear_session(turn, e);
        break;
    case RUNTIME_TEXT:
        hear_text(turn, e);
        break;
    case RUNTIME_APPROVAL:
        hear_approval(turn, e);
        break;
    case RUNTIME_TRACE:
        run_trace_add(&turn->trace, e->text);
        break;
    case RUNTIME_FINISH:
    case RUNTIME_FAIL:
        hear_end(turn, e);
        break;
    case RUNTIME_USAGE:
        turn->usage = e->usage;
        frames_event(&turn->frames, e);
        break;
    case RUNTIME_TOOL_BEGIN:
        turn->acted = true;
        frames_event(&turn->frames, e);
        break;
    default:
        frames_event(&turn->frames, e);
    }
}

static void on_event(void *ctx, const RuntimeEvent *e)
{
    Turn *turn = ctx;

    pthread_mutex_lock(&turn->lock);
    if (!turn->over && turn->logged > LIMIT_RUN_LOG &&
        !(e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL))
        cut_off(turn, STR("the runtime's output exceeds the limit of a run"));
    else if (!turn->over)
        hear(turn, e);
    else if (e->kind != RUNTIME_TRACE)
        log_debug("run '%.*s': '%s' came after its end", STR_FMT(turn->run.id),
                  runtime_event_name(e->kind));
    pthread_mutex_unlock(&turn->lock);
}

/* -- The way to the runtime -- */

/* The lock is held over the start: the first event may come before it returns. */
static void dispatch(Turn *turn)
{
    Err err = { 0 };

    pthread_mutex_lock(&turn->lock);
    if (turn->cancelled) {
        fail(turn, RUN_CANCELLED, "dispatch", STR_NONE);
    } else {
        turn->running =
            turn->runtime->start(turn_knows(turn) ? &turn->service->host : &turn->service->bare,
                                 &turn->request, on_event, turn, &err);
        if (!turn->running)
            fail(turn, RUN_RUNTIME_UNAVAILABLE, "dispatch", str_of(err.text));
    }
    pthread_mutex_unlock(&turn->lock);
}

static bool load(Turn *turn, Err *err)
{
    Runs *r = service_borrow_runs(turn->service, err);
    bool ok = r && turn_load(turn, r, err);

    service_return_runs(turn->service, r);
    return ok;
}

void turn_start(void *ctx)
{
    Turn *turn = ctx;
    Err err = { 0 };
    bool loaded;

    frames_init(&turn->frames, turn->runtime->name,
                id_text(turn->arena, turn->run.assistant_message_id), on_frame, turn);
    loaded = load(turn, &err);
    if (loaded)
        turn_enrich(turn);
    frames_metadata(&turn->frames, put_metadata, turn);
    if (!loaded) {
        fail(turn, RUN_STORE_UNAVAILABLE, "load", str_of(err.text));
        return;
    }
    turn_build_request(turn);
    tell_stages(turn);
    dispatch(turn);
}

void turn_cancel(Turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->cancelled = true;
    if (turn->running && !turn->over)
        turn->runtime->cancel(turn->running);
    pthread_mutex_unlock(&turn->lock);
}
