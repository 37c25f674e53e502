/* hermes_link.h - where a Hermes is, what it can do, and how a conversation continues there. */
#ifndef TALARIA_RUNTIMES_HERMES_LINK_H
#define TALARIA_RUNTIMES_HERMES_LINK_H

#include "runtimes/hermes_stream.h"
#include "text/settings.h"

typedef struct HermesLink {
    Str base;    /* URL without a slash at its end */
    Str key;     /* secret; empty: none is sent */
    int dialect; /* HermesDialect of the setting; -1: auto */
} HermesLink;

/* From the environment and the settings. */
MUST_CHECK bool hermes_link(Arena *a, const Settings *settings, HermesLink *ret, Err *err);

/* What is kept between turns. */
typedef struct HermesHandle {
    bool known; /* dialect is one that was used */
    HermesDialect dialect;
    Str session, response, version;
    Str rotated; /* ids that the session had before, as a JSON array */
} HermesHandle;

/* Whether an id that a server gave may become part of a path and of a header. */
bool hermes_id_is_clean(Str id);

/* False: no handle, or one of another server: start again. */
bool hermes_handle_read(Arena *a, const HermesLink *link, Str handle, HermesHandle *ret);
Str hermes_handle_write(Arena *a, const HermesLink *link, const HermesHandle *h);
/* The session continues under another id. */
void hermes_handle_rotate(Arena *a, HermesHandle *h, Str session);

/* The dialect to use with these capabilities (features of GET /v1/capabilities). */
HermesDialect hermes_choose(const HermesLink *link, const HermesHandle *before, Json features);

/* What people are told if nothing listens there: where, why, and how to start it. */
Str hermes_unreachable(Arena *a, const HermesLink *link, Str detail);

#endif
