/* home_channels.h - the place of each platform for what nobody asked for, as /sethome found it, and
 * the threads that we opened; both follow a chat that gets a new number. On a OwnStore, so one
 * thread; text lives in the arena. */
#ifndef TALARIA_CHAT_HOME_CHANNELS_H
#define TALARIA_CHAT_HOME_CHANNELS_H

#include "chat/address.h"
#include "store/own.h"

/* `configured`: the chat that the configuration names, which counts before what was said in a chat;
 * empty: none. ERR_NOT_FOUND: nobody ever said, or it is another chat. */
MUST_CHECK bool home_get(OwnStore *own, Arena *a, Str platform, Str configured, HomeChannel *ret,
                         Err *err);
/* ERR_REFUSED, in words, where the configuration names another chat. */
MUST_CHECK bool home_may_be(Str platform, Str configured, Str chat, Err *err);
MUST_CHECK bool home_set(OwnStore *own, Str platform, const HomeChannel *home, Err *err);

/* Words in such a thread are meant for us without a mention. */
MUST_CHECK bool topic_is_ours(OwnStore *own, const ChatAddress *p, bool *ret, Err *err);
MUST_CHECK bool topic_keep(OwnStore *own, const ChatAddress *p, Err *err);

/* The chat has another number from now on. Doing it again does nothing. */
MUST_CHECK bool chat_moved(OwnStore *own, Str platform, Str before, Str now, Err *err);
/* What its number was before; empty: it never changed. */
MUST_CHECK bool chat_before(OwnStore *own, Arena *a, Str platform, Str now, Str *ret, Err *err);

#endif
