/* dialect.h - what one dialect has to know: where requests go, how they are written, how answers
 * are read. One file a dialect; what all have in common is in stream.c, behind the functions
 * below. */
#ifndef TALARIA_MODEL_DIALECT_H
#define TALARIA_MODEL_DIALECT_H

#include "model/stream.h"
#include "text/json.h"

typedef struct Dialect {
    const char *path; /* below the base URL, which ends in /v1 */
    bool v1_always;   /* /v1 is added to any base URL that does not end in it, not only to a bare
                       * host */
    const char *const *headers; /* beside the content type, ended by NULL */
    const char *key_header;     /* what stands before the key */
    /* The fields of the body, but for "model" and "stream". */
    void (*write)(JsonWriter *w, const ModelRequest *request, bool official);
    /* One event of a stream; data is JSON unless it is the word that marks the end. */
    void (*event)(ModelStream *s, Json data);
    /* A whole answer. */
    void (*whole)(ModelStream *s, Json body);
    const char *end_word; /* data that is no JSON and ends the stream, or NULL */
} Dialect;

extern const Dialect dialect_openai_chat, dialect_openai_responses, dialect_anthropic;
const Dialect *dialect_of(ModelDialect id);

/* -- what a reader of a dialect says -- */

void stream_text(ModelStream *s, Str text);
void stream_reasoning(ModelStream *s, Str text);

/* Tool calls come in pieces, told apart by a number of the dialect's own. Begun twice is begun
 * once. They are checked and given out at the end of the answer, when it is known that they are
 * whole. */
void stream_call_begin(ModelStream *s, int64_t index, Str id, Str name);
void stream_call_add(ModelStream *s, int64_t index, Str arguments);
int64_t stream_call_last(const ModelStream *s); /* the number begun last; -1: none */

ModelUsage *stream_usage(ModelStream *s); /* to fill; from now on there is usage */

void stream_set_finish(ModelStream *s, ModelFinish finish);
bool stream_has_finish(const ModelStream *s);
void stream_finish(ModelStream *s); /* the terminal event: finish, or why it cannot be one */
void stream_fail(ModelStream *s, ModelFailKind kind, Str message);
void stream_fail_json(ModelStream *s, Json error); /* an error object of the server */

/* Messages and tools, for the writers. */
void dialect_schema(JsonWriter *w, Str schema); /* an empty object where there is none */

#endif
