/* sim_agents.h - what turns stand on, without threads: lanes that are walked when the dice say so,
 * and an agent that answers "re:WORDS". They take the place of gateway/lanes.c, agent/service.c,
 * agent/runlog.c and agent/feed.c in the program that includes this; runs and words are kept by the
 * real store. */
#ifndef TALARIA_TESTS_SIM_AGENTS_H
#define TALARIA_TESTS_SIM_AGENTS_H

#include "sim_chats.h"

#include "agent/conversations.h"
#include "gateway/turns_inside.h"

/* -- lanes -- */

enum { MAX_JOBS = 256, MAX_LANES = 16 };

struct Lanes {
    LanesOptions o;
    struct {
        char *key;
        void *work;
        bool busy;
    } jobs[MAX_JOBS];
    size_t n;
};

static Lanes *all_lanes[MAX_LANES]; /* of the gateway, which is the only one to have any */
static size_t n_lanes;

Lanes *lanes_open(const LanesOptions *options)
{
    Lanes *l = mem_alloc(sizeof *l);

    l->o = *options;
    assert_true(n_lanes < MAX_LANES);
    all_lanes[n_lanes++] = l;
    return l;
}

static void *lanes_remove(Lanes *l, size_t i)
{
    void *work = l->jobs[i].work;

    mem_free(l->jobs[i].key);
    memmove(&l->jobs[i], &l->jobs[i + 1], (l->n - i - 1) * sizeof l->jobs[0]);
    l->n--;
    return work;
}

Lanes *lanes_close(Lanes *l)
{
    while (l && l->n)
        l->o.drop(l->o.ctx, lanes_remove(l, 0));
    for (size_t i = 0; i < n_lanes; i++)
        if (all_lanes[i] == l)
            all_lanes[i] = all_lanes[--n_lanes];
    return mem_free(l);
}

bool lanes_add(Lanes *l, Str key, void *job, Err *err)
{
    if (l->n == MAX_JOBS)
        return err_set(err, ERR_BUSY, "too much is waiting; try again");
    l->jobs[l->n].key = mem_strdup(key);
    l->jobs[l->n].busy = false;
    l->jobs[l->n++].work = job;
    return true;
}

bool lanes_has(Lanes *l, Str key)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eqz(key, l->jobs[i].key))
            return true;
    return false;
}

/* The first of its key, and nobody is at one of that key. */
static bool may_run(const Lanes *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(l->jobs[k].key, l->jobs[i].key) == 0)
            return false;
    return !l->jobs[i].busy;
}

/* One job of any lane. The row stays while it runs: that is what makes its lane busy. */
static bool lanes_walk(Lanes *l, OwnStore *own)
{
    size_t from = l->n ? dice((uint32_t)l->n) : 0;

    for (size_t k = 0; k < l->n; k++) {
        size_t i = (from + k) % l->n;
        void *work = l->jobs[i].work;

        if (!may_run(l, i))
            continue;
        l->jobs[i].busy = true;
        l->o.run(l->o.ctx, own, work);
        for (i = 0; l->jobs[i].work != work; i++)
            ;
        (void)lanes_remove(l, i);
        return true;
    }
    return false;
}

/* -- the service -- */

enum { MAX_LIVE = 16 };

struct LiveRun {
    struct Service *service; /* NULL: it is over, and this is what is known of it */
    char id[ID_CHARS], name[64], text[96];
    Str status;
    bool cancelled, shown;
    int stage;
    Frame *frame;
};

struct Service {
    Process *process;
    Runs *runs;
    LiveRun *live[MAX_LIVE];
    size_t n_live;
};

static Runs *agent_runs; /* the handle of the gateway, for all its lives */

Service *service_open(const ServiceOptions *options, Err *err)
{
    Service *s = mem_alloc(sizeof *s);

    (void)options;
    s->process = sim.running;
    s->runs = agent_runs;
    return service_recover(s, err) ? s : mem_free(s);
}

Service *service_close(Service *s)
{
    return mem_free(s);
}

RunLog *service_log(Service *s)
{
    (void)s;
    return NULL;
}

Runs *service_borrow_runs(Service *s, Err *err)
{
    (void)err;
    return s->runs;
}

void service_return_runs(Service *s, Runs *r)
{
    (void)s;
    (void)r;
}

bool service_begin(Service *s, const Conversation *c, Err *err)
{
    return conversation_create(s->runs, c, err);
}

bool service_adopt(Service *s, Arena *a, const Home *home, Str session_id, Str *ret_id, Err *err)
{
    Conversation c;

    (void)home;
    *ret_id = session_id;
    return conversation_get(s->runs, a, session_id, &c, err);
}

static LiveRun *live_of(Service *s, Str id)
{
    for (size_t i = 0; i < s->n_live; i++)
        if (str_eqz(id, s->live[i]->id))
            return s->live[i];
    return NULL;
}

/* Whoever else had a run is dead: there is one gateway, and terminals end theirs or die. */
static bool is_gone(void *ctx, Str run_id, Str owner)
{
    Service *s = ctx;

    return !str_eqz(owner, s->process->name) || !live_of(s, run_id);
}

bool service_recover(Service *s, Err *err)
{
    size_t n;

    return runs_recover(s->runs, is_gone, s, &n, err);
}

static LiveRun *live_new(Service *s, Str id)
{
    LiveRun *live = mem_alloc(sizeof *live);

    live->service = s;
    snprintf(live->id, sizeof live->id, "%.*s", STR_FMT(id));
    return live;
}

LiveRun *runlog_find(RunLog *log, Runs *r, Str run_id, Err *err)
{
    static const char *const known[] = { "completed", "cancelled", "failed" };
    AUTO(Arena) *a = arena_new();
    ChatTurn *all;
    LiveRun *live;
    size_t n;
    Run run;

    (void)log;
    if (!runs_get(r, a, run_id, &run, err) ||
        !turns_list(r, a, run.conversation_id, 0, 1000, &all, &n, err))
        return NULL;
    CHECK(run.ended_ms > 0);
    live = live_new(NULL, run_id);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eqz(run.state, known[i]))
            live->status = str_of(known[i]);
    for (size_t i = 0; i < n; i++)
        if (all[i].message_id == run.assistant_message_id)
            snprintf(live->text, sizeof live->text, "%.*s", STR_FMT(all[i].content));
    return live;
}

static bool begin_run(Service *s, Arena *a, const RunRequest *row, Run *ret, bool *ret_again,
                      Err *err)
{
    *ret = (Run){ 0 };
    if (runs_begin(s->runs, a, row, ret, ret_again, err))
        return true;
    if (err->kind != ERR_CONFLICT || !ret->id.n || ret->ended_ms || !service_recover(s, err))
        return false;
    return runs_begin(s->runs, a, row, ret, ret_again, err);
}

bool service_chat(Service *s, Arena *a, const ChatRequest *request, Run *ret, LiveRun **ret_live,
                  Err *err)
{
    RunRequest row = { .id = id_new(a, 'r'),
                       .conversation_id = request->conversation_id,
                       .runtime = STR("native"),
                       .owner = str_of(s->process->name),
                       .text = request->text,
                       .idem_key = request->idem_key,
                       .idem_sha256 = STR("same"),
                       .surface = request->surface,
                       .internal = request->internal };
    bool again = false;
    LiveRun *live;
    Run died;

    if (request->instead_of.n) {
        if (!runs_get(s->runs, a, request->instead_of, &died, err))
            return false;
        CHECK(died.ended_ms > 0);
        row.of_message = died.user_message_id;
    }
    if (!begin_run(s, a, &row, ret, &again, err))
        return false;
    if (again)
        return (*ret_live = runlog_find(NULL, s->runs, ret->id, err)) != NULL;
    live = live_new(s, ret->id);
    snprintf(live->name, sizeof live->name, "%.*s", STR_FMT(request->idem_key));
    snprintf(live->text, sizeof live->text, "%.*s",
             STR_FMT(request->internal ? STR("!") : request->text));
    CHECK(s->n_live < MAX_LIVE);
    s->live[s->n_live++] = live;
    *ret_live = live;
    return true;
}

bool service_cancel(Service *s, Str run_id, Err *err)
{
    LiveRun *live = live_of(s, run_id);

    (void)err;
    if (live)
        live->cancelled = true;
    return true;
}

bool service_approve(Service *s, Str run_id, Str approval_id, Str choice, Err *err)
{
    (void)s;
    (void)run_id;
    (void)approval_id;
    (void)choice;
    return err_set(err, ERR_CONFLICT, "nothing waits for an answer");
}

static const Runtime the_runtime = { .name = "native", .title = "" };
static const Runtime *const the_runtimes[] = { &the_runtime, NULL };

const Runtime *service_runtime(Service *s, Str name, Err *err)
{
    (void)s;
    (void)name;
    (void)err;
    return &the_runtime;
}

const Runtime *const *service_runtimes(Service *s)
{
    (void)s;
    return the_runtimes;
}

bool service_probe(Service *s, Arena *a, const Runtime *runtime, RuntimeCaps *ret, Err *err)
{
    (void)s;
    (void)a;
    (void)runtime;
    (void)err;
    *ret = (RuntimeCaps){ .available = true, .has_model = true };
    return true;
}

/* -- one answer -- */

static void end_run(LiveRun *live, Str status, Str text)
{
    RunEnd end = { .run_id = str_of(live->id),
                   .state = status,
                   .message_status =
                       str_eqz(status, "completed") ? STR("complete") : STR("cancelled"),
                   .text = text,
                   .thread = STR("native") };
    RunBatch batch = { .ends = &end, .n_ends = 1 };
    Service *s = live->service;
    size_t stale, i = 0;
    Err ignored;

    (void)!runs_write(s->runs, &batch, &stale, &ignored);
    while (s->live[i] != live)
        i++;
    s->live[i] = s->live[--s->n_live];
    live->service = NULL;
    live->status = status;
}

/* Its answer was ended by somebody, so it need not be whole. */
static void note_cut(const LiveRun *live)
{
    Str of = str_of(live->name), name;

    (void)str_split(&of, '#', &name);
    for (int i = 0; i < CHATS; i++)
        for (size_t k = 0; k < chats[i].n_updates; k++) {
            ChatUpdate *u = &chats[i].updates[k];
            char key[64];

            snprintf(key, sizeof key, "reply:%s:%s", chats[i].platform.shape->name, u->id);
            u->cut |= str_eqz(name, key);
        }
}

static const Frame *frame(LiveRun *live, FrameEvent event, const char *field, const char *value)
{
    mem_free(live->frame);
    live->frame = mem_alloc(sizeof *live->frame + 160);
    live->frame->event = event;
    live->frame->n = (size_t)snprintf(live->frame->bytes, 160, "{\"%s\":\"%s\"}", field, value);
    return live->frame;
}

/* While it thinks the world goes on; then all of it is said, unless somebody did not want that. */
static const Frame *think(LiveRun *live)
{
    char whole[128];

    if (bad_luck(2) && sim.depth == 0)
        sim.meanwhile();
    live->stage = 3;
    if (live->cancelled) {
        note_cut(live);
        end_run(live, STR("cancelled"), live->shown ? STR("re:") : STR(""));
        return NULL;
    }
    snprintf(whole, sizeof whole, "re:%s", live->text);
    end_run(live, STR("completed"), str_of(whole));
    return frame(live, FRAME_CHUNK, "text", whole + (live->shown ? strlen("re:") : 0));
}

void sub_join(Subscriber *s, LiveRun *run, int64_t after)
{
    (void)after;
    s->run = run;
    run->stage = run->service ? 0 : 5;
}

void sub_leave(Subscriber *s)
{
    mem_free(s->run->frame);
    mem_free(s->run);
}

const Frame *sub_next(Subscriber *s, bool *ret_over)
{
    LiveRun *live = s->run;
    const Frame *f = NULL;

    *ret_over = false;
    if (live->stage == 0) {
        live->shown = bad_luck(3);
        live->stage = live->shown ? 1 : 2;
        if (live->shown)
            return frame(live, FRAME_CHUNK, "text", "re:");
    }
    if (live->stage == 1) {
        live->stage = 2;
        s->wake(s->ctx); /* what there is may be shown; nobody waits */
        return NULL;
    }
    if (live->stage == 2)
        f = think(live);
    else if (live->stage == 5)
        f = frame(live, FRAME_CHUNK, "text", live->text);
    if (f) {
        live->stage = 3;
        return f;
    }
    *ret_over = live->stage == 4;
    if (live->stage == 4)
        return NULL;
    live->stage = 4;
    return frame(live, FRAME_DONE, "status",
                 str_eqz(live->status, "completed")   ? "completed"
                 : str_eqz(live->status, "cancelled") ? "cancelled"
                                                      : "failed");
}

#endif
