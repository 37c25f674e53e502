/* session_json.h - sessions, messages and homes as the JSON that every surface gives.
 *
 * `--json` on the command line and the routes of the server write the same shapes; they are written
 * here and nowhere else. The fields are put into an object that the caller has begun. */
#ifndef TALARIA_STORE_SESSION_JSON_H
#define TALARIA_STORE_SESSION_JSON_H

#include "store/store.h"
#include "text/json.h"

/* One part of a lineage. */
void session_put(JsonWriter *w, const Session *s);

/* A lineage: the tip's id and the whole chain's figures. The caller adds its "parts". */
void lineage_put(JsonWriter *w, Str home, const Lineage *l); /* home: its name */
void lineage_put_parts(JsonWriter *w, const Lineage *l);     /* "parts": [...] */

/* A message without its tool calls; `text` is its content as it is to be shown. */
void message_put(JsonWriter *w, const Message *m, Str text);
void toolcall_put(JsonWriter *w, const ToolCall *call);

/* What is known of the homes: "data" and "homes": [...]. */
void home_put(JsonWriter *w, const HomeFacts *f);

#endif
