/* Which tasks a night is about, and how that is written down. */
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/adoption/stage.h"
#include "sleep/mining/dream.h"
#include "sleep/mining/mine_model.h"
#include "sleep/night/night_inside.h"
#include "text/human.h"
#include "text/sha256.h"

enum { INSTANCES = 4 }; /* wordings of one task: what is learned from some is tried on others */

/* -- from a file that was reviewed -- */

/* All that is wrong with the judge, on one line; what is only odd is said as well. */
static bool check_judge(Arena *a, const TaskRecord *task, Buf *wrong)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(task->judge, &err);
    JudgeReview review = { 0 };

    if (doc)
        review = judge_review(a, json_root(doc));
    else
        LIST_PUSH(a, &review.errors, str_dup(a, str_of(err.text)));
    for (size_t i = 0; i < review.errors.n; i++)
        buf_addf(wrong, "%stask '%.*s': %.*s", wrong->n ? "; " : "", STR_FMT(task->id),
                 STR_FMT(review.errors.items[i]));
    for (size_t i = 0; i < review.warnings.n; i++)
        log_warning("task '%.*s': %.*s", STR_FMT(task->id), STR_FMT(review.warnings.items[i]));
    return !review.errors.n;
}

static JsonDoc *open_tasks(Arena *a, const char *path, Err *err)
{
    JsonDoc *doc;
    Str text;

    if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
        return NULL;
    doc = json_parse(text, err);
    if (!doc)
        (void)err_wrap(err, "'%s'", path);
    return doc;
}

bool night_tasks_target(Arena *a, const char *tasks_file, Str *ret, Err *err)
{
    AUTO(JsonDoc) *doc = open_tasks(a, tasks_file, err);

    if (doc)
        *ret = str_dup(a, json_str(json_get(json_root(doc), STR("target_skill_path"))));
    return doc != NULL;
}

static bool read_tasks(Arena *a, const NightOptions *o, const Backend *b, NightPlan *ret, Err *err)
{
    AUTO(JsonDoc) *doc = open_tasks(a, o->tasks_file, err);
    AUTO_BUF wrong = BUF(KIB(16));
    bool has_split = false, ok = true;
    Json list;

    if (!doc)
        return false;
    list = json_root(doc);
    if (json_type(list) == JSON_OBJECT) {
        (void)json_bool(json_get(list, STR("reviewed")), &ret->reviewed);
        list = json_get(list, STR("tasks"));
    }
    if (!tasks_read(a, list, &ret->tasks, err) || !split_settle(&ret->tasks, err))
        return err_wrap(err, "'%s'", o->tasks_file);
    if (!ret->reviewed && strcmp(b->name, "mock") != 0)
        return err_set(err, ERR_USAGE,
                       "'%s' has not been reviewed; check it and set \"reviewed\": true",
                       o->tasks_file);
    for (size_t i = 0; i < ret->tasks.n; i++)
        has_split |= !str_eqz(ret->tasks.items[i].split, "train");
    if (!has_split)
        split_assign(a, o->split, &ret->tasks);
    for (size_t i = 0; i < ret->tasks.n; i++)
        ok &= check_judge(a, &ret->tasks.items[i], &wrong);
    return ok || err_set(err, ERR_INVALID, "'%s': %.*s", o->tasks_file, STR_FMT(buf_str(&wrong)));
}

/* -- from the history -- */

/* What is new is what tonight is about, but whether it comes back is told by all sessions. New is
 * what went on since the last night, and what no night has had: there may have been too much for
 * one. */
static void keep_new(Arena *a, const SleepHarvest *h, const StateProject *past, TaskRecords *tasks)
{
    StrList fresh = { 0 };
    size_t n = 0;

    if (!past || !past->last_harvest.n)
        return;
    for (size_t i = 0; i < h->n; i++)
        if (str_cmp(trace_digest(h->traces[i])->ended_at, past->last_harvest) >= 0)
            LIST_PUSH(a, &fresh, trace_digest(h->traces[i])->session_id);
    for (size_t i = 0; i < tasks->n; i++) {
        const TaskRecord *task = &tasks->items[i];
        bool is_new = !state_had(past, task->derived_from.n ? task->derived_from : task->id);

        for (size_t k = 0; k < task->source_sessions.n && !is_new; k++)
            is_new = strs_have(&fresh, task->source_sessions.items[k]);
        if (is_new)
            tasks->items[n++] = *task;
    }
    tasks->n = n;
}

/* What nobody ever insisted on cannot be learned from without a model that reads. */
static void keep_judged(TaskRecords *tasks, bool by_rules_alone)
{
    size_t n = 0;

    for (size_t i = 0; i < tasks->n; i++) {
        const TaskRecord *t = &tasks->items[i];

        if (str_eqz(t->reference_kind, "rule") || (!by_rules_alone && t->reference.n))
            tasks->items[n++] = *t;
    }
    tasks->n = n;
}

/* For the evidence: what was found, and where. */
static void note_mined(Arena *a, const SleepHarvest *h, const TaskRecords *tasks, NightPlan *ret)
{
    StrList ids = { 0 };

    for (size_t i = 0; i < tasks->n; i++) {
        LIST_PUSH(a, &ret->mined, tasks->items[i]);
        for (size_t k = 0; k < tasks->items[i].source_sessions.n; k++)
            strs_add_new(a, &ids, tasks->items[i].source_sessions.items[k]);
    }
    for (size_t i = 0; i < h->n; i++)
        if (strs_have(&ids, trace_digest(h->traces[i])->session_id))
            LIST_PUSH(a, &ret->sessions, *trace_digest(h->traces[i]));
}

static bool mine_history(Arena *a, const NightOptions *o, double until, Backend *b,
                         const StateProject *past, Budget *budget, NightPlan *ret, Err *err)
{
    const MineOptions options = { .instances = INSTANCES };
    HarvestQuery query = o->harvest;
    SleepHarvest h;
    Mined mined;

    query.until = until;
    if (!sleep_harvest(a, &query, &options, &h, &mined, err))
        return false;
    ret->n_sessions = h.sessions;
    keep_new(a, &h, past, &mined.tasks);
    if (o->model_miner && b->call && !budget)
        ret->asks = mine_model_asks(h.traces, h.n, &mined.tasks);
    else if (o->model_miner && b->call &&
             !mine_by_model(a, b, h.traces, h.n, o->max_tasks, budget, &mined.tasks, err))
        return false;
    if (o->evidence && budget)
        note_mined(a, &h, &mined.tasks, ret);
    keep_judged(&mined.tasks, b->deterministic);
    if (o->max_tasks && mined.tasks.n > o->max_tasks)
        mined.tasks.n = o->max_tasks;
    split_assign(a, o->split, &mined.tasks);
    ret->tasks = mined.tasks;
    return true;
}

static void count_tasks(NightPlan *plan)
{
    for (size_t i = 0; i < plan->tasks.n; i++) {
        const TaskRecord *task = &plan->tasks.items[i];
        Str split = split_of(task);

        plan->recurring += task->source_sessions.n > 1;
        plan->checkable += str_eqz(task->reference_kind, "rule");
        plan->val += str_eqz(split, "val");
        plan->test += str_eqz(split, "test");
    }
    plan->train = plan->tasks.n - plan->val - plan->test;
}

bool tonight_tasks(Arena *a, const NightOptions *o, double until, Backend *b,
                   const StateProject *past, Budget *budget, NightPlan *ret, Err *err)
{
    *ret = (NightPlan){ 0 };
    if (o->tasks_file ? !read_tasks(a, o, b, ret, err)
                      : !mine_history(a, o, until, b, past, budget, ret, err))
        return false;
    if (past && o->recall_k)
        recall_add(a, o->recall_k, &past->tasks, &ret->tasks);
    if (o->dream_factor)
        dream_add(a, o->dream_factor, &ret->tasks);
    count_tasks(ret);
    return true;
}

/* -- written down -- */

/* Everything that tonight's tasks and decisions depend on; but a night that was killed may go on
 * with another budget. */
Str tonight_key(Arena *a, const NightOptions *o, const Backend *b)
{
    const ConsolidateRules *r = &o->rules;
    const CatalogueQuery *from = &o->harvest.sources;
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    Str file = STR("");
    Err err;

    if (o->tasks_file && !file_read_any(a, o->tasks_file, LIMIT_SLEEP_FILE, &file, &err))
        file = STR(""); /* whoever reads the tasks will say so */
    buf_addf(&out, "%s %.*s|%.*s|%.*s|%s %.*s|%d%d%d %.*s %.*s|", b->name, STR_FMT(b->model),
             STR_FMT(o->harvest.project), STR_FMT(o->target), o->tasks_file ? o->tasks_file : "",
             STR_FMT(file), from->hermes, from->claude, from->codex, STR_FMT(from->roots.claude),
             STR_FMT(from->roots.codex));
    buf_addf(&out, "%zu %lld %g %g|%d %g|%g %g %g|%d%d%d%d %g|", o->max_tasks,
             (long long)o->split.seed, o->split.val, o->split.test, (int)r->score.metric,
             r->score.weight, r->objective.accuracy, r->objective.tokens, r->objective.latency,
             r->gate, r->no_regression, r->evolve_skill, r->evolve_memory, r->alpha);
    buf_addf(&out, "%lld %lld %lld %lld %lld %d|%.*s", (long long)r->edit_budget,
             (long long)r->rollouts, (long long)r->max_draws, (long long)o->dream_factor,
             (long long)o->recall_k, o->model_miner, STR_FMT(r->preferences));
    for (size_t i = 0; i < o->skill_roots.n; i++)
        buf_addf(&out, "|%.*s", STR_FMT(o->skill_roots.items[i]));
    return sha256_hex(a, buf_str(&out));
}

static const RecordField tonight_fields[] = {
    RECORD_FIELD(Tonight, format),
    RECORD_FIELD(Tonight, key),
    RECORD_FIELD(Tonight, night, .when_empty = RECORD_NULL_STR),
    RECORD_FIELD(Tonight, started_at),
    RECORD_FIELD(Tonight, project, .when_empty = RECORD_NULL_STR),
    RECORD_FIELD(Tonight, call_error),
    RECORD_FIELD(Tonight, number, .required = true),
    RECORD_FIELD(Tonight, n_sessions, .required = true),
    RECORD_FIELD(Tonight, paid_before, .required = true),
    RECORD_FIELD(Tonight, has_tasks, .required = true),
    RECORD_FIELD(Tonight, reviewed, .required = true),
    RECORD_LIST(Tonight, tasks, &task_record, .required = true),
};
static const RecordTable tonight_record = RECORD(Tonight, "night", tonight_fields);

static const char *tonight_path(Arena *a, const SleepHome *home, bool dry_run)
{
    return str_z(
        a, str_join_path(a, home->folder, dry_run ? STR("dryrun.json") : STR("tonight.json")));
}

bool tonight_load(Arena *a, const SleepHome *home, bool dry_run, Tonight *ret, bool *ret_found,
                  Err *err)
{
    const char *path = tonight_path(a, home, dry_run);
    AUTO(JsonDoc) *doc = NULL;
    Str text;

    *ret_found = false;
    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
        return false;
    doc = json_parse(text, err);
    /* The file is ours and written atomically; if it is unreadable all the same, tonight starts
     * over. */
    *ret_found = doc && record_read(a, &tonight_record, json_root(doc), ret, err);
    ret->dry_run = dry_run;
    return true;
}

bool tonight_save(Arena *a, const SleepHome *home, const Tonight *t, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&out, 0);
    Tonight file = *t;

    file.format = 1;
    record_put(&w, &tonight_record, &file);
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "the tasks of the night do not fit into one file");
    return file_write_atomic(tonight_path(a, home, t->dry_run), buf_str(&out), err);
}

bool tonight_forget(Arena *a, const SleepHome *home, bool dry_run, Err *err)
{
    const char *path = tonight_path(a, home, dry_run),
               *clock = tonight_clock_path(a, home, dry_run);

    return (access(clock, F_OK) != 0 || file_remove(clock, err)) &&
           (access(path, F_OK) != 0 || file_remove(path, err));
}

/* -- how long it has taken -- */

enum { CLOCK_DIGITS = 15 };

const char *tonight_clock_path(Arena *a, const SleepHome *home, bool dry_run)
{
    return str_z(
        a, str_join_path(a, home->folder, dry_run ? STR("dryrun.clock") : STR("tonight.clock")));
}

int64_t tonight_elapsed(Arena *a, const SleepHome *home, bool dry_run)
{
    const char *path = tonight_clock_path(a, home, dry_run);
    int64_t ms = 0;
    Str text;
    Err ignored;

    if (access(path, F_OK) != 0 || !file_read(a, path, CLOCK_DIGITS + 1, &text, &ignored) ||
        !str_to_int(str_trim(text), 0, INT64_MAX, &ms))
        return 0;
    return ms;
}

/* In place: so few bytes are written by one call or not at all. */
void tonight_note_elapsed(const char *path, int64_t ms)
{
    char text[CLOCK_DIGITS + 2];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    snprintf(text, sizeof text, "%0*lld\n", CLOCK_DIGITS, (long long)ms);
    if (fd < 0 || pwrite(fd, text, CLOCK_DIGITS + 1, 0) != CLOCK_DIGITS + 1)
        log_debug("how long the night takes is not noted");
    if (fd >= 0)
        close(fd);
}

/* -- after a crash -- */

/* "state.json.03fa9c": a file that had a name already, but not yet its own. */
static bool is_unfinished(Str name)
{
    size_t dot = name.n > 7 ? name.n - 7 : 0;

    if (!dot || name.p[dot] != '.')
        return false;
    for (size_t i = dot + 1; i < name.n; i++)
        if (!strchr("0123456789abcdef", name.p[i]))
            return false;
    return true;
}

/* only: names that such a file may be on the way to; NULL: any. */
static bool sweep_folder(Arena *a, Str folder, const char *const *only, size_t n_only, Err *err)
{
    FileEntry *entries;
    size_t n;

    if (!folder_list(a, str_z(a, folder), LIMIT_SLEEP_NIGHTS, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Str name = entries[i].name, stem = str_head(name, name.n > 7 ? name.n - 7 : 0);
        bool ours = !only;

        for (size_t k = 0; k < n_only; k++)
            ours |= str_eqz(stem, only[k]);
        if (ours && !entries[i].is_folder && is_unfinished(name) &&
            !file_remove(str_z(a, str_join_path(a, folder, name)), err))
            return false;
    }
    return true;
}

bool tonight_sweep(Arena *a, const SleepHome *home, Str night, Err *err)
{
    static const char *const own[] = { "state.json", "tonight.json", "dryrun.json" };
    static const char *const latest[] = { ".latest" };
    Str folder = night_folder(a, home, night);

    return sweep_folder(a, home->folder, own, ARRAY_LEN(own), err) &&
           sweep_folder(a, home->staging, latest, ARRAY_LEN(latest), err) &&
           (!night.n || access(str_z(a, folder), F_OK) != 0 ||
            sweep_folder(a, folder, NULL, 0, err));
}

bool tonight_discard_others(Arena *a, const SleepHome *home, Err *err)
{
    FileEntry *entries;
    size_t n;

    if (!folder_list(a, str_z(a, home->staging), LIMIT_SLEEP_NIGHTS, &entries, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Str manifest =
            str_join_path(a, night_folder(a, home, entries[i].name), STR("manifest.json"));

        if (entries[i].is_folder && night_name_ok(entries[i].name) &&
            access(str_z(a, manifest), F_OK) != 0 && !stage_discard(a, home, entries[i].name, err))
            return false;
    }
    return true;
}
