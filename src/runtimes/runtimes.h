/* runtimes.h - the registry of agent runtimes. */
#ifndef TALARIA_RUNTIMES_RUNTIMES_H
#define TALARIA_RUNTIMES_RUNTIMES_H

#include "runtimes/runtime.h"

/* Whether it is an answer of the offline runtime, by how those begin: it only quotes what was said
 * before. */
bool offline_said(Str text);

/* X(name, "Name on the page"), in order of preference. A row here and runtime_<name>, defined in
 * the file of that runtime, are all that a new one needs (docs/adding-a-runtime.md). web/build.mjs
 * reads the rows too. */
#define RUNTIMES(X)                                                                                \
    X(native, "Talaria")                                                                           \
    X(hermes, "Hermes")                                                                            \
    X(claude, "Claude Code")                                                                       \
    X(codex, "Codex")                                                                              \
    X(offline, "Offline")

/* What other programs call the native runtime (agent_state). */
#define NATIVE_ALIAS "jarvis"

#define X(name, title) extern const Runtime runtime_##name;
RUNTIMES(X)
#undef X

/* "native|hermes|...", for a table of options; "native, hermes, ...", for a message. */
#define RUNTIME_CHOICE(name, title) "|" #name
#define RUNTIME_CHOICES             (&("" RUNTIMES(RUNTIME_CHOICE))[1])
#define RUNTIME_CHOICES_WITH_ALIAS  NATIVE_ALIAS RUNTIMES(RUNTIME_CHOICE)
#define RUNTIME_WORD(name, title)   ", " #name
#define RUNTIME_NAMES               (&("" RUNTIMES(RUNTIME_WORD))[2])

/* In its own file; see Runtime.probe. */
MUST_CHECK bool hermes_probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err);

#endif
