/* inject.h - a template put in front of a new conversation.
 *
 * The conversation is a JSON array of chat messages, of OpenAI's shape or Anthropic's. The template
 * goes right after the leading system messages: one message that names it, then a call and its
 * result for each example, with the ids template_0, template_1, ... In Anthropic's shape there is
 * no system message in the array, so a user message names the template, and the last result shares
 * its message with the user's own first words: roles keep alternating.
 *
 * A conversation carries a template when a message in it names one or a call has such an id. It is
 * then left as it is, or, where that is asked for, the old one is taken out first. Every other
 * message passes through unchanged. All functions are pure. */
#ifndef TALARIA_TEMPLATES_INJECT_H
#define TALARIA_TEMPLATES_INJECT_H

#include "templates/template.h"
#include "text/json.h"

typedef enum InjectFormat { INJECT_OPENAI, INJECT_ANTHROPIC } InjectFormat;

typedef struct InjectOptions {
    InjectFormat format;
    Str tools;    /* "a,b,c": the tools of the new session; p NULL: all of them */
    bool replace; /* a template that is already there gives way */
} InjectOptions;

/* What an injection would do, and in words why it does nothing. */
#define INJECT_EFFECTS(X)                                                                          \
    X(INJECT_ADDED, "the template was put in")                                                     \
    X(INJECT_REPLACED, "the template took the place of the one that was there")                    \
    X(INJECT_CARRIED, "the conversation already carries a template")                               \
    X(INJECT_EMPTY, "the template has no examples")                                                \
    X(INJECT_NO_TOOLS, "none of the template's examples uses a tool of this session")

typedef enum InjectEffect {
#define X(name, text) name,
    INJECT_EFFECTS(X)
#undef X
} InjectEffect;

const char *inject_effect_text(InjectEffect effect);
bool inject_changes(InjectEffect effect);

/* -- looking at a conversation -- */

/* An array of objects, each with a role; ERR_INVALID names the first place that is not. */
MUST_CHECK bool inject_check(Json messages, Err *err);

bool inject_carries(Json messages);

/* What the user asks for: the text of the last user message, without the template's own. */
Str inject_task(Arena *a, Json messages);

/* How many of the template's examples use one of these tools. */
size_t inject_usable(const Template *t, Str tools);

/* -- the injection -- */

InjectEffect inject_effect(Json messages, const Template *t, const InjectOptions *options);

/* Writes the new array. Only where inject_effect says that something changes. */
void inject_write(JsonWriter *w, Json messages, const Template *t, const InjectOptions *options);

#endif
