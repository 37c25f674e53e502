/* backend_handoff.h - no model at all: questions go out to files, answers come in from files.
 *
 * What is not answered yet stands in handoff/PROMPTS.md (for people) and handoff/pending.json (for
 * programs); an answer is the file handoff/answers/<id>.md. Running the same night again goes on from
 * there: everything before is the same, so every question has the same id. */
#ifndef TALARIA_SLEEP_TRIAL_BACKEND_HANDOFF_H
#define TALARIA_SLEEP_TRIAL_BACKEND_HANDOFF_H

#include "sleep/task/places.h"
#include "sleep/trial/asker.h"

typedef struct HandoffBackend HandoffBackend;

/* Makes nothing on disk: whoever only wants to know what a night would cost asks nobody. */
HandoffBackend *handoff_backend_new(const SleepHome *home);
HandoffBackend *handoff_backend_free(HandoffBackend *h);
AUTO_FREE(HandoffBackend, handoff_backend_free)

Backend *handoff_backend(HandoffBackend *h);

/* How many questions wait; written out where there are any. */
MUST_CHECK bool handoff_flush(HandoffBackend *h, size_t *ret_pending, Str *ret_folder, Err *err);

/* The night is over: its folder, where something was asked, is put aside as handoff.night<N>[-n].done. */
MUST_CHECK bool handoff_archive(HandoffBackend *h, int64_t night, Err *err);

#endif
