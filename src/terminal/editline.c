#include "terminal/editline.h"

#include <dlfcn.h>

/* POSIX lets a function's address come out of dlsym; ISO C wants it copied. */
static bool look_up(void *library, const char *name, void *slot, Err *err)
{
    void *symbol = dlsym(library, name);

    memcpy(slot, &symbol, sizeof symbol);
    return symbol || err_set(err, ERR_NOT_FOUND, "libedit is too old: it has no %s", name);
}

const Editline *editline_load(Err *err)
{
    static Editline table;
    static bool loaded;
    void *library;

    if (loaded)
        return &table;
    library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        (void)err_set(err, ERR_NOT_FOUND, "libedit is not installed (package libedit2)");
        return NULL;
    }
#define X(name)                                                                                    \
    if (!look_up(library, #name, &table.name, err))                                                \
        return NULL;
    EDITLINE_FUNCTIONS(X)
#undef X
    loaded = true;
    return &table;
}
