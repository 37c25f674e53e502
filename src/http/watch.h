/* watch.h - tells open pages that our database has changed, whoever did it: a gateway that moves a
 * handoff, an agent whose words grow in the local chat, a terminal in which a conversation
 * continues.
 *
 * inotify on the data folder wakes a thread; it looks only while somebody listens, at most every
 * WATCH_MS, and publishes the event `handoffs`, `local` or `chat` where something has changed. */
#ifndef TALARIA_HTTP_WATCH_H
#define TALARIA_HTTP_WATCH_H

#include "http/sse.h"

typedef struct Watch Watch;

enum { WATCH_MS = 25 };

/* Borrows sse; `data` is copied. */
MUST_CHECK Watch *watch_start(Sse *sse, Str data, Err *err);
Watch *watch_stop(Watch *w);

#endif
