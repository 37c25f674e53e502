/* shift.h - recorded texts, moved in time.
 *
 * The demo is recorded as at one moment. Every time in it is a marker «KIND:SECONDS», the distance
 * from that moment (negative: before), and becomes a time relative to now:
 *
 *   «unix:-60» «sec:-60» «ms:-60»  seconds since the epoch (with or without fraction), milliseconds
 *   «iso:-60» «isoms:-60»     2026-11-15T17:59:00Z, 2026-11-15T17:59:00.000Z
 *   «date:-60» «long:-60»     2026-11-15, 15 November 2026
 *   «year:-60» «month:-60:2»  2026, 2026-09: the month two before that of the time
 *   «stamp:-60»               20261115_175900, as in session ids
 *   «folder:-60» «file:-60»   2026/11/15, 2026-11-15T17-59-00, as Codex names its files
 *   «night:-60»               20261115-175900, as sleep names its nights
 *
 * Two more depend on the place: «root» is the demo's folder, and «sha256:PATH» the digest of
 * another recorded file as it will be written.
 *
 * All times are in UTC, so the same now makes the same bytes on every machine. */
#ifndef TALARIA_DEMO_SHIFT_H
#define TALARIA_DEMO_SHIFT_H

#include "base/buf.h"
#include "demo/pack.h"

typedef struct Recording {
    Arena *arena;
    RecordedFile *files;
    size_t n;
    double now;
    Str root;
} Recording;

/* The text with its markers replaced. *ret_latest: the latest time in it, 0 without any. */
MUST_CHECK bool demo_shift(const Recording *r, Str text, Buf *out, double *ret_latest, Err *err);

/* The same as a text in the recording's arena; p NULL and err on failure. */
Str demo_shifted(const Recording *r, Str text, double *ret_latest, Err *err);

/* A recorded file whose name depends on the time has it in its first line:
 * {"demo_path": "codex/sessions/..."}. Takes that line off and sets the path. */
MUST_CHECK bool demo_take_path(const Recording *r, Str *text, Str *path, Err *err);

#endif
