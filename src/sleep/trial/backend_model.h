/* backend_model.h - the configured model as a backend; every answer is stored.
 *
 * Answers are looked up by model and prompt, so a resumed night pays for nothing twice. A fresh
 * draw is stored under the night and its number, so another night draws again. */
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

/* Dollars per token, input and output averaged; < 0: prices are not set. */
double model_backend_price(const ModelConfig *config);

#endif
