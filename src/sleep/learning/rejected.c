/* A list with a most; the oldest rejected edits go first when it is full. */
#include "sleep/learning/rejected.h"

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
    drop_oldest(known, pending, pending ? PENDING_MOST : REJECTED_MOST);
    known_edit_init(&k);
    k.target = str_dup(a, edit->target);
    k.op = str_dup(a, edit->op);
    k.content = str_dup(a, edit->content);
    k.anchor = str_dup(a, edit->anchor);
    k.rationale = str_dup(a, edit->rationale);
    LIST_PUSH(a, known, k);
    return &known->items[known->n - 1];
}

void rejected_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    KnownEdit *k = known_or_new(a, known, edit, false);

    k->status = STR("rejected");
    k->reason = str_dup(a, reason);
    k->night = night;
    k->tries++;
}

void pending_add(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    KnownEdit *k = known_or_new(a, known, edit, true);

    k->tries++;
    k->night = night;
    k->reason = str_dup(a, reason);
    k->status = k->tries >= REJECTED_TRIES ? STR("rejected") : STR("pending");
}

void rule_kept(Arena *a, KnownEdits *known, const EditRecord *edit, int64_t night, Str reason)
{
    KnownEdit *k = known_or_new(a, known, edit, false);

    k->status = STR("kept");
    k->reason = str_dup(a, reason);
    k->night = night;
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
