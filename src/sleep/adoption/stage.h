/* stage.h - a night's proposals, put where they can be reviewed.
 *
 * A night has a folder of its own, staging/<YYYYMMDD-HHMMSS[-n]>, reserved when it begins and
 * published by its manifest, which is written last: a folder without one is nothing, whatever else is
 * in it. Nothing live is touched here. What is empty or unchanged is not proposed. */
#ifndef TALARIA_SLEEP_ADOPTION_STAGE_H
#define TALARIA_SLEEP_ADOPTION_STAGE_H

#include "sleep/adoption/live.h"
#include "sleep/adoption/manifest.h"
#include "sleep/task/places.h"

typedef struct StageProposal {
    ItemKind kind;
    Str name;            /* of the skill; not looked at for memory */
    const LiveDoc *live; /* as it was read before the first model call */
    Str proposed;
} StageProposal;

typedef struct StageFile {
    Str name; /* "report.md": in the night's folder */
    Str bytes;
} StageFile;

typedef struct StageRequest {
    Str night;
    bool accepted;
    Str live_skill_path, live_memory_path;
    const StageProposal *proposals;
    size_t n_proposals;
    const StageFile *files;
    size_t n_files;
    const Str *skill_roots;
    size_t n_roots;
} StageRequest;

/* Makes the folder of a night that begins at `now` and returns its name. */
MUST_CHECK bool stage_reserve(Arena *a, const SleepHome *home, double now, Str *ret_night,
                              Err *err);

/* Writes proposals and files, then the manifest, then .latest. Fails, and takes back what it wrote,
 * where a live document has changed since it was read. Doing it again after a crash is fine. */
MUST_CHECK bool stage_publish(Arena *a, const SleepHome *home, const StageRequest *request,
                              Manifest *ret, Err *err);

/* Removes the folder of a night that was never published. */
MUST_CHECK bool stage_discard(Arena *a, const SleepHome *home, Str night, Err *err);

/* -- nights that are there -------------------------------------------------------------------- */

bool night_name_ok(Str name); /* YYYYMMDD-HHMMSS, or with -2, -3, ... */

/* The folder of a published night by its name or by its path; ERR_NOT_FOUND where there is none. */
MUST_CHECK bool stage_find(Arena *a, const SleepHome *home, Str night, Str *ret_folder, Err *err);

/* Published nights, oldest first. */
MUST_CHECK bool stage_nights(Arena *a, const SleepHome *home, Str **ret, size_t *ret_n, Err *err);

/* The newest: what .latest says where that is one, else by the time of its manifest. */
MUST_CHECK bool stage_latest(Arena *a, const SleepHome *home, Str *ret_night, Err *err);

Str night_folder(Arena *a, const SleepHome *home, Str night);

#endif
