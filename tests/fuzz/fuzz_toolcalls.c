/* Any bytes in the cells of a message: read or passed over, and pairing holds its promises. */
#include "store/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str rest = { (const char *)data, size }, line;
    Message messages[64] = { { { 0 } } };
    Exchange *all;
    size_t n = 0, pairs;

    /* One message a line; its first byte says whose it is. */
    while (n < ARRAY_LEN(messages) && str_split(&rest, '\n', &line)) {
        Message *m = &messages[n++];
        char who = line.n ? line.p[0] : 'u';

        line = str_skip(line, 1);
        m->role = who == 'a' ? STR("assistant") : who == 't' ? STR("tool") : STR("user");
        m->tool_calls = who == 'a' ? line : STR_NONE;
        m->tool_call_id = who == 't' ? str_head(line, 4) : STR_NONE;
        m->content = line;
        (void)message_text(a, line);
    }
    exchanges_pair(a, messages, n, &all, &pairs);
    for (size_t i = 0; i < pairs; i++) {
        ASSERT(all[i].call.name.n);
        ASSERT(!all[i].has_result || (all[i].result > all[i].message && all[i].result < n));
        for (size_t k = 0; k < i; k++)
            ASSERT(!all[i].has_result || !all[k].has_result || all[i].result != all[k].result);
    }
    return 0;
}
