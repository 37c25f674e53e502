/* Nights on the page: looked at, adopted, rejected, taken back. The same functions as `talaria
 * sleep`.
 *
 * The page shows skills, the managed one and the memory as one list. Below, skills are adopted
 * apart from the other two (adopt.h), so that a choice may take two steps; both are checked before
 * the first is taken, and an undo of the night takes back both. */
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/nights.h"
#include "sleep/adoption/reject.h"
#include "sleep/adoption/stage.h"
#include "sleep/schedule/schedule.h"
#include "sleep/trial/backends.h"

static bool home_of(Request *rq, SleepHome *ret, Err *err)
{
    const Homes *homes;
    Recovery recovery = { 0 };

    if (!request_homes(rq, &homes, err))
        return false;
    *ret = sleep_home(rq->arena, homes->data);
    return adopt_recover(rq->arena, ret, &recovery, err);
}

/* -- looking -- */

static bool put_schedules(Request *rq, const SleepHome *home, JsonWriter *w, Err *err)
{
    ScheduleRows rows;

    if (!schedule_list(rq->arena, home, &rows, err))
        return false;
    json_field_begin(w, "schedules", '[');
    for (size_t i = 0; i < rows.n; i++) {
        json_begin(w, '{');
        json_field_str(w, "project", rows.items[i].project);
        json_field_str(w, "kind", str_of(scheduler_name(rows.items[i].kind)));
        json_field_str(w, "when",
                       str_printf(rq->arena, "every night at %02d:%02d", rows.items[i].hour,
                                  rows.items[i].minute));
        json_end(w, '}');
    }
    json_end(w, ']');
    return true;
}

/* {format, nights: [...], running, last, last_error, schedules, backend} */
bool route_sleep(Request *rq, Err *err)
{
    const AnswererOptions any = { .kind = STR("") };
    NightSummary *nights;
    bool elsewhere;
    SleepHome home;
    JsonWriter w;
    size_t n;

    if (!home_of(rq, &home, err) || !nights_list(rq->arena, &home, STR(""), &nights, &n, err))
        return false;
    elsewhere = !api_night_runs(rq->server) && api_night_elsewhere(rq->arena, &home);
    w = reply_json(rq);
    json_field_begin(&w, "nights", '[');
    for (size_t i = 0; i < n; i++)
        night_put_summary(&w, &nights[i]);
    json_end(&w, ']');
    api_night_put(rq->server, &w, elsewhere);
    json_field_str(&w, "backend", answerer_kind(&any, rq->server->settings));
    if (!put_schedules(rq, &home, &w, err))
        return false;
    return reply_end(&w);
}

/* {format, proposal}: as `talaria sleep review --json`. */
bool route_sleep_night(Request *rq, Err *err)
{
    SleepHome home;
    JsonWriter w;
    Night night;

    if (!night_name_ok(rq->params[0]))
        return err_set(err, ERR_NOT_FOUND, "no staged night '%.*s'", STR_FMT(rq->params[0]));
    if (!home_of(rq, &home, err) || !night_load(rq->arena, &home, rq->params[0], &night, err))
        return false;
    w = reply_json(rq);
    json_key(&w, "proposal");
    night_put(&w, &night);
    return reply_end(&w);
}

/* Nothing is asked of a model: what is opened only says its price and whether chance plays. */
bool route_sleep_worth(Request *rq, Err *err)
{
    AUTO_ANSWERER who = { 0 };
    AnswererOptions answerer = { .kind = STR("") };
    NightOptions options;
    const Homes *homes;
    NightWorth worth;
    SleepHome home;
    JsonWriter w;

    if (!query_text(rq->arena, rq->query, "backend", &answerer.kind, err) ||
        !request_homes(rq, &homes, err))
        return false;
    if (answerer.kind.n && !str_is_one_of(answerer.kind, "mock|model"))
        return err_set(err, ERR_USAGE, "parameter 'backend' must be mock or model");
    home = sleep_home(rq->arena, homes->data);
    if (!api_night_options(rq->server, rq->arena, homes, &options, err) ||
        !answerer_open(rq->arena, &home, rq->server->settings, &answerer, &who, err) ||
        !night_worth(rq->arena, &options, who.backend, who.usd_per_token, &worth, err))
        return false;
    w = reply_json(rq);
    night_worth_put(&w, &worth);
    json_field_str(&w, "backend", answerer_kind(&answerer, rq->server->settings));
    return reply_end(&w);
}

/* -- adopting -- */

/* What a choice of names means for adopt(): skills by name, and whether the other two. */
typedef struct Choice {
    Str *skills;
    size_t n;
    bool legacy;
} Choice;

static const StagedItem *item_named(const Manifest *m, Str name)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->items[i].name, name))
            return &m->items[i];
    return NULL;
}

static bool is_chosen(Json names, Str name)
{
    for (size_t i = 0; i < json_count(names); i++)
        if (str_eq(json_str(json_at(names, i)), name))
            return true;
    return false;
}

static bool check_names(const Manifest *m, Json names, Err *err)
{
    if (json_type(names) != JSON_ARRAY || !json_count(names))
        return err_set(err, ERR_INVALID, "'skills' must be a list of names, or 'all' true");
    for (size_t i = 0; i < json_count(names); i++) {
        Str name = json_str(json_at(names, i));

        if (!item_named(m, name))
            return err_set(err, ERR_INVALID, "the night proposes no skill '%.*s'", STR_FMT(name));
    }
    return true;
}

/* The managed skill and the memory beside it were tried together and go together. */
static bool read_choice(Arena *a, const Manifest *m, Json body, Choice *ret, Err *err)
{
    Json names = json_get(body, STR("skills"));
    size_t legacy = 0, wanted = 0;
    bool all = false;

    if (!field_bool(body, "all", &all, err) || (!all && !check_names(m, names, err)))
        return false;
    ret->skills = ARENA_ARRAY(a, Str, m->n + 1);
    for (size_t i = 0; i < m->n; i++) {
        bool chosen = all || is_chosen(names, m->items[i].name);

        if (m->items[i].kind != ITEM_SKILL) {
            legacy++;
            wanted += chosen;
        } else if (chosen) {
            ret->skills[ret->n++] = m->items[i].name;
        }
    }
    if (wanted && wanted < legacy)
        return err_set(
            err, ERR_INVALID,
            "the managed skill and the memory were tried together: adopt both or neither");
    ret->legacy = wanted > 0;
    return ret->n || ret->legacy || err_set(err, ERR_NOT_FOUND, "the night proposes nothing");
}

static bool adopt_choice(Arena *a, const SleepHome *home, Str night, const Choice *choice,
                         bool dry_run, JsonWriter *w, Err *err)
{
    const Selection parts[] = { { .night = night, .skills = choice->skills, .n_skills = choice->n },
                                { .night = night, .legacy = true } };
    const bool wanted[] = { choice->n > 0, choice->legacy };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        Adopted done;

        if (!wanted[i])
            continue;
        if (!adopt(a, home, &parts[i], dry_run, &done, err))
            return false;
        for (size_t k = 0; w && k < done.receipts.n; k++)
            receipt_put(w, &done.receipts.items[k]);
    }
    return true;
}

static JsonWriter begin_rows(Request *rq, const char *key)
{
    JsonWriter w = reply_json(rq);

    json_field_bool(&w, "ok", true);
    json_field_begin(&w, key, '[');
    return w;
}

static bool end_rows(Request *rq, JsonWriter *w)
{
    json_end(w, ']');
    json_end(w, '}');
    api_night_changed(rq->server);
    return true;
}

/* {format, ok, adopted: [receipt]} */
bool route_sleep_adopt(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Str night = rq->params[0], folder;
    Choice choice = { 0 };
    SleepHome home;
    Manifest m;
    JsonWriter w;

    if (!doc || !home_of(rq, &home, err) || !stage_find(rq->arena, &home, night, &folder, err) ||
        !manifest_read(rq->arena, folder, &m, err) ||
        !read_choice(rq->arena, &m, json_root(doc), &choice, err) ||
        !adopt_choice(rq->arena, &home, night, &choice, true, NULL, err))
        return false;
    w = begin_rows(rq, "adopted");
    return adopt_choice(rq->arena, &home, night, &choice, false, &w, err) && end_rows(rq, &w);
}

/* {format, ok, rejection} */
bool route_sleep_reject(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Str reason = STR("");
    Rejection done;
    SleepHome home;
    JsonWriter w;

    if (!doc || !field_str(json_root(doc), "reason", &reason, err) || !home_of(rq, &home, err) ||
        !night_reject(rq->arena, &home, rq->params[0], reason, false, &done, err))
        return false;
    w = reply_json(rq);
    json_field_bool(&w, "ok", true);
    json_key(&w, "rejection");
    rejection_put(&w, &done);
    json_end(&w, '}');
    api_night_changed(rq->server);
    return true;
}

/* All that is in place of the night, however many steps put it there; without a night the last
 * step. {format, ok, undone: [receipt]} */
bool route_sleep_undo(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Selection selection = { .night = STR("") };
    SleepHome home;
    JsonWriter w;

    if (!doc || !field_str(json_root(doc), "night", &selection.night, err) ||
        !home_of(rq, &home, err))
        return false;
    w = begin_rows(rq, "undone");
    for (size_t steps = 0;; steps++) {
        Adopted done;

        if (!undo(rq->arena, &home, &selection, false, &done, err)) {
            if (steps && err->kind == ERR_NOT_FOUND)
                break;
            return false;
        }
        for (size_t i = 0; i < done.receipts.n; i++)
            receipt_put(&w, &done.receipts.items[i]);
        if (!selection.night.n)
            break;
    }
    return end_rows(rq, &w);
}
