#include "net/lws.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static Lws table;
static bool loaded;
static char reason[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define MADE_FOR       "4." LWS_TEXT(LWS_LIBRARY_VERSION_MINOR) "."
#define LWS_TEXT(x)    LWS_TEXT_OF(x)
#define LWS_TEXT_OF(x) #x

static void *open_library(void)
{
    /* Of 4.1, 4.2, 4.3; which one fits is seen by its version. */
    static const char *const names[] = { "libwebsockets.so.17", "libwebsockets.so.18",
                                         "libwebsockets.so.19" };

    return dlopen(names[LWS_LIBRARY_VERSION_MINOR - 1], RTLD_NOW | RTLD_LOCAL);
}

/* POSIX lets a function's address come out of dlsym; ISO C wants it copied. */
static bool look_up(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    memcpy(slot, &symbol, sizeof symbol);
    if (!symbol)
        snprintf(reason, sizeof reason, "libwebsockets has no %s", name);
    return symbol != NULL;
}

static void load(void)
{
    void *library = open_library();
    bool ok = library != NULL;

    if (!library)
        snprintf(reason, sizeof reason, "libwebsockets " MADE_FOR "x is not installed");
#define X(name) ok = ok && look_up(library, "lws_" #name, &table.name);
    LWS_FUNCTIONS(X)
#undef X
    if (ok && !str_starts(str_of(table.get_library_version()), STR(MADE_FOR))) {
        snprintf(reason, sizeof reason, "libwebsockets is not " MADE_FOR "x but %s",
                 table.get_library_version());
        ok = false;
    }
    if (ok)
        table.set_log_level(0, NULL); /* it would tell addresses, which hold tickets */
    loaded = ok;
}

bool lws_load(Err *err)
{
    pthread_once(&once, load);
    if (!loaded)
        return err_set(err, ERR_NOT_FOUND, "%s", reason);
    return true;
}

const Lws *lws(void)
{
    ASSERT(loaded);
    return &table;
}
