/* client.h - calls of one model: queued, bounded, tried again, cancellable.
 *
 * A ModelClient represents one configured model and may be used by any number of threads. At most
 * `at_once` calls are out at a time, the others wait in order; a server that says "too fast" holds
 * up all of them, not only the one it told. A call that fails before anything was said is tried
 * again (rate limits, 5xx, broken connections), waiting longer each time or as long as the server
 * asks, within bounds of count and time; once a word has come out, never.
 *
 * Events come on the loop's thread of the Net; the last one is MODEL_FINISH or MODEL_ERROR,
 * always. */
#ifndef TALARIA_MODEL_CLIENT_H
#define TALARIA_MODEL_CLIENT_H

#include "model/config.h"
#include "net/net.h"

typedef struct ModelClient ModelClient;

/* Copies the config. The Net must outlive it. */
MUST_CHECK ModelClient *model_client_new(Net *net, const ModelConfig *config, Err *err);

/* Cancels what is out and waits for the last events. Not from a callback. */
ModelClient *model_client_free(ModelClient *c);
AUTO_FREE(ModelClient, model_client_free)

const ModelConfig *model_client_config(const ModelClient *c);

/* Begins a call; the request is not needed afterwards. Any thread. On failure no event comes. */
MUST_CHECK bool model_start(ModelClient *c, const ModelRequest *request, ModelEventFn *fn,
                            void *ctx, NetId *ret_id, Err *err);

/* Ends it with MODEL_FAIL_CANCELLED, soon; nothing where it has ended. Any thread. */
void model_cancel(ModelClient *c, NetId id);
void model_cancel_all(ModelClient *c);

#endif
