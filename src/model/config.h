/* config.h - which model is called, and how.
 *
 * From config.yaml (model.base_url, model.name, ...), and before that from the environment:
 * TALARIA_MODEL_BASE_URL, TALARIA_MODEL, TALARIA_MODEL_DIALECT, TALARIA_MODEL_KEY. The key itself
 * is never in the file, only the name of the variable that holds it; it is never printed or
 * logged. */
#ifndef TALARIA_MODEL_CONFIG_H
#define TALARIA_MODEL_CONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "model/model.h"
#include "net/fetch.h"
#include "text/settings.h"

typedef struct ModelConfig {
    Str base_url, name;
    ModelDialect dialect;
    Str key;   /* secret; empty: none is sent */
    Str proxy; /* empty: none */
    bool allow_plain;
    int64_t at_once;                  /* calls at a time */
    int64_t window;                   /* tokens that it takes; 0: not known */
    int64_t max_tokens;               /* of an answer, where a request does not say; 0: neither */
    double price_input, price_output; /* of a million tokens; 0: not known */
    /* Not settings: what limits.h says, smaller in tests. */
    FetchTimes times;
    int64_t tries, retry_ms, backoff_ms;
} ModelConfig;

/* Whether one is configured at all: a base URL or a name. */
bool model_config_exists(const Settings *settings);

/* ERR_NOT_FOUND, with what to set, where something is missing; everything checked. */
MUST_CHECK bool model_config(Arena *a, const Settings *settings, ModelConfig *ret, Err *err);

/* The same for a requested model: the name of one of `models` in the configuration, else the name
 * of a model at the default's address; empty: the default. What a named one does not say is as the
 * default has it, save the key where it has its own address. */
MUST_CHECK bool model_config_of(Arena *a, const Settings *settings, Str request, ModelConfig *ret,
                                Err *err);

/* The defaults of the last two lines, for a config put together by hand. */
ModelConfig model_config_plain(Str base_url, Str name, ModelDialect dialect, Str key);

/* Where requests go: the base URL, /v1 where it is missing, and the path of the dialect. */
MUST_CHECK bool model_url(Arena *a, const ModelConfig *config, Str *ret, Err *err);

/* Whether this is the provider itself and not someone who speaks as it does. */
bool model_is_official(const ModelConfig *config);

#endif
