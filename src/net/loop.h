/* loop.h - the inside of the loop, for the files of this room. All of it on the loop's thread,
 * except loop_id. */
#ifndef TALARIA_NET_LOOP_H
#define TALARIA_NET_LOOP_H

#include "net/net.h"

typedef struct NetWatch NetWatch;
typedef void NetWatchFn(void *ctx, int fd, uint32_t events);

/* Calls fn whenever the descriptor is ready for one of the epoll events. */
MUST_CHECK NetWatch *loop_watch(Net *net, int fd, uint32_t events, NetWatchFn *fn, void *ctx);
void loop_watch_for(Net *net, NetWatch *watch, uint32_t events);
/* Before the descriptor is closed. NULL-safe; no callback after it, also not of events at hand. */
void loop_unwatch(Net *net, NetWatch *watch);

NetId loop_id(Net *net); /* the next number; any thread */
bool loop_stopping(const Net *net);

/* What the other files keep in a Net, made with it and ended with it. *_end gives every open thing
 * its last callback; it may take a few rounds of the loop until *_idle is true. */
typedef struct Fetches Fetches;
Fetches *fetches_new(Net *net);
void fetches_end(Fetches *all);
bool fetches_idle(const Fetches *all);
Fetches *fetches_free(Fetches *all);
Fetches *loop_fetches(Net *net);

typedef struct Children Children;
Children *children_new(Net *net);
void children_end(Children *all);
bool children_idle(const Children *all);
Children *children_free(Children *all);
Children *loop_children(Net *net);

#endif
