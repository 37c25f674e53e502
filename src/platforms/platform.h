/* platform.h - what a chat platform must do, and what it may ask of whoever opens it.
 *
 * Two rows of functions. A Shape is what can be said without a connection: how an update reads, where a reply
 * will come from, how long a message may be. It is pure, so that every shape of a chat can be tested and any
 * recorded update can be looked at. A Platform adds a connection to it. One file implements one platform;
 * nothing of its protocol leaves that file, and nothing of sessions or agents enters it.
 *
 * The one rule that matters: parse() and place() make their Place by the same code. The session key is a pure
 * function of the Place, so a session that is bound to place() is found by the user's next message. */
#ifndef TALARIA_PLATFORMS_PLATFORM_H
#define TALARIA_PLATFORMS_PLATFORM_H

#include "store/places.h"

/* The configured place for what nobody asked for. */
typedef struct HomeChannel {
    Str chat_id, name;
    Str chat_type; /* dm, group, channel */
    Str scope_id;  /* Slack workspace, Discord guild; empty elsewhere */
    Str owner_id;  /* whose it is; empty: not known */
    Str thread_id; /* a standing thread of it; empty: none */
    bool topics;   /* Telegram: the group is a forum */
} HomeChannel;

/* One message that somebody wrote. */
typedef struct Inbound {
    Place place;
    Str text, message_id;
    bool by_bot;
} Inbound;

/* -- without a connection -------------------------------------------------------------------------- */

typedef struct Shape {
    const char *name; /* as users type it: "telegram" */
    size_t max_text;  /* longest message, in the units that `measure` counts */

    /* Reads one update as it lies in the inbox. *ret_is false: it is valid, and no message. */
    MUST_CHECK bool (*parse)(Arena *a, Str update, Inbound *ret, bool *ret_is, Err *err);

    /* The place of the owner's next message in the home channel, or in a thread of it. ERR_REFUSED: it cannot
     * be known beforehand, and why. */
    MUST_CHECK bool (*place)(Arena *a, const HomeChannel *home, Str thread_id, Place *ret,
                             Err *err);

    /* Length of text in the platform's own units (UTF-16 units on Telegram). */
    size_t (*measure)(Str text);
} Shape;

extern const Shape shape_telegram, shape_discord, shape_slack, shape_local;

/* NULL: there is none of that name. shapes_each(0), (1), ... until NULL. */
const Shape *shape_named(Str name);
const Shape *shapes_each(size_t i);

/* Text cut into messages of that platform: at lines, else at spaces; code fences are closed and opened again;
 * " (2/3)" stands at the end where there are several. */
void shape_split(Arena *a, const Shape *shape, Str text, Str **ret, size_t *ret_n);

/* -- with one ----------------------------------------------------------------------------------------- */

typedef struct Connection Connection; /* one account on one platform; the platform's own state */

typedef struct PlatformHost {
    Str data; /* our own home */
    /* Asked before every outward call with its name ("thread", "send"), so that trouble can be switched on.
     * NULL: there is none. */
    enum PlatformFault (*fault)(void *ctx, const char *call);
    void *fault_ctx;
} PlatformHost;

typedef enum PlatformFault {
    FAULT_NONE,
    FAULT_FAILS, /* nothing was done, and that is said */
    FAULT_LOST   /* it was done, but the answer is lost */
} PlatformFault;

typedef struct Platform {
    const Shape *shape;
    bool knows_repeats; /* a message or thread asked for twice under one key is made once */

    /* Connects, or keeps trying in the background: an outage is not a failure. */
    MUST_CHECK bool (*open)(const PlatformHost *host, Connection **ret, Err *err);
    Connection *(*close)(Connection *c); /* NULL */

    /* Where unasked words go. ERR_NOT_FOUND: none is configured. */
    MUST_CHECK bool (*home)(Connection *c, Arena *a, HomeChannel *ret, Err *err);

    /* Sends one piece that fits. `key` names the message for ever. Where the platform cannot refuse a repeat
     * and this may be one, the caller has marked the text. */
    MUST_CHECK bool (*send)(Connection *c, Arena *a, const Place *to, Str text, Str key,
                            Str *ret_id, Err *err);

    /* NULL where the platform has no threads. */
    MUST_CHECK bool (*open_thread)(Connection *c, Arena *a, const HomeChannel *home, Str title,
                                   Str key, Str *ret_id, Err *err);
    /* Undoes open_thread, best effort. */
    void (*drop_thread)(Connection *c, const HomeChannel *home, Str id);
} Platform;

extern const Platform platform_local;

#endif
