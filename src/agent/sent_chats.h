/* sent_chats.h - which conversation a client's list of messages belongs to.
 *
 * Clients of OpenAI's API send the whole chat each time. A turn is remembered under a hash of what
 * was sent for it (http/openai_request.h); when the same messages come again, with our answer and
 * something new behind them, it is the same conversation. It is kept in talaria.db, so that a
 * restart changes nothing, for the newest LIMIT_OPENAI_CHATS turns. What is found has to be checked
 * by the caller: losing one costs a conversation, never a wrong one. */
#ifndef TALARIA_AGENT_SENT_CHATS_H
#define TALARIA_AGENT_SENT_CHATS_H

#include "agent/runs.h"
#include "text/sha256.h"

/* Survives the death of the process, not a power cut. */
MUST_CHECK bool sent_chat_put(Runs *r, const uint8_t key[SHA256_BYTES], Str conversation_id,
                              Err *err);
/* *ret empty: none. */
MUST_CHECK bool sent_chat_find(Runs *r, Arena *a, const uint8_t key[SHA256_BYTES], Str *ret,
                               Err *err);

#endif
