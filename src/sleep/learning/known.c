/* The lists are bounded: the oldest rejected edit is dropped when one is full. */
#include "sleep/learning/known.h"

#include "base/limits.h"

static EditRecord edit_of(const KnownEdit *k)
{
    return (EditRecord){ .target = k->target,
                         .op = k->op,
                         .content = k->content,
                         .anchor = k->anchor,
                         .rationale = k->rationale };
}

static bool is_pending(const KnownEdit *k)
{
    return str_eq(k->status, STR("pending"));
}

KnownEdit *rejected_find(Arena *a, const KnownEdits *known, const EditRecord *edit)
{
    Str key = edit_key(a, edit);

    for (size_t i = 0; i < known->n; i++) {
        EditRecord other = edit_of(&known->items[i]);

        if (str_eq(edit_key(a, &other), key))
            return &known->items[i];
    }
    return NULL;
}

static void remove_at(KnownEdits *known, size_t i)
{
    memmove(known->items + i, known->items + i + 1, (known->n - i - 1) * sizeof *known->items);
    known->n--;
}

static void drop_oldest(KnownEdits *known, bool pending, size_t max)
{
    size_t n = 0, oldest = known->n;

    for (size_t i = 0; i < known->n; i++)
        if (is_pending(&known->items[i]) == pending) {
            n++;
            if (oldest == known->n)
                oldest = i;
        }
    if (n >= max)
        remove_at(known, oldest);
}

static KnownEdit *known_or_new(Arena *a, KnownEdits *known, const EditRecord *edit, bool pending)
{
    KnownEdit *found = rejected_find(a, known, edit), k;

    if (found)
        return found;
    drop_oldest(known, pending, pending ? MAX_PENDING : MAX_REJECTED);
    known_edit_init(&k);
    k.target = str_dup(a, edit->target);
    k.op = str_dup(a, edit->op);
    k.content = str_dup(a, edit->content);
    k.anchor = str_dup(a, edit->anchor);
    k.rationale = str_dup(a, edit->rationale);
    LIST_PUSH(a, known, k);
    return &known->items[known->n - 1];
}

static KnownEdit *set_known(Arena *a, KnownEdits *known, const EditRecord *edit, const char *status,
                            int64_t night, Str reason)
{
    KnownEdit *k = known_or_new(a, known, edit, strcmp(status, "pending") == 0);

    k->status = str_of(status);
    k->reason = str_dup(a, reason);
    k->night = night;
    return k;
}

void rejected_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    set_known(a, known, edit, "rejected", night, reason)->tries++;
}

void pending_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    KnownEdit *k = set_known(a, known, edit, "pending", night, reason);

    if (++k->tries >= REJECTED_TRIES)
        k->status = STR("rejected");
}

void rule_kept(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    (void)set_known(a, known, edit, "kept", night, reason);
}

void rejected_forget(Arena *a, KnownEdits *known, const EditRecord *edit)
{
    KnownEdit *k = rejected_find(a, known, edit);

    if (k)
        remove_at(known, (size_t)(k - known->items));
}

EditRecords pending_for(Arena *a, const KnownEdits *known, Str target)
{
    EditRecords edits = { 0 };

    for (size_t i = 0; i < known->n; i++)
        if (is_pending(&known->items[i]) && str_eq(known->items[i].target, target))
            LIST_PUSH(a, &edits, edit_of(&known->items[i]));
    return edits;
}

/* -- Books: one list per skill -- */

KnownBook known_book_read(Arena *a, Str text)
{
    Err ignored;
    AUTO(JsonDoc) *doc = text.n ? json_parse(text, &ignored) : NULL;
    KnownBook book = { 0 };
    JsonIter it;
    Json list;
    Str skill;

    if (!doc)
        return book;
    it = json_each(json_root(doc));
    while (json_next(&it, &skill, &list)) {
        KnownOfSkill row = { .skill = str_dup(a, skill) };

        if (known_edits_read(a, list, &row.edits, &ignored))
            LIST_PUSH(a, &book, row);
    }
    return book;
}

Str known_book_text(Arena *a, const KnownBook *book)
{
    AUTO_BUF text = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&text, 0);

    if (!book->n)
        return STR("");
    json_begin(&w, '{');
    for (size_t i = 0; i < book->n; i++) {
        json_key_str(&w, book->items[i].skill);
        record_put_list(&w, &known_edit_record, &book->items[i].edits);
    }
    json_end(&w, '}');
    return str_dup(a, buf_str(&text));
}

KnownEdits *known_book_of(Arena *a, KnownBook *book, Str skill)
{
    KnownOfSkill fresh = { .skill = skill };

    for (size_t i = 0; i < book->n; i++)
        if (str_eq(book->items[i].skill, skill))
            return &book->items[i].edits;
    LIST_PUSH(a, book, fresh);
    return &book->items[book->n - 1].edits;
}
