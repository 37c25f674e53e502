/* editline.h - libedit, loaded when somebody sits at a terminal.
 *
 * It brings libbsd, libmd and libtinfo with it, and only `talaria chat` on a terminal has any use
 * for them: every other start of the program would pay. Opened at first use, as libcurl is
 * (net/curl.h); the types come from its header, so a call that does not match does not compile. */
#ifndef TALARIA_TERMINAL_EDITLINE_H
#define TALARIA_TERMINAL_EDITLINE_H

#include <histedit.h>

#include "base/err.h"

#define EDITLINE_FUNCTIONS(X)                                                                      \
    X(el_init)                                                                                     \
    X(el_end)                                                                                      \
    X(el_set)                                                                                      \
    X(el_wset)                                                                                     \
    X(el_wgets)                                                                                    \
    X(el_wline)                                                                                    \
    X(el_winsertstr)                                                                               \
    X(el_resize)                                                                                   \
    X(history_init)                                                                                \
    X(history_end)                                                                                 \
    X(history)

typedef struct Editline {
#define X(name) __typeof__(name) *name;
    EDITLINE_FUNCTIONS(X)
#undef X
} Editline;

/* NULL and ERR_NOT_FOUND where it is not installed. One thread. */
MUST_CHECK const Editline *editline_load(Err *err);

#endif
