/* conversation.h - conversations, runs and attachments as JSON: the same on every surface. */
#ifndef TALARIA_AGENT_CONVERSATION_H
#define TALARIA_AGENT_CONVERSATION_H

#include "agent/service.h"
#include "text/json.h"

/* Fields into an object that the caller began. */
void conversation_put(JsonWriter *w, const Conversation *c);
void chat_turn_put(JsonWriter *w, const ChatTurn *t);
void run_put(JsonWriter *w, const Run *run);
void attachment_put(JsonWriter *w, const Attachment *x);
void caps_put(JsonWriter *w, const Runtime *runtime, const RuntimeCaps *caps);

/* The handle from which a runtime continues, and the name it is stored under. A handle that another
 * program stored under the runtime's alias (`ret_foreign`) is neither used nor replaced; Talaria's
 * is stored under the runtime's name. */
MUST_CHECK bool continuity_of(Runs *r, Arena *a, Str conversation_id, const Runtime *runtime,
                              Continuity *ret, bool *ret_foreign, Err *err);

/* {"v":1,"active":NAME,"runtimes":{NAME:HANDLE}}, from the runtimes' rows. A handle that is JSON is
 * copied byte for byte, others are text. */
MUST_CHECK bool agent_state_put(JsonWriter *w, Runs *r, Arena *a, const Conversation *c, Err *err);

#endif
