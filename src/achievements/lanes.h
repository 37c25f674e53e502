/* lanes.h - which histories a scan counts.
 *
 * There are two figures. Hermes' plugin counts the rows of state.db alone, and its files are shared
 * with it: that is kept as it is. Our own counts conversations of every source: the homes, and
 * behind them the transcripts of Claude Code and Codex, each a separate lane. */
#ifndef TALARIA_ACHIEVEMENTS_LANES_H
#define TALARIA_ACHIEVEMENTS_LANES_H

#include "store/homes.h"

/* Hermes' homes, or the one that was asked for by name; n is 0 where there is none. */
Homes lanes_plugin(Arena *a, const Homes *homes);

/* Every home, and transcripts unless one home was asked for by name. */
MUST_CHECK bool lanes_all(Arena *a, const Homes *homes, Homes *ret, Err *err);

bool lane_is_files(const Home *lane);

/* Whether it exists now: a server runs for long after it looked for the homes. */
bool lane_there(const Home *lane);

/* What the lanes look like from outside: differs when anything of them may have changed. 0: that
 * cannot be told yet, since something was written just now. Opens no database. */
uint64_t lanes_mark(const Homes *lanes);

#endif
