/* backend_handoff.h - a backend without a model: questions and answers are files.
 *
 * Open questions are in handoff/PROMPTS.md (for people) and handoff/pending.json (for programs); an
 * answer is the file handoff/answers/<id>.md. Running the same night again continues: the questions
 * so far are the same, and so are their ids. */
#ifndef TALARIA_SLEEP_TRIAL_BACKEND_HANDOFF_H
#define TALARIA_SLEEP_TRIAL_BACKEND_HANDOFF_H

#include "sleep/task/places.h"
#include "sleep/trial/asker.h"

typedef struct HandoffBackend HandoffBackend;

/* Writes nothing to disk, because a cost estimate asks nothing. */
HandoffBackend *handoff_backend_new(const SleepHome *home);
HandoffBackend *handoff_backend_free(HandoffBackend *h);
AUTO_FREE(HandoffBackend, handoff_backend_free)

Backend *handoff_backend(HandoffBackend *h);

/* Writes the open questions, if any; returns how many there are. */
MUST_CHECK bool handoff_flush(HandoffBackend *h, size_t *ret_pending, Str *ret_folder, Err *err);

/* After the night: renames the folder, if something was asked, to handoff.night<N>[-n].done. */
MUST_CHECK bool handoff_archive(HandoffBackend *h, int64_t night, Err *err);

#endif
