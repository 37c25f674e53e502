#include "sleep/learning/known.h"

#include "base/limits.h"

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
        json_begin(&w, '[');
        for (size_t k = 0; k < book->items[i].edits.n; k++)
            known_edit_put(&w, &book->items[i].edits.items[k]);
        json_end(&w, ']');
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
