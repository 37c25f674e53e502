/* template_json.h - templates and the study as the JSON that every surface gives.
 *
 * The object of a template's file is template_put (template.h); these are the answers around it.
 * Fields go into an object that the caller has begun; shapes are in docs/templates.md. */
#ifndef TALARIA_TEMPLATES_TEMPLATE_JSON_H
#define TALARIA_TEMPLATES_TEMPLATE_JSON_H

#include "templates/extract.h"
#include "templates/inject.h"
#include "templates/study.h"

size_t template_tokens(const Template *t); /* estimate, of all examples */

void template_put_summary(JsonWriter *w, const Template *t); /* a row of the list */
void template_put_shown(JsonWriter *w, const Template *t);   /* path, tokens, template */
void template_put_created(JsonWriter *w, const Template *t, const Extract *x, bool dry_run);

/* What an injection did and the messages after it; `input` is their text before it, which goes out
 * byte by byte where nothing changes. */
void inject_put(JsonWriter *w, Json messages, Str input, const Template *t,
                const InjectOptions *options, InjectEffect effect);
void inject_put_messages(JsonWriter *w, Json messages, Str input, const Template *t,
                         const InjectOptions *options, InjectEffect effect);

extern const char study_method[]; /* how it was measured, in words */
void study_put(JsonWriter *w, const Study *study);

#endif
