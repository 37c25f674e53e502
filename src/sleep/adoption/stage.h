/* stage.h - the staging folder, where a night's proposals wait for review.
 *
 * Each night has a folder, staging/<YYYYMMDD-HHMMSS[-n]>, reserved when it begins and published by
 * its manifest, which is written last: a folder without one is ignored, whatever else is in it.
 * Live documents are not touched here. Empty and unchanged proposals are left out. */
#ifndef TALARIA_SLEEP_ADOPTION_STAGE_H
#define TALARIA_SLEEP_ADOPTION_STAGE_H

#include "sleep/adoption/live.h"
#include "sleep/adoption/manifest.h"
#include "sleep/task/places.h"

typedef struct StageProposal {
    ItemKind kind;
    Str name;            /* of the skill; ignored for memory */
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
    StrList skill_roots;
} StageRequest;

/* Makes the folder of a night that begins at `now` and returns its name. */
MUST_CHECK bool stage_reserve(Arena *a, const SleepHome *home, double now, Str *ret_night,
                              Err *err);

/* Writes proposals and files, then the manifest, then .latest. If a live document has changed since
 * it was read, it fails and removes what it wrote. May be repeated after a crash. */
MUST_CHECK bool stage_publish(Arena *a, const SleepHome *home, const StageRequest *request,
                              Manifest *ret, Err *err);

/* Removes the folder of a night that was never published. */
MUST_CHECK bool stage_discard(Arena *a, const SleepHome *home, Str night, Err *err);

/* -- Published nights -- */

bool night_name_ok(Str name); /* YYYYMMDD-HHMMSS, or with -2, -3, ... */

/* The folder of a published night by its name or by its path; ERR_NOT_FOUND if there is none. */
MUST_CHECK bool stage_find(Arena *a, const SleepHome *home, Str night, Str *ret_folder, Err *err);

/* Published nights, oldest first. */
MUST_CHECK bool stage_nights(Arena *a, const SleepHome *home, Str **ret, size_t *ret_n, Err *err);

/* The newest: the one in .latest if it is published, else by the time of its manifest. */
MUST_CHECK bool stage_latest(Arena *a, const SleepHome *home, Str *ret_night, Err *err);

Str night_folder(Arena *a, const SleepHome *home, Str night);

#endif
