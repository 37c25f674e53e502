/* demo.h - a believable history for a home that has none, and how to be rid of it.
 *
 * Sessions go into talaria.db, files (skills, memory, notes) beside it. What was made is written down
 * in the same database (store/own.h, maker "demo"), so that removal takes exactly that. The same `now`
 * makes the same bytes.
 *
 * Order, so that a death at any point is healed by the next run: first it is noted which files are
 * going to be made, then they are made, then all sessions and their notes follow in one transaction.
 * The demo counts as present when its sessions are. */
#ifndef TALARIA_DEMO_DEMO_H
#define TALARIA_DEMO_DEMO_H

#include "demo/talk.h"

typedef struct DemoWish {
    double now;   /* the newest session ends an hour earlier */
    bool force;   /* replace a demo that is there */
    bool dry_run; /* count, write nothing */
} DemoWish;

typedef struct DemoReport {
    bool already; /* it was there, and nothing was changed */
    size_t sessions, messages, tool_calls, tools, models;
    size_t skills, notes, memories;
    double oldest, newest;
    Str *left; /* files that were not touched: the user's own, or edited since */
    size_t n_left, cap_left;
} DemoReport;

/* Makes the home where it is missing. Texts in the report live in the arena. */
MUST_CHECK bool demo_fill(Arena *a, Str data_folder, const DemoWish *wish, DemoReport *ret,
                          Err *err);

/* Takes out what demo_fill made and nothing else; none is fine. The report counts what went. */
MUST_CHECK bool demo_remove(Arena *a, Str data_folder, bool dry_run, DemoReport *ret, Err *err);

/* -- parts, for the above and for tests ---------------------------------------------------- */

/* Every session in order of time. False from fn ends the telling with the err that fn set. */
typedef bool DemoFn(void *ctx, const Told *told, Err *err);
MUST_CHECK bool demo_tell(double now, DemoFn *fn, void *ctx, Err *err);

/* FNV-1a of 64 bits in 16 hexadecimal digits: tells an edited file from one as it was made. */
Str demo_digest(Arena *a, Str bytes);

#endif
