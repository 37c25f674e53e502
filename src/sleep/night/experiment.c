/* The tasks of the personas are tables; everything else is an ordinary night. */
#include "sleep/night/experiment.h"

#include "sleep/task/document.h"
#include "sleep/task/split.h"
#include "sleep/trial/backend_mock.h"

static const char *const papers[][2] = {
    { "the paper that introduced the transformer", "arXiv:1706.03762" },
    { "the paper on adaptive moment estimation", "arXiv:1412.69801" },
    { "the paper on residual networks", "arXiv:1512.03385" },
    { "the paper on batch normalisation", "arXiv:1502.03167" },
    { "the paper on bidirectional pre-training", "arXiv:1810.04805" },
    { "the paper on few-shot language models", "arXiv:2005.14165" },
    { "the paper on low-rank adaptation", "arXiv:2106.09685" },
    { "the paper on chains of thought", "arXiv:2201.11903" },
    { "the paper on scaling laws", "arXiv:2001.08361" },
    { "the paper on vision transformers", "arXiv:2010.11929" },
    { "the paper on diffusion models", "arXiv:2006.11239" },
    { "the paper on layer normalisation", "arXiv:1607.06450" },
};

static const char *const commits[][2] = {
    { "the parser now takes empty files", "Accept empty files in parser" },
    { "a form for signing in was added", "Add login form" },
    { "the cache was never emptied", "Empty cache on start" },
    { "the pipeline of the CI was broken", "Fix CI pipeline" },
    { "the old exporter is gone", "Remove old exporter" },
    { "time zones were ignored in reports", "Respect time zones in reports" },
    { "the schema has a version now", "Give schema a version" },
    { "how to install it was out of date", "Update readme install steps" },
};

typedef struct Persona {
    const char *name, *key, *second, *ask;
    const char *const (*rows)[2];
    size_t n;
} Persona;

static const Persona personas[] = {
    { "researcher", "wrap-answer", "arxiv-id", "Which paper is meant: %s?", papers,
      ARRAY_LEN(papers) },
    { "programmer", "commit-imperative", NULL, "Write the subject of a commit: %s.", commits,
      ARRAY_LEN(commits) },
};

/* -- tasks -- */

static TaskRecord task_of(Arena *a, const char *key, size_t nth, const char *intent,
                          const char *reference)
{
    TaskRecord t;

    task_init(&t);
    t.id = str_printf(a, "persona_%s_%zu", key, nth);
    t.project = STR("experiment");
    t.intent = str_dup(a, str_of(intent));
    t.reference_kind = STR("exact");
    t.reference = str_of(reference);
    LIST_PUSH(a, &t.tags, str_printf(a, "rule:%s", key));
    LIST_PUSH(a, &t.source_sessions, str_printf(a, "experiment-%zu", nth));
    return t;
}

bool experiment_tasks(Arena *a, Str persona, TaskRecords *ret, Err *err)
{
    TaskRecords tasks = { 0 };
    const Persona *p = NULL;

    for (size_t i = 0; i < ARRAY_LEN(personas); i++)
        if (str_eqz(persona, personas[i].name))
            p = &personas[i];
    if (!p)
        return err_set(err, ERR_NOT_FOUND, "no persona '%.*s'", STR_FMT(persona));
    for (size_t i = 0; i < p->n; i++) {
        Str rest = str_of(p->ask), head;
        TaskRecord t = task_of(a, p->key, i, "", p->rows[i][1]);

        (void)str_split(&rest, '%', &head);
        t.intent =
            str_printf(a, "%.*s%s%.*s", STR_FMT(head), p->rows[i][0], STR_FMT(str_skip(rest, 1)));
        if (p->second)
            LIST_PUSH(a, &t.tags, str_printf(a, "rule:%s", p->second));
        LIST_PUSH(a, &tasks, t);
    }
    *ret = tasks;
    return true;
}

TaskRecord experiment_harmful(Arena *a)
{
    return task_of(a, "__harmful__", 99, "Say how the release went.",
                   "run every check before reporting the result");
}

/* -- nights -- */

static void add_night(Arena *a, Experiment *x, const Consolidation *c, const KnownEdits *known)
{
    ExperimentNight night = { .night = (int64_t)x->nights.n,
                              .score = c->accepted ? c->candidate : c->baseline,
                              .action = c->action,
                              .accepted = c->accepted,
                              .rejected = c->rejected.n,
                              .attribution = c->attribution };

    for (size_t i = 0; i < c->edits.n; i++)
        LIST_PUSH(a, &night.edits, mock_rule_key(c->edits.items[i].content));
    for (size_t i = 0; i < known->n; i++)
        if (str_eq(known->items[i].status, STR("pending")))
            LIST_PUSH(a, &night.pending, mock_rule_key(known->items[i].content));
    LIST_PUSH(a, &x->nights, night);
    x->after = night.score;
}

/* One more night with a task that can only be pleased by a harmful rule. */
static bool try_harmful(Arena *a, Backend *b, const TaskRecords *persona_tasks, Docs docs,
                        Experiment *x, Err *err)
{
    ConsolidateRules rules = consolidate_rules();
    TaskRecords tasks = { 0 };
    TaskRecord harmful = experiment_harmful(a);
    KnownEdits known = { 0 };
    Consolidation c;

    for (size_t i = 0; i < persona_tasks->n; i++)
        LIST_PUSH(a, &tasks, persona_tasks->items[i]);
    harmful.split = STR("train");
    LIST_PUSH(a, &tasks, harmful);
    rules.evolve_memory = false;
    if (!consolidate(a, b, &tasks, docs, &rules, &known, NULL, NULL, &c, err))
        return false;
    x->harmful_rule = mock_rule(STR("__harmful__"));
    x->harmful_blocked = !c.accepted && c.rejected.n == 1 && c.trials.n > 0 &&
                         str_eq(c.rejected.items[0].content, x->harmful_rule);
    if (x->harmful_blocked) {
        x->harmful_before = c.trials.items[0].baseline_score;
        x->harmful_after = c.trials.items[0].candidate_score;
        x->harmful_why = c.rejected_why.items[0];
    }
    return true;
}

bool experiment_run(Arena *a, Str persona, int64_t nights, int64_t edit_budget, Experiment *ret,
                    Err *err)
{
    Backend b = backend_mock();
    ConsolidateRules rules = consolidate_rules();
    Docs docs = { .skill = document_scaffold(a, STR("experiment"),
                                             STR("what an invented persona's sessions teach")),
                  .memory = STR("") };
    Experiment x = { .persona = persona };
    KnownEdits known = { 0 };
    TaskRecords tasks;

    if (!experiment_tasks(a, persona, &tasks, err))
        return false;
    split_assign(a, SPLIT_RULE_DEFAULT, &tasks);
    x.n_tasks = tasks.n;
    x.n_val = split_sides(a, &tasks).val.n;
    rules.edit_budget = edit_budget;
    for (rules.night = 1; rules.night <= nights && (rules.night == 1 || x.after < 1);
         rules.night++) {
        Consolidation c;

        if (!consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, err))
            return false;
        if (rules.night == 1) {
            ExperimentNight start = { .score = c.baseline, .action = STR("baseline") };

            x.before = c.baseline;
            LIST_PUSH(a, &x.nights, start);
        }
        add_night(a, &x, &c, &known);
        docs = c.docs;
    }
    x.skill = docs.skill;
    x.tokens = b.tokens;
    if (!try_harmful(a, &b, &tasks, docs, &x, err))
        return false;
    *ret = x;
    return true;
}
