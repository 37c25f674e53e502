/* commands.h - slash commands in chats.
 *
 * Their names are in platforms/commands_table.h, so that platforms can register them. */
#ifndef TALARIA_GATEWAY_COMMANDS_H
#define TALARIA_GATEWAY_COMMANDS_H

#include "gateway/inbound.h"
#include "platforms/commands_table.h"

typedef struct ChatWords {
    int command; /* a ChatCommand; -1: unknown name */
    Str name, rest;
} ChatWords;

/* Whether it is a command: "/status", "/status@name", in Slack also "!status" (Slack handles '/' in
 * threads itself). A path ("/etc/hosts is gone") is not. */
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
    Str id; /* of the answer in the outbox */
    int64_t received_ms;
    Str key; /* of the chat */
} Chat;

/* *ret_text: the answer, also if the command was refused. Fails only with ERR_BUSY and ERR_IO: try
 * later. */
MUST_CHECK bool chat_command(Chat *c, const ChatWords *words, Str *ret_text, Err *err);

#endif
