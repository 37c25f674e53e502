/* stream.h - the bytes of an answer in, events out. Knows nothing of connections.
 *
 * One ModelStream an answer. Fed with the body as it arrives, in pieces of any size;
 * model_stream_end says that no more will come. Exactly one terminal event comes out, at the mark
 * of the end or at model_stream_end; what is fed after it is ignored. A recorded stream goes
 * through here as a live one does. Not thread-safe. */
#ifndef TALARIA_MODEL_STREAM_H
#define TALARIA_MODEL_STREAM_H

#include "model/model.h"

typedef struct ModelStream ModelStream;

/* whole: the body is one JSON document instead of an event stream. */
ModelStream *model_stream_new(ModelDialect dialect, bool whole, ModelEventFn *fn, void *ctx);
ModelStream *model_stream_free(ModelStream *s);
AUTO_FREE(ModelStream, model_stream_free)

/* False: the terminal event has been given, nothing more is needed. */
bool model_stream_feed(ModelStream *s, Str bytes);
void model_stream_end(ModelStream *s);

/* Ends it from outside with that failure, unless it has ended. */
void model_stream_fail(ModelStream *s, const ModelFail *fail);

#endif
