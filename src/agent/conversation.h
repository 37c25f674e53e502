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

/* What a runtime goes on from, with the name that it is kept under. A handle that another program left under
 * the runtime's alias (`ret_foreign`) is not ours to go on from, nor to replace: ours is kept beside it, under
 * the runtime's own name. */
MUST_CHECK bool continuity_of(Runs *r, Arena *a, Str conversation_id, const Runtime *runtime,
                              Continuity *ret, bool *ret_foreign, Err *err);

/* {"v":1,"active":NAME,"runtimes":{NAME:HANDLE}}: a view of what the runtimes' own rows say. A handle that
 * is JSON stands as it is, byte for byte; others as text. */
MUST_CHECK bool agent_state_put(JsonWriter *w, Runs *r, Arena *a, const Conversation *c, Err *err);

#endif
