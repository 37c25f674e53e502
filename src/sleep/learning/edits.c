/* Rules are compared in lower case with blanks squeezed, as people would. */
#include "sleep/learning/edits.h"

#include "base/limits.h"
#include "text/letters.h"
#include "text/utf8.h"

typedef struct Editing {
    Arena *arena;
    Document doc;
    const RuleNote *note;
    const char *why; /* the last edit was not applied */
} Editing;

static bool fails(Editing *w, const char *why)
{
    w->why = why;
    return false;
}

static RuleNote note_for(const Editing *w, Str content)
{
    RuleNote note = { 0 };

    if (!w->note)
        return note;
    note = *w->note;
    note.id = id_of_rule(w->arena, content);
    return note;
}

static bool good_content(Editing *w, Str content)
{
    if (!content.n)
        return fails(w, "nothing to write");
    if (document_protected(content))
        return fails(w, "the text holds a marker or a comment");
    if (utf8_count(content) > LIMIT_SLEEP_RULE_CHARS)
        return fails(w, "the text is too long for a rule");
    return true;
}

static Rule *rule_saying(Editing *w, Str squeezed)
{
    Rule *rule;

    for (size_t i = 0; (rule = document_rule(&w->doc, i)); i++)
        if (str_eq(text_squeeze(w->arena, rule->text), squeezed))
            return rule;
    return NULL;
}

/* The one rule that the anchor means, or NULL with the reason. */
static Rule *anchored(Editing *w, Str anchor)
{
    Str squeezed = text_squeeze(w->arena, anchor);
    Rule *rule = rule_saying(w, squeezed), *found = NULL;

    if (!squeezed.n)
        return fails(w, "no anchor"), NULL;
    if (rule)
        return rule;
    for (size_t i = 0; (rule = document_rule(&w->doc, i)); i++) {
        Str text = text_squeeze(w->arena, rule->text);

        if (rule->note.id.n && str_eq(rule->note.id, squeezed))
            return rule;
        if (str_find(text, squeezed) >= text.n)
            continue;
        if (found)
            return fails(w, "the anchor fits more than one rule"), NULL;
        found = rule;
    }
    if (!found)
        w->why = "the anchor fits no rule";
    return found;
}

static bool add_rule(Editing *w, const EditRecord *edit)
{
    Str content = text_trim(edit->content);
    RuleNote note = note_for(w, content);

    if (!good_content(w, content))
        return false;
    if (rule_saying(w, text_squeeze(w->arena, content)))
        return fails(w, "the rule is there already");
    if (document_rules(&w->doc) >= LIMIT_SLEEP_RULES)
        return fails(w, "there are too many rules");
    document_add(w->arena, &w->doc, content, &note);
    return true;
}

/* Without content: removes the rule. */
static bool replace_rule(Editing *w, Str anchor, Str content)
{
    Rule *rule = anchored(w, anchor);

    if (!rule)
        return false;
    if (!content.n) {
        document_remove(&w->doc, rule);
        return true;
    }
    if (!good_content(w, content))
        return false;
    if (rule_saying(w, text_squeeze(w->arena, content)))
        return fails(w, "the rule is there already");
    rule->text = str_dup(w->arena, content);
    rule->raw = STR_NONE;
    rule->note = note_for(w, content);
    return true;
}

static bool apply_edit(Editing *w, const EditRecord *edit)
{
    Str op = text_squeeze(w->arena, edit->op);

    if (!op.n || str_eq(op, STR("add")))
        return add_rule(w, edit);
    if (str_eq(op, STR("delete")))
        return replace_rule(w, text_trim(edit->anchor).n ? edit->anchor : edit->content, STR(""));
    if (str_eq(op, STR("replace")))
        return replace_rule(w, edit->anchor, text_trim(edit->content));
    return fails(w, "no such operation");
}

bool edits_apply(Arena *a, Str text, const EditRecords *edits, const RuleNote *note,
                 EditsApplied *ret, Err *err)
{
    Editing w = { .arena = a, .note = note };
    EditsApplied done = { .text = text };

    if (!document_parse(a, text, &w.doc, err))
        return false;
    for (size_t i = 0; i < edits->n; i++) {
        if (apply_edit(&w, &edits->items[i])) {
            LIST_PUSH(a, &done.applied, edits->items[i]);
            continue;
        }
        LIST_PUSH(a, &done.unmatched, edits->items[i]);
        LIST_PUSH(a, &done.why, str_of(w.why));
    }
    if (done.applied.n)
        done.text = document_write(a, &w.doc);
    *ret = done;
    return true;
}

Str edit_key(Arena *a, const EditRecord *edit)
{
    Str op = text_squeeze(a, edit->op), content = text_squeeze(a, edit->content);
    Str anchor = text_squeeze(a, edit->anchor);

    return str_printf(a, "%.*s|%.*s|%.*s", STR_FMT(op.n ? op : STR("add")), STR_FMT(content),
                      STR_FMT(str_eq(op, STR("add")) ? STR("") : anchor));
}
