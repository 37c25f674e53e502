/* address.h - where a message came from or goes to, and the key of the session that lives there.
 *
 * A Place is what Hermes calls a SessionSource: read from its JSON, written as its JSON byte for
 * byte
 * (`origin_json`, routing entries), and mapped to the session key by one pure function. Whoever
 * binds a session to a place and whoever looks up a message's session call the same address_key():
 * there is no second way to make a key. Text is borrowed from the arena that was passed in. */
#ifndef TALARIA_CHAT_ADDRESS_H
#define TALARIA_CHAT_ADDRESS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "text/pyjson.h"

/* X(name, ALWAYS): in the JSON also where there is none (p NULL), then as null. In the order of the
 * JSON. */
#define CHAT_ADDRESS_FIELDS(X)                                                                     \
    X(platform, true)                                                                              \
    X(chat_id, true)                                                                               \
    X(chat_name, true)                                                                             \
    X(chat_type, true) /* dm, group, channel, thread: the slot in the key */                       \
    X(user_id, true)                                                                               \
    X(user_name, true)                                                                             \
    X(thread_id, true)                                                                             \
    X(chat_topic, true)                                                                            \
    X(user_id_alt, false)                                                                          \
    X(chat_id_alt, false)                                                                          \
    X(scope_id, false) /* Slack workspace, Discord guild; again as guild_id */                     \
    X(parent_chat_id, false)                                                                       \
    X(message_id, false)                                                                           \
    X(profile, false)                                                                              \
    X(auto_thread_created, false) /* "true" */                                                     \
    X(auto_thread_initial_name, false)                                                             \
    X(prospective_thread_id, false)

typedef struct ChatAddress {
#define X(name, always) Str name;
    CHAT_ADDRESS_FIELDS(X)
#undef X
} ChatAddress;

/* The configured place for what nobody asked for. */
typedef struct HomeChannel {
    Str chat_id, name;
    Str chat_type; /* dm, group, channel */
    Str scope_id;  /* Slack workspace, Discord guild; empty elsewhere */
    Str owner_id;  /* whose it is; empty: not known */
    Str thread_id; /* a standing thread of it; empty: none */
    bool topics;   /* Telegram: the group is a forum */
    bool threads;  /* of one that was just looked at: as far as is known, a thread can be opened
                      there */
} HomeChannel;

/* -- JSON -- */

/* Ids may be text or whole numbers. Fails where it is no object, or has no platform. */
MUST_CHECK bool address_read(const PyValue *v, ChatAddress *ret, Err *err);
MUST_CHECK bool address_parse(Arena *a, Str json, ChatAddress *ret, Err *err);

PyValue address_value(Arena *a, const ChatAddress *p);
Str address_json(Arena *a, const ChatAddress *p); /* as json.dumps() writes it */

/* -- keys -- */

typedef struct KeyFlags {
    bool group_per_user;  /* everyone in a group has a session of their own */
    bool thread_per_user; /* in a thread too; needs the other one as well */
    Str profile;          /* empty or "default": the main namespace */
    Str aliases; /* folder in which WhatsApp's bridge keeps who is who; empty: none is known */
} KeyFlags;

#define KEY_FLAGS ((KeyFlags){ .group_per_user = true })

MUST_CHECK bool key_flags_read(const PyValue *v, KeyFlags *ret, Err *err);

Str address_key(Arena *a, const ChatAddress *p, const KeyFlags *flags);

/* One name for a person whom WhatsApp knows by a phone number and by a LID: the shortest of all
 * that the bridge's files in `folder` lead to, without the parts behind ':' and '@'. */
Str whatsapp_canonical(Arena *a, Str id, Str folder);

#endif
