/* The keys version, night, last_harvest, slow_memory, history, task_archive, last_model_key and
 * last_model_key_format are those that others read; "nights", "pending" and "had" are ours.
 * The archive is one list in the file, as it always was, and one a project in memory. */
#include "sleep/learning/state.h"

#include <unistd.h>

#include "base/limits.h"

enum { STATE_VERSION = 1, MODEL_KEY_FORMAT = 2 };

FileLock *state_lock(Arena *a, Str path, int wait_ms, Err *err)
{
    return lock_take(str_z(a, str_printf(a, "%.*s.lock", STR_FMT(path))), wait_ms, err);
}

/* -- The value -- */

StateProject *state_project(Arena *a, SleepState *s, Str project)
{
    StateProject fresh = { .project = project, .last_harvest = STR(""), .pending = STR("") };

    for (size_t i = 0; i < s->projects.n; i++)
        if (str_eq(s->projects.items[i].project, project))
            return &s->projects.items[i];
    LIST_PUSH(a, &s->projects, fresh);
    return &s->projects.items[s->projects.n - 1];
}

/* Makes room in a list that has reached its maximum: the oldest item goes. */
#define DROP_OLDEST(list, max)                                                                     \
    do {                                                                                           \
        if ((list)->n == (max)) {                                                                  \
            memmove((list)->items, (list)->items + 1, ((list)->n - 1) * sizeof *(list)->items);    \
            (list)->n--;                                                                           \
        }                                                                                          \
    } while (0)

static void archive_one(Arena *a, StateProject *p, const TaskRecord *task)
{
    for (size_t i = 0; i < p->tasks.n; i++)
        if (str_eq(p->tasks.items[i].id, task->id)) {
            p->tasks.items[i] = *task;
            return;
        }
    DROP_OLDEST(&p->tasks, LIMIT_SLEEP_ARCHIVE);
    LIST_PUSH(a, &p->tasks, *task);
}

void state_archive(Arena *a, StateProject *p, const TaskRecords *tasks)
{
    for (size_t i = 0; i < tasks->n; i++)
        if (!str_eqz(tasks->items[i].origin, "dream") && !tasks->items[i].derived_from.n) {
            archive_one(a, p, &tasks->items[i]);
            if (strs_have(&p->had, tasks->items[i].id))
                continue;
            DROP_OLDEST(&p->had, LIMIT_SLEEP_HAD);
            LIST_PUSH(a, &p->had, tasks->items[i].id);
        }
}

bool state_had(const StateProject *p, Str id)
{
    for (size_t i = 0; i < p->tasks.n; i++) /* older states have only these */
        if (str_eq(p->tasks.items[i].id, id))
            return true;
    return strs_have(&p->had, id);
}

void state_add_history(Arena *a, SleepState *s, HistoryRow row)
{
    DROP_OLDEST(&s->history, LIMIT_SLEEP_HISTORY);
    LIST_PUSH(a, &s->history, row);
}

/* -- Reading -- */

static Str text_of(Arena *a, Json v, Str key)
{
    return str_dup(a, json_str(json_get(v, key)));
}

static void read_projects(Arena *a, Json root, SleepState *s)
{
    JsonIter it = json_each(json_get(root, STR("last_harvest")));
    Str key;
    Json item;

    while (json_next(&it, &key, &item))
        state_project(a, s, str_dup(a, key))->last_harvest = str_dup(a, json_str(item));
    it = json_each(json_get(root, STR("nights")));
    while (json_next(&it, &key, &item))
        (void)json_int(item, &state_project(a, s, str_dup(a, key))->night);
    it = json_each(json_get(root, STR("pending")));
    while (json_next(&it, &key, &item)) {
        AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
        JsonWriter w = JSON_WRITER(&text, 0);

        json_put(&w, item);
        state_project(a, s, str_dup(a, key))->pending = str_dup(a, buf_str(&text));
    }
    it = json_each(json_get(root, STR("had")));
    while (json_next(&it, &key, &item)) {
        StateProject *p = state_project(a, s, str_dup(a, key));

        for (size_t i = 0; i < json_count(item) && i < LIMIT_SLEEP_HAD; i++)
            LIST_PUSH(a, &p->had, str_dup(a, json_str(json_at(item, i))));
    }
}

static bool read_archive(Arena *a, Json root, SleepState *s, Err *err)
{
    Json owners = json_get(root, STR("task_archive_of"));
    TaskRecords tasks = { 0 };

    if (json_type(json_get(root, STR("task_archive"))) == JSON_ARRAY &&
        !tasks_read(a, json_get(root, STR("task_archive")), &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.n; i++) {
        Json of = json_at(owners, i);

        archive_one(a,
                    state_project(a, s,
                                  json_type(of) == JSON_STRING ? str_dup(a, json_str(of))
                                                               : tasks.items[i].project),
                    &tasks.items[i]);
    }
    return true;
}

static const RecordField history_fields[] = {
    RECORD_FIELD(HistoryRow, night),
    RECORD_FIELD(HistoryRow, project, .when_empty = RECORD_NULL_STR),
    RECORD_FIELD(HistoryRow, accepted),
    RECORD_FIELD(HistoryRow, baseline),
    RECORD_FIELD(HistoryRow, candidate),
    RECORD_FIELD(HistoryRow, n_tasks),
    RECORD_FIELD(HistoryRow, staging, .when_empty = RECORD_NULL_STR),
};
const RecordTable history_row_record = RECORD(HistoryRow, "row", history_fields, .lenient = true);

static void read_history(Arena *a, Json root, SleepState *s)
{
    JsonIter it = json_each(json_get(root, STR("history")));
    HistoryRow row;
    Err ignored;
    Str key;
    Json item;

    while (json_next(&it, &key, &item))
        if (record_read(a, &history_row_record, item, &row, &ignored))
            state_add_history(a, s, row);
}

static bool parse_state(Arena *a, Str text, SleepState *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(text, err);
    Json root = doc ? json_root(doc) : (Json){ 0 };
    SleepState s = { .slow_memory = STR(""), .last_model_key = STR("") };
    int64_t version = 0;

    if (!doc)
        return false;
    if (!json_int(json_get(root, STR("version")), &version) || version != STATE_VERSION)
        return err_set(err, ERR_CORRUPT, "version %lld of the state is not known",
                       (long long)version);
    (void)json_int(json_get(root, STR("night")), &s.night);
    s.slow_memory = text_of(a, root, STR("slow_memory"));
    s.last_model_key = text_of(a, root, STR("last_model_key"));
    read_projects(a, root, &s);
    read_history(a, root, &s);
    if (!read_archive(a, root, &s, err))
        return false;
    *ret = s;
    return true;
}

/* Keeps the unreadable file under another name: it may be the only trace of a long history. */
static bool put_aside(Arena *a, const char *path, const Err *why, Str *ret_note, Err *err)
{
    Str aside = STR("");

    for (int n = 1; n < 1000; n++) {
        aside = str_printf(a, "%s.unreadable-%d", path, n);
        if (access(str_z(a, aside), F_OK) != 0)
            break;
    }
    if (rename(path, str_z(a, aside)) != 0)
        return err_errno(err, "cannot put '%s' aside", path);
    *ret_note = str_printf(a,
                           "cannot read the sleep state (%s); saved it as '%.*s' and starting "
                           "the first night again",
                           why->text, STR_FMT(aside));
    return true;
}

bool state_load(Arena *a, Str path, SleepState *ret, Str *ret_note, Err *err)
{
    char *z = str_z(a, path);
    Err why;
    Str text;

    *ret_note = STR("");
    if (access(z, F_OK) != 0) {
        *ret = (SleepState){ .slow_memory = STR(""), .last_model_key = STR("") };
        return true;
    }
    if (!file_read(a, z, LIMIT_SLEEP_FILE, &text, err))
        return false;
    if (parse_state(a, text, ret, &why))
        return true;
    *ret = (SleepState){ .slow_memory = STR(""), .last_model_key = STR("") };
    return put_aside(a, z, &why, ret_note, err);
}

/* -- Writing -- */

static void put_projects(JsonWriter *w, const SleepState *s)
{
    const StateProjects *p = &s->projects;

    json_field_begin(w, "last_harvest", '{');
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].last_harvest.n) {
            json_key_str(w, p->items[i].project);
            json_put_str(w, p->items[i].last_harvest);
        }
    json_end(w, '}');
    json_field_begin(w, "nights", '{');
    for (size_t i = 0; i < p->n; i++) {
        json_key_str(w, p->items[i].project);
        json_put_int(w, p->items[i].night);
    }
    json_end(w, '}');
    json_field_begin(w, "pending", '{');
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].pending.n) {
            json_key_str(w, p->items[i].project);
            json_put_raw(w, p->items[i].pending);
        }
    json_end(w, '}');
}

static void put_archive(JsonWriter *w, const SleepState *s)
{
    json_field_begin(w, "task_archive", '[');
    for (size_t i = 0; i < s->projects.n; i++)
        for (size_t k = 0; k < s->projects.items[i].tasks.n; k++)
            task_put(w, &s->projects.items[i].tasks.items[k]);
    json_end(w, ']');
    json_key(w, "task_archive_of"); /* whose night each was in: not always the task's own project */
    json_begin(w, '[');
    for (size_t i = 0; i < s->projects.n; i++)
        for (size_t k = 0; k < s->projects.items[i].tasks.n; k++)
            json_put_str(w, s->projects.items[i].project);
    json_end(w, ']');
}

static void put_state(Buf *text, const SleepState *s, bool archive)
{
    JsonWriter w = JSON_WRITER(text, 2);

    json_begin(&w, '{');
    json_field_int(&w, "version", STATE_VERSION);
    json_field_int(&w, "night", s->night);
    put_projects(&w, s);
    json_field_str(&w, "slow_memory", s->slow_memory);
    json_key(&w, "history");
    record_put_list(&w, &history_row_record, &s->history);
    json_field_begin(&w, "had", '{');
    for (size_t i = 0; i < s->projects.n; i++)
        if (s->projects.items[i].had.n) {
            json_key_str(&w, s->projects.items[i].project);
            strs_put(&w, &s->projects.items[i].had);
        }
    json_end(&w, '}');
    if (archive)
        put_archive(&w, s);
    json_field_str(&w, "last_model_key", s->last_model_key);
    json_field_int(&w, "last_model_key_format", MODEL_KEY_FORMAT);
    json_end(&w, '}');
    buf_addc(text, '\n');
}

/* If the tasks of many projects do not fit, the state is saved without the archive: losing it only
 * makes recall weaker. */
bool state_save(Str path, const SleepState *s, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF less = BUF(LIMIT_SLEEP_FILE);

    put_state(&text, s, true);
    if (!buf_full(&text))
        return file_write_atomic(str_z(a, path), buf_str(&text), err);
    put_state(&less, s, false);
    if (buf_full(&less))
        return err_set(err, ERR_TOO_LARGE, "the state is larger than %d bytes", LIMIT_SLEEP_FILE);
    return file_write_atomic(str_z(a, path), buf_str(&less), err);
}
