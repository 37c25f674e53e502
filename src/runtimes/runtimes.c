/* The table of runtimes, and the names of what they say. */
#include "runtimes/runtimes.h"

const Runtime *const runtimes[] = {
#define X(name, title) &runtime_##name,
    RUNTIMES(X)
#undef X
        NULL
};

const Runtime *runtime_find(Str name_or_alias)
{
    for (const Runtime *const *r = runtimes; *r; r++)
        if (str_eqz(name_or_alias, (*r)->name) ||
            ((*r)->alias && str_eqz(name_or_alias, (*r)->alias)))
            return *r;
    return NULL;
}

const char *run_error_name(RunError e)
{
    static const char *const names[] = {
#define X(id, name, retryable) [id] = name,
        RUN_ERRORS(X)
#undef X
    };

    return names[e];
}

bool run_error_is_retryable(RunError e)
{
    static const bool retryables[] = {
#define X(id, name, retryable) [id] = retryable,
        RUN_ERRORS(X)
#undef X
    };

    return retryables[e];
}

const char *runtime_event_name(RuntimeEventKind k)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        RUNTIME_EVENTS(X)
#undef X
    };

    return names[k];
}
