/* runtimes.h - the rows of the table; each is defined in its own file. */
#ifndef TALARIA_RUNTIMES_RUNTIMES_H
#define TALARIA_RUNTIMES_RUNTIMES_H

#include "runtimes/runtime.h"

/* How every answer without a model begins: those who look for what was said know it by that. */
extern const char offline_begins[];

extern const Runtime runtime_native, runtime_hermes, runtime_claude, runtime_codex, runtime_offline;

/* In a file of its own; see Runtime.probe. */
MUST_CHECK bool hermes_probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err);

#endif
