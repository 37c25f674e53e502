/* longline.h - a line that is too long to be held, made short while it passes by.
 *
 * What comes out is JSON of the same shape with long strings cut in the middle, and with what no
 * longer fits left out: values deep down first, so that what the top says (type, role, time) is
 * always there. Memory stays the same however long the line is. */
#ifndef TALARIA_TRANSCRIPTS_LONGLINE_H
#define TALARIA_TRANSCRIPTS_LONGLINE_H

#include "base/arena.h"

typedef struct LongLine LongLine;

LongLine *longline_new(void);
LongLine *longline_free(LongLine *l);
AUTO_FREE(LongLine, longline_free)

void longline_begin(LongLine *l);
void longline_feed(LongLine *l, Str bytes);

/* False where it was no JSON. The text is borrowed until the next longline_begin, shorter than
 * LIMIT_TRANSCRIPT_LINE, with JSON_SCAN_SLACK bytes of NUL behind it. */
bool longline_end(LongLine *l, Str *ret);

#endif
