/* "v0=" and the HMAC-SHA256 of "v0:<time>:<body>" under the app's secret. The time is part of what
 * is signed, so an old request cannot be made to look new; compared is in constant time. */
#include "platforms/slack/slack.h"
#include "text/sha256.h"

static bool same(Str a, Str b)
{
    volatile unsigned char differ = a.n != b.n;

    for (size_t i = 0; i < b.n; i++)
        differ |= (unsigned char)((i < a.n ? a.p[i] : 0) ^ b.p[i]);
    return !differ;
}

static Str signature_of(Arena *a, Str secret, const SlackSigned *s)
{
    static const char digits[] = "0123456789abcdef";
    Str head = str_printf(a, "v0:%.*s:", STR_FMT(s->timestamp));
    char *all = arena_alloc(a, head.n + s->body.n + 1), *hex = arena_alloc(a, 4 + SHA256_HEX);
    uint8_t hash[SHA256_BYTES];

    memcpy(all, head.p, head.n);
    if (s->body.n)
        memcpy(all + head.n, s->body.p, s->body.n);
    hmac_sha256(secret, (Str){ all, head.n + s->body.n }, hash);
    memcpy(hex, "v0=", 3);
    for (int i = 0; i < SHA256_BYTES; i++) {
        hex[3 + 2 * i] = digits[hash[i] >> 4];
        hex[4 + 2 * i] = digits[hash[i] & 15];
    }
    return (Str){ hex, 3 + SHA256_HEX };
}

bool slack_verify(Arena *a, Str secret, const SlackSigned *s, int64_t now_s, Err *err)
{
    if (!secret.n || !same(s->signature, signature_of(a, secret, s)))
        return err_set(err, ERR_REFUSED, "the signature is not slack's");
    return slack_may_be(s, now_s, err);
}

bool slack_may_be(const SlackSigned *s, int64_t now_s, Err *err)
{
    int64_t sent;

    if (!str_starts(s->signature, STR("v0=")) || s->signature.n != 3 + SHA256_HEX ||
        !str_to_int(s->timestamp, 0, INT64_MAX, &sent))
        return err_set(err, ERR_REFUSED, "the signature is not slack's");
    if (sent < now_s - SLACK_SIGNED_S || sent > now_s + SLACK_SIGNED_S)
        return err_set(err, ERR_REFUSED,
                       "the signature is too old, or this machine's clock is wrong");
    return true;
}
