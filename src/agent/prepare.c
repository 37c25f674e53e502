/* What a turn is made of before a runtime sees it: the conversation so far, the richer context, the files,
 * what happened elsewhere, the template of a first turn. */
#include <unistd.h>

#include "agent/conversation.h"
#include "agent/service_inside.h"
#include "base/limits.h"
#include "base/log.h"
#include "templates/inject.h"
#include "templates/policy.h"
#include "text/utf8.h"

enum { HISTORY_BYTES = 96 << 10, GAP_TURN = 2000, GAP_NAMES = 128 };

/* -- from the store ---------------------------------------------------------------------------------- */

static bool load_files(Going *g, Runs *r, Err *err)
{
    Attachment *all;
    RuntimeFile *files;
    size_t n;

    if (!attachment_list(r, g->arena, g->run.conversation_id, STR_NONE, &all, &n, err))
        return false;
    files = ARENA_ARRAY(g->arena, RuntimeFile, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!str_eqz(all[i].kind, "file") || !all[i].message_id ||
            all[i].message_id != g->run.user_message_id)
            continue;
        files[g->request.n_files++] = (RuntimeFile){
            .id = all[i].id,
            .name = all[i].name,
            .mime = all[i].mime,
            .size = all[i].size,
            .path = str_join_path(g->arena, g->service->options.homes->data, all[i].path),
        };
    }
    g->request.files = files;
    return true;
}

/* Without the message of this very turn, and what a run that died said to it. */
static bool load_turns(Going *g, Runs *r, Err *err)
{
    int64_t own = g->run.user_message_id ? g->run.user_message_id : g->run.assistant_message_id;
    size_t n;

    if (!turns_recent(r, g->arena, g->run.conversation_id, 0, LIMIT_RUN_HISTORY + 2, &g->recent, &n,
                      err))
        return false;
    while (n && g->recent[n - 1].message_id >= own)
        n--;
    g->n_recent = n;
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
static size_t gap_begins(const Going *g, int64_t known)
{
    size_t room = LIMIT_RUN_GAP - GAP_NAMES, first = g->n_recent;

    while (first > 0 && g->recent[first - 1].seq > known) {
        size_t n = g->recent[first - 1].content.n;
        size_t cost = (n < GAP_TURN ? n : GAP_TURN) + GAP_NAMES;

        if (cost > room)
            break;
        room -= cost;
        first--;
    }
    return first;
}

/* A runtime that goes on from its own thread is told what was said to others since. */
static bool load_gap(Going *g, Runs *r, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_RUN_GAP);
    int64_t known = 0;
    size_t first;

    if (!g->continuity.generation)
        return true;
    if (!turns_known_to(r, g->run.conversation_id, str_of(g->runtime->name), &known, err))
        return false;
    first = gap_begins(g, known);
    if (first > 0 && g->recent[first - 1].seq > known)
        buf_addz(&out, "(earlier turns are left out)\n");
    for (size_t i = first; i < g->n_recent; i++)
        add_gap_turn(&out, &g->recent[i]);
    g->request.gap = str_dup(g->arena, buf_str(&out));
    return true;
}

/* What other programs call this conversation stands in their handles: there it is not looked for. Ours is the
 * words themselves. */
static bool load_handles(Going *g, Runs *r, Err *err)
{
    Continuity *all;
    size_t n;

    if (!continuity_list(r, g->arena, g->run.conversation_id, &all, &n, err))
        return false;
    g->handles = ARENA_ARRAY(g->arena, Str, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!str_is_one_of(all[i].runtime, "jarvis|native"))
            g->handles[g->n_handles++] = all[i].handle;
    return true;
}

static bool load_continuity(Going *g, Runs *r, Err *err)
{
    bool foreign;

    if (!continuity_of(r, g->arena, g->run.conversation_id, g->runtime, &g->continuity, &foreign,
                       err))
        return false;
    g->thread = g->continuity.runtime;
    g->lost = foreign && !g->continuity.generation;
    return true;
}

bool going_load(Going *g, Runs *r, Err *err)
{
    going_costs(g, r);
    return conversation_get(r, g->arena, g->run.conversation_id, &g->conversation, err) &&
           load_turns(g, r, err) && load_files(g, r, err) &&
           summary_get(r, g->arena, g->run.conversation_id, &g->summary, err) &&
           load_continuity(g, r, err) && load_gap(g, r, err) && load_handles(g, r, err);
}

/* -- richer ------------------------------------------------------------------------------------------ */

static void keep_summary(Going *g)
{
    Str model = setting_text(g->service->options.settings, SETTING_MEMORY_SUMMARY_MODEL);
    Err err = { 0 };
    Runs *r;
    Summary next = { .generation = g->summary.generation + 1,
                     .covers_through_seq = g->prepared.summary_through_seq,
                     .text = g->prepared.summary,
                     .source = STR("extractive") };

    if (!next.text.n)
        return;
    if (model.n) {
        going_summarise(g, model, next.covers_through_seq);
        return;
    }
    r = service_take(g->service, &err);
    if (r && summary_add(r, g->run.conversation_id, &next, &err))
        g->summary = next;
    else
        log_warning("a summary was not kept: %s", err.text);
    service_give(g->service, r);
}

void going_enrich(Going *g)
{
    Service *s = g->service;
    PrepareFn *prepare = s->options.prepare ? s->options.prepare : knowledge_prepare;
    PrepareAsk ask = { .conversation_id = g->run.conversation_id,
                       .branches = g->runtime->branches,
                       .knows = going_knows(g),
                       .memory = going_knows(g) ? g->conversation.memory : STR(""),
                       .handles = g->handles,
                       .n_handles = g->n_handles,
                       .text = g->wish.text,
                       .costs = g->costs,
                       .recent = g->recent,
                       .n_recent = g->n_recent,
                       .summary = g->summary.text,
                       .summary_through_seq = g->summary.covers_through_seq };
    Prepared got = { 0 };
    Err err = { 0 };

    if (!s->knowledge)
        return;
    if (prepare(s->knowledge, g->arena, &ask, &got, &err)) {
        g->prepared = got;
        g->enriched = true;
        keep_summary(g);
    } else {
        for (size_t i = 0; i < STAGE_COUNT; i++) {
            g->prepared.stages[i].degraded = true;
            g->prepared.stages[i].detail = str_dup(g->arena, str_of(err.text));
        }
    }
    /* Not before: whether the words of this very turn are counted must not depend on who is faster. */
    service_refresh(s);
    service_tidy(s);
}

/* -- the template of a first turn --------------------------------------------------------------------- */

static bool find_template(Going *g, Template *ret, Err *err)
{
    const Homes *homes = g->service->options.homes;
    AUTO(Store) *store = NULL;
    PolicyQuery query = { .policy = POLICY_BEST,
                          .task = g->wish.text,
                          .request_of = policy_first_request };
    const Template *chosen;
    Template *all;
    size_t n;

    if (!str_eqz(g->conversation.template, "auto"))
        return template_find(g->arena, homes, g->conversation.template, ret, err);
    store = store_open(homes, err);
    query.ctx = store;
    if (!store || !templates_load(g->arena, homes, &all, &n, err) ||
        !policy_choose(g->arena, all, n, &query, &chosen, err))
        return false;
    *ret = *chosen;
    return true;
}

/* The messages that the injection puts in front: as they are for a runtime with a list to put them into,
 * else fenced. */
static bool render_template(Going *g, const Template *t, Str *ret, Err *err)
{
    bool fenced = !g->runtime->takes_messages;
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
    *ret = str_dup(g->arena, buf_str(&out));
    return true;
}

static void add_template(Going *g)
{
    Template t;
    Err err = { 0 };

    if (!going_knows(g) || !g->conversation.template.n ||
        str_eqz(g->conversation.template, "none") || g->n_recent)
        return;
    if (!find_template(g, &t, &err) || !render_template(g, &t, &g->request.examples, &err)) {
        g->no_template = str_dup(g->arena, str_of(err.text));
        return;
    }
    g->template = t.name;
    if (g->request.examples.n && !template_count_use(g->arena, &t, &err))
        log_warning("that template '%.*s' was used is not counted: %s", STR_FMT(t.name), err.text);
}

/* -- the request ---------------------------------------------------------------------------------------- */

static void add_history(Going *g)
{
    RuntimeTurn *turns = ARENA_ARRAY(g->arena, RuntimeTurn, g->n_recent + 1);
    size_t bytes = 0, first = g->enriched ? g->prepared.recent_from : g->n_recent;

    while (!g->enriched && first > 0 && g->recent[first - 1].seq > g->summary.covers_through_seq &&
           bytes + g->recent[first - 1].content.n <= HISTORY_BYTES)
        bytes += g->recent[--first].content.n;
    for (size_t i = first; i < g->n_recent; i++)
        turns[g->request.n_history++] =
            (RuntimeTurn){ .from_user = str_eqz(g->recent[i].role, "user"),
                           .text = g->recent[i].content,
                           .at = (double)g->recent[i].created_ms / 1000 };
    g->request.history = turns;
}

/* A summary is part of what was prepared; by itself it stands where nothing was. */
static Str context_of(Going *g)
{
    if (g->prepared.text.n || !g->summary.text.n)
        return g->prepared.text;
    return str_printf(g->arena, "The conversation so far, in short:\n```text\n%.*s\n```\n",
                      STR_FMT(g->summary.text));
}

/* What a client wants to be kept to stands before all else, in its own words. */
static Str with_instructions(Going *g, Str context)
{
    if (!g->conversation.instructions.n)
        return context;
    return str_printf(g->arena, "%.*s\n\n%.*s", STR_FMT(g->conversation.instructions),
                      STR_FMT(context));
}

/* The model of a conversation is meant for its own runtime. */
static Str model_of(Going *g)
{
    Err err;
    Str own = g->conversation.default_runtime;

    if (g->wish.model.n || service_runtime(g->service, own, &err) != g->runtime)
        return g->wish.model;
    return g->conversation.model;
}

/* A folder that is gone by now, or of another machine, is no reason to fail. */
static Str folder_of(Going *g)
{
    Str cwd = g->conversation.cwd;

    return cwd.n && access(str_z(g->arena, cwd), X_OK) == 0 ? cwd : STR("");
}

void going_request(Going *g)
{
    RuntimeRequest *q = &g->request;

    q->run_id = g->run.id;
    q->conversation_id = g->run.conversation_id;
    q->text = g->wish.text;
    q->context = with_instructions(g, context_of(g));
    q->handle = g->continuity.handle;
    q->model = model_of(g);
    q->cwd = folder_of(g);
    q->internal = g->wish.internal;
    q->deadline_ms = g->wish.deadline_ms;
    q->max_tokens = g->wish.max_tokens;
    add_history(g);
    add_template(g);
}
