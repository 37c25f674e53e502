/* The frame of a running turn: timers, stopping, the count of what is out. */
#include "runtimes/run.h"

#include "base/clock.h"
#include "base/limits.h"

/* -- the request -- */

static void copy_request(Arena *a, RuntimeRequest *r)
{
    RuntimeFile *files = ARENA_ARRAY(a, RuntimeFile, r->n_files);
    RuntimeTurn *turns = ARENA_ARRAY(a, RuntimeTurn, r->n_history);

    Str *const all[] = { &r->run_id,   &r->conversation_id, &r->text, &r->context,
                         &r->examples, &r->handle,          &r->gap,  &r->cwd,
                         &r->model };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        *all[i] = str_dup(a, *all[i]);
    for (size_t i = 0; i < r->n_files; i++) {
        const RuntimeFile *f = &r->files[i];

        files[i] = (RuntimeFile){ str_dup(a, f->id), str_dup(a, f->name), str_dup(a, f->mime),
                                  str_dup(a, f->path), f->size };
    }
    for (size_t i = 0; i < r->n_history; i++) {
        turns[i] = r->history[i];
        turns[i].text = str_dup(a, turns[i].text);
    }
    r->files = files;
    r->history = turns;
}

/* -- the end -- */

static void dispose(RuntimeRun *run)
{
    net_timer_stop(run->net, &run->timer);
    if (run->kind->dispose)
        run->kind->dispose(run);
    teller_done(&run->teller);
    arena_free(run->arena);
    mem_free(run);
}

static Str late_text(RunError late)
{
    return late == RUN_TIMEOUT_FIRST      ? STR("the runtime said nothing in time")
           : late == RUN_TIMEOUT_IDLE     ? STR("nothing came from the runtime for too long")
           : late == RUN_APPROVAL_TIMEOUT ? STR("nobody answered what the runtime asked")
                                          : STR("the turn was not finished in time");
}

void run_hold(RuntimeRun *run)
{
    run->out++;
}

void run_drop(RuntimeRun *run)
{
    if (--run->out > 0)
        return;
    if (!run->teller.over) {
        /* It was stopped and is back: why it was stopped is how it ended. */
        if (run->timed_out)
            teller_fail(&run->teller, run->late, late_text(run->late), 0, STR(""));
        else if (run->cancelled)
            teller_finish(&run->teller, RUNTIME_CANCELLED, STR("cancelled"), STR(""));
        else
            teller_fail(&run->teller, RUN_INTERNAL, STR("the runtime left without a word"), 0,
                        STR(""));
    }
    net_timer_stop(run->net, &run->timer);
    if (run->released)
        dispose(run);
}

/* -- timers -- */

typedef struct Due {
    int64_t at;
    RunError code;
} Due;

static void sooner(Due *due, int64_t when, RunError code)
{
    if (when < due->at)
        *due = (Due){ when, code };
}

static Due next_due(const RuntimeRun *run)
{
    const RuntimeRequest *r = &run->request;
    Due due = { run->began + r->deadline_ms,
                run->waiting ? RUN_APPROVAL_TIMEOUT : RUN_TIMEOUT_TOTAL };

    if (run->waiting)
        return due;
    if (!run->first)
        sooner(&due, run->began + r->first_ms, RUN_TIMEOUT_FIRST);
    else
        sooner(&due, run->heard + r->idle_ms, RUN_TIMEOUT_IDLE);
    sooner(&due, run->moved + LIMIT_RUN_PROGRESS_MS, RUN_TIMEOUT_IDLE);
    return due;
}

static void stop(RuntimeRun *run)
{
    if (run->stopping || run->teller.over)
        return;
    run->stopping = true;
    run->kind->stop(run);
}

static void on_timer(void *ctx)
{
    RuntimeRun *run = ctx;
    Due due = next_due(run);
    int64_t now = clock_mono_ms();

    if (run->stopping || !run->out)
        return;
    if (run->linger_at) {
        if (now >= run->linger_at) {
            run->stopping = true;
            run->kind->stop(run);
        } else {
            net_timer_set(run->net, &run->timer, run->linger_at);
        }
    } else if (now >= due.at) {
        run->timed_out = true;
        run->late = due.code;
        stop(run);
    } else {
        net_timer_set(run->net, &run->timer, due.at);
    }
}

void run_heard(RuntimeRun *run, bool moved)
{
    run->heard = clock_mono_ms();
    if (moved) {
        run->first = true;
        run->moved = run->heard;
    }
}

void run_linger(RuntimeRun *run, int64_t ms)
{
    run->linger_at = clock_mono_ms() + ms;
    net_timer_set(run->net, &run->timer, run->linger_at);
}

int64_t run_left_ms(const RuntimeRun *run)
{
    int64_t left = run->began + run->request.deadline_ms - clock_mono_ms();

    return left > 1 ? left : 1;
}

/* -- from other threads -- */

RuntimeRun *run_new(const RunKind *kind, const RuntimeHost *host, const RuntimeRequest *request,
                    RuntimeEventFn *fn, void *ctx)
{
    RuntimeRun *run = mem_alloc(kind->size);

    run->kind = kind;
    run->host = *host;
    run->net = host->net;
    run->arena = arena_new();
    run->request = *request;
    copy_request(run->arena, &run->request);
    if (!run->request.deadline_ms)
        run->request.deadline_ms = LIMIT_RUN_TOTAL_MS;
    if (!run->request.idle_ms)
        run->request.idle_ms = LIMIT_RUN_IDLE_MS;
    if (!run->request.first_ms)
        run->request.first_ms = LIMIT_RUN_FIRST_MS;
    if (!run->request.connect_ms)
        run->request.connect_ms = LIMIT_RUN_CONNECT_MS;
    teller_init(&run->teller, fn, ctx);
    run->timer = (NetTimer){ .fn = on_timer, .ctx = run };
    run->out = 1;
    return run;
}

static void begin(void *ctx)
{
    RuntimeRun *run = ctx;

    run->began = run->heard = run->moved = clock_mono_ms();
    net_timer_set(run->net, &run->timer, next_due(run).at);
    run->kind->begin(run);
    run_drop(run);
}

void run_begin(RuntimeRun *run)
{
    net_post(run->net, begin, run);
}

static void cancel(void *ctx)
{
    RuntimeRun *run = ctx;

    run->cancelled = true;
    stop(run);
}

void run_cancel(RuntimeRun *run)
{
    net_post(run->net, cancel, run);
}

typedef struct Answer {
    RuntimeRun *run;
    char *id, *choice;
} Answer;

static void answer(void *ctx)
{
    Answer *order = ctx;
    RuntimeRun *run = order->run;

    if (run->kind->approve && !run->teller.over && !run->stopping) {
        run->waiting = false;
        run_heard(run, true);
        run->kind->approve(run, str_of(order->id), str_of(order->choice));
    }
    mem_free(order->id);
    mem_free(order->choice);
    mem_free(order);
}

void run_approve(RuntimeRun *run, Str id, Str choice)
{
    Answer *order = mem_alloc(sizeof *order);

    *order = (Answer){ run, mem_strdup(id), mem_strdup(choice) };
    net_post(run->net, answer, order);
}

static void release(void *ctx)
{
    RuntimeRun *run = ctx;

    run->released = true;
    if (!run->out)
        dispose(run);
}

void run_free(RuntimeRun *run)
{
    if (run)
        net_post(run->net, release, run);
}
