/* Two passes: the first reads every session once and keeps a few numbers of it, the second goes
 * through the candidates in order and reads again the few that may become templates. */
#include "templates/harvest.h"

#include <math.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "templates/similar.h"
#include "templates/study.h"
#include "text/human.h"
#include "text/outcome.h"

enum {
    MIN_CALLS = 3,     /* fewer calls that worked show nothing */
    MAX_READ = 500,    /* candidates that are read again */
    NEAR_PERCENT = 80, /* similarity from which two templates are nearly one */
};

/* -- one session -- */

static const char *why_not(Arena *a, const Message *messages, size_t n, size_t first_call,
                           Outcome last, size_t good)
{
    static const char *const last_result[] = {
#define X(name, text) [name] = "its last tool result shows a failure: " text,
        OUTCOMES(X)
#undef X
    };

    if (last != OUTCOME_OK)
        return last_result[last];
    /* The first message is the request itself: only what is said after some work can be blame. */
    while (n > first_call && !str_eqz(messages[n - 1].role, "user"))
        n--;
    if (n > first_call && outcome_is_complaint(message_text(a, messages[n - 1].content)))
        return "its last user message is a complaint";
    return good < MIN_CALLS ? "fewer than three calls that worked" : NULL;
}

HarvestScore harvest_score(Arena *a, const Message *messages, size_t n)
{
    HarvestScore score = { .type = TASK_MIXED };
    size_t n_exchanges, n_kept = 0, last_at = 0, max_kept = EXTRACT_DEFAULTS.max_examples;
    Outcome last = OUTCOME_OK;
    Exchange *exchanges;
    Str *tools, *kept;

    exchanges_pair(a, messages, n, &exchanges, &n_exchanges);
    if (!n_exchanges) {
        score.reason = STR("it has no tool calls");
        return score;
    }
    tools = ARENA_ARRAY(a, Str, n_exchanges);
    kept = ARENA_ARRAY(a, Str, max_kept);
    for (size_t i = 0; i < n_exchanges; i++) {
        const Exchange *x = &exchanges[i];
        Outcome outcome =
            x->has_result ? extract_outcome(x, message_text(a, x->content)) : OUTCOME_OK;

        if (outcome == OUTCOME_OK && n_kept < max_kept &&
            x->message < EXTRACT_DEFAULTS.max_messages)
            kept[n_kept++] = x->call.name;
        if (!x->has_result)
            continue;
        score.calls++;
        if (outcome == OUTCOME_OK) {
            size_t seen = 0;

            score.good++;
            while (seen < score.tools && !str_eq(tools[seen], x->call.name))
                seen++;
            if (seen == score.tools)
                tools[score.tools++] = x->call.name;
        }
        if (x->result >= last_at) {
            last_at = x->result;
            last = outcome;
        }
    }
    score.type = tasktype_of(kept, n_kept);
    score.reason = str_of(why_not(a, messages, n, exchanges[0].message, last, score.good));
    return score;
}

/* -- all sessions -- */

typedef struct Candidate {
    Str session;
    HarvestScore score;
    double last_active;
    Str reason; /* why it is none; p NULL: it is one */
} Candidate;

typedef struct Search {
    const Past *past;
    Arena *arena; /* what is kept */
    const Homes *homes;
    Template *templates; /* that were there before */
    size_t n_templates;
    WordBag *bags; /* of these, and of those made now */
    Str *bag_names;
    size_t n_bags;
    Candidate *all;
    size_t n, cap;
} Search;

/* The template that was made from this lineage already. */
static const Template *template_of(const Search *s, const Lineage *lineage)
{
    for (size_t i = 0; i < s->n_templates; i++)
        for (size_t p = 0; p < lineage->n_parts; p++)
            if (str_eq(s->templates[i].source_session_id, lineage->parts[p].id))
                return &s->templates[i];
    return NULL;
}

/* Raise the number when the rules of judging or of scoring change. */
static const Str topic = STR_INIT("harvest 1");

/* "calls good tools type reason" */
static bool score_parse(Str text, HarvestScore *ret)
{
    int64_t n[4];
    Str word;

    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        if (!str_split(&text, ' ', &word) ||
            !str_to_int(word, 0, i < 3 ? INT32_MAX : TASK_TYPE_COUNT - 1, &n[i]))
            return false;
    *ret = (HarvestScore){ .calls = (size_t)n[0],
                           .good = (size_t)n[1],
                           .tools = (size_t)n[2],
                           .type = (TaskType)n[3],
                           .reason = text.n ? text : STR_NONE };
    return true;
}

static bool mark_of(const Search *s, Arena *scratch, const HistoryItem *item, Str *ret, Err *err)
{
    AUTO_BUF marks = BUF(LIMIT_OUTPUT_BYTES);

    for (size_t i = 0; i < item->lineage.n_parts; i++) {
        Str mark;

        if (!past_mark(s->past, scratch, item, i, &mark, err))
            return false;
        buf_addf(&marks, "%.*s ", STR_FMT(mark));
    }
    *ret = str_dup(scratch, buf_str(&marks));
    return true;
}

static bool score_of(Search *s, Arena *scratch, const HistoryItem *item, HarvestScore *ret,
                     Err *err)
{
    Str home = past_home(s->past, item), id = item->lineage.tip.id, mark, kept;
    Message *messages;
    size_t n;

    if (!mark_of(s, scratch, item, &mark, err))
        return false;
    if (index_get(s->past->index, scratch, topic, home, id, mark, &kept) && score_parse(kept, ret))
        return true;
    if (!history_load(s->past->history, scratch, item, 0, &messages, &n, err))
        return false;
    *ret = harvest_score(scratch, messages, n);
    index_put(s->past->index, topic, home, id, mark,
              str_printf(scratch, "%zu %zu %zu %d %.*s", ret->calls, ret->good, ret->tools,
                         (int)ret->type, STR_FMT(ret->reason)));
    return true;
}

static bool add_candidate(void *ctx, Arena *scratch, const HistoryItem *item, Err *err)
{
    Search *s = ctx;
    Candidate c = { .session = str_dup(s->arena, item->lineage.tip.id),
                    .last_active = item->lineage.last_active };
    const Template *made = template_of(s, &item->lineage);

    if (!score_of(s, scratch, item, &c.score, err)) {
        if (!item->is_file)
            return false;
        c.score.reason = str_of(err->text); /* a file that cannot be read hides no other */
    }
    if (made)
        c.reason = str_printf(s->arena, "template '%.*s' was made from it", STR_FMT(made->name));
    else if (c.score.reason.p)
        c.reason = str_dup(s->arena, c.score.reason);
    ARENA_PUSH(s->arena, s->all, s->n, s->cap, c);
    return true;
}

/* -- order -- */

/* In steps of five per cent, so that tools and recency have a say among equals. */
static double quality(const Candidate *c)
{
    return floor(study_share(c->score.good, c->score.calls).low * 20);
}

/* Candidates by type and worth; the others behind them, newest first. */
static int by_worth(const void *left, const void *right)
{
    const Candidate *a = left, *b = right;
    bool a_out = a->reason.p, b_out = b->reason.p;

    if (a_out != b_out)
        return a_out - b_out;
    if (!a_out && a->score.type != b->score.type)
        return a->score.type < b->score.type ? -1 : 1;
    if (!a_out && quality(a) != quality(b))
        return quality(a) > quality(b) ? -1 : 1;
    if (!a_out && a->score.tools != b->score.tools)
        return a->score.tools > b->score.tools ? -1 : 1;
    if (a->last_active != b->last_active)
        return a->last_active > b->last_active ? -1 : 1;
    return str_cmp(a->session, b->session);
}

/* -- making templates -- */

static WordBag bag_of(Arena *a, const Template *t)
{
    AUTO_BUF text = BUF(LIMIT_OUTPUT_BYTES);

    for (size_t i = 0; i < t->n_examples; i++) {
        buf_add(&text, t->examples[i].tool);
        buf_addc(&text, ' ');
        buf_add(&text, t->examples[i].arguments);
        buf_addc(&text, '\n');
    }
    return wordbag_of(a, buf_str(&text));
}

static void remember(Search *s, const Template *t)
{
    s->bags[s->n_bags] = bag_of(s->arena, t);
    s->bag_names[s->n_bags++] = t->name;
}

static bool is_near(Search *s, const Template *t, Str *ret_reason)
{
    WordBag bag = bag_of(s->arena, t);

    for (size_t i = 0; i < s->n_bags; i++) {
        int percent = (int)(wordbag_similarity(&bag, &s->bags[i]) * 100 + 0.5);

        if (percent >= NEAR_PERCENT) {
            *ret_reason = str_printf(s->arena, "nearly the same calls as template '%.*s' (%d %%)",
                                     STR_FMT(s->bag_names[i]), percent);
            return true;
        }
    }
    return false;
}

/* Makes the template, or gives the candidate the reason why not. */
static bool try_candidate(Search *s, Candidate *c, bool dry_run, Harvest *ret, Err *err)
{
    AUTO(Arena) *scratch = arena_new();
    ExtractOptions options = EXTRACT_DEFAULTS; /* what was judged is the whole chain */
    HarvestItem item = { .session = c->session };
    Template t;
    Extract x;
    Str ago;

    options.chain = true;
    if (!extract_template(s->past->history, scratch, c->session, &options, &t, &x, err)) {
        if (err->kind != ERR_INVALID && err->kind != ERR_NOT_FOUND && err->kind != ERR_CONFLICT)
            return false;
        c->reason = str_dup(s->arena, str_of(err->text)); /* it went away, or changed meanwhile */
        return true;
    }
    if (is_near(s, &t, &c->reason))
        return true;
    t.name = template_name_default(scratch, &t);
    if (!dry_run && !template_save_unnamed(scratch, s->homes, &t, err))
        return false;
    t.name = str_dup(s->arena, t.name);
    remember(s, &t);
    item.type = t.type;
    item.template_name = t.name;
    item.examples = t.n_examples;
    ago = human_ago(s->arena, c->last_active, clock_wall());
    item.reason =
        str_printf(s->arena, "%zu of %zu calls worked, %zu tool%s, last active %.*s", c->score.good,
                   c->score.calls, c->score.tools, c->score.tools == 1 ? "" : "s", STR_FMT(ago));
    c->reason = item.reason;
    ret->created[ret->n_created++] = item;
    c->session.n = 0; /* taken: not among those left out */
    return true;
}

/* The first of each type, then the second of each, until there are enough. */
static bool take_best(Search *s, const HarvestOptions *options, Harvest *ret, Err *err)
{
    size_t next[TASK_TYPE_COUNT] = { 0 }, read = 0;
    bool any = true;

    while (any && ret->n_created < options->limit && read < MAX_READ) {
        any = false;
        for (TaskType t = 0; t < TASK_TYPE_COUNT && ret->n_created < options->limit; t++) {
            while (next[t] < s->n && (s->all[next[t]].reason.p || s->all[next[t]].score.type != t))
                next[t]++;
            if (next[t] == s->n)
                continue;
            any = true;
            read++;
            if (!try_candidate(s, &s->all[next[t]], options->dry_run, ret, err))
                return false;
        }
    }
    return true;
}

/* Near-duplicates and good ones that found no room first: they are what a reader asks about. */
static void list_left_out(Search *s, size_t limit, Harvest *ret)
{
    Str no_room = ret->n_created >= limit
                      ? str_printf(s->arena, "good, but --limit %zu was reached before it", limit)
                      : str_printf(s->arena, "good, but behind the first %d", MAX_READ);

    ret->left_out = ARENA_ARRAY(s->arena, HarvestItem, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        const Candidate *c = &s->all[i];
        HarvestItem item = { .session = c->session,
                             .type = c->score.type,
                             .reason = c->reason.p ? c->reason : no_room };

        if (c->session.n)
            ret->left_out[ret->n_left_out++] = item;
    }
}

bool harvest_run(const Past *past, Arena *a, const Homes *homes, const HarvestOptions *options,
                 Harvest *ret, Err *err)
{
    Search s = { .past = past, .arena = a, .homes = homes };
    Harvest h = { 0 };

    if (!templates_load(a, homes, &s.templates, &s.n_templates, err) ||
        !past_each(past, "sessions looked at", add_candidate, &s, err))
        return false;
    if (s.n)
        qsort(s.all, s.n, sizeof *s.all, by_worth);
    h.sessions = s.n;
    h.created = ARENA_ARRAY(a, HarvestItem, options->limit + 1);
    s.bags = ARENA_ARRAY(a, WordBag, s.n_templates + options->limit + 1);
    s.bag_names = ARENA_ARRAY(a, Str, s.n_templates + options->limit + 1);
    for (size_t i = 0; i < s.n_templates; i++)
        remember(&s, &s.templates[i]);
    if (!take_best(&s, options, &h, err))
        return false;
    list_left_out(&s, options->limit, &h);
    *ret = h;
    return true;
}
