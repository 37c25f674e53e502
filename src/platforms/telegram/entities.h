/* entities.h - Markdown as plain text and a list of which stretches of it look how.
 *
 * That is what Telegram takes beside its own two mark-ups, and the one form in which nothing has to
 * be escaped and nothing can be refused for a stray asterisk. Pure; text lives in the arena. */
#ifndef TALARIA_PLATFORMS_TELEGRAM_ENTITIES_H
#define TALARIA_PLATFORMS_TELEGRAM_ENTITIES_H

#include "base/arena.h"

/* X(id, "as the Bot API calls it") */
#define ENTITY_KINDS(X)                                                                            \
    X(ENTITY_BOLD, "bold")                                                                         \
    X(ENTITY_ITALIC, "italic")                                                                     \
    X(ENTITY_STRIKE, "strikethrough")                                                              \
    X(ENTITY_CODE, "code")                                                                         \
    X(ENTITY_PRE, "pre")                                                                           \
    X(ENTITY_LINK, "text_link")                                                                    \
    X(ENTITY_QUOTE, "blockquote")

typedef enum EntityKind {
#define X(id, name) id,
    ENTITY_KINDS(X)
#undef X
        ENTITY_KIND_COUNT
} EntityKind;

const char *entity_name(EntityKind kind);

typedef struct Entity {
    EntityKind kind;
    size_t at, n; /* UTF-16 units */
    Str extra;    /* address of a link, language of a block of code; may be empty */
} Entity;

typedef struct EntityText {
    Str text;
    Entity *all; /* by where they begin, the outer one first; at most LIMIT_ENTITIES */
    size_t n;
} EntityText;

/* Never fails: what is no mark-up is text. Code has no entities around it but quotes, and quotes
 * are not nested: the rules of the Bot API. */
void entities_of(Arena *a, Str markdown, EntityText *ret);

size_t utf16_count(Str text);

#endif
