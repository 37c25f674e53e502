/* What was given, as JSON: for the attachment and for the metadata of a run. */
#include <math.h>

#include "agent/context.h"
#include "base/limits.h"

/* Two digits: a search weighs age by the clock, and an attachment must not differ for a second of it. */
static double rounded(double score)
{
    return round(score * 100) / 100;
}

static void put_receipt(JsonWriter *w, const ContextReceipt *r)
{
    json_begin(w, '{');
    json_field_str(w, "kind", str_of(context_part_name(r->part)));
    json_field_str(w, "id", r->id);
    json_field_double(w, "score", rounded(r->score));
    json_field_str(w, "reason", r->reason);
    json_field_int(w, "chars", (int64_t)r->chars);
    json_end(w, '}');
}

/* Skills that were not taken, by why. */
static void put_omitted(JsonWriter *w, const Shortlist *list)
{
    json_key(w, "omitted");
    json_begin(w, '{');
    json_field_int(w, "platform", (int64_t)list->omitted.platform);
    json_field_int(w, "disabled", (int64_t)list->omitted.disabled);
    json_field_int(w, "score", (int64_t)list->omitted.score);
    json_end(w, '}');
}

static void put_part(JsonWriter *w, const ContextBuilt *b, ContextPart part)
{
    json_key(w, context_part_name(part));
    json_begin(w, '{');
    json_field_int(w, "items", (int64_t)b->parts[part].items);
    json_field_int(w, "tokens", (int64_t)b->parts[part].tokens);
    if (b->parts[part].truncated)
        json_field_bool(w, "truncated", true);
    if (b->parts[part].degraded)
        json_field_str(w, "degraded", b->parts[part].reason);
    if (part == CONTEXT_SKILLS)
        put_omitted(w, &b->skills);
    json_end(w, '}');
}

Str context_receipts_json(Arena *a, const ContextBuilt *built)
{
    AUTO_BUF b = BUF(LIMIT_CONTEXT_BYTES * 4);
    JsonWriter w = JSON_WRITER(&b, 0);

    json_begin(&w, '{');
    json_field_int(&w, "format", 1);
    json_field_int(&w, "tokens", (int64_t)built->tokens);
    json_key(&w, "parts");
    json_begin(&w, '{');
    for (int i = 0; i < CONTEXT_PART_COUNT; i++)
        put_part(&w, built, (ContextPart)i);
    json_end(&w, '}');
    json_key(&w, "receipts");
    json_begin(&w, '[');
    for (size_t i = 0; i < built->n_receipts; i++)
        put_receipt(&w, &built->receipts[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&b));
}

void context_put_counts(JsonWriter *w, const ContextBuilt *built)
{
    json_begin(w, '{');
    json_field_int(w, "tokens", (int64_t)built->tokens);
    for (int i = 0; i <= CONTEXT_BRAIN; i++)
        json_field_int(w, context_part_name((ContextPart)i), (int64_t)built->parts[i].items);
    if (built->truncated)
        json_field_bool(w, "truncated", true);
    json_end(w, '}');
}

void context_put_skills(JsonWriter *w, const Shortlist *list)
{
    json_begin(w, '[');
    for (size_t i = 0; i < list->n; i++) {
        json_begin(w, '{');
        json_field_str(w, "name", list->picks[i].name);
        json_field_double(w, "score", rounded(list->picks[i].score));
        json_field_str(w, "confidence", str_of(skill_confidence_name(list->picks[i].confidence)));
        json_end(w, '}');
    }
    json_end(w, ']');
}
