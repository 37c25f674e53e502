#include "achievements/state.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"

/* -- places -- */

StatePlace plugin_place(Arena *a, const Home *home)
{
    Str older = str_join_path(a, home->path, STR("plugins/hermes-achievements"));
    Str newer = str_join_path(a, home->path, STR("plugin-data/hermes-achievements"));
    struct stat st;
    bool moved = stat(newer.p, &st) == 0 && S_ISDIR(st.st_mode);

    return (StatePlace){ .folder = moved ? newer : older,
                         .also = { older, newer },
                         .file = STR("state.json") };
}

StatePlace own_place(Arena *a, const Homes *homes)
{
    StatePlace place = { .folder = str_join_path(a, homes->data, STR("achievements")),
                         .file = STR("state.json") };

    if (homes->primary->kind != HOME_GIVEN)
        return place;
    place.file = str_printf(a, "state-%016llx.json",
                            (unsigned long long)hash_fnv(HASH_START, homes->primary->path));
    return place;
}

bool place_find(Arena *a, const StatePlace *place, Str name, Str *ret)
{
    const Str folders[] = { place->folder, place->also[0], place->also[1] };

    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        if (!folders[i].n)
            continue;
        *ret = str_join_path(a, folders[i], name);
        if (access(ret->p, F_OK) == 0)
            return true;
    }
    return false;
}

/* -- reading -- */

static int tier_named(Json name)
{
    Str s = json_str(name);

    for (int i = 0; i < TIER_COUNT; i++)
        if (s.n && str_eq(s, catalogue()->tier_names[i]))
            return i;
    return -1;
}

Evidence evidence_of(Json v)
{
    Evidence e = { .session_id = json_str(json_get(v, STR("session_id"))),
                   .title = json_str(json_get(v, STR("title"))) };

    (void)json_int(json_get(v, STR("message_id")), &e.message);
    e.known = e.session_id.p && json_int(json_get(v, STR("value")), &e.value);
    return e;
}

static Unlock unlock_of(Json v)
{
    Unlock u = { .known = json_type(v) == JSON_OBJECT,
                 .first_tier = tier_named(json_get(v, STR("first_tier"))),
                 .evidence = evidence_of(json_get(v, STR("evidence"))) };
    JsonIter it = json_each(json_get(v, STR("upgrades")));
    Json item;
    Str key;

    (void)json_int(json_get(v, STR("unlocked_at")), &u.unlocked_at);
    u.tier = u.first_tier;
    u.tier_at = u.unlocked_at;
    while (json_next(&it, &key, &item)) {
        int tier = tier_named(json_get(item, STR("tier")));

        if (tier > u.tier) {
            u.tier = tier;
            (void)json_int(json_get(item, STR("at")), &u.tier_at);
        }
    }
    return u;
}

/* Kept beside, since what people earned may still be in it. The other place is not ours to tidy. */
static bool put_aside(Arena *a, const StatePlace *place, Str path, const char *why, Err *err)
{
    Str aside = str_printf(a, "%.*s.unreadable-%.0f", STR_FMT(path), clock_wall());

    if (!str_starts(path, place->folder))
        return true;

    log_warning("'%.*s' cannot be read (%s); it is kept as '%.*s'", STR_FMT(path), why,
                STR_FMT(aside));
    if (rename(path.p, aside.p) != 0)
        return err_errno(err, "cannot put '%.*s' aside", STR_FMT(path));
    return true;
}

bool unlocks_load(Arena *a, const StatePlace *place, Unlocks *ret, Err *err)
{
    const Catalogue *c = catalogue();
    Unlocks u = { 0 };
    Json unlocks;
    Str path, bytes;
    Err why;

    for (size_t i = 0; i < c->n; i++)
        u.all[i] = (Unlock){ .first_tier = -1, .tier = -1 };
    *ret = u;
    if (!place_find(a, place, place->file, &path))
        return true;
    if (!file_read(a, path.p, LIMIT_JSON_BYTES, &bytes, err))
        return false;
    if (str_starts(bytes, STR("\xef\xbb\xbf")))
        bytes = str_skip(bytes, 3);
    u.doc = json_parse(bytes, &why);
    if (!u.doc)
        return put_aside(a, place, path, why.text, err);
    unlocks = json_get(json_root(u.doc), STR("unlocks"));
    for (size_t i = 0; i < c->n; i++) {
        Json entry = json_get(unlocks, c->all[i].id);

        if (json_type(entry) == JSON_OBJECT)
            u.all[i] = unlock_of(entry);
    }
    *ret = u;
    return true;
}

void unlocks_done(Unlocks *u)
{
    u->doc = json_free(u->doc);
}

bool unlocks_note(Unlocks *u, size_t achievement, int tier, const Evidence *evidence,
                  const int64_t *at, int64_t now)
{
    Unlock *unlock = &u->all[achievement];
    int first = at && tier >= 0 ? 0 : tier;

    if (unlock->known && tier <= unlock->tier)
        return false;
    /* Where the history says when, every tier that was passed has its own time. */
    for (int i = unlock->known ? unlock->tier + 1 : 0; at && i <= tier; i++)
        unlock->at[i] = at[i];
    if (!unlock->known) {
        unlock->unlocked_at = at && at[0] ? at[0] : now;
        unlock->known = true;
        unlock->first_tier = first;
        unlock->evidence = *evidence;
    }
    unlock->tier = tier;
    unlock->tier_at = at && at[tier < 0 ? 0 : tier] ? at[tier < 0 ? 0 : tier] : now;
    u->changed = true;
    return true;
}

/* -- writing -- */

void evidence_put(JsonWriter *w, const Evidence *e)
{
    if (!e->known) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    json_field_int_or_null(w, "message_id", e->message, e->message);
    json_field_str(w, "session_id", e->session_id);
    json_field_str(w, "title", e->title);
    json_field_int(w, "value", e->value);
    json_end(w, '}');
}

void tier_put(JsonWriter *w, const char *key, int tier)
{
    json_field_str(w, key, tier < 0 ? STR_NONE : catalogue()->tier_names[tier]);
}

/* Keys in order, as the other side writes them; what it knows nothing of comes in between. */
static void put_unlock(JsonWriter *w, const Unlock *u, Json old)
{
    JsonIter it = json_each(json_get(old, STR("upgrades")));
    int noted = u->first_tier;
    Json item;
    Str key;

    json_begin(w, '{');
    json_key(w, "evidence");
    evidence_put(w, &u->evidence);
    tier_put(w, "first_tier", u->first_tier);
    json_field_int(w, "unlocked_at", u->unlocked_at);
    if (u->tier > u->first_tier) {
        json_field_begin(w, "upgrades", '[');
        while (json_next(&it, &key, &item)) {
            int tier = tier_named(json_get(item, STR("tier")));

            noted = tier > noted ? tier : noted;
            json_put(w, item);
        }
        for (int tier = noted + 1; tier <= u->tier; tier++) {
            if (!u->at[tier] && tier != u->tier)
                continue;
            json_begin(w, '{');
            json_field_int(w, "at", u->at[tier] ? u->at[tier] : u->tier_at);
            tier_put(w, "tier", tier);
            json_end(w, '}');
        }
        json_end(w, ']');
    }
    json_end(w, '}');
}

typedef struct Entry {
    Str id;
    Json old;
    const Unlock *unlock; /* NULL: not of our catalogue, or as it was */
} Entry;

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const Entry *)a)->id, ((const Entry *)b)->id);
}

static Entry *entries_of(Arena *a, const Unlocks *u, size_t *ret_n)
{
    const Catalogue *c = catalogue();
    Json unlocks = u->doc ? json_get(json_root(u->doc), STR("unlocks")) : (Json){ 0 };
    Entry *all = ARENA_ARRAY(a, Entry, json_count(unlocks) + c->n + 1);
    JsonIter it = json_each(unlocks);
    size_t n = 0;
    Json item;
    Str id;

    while (json_next(&it, &id, &item))
        all[n++] = (Entry){ .id = id, .old = item };
    for (size_t i = 0; i < c->n; i++) {
        Json old = json_get(unlocks, c->all[i].id);
        Unlock before = unlock_of(old);

        if (!u->all[i].known || (before.known && before.tier == u->all[i].tier))
            continue;
        for (size_t k = 0; k < n; k++)
            if (str_eq(all[k].id, c->all[i].id))
                all[k--] = all[--n];
        all[n++] = (Entry){ .id = c->all[i].id, .old = old, .unlock = &u->all[i] };
    }
    if (n)
        qsort(all, n, sizeof *all, by_id);
    *ret_n = n;
    return all;
}

/* Everything else in the file. */
static void put_rest(JsonWriter *w, const Unlocks *u)
{
    JsonIter it = json_each(u->doc ? json_root(u->doc) : (Json){ 0 });
    Json item;
    Str key;

    while (json_next(&it, &key, &item)) {
        if (str_eqz(key, "unlocks"))
            continue;
        json_key_str(w, key);
        json_put(w, item);
    }
}

bool unlocks_save(Arena *a, const StatePlace *place, Unlocks *u, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&out, 2);
    size_t n;
    Entry *all = entries_of(a, u, &n);

    w.ascii = true;
    json_begin(&w, '{');
    json_field_begin(&w, "unlocks", '{');
    for (size_t i = 0; i < n; i++) {
        json_key_str(&w, all[i].id);
        if (all[i].unlock)
            put_unlock(&w, all[i].unlock, all[i].old);
        else
            json_put(&w, all[i].old);
    }
    json_end(&w, '}');
    put_rest(&w, u);
    json_end(&w, '}');
    if (!folder_make(str_z(a, place->folder), err) ||
        !file_write_atomic(str_join_path(a, place->folder, place->file).p, buf_str(&out), err))
        return false;
    u->changed = false;
    return true;
}
