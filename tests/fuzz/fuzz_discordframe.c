/* Frames of Discord's gateway, one a line: what is read has an op in its bounds, and the number to
 * resume from never goes back, never skips an event that has not come within the window, and never
 * passes the highest that has. */
#include "platforms/discord/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_seen(DiscordSocket *l, int64_t s, int64_t *highest)
{
    int64_t before = l->seq;

    discord_seq_seen(l, s);
    if (s > *highest)
        *highest = s;
    ASSERT(l->seq >= before && l->seq <= *highest);
    ASSERT(!(l->ahead & 1));
    if (s - before > 1 && s - before <= 64)
        ASSERT(l->seq == before && (l->ahead >> (s - before - 1) & 1));
    if (s - before == 1)
        ASSERT(l->seq > before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str rest = { (const char *)data, size }, frame;
    int64_t highest = 0;
    DiscordSocket l = { 0 };

    while (str_split(&rest, '\n', &frame)) {
        AUTO(Arena) *a = arena_new();
        Payload p = { 0 };

        if (!discord_frame_read(a, frame, &p))
            continue;
        ASSERT(p.v.type == PY_DICT && p.op >= 0 && p.op <= 255 && p.s >= 0);
        if (!p.op && p.s)
            check_seen(&l, p.s, &highest);
    }
    return 0;
}
