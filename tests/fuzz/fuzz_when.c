/* Any text as a time: a range that does not run backwards, and a phrase that is part of the
 * text. */
#include "text/when.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = { (const char *)data, size }, place;
    const double now = 1794925800;
    When when;

    if (when_parse(text, now, &when)) {
        ASSERT(isfinite(when.from) && isfinite(when.until));
        ASSERT(when.from <= when.until);
    }
    if (when_find(text, now, &when, &place)) {
        ASSERT(when.from <= when.until);
        ASSERT(place.n && place.p >= text.p && place.p + place.n <= text.p + text.n);
    }
    return 0;
}
