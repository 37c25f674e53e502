/* curl.h - libcurl, loaded when the first request goes out.
 *
 * Debian's libcurl brings thirty libraries with it (TLS, Kerberos, LDAP, ...), which costs every
 * start of the program more than all else together. Most commands never call out, so libcurl is
 * opened at first use instead of being linked; the types still come from its header, so a call that
 * does not match does not compile. Its prefix is kept: curl()->easy_init() is curl_easy_init(). */
#ifndef TALARIA_NET_CURL_H
#define TALARIA_NET_CURL_H

/* Its checking macros need to see the functions by name. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/err.h"

#define CURL_FUNCTIONS(X)                                                                          \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_socket_action)                                                                         \
    X(multi_assign)                                                                                \
    X(multi_info_read)                                                                             \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(url)                                                                                         \
    X(url_set)                                                                                     \
    X(url_get)                                                                                     \
    X(url_cleanup)                                                                                 \
    X(free)

/* Some of its functions are macros over themselves; the addresses are what is wanted here. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

typedef struct Curl {
#define X(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(X)
#undef X
} Curl;

/* Opens and starts libcurl once a process; ERR_NOT_FOUND where it is not installed. Any thread. */
MUST_CHECK bool curl_load(Err *err);

/* What curl_load opened. */
const Curl *curl(void);

#endif
