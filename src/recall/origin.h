/* origin.h - which program wrote a session. */
#ifndef TALARIA_RECALL_ORIGIN_H
#define TALARIA_RECALL_ORIGIN_H

#include "store/homes.h"

/* X(id, "name", title): the name is what --source takes and what JSON says. */
#define ORIGINS(X)                                                                                 \
    X(ORIGIN_HERMES, "hermes", "Hermes Agent")                                                     \
    X(ORIGIN_CLAUDE, "claude", "Claude Code")                                                      \
    X(ORIGIN_CODEX, "codex", "Codex")                                                              \
    X(ORIGIN_TALARIA, "talaria", "Talaria")

typedef enum Origin {
#define X(id, name, title) id,
    ORIGINS(X)
#undef X
        ORIGIN_COUNT
} Origin;

const char *origin_name(Origin o);
const char *origin_title(Origin o);
bool origin_parse(Str name, Origin *ret);

/* Of a session in a home, by the source that its row names: an imported one keeps the name of the
 * program that wrote it. */
Origin origin_of(const Home *home, Str source);

#endif
