/* backend_model.h - the configured model answers, and every answer is kept.
 *
 * An answer is looked up by what was asked of whom: a night that goes on pays for nothing twice. A
 * fresh draw is kept under the night and its number, so that another night draws anew. */
#ifndef TALARIA_SLEEP_TRIAL_BACKEND_MODEL_H
#define TALARIA_SLEEP_TRIAL_BACKEND_MODEL_H

#include "model/config.h"
#include "sleep/task/places.h"
#include "sleep/trial/asker.h"

typedef struct ModelBackend ModelBackend;

MUST_CHECK ModelBackend *model_backend_new(const SleepHome *home, const ModelConfig *config,
                                           Err *err);
ModelBackend *model_backend_free(ModelBackend *m);
AUTO_FREE(ModelBackend, model_backend_free)

Backend *model_backend(ModelBackend *m);

/* Dollars a token, in and out taken together; < 0: prices are not set. */
double model_backend_price(const ModelConfig *config);

#endif
