/* A document and edits, both from outside: the user's text stays byte for byte, and what was
 * written parses again as the same rules. Before the first line that is "===": the document; then
 * edits, one a line: op, anchor and content, with a tab between; "\n" in a content is a line
 * feed. */
#include "sleep/learning/edits.h"

#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str unescaped(Arena *a, Str s)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_DOCUMENT);
    size_t at;

    while ((at = str_find(s, STR("\\n"))) < s.n) {
        buf_add(&out, str_head(s, at));
        buf_addc(&out, '\n');
        s = str_skip(s, at + 2);
    }
    buf_add(&out, s);
    return str_dup(a, buf_str(&out));
}

static EditRecords read_edits(Arena *a, Str text)
{
    EditRecords edits = { 0 };
    Str line;

    while (str_split(&text, '\n', &line) && edits.n < 16) {
        EditRecord e;

        edit_init(&e);
        (void)str_split(&line, '\t', &e.op);
        (void)str_split(&line, '\t', &e.anchor);
        e.content = unescaped(a, line);
        LIST_PUSH(a, &edits, e);
    }
    return edits;
}

static void same_rules(Document *a, Document *b)
{
    ASSERT(document_rules(a) == document_rules(b));
    for (size_t i = 0; i < document_rules(a); i++)
        ASSERT(str_eq(document_rule(a, i)->text, document_rule(b, i)->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    size_t at = str_find(text, STR("\n===\n"));
    Str doc = str_head(text, at);
    EditRecords edits = read_edits(a, str_skip(text, at + 5));
    RuleNote note = { .night = 1, .until = 31, .evidence = STR("x") };
    EditsApplied done, again;
    Document was, is, bare;
    Err err;

    if (!edits_apply(a, doc, &edits, size % 2 ? &note : NULL, &done, &err)) {
        ASSERT(err.text[0]);
        return 0;
    }
    ASSERT(document_parse(a, doc, &was, &err) && document_parse(a, done.text, &is, &err));
    ASSERT(str_eq(document_write(a, &was), doc) && str_eq(document_write(a, &is), done.text));
    ASSERT(str_starts(is.before, was.before) && str_eq(is.after, was.after));
    ASSERT(!was.start.n || str_eq(is.before, was.before));
    ASSERT(done.applied.n || str_eq(done.text, doc));
    ASSERT(done.applied.n + done.unmatched.n == edits.n && done.why.n == done.unmatched.n);
    ASSERT(edits_apply(a, done.text, &(EditRecords){ 0 }, NULL, &again, &err));
    ASSERT(str_eq(again.text, done.text));
    ASSERT(document_parse(a, document_bare(a, done.text), &bare, &err));
    same_rules(&is, &bare);
    return 0;
}
