/* names.h - the tools of a session: which there were, and how often each was called.
 *
 * What a name counts for is worked out once a name, not once a call: names are kept from one
 * session to the next. */
#ifndef TALARIA_ACHIEVEMENTS_NAMES_H
#define TALARIA_ACHIEVEMENTS_NAMES_H

#include "achievements/metrics.h"

typedef struct Names Names;

Names *names_new(void);
Names *names_free(Names *names);

/* Tools of every agent count as the tools that the metrics look for (data/tools.def). Before the
 * first session. */
void names_map(Names *names, bool on);

void names_begin(Names *names);                              /* a session */
void names_row(Names *names, int64_t message);               /* what is seen now is of that one */
void names_see(Names *names, Str name, bool called);         /* name is not empty */
void names_end(Names *names, Arena *a, SessionMetrics *ret); /* adds to ret's metrics */

#endif
