/* One turn: find the conversation, start the run or find the one that was started, show it, store
 * its end.
 *
 * The name of the message is the key of its run and of its answer in the outbox. After a crash the
 * next gateway finds both: a run that ended is delivered, not repeated; one that died with its
 * process is started again, for the same message and the same row of the outbox. */
#include "base/limits.h"
#include "base/log.h"
#include "chat/topics.h"
#include "gateway/turns_inside.h"
#include "text/redact.h"

enum { MAX_RUNS = 99, BUSY_MS = 100, MAX_BUSY_MS = 60000 };

static void remove_active(Turns *t, ActiveTurn *me)
{
    ActiveTurn **at = &t->active;

    pthread_mutex_lock(&t->lock);
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    pthread_mutex_unlock(&t->lock);
}

void active_turn_move(Turns *t, ActiveTurn *me, Str key)
{
    pthread_mutex_lock(&t->lock);
    me->key = key;
    pthread_mutex_unlock(&t->lock);
}

/* From here on it can be cancelled by id; `stopped` says whether that was requested before. */
static void publish_run_id(Turns *t, ActiveTurn *me, Str run_id)
{
    bool stop;
    Err ignored;

    pthread_mutex_lock(&t->lock);
    me->run_id = run_id;
    stop = me->stopped || t->closing;
    pthread_mutex_unlock(&t->lock);
    if (stop)
        (void)!service_cancel(t->service, run_id, &ignored);
}

/* -- The run -- */

/* Its process died or was stopped before the answer was delivered. */
static bool was_abandoned(const Run *run)
{
    return run->ended_ms &&
           (str_eqz(run->state, "cancelled") ||
            (str_eqz(run->state, "failed") && str_eqz(run->error_code, "internal")));
}

/* *ret_live: the finished or running run of this message. NULL: none, and the request is completed
 * for a new one. */
static bool find_run(Turns *t, Runs *r, Arena *a, const TurnJob *job, ChatRequest *request,
                     Run *ret, LiveRun **ret_live, Err *err)
{
    bool found = true;

    *ret_live = NULL;
    for (int i = 1; found && i <= MAX_RUNS; i++) {
        request->idem_key = i == 1 ? job->name : str_printf(a, "%.*s#%d", STR_FMT(job->name), i);
        if (!runs_by_key(r, a, request->idem_key, ret, &found, err))
            return false;
        if (found && !was_abandoned(ret)) {
            *ret_live = runlog_find(service_log(t->service), r, ret->id, err);
            return *ret_live != NULL;
        }
        if (found && job->seq && str_eq(ret->conversation_id, request->conversation_id))
            request->instead_of = ret->id;
    }
    return true;
}

/* A turn that is just coming to its end is waited for. */
static bool start_run(Turns *t, Arena *a, const ChatRequest *request, Run *ret, LiveRun **ret_live,
                      Err *err)
{
    struct timespec pause = { .tv_nsec = BUSY_MS * 1000000L };

    for (int64_t waited = 0;; waited += BUSY_MS) {
        *ret = (Run){ 0 };
        if (service_chat(t->service, a, request, ret, ret_live, err))
            return true;
        if (err->kind == ERR_CONFLICT &&
            ret->id.n) /* a run of the same session, perhaps from another chat */
            err->kind = ERR_BUSY;
        if (err->kind != ERR_BUSY || waited >= MAX_BUSY_MS || turns_closing(t))
            return false;
        nanosleep(&pause, NULL);
    }
}

static bool may_begin(Turns *t, Arena *a, ChatRequest *request, Err *err)
{
    if (!request->conversation_id.n)
        return err_set(err, ERR_NOT_FOUND, "the session no longer exists");
    return turn_runtime(t, a, request->conversation_id, &request->runtime, err);
}

static bool begin_or_find(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Run *ret,
                          LiveRun **ret_live, Err *err)
{
    ChatRequest request = { .text = job->text,
                            .trust = job->trust,
                            .surface = job->place.platform,
                            .internal = !job->seq };
    Runs *r;
    bool ok;

    if (!turn_route(t, own, a, job, &request.conversation_id, err))
        return false;
    r = service_borrow_runs(t->service, err);
    ok = r && find_run(t, r, a, job, &request, ret, ret_live, err);
    service_return_runs(t->service, r);
    if (!ok || *ret_live)
        return ok;
    return may_begin(t, a, &request, err) && turn_files_fetch(t, a, job, &request, err) &&
           start_run(t, a, &request, ret, ret_live, err);
}

/* If the session was moved in between, the second look-up finds it. */
static bool begin_or_find_moved(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Run *ret,
                                LiveRun **ret_live, Err *err)
{
    return begin_or_find(t, own, a, job, ret, ret_live, err) ||
           (err->kind == ERR_CONFLICT && !turns_closing(t) &&
            begin_or_find(t, own, a, job, ret, ret_live, err));
}

/* -- Its end -- */

static Str append_note(Arena *a, Str text, const char *more, Str why)
{
    return str_printf(a, "%.*s%s%s%.*s", STR_FMT(text), text.n ? "\n\n" : "", more, STR_FMT(why));
}

/* If the agent was to speak first, no user waits for an error message. */
static Str final_text(Arena *a, const TurnJob *job, const TurnOutcome *h, bool replaced)
{
    Str text = str_dup(a, str_trim(str_skip(buf_str(&h->text), h->told)));

    if (str_eqz(h->status, "completed") || !job->seq)
        return text;
    if (str_eqz(h->status, "truncated"))
        return append_note(a, text, "(cut off: the answer reached its length limit)", STR(""));
    if (str_eqz(h->status, "cancelled"))
        return !text.n ? text
                       : append_note(a, text, replaced ? "(interrupted)" : "(stopped)", STR(""));
    return append_note(a, text, "This did not work: ",
                       h->trouble.n ? h->trouble
                                    : STR("the agent stopped without finishing its answer"));
}

static void return_to_inbox(OwnStore *own, const TurnJob *job)
{
    Err err;

    if (job->seq && !inbox_put_back(own, job->seq, &err))
        log_warning("turn '%.*s': %s", STR_FMT(job->name), err.text);
}

/* The answer is stored before the inbox row is done. If the database fails, the row is tried again
 * later, which finds the run and its answer. */
static void keep_end(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, const Outgoing *out,
                     Str words)
{
    const GatewayConnection *s = turns_server(t, job->place.platform);
    Delivery d = { .platform = s->platform, .connection = s->connection, .flags = &t->o.flags };
    bool kept;
    Err err;

    kept = outbox_finish(own, job->words, words, &err) &&
           (!job->seq || inbox_end(own, job->seq, INBOX_DONE, STR_NONE, &err));
    if (!kept)
        return_to_inbox(own, job);
    if (!kept || !deliver_waiting(&d, own, a, job->words, &err))
        log_warning("turn '%.*s': %s", STR_FMT(job->name), err.text);
    /* Others may have waited for it, or it for others. */
    turns_post(t, own, job->place.platform, out->place);
}

static void report_failure(Turns *t, OwnStore *own, const TurnJob *job, const Outgoing *out,
                           const Err *why)
{
    Arena *a = job->arena;

    if (job->seq)
        log_warning("turn '%.*s': %s", STR_FMT(job->name), why->text);
    else
        log_debug("turn '%.*s': %s", STR_FMT(job->name), why->text);
    keep_end(t, own, a, job, out,
             job->seq
                 ? append_note(a, STR(""),
                               "This did not work: ", redact_text(a, str_dup(a, str_of(why->text))))
                 : STR(""));
}

static void run_to_end(Turns *t, OwnStore *own, const TurnJob *job, ActiveTurn *me, Outgoing *out)
{
    TurnOutcome outcome = { .text = BUF(LIMIT_RUN_TEXT) };
    Arena *a = job->arena;
    LiveRun *live;
    Err err = { 0 };
    Run run;

    if (!begin_or_find_moved(t, own, a, job, &run, &live, &err)) {
        /* A temporary condition is not reported to the user. */
        if (turns_closing(t) || (job->seq && err.kind == ERR_BUSY))
            return_to_inbox(own, job);
        else
            report_failure(t, own, job, out, &err);
        return;
    }
    if (job->seq && !inbox_began(own, job->seq, run.id, &err))
        log_warning("turn '%.*s': %s", STR_FMT(job->name), err.text);
    publish_run_id(t, me, run.id);
    turn_watch(t, own, job, me, out, live, &outcome);
    /* A run that was cancelled by the shutdown is repeated after the next start. */
    if (turns_closing(t) && str_eqz(outcome.status, "cancelled"))
        return_to_inbox(own, job);
    else
        keep_end(t, own, a, job, out, final_text(a, job, &outcome, me->replaced));
    buf_done(&outcome.text);
}

/* -- A lane's work -- */

/* It was never begun: the next gateway finds it as it came. */
void turn_drop(void *turns, void *work)
{
    Turns *t = turns;
    TurnJob *job = work;

    pthread_mutex_lock(&t->journal_lock);
    return_to_inbox(t->journal, job);
    pthread_mutex_unlock(&t->journal_lock);
    arena_free(job->arena);
}

/* Its topic may have been deleted while it was queued. *ret: its row of the outbox. */
static bool open_row(Turns *t, OwnStore *own, TurnJob *job, ActiveTurn *me, Outgoing *ret, Err *err)
{
    Outgoing row = { .id = job->words, .platform = job->place.platform, .state = OUTBOX_OPEN };

    if (!topic_now(own, job->arena, &job->place, err))
        return false;
    job->key = address_key(job->arena, &job->place, &t->o.flags);
    active_turn_move(t, me, job->key);
    row.address_json = address_json(job->arena, &job->place);
    return outbox_put(own, job->arena, &row, ret, err);
}

void turn_run(void *turns, OwnStore *own, void *work)
{
    Turns *t = turns;
    TurnJob *job = work;
    ActiveTurn me = { .key = job->key };
    Outgoing out;
    Err err;

    pthread_mutex_lock(&t->lock);
    me.next = t->active;
    t->active = &me;
    pthread_mutex_unlock(&t->lock);
    if (!open_row(t, own, job, &me, &out, &err)) {
        log_warning("turn '%.*s': %s", STR_FMT(job->name), err.text);
        return_to_inbox(own, job);
    } else if (out.state == OUTBOX_OPEN) {
        run_to_end(t, own, job, &me, &out);
    } else { /* It was answered; only that was not noted any more. */
        keep_end(t, own, job->arena, job, &out, STR(""));
    }
    remove_active(t, &me);
    arena_free(job->arena);
}
