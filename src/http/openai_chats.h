/* openai_chats.h - which conversation a client's list of messages belongs to.
 *
 * Clients of OpenAI's API send the whole chat each time. A turn is remembered under the hash chain of what was sent for
 * it (openai_request.h); when the same messages come again, with our answer and something new behind them, it is the
 * same conversation. The newest LIMIT_OPENAI_CHATS turns are remembered while the server runs. Any thread. */
#ifndef TALARIA_HTTP_OPENAI_CHATS_H
#define TALARIA_HTTP_OPENAI_CHATS_H

#include "base/arena.h"
#include "text/sha256.h"

typedef struct OpenaiChats OpenaiChats;

OpenaiChats *openai_chats_new(void);
OpenaiChats *openai_chats_free(OpenaiChats *all);

void openai_chats_put(OpenaiChats *all, const uint8_t key[SHA256_BYTES], Str conversation_id);
/* Empty: none. */
Str openai_chats_find(OpenaiChats *all, Arena *a, const uint8_t key[SHA256_BYTES]);

#endif
