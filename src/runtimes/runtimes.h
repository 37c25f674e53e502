/* runtimes.h - the rows of the table; each is defined in its own file. */
#ifndef TALARIA_RUNTIMES_RUNTIMES_H
#define TALARIA_RUNTIMES_RUNTIMES_H

#include "runtimes/runtime.h"

/* Whether it is an answer of the offline runtime, by how those begin: it only quotes what was said before. */
bool offline_said(Str text);

extern const Runtime runtime_native, runtime_hermes, runtime_claude, runtime_codex, runtime_offline;

/* In a file of its own; see Runtime.probe. */
MUST_CHECK bool hermes_probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err);

#endif
