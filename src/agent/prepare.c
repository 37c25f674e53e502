/* What a turn is made of before a runtime sees it: the conversation so far, the richer context, the
 * files, what happened elsewhere, the template of a first turn. */
#include <stdlib.h>
#include <unistd.h>

#include "agent/conversation.h"
#include "agent/service_inside.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "runtimes/runtimes.h"
#include "templates/inject.h"
#include "templates/policy.h"
#include "text/utf8.h"

/* -- How long steps take -- */

/* How long steps take here: medians of the user's own runs, by kind. Only a request of one step
 * says anything of its kind, and a few of them are chance. */

enum { RUNS_READ = 400, ENOUGH = 5, FRESH_MS = 600000 };

typedef struct Samples {
    double all[TASK_KIND_COUNT][RUNS_READ];
    size_t n[TASK_KIND_COUNT];
} Samples;

static bool kind_of(Str graph, TaskKind *ret)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(graph, &err);
    Json nodes = doc ? json_get(json_root(doc), STR("nodes")) : (Json){ 0 };
    Str name;

    if (!doc || json_count(nodes) != 1)
        return false;
    name = json_str(json_get(json_at(nodes, 0), STR("kind")));
    for (int k = 0; k < TASK_KIND_COUNT; k++)
        if (str_eqz(name, task_kind_name((TaskKind)k))) {
            *ret = (TaskKind)k;
            return true;
        }
    return false;
}

static void add_sample(void *ctx, Str graph, int64_t ms)
{
    Samples *s = ctx;
    TaskKind kind;

    if (kind_of(graph, &kind) && s->n[kind] < RUNS_READ)
        s->all[kind][s->n[kind]++] = (double)ms / 1000;
}

static int shorter_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static bool load(Runs *r, double ret[TASK_KIND_COUNT], Err *err)
{
    AUTO(Arena) *a = arena_new();
    Samples *s = arena_alloc(a, sizeof *s);

    *s = (Samples){ 0 };
    /* One that only looks things up says nothing of how long work takes. */
    if (!runs_graphs(r, str_of(runtime_offline.name), RUNS_READ, add_sample, s, err))
        return false;
    for (int k = 0; k < TASK_KIND_COUNT; k++) {
        qsort(s->all[k], s->n[k], sizeof s->all[k][0], shorter_first);
        ret[k] = s->n[k] >= ENOUGH ? s->all[k][s->n[k] / 2] : 0;
    }
    return true;
}

static void turn_costs(Turn *turn, Runs *r)
{
    Service *s = turn->service;
    double now[TASK_KIND_COUNT];
    bool stale;
    Err err;

    if (!s->knowledge)
        return;
    pthread_mutex_lock(&s->lock);
    stale = !s->costs_ms || clock_mono_ms() - s->costs_ms > FRESH_MS;
    if (stale)
        s->costs_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->lock);
    if (stale && !load(r, now, &err)) {
        log_warning("how long steps take is not known: %s", err.text);
        stale = false;
    }
    pthread_mutex_lock(&s->lock);
    if (stale)
        memcpy(s->costs, now, sizeof now);
    memcpy(turn->costs, s->costs, sizeof turn->costs);
    pthread_mutex_unlock(&s->lock);
}

enum { HISTORY_BYTES = 96 << 10, GAP_TURN = 2000, GAP_NAMES = 128 };

/* -- From the store -- */

static bool load_files(Turn *turn, Runs *r, Err *err)
{
    Attachment *all;
    RuntimeFile *files;
    size_t n;

    if (!attachment_list(r, turn->arena, turn->run.conversation_id, STR_NONE, &all, &n, err))
        return false;
    files = ARENA_ARRAY(turn->arena, RuntimeFile, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!str_eqz(all[i].kind, "file") || !all[i].message_id ||
            all[i].message_id != turn->run.user_message_id)
            continue;
        files[turn->request.n_files++] = (RuntimeFile){
            .id = all[i].id,
            .name = all[i].name,
            .mime = all[i].mime,
            .size = all[i].size,
            .path = str_join_path(turn->arena, turn->service->options.homes->data, all[i].path),
        };
    }
    turn->request.files = files;
    return true;
}

/* Without the message of this very turn, and what a run that died said to it. */
static bool load_turns(Turn *turn, Runs *r, Err *err)
{
    int64_t own =
        turn->run.user_message_id ? turn->run.user_message_id : turn->run.assistant_message_id;
    size_t n;

    if (!turns_recent(r, turn->arena, turn->run.conversation_id, 0, LIMIT_RUN_HISTORY + 2,
                      &turn->recent, &n, err))
        return false;
    while (n && turn->recent[n - 1].message_id >= own)
        n--;
    turn->n_recent = n;
    return true;
}

static void add_gap_turn(Buf *out, const ChatTurn *t)
{
    Str text = utf8_head(t->content, GAP_TURN);

    if (str_eqz(t->role, "user"))
        buf_addz(out, "[user] ");
    else
        buf_addf(out, "[assistant, by %.*s] ", STR_FMT(t->runtime));
    buf_add(out, text);
    buf_addz(out, text.n < t->content.n ? " …\n" : "\n");
}

/* The first of the turns since `known` that are told: of more than fits, the newest. */
static size_t gap_begins(const Turn *turn, int64_t known)
{
    size_t room = LIMIT_RUN_GAP - GAP_NAMES, first = turn->n_recent;

    while (first > 0 && turn->recent[first - 1].seq > known) {
        size_t n = turn->recent[first - 1].content.n;
        size_t cost = (n < GAP_TURN ? n : GAP_TURN) + GAP_NAMES;

        if (cost > room)
            break;
        room -= cost;
        first--;
    }
    return first;
}

/* A runtime that continues from its own thread is told what was said to others since. */
static bool load_gap(Turn *turn, Runs *r, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_RUN_GAP);
    int64_t known = 0;
    size_t first;

    if (!turn->continuity.generation)
        return true;
    if (!turns_known_to(r, turn->run.conversation_id, str_of(turn->runtime->name), &known, err))
        return false;
    first = gap_begins(turn, known);
    if (first > 0 && turn->recent[first - 1].seq > known)
        buf_addz(&out, "(earlier turns are left out)\n");
    for (size_t i = first; i < turn->n_recent; i++)
        add_gap_turn(&out, &turn->recent[i]);
    turn->request.gap = str_dup(turn->arena, buf_str(&out));
    return true;
}

/* What other programs call this conversation stands in their handles: there it is not looked for.
 * Ours is the words themselves. */
static bool load_handles(Turn *turn, Runs *r, Err *err)
{
    Continuity *all;
    size_t n;

    if (!continuity_list(r, turn->arena, turn->run.conversation_id, &all, &n, err))
        return false;
    turn->handles = ARENA_ARRAY(turn->arena, Str, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!str_is_one_of(all[i].runtime, NATIVE_ALIAS "|native"))
            turn->handles[turn->n_handles++] = all[i].handle;
    return true;
}

static bool load_continuity(Turn *turn, Runs *r, Err *err)
{
    bool foreign;

    if (!continuity_of(r, turn->arena, turn->run.conversation_id, turn->runtime, &turn->continuity,
                       &foreign, err))
        return false;
    turn->thread = turn->continuity.runtime;
    turn->lost = foreign && !turn->continuity.generation;
    return true;
}

bool turn_load(Turn *turn, Runs *r, Err *err)
{
    turn_costs(turn, r);
    return conversation_get(r, turn->arena, turn->run.conversation_id, &turn->conversation, err) &&
           load_turns(turn, r, err) && load_files(turn, r, err) &&
           summary_get(r, turn->arena, turn->run.conversation_id, &turn->summary, err) &&
           load_continuity(turn, r, err) && load_gap(turn, r, err) && load_handles(turn, r, err);
}

/* -- Richer -- */

static void keep_summary(Turn *turn)
{
    Str model = setting_text(turn->service->options.settings, SETTING_MEMORY_SUMMARY_MODEL);
    Err err = { 0 };
    Runs *r;
    Summary next = { .generation = turn->summary.generation + 1,
                     .covers_through_seq = turn->prepared.summary_through_seq,
                     .text = turn->prepared.summary,
                     .source = STR("extractive") };

    if (!next.text.n)
        return;
    if (model.n) {
        turn_summarise(turn, model, next.covers_through_seq);
        return;
    }
    r = service_borrow_runs(turn->service, &err);
    if (r && summary_add(r, turn->run.conversation_id, &next, &err))
        turn->summary = next;
    else
        log_warning("a summary was not kept: %s", err.text);
    service_return_runs(turn->service, r);
}

void turn_enrich(Turn *turn)
{
    Service *s = turn->service;
    PrepareFn *prepare = s->options.prepare ? s->options.prepare : knowledge_prepare;
    PrepareAsk ask = { .conversation_id = turn->run.conversation_id,
                       .branches = turn->runtime->branches,
                       .knows = turn_knows(turn),
                       .memory = turn_knows(turn) ? turn->conversation.memory : STR(""),
                       .handles = turn->handles,
                       .n_handles = turn->n_handles,
                       .text = turn->chat.text,
                       .costs = turn->costs,
                       .recent = turn->recent,
                       .n_recent = turn->n_recent,
                       .summary = turn->summary.text,
                       .summary_through_seq = turn->summary.covers_through_seq };
    Prepared got = { 0 };
    Err err = { 0 };

    if (!s->knowledge)
        return;
    if (prepare(s->knowledge, turn->arena, &ask, &got, &err)) {
        turn->prepared = got;
        turn->enriched = true;
        keep_summary(turn);
    } else {
        for (size_t i = 0; i < STAGE_COUNT; i++) {
            turn->prepared.stages[i].degraded = true;
            turn->prepared.stages[i].detail = str_dup(turn->arena, str_of(err.text));
        }
    }
    /* Not before: whether the words of this very turn are counted must not depend on who is
     * faster. */
    service_refresh(s);
    service_tidy(s);
}

/* -- The template of a first turn -- */

static bool find_template(Turn *turn, Template *ret, Err *err)
{
    const Homes *homes = turn->service->options.homes;
    AUTO(Store) *store = NULL;
    PolicyQuery query = { .policy = POLICY_BEST,
                          .task = turn->chat.text,
                          .request_of = policy_first_request };
    const Template *chosen;
    Template *all;
    size_t n;

    if (!str_eqz(turn->conversation.template, "auto"))
        return template_find(turn->arena, homes, turn->conversation.template, ret, err);
    store = store_open(homes, err);
    query.ctx = store;
    if (!store || !templates_load(turn->arena, homes, &all, &n, err) ||
        !policy_choose(turn->arena, all, n, &query, &chosen, err))
        return false;
    *ret = *chosen;
    return true;
}

/* The messages that the injection puts in front: as they are for a runtime with a list to put them
 * into, else fenced. */
static bool render_template(Turn *turn, const Template *t, Str *ret, Err *err)
{
    bool fenced = !turn->runtime->takes_messages;
    static const InjectOptions options = { .format = INJECT_OPENAI };
    AUTO_BUF out = BUF(LIMIT_TEMPLATE_BYTES);
    AUTO(JsonDoc) *empty = json_parse(STR("[]"), err);
    JsonWriter w = JSON_WRITER(&out, 0);

    if (!empty)
        return false;
    if (!inject_changes(inject_effect(json_root(empty), t, &options)))
        return true;
    if (fenced)
        buf_addz(&out, "Tool calls of an earlier session, as examples:\n```json\n");
    inject_write(&w, json_root(empty), t, &options);
    if (fenced)
        buf_addz(&out, "\n```\n");
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "template '%.*s' is too large", STR_FMT(t->name));
    *ret = str_dup(turn->arena, buf_str(&out));
    return true;
}

static void add_template(Turn *turn)
{
    Template t;
    Err err = { 0 };

    if (!turn_knows(turn) || !turn->conversation.template.n ||
        str_eqz(turn->conversation.template, "none") || turn->n_recent)
        return;
    if (!find_template(turn, &t, &err) ||
        !render_template(turn, &t, &turn->request.examples, &err)) {
        turn->no_template = str_dup(turn->arena, str_of(err.text));
        return;
    }
    turn->template = t.name;
    if (turn->request.examples.n && !template_count_use(turn->arena, &t, &err))
        log_warning("that template '%.*s' was used is not counted: %s", STR_FMT(t.name), err.text);
}

/* -- The request -- */

static void add_history(Turn *turn)
{
    RuntimeTurn *turns = ARENA_ARRAY(turn->arena, RuntimeTurn, turn->n_recent + 1);
    size_t bytes = 0, first = turn->enriched ? turn->prepared.recent_from : turn->n_recent;

    while (!turn->enriched && first > 0 &&
           turn->recent[first - 1].seq > turn->summary.covers_through_seq &&
           bytes + turn->recent[first - 1].content.n <= HISTORY_BYTES)
        bytes += turn->recent[--first].content.n;
    for (size_t i = first; i < turn->n_recent; i++)
        turns[turn->request.n_history++] =
            (RuntimeTurn){ .from_user = str_eqz(turn->recent[i].role, "user"),
                           .text = turn->recent[i].content,
                           .at = (double)turn->recent[i].created_ms / 1000 };
    turn->request.history = turns;
}

/* A summary is part of what was prepared; by itself it stands where nothing was. */
static Str context_of(Turn *turn)
{
    if (turn->prepared.text.n || !turn->summary.text.n)
        return turn->prepared.text;
    return str_printf(turn->arena, "The conversation so far, in short:\n```text\n%.*s\n```\n",
                      STR_FMT(turn->summary.text));
}

/* What a client wants to be kept to stands before all else, in its own words. */
static Str with_instructions(Turn *turn, Str context)
{
    if (!turn->conversation.instructions.n)
        return context;
    return str_printf(turn->arena, "%.*s\n\n%.*s", STR_FMT(turn->conversation.instructions),
                      STR_FMT(context));
}

/* The model of a conversation is meant for its own runtime. */
static Str model_of(Turn *turn)
{
    Err err;
    Str own = turn->conversation.default_runtime;

    if (turn->chat.model.n || service_runtime(turn->service, own, &err) != turn->runtime)
        return turn->chat.model;
    return turn->conversation.model;
}

/* A folder that is gone by now, or of another machine, is no reason to fail. */
static Str folder_of(Turn *turn)
{
    Str cwd = turn->conversation.cwd;

    return cwd.n && access(str_z(turn->arena, cwd), X_OK) == 0 ? cwd : STR("");
}

void turn_build_request(Turn *turn)
{
    RuntimeRequest *q = &turn->request;

    q->run_id = turn->run.id;
    q->conversation_id = turn->run.conversation_id;
    q->text = turn->chat.text;
    q->context = with_instructions(turn, context_of(turn));
    q->handle = turn->continuity.handle;
    q->model = model_of(turn);
    q->cwd = folder_of(turn);
    q->internal = turn->chat.internal;
    q->deadline_ms = turn->chat.deadline_ms;
    q->max_tokens = turn->chat.max_tokens;
    add_history(turn);
    add_template(turn);
}
