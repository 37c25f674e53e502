/* Sets of handles, and the turn's questions to them.
 *
 * A part that cannot be opened is missing in its set and tried anew with the next one that is made;
 * the others are of use all the same. What a turn is given depends on the request, the conversation
 * and the disk alone, so that two runtimes are told the same; what depends on the runtime (whether
 * its steps go at once) is in the metadata. */
#include "agent/knowledge.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent/answer.h"
#include "agent/knowledge_inside.h"
#include "agent/render.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/limits.h"
#include "base/log.h"
#include "recall/freshen.h"
#include "text/human.h"
#include "text/utf8.h"

enum {
    SHELVES = 8,
    STALE_MS = 10000,
    OFFLINE_MS = 5000,
    PAUSE_MS = 100,
    PASSAGES = 5,
    PASSAGE_CHARS = 700
};

struct Knowledge {
    const Homes *homes;
    const Settings *settings;
    atomic_bool stopping;
    pthread_cond_t updated;
    pthread_mutex_t lock; /* all below */
    Shelf *spare[SHELVES];
    size_t n_spare;
    bool updating, whole; /* the index: somebody is at it; nothing is missing in it */
    bool waited;          /* a turn has waited for the first update */
    int64_t looked_ms;
};

/* -- Sets of handles -- */

static Shelf *shelf_free(Shelf *s)
{
    if (!s)
        return NULL;
    recall_close(s->recall);
    catalogue_close(s->catalogue);
    skills_close(s->skills);
    brain_close(s->brain);
    arena_free(s->arena);
    return mem_free(s);
}

/* A home that was named is searched alone. */
static bool open_catalogue(Knowledge *k, Arena *a, Catalogue **ret, Err *err)
{
    CatalogueQuery query = { .homes = k->homes, .hermes = k->homes->primary->kind == HOME_GIVEN };

    if (!transcript_roots(a, NULL, NULL, &query.roots, err))
        return false;
    *ret = catalogue_open(&query, err);
    return *ret != NULL;
}

static Shelf *shelf_new(Knowledge *k)
{
    Shelf *s = mem_alloc(sizeof *s);
    Arena *a = s->arena = arena_new();

    if (open_catalogue(k, a, &s->catalogue, &s->no_history))
        s->recall = recall_open(catalogue_db(s->catalogue), &s->no_history);
    s->skills = skills_open(&(SkillPlaces){ .homes = k->homes }, &s->no_skills);
    s->brain = brain_open(brain_folder(a, k->settings, k->homes->data), &s->no_brain);
    return s;
}

Shelf *shelf_take(Knowledge *k)
{
    Shelf *s = NULL;

    pthread_mutex_lock(&k->lock);
    if (k->n_spare)
        s = k->spare[--k->n_spare];
    pthread_mutex_unlock(&k->lock);
    return s ? s : shelf_new(k);
}

void shelf_give(Knowledge *k, Shelf *s)
{
    bool whole = s->recall && s->skills && s->brain;

    pthread_mutex_lock(&k->lock);
    if (whole && k->n_spare < SHELVES) {
        k->spare[k->n_spare++] = s;
        s = NULL;
    }
    pthread_mutex_unlock(&k->lock);
    shelf_free(s);
}

const Homes *knowledge_homes(const Knowledge *k)
{
    return k->homes;
}

Knowledge *knowledge_new(const Homes *homes, const Settings *settings)
{
    Knowledge *k = mem_alloc(sizeof *k);

    k->homes = homes;
    k->settings = settings;
    pthread_mutex_init(&k->lock, NULL);
    cond_init(&k->updated);
    return k;
}

Knowledge *knowledge_free(Knowledge *k)
{
    if (!k)
        return NULL;
    for (size_t i = 0; i < k->n_spare; i++)
        shelf_free(k->spare[i]);
    pthread_cond_destroy(&k->updated);
    pthread_mutex_destroy(&k->lock);
    return mem_free(k);
}

void knowledge_stop(Knowledge *k)
{
    atomic_store(&k->stopping, true);
}

/* -- The search index -- */

typedef struct Patience {
    Knowledge *knowledge;
    int64_t until; /* monotonic ms; 0: as long as it takes */
} Patience;

static bool has_to_stop(void *ctx)
{
    const Patience *p = ctx;

    return atomic_load(&p->knowledge->stopping) || (p->until && clock_mono_ms() > p->until);
}

/* *ret_whole: nothing is missing in it; not where another process is still at it. */
static bool update_index(Knowledge *k, int64_t max_ms, bool *ret_whole, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Catalogue) *catalogue = NULL;
    AUTO(RecallIndex) *index = NULL;
    Patience patience = { k, max_ms ? clock_mono_ms() + max_ms : 0 };
    UpdateStats stats;

    if (!open_catalogue(k, a, &catalogue, err))
        return false;
    index = recall_index_open(catalogue_db(catalogue), err);
    if (!index || !recall_update(index, catalogue, k->homes, has_to_stop, &patience, &stats, err))
        return false;
    *ret_whole = !stats.busy;
    return true;
}

static bool begin_update(Knowledge *k)
{
    bool mine;

    pthread_mutex_lock(&k->lock);
    mine = !k->updating && !atomic_load(&k->stopping) &&
           (!k->whole || clock_mono_ms() - k->looked_ms > STALE_MS);
    k->updating = k->updating || mine;
    pthread_mutex_unlock(&k->lock);
    return mine;
}

static void update_if_stale(Knowledge *k, int64_t max_ms)
{
    bool whole = false;
    Err err;

    if (!begin_update(k))
        return;
    if (!update_index(k, max_ms, &whole, &err) && err.kind != ERR_INTERRUPTED)
        log_warning("the search index is not up to date: %s", err.text);
    pthread_mutex_lock(&k->lock);
    k->updating = false;
    k->whole = whole;
    k->looked_ms = clock_mono_ms();
    pthread_cond_broadcast(&k->updated);
    pthread_mutex_unlock(&k->lock);
}

void knowledge_refresh(Knowledge *k)
{
    update_if_stale(k, 0);
}

/* At most so long, for whoever is at it. */
static bool wait_a_little(Knowledge *k)
{
    bool whole;

    pthread_mutex_lock(&k->lock);
    if (!k->whole)
        (void)cond_wait_until(&k->updated, &k->lock, clock_mono_ms() + PAUSE_MS);
    whole = k->whole;
    pthread_mutex_unlock(&k->lock);
    return whole;
}

/* The first answer on a new machine is worth a moment. False: something is still missing. */
static bool wait_for_index(Knowledge *k, int64_t max_ms)
{
    int64_t until = clock_mono_ms() + max_ms;

    do
        update_if_stale(k, max_ms);
    while (!wait_a_little(k) && clock_mono_ms() < until && !atomic_load(&k->stopping));
    return wait_a_little(k);
}

/* The first turn of a process waits as a search does; later ones take what there is. */
static void wait_once(Knowledge *k)
{
    bool first;

    pthread_mutex_lock(&k->lock);
    first = !k->waited;
    k->waited = true;
    pthread_mutex_unlock(&k->lock);
    if (first)
        (void)wait_for_index(k, FRESHEN_MS);
}

/* -- A turn -- */

static const TalkTurn *talk_of(Arena *a, const PrepareAsk *ask)
{
    TalkTurn *turns = ARENA_ARRAY(a, TalkTurn, ask->n_recent + 1);

    for (size_t i = 0; i < ask->n_recent; i++)
        turns[i] = (TalkTurn){ .from_user = str_eqz(ask->recent[i].role, "user"),
                               .text = ask->recent[i].content,
                               .at = (double)ask->recent[i].created_ms / 1000 };
    return turns;
}

static size_t turns_in_summary(const PrepareAsk *ask)
{
    size_t n = 0;

    while (n < ask->n_recent && ask->recent[n].seq <= ask->summary_through_seq)
        n++;
    return n;
}

/* Of the default model, whoever answers: all of them are told the same. */
static size_t window_of(const Knowledge *k, Arena *a)
{
    ModelConfig config;
    Err none;

    return model_config(a, k->settings, &config, &none) ? (size_t)config.window : 0;
}

static ContextQuery query_of(Knowledge *k, Shelf *s, Arena *a, const PrepareAsk *ask)
{
    static const unsigned own_parts =
        1U << CONTEXT_SUMMARY | 1U << CONTEXT_GRAPH | 1U << CONTEXT_RECENT;
    size_t window = window_of(k, a);

    return (ContextQuery){
        .parts = ask->knows ? 0 : own_parts,
        .homes = k->homes,
        .catalogue = s->recall ? s->catalogue : NULL,
        .recall = s->recall,
        .skills = s->skills,
        .brain = s->brain,
        .text = ask->text,
        .conversation_id = ask->conversation_id,
        .own_ids = ask->handles,
        .n_own_ids = ask->n_handles,
        .turns = talk_of(a, ask),
        .n_turns = ask->n_recent,
        .summary = ask->summary,
        .summary_upto = turns_in_summary(ask),
        .window = window,
        .budget = window && window / 3 < CONTEXT_TOKENS ? window / 3 : CONTEXT_TOKENS,
        .memory_snapshot = ask->memory,
        .max_ms = LIMIT_CONTEXT_MS,
        /* The attachment is the same for all: what could be done at once where somebody can. */
        .graph = { .parallel = true, .seconds = ask->costs },
    };
}

static Str put_json(Arena *a, const ContextBuilt *built, void (*put)(JsonWriter *, const void *))
{
    AUTO_BUF out = BUF(LIMIT_CONTEXT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    put(&w, built);
    return str_dup(a, buf_str(&out));
}

static void put_counts(JsonWriter *w, const void *built)
{
    context_put_counts(w, built);
}

static void put_skills(JsonWriter *w, const void *built)
{
    context_put_skills(w, &((const ContextBuilt *)built)->skills);
}

static void put_graph(JsonWriter *w, const void *built)
{
    graph_put(w, ((const ContextBuilt *)built)->graph);
}

/* What this runtime makes of the steps. */
static Str decision_of(Arena *a, const PrepareAsk *ask)
{
    GraphOptions options = { .seconds = ask->costs,
                             .parallel = ask->branches > 1,
                             .max_parallel = (size_t)(ask->branches > 1 ? ask->branches : 1) };
    const TaskGraph *g = graph_build(a, ask->text, &options);

    return str_printf(a,
                      "{\"nodes\":%zu,\"edges\":%zu,\"decision\":\"%s\",\"score\":%.2f,"
                      "\"waves\":%zu}",
                      g->n, g->n_edges, g->is_parallel ? "parallel" : "serial", g->score, g->waves);
}

static void add_trouble(Arena *a, Prepared *ret, ServiceStage stage, const char *what, Str why)
{
    Str *detail = &ret->stages[stage].detail;

    ret->stages[stage].degraded = true;
    *detail = str_printf(a, "%.*s%s%s: %.*s", STR_FMT(*detail), detail->n ? "; " : "", what,
                         STR_FMT(why));
}

static void tell_trouble(Arena *a, const Shelf *s, const ContextBuilt *built, Prepared *ret)
{
    for (int i = 0; i <= CONTEXT_BRAIN; i++)
        if (built->parts[i].degraded)
            add_trouble(a, ret, STAGE_CONTEXT, context_part_name((ContextPart)i),
                        i == CONTEXT_RECALLED && !s->recall ? str_of(s->no_history.text)
                                                            : built->parts[i].reason);
    if (!s->brain)
        add_trouble(a, ret, STAGE_CONTEXT, "brain", str_of(s->no_brain.text));
    if (!s->skills || built->parts[CONTEXT_SKILLS].degraded)
        add_trouble(a, ret, STAGE_SKILLS, "skills",
                    s->skills ? built->parts[CONTEXT_SKILLS].reason : str_of(s->no_skills.text));
}

bool knowledge_prepare(void *knowledge, Arena *a, const PrepareAsk *ask, Prepared *ret, Err *err)
{
    Knowledge *k = knowledge;
    ContextQuery query;
    ContextBuilt built;
    Shelf *s;

    (void)err;
    wait_once(k);
    s = shelf_take(k);
    query = query_of(k, s, a, ask);
    context_build(a, &query, &built);
    *ret = (Prepared){ .text = built.text,
                       .receipt = context_receipts_json(a, &built),
                       .graph = put_json(a, &built, put_graph),
                       .recent_from = ask->n_recent - built.n_recent };
    ret->stages[STAGE_CONTEXT].json = put_json(a, &built, put_counts);
    ret->stages[STAGE_SKILLS].json = put_json(a, &built, put_skills);
    ret->stages[STAGE_GRAPH].json = decision_of(a, ask);
    if (built.summary_is_new && built.summary_upto > 0) {
        ret->summary = built.summary;
        ret->summary_through_seq = ask->recent[built.summary_upto - 1].seq;
    }
    tell_trouble(a, s, &built, ret);
    shelf_give(k, s);
    return true;
}

Str knowledge_memory(Knowledge *k, Arena *a)
{
    MemorySnapshot now;
    Err err;

    return memory_snapshot(a, k->homes, &now, &err) ? memory_snapshot_json(a, &now) : STR("");
}

/* -- The offline runtime -- */

/* What was asked is followed by what came back. */
static void add_passage(Arena *a, Buf *out, const Recalled *r, size_t number)
{
    Str when = str_head(human_iso(a, r->at), 10);
    bool asked = r->role == DOC_USER;

    buf_addf(out, "%zu. %.*s, %s, in ", number, STR_FMT(when), asked ? "you" : "the agent");
    answer_link(out, r->title, r->session);
    buf_addz(out, "\n\n");
    render_quote(out, r->text, PASSAGE_CHARS);
    if (asked && r->after.n) {
        buf_addz(out, "\nThe agent:\n\n");
        render_quote(out, r->after, PASSAGE_CHARS);
    }
    buf_addc(out, '\n');
}

/* How far the index is; not known if it cannot be opened. */
static void add_incomplete(Knowledge *k, Shelf *s, Arena *a, Buf *out)
{
    if (s->recall)
        buf_addf(out, "\n%.*s\n",
                 STR_FMT(index_note(a, recall_percent(catalogue_db(s->catalogue), k->homes))));
}

/* Passages that a search finds, each once. */
static bool add_passages(Knowledge *k, Shelf *s, Arena *a, const AnswerSource *source, Str text,
                         Buf *out, Err *err)
{
    PrepareAsk ask = { .conversation_id = source->conversation_id, .text = text, .knows = true };
    ContextQuery query = query_of(k, s, a, &ask);
    Recalled *hits;
    size_t n;

    if (!context_recall(a, &query, PASSAGES, &hits, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        add_passage(a, out, &hits[i], i + 1);
    return true;
}

/* The conversation at hand first, then the answer from data, then what a search finds. */
static bool answer(Knowledge *k, Shelf *s, Arena *a, const AnswerSource *source, Buf *out, Err *err)
{
    Question q = question_read(a, source->text, source->now);
    bool found = false;
    Str text;

    /* Without a period "what did we do?" means this conversation, if there is one. */
    if (q.intent == INTENT_SESSION || (q.intent == INTENT_WORKED && !q.has_period && !q.topic.n)) {
        Question own = { .intent = INTENT_SESSION };

        if (!answer_question(a, source, &own, &text, &found, err))
            return false;
        buf_add(out, text);
    }
    if (!found && q.intent != INTENT_NONE && q.intent != INTENT_SESSION) {
        if (!answer_question(a, source, &q, &text, &found, err))
            return false;
        buf_addf(out, "%.*s\n\n", STR_FMT(str_trim(text)));
    }
    if (found)
        return true;
    if (q.intent == INTENT_NONE) {
        if (!answer_from_own(a, source, &text, err))
            return false;
        buf_add(out, text);
    }
    return add_passages(k, s, a, source, q.topic.n ? q.topic : source->text, out, err);
}

bool knowledge_recall(void *knowledge, Arena *a, Str question, Str conversation_id, Str *ret,
                      Err *err)
{
    Knowledge *k = knowledge;
    AUTO_BUF out = BUF(KIB(64));
    Shelf *s;
    bool ok, whole;

    whole = wait_for_index(k, OFFLINE_MS);
    s = shelf_take(k);
    if (s->recall) {
        AnswerSource source = { .homes = k->homes,
                                .catalogue = s->catalogue,
                                .recall = s->recall,
                                .conversation_id = conversation_id,
                                .text = question,
                                .now = clock_wall() };

        ok = answer(k, s, a, &source, &out, err);
    } else {
        ok = err_set(err, ERR_IO, "%s", s->no_history.text);
    }
    if (!whole)
        add_incomplete(k, s, a, &out);
    *ret = ok ? str_dup(a, str_trim(buf_str(&out))) : STR("");
    shelf_give(k, s);
    return ok;
}

/* -- Without the index -- */

/* What a conversation itself says about a question. Neither the index nor another session is
 * read. */

bool knowledge_recall_own(void *knowledge, Arena *a, Str question, Str conversation_id, Str *ret,
                          Err *err)
{
    AnswerSource source = { .homes = knowledge_homes(knowledge),
                            .conversation_id = conversation_id,
                            .text = question,
                            .now = clock_wall() };
    Question q = question_read(a, question, source.now), own = { .intent = INTENT_SESSION };
    bool found = true, ok;
    Str text = STR("");

    if (q.intent == INTENT_SESSION || (q.intent == INTENT_WORKED && !q.has_period && !q.topic.n))
        ok = answer_question(a, &source, &own, &text, &found, err);
    else
        ok = answer_from_own(a, &source, &text, err);
    *ret = ok && found ? str_trim(text) : STR("");
    return ok;
}
