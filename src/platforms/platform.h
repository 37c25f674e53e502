/* platform.h - what a chat platform must do, and what it may ask of whoever opens it.
 *
 * Two rows of functions. A Shape is what can be said without a connection: how an update reads,
 * where a reply will come from, how long a message may be. It is pure, so that every shape of a
 * chat can be tested and any recorded update can be looked at. A Platform adds a connection to it.
 * One file implements one platform; nothing of its protocol leaves that file, and nothing of
 * sessions or agents enters it.
 *
 * The one rule that matters: parse() and place() make their Place by the same code. The session key
 * is a pure function of the Place, so a session that is bound to place() is found by the user's
 * next message. */
#ifndef TALARIA_PLATFORMS_PLATFORM_H
#define TALARIA_PLATFORMS_PLATFORM_H

#include "chat/address.h"
#include "net/net.h"

/* Our own account there; all empty: not known yet. */
typedef struct Identity {
    Str id, name; /* name: as others write it, without '@' */
    Str scope_id;
} Identity;

/* A file that came with a message; its bytes are still at the platform. */
typedef struct InboundFile {
    Str name;     /* as files_add() takes it: never empty, no slashes, no controls */
    Str mime;     /* empty: not said */
    int64_t size; /* -1: not said */
    Str ref;      /* what fetch() needs; empty: the platform keeps it to itself */
} InboundFile;

/* One message that somebody wrote. Where it has files its text may be empty. */
typedef struct Inbound {
    ChatAddress place;
    Str text, message_id; /* text without our name in front */
    InboundFile *files;   /* LIMIT_INBOUND_FILES at most */
    size_t n_files;
    size_t more_files; /* that there were beyond the limit */
    Str roles; /* of whoever wrote it, there: "A,B"; empty: none, or the platform has none */
    bool by_bot, by_us;
    bool addressed; /* a private chat, or it names us, or it answers a message of ours */
} Inbound;

/* -- without a connection -- */

typedef struct Shape {
    const char *name; /* as users type it: "telegram" */
    size_t max_text;  /* longest message, in the units that `measure` counts */

    /* Reads one update as it lies in the inbox. *ret_is false: it is valid, and no message. A
     * command that the platform has its own form for reads like one that was typed:
     * "/status". */
    MUST_CHECK bool (*parse)(Arena *a, Str update, const Identity *me, Inbound *ret, bool *ret_is,
                             Err *err);

    /* The place of the owner's next message in the home channel, or in a thread of it. ERR_REFUSED:
     * it cannot be known beforehand, and why. */
    MUST_CHECK bool (*place)(Arena *a, const HomeChannel *home, Str thread_id, ChatAddress *ret,
                             Err *err);

    /* Length of text in the platform's own units (UTF-16 units on Telegram). */
    size_t (*measure)(Str text);
} Shape;

extern const Shape shape_telegram, shape_discord, shape_slack, shape_local;

/* NULL: there is none of that name. shapes_each(0), (1), ... until NULL. */
const Shape *shape_named(Str name);
const Shape *shapes_each(size_t i);

/* Text cut into messages of that platform: at lines, else at spaces; code fences are closed and
 * opened again; " (2/3)" stands at the end where there are several. */
void shape_split(Arena *a, const Shape *shape, Str text, Str **ret, size_t *ret_n);

/* What people are told of a home whose `threads` is false. */
#define HOME_WITHOUT_THREADS "in the chat itself: it does not support threads"

/* -- with one -- */

typedef struct Connection Connection; /* one account on one platform; the platform's own state */

/* X(name, "KEY of the environment behind TALARIA_<PLATFORM>_", secret, "what it is") */
#define PLATFORM_TEXTS(X)                                                                          \
    X(token, "TOKEN", true, "the bot's token")                                                     \
    X(app_token, "APP_TOKEN", true, "slack: the app's token, for Socket Mode")                     \
    X(signing_secret, "SIGNING_SECRET", true, "slack: signs what the Events API sends")            \
    X(api_base, "API_BASE", false, "base URL of the platform's API; empty: the public one")        \
    X(home_channel, "HOME_CHANNEL", false,                                                         \
      "default chat for handoffs and notices, until /sethome")                                     \
    X(home_thread, "HOME_THREAD", false, "thread of that chat, where none can be opened")          \
    X(home_owner, "HOME_OWNER", false, "whose chat it is, by number: in a group they go on")       \
    X(allowed, "ALLOWED_USERS", false, "who may talk to it, by number: A,B; '*' for everyone")     \
    X(allowed_chats, "ALLOWED_CHATS", false, "groups in which everyone may, by number: A,B")       \
    X(allowed_roles, "ALLOWED_ROLES", false, "discord: roles whose members may talk to it: A,B")

/* What is configured for one platform. */
typedef struct PlatformConfig {
    bool enabled;
    bool ignores_strangers; /* they are not even given a code */
#define X(name, env, secret, text) Str name;
    PLATFORM_TEXTS(X)
#undef X
} PlatformConfig;

/* One update as the platform sent it; `id` names it among all that the platform ever sends. */
typedef struct Update {
    Str id, json;
} Update;

typedef enum PlatformFault {
    FAULT_NONE,
    FAULT_FAILS, /* nothing was done, and that is said */
    FAULT_LOST   /* it was done, but the answer is lost */
} PlatformFault;

/* What a connection may ask of whoever opens it. The functions may be called from any thread. */
typedef struct PlatformHost {
    Str data;                     /* our own home */
    Net *net;                     /* the loop for outgoing calls; NULL where there are none */
    const PlatformConfig *config; /* borrowed */
    Str cursor;                   /* how far it had read when it was last open; empty: never */
    /* True once the updates and the cursor (empty: as it was) are on the disk, in one transaction:
     * only then may the platform be told that they have arrived. Those that lie there already are
     * left out. */
    bool (*receive)(void *ctx, const Update *all, size_t n, Str cursor, Err *err);
    /* A chat has another number from now on: what is known of it under the old one is to follow.
     * May be told more than once. NULL: nobody wants to know. */
    void (*moved)(void *ctx, Str before, Str now);
    void *ctx;
    /* Asked before every outward call with its name ("thread", "send"), so that trouble can be
     * switched on. NULL: there is none. */
    PlatformFault (*fault)(void *ctx, const char *call);
    void *fault_ctx;
} PlatformHost;

/* X(id, name) */
#define CONNECTION_STATES(X)                                                                       \
    X(CONNECTION_CONNECTING, "connecting")                                                         \
    X(CONNECTION_UP, "connected")                                                                  \
    X(CONNECTION_DOWN, "reconnecting")                                                             \
    X(CONNECTION_REFUSED, "refused") /* a token that is not accepted: nothing is tried any more */

typedef enum ConnectionState {
#define X(id, name) id,
    CONNECTION_STATES(X)
#undef X
} ConnectionState;

typedef struct Health {
    ConnectionState state;
    int64_t since_ms; /* wall clock: when it came to that state */
    int64_t heard_ms; /* when the platform last answered anything; 0: never */
    Str error;        /* the last trouble; empty: none yet */
    int64_t error_ms;
} Health;

typedef struct Post {
    const ChatAddress *to;
    Str text;   /* Markdown; one piece that fits */
    Str key;    /* names the message for ever */
    bool again; /* an earlier try may have arrived: look first, where the platform must be asked */
    Str anchor; /* a message in the thread that it may answer, where the thread takes nothing else;
                   empty: none */
    bool anchored; /* it is known to take nothing else */
} Post;

/* What became of an outward call. */
typedef struct Sent {
    Str id;
    int64_t wait_ms; /* of a failure: the platform asks for so much patience; 0: it said nothing */
    bool unsure;     /* of a failure: it may have been done all the same */
    bool no_thread;  /* of a failure: the thread is gone, the chat itself may be there; nothing was
                        done */
    bool anchored;   /* of a message: it was refused until it answered Post.anchor */
} Sent;

/* The bytes of a file, or of a failure how much patience the platform asks for. */
typedef struct Fetched {
    Str bytes;
    int64_t wait_ms;
} Fetched;

/* All functions but open and close: any thread, several at a time. They wait for the platform's
 * answer, never longer than LIMIT_PLATFORM_CALL_MS. ERR_IO and ERR_BUSY: may work later; other
 * kinds: never will. */
typedef struct Platform {
    const Shape *shape;
    bool knows_repeats;    /* a message or thread asked for twice under one key is made once */
    bool anchors;          /* threads of private chats may take words only as an answer */
    int64_t edit_every_ms; /* how often one message may be changed */
    int64_t typing_ms;     /* how long it shows that somebody types */

    /* Begins, and keeps trying in the background: an outage is not a failure. What is missing in
     * the config is: ERR_INVALID. */
    MUST_CHECK bool (*open)(const PlatformHost *host, Connection **ret, Err *err);
    Connection *(*close)(Connection *c); /* NULL */

    /* False as long as the platform has not said who we are. */
    bool (*identity)(Connection *c, Arena *a, Identity *ret);
    void (*health)(Connection *c, Arena *a, Health *ret);

    /* What the platform knows of a chat (its type, scope, name, topics) and whether we may write in
     * it. ERR_NOT_FOUND, ERR_REFUSED. `owner` is kept as owner_id. */
    MUST_CHECK bool (*look)(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret,
                            Err *err);

    /* Where the platform cannot refuse a repeat and this may be one, the caller has marked the
     * text. */
    MUST_CHECK bool (*send)(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err);
    /* Other words in a message of ours; m->key is not used. NULL: messages cannot be changed. */
    MUST_CHECK bool (*edit)(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err);
    void (*typing)(Connection *c, const ChatAddress *at); /* best effort; NULL: there is none */

    /* NULL where the platform has no threads. Of one that failed, ret->id is what it left for the
     * next try. */
    MUST_CHECK bool (*open_thread)(Connection *c, Arena *a, const HomeChannel *home, Str title,
                                   Str key, Sent *ret, Err *err);
    /* Undoes open_thread, also one that failed; best effort. */
    void (*drop_thread)(Connection *c, const HomeChannel *home, Str id);

    /* The bytes of a file that parse() has named, at most `limit` of them: ERR_TOO_LARGE. From the
     * platform's own servers alone, whatever the update says: ERR_REFUSED. Twice as long as others
     * at most. NULL: messages have no files there. */
    MUST_CHECK bool (*fetch)(Connection *c, Arena *a, const InboundFile *file, size_t limit,
                             Fetched *ret, Err *err);
} Platform;

extern const Platform platform_local, platform_telegram, platform_discord, platform_slack;

#endif
