/* inside.h - what the files of Discord's connection share, and nobody else sees.
 *
 * One thread owns the gateway (connection.c) and reads its events (events.c); calls come from any
 * thread (rest.c, calls.c, threads.c). What both touch stands under the one lock. */
#ifndef TALARIA_PLATFORMS_DISCORD_INSIDE_H
#define TALARIA_PLATFORMS_DISCORD_INSIDE_H

#include "base/buf.h"
#include "net/websocket.h"
#include "platforms/connection.h"
#include "platforms/read.h"
#include "text/json.h"

/* X(id, number): kinds of channels. */
#define DISCORD_CHANNELS(X)                                                                        \
    X(CHANNEL_TEXT, 0)                                                                             \
    X(CHANNEL_DM, 1)                                                                               \
    X(CHANNEL_GROUP_DM, 3)                                                                         \
    X(CHANNEL_NEWS, 5)                                                                             \
    X(CHANNEL_NEWS_THREAD, 10)                                                                     \
    X(CHANNEL_THREAD, 11)                                                                          \
    X(CHANNEL_PRIVATE_THREAD, 12)                                                                  \
    X(CHANNEL_FORUM, 15)                                                                           \
    X(CHANNEL_MEDIA, 16)

enum {
#define X(id, number) id = (number),
    DISCORD_CHANNELS(X)
#undef X
};

#define DISCORD_AGENT "User-Agent: DiscordBot (https://talaria.invalid, " TALARIA_VERSION ")"

enum { DISCORD_DMS = 32, DISCORD_BUCKETS = 128, DISCORD_GIVEN = 64 };

/* A number as Discord writes it, "" for none. */
typedef struct Snow {
    char z[24];
} Snow;

bool snow_set(Snow *s, Str text); /* false, and none: it is no number */
static inline Str snow_str(const Snow *s)
{
    return str_of(s->z);
}
int64_t snow_number(Str id);      /* 0: none */
int64_t snow_at(int64_t wall_ms); /* less than every number that is given out later */

typedef struct Channel Channel; /* what is known of one; channels.c */
typedef struct Roles Roles;     /* ours in one guild; roles.c */

/* What a route may be asked for; see rest.c. */
typedef struct Bucket {
    char route[96], hash[64];
    Snow major;
    int64_t remaining, reset_at; /* -1: not known; monotonic */
    int64_t refused_until, used_at;
    char refused[128];
} Bucket;

/* A thread that was made under a key, so that nobody takes it for their own. */
typedef struct Given {
    char nonce[25];
    Snow thread;
} Given;

typedef struct Frame {
    struct Frame *next;
    size_t n;
    char text[];
} Frame;

/* The gateway's session; the link's thread alone. */
typedef struct DiscordSocket {
    WebSocket *ws;
    char session[128], resume_url[256];
    int64_t seq;    /* all up to here are stored */
    uint64_t ahead; /* bit i: seq + 1 + i has come too */
    int64_t beat_every, next_beat;
    bool acked, ready;
    int64_t last;      /* newest message that is stored */
    int64_t gap_after; /* what is newer and was written before we came back is to be fetched; 0:
                          nothing */
    size_t gap_guilds; /* in so many guilds that have not been told yet */
    Snow dms[DISCORD_DMS];
    size_t dms_n;
    bool commands_told;
    Roles *roles;
    size_t roles_n;
} DiscordSocket;

struct Connection {
    PlatformHost host;
    char *api, *authorization;
    const char *token; /* the end of authorization */
    bool by_roles;     /* people are let in by theirs */
    DiscordSocket link;
    ConnectionBase wire; /* its lock guards what follows */
    Snow me, application;
    char my_name[128];
    Channel *channels;
    size_t channels_n;
    Bucket buckets[DISCORD_BUCKETS];
    int64_t global_until;
    Given given[DISCORD_GIVEN];
    size_t given_n;
    Frame *first, **last; /* frames that wait for the link's thread */
    size_t waiting;
    bool closed;
    int close_code;
    char close_why[128];
};

/* -- connection.c -- */

void *discord_link_run(void *connection);
int64_t discord_random_below(int64_t n);

/* -- frames.c -- */

enum { DISCORD_CLOSE_TO_RESUME = 4000 }; /* 1000 and 1001 would end the session */

MUST_CHECK bool discord_dial(Connection *c, const char *url, Err *err);
/* All that wait; NULL once the time has come, the connection has ended, or we are to end. */
Frame *discord_frames_take(Connection *c, int64_t until, bool *ret_closed, bool *ret_stop);
Frame *discord_frames_free(Frame *f);
/* Ends the old connection; what it may still have sent comes again. */
void discord_hang_up(Connection *c);

/* -- read.c -- */

/* What comes next. */
typedef enum After {
    GO_ON,
    AT_ONCE, /* connect again: Discord asks for it */
    SHORTLY, /* in one to five seconds, as Discord asks */
    LATER,   /* trouble: wait longer each time */
    NEVER
} After;

/* What a frame says. */
typedef struct Payload {
    PyValue v;  /* the whole of it, an object */
    int64_t op; /* 0: an event; 255 at most */
    int64_t s;  /* the event's number; 0: it has none */
} Payload;

MUST_CHECK bool discord_frame_read(Arena *a, Str raw, Payload *ret);
/* The event with this number is there. */
void discord_seq_seen(DiscordSocket *l, int64_t s);

/* Takes the frames. */
After discord_read(Connection *c, Frame *all);
void discord_say_beat(Connection *c);
/* Sends a heartbeat where one is due. For whoever keeps the link's thread busy. */
void discord_link_beat(Connection *c);
void discord_forget_session(DiscordSocket *l);
/* Where an earlier process left off; before the thread begins. */
void discord_read_cursor(Connection *c, Str cursor);
/* So that the next process need not be told again what this one has stored. */
void discord_save_cursor(Connection *c);

/* -- rest.c -- */

typedef struct Ask {
    const char *method;
    Str path;      /* behind the API's address */
    Str body;      /* JSON; empty: none */
    int64_t until; /* monotonic; 0: LIMIT_PLATFORM_CALL_MS from now */
} Ask;

typedef struct Rest {
    PyValue v;
    int status;
    int64_t code; /* Discord's own number of an error; 0: none */
    int64_t wait_ms;
    bool unsure;
} Rest;

/* For calls of the link's thread, which must not keep a heartbeat or the end waiting. */
int64_t discord_soon(void);
/* False, and err, for everything but 2xx; *ret is set either way. */
MUST_CHECK bool rest_call(Connection *c, Arena *a, const Ask *ask, Rest *ret, Err *err);
/* Once, past all buckets, for what is of no use later; what became of it is logged under `what`. */
void rest_now(Connection *c, Arena *a, const Ask *ask, const char *what);
/* Sends it and looks at nothing but whether it went well, which is logged under `what`. */
void rest_fire(Connection *c, const Ask *ask, const char *what);

/* -- channels.c -- */

typedef struct ChannelFacts {
    int type;
    Str guild, parent, name;
} ChannelFacts;

void channel_learn(Connection *c, const PyValue *channel, Str guild);
void channel_forget(Connection *c, Str id);
Channel *channels_free(Channel *all);
/* From memory, else by asking. ERR_NOT_FOUND, ERR_REFUSED: it is not ours to know. */
MUST_CHECK bool channel_facts(Connection *c, Arena *a, Str id, int64_t until, ChannelFacts *ret,
                              Err *err);
void channel_write(JsonWriter *w, const ChannelFacts *facts);

static inline bool channel_is_thread(int type)
{
    return type >= CHANNEL_NEWS_THREAD && type <= CHANNEL_PRIVATE_THREAD;
}

/* -- roles.c -- */

void roles_learn(DiscordSocket *l, Str guild,
                 const PyValue *member); /* `member`: we ourselves, there */
Roles *roles_free(Roles *all);
/* Adds ',"our_roles":[...]' to an update: those of our roles that the message names. */
void roles_write(Connection *c, Arena *a, const PyValue *message, Str guild, Buf *out);

/* -- events.c -- */

typedef struct Reply {
    Str application, token, name;
} Reply;

/* What one round of reading has gathered. */
typedef struct Batch {
    Arena *a;
    Update *all;
    size_t n, cap;
    Reply *replies; /* slash commands that are told so once they are stored */
    size_t replies_n, replies_cap;
    int64_t last;
    Str member, roles; /* whom Discord was asked about last, and which roles it named */
} Batch;

/* Takes in one event; `raw` is its whole frame. False: it has to come again. */
MUST_CHECK bool event_take(Connection *c, Batch *b, const PyValue *frame, Str raw, Err *err);
/* Answers the slash commands, and tells Discord of ours where that is still to be done. */
void events_reply(Connection *c, const Batch *b);

/* -- backfill.c -- */

/* What was written in those channels while nobody listened. */
MUST_CHECK bool backfill(Connection *c, Batch *b, const PyValue *channels, Str guild, Err *err);
MUST_CHECK bool backfill_dms(Connection *c, Batch *b, Err *err);

/* -- calls.c, threads.c -- */

Str discord_nonce(Arena *a, Str key);
Str discord_message(Arena *a, Str text, Str nonce); /* the body of a message; nonce empty: none */
MUST_CHECK bool discord_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title,
                                    Str key, Sent *ret, Err *err);
void discord_drop_thread(Connection *c, const HomeChannel *home, Str id);

#endif
