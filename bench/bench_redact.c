/* How fast secrets are found in what agents write: prose, programs, logs, a secret now and then.
 * Beside it the obvious way, the main rules as one regular expression, over a slice of the same. */
#include <inttypes.h>
#include <regex.h>

#include "base/clock.h"
#include "base/limits.h"
#include "text/redact.h"

enum { TEXT_BYTES = MIB(256), PEER_BYTES = MIB(1), SECRET_EVERY = KIB(20), PASS_AT = 400 };

static const char *const lines[] = {
    "The scheduler wakes every minute, looks at what is due and hands each job to a worker.\n",
    "Nobody had expected the token budget to last; at noon the secret of the old lock was out.\n",
    "On Monday we spoke about keyboards, broken monkeys and how a password manager works.\n",
    "    for (size_t i = 0; i < node->count; i++)\n        total += node->child[i]->weight;\n",
    "static int parse_key(const char *text, size_t n, struct key_table *keys) /* see token.c */\n",
    "const tokens = await tokenizer.encode(message.text); if (tokens.length > max_tokens) "
    "return;\n",
    "{\"ts\":\"2026-08-01T12:34:56.789Z\",\"level\":\"info\",\"key\":\"session.count\",\"n\":12,"
    "\"msg\":\"indexed\"}\n",
    "{\"role\":\"assistant\",\"usage\":{\"input_tokens\":1834,\"output_tokens\":92},\"secrets\":0,"
    "\"path\":\"/home/dev/src/main.c\",\"text\":\"I read the file.\\nNext: the tests.\"}\n",
    "2026-08-01 12:34:56 worker-3 GET https://example.org/api/v1/items?page=2&key=name 200 31ms\n",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 550e8400-e29b-41d4-a716-446655440000\n",
};

static const char *const secrets[] = {
    "OPENAI_API_KEY=sk-FAKEbenchbenchbench0123456789\n",
    "{\"password\": \"FAKE-bench\", \"user\": \"dev\"}\n",
    "Authorization: Bearer FAKE.bench.0123456789\n",
    "git clone https://dev:FAKEbench@example.org/repo.git\n",
};

static void fill(Buf *text)
{
    uint64_t seed = 42;
    size_t next = SECRET_EVERY, nth = 0;

    while (text->n + KIB(1) < TEXT_BYTES) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        buf_addz(text, lines[(seed >> 33) % ARRAY_LEN(lines)]);
        if (text->n < next)
            continue;
        buf_addz(text, secrets[nth++ % ARRAY_LEN(secrets)]);
        next += SECRET_EVERY;
    }
}

static bool drop(void *ctx, const char *p, size_t n)
{
    (void)p;
    *(size_t *)ctx += n;
    return true;
}

static double per_second(size_t bytes, int64_t ns)
{
    return (double)bytes / 1e6 / ((double)(ns > 0 ? ns : 1) / 1e9);
}

static double measure_ours(Str text)
{
    size_t written = 0;
    AUTO_BUF out = { .max = MIB(64), .sink = drop, .sink_ctx = &written };
    AUTO(Redactor) *r = redactor_new(&out);
    int64_t start = clock_cpu_ns();

    for (size_t at = 0; at < text.n; at += KIB(64))
        redactor_feed(r, str_head(str_skip(text, at), KIB(64)));
    redactor_finish(r);
    buf_flush(&out);
    ASSERT(written > 0 && written < text.n * 2);
    return per_second(text.n, clock_cpu_ns() - start);
}

static double measure_peer(Str text)
{
    static const char pattern[] =
        "sk-[A-Za-z0-9_-]{10,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|xox[baprs]-[A-Za-z0-9-]"
        "{10,}|AIza[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+|"
        "authorization: *(bearer|basic) +[^ \t\n]+|(api_?key|token|password|passwd|secret)\"? "
        "*[:=] "
        "*[^ \t\n;,&]+|(token|password|secret) +[A-Za-z0-9_./+=:@-]{6,}|://[^/:@ ]*:[^/@ ]+@";
    regmatch_t hit = { .rm_so = 0 };
    size_t at = 0, hits = 0;
    int64_t start;
    regex_t re;

    ASSERT(regcomp(&re, pattern, REG_EXTENDED | REG_ICASE) == 0);
    start = clock_cpu_ns();
    /* A line at a time, as such filters do; the library slows down much more on a whole text. */
    while (at < text.n) {
        const char *end = memchr(text.p + at, '\n', text.n - at);
        size_t stop = end ? (size_t)(end - text.p) + 1 : text.n;

        hit.rm_so = (regoff_t)at;
        hit.rm_eo = (regoff_t)stop;
        hits += regexec(&re, text.p, 1, &hit, REG_STARTEND) == 0;
        at = stop;
    }
    ASSERT(hits > 0);
    regfree(&re);
    return per_second(text.n, clock_cpu_ns() - start);
}

int main(void)
{
    AUTO_BUF text = BUF(TEXT_BYTES);
    double ours, peer;

    fill(&text);
    ours = measure_ours(buf_str(&text));
    peer = measure_peer(str_head(buf_str(&text), PEER_BYTES));
    printf("redact\t%.0f\tMB/s\t%.2f\trun\t%.1f\t%s\n", ours, peer, ours / peer,
           ours >= PASS_AT ? "pass" : "FAIL");
    return ours >= PASS_AT ? 0 : 1;
}
