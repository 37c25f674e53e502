#include "sleep/adoption/receipts.h"

#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"

Str receipts_file(ItemKind kind)
{
    return kind == ITEM_SKILL ? STR("adopted_skills.json") : STR("adopted_legacy.json");
}

/* -- reading ------------------------------------------------------------------------------------ */

static Str text_of(Arena *a, Json row, Str key)
{
    return str_dup(a, json_str(json_get(row, key)));
}

static void read_created(Arena *a, Json list, Receipt *r)
{
    JsonIter it = json_each(list);
    size_t cap = 0;
    Str ignored;
    Json item;

    while (json_next(&it, &ignored, &item))
        ARENA_PUSH(a, r->created, r->n_created, cap, str_dup(a, json_str(item)));
}

static bool read_row(Arena *a, Json row, bool skills, Str night, Receipt *ret, Err *err)
{
    Receipt r = { .night = night,
                  .name = text_of(a, row, skills ? STR("skill_name") : STR("name")),
                  .live_path = text_of(a, row, skills ? STR("live_skill_path") : STR("live_path")),
                  .sha256_before = text_of(a, row, STR("sha256_before")),
                  .sha256_after = text_of(a, row, STR("sha256_after")),
                  .backup_path = text_of(a, row, STR("backup_path")),
                  .at = text_of(a, row, STR("at")) };
    Str target = json_str(json_get(row, STR("target")));

    r.kind = skills ? ITEM_SKILL : str_eqz(target, "memory") ? ITEM_MEMORY : ITEM_MANAGED;
    r.undo = str_eqz(json_str(json_get(row, STR("action"))), "undo");
    read_created(a, json_get(row, STR("created_dirs")), &r);
    if (!r.name.n || !r.live_path.n || !json_int(json_get(row, STR("number")), &r.number))
        return err_set(err, ERR_CORRUPT, "a row has no name, path or number");
    *ret = r;
    return true;
}

static bool read_file(Arena *a, Str folder, Str night, ItemKind kind, Receipts *all, size_t *cap,
                      Err *err)
{
    char *path = str_z(a, str_join_path(a, folder, receipts_file(kind)));
    AUTO(JsonDoc) *doc = NULL;
    Str text;

    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_SLEEP_FILE, &text, err))
        return false;
    doc = json_parse(text, err);
    if (!doc)
        return err_wrap(err, "cannot read '%s'", path);
    for (size_t i = 0; i < json_count(json_root(doc)); i++) {
        Receipt r;

        if (!read_row(a, json_at(json_root(doc), i), kind == ITEM_SKILL, night, &r, err))
            return err_wrap(err, "cannot read '%s'", path);
        ARENA_PUSH(a, all->all, all->n, *cap, r);
    }
    return true;
}

bool receipts_read(Arena *a, Str folder, Str night, Receipts *ret, Err *err)
{
    Receipts all = { 0 };
    size_t cap = 0;

    if (!read_file(a, folder, night, ITEM_SKILL, &all, &cap, err) ||
        !read_file(a, folder, night, ITEM_MANAGED, &all, &cap, err))
        return false;
    *ret = all;
    return true;
}

const Receipt *receipt_active(const Receipts *r, ItemKind kind, Str name)
{
    const Receipt *last = NULL;

    for (size_t i = 0; i < r->n; i++)
        if (r->all[i].kind == kind && str_eq(r->all[i].name, name))
            last = &r->all[i];
    return last && !last->undo ? last : NULL;
}

/* -- writing ------------------------------------------------------------------------------------ */

void receipt_put(JsonWriter *w, const Receipt *r)
{
    json_begin(w, '{');
    json_field_str(w, "action", r->undo ? STR("undo") : STR("adopt"));
    if (r->kind == ITEM_SKILL) {
        json_field_str(w, "skill_name", r->name);
        json_field_str(w, "live_skill_path", r->live_path);
    } else {
        json_field_str(w, "target", r->kind == ITEM_MEMORY ? STR("memory") : STR("skill"));
        json_field_str(w, "name", r->name);
        json_field_str(w, "live_path", r->live_path);
    }
    json_field_str(w, "sha256_before", r->sha256_before);
    json_field_str(w, "sha256_after", r->sha256_after);
    json_field_str(w, "backup_path", r->backup_path);
    json_key(w, "created_dirs");
    json_begin(w, '[');
    for (size_t i = 0; i < r->n_created; i++)
        json_put_str(w, r->created[i]);
    json_end(w, ']');
    json_field_int(w, "number", r->number);
    json_field_str(w, "at", r->at);
    json_end(w, '}');
}

void receipts_put(Buf *out, const Receipts *old, const Receipt *more, size_t n, ItemKind kind)
{
    JsonWriter w = JSON_WRITER(out, 2);
    bool skills = kind == ITEM_SKILL;

    json_begin(&w, '[');
    for (size_t i = 0; i < old->n; i++)
        if ((old->all[i].kind == ITEM_SKILL) == skills)
            receipt_put(&w, &old->all[i]);
    for (size_t i = 0; i < n; i++)
        receipt_put(&w, &more[i]);
    json_end(&w, ']');
    buf_addc(out, '\n');
}
