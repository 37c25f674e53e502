/* inside.h - what the files of Telegram's connection share; no other file includes it.
 *
 * call.c makes one call of the Bot API and says what became of it, send.c has everything that
 * goes out, connection.c listens. */
#ifndef TALARIA_PLATFORMS_TELEGRAM_INSIDE_H
#define TALARIA_PLATFORMS_TELEGRAM_INSIDE_H

#include "platforms/connection.h"
#include "platforms/read.h"
#include "text/json.h"

struct Connection {
    PlatformHost host;
    char *base;               /* address of the methods, with the token in it: never shown */
    ConnectionBase wire;      /* its lock guards what follows */
    char id[32], name[64];    /* who we are; empty: not known yet */
    bool private_topics;      /* private chats may have topics */
    int64_t no_typing_before; /* monotonic */
    char moved_from[32], moved_to[32]; /* the last group that got a new number */

    /* The listening thread's alone. */
    int64_t offset; /* first update that is not on our disk; 0: never read */
    bool webhook_gone, one_by_one;
};

/* -- call.c -- */

typedef struct Reply {
    int code; /* 0: there is no answer that can be read */
    Str description;
    PyValue result;
    int64_t wait_ms;
    Str moved_to; /* the group has this number now */
    bool unsure;
} Reply;

typedef struct Ask {
    const char *method;
    Str body;       /* JSON */
    int64_t ms;     /* for all of it; 0: LIMIT_PLATFORM_CALL_MS */
    CallStop *stop; /* or NULL */
} Ask;

/* *ret is filled in any case; err says it in words that hold no token. ERR_BUSY and ERR_IO: may
 * work later. */
MUST_CHECK bool telegram_call(Connection *c, Arena *a, const Ask *ask, Reply *ret, Err *err);

MUST_CHECK bool reply_says(const Reply *reply, const char *words); /* in its description */

/* A chat's or thread's number as one; other text (@name) as text. */
void put_number(JsonWriter *w, const char *key, Str id);

/* -- send.c -- */

/* The group has another number from now on. */
void telegram_moved(Connection *c, Str before, Str now);

/* -- send.c: rows of platform_telegram -- */

bool telegram_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err);
bool telegram_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err);
bool telegram_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err);
void telegram_typing(Connection *c, const ChatAddress *at);
bool telegram_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                          Sent *ret, Err *err);
void telegram_drop_thread(Connection *c, const HomeChannel *home, Str id);

/* -- files.c -- */

bool telegram_fetch(Connection *c, Arena *a, const InboundFile *file, size_t limit, Fetched *ret,
                    Err *err);

/* A list of updates in which what belongs to one album is one update; nothing is left out. */
PyValue telegram_albums(Arena *a, const PyValue *updates);
/* The rest of it may still be on its way. */
bool telegram_ends_in_album(const PyValue *updates);

#endif
