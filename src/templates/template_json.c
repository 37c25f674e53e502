/* One place for the shapes, so that the command line and the server cannot drift apart. */
#include "templates/template_json.h"

#include <math.h>

#include "text/tokens.h"

/* -- templates -- */

size_t template_tokens(const Template *t)
{
    size_t sum = 0;

    for (size_t i = 0; i < t->n_examples; i++)
        sum += tokens_estimate(t->examples[i].tool) + tokens_estimate(t->examples[i].arguments) +
               tokens_estimate(t->examples[i].result);
    return sum;
}

void template_put_summary(JsonWriter *w, const Template *t)
{
    json_field_str(w, "name", t->name);
    json_field_str(w, "type", str_of(tasktype_name(t->type)));
    json_field_int(w, "examples", (int64_t)t->n_examples);
    json_field_int(w, "usage_count", t->usage_count);
    json_field_double(w, "created_at", t->created_at);
    json_field_str(w, "description", t->description);
    json_field_str(w, "source_session_id", t->source_session_id);
    json_field_str(w, "path", t->path);
}

void template_put_shown(JsonWriter *w, const Template *t)
{
    json_field_str(w, "path", t->path);
    json_field_int(w, "tokens", (int64_t)template_tokens(t));
    json_key(w, "template");
    template_put(w, t);
}

void template_put_created(JsonWriter *w, const Template *t, const Extract *x, bool dry_run)
{
    json_field_bool(w, "dry_run", dry_run);
    json_field_str(w, "name", t->name);
    json_field_str(w, "type", str_of(tasktype_name(t->type)));
    json_field_int(w, "examples", (int64_t)t->n_examples);
    json_field_str(w, "description", t->description);
    json_field_str(w, "source_session_id", t->source_session_id);
    json_field_begin(w, "sessions", '[');
    for (size_t i = 0; i < x->n_sessions; i++)
        json_put_str(w, x->sessions[i]);
    json_end(w, ']');
    json_field_str(w, "path", t->path);
    json_field_int(w, "calls", (int64_t)x->calls);
    json_field_int(w, "failed", (int64_t)x->failed);
    json_field_int(w, "too_large", (int64_t)x->too_large);
    json_field_int(w, "tokens", (int64_t)x->tokens);
}

void inject_put_messages(JsonWriter *w, Json messages, Str input, const Template *t,
                         const InjectOptions *options, InjectEffect effect)
{
    if (inject_changes(effect))
        inject_write(w, messages, t, options);
    else
        json_put_raw(w, str_trim(input));
}

void inject_put(JsonWriter *w, Json messages, Str input, const Template *t,
                const InjectOptions *options, InjectEffect effect)
{
    json_field_str(w, "template", t->name);
    json_field_str(w, "type", str_of(tasktype_name(t->type)));
    json_field_bool(w, "changed", inject_changes(effect));
    json_field_str(w, "reason", str_of(inject_effect_text(effect)));
    json_key(w, "messages");
    inject_put_messages(w, messages, input, t, options, effect);
}

/* -- study -- */

const char study_method[] = "Method: a call fails by what its result says; each share has its "
                            "Wilson interval; the slope is "
                            "that of a line through all calls, its interval by Student's t with "
                            "errors clustered by session.";

static void put_share(JsonWriter *w, size_t decile, const StudyShare *s)
{
    json_begin(w, '{');
    json_field_int(w, "decile", (int64_t)decile);
    json_field_int(w, "calls", (int64_t)s->calls);
    json_field_int(w, "failed", (int64_t)s->failed);
    /* NaN is written as null: without calls there is no share. */
    json_field_double(w, "share", s->calls ? s->share : (double)NAN);
    json_field_double(w, "low", s->calls ? s->low : (double)NAN);
    json_field_double(w, "high", s->calls ? s->high : (double)NAN);
    json_end(w, '}');
}

static void put_fit(JsonWriter *w, const StudyLine *line)
{
    json_key(w, "slope");
    if (!line->enough || !line->fit.known) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    json_field_double(w, "per_decile", line->fit.slope);
    json_field_double(w, "standard_error", line->fit.error);
    json_field_double(w, "low", line->fit.low);
    json_field_double(w, "high", line->fit.high);
    json_field_bool(w, "differs_from_zero", line->fit.differs);
    json_end(w, '}');
}

static void put_line(JsonWriter *w, StudyKind kind, const StudyLine *line)
{
    json_begin(w, '{');
    json_field_str(w, "kind", str_of(study_kind_name(kind)));
    json_field_int(w, "sessions", (int64_t)line->sessions);
    json_field_int(w, "calls", (int64_t)line->calls);
    json_field_int(w, "failed", (int64_t)line->failed);
    json_field_bool(w, "enough", line->enough);
    put_fit(w, line);
    json_field_str(w, "verdict", str_of(study_verdict(line)));
    json_field_begin(w, "deciles", '[');
    for (size_t d = 0; d < STUDY_DECILES; d++)
        put_share(w, d + 1, &line->deciles[d]);
    json_end(w, ']');
    json_end(w, '}');
}

void study_put(JsonWriter *w, const Study *study)
{
    json_field_int(w, "sessions", (int64_t)study->sessions);
    json_field_begin(w, "kinds", '[');
    for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++)
        put_line(w, k, &study->lines[k]);
    json_end(w, ']');
    json_field_str(w, "method", str_of(study_method));
}
