/* In the file, "legacy" is an object with at most two keys and "skills" is a list; in memory they
 * are one array whose items differ by kind. */
#include "sleep/adoption/manifest.h"

#include "base/file.h"
#include "base/limits.h"
#include "sleep/task/names.h"
#include "sleep/task/places.h"
#include "text/sha256.h"

#define SCHEMA "skillopt-sleep-staging"
enum { SCHEMA_VERSION = 2 };

const char *const item_kind_names[] = {
#define X(kind, word) word,
    ITEM_KINDS(X)
#undef X
};

static const RecordField skill_fields[] = {
    RECORD_FIELD(StagedItem, name, .key = "skill_name"),
    RECORD_FIELD(StagedItem, proposed_file),
    RECORD_FIELD(StagedItem, live_path, .key = "live_skill_path"),
    RECORD_FIELD(StagedItem, sha256),
    RECORD_FIELD(StagedItem, live_sha256, .required = true),
    RECORD_FIELD(StagedItem, live_realpath),
};
static const RecordField legacy_fields[] = {
    RECORD_FIELD(StagedItem, proposed_file),
    RECORD_FIELD(StagedItem, live_path),
    RECORD_FIELD(StagedItem, sha256),
    RECORD_FIELD(StagedItem, live_sha256, .required = true),
    RECORD_FIELD(StagedItem, live_realpath),
};
static const RecordTable skill_record = RECORD(StagedItem, "row", skill_fields, .lenient = true);
static const RecordTable legacy_record = RECORD(StagedItem, "row", legacy_fields, .lenient = true);

const char *item_kind_name(ItemKind kind)
{
    return item_kind_names[kind];
}

Str proposed_name(Arena *a, ItemKind kind, Str name)
{
    if (kind == ITEM_SKILL)
        return str_printf(a, "proposed_SKILL.%.*s.md", STR_FMT(name));
    return kind == ITEM_MANAGED ? STR("proposed_SKILL.md") : STR("proposed_CLAUDE.md");
}

bool manifest_has(const Manifest *m, ItemKind kind)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].kind == kind)
            return true;
    return false;
}

/* -- Checks -- */

static bool is_sha256(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]))
            return false;
    return s.n == SHA256_HEX;
}

static bool check_live(const StagedItem *item, Err *err)
{
    static const char *const memory[] = { "/CLAUDE.md", "/AGENTS.md", "/MEMORY.md" };
    Str path = item->live_path;
    bool fits = false;

    for (size_t i = 0; item->kind == ITEM_MEMORY && i < ARRAY_LEN(memory); i++)
        fits = fits || str_ends(path, str_of(memory[i]));
    if (item->kind != ITEM_MEMORY && str_ends(path, STR("/SKILL.md"))) {
        Str folder = str_head(path, path.n - (sizeof "/SKILL.md" - 1));

        fits = str_ends(folder, item->name) && folder.n > item->name.n &&
               folder.p[folder.n - item->name.n - 1] == '/';
    }
    return (fits && path.p[0] == '/') ||
           err_set(err, ERR_REFUSED, "'%.*s' is no place for %s '%.*s'", STR_FMT(path),
                   item_kind_name(item->kind), STR_FMT(item->name));
}

static bool check_row(Arena *a, const StagedItem *item, Err *err)
{
    if (item->kind != ITEM_MEMORY &&
        (!item->name.n || !str_eq(name_to_stage(item->name), item->name)))
        return err_set(err, ERR_REFUSED, "'%.*s' cannot be the name of a skill",
                       STR_FMT(item->name));
    if (!str_eq(item->proposed_file, proposed_name(a, item->kind, item->name)))
        return err_set(err, ERR_REFUSED, "'%.*s' is no name for a proposal",
                       STR_FMT(item->proposed_file));
    if (!is_sha256(item->sha256) || (item->live_sha256.n && !is_sha256(item->live_sha256)))
        return err_set(err, ERR_REFUSED, "the row of '%.*s' has no pins", STR_FMT(item->name));
    return check_live(item, err);
}

static bool collide(Arena *a, const StagedItem *x, const StagedItem *y)
{
    return (x->kind == y->kind && str_eq(name_key(a, x->name), name_key(a, y->name))) ||
           str_eq(name_key(a, x->proposed_file), name_key(a, y->proposed_file)) ||
           str_eq(name_key(a, x->live_path), name_key(a, y->live_path));
}

bool manifest_check(const Manifest *m, Err *err)
{
    AUTO(Arena) *a = arena_new();

    if (m->n > LIMIT_SLEEP_SKILLS)
        return err_set(err, ERR_TOO_LARGE, "more than %d proposals in a night", LIMIT_SLEEP_SKILLS);
    for (size_t i = 0; i < m->n; i++) {
        const StagedItem *item = &m->items[i];

        if (!check_row(a, item, err))
            return false;
        if (item->kind == ITEM_SKILL && !inside_roots(item->live_path, &m->skill_roots))
            return err_set(err, ERR_REFUSED, "'%.*s' lies outside of the folders of skills",
                           STR_FMT(item->live_path));
        for (size_t k = 0; k < i; k++)
            if (collide(a, item, &m->items[k]))
                return err_set(err, ERR_REFUSED, "'%.*s' and '%.*s' collide",
                               STR_FMT(m->items[k].name), STR_FMT(item->name));
    }
    return true;
}

/* -- Writing -- */

static void put_row(JsonWriter *w, const StagedItem *item)
{
    StagedItem row = *item;

    row.live_realpath = row.live_path;
    record_put(w, item->kind == ITEM_SKILL ? &skill_record : &legacy_record, &row);
}

void manifest_put(JsonWriter *w, const Manifest *m)
{
    bool managed = manifest_has(m, ITEM_MANAGED), memory = manifest_has(m, ITEM_MEMORY);

    json_begin(w, '{');
    json_field_str(w, "schema", STR(SCHEMA));
    json_field_int(w, "schema_version", SCHEMA_VERSION);
    json_field_str(w, "live_skill_path", m->live_skill_path.p ? m->live_skill_path : STR(""));
    json_field_str(w, "live_memory_path", m->live_memory_path.p ? m->live_memory_path : STR(""));
    json_field_bool(w, "has_skill", false);
    json_field_bool(w, "has_memory", false);
    json_field_bool(w, "has_managed_skill", managed);
    json_field_bool(w, "has_managed_memory", memory);
    json_field_bool(w, "accepted", m->accepted);
    if (managed || memory) {
        json_field_begin(w, "legacy", '{');
        for (size_t i = 0; i < m->n; i++)
            if (m->items[i].kind != ITEM_SKILL) {
                json_key(w, m->items[i].kind == ITEM_MANAGED ? "skill" : "memory");
                put_row(w, &m->items[i]);
            }
        json_end(w, '}');
    }
    if (manifest_has(m, ITEM_SKILL)) {
        json_field_begin(w, "skills", '[');
        for (size_t i = 0; i < m->n; i++)
            if (m->items[i].kind == ITEM_SKILL)
                put_row(w, &m->items[i]);
        json_end(w, ']');
    }
    json_key(w, "skill_roots");
    strs_put(w, &m->skill_roots);
    json_end(w, '}');
}

/* -- Reading -- */

static bool read_row(Arena *a, Json v, ItemKind kind, StagedItem *ret, Err *err)
{
    const RecordTable *record = kind == ITEM_SKILL ? &skill_record : &legacy_record;

    if (!record_read(a, record, v, ret, err) || !ret->live_path.n ||
        !str_eq(ret->live_realpath, ret->live_path))
        return err_set(err, ERR_REFUSED, "a row of the manifest has no pins");
    ret->kind = kind;
    if (kind != ITEM_SKILL)
        ret->name =
            str_file_name(kind == ITEM_MEMORY ? ret->live_path : str_folder(ret->live_path));
    return true;
}

static bool read_rows(Arena *a, Json root, Manifest *m, Err *err)
{
    Json legacy = json_get(root, STR("legacy")), skills = json_get(root, STR("skills"));
    size_t n = json_count(skills);
    Json row;

    if (n > LIMIT_SLEEP_SKILLS)
        return err_set(err, ERR_TOO_LARGE, "more than %d proposals in a night", LIMIT_SLEEP_SKILLS);
    m->items = ARENA_ARRAY(a, StagedItem, n + 2);
    row = json_get(legacy, STR("skill"));
    if (json_type(row) != JSON_NONE && !read_row(a, row, ITEM_MANAGED, &m->items[m->n++], err))
        return false;
    row = json_get(legacy, STR("memory"));
    if (json_type(row) != JSON_NONE && !read_row(a, row, ITEM_MEMORY, &m->items[m->n++], err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!read_row(a, json_at(skills, i), ITEM_SKILL, &m->items[m->n++], err))
            return false;
    return true;
}

bool manifest_parse(Arena *a, Str text, Manifest *ret, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(text, err);
    Json root = doc ? json_root(doc) : (Json){ 0 }, roots = json_get(root, STR("skill_roots"));
    int64_t version = 0;
    Manifest m = { 0 };

    if (!doc)
        return false;
    if (!str_eqz(json_str(json_get(root, STR("schema"))), SCHEMA))
        return err_set(err, ERR_REFUSED, "it is not the manifest of a night");
    if (!json_int(json_get(root, STR("schema_version")), &version) || version != SCHEMA_VERSION)
        return err_set(err, ERR_REFUSED, "version %lld of the manifest is not known",
                       (long long)version);
    (void)json_bool(json_get(root, STR("accepted")), &m.accepted);
    m.live_skill_path = str_dup(a, json_str(json_get(root, STR("live_skill_path"))));
    m.live_memory_path = str_dup(a, json_str(json_get(root, STR("live_memory_path"))));
    for (size_t i = 0; i < json_count(roots) && i < LIMIT_SLEEP_ROOTS; i++)
        LIST_PUSH(a, &m.skill_roots, str_dup(a, json_str(json_at(roots, i))));
    if (!read_rows(a, root, &m, err) || !manifest_check(&m, err))
        return false;
    *ret = m;
    return true;
}

bool manifest_read(Arena *a, Str night_folder, Manifest *ret, Err *err)
{
    char *path = str_z(a, str_join_path(a, night_folder, STR(MANIFEST_FILE)));
    Str text;

    return file_read(a, path, LIMIT_SLEEP_FILE, &text, err) &&
           (manifest_parse(a, text, ret, err) || err_wrap(err, "cannot use '%s'", path));
}
