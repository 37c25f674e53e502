#include "net/curl.h"

#include <dlfcn.h>
#include <pthread.h>

static Curl table;
static bool loaded;
static char reason[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *open_library(void)
{
    /* Debian's names of its two builds; both have the same interface. */
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

        if (library)
            return library;
    }
    return NULL;
}

/* POSIX lets a function's address come out of dlsym; ISO C wants it copied. */
static bool look_up(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    memcpy(slot, &symbol, sizeof symbol);
    if (!symbol)
        snprintf(reason, sizeof reason, "libcurl is too old: it has no %s", name);
    return symbol != NULL;
}

static void load(void)
{
    void *library = open_library();
    bool ok = library != NULL;

    if (!library)
        snprintf(reason, sizeof reason, "libcurl is not installed (package libcurl4)");
#define X(name) ok = ok && look_up(library, "curl_" #name, &table.name);
    CURL_FUNCTIONS(X)
#undef X
    if (ok && table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        snprintf(reason, sizeof reason, "libcurl does not start");
        ok = false;
    }
    loaded = ok;
}

bool curl_load(Err *err)
{
    pthread_once(&once, load);
    if (!loaded)
        return err_set(err, ERR_NOT_FOUND, "%s", reason);
    return true;
}

const Curl *curl(void)
{
    ASSERT(loaded);
    return &table;
}
