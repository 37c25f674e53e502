/* Any bytes as a head, taken apart as libmicrohttpd does (lines end at a line feed, texts at their
 * first NUL): what framing.h lets pass is read in the same way by a strict reader of the bytes as
 * they came. */
#include "base/arena.h"
#include "base/limits.h"
#include "http/framing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Head {
    char *bytes; /* with a NUL behind them */
    size_t n, at;
} Head;

/* The next line, its end made NUL; NULL: the empty one, or no more. */
static char *next_line(Head *h, size_t *ret_n)
{
    char *line = h->bytes + h->at, *end = memchr(line, '\n', h->n - h->at);

    if (!end)
        return NULL;
    h->at = (size_t)(end + 1 - h->bytes);
    *end = '\0';
    if (end > line && end[-1] == '\r')
        *--end = '\0';
    *ret_n = (size_t)(end - line);
    return end > line ? line : NULL;
}

/* "GET target HTTP/1.1"; false: libmicrohttpd does not take it. */
static bool feed_line(Framing *f, char *line, size_t n)
{
    char *target = memchr(line, ' ', n), *version;

    if (!target)
        return false;
    *target++ = '\0';
    while (*target == ' ')
        target++;
    version = line + n;
    while (version > target && version[-1] != ' ')
        version--;
    if (version <= target)
        return false;
    version[-1] = '\0';
    if (version + 8 != line + n ||
        (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0))
        return false;
    framing_line(f, line, str_of(target), target, version);
    return true;
}

static bool feed_header(Framing *f, char *line)
{
    char *colon = strchr(line, ':'), *value;

    if (!colon)
        return false;
    *colon = '\0';
    value = colon + 1;
    while (*value == ' ' || *value == '\t')
        value++;
    framing_header(f, str_of(line), str_of(value));
    return true;
}

/* A value of the bytes as they came has no control character, wherever its text was cut. */
static void check_value(Str v)
{
    while (v.n && memchr("\0\r\t ", v.p[v.n - 1], 4))
        v.n--;
    for (size_t i = 0; i < v.n; i++)
        ASSERT((unsigned char)v.p[i] >= ' ' || v.p[i] == '\t');
}

static void check_whole(Str head)
{
    Str line, rest = head;
    size_t hosts = 0, lengths = 0, encodings = 0, origins = 0;

    (void)str_split(&rest, '\n', &line);
    for (size_t i = 0; i < line.n; i++)
        ASSERT(line.p[i]);
    while (str_split(&rest, '\n', &line) && str_trim(line).n) {
        size_t colon = str_find(line, STR(":"));
        Str name = str_head(line, colon);

        check_value(str_skip(line, colon + 1));
        hosts += str_eq_nocase(str_trim(name), STR("host"));
        lengths += str_eq_nocase(str_trim(name), STR("content-length"));
        encodings += str_eq_nocase(str_trim(name), STR("transfer-encoding"));
        origins += str_eq_nocase(str_trim(name), STR("origin"));
    }
    ASSERT(hosts <= 1 && lengths + encodings <= 1 && origins <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str whole = { (const char *)data, size };
    Head h = { .bytes = arena_alloc(a, size + 1), .n = size };
    Framing f = { 0 };
    int64_t length;
    char *line;
    size_t n;
    Err err;

    if (size > LIMIT_HTTP_HEAD)
        return 0;
    if (size)
        memcpy(h.bytes, data, size);
    h.bytes[size] = '\0';
    line = next_line(&h, &n);
    if (!line || !feed_line(&f, line, n))
        return 0;
    while ((line = next_line(&h, &n)) != NULL)
        if (!feed_header(&f, line))
            return 0;
    framing_end(&f, h.bytes + h.at);
    if (!framing_check(&f, false, &length, &err)) {
        ASSERT(err.kind == ERR_USAGE);
        return 0;
    }
    ASSERT(length >= 0 || length == FRAMING_CHUNKS);
    check_whole(str_head(whole, h.at));
    return 0;
}
