/* backends.h - who answers tonight, by a word or by what is configured.
 *
 * One rule for the command line and for the server: what was asked for; else the configured model; else
 * nobody, which is "mock". An Answerer owns what it opened and is one thread's. */
#ifndef TALARIA_SLEEP_TRIAL_BACKENDS_H
#define TALARIA_SLEEP_TRIAL_BACKENDS_H

#include "sleep/task/places.h"
#include "sleep/trial/backend_handoff.h"
#include "text/settings.h"

typedef struct ModelBackend ModelBackend;

typedef struct AnswererOptions {
    Str kind;  /* "mock", "model" or "handoff"; empty: by the rule above */
    Str model; /* another one than the configured; or empty */
} AnswererOptions;

typedef struct Answerer {
    Backend mock;
    ModelBackend *model;     /* or NULL */
    HandoffBackend *handoff; /* or NULL */
    Backend *backend;        /* one of the three */
    double usd_per_token;    /* < 0: not known */
} Answerer;

/* The kind that a wish comes to: "mock", "model" or "handoff". */
Str answerer_kind(const AnswererOptions *options, const Settings *settings);

/* ERR_NOT_FOUND where a model is asked for and none is configured. answerer_close is harmless after a
 * failure. */
MUST_CHECK bool answerer_open(Arena *a, const SleepHome *home, const Settings *settings,
                              const AnswererOptions *options, Answerer *ret, Err *err);
void answerer_close(Answerer *who);
#define AUTO_ANSWERER __attribute__((cleanup(answerer_close))) Answerer

/* ERR_USAGE where money is to end the night and what the model costs is not known. */
MUST_CHECK bool answerer_can_count(const Answerer *who, const Budget *budget, Err *err);

#endif
