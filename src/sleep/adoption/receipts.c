#include "sleep/adoption/receipts.h"

#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"

static const char *const actions[] = { "adopt", "undo" };
/* In the legacy file: by ItemKind. */
static const char *const targets[] = { "", "skill", "memory" };

#define ACTION_ROW                                                                                 \
    RECORD_FIELD(Receipt, undo, .key = "action", .words = actions, .n_words = ARRAY_LEN(actions))
#define SHARED_ROWS                                                                                \
    RECORD_FIELD(Receipt, sha256_before), RECORD_FIELD(Receipt, sha256_after),                     \
        RECORD_FIELD(Receipt, backup_path), RECORD_FIELD(Receipt, created, .key = "created_dirs"), \
        RECORD_FIELD(Receipt, number), RECORD_FIELD(Receipt, at)

static const RecordField skill_fields[] = {
    ACTION_ROW,
    RECORD_FIELD(Receipt, name, .key = "skill_name"),
    RECORD_FIELD(Receipt, live_path, .key = "live_skill_path"),
    SHARED_ROWS,
};
static const RecordField legacy_fields[] = {
    ACTION_ROW,
    RECORD_ENUM(Receipt, kind, targets, .key = "target", .fallback = "skill"),
    RECORD_FIELD(Receipt, name),
    RECORD_FIELD(Receipt, live_path),
    SHARED_ROWS,
};
static const RecordTable skill_record = RECORD(Receipt, "receipt", skill_fields, .lenient = true);
static const RecordTable legacy_record = RECORD(Receipt, "receipt", legacy_fields, .lenient = true);

Str receipts_file(ItemKind kind)
{
    return kind == ITEM_SKILL ? STR("adopted_skills.json") : STR("adopted_legacy.json");
}

/* -- Reading -- */

static bool read_file(Arena *a, Str folder, Str night, ItemKind kind, Receipts *all, Err *err)
{
    const RecordTable *record = kind == ITEM_SKILL ? &skill_record : &legacy_record;
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

        if (!record_read(a, record, json_at(json_root(doc), i), &r, err) || !r.name.n ||
            !r.live_path.n || !r.number)
            return err_set(err, ERR_CORRUPT, "cannot read '%s': a row has no name, path or number",
                           path);
        r.night = night;
        LIST_PUSH(a, all, r);
    }
    return true;
}

bool receipts_read(Arena *a, Str folder, Str night, Receipts *ret, Err *err)
{
    Receipts all = { 0 };

    if (!read_file(a, folder, night, ITEM_SKILL, &all, err) ||
        !read_file(a, folder, night, ITEM_MANAGED, &all, err))
        return false;
    *ret = all;
    return true;
}

const Receipt *receipt_active(const Receipts *r, ItemKind kind, Str name)
{
    const Receipt *last = NULL;

    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].kind == kind && str_eq(r->items[i].name, name))
            last = &r->items[i];
    return last && !last->undo ? last : NULL;
}

/* -- Writing -- */

void receipt_put(JsonWriter *w, const Receipt *r)
{
    record_put(w, r->kind == ITEM_SKILL ? &skill_record : &legacy_record, r);
}

void receipts_put(Buf *out, const Receipts *old, const Receipts *more, ItemKind kind)
{
    JsonWriter w = JSON_WRITER(out, 2);

    json_begin(&w, '[');
    for (size_t i = 0; i < old->n; i++)
        if ((old->items[i].kind == ITEM_SKILL) == (kind == ITEM_SKILL))
            receipt_put(&w, &old->items[i]);
    for (size_t i = 0; i < more->n; i++)
        receipt_put(&w, &more->items[i]);
    json_end(&w, ']');
    buf_addc(out, '\n');
}
