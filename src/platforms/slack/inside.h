/* inside.h - what the files of Slack's connection share; no other file includes it.
 *
 * web.c makes one call of the Web API and says what became of it, send.c has everything that goes
 * out, connection.c listens. */
#ifndef TALARIA_PLATFORMS_SLACK_INSIDE_H
#define TALARIA_PLATFORMS_SLACK_INSIDE_H

#include "net/websocket.h"
#include "platforms/connection.h"
#include "platforms/read.h"
#include "platforms/slack/slack.h"
#include "text/json.h"

/* One WebSocket of Socket Mode, from its ticket to its end. */
typedef struct Socket {
    Connection *c;
    WebSocket *ws;
    bool greeted, leaving, closed; /* under the connection's lock */
    char why[128];
} Socket;

struct Connection {
    PlatformHost host;
    char *base;              /* address of the methods, with '/' at its end */
    char *token, *app_token; /* "Authorization: Bearer ..."; app_token NULL: no Socket Mode */
    ConnectionBase wire;     /* its lock guards what follows */
    char id[32], name[96], team[32]; /* who we are; empty: not known yet */
    bool no_typing;                  /* it was refused once */
};

/* -- web.c -- */

typedef struct Reply {
    PyValue v; /* the whole answer, where there is one */
    Str error; /* Slack's word for it; empty: none, or no answer */
    int64_t wait_ms;
    bool unsure, token_refused;
} Reply;

/* One pair of a request's form; empty values are left out. */
typedef struct Field {
    const char *name;
    Str value;
} Field;

typedef struct Ask {
    const char *method;
    const Field *fields; /* ended by a name of NULL; or NULL */
    bool by_app;         /* with the app's token */
    CallStop *stop;      /* or NULL */
} Ask;

/* *ret is filled in any case. ERR_BUSY and ERR_IO: may work later. */
MUST_CHECK bool slack_call(Connection *c, Arena *a, const Ask *ask, Reply *ret, Err *err);

/* -- connection.c -- */

/* False: nobody has asked Slack yet, or not got an answer. */
bool slack_identity(Connection *c, Arena *a, Identity *ret);
/* Asks Slack who we are and in which workspace, and keeps it. stop: or NULL. */
MUST_CHECK bool slack_introduce(Connection *c, Arena *a, CallStop *stop, Reply *ret, Err *err);

/* -- send.c: rows of platform_slack -- */

bool slack_look(Connection *c, Arena *a, Str chat_id, Str owner, HomeChannel *ret, Err *err);
bool slack_send(Connection *c, Arena *a, const Post *m, Sent *ret, Err *err);
bool slack_edit(Connection *c, Arena *a, Str id, const Post *m, Sent *ret, Err *err);
void slack_typing(Connection *c, const ChatAddress *at);
bool slack_open_thread(Connection *c, Arena *a, const HomeChannel *home, Str title, Str key,
                       Sent *ret, Err *err);
void slack_drop_thread(Connection *c, const HomeChannel *home, Str id);
bool slack_fetch(Connection *c, Arena *a, const InboundFile *file, size_t limit, Fetched *ret,
                 Err *err);

#endif
