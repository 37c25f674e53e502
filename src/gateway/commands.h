/* commands.h - what is typed in a chat to steer, not to be answered by an agent.
 *
 * The names are in platforms/commands_table.h, so that platforms can register them. */
#ifndef TALARIA_GATEWAY_COMMANDS_H
#define TALARIA_GATEWAY_COMMANDS_H

#include "gateway/inbound.h"
#include "platforms/commands_table.h"

typedef struct ChatWords {
    int command; /* a ChatCommand; -1: there is none of that name */
    Str name, rest;
} ChatWords;

/* Whether it is a command: "/status", "/status@us", in Slack also "!status" (its threads keep '/' to itself). A path
 * ("/etc/hosts is gone") is none. */
bool chat_words(const Inbound *in, const Identity *me, ChatWords *ret);

typedef struct Chat {
    Arena *arena;
    OwnStore *journal;
    const Homes *homes;
    const GatewayConnection *served;
    size_t n_served;
    const InboundSinks *sinks;
    const GatewayConnection *here;
    const Inbound *in;
    Trust trust;
    Str id;              /* of the answer in the outbox */
    int64_t received_ms; /* when it came in */
    Str key;             /* of the place */
} Chat;

/* *ret_text: the answer, also where it cannot be done. Fails with ERR_BUSY and ERR_IO alone: later. */
MUST_CHECK bool chat_command(Chat *c, const ChatWords *words, Str *ret_text, Err *err);

#endif
