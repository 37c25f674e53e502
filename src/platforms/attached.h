/* attached.h - files in updates: what parsers make of what they say. Pure. */
#ifndef TALARIA_PLATFORMS_ATTACHED_H
#define TALARIA_PLATFORMS_ATTACHED_H

#include "platforms/platform.h"
#include "platforms/read.h"

/* One more file of the message; beyond LIMIT_INBOUND_FILES they are only counted. The name is
 * whatever the sender made of it, or empty: then `otherwise` names it. */
void attached_add(Arena *a, Inbound *in, InboundFile file, Str otherwise);

/* A size as an update says it; -1 where it says none. */
int64_t attached_size(const PyValue *v, const char *key);

#endif
