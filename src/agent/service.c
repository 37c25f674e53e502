/* The service: who may begin a turn, and who is under way. */
#include "agent/service.h"

#include "agent/files.h"
#include "agent/service_inside.h"
#include "base/limits.h"
#include "base/log.h"
#include "runtimes/runtimes.h"
#include "templates/template.h"
#include "text/sha256.h"

enum { THREADS = 4 };

/* -- Handles of the database -- */

Runs *service_borrow_runs(Service *s, Err *err)
{
    Runs *r = NULL;

    pthread_mutex_lock(&s->lock);
    if (s->n_spare)
        r = s->spare[--s->n_spare];
    pthread_mutex_unlock(&s->lock);
    return r ? r : runs_open(s->options.homes->data, err);
}

void service_return_runs(Service *s, Runs *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->n_spare < ARRAY_LEN(s->spare)) {
        s->spare[s->n_spare++] = r;
        r = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    runs_close(r);
}

/* -- Opening, closing -- */

typedef struct Work {
    void (*fn)(void *arg);
    void *arg;
} Work;

static void do_work(void *ctx, void *worker, void *job)
{
    Work *work = job;

    (void)ctx;
    (void)worker;
    work->fn(work->arg);
    mem_free(work);
}

void service_work(void *service, void (*fn)(void *arg), void *arg)
{
    Service *s = service;
    Work *work = mem_alloc(sizeof *work);

    *work = (Work){ .fn = fn, .arg = arg };
    if (!executor_add(s->pool, STR_NONE, work)) /* it is ending: the last work of a running job */
        do_work(NULL, NULL, work);
}

static void make_host(Service *s)
{
    const ServiceOptions *o = &s->options;

    s->host = (RuntimeHost){ .net = s->net,
                             .settings = o->settings,
                             .data = o->homes->data,
                             .work = service_work,
                             .work_ctx = s,
                             .model = service_model,
                             .model_done = service_model_done,
                             .model_ctx = s };
    s->bare = s->host;
    if (!s->knowledge)
        return;
    knowledge_tools(s->knowledge, s->tools);
    s->bare.withheld = s->tools;
    s->bare.n_withheld = KNOWLEDGE_TOOLS;
    s->bare.recall = knowledge_recall_own;
    s->bare.recall_ctx = s->knowledge;
    s->host.tools = s->tools;
    s->host.n_tools = KNOWLEDGE_TOOLS;
    s->host.recall = knowledge_recall;
    s->host.recall_ctx = s->knowledge;
}

static void refresh(void *knowledge)
{
    knowledge_refresh(knowledge);
}

void service_refresh(Service *s)
{
    service_work(s, refresh, s->knowledge);
}

Service *service_open(const ServiceOptions *options, Err *err)
{
    AUTO(Service) *s = mem_alloc(sizeof *s);

    s->options = *options;
    s->runtimes = options->runtimes ? options->runtimes : runtimes;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->models_lock, NULL);
    pthread_cond_init(&s->idle, NULL);
    s->knowledge = options->plain ? NULL : knowledge_new(options->homes, options->settings);
    s->log = runlog_open(options->homes->data, err);
    if (!s->log || !service_own(s, err) || !service_recover(s, err))
        return NULL;
    s->pool = executor_start(
        &(ExecutorOptions){ .min_threads = 1, .max_threads = THREADS, .run = do_work }, err);
    s->net = s->pool ? net_new(err) : NULL;
    if (!s->net)
        return NULL;
    make_host(s);
    if (s->knowledge)
        service_refresh(s);
    return TAKE(s);
}

Service *service_close(Service *s)
{
    if (!s)
        return NULL;
    if (s->knowledge)
        knowledge_stop(s->knowledge);
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    for (Turn *turn = s->turns; turn; turn = turn->next)
        turn_cancel(turn);
    while (s->n_turns)
        pthread_cond_wait(&s->idle, &s->lock);
    pthread_mutex_unlock(&s->lock);
    /* What a model still says may be work for a worker. */
    service_models_free(s);
    s->pool = executor_stop(s->pool);
    s->knowledge = knowledge_free(s->knowledge);
    s->net = net_free(s->net);
    s->log = runlog_close(s->log);
    for (size_t i = 0; i < s->n_spare; i++)
        runs_close(s->spare[i]);
    service_disown(s);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->models_lock);
    return mem_free(s);
}

RunLog *service_log(Service *s)
{
    return s->log;
}

bool service_begin(Service *s, const Conversation *c, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Template t;
    Runs *r;
    bool ok;

    if (c->default_runtime.n && !service_runtime(s, c->default_runtime, err))
        return false;
    if (c->template.n && !str_is_one_of(c->template, "auto|none") &&
        !template_find(a, s->options.homes, c->template, &t, err))
        return false;
    r = service_borrow_runs(s, err);
    ok = r && conversation_create(r, c, err);
    service_return_runs(s, r);
    return ok;
}

void service_unbegin(Service *s, Str conversation_id)
{
    Err err = { 0 };
    Runs *r = service_borrow_runs(s, &err);

    if (r && conversation_delete(r, conversation_id, &err))
        files_delete(s->options.homes->data, conversation_id);
    else
        log_warning("an empty conversation stays behind: %s", err.text);
    service_return_runs(s, r);
}

/* -- Turns under way -- */

static Turn *turn_new(Service *s, const ChatRequest *request, const Runtime *runtime)
{
    Turn *turn = mem_alloc(sizeof *turn);

    turn->service = s;
    turn->holders = 1;
    turn->arena = arena_new();
    turn->runtime = runtime;
    turn->thread = str_of(runtime->alias ? runtime->alias : runtime->name);
    turn->chat = *request;
    turn->chat.text = str_dup(turn->arena, request->text);
    turn->chat.model = str_dup(turn->arena, request->model);
    turn->text = BUF(LIMIT_RUN_TEXT);
    passages_init(&turn->passages);
    pthread_mutex_init(&turn->lock, NULL);
    run_trace_init(&turn->trace);
    return turn;
}

static void turn_free(Turn *turn)
{
    live_drop(turn->live);
    frames_done(&turn->frames);
    run_trace_done(&turn->trace);
    buf_done(&turn->text);
    passages_done(&turn->passages);
    pthread_mutex_destroy(&turn->lock);
    arena_free(turn->arena);
    mem_free(turn);
}

void turn_release(Turn *turn)
{
    Service *s = turn->service;
    bool last;

    pthread_mutex_lock(&s->lock);
    last = --turn->holders == 0;
    pthread_mutex_unlock(&s->lock);
    if (last)
        turn_free(turn);
}

static void enter(Service *s, Turn *turn)
{
    pthread_mutex_lock(&s->lock);
    turn->next = s->turns;
    if (turn->next)
        turn->next->prev = turn;
    s->turns = turn;
    s->n_turns++;
    /* One that was admitted while the service closes is cancelled before it begins. */
    turn->cancelled = s->closing;
    pthread_mutex_unlock(&s->lock);
}

void service_end_turn(Service *s, Turn *turn)
{
    bool last;

    pthread_mutex_lock(&s->lock);
    if (turn->next)
        turn->next->prev = turn->prev;
    if (turn->prev)
        turn->prev->next = turn->next;
    else
        s->turns = turn->next;
    last = --turn->holders == 0;
    pthread_mutex_unlock(&s->lock);
    if (last)
        turn_free(turn);
    pthread_mutex_lock(&s->lock);
    s->n_turns--;
    if (!s->n_turns)
        pthread_cond_signal(&s->idle);
    pthread_mutex_unlock(&s->lock);
}

static Turn *find(Service *s, Str run_id)
{
    Turn *turn;

    pthread_mutex_lock(&s->lock);
    for (turn = s->turns; turn; turn = turn->next)
        if (str_eq(turn->run.id, run_id)) {
            turn->holders++;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    return turn;
}

/* -- Admission -- */

static Str request_digest(Arena *a, const ChatRequest *request, const Runtime *runtime)
{
    AUTO_BUF all = BUF(LIMIT_RUN_ASK + KIB(64));

    buf_addf(&all, "%s\n%.*s\n", runtime->name, STR_FMT(request->model));
    for (size_t i = 0; i < request->n_files; i++)
        buf_addf(&all, "%.*s\n", STR_FMT(request->files[i]));
    buf_add(&all, request->text);
    return sha256_hex(a, buf_str(&all));
}

static bool check(Service *s, const ChatRequest *request, Err *err)
{
    bool full;

    if (!str_trim(request->text).n)
        return err_set(err, ERR_INVALID, "the message is empty");
    if (request->text.n > LIMIT_RUN_ASK)
        return err_set(err, ERR_TOO_LARGE, "the message is larger than %d bytes", LIMIT_RUN_ASK);
    if (request->model.n > LIMIT_MODEL_NAME)
        return err_set(err, ERR_INVALID, "the name of a model has at most %d bytes",
                       LIMIT_MODEL_NAME);
    if (request->idem_key.n > 255)
        return err_set(err, ERR_USAGE, "an Idempotency-Key has at most 255 bytes");
    pthread_mutex_lock(&s->lock);
    full = s->n_turns >= LIMIT_RUNS || s->closing;
    pthread_mutex_unlock(&s->lock);
    return !full || err_set(err, ERR_BUSY, "too many turns at once; try again");
}

/* Which runtime answers: the turn's wish, the conversation's, the default. */
static bool choose(Service *s, Runs *r, Arena *a, const ChatRequest *request, Conversation *ret_c,
                   const Runtime **ret, Err *err)
{
    if (!conversation_get(r, a, request->conversation_id, ret_c, err))
        return false;
    *ret = service_runtime(s, request->runtime.n ? request->runtime : ret_c->default_runtime, err);
    if (!*ret)
        return false;
    return !(*ret)->own_tools || trust_has(request->trust, RIGHT_MACHINE) ||
           err_set(err, ERR_REFUSED,
                   "this session belongs to %s, which works with the files and tools of its owner "
                   "and answers the owner only; /new starts a session of your own",
                   (*ret)->title);
}

/* The message of a run that died; and that it did. */
static bool find_message(Runs *r, Arena *a, const ChatRequest *request, int64_t *ret, Err *err)
{
    Run died;

    if (!request->instead_of.n)
        return true;
    if (!runs_get(r, a, request->instead_of, &died, err))
        return false;
    *ret = died.user_message_id;
    return (died.ended_ms && str_eq(died.conversation_id, request->conversation_id)) ||
           err_set(err, ERR_CONFLICT, "run '%.*s' is still running", STR_FMT(died.id));
}

/* A run that nobody runs any more does not stand in the way of the next one. */
static bool begin(Service *s, Runs *r, Arena *a, const RunRequest *request, Run *ret,
                  bool *ret_again, Err *err)
{
    Err why;
    size_t n = 0;

    *ret = (Run){ 0 };
    if (runs_begin(r, a, request, ret, ret_again, err))
        return true;
    if (err->kind != ERR_CONFLICT || !ret->id.n || ret->ended_ms ||
        !runs_recover(r, service_is_gone, s, &n, &why) || n == 0)
        return false;
    return runs_begin(r, a, request, ret, ret_again, err);
}

/* Before the row is there: whoever sees the run in the database can cancel it, and nobody takes it
 * for one that was left behind. */
static Turn *announce(Service *s, const ChatRequest *request, const Runtime *runtime, Str id)
{
    Turn *turn = turn_new(s, request, runtime);

    turn->run.id = str_dup(turn->arena, id);
    turn->live = runlog_begin(s->log, id);
    enter(s, turn);
    return turn;
}

static bool admit(Service *s, Runs *r, Arena *a, const ChatRequest *request, Run *ret,
                  LiveRun **ret_live, Err *err)
{
    const Runtime *runtime;
    bool again = false, ok;
    Conversation c;
    LiveRun *live;
    RunRequest row = { .id = id_new(a, 'r'),
                       .conversation_id = request->conversation_id,
                       .owner = str_of(s->owner),
                       .text = request->text,
                       .idem_key = request->idem_key,
                       .surface = request->surface,
                       .internal = request->internal,
                       .guest = request->trust == TRUST_GUEST,
                       .files = request->files,
                       .n_files = request->n_files };
    Turn *turn;

    if (!choose(s, r, a, request, &c, &runtime, err) ||
        !find_message(r, a, request, &row.of_message, err))
        return false;
    if (s->knowledge && trust_has(request->trust, RIGHT_KNOWLEDGE) &&
        (request->refresh || !c.memory.n))
        row.memory = knowledge_memory(s->knowledge, a);
    row.runtime = str_of(runtime->name);
    if (request->idem_key.n)
        row.idem_sha256 = request_digest(a, request, runtime);
    turn = announce(s, request, runtime, row.id);
    live = live_hold(turn->live);
    ok = begin(s, r, a, &row, ret, &again, err);
    if (ok && !again) {
        /* Its id stands already, for those who look for it. */
        turn->run.conversation_id = str_dup(turn->arena, ret->conversation_id);
        turn->run.runtime = str_of(turn->runtime->name);
        turn->run.user_message_id = ret->user_message_id;
        turn->run.assistant_message_id = ret->assistant_message_id;
        turn->run.started_ms = ret->started_ms;
        service_work(s, turn_start, turn);
        *ret_live = live;
        return true;
    }
    service_end_turn(s, turn);
    live_drop(live);
    *ret_live = ok ? runlog_find(s->log, r, ret->id, err) : NULL;
    return *ret_live != NULL;
}

bool service_chat(Service *s, Arena *a, const ChatRequest *request, Run *ret, LiveRun **ret_live,
                  Err *err)
{
    Runs *r;
    bool ok;

    if (!check(s, request, err))
        return false;
    r = service_borrow_runs(s, err);
    ok = r && admit(s, r, a, request, ret, ret_live, err);
    service_return_runs(s, r);
    return ok;
}

static bool exists(Service *s, Str run_id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Runs *r = service_borrow_runs(s, err);
    Run run;
    bool ok = r && runs_get(r, a, run_id, &run, err);

    service_return_runs(s, r);
    return ok;
}

bool service_cancel(Service *s, Str run_id, Err *err)
{
    Turn *turn = find(s, run_id);

    if (!turn)
        return exists(s, run_id, err);
    turn_cancel(turn);
    turn_release(turn);
    return true;
}

bool service_approve(Service *s, Str run_id, Str approval_id, Str choice, Err *err)
{
    Turn *turn = find(s, run_id);
    bool ok;

    if (!turn)
        return exists(s, run_id, err) && err_set(err, ERR_CONFLICT, "this run has ended");
    pthread_mutex_lock(&turn->lock);
    ok = turn->running && !turn->over && turn->runtime->approve && approval_id.n &&
         str_eqz(approval_id, turn->waiting);
    if (!ok)
        (void)err_set(err, ERR_CONFLICT, "no request with this id is waiting for an answer");
    else if (!(ok = str_is_one_of(choice, turn->offered)))
        (void)err_set(err, ERR_INVALID, "'%.*s' is not one of the choices: %s",
                      STR_FMT(str_head(choice, 32)), turn->offered);
    else
        turn->runtime->approve(turn->running, approval_id, choice);
    pthread_mutex_unlock(&turn->lock);
    turn_release(turn);
    return ok;
}

/* -- Runtimes -- */

const Runtime *const *service_runtimes(Service *s)
{
    return s->runtimes;
}

const Runtime *service_runtime(Service *s, Str name, Err *err)
{
    if (!name.n)
        name = model_config_exists(s->options.settings) ? STR("native") : STR("offline");
    for (const Runtime *const *r = s->runtimes; *r; r++)
        if (str_eqz(name, (*r)->name) || ((*r)->alias && str_eqz(name, (*r)->alias)))
            return *r;
    (void)err_set(err, ERR_INVALID, "unknown runtime '%.*s'; choose %s", STR_FMT(name),
                  RUNTIME_NAMES);
    return NULL;
}

bool service_probe(Service *s, Arena *a, const Runtime *runtime, RuntimeCaps *ret, Err *err)
{
    return runtime->probe(&s->host, a, ret, err);
}
