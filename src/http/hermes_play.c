/* A stream of the stand-in: a script that is played on the thread of its connection, and stops where it is told to. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/hermes_inside.h"

enum { TICK_MS = 5, READY_BYTES = 16 * 1024 };

/* -- state: under the lock -------------------------------------------------------------------------------- */

DoubleSession *double_session(HermesDouble *d, Str id)
{
    for (size_t i = 0; i < DOUBLE_SESSIONS; i++)
        if (id.n && str_eqz(id, d->sessions[i].id))
            return &d->sessions[i];
    return NULL;
}

DoubleSession *double_make_session(HermesDouble *d, Str id)
{
    DoubleSession *s = double_session(d, id);

    if (s)
        return s;
    s = &d->sessions[d->n_sessions++ % DOUBLE_SESSIONS];
    snprintf(s->id, sizeof s->id, "%.*s", STR_FMT(id));
    s->turns = 0;
    return s;
}

DoubleRun *double_run(HermesDouble *d, Str id)
{
    for (size_t i = 0; i < DOUBLE_RUNS; i++)
        if (id.n && str_eqz(id, d->runs[i].id))
            return &d->runs[i];
    return NULL;
}

/* -- one stream --------------------------------------------------------------------------------------------- */

/* One stream that is being read: a script and how far it is. */
typedef struct Playing {
    HermesDouble *d;
    Arena *arena;
    Script script;
    char run[DOUBLE_NAME]; /* empty: no run */
    size_t frame, at;
    bool cancelled;
} Playing;

static void nap(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* Whether the stream was told to stop; while waiting, whether it may go on. */
static bool look(Playing *p, bool *answered)
{
    HermesDouble *d = p->d;
    bool stopped;
    DoubleRun *run;

    pthread_mutex_lock(&d->lock);
    run = p->run[0] ? double_run(d, str_of(p->run)) : NULL;
    stopped = d->ending || (run && run->stopped);
    *answered = !run || run->answered;
    pthread_mutex_unlock(&d->lock);
    return stopped;
}

/* Before the question goes out: an answer may come as soon as it has. */
static void expect_answer(Playing *p)
{
    DoubleRun *run;

    pthread_mutex_lock(&p->d->lock);
    run = double_run(p->d, str_of(p->run));
    if (run)
        run->waiting = true;
    pthread_mutex_unlock(&p->d->lock);
}

static bool pause_before(Playing *p)
{
    int64_t until = clock_mono_ms() + p->script.frames[p->frame].pause_ms;
    bool wait = p->frame && p->script.frames[p->frame - 1].mark == SCRIPT_WAIT, answered;

    while (!look(p, &answered)) {
        if (clock_mono_ms() >= until && (!wait || answered))
            return true;
        nap(TICK_MS);
    }
    return false;
}

static void end_run(Playing *p)
{
    DoubleRun *run;

    pthread_mutex_lock(&p->d->lock);
    run = p->run[0] ? double_run(p->d, str_of(p->run)) : NULL;
    if (run)
        run->over = true;
    pthread_mutex_unlock(&p->d->lock);
}

static ssize_t give(Playing *p, char *out, size_t max, Str bytes)
{
    size_t n = bytes.n - p->at < max ? bytes.n - p->at : max;

    memcpy(out, bytes.p + p->at, n);
    p->at += n;
    if (p->at == bytes.n) {
        p->at = 0;
        p->frame++;
    }
    return (ssize_t)n;
}

static ssize_t read_stream(void *ctx, uint64_t offset, char *out, size_t max)
{
    Playing *p = ctx;
    const Script *s = &p->script;

    (void)offset;
    if (p->cancelled && p->frame > s->n)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!p->cancelled && p->frame && !p->at && s->frames[p->frame - 1].mark == SCRIPT_CUT) {
        end_run(p);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (!p->cancelled && p->frame >= s->n) {
        end_run(p);
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (!p->cancelled && !p->at && !pause_before(p)) {
        p->cancelled = true;
        p->frame = s->n;
        end_run(p);
        if (!p->run[0])
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (!p->cancelled && !p->at && s->frames[p->frame].mark == SCRIPT_WAIT)
        expect_answer(p);
    return give(p, out, max, p->cancelled ? script_cancelled() : s->frames[p->frame].bytes);
}

static void free_stream(void *ctx)
{
    Playing *p = ctx;

    arena_free(p->arena);
    mem_free(p);
}

enum MHD_Result double_stream(HermesDouble *d, struct MHD_Connection *c, const Script *script,
                              const char *run)
{
    Playing *p = mem_alloc(sizeof *p);
    struct MHD_Response *r;
    enum MHD_Result result;

    *p = (Playing){ .d = d, .arena = arena_new(), .script = *script };
    p->script.arena = p->arena;
    p->script.prompt = str_dup(p->arena, script->prompt);
    p->script.session = str_dup(p->arena, script->session);
    snprintf(p->run, sizeof p->run, "%s", run);
    script_write(&p->script);
    if (!str_eq(p->script.next_session, p->script.session)) {
        pthread_mutex_lock(&d->lock);
        double_make_session(d, p->script.next_session)->turns = script->turn;
        pthread_mutex_unlock(&d->lock);
    }
    r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, READY_BYTES, read_stream, p,
                                          free_stream);
    MHD_add_response_header(r, "Content-Type", "text/event-stream");
    if (script->dialect != SCRIPT_RUNS)
        MHD_add_response_header(r, "X-Hermes-Session-Id", str_z(p->arena, script->session));
    result = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}
