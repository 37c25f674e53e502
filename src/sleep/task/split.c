/* bucket = SHA-256(seed + id) as one big number, modulo 100; below the first cut a task is val,
 * below the second it is test. */
#include "sleep/task/split.h"

#include <math.h>

#include "text/sha256.h"

typedef struct TaskHash {
    uint8_t hash[SHA256_BYTES];
    TaskRecord *task;
} TaskHash;

static unsigned bucket(const uint8_t hash[SHA256_BYTES])
{
    unsigned rest = 0;

    for (size_t i = 0; i < SHA256_BYTES; i++)
        rest = (rest * 256 + hash[i]) % 100;
    return rest;
}

bool split_check(SplitRule rule, Err *err)
{
    if (!(rule.val >= 0 && rule.val <= 1 && rule.test >= 0 && rule.test <= 1))
        return err_set(err, ERR_USAGE, "a share of tasks is not within 0 and 1");
    if (rule.val + rule.test >= 1)
        return err_set(err, ERR_USAGE, "val and test together leave nothing to learn from");
    return true;
}

/* The one with the smallest hash, then id, among the tasks of that split; NULL: none. */
static TaskRecord *smallest(const TaskHash *hashes, size_t n, Str split)
{
    const TaskHash *best = NULL;

    for (size_t i = 0; i < n; i++) {
        int order;

        if (!str_eq(hashes[i].task->split, split))
            continue;
        order = best ? memcmp(hashes[i].hash, best->hash, SHA256_BYTES) : -1;
        if (order < 0 || (order == 0 && str_cmp(hashes[i].task->id, best->task->id) < 0))
            best = &hashes[i];
    }
    return best ? best->task : NULL;
}

void split_assign(Arena *a, SplitRule rule, TaskRecords *tasks)
{
    TaskHash *hashes = ARENA_ARRAY(a, TaskHash, tasks->n + 1);
    unsigned val = (unsigned)nearbyint(rule.val * 100);
    unsigned test = val + (unsigned)nearbyint(rule.test * 100);
    bool has_train = false;
    size_t n = 0;
    TaskRecord *moved;

    for (size_t i = 0; i < tasks->n; i++) {
        TaskRecord *t = &tasks->items[i];
        unsigned b;

        t->split = STR("train");
        if (str_eq(t->origin, STR("dream")))
            continue;
        hashes[n].task = t;
        sha256(str_printf(a, "%lld%.*s", (long long)rule.seed, STR_FMT(t->id)), hashes[n].hash);
        b = bucket(hashes[n++].hash);
        t->split = b < val ? STR("val") : b < test ? STR("test") : STR("train");
    }
    if (n < 2)
        return;
    if (!smallest(hashes, n, STR("val")) && (moved = smallest(hashes, n, STR("train"))))
        moved->split = STR("val");
    for (size_t i = 0; i < tasks->n; i++)
        has_train |= str_eqz(tasks->items[i].split, "train");
    if (!has_train && (moved = smallest(hashes, n, STR("val"))))
        moved->split = STR("train");
}

Str split_of(const TaskRecord *task)
{
    return str_eqz(task->origin, "dream") ? STR("train") : split_normal(task->split);
}

static const TaskRecord *same_id(const TaskRecords *tasks, const TaskRecord *task,
                                 const char *split)
{
    for (size_t i = 0; i < tasks->n; i++)
        if (str_eq(tasks->items[i].id, task->id) && !str_eqz(tasks->items[i].split, split))
            return &tasks->items[i];
    return NULL;
}

bool split_settle(TaskRecords *tasks, Err *err)
{
    const TaskRecord *other;

    for (size_t i = 0; i < tasks->n; i++) {
        TaskRecord *t = &tasks->items[i];

        if (!str_is_one_of(split_normal(t->split), "train|val|test"))
            return err_set(err, ERR_INVALID,
                           "task '%.*s': unknown split '%.*s'; use train, val or test",
                           STR_FMT(str_head(t->id, 64)), STR_FMT(str_head(t->split, 64)));
        t->split = split_of(t);
    }
    for (size_t i = 0; i < tasks->n; i++) {
        const TaskRecord *t = &tasks->items[i];

        if (str_eqz(t->split, "test") && (other = same_id(tasks, t, "test")))
            return err_set(err, ERR_INVALID,
                           "task '%.*s' is in test and in %.*s; a test task may be in test only",
                           STR_FMT(str_head(t->id, 64)), STR_FMT(other->split));
    }
    return true;
}

Sides split_sides(Arena *a, const TaskRecords *tasks)
{
    Sides s = { 0 };

    for (size_t i = 0; i < tasks->n; i++) {
        TaskRecord t = tasks->items[i];

        t.split = split_of(&t);
        if (str_eq(t.split, STR("val")))
            LIST_PUSH(a, &s.val, t);
        else if (str_eq(t.split, STR("test")))
            LIST_PUSH(a, &s.test, t);
        else
            LIST_PUSH(a, &s.train, t);
    }
    s.leaked = !s.val.n || !s.train.n;
    if (!s.val.n)
        s.val = s.train;
    else if (!s.train.n)
        s.train = s.val;
    for (size_t i = 0; i < s.val.n; i++)
        for (size_t k = 0; k < s.train.n && !s.leaked; k++)
            s.leaked = str_eq(s.train.items[k].id, s.val.items[i].id);
    return s;
}
