/* backends.h - choosing a backend, by name or by configuration.
 *
 * The same for the command line and the server: the requested backend; else the configured model;
 * else "mock", which simulates answers. An Answerer owns what it opened and belongs to one
 * thread. */
#ifndef TALARIA_SLEEP_TRIAL_BACKENDS_H
#define TALARIA_SLEEP_TRIAL_BACKENDS_H

#include "sleep/task/places.h"
#include "sleep/trial/backend_handoff.h"
#include "text/settings.h"

typedef struct ModelBackend ModelBackend;

typedef struct AnswererOptions {
    Str kind;  /* "mock", "model" or "handoff"; empty: by the rule above */
    Str model; /* instead of the configured one; or empty */
} AnswererOptions;

typedef struct Answerer {
    Backend mock;
    ModelBackend *model;     /* or NULL */
    HandoffBackend *handoff; /* or NULL */
    Backend *backend;        /* one of the three */
    double usd_per_token;    /* < 0: not known */
} Answerer;

/* The kind that the options mean: "mock", "model" or "handoff". */
Str answerer_kind(const AnswererOptions *options, const Settings *settings);

/* ERR_NOT_FOUND: no model is configured. answerer_close may be called after a failure. */
MUST_CHECK bool answerer_open(Arena *a, const SleepHome *home, const Settings *settings,
                              const AnswererOptions *options, Answerer *ret, Err *err);
void answerer_close(Answerer *who);
#define AUTO_ANSWERER __attribute__((cleanup(answerer_close))) Answerer

/* ERR_USAGE: the budget is in money and the model's prices are unknown. */
MUST_CHECK bool answerer_can_count(const Answerer *who, const Budget *budget, Err *err);

#endif
