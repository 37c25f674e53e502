/* Two texts: the diff of them applied to the first is the second. And the second read as a diff of
 * the first: refused or applied, never more than that. */
#include "../unit/diff_apply.h"

#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str all = { (const char *)data, size }, before = all, after = { NULL, 0 };
    const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
    AUTO_BUF diff = BUF(MIB(4)), back = BUF(MIB(4)), odd = BUF(MIB(4));
    Err err;

    if (cut) {
        before.n = (size_t)(cut - data);
        after = str_skip(all, before.n + 1);
    }
    diff_unified(&diff, before, after, STR("before"), STR("after"));
    ASSERT(!buf_full(&diff));
    ASSERT(diff_apply(&back, before, buf_str(&diff), &err));
    ASSERT(str_eq(buf_str(&back), after));
    (void)!diff_apply(&odd, before, after, &err);
    return 0;
}
