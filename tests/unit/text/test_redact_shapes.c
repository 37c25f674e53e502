/* How much is found of tokens that the rules were not made from: shapes of another scanner, with random bytes from a seed,
 * in seven carriers whose words say nothing of a secret. And that programs and sentences about secrets stay as they are. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/redact.h"

static const char *const shapes[] = {
#define SHAPE(text) text,
#include "secret_shapes.def"
#undef SHAPE
};

static const char *const carriers[] = {
    "the value is %s and that is all",
    "{\"value\": \"%s\", \"n\": 1}",
    "value: %s",
    "export MY_VALUE=%s",
    "tool --value '%s' --n 1",
    "https://example.org/x?value=%s&n=1",
    "X-Value: %s\r",
};

static unsigned next_random(uint64_t *seed, size_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*seed >> 33) % below);
}

static const char *alphabet(char kind)
{
    static const char all[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return kind == 'd'   ? "0123456789"
           : kind == 'h' ? "0123456789abcdef"
           : kind == 'x' ? "0123456789abcdefghijklmnopqrstuvwxyz"
           : kind == 'A' ? "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         : all;
}

/* "npm_{w36}" with bytes in it. */
static Str make(Arena *a, const char *shape, uint64_t *seed)
{
    AUTO_BUF b = BUF(KIB(4));

    for (; *shape; shape++) {
        const char *of;
        size_t n = 0;

        if (*shape != '{') {
            buf_addc(&b, *shape);
            continue;
        }
        of = alphabet(shape[1]);
        for (shape += 2; *shape != '}'; shape++)
            n = n * 10 + (size_t)(*shape - '0');
        while (n--)
            buf_addc(&b, of[next_random(seed, strlen(of))]);
    }
    return str_dup(a, buf_str(&b));
}

/* Nine of ten; which ones are missing is said either way. */
static void most_shapes_of_others_are_found(void **state)
{
    size_t cells = 0, found = 0;
    uint64_t seed = 42;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        AUTO(Arena) *a = arena_new();
        Str secret = make(a, shapes[i], &seed), tail = str_skip(secret, secret.n - 10);
        size_t before = found;

        for (size_t k = 0; k < ARRAY_LEN(carriers); k++) {
            AUTO_BUF text = BUF(KIB(4));
            const char *at = strstr(carriers[k], "%s");
            Str out;

            buf_add(&text, (Str){ carriers[k], (size_t)(at - carriers[k]) });
            buf_add(&text, secret);
            buf_addz(&text, at + 2);
            out = redact_text(a, buf_str(&text));
            cells++;
            found += str_find(out, tail) == out.n;
        }
        if (found < before + ARRAY_LEN(carriers))
            print_message("%s: %zu of %zu\n", shapes[i], found - before, ARRAY_LEN(carriers));
    }
    print_message("%zu of %zu cells\n", found, cells);
    assert_true(found * 10 >= cells * 9);
}

static const struct {
    const char *in, *out;
} rows[] = {
    /* headers */
    { "Cookie: sid=FAKE1; theme=dark", "Cookie: [REDACTED_COOKIE]" },
    { "Set-Cookie: sid=FAKE1; Path=/; HttpOnly\r\nAge: 0",
      "Set-Cookie: [REDACTED_COOKIE]\r\nAge: 0" },
    { "curl -H 'Cookie: sid=FAKE1' https://e.org",
      "curl -H 'Cookie: [REDACTED_COOKIE]' https://e.org" },
    { "{\"Cookie\": \"sid=FAKE1; a=b\", \"n\": 1}",
      "{\"Cookie\": \"[REDACTED_COOKIE]\", \"n\": 1}" },
    /* arguments */
    { "curl -u admin:FAKE22 https://e.org", "curl -u admin:[REDACTED] https://e.org" },
    { "curl --user 'admin:FAKE22' x", "curl --user 'admin:[REDACTED]' x" },
    { "curl -u ghp_FAKEFAKEFAKEFAKEFAKE:FAKE x", "curl -u [REDACTED_GITHUB_TOKEN]:[REDACTED] x" },
    { "mysql -u root -pFAKE22 db", "mysql -u root -p[REDACTED] db" },
    { "sshpass -p 'FAKE 22' ssh h", "sshpass -p '[REDACTED]' ssh h" },
    { "docker login -u me -p FAKE22 registry", "docker login -u me -p [REDACTED] registry" },
    { "redis-cli -h h -a FAKE22 ping", "redis-cli -h h -a [REDACTED] ping" },
    { "ldapsearch -x -w FAKE22 -b dc=x", "ldapsearch -x -w [REDACTED] -b dc=x" },
    { "tool --password FAKE -v", "tool --password [REDACTED] -v" },
    { "tool --api-key 'FAKE FAKE' --db-password FAKE",
      "tool --api-key '[REDACTED]' --db-password [REDACTED]" },
    { "eyJhbGciOiJub25lIn0.eyJzdWIiOiJGQUtFIn0 unsigned", "[REDACTED_JWT] unsigned" },
    /* the environment and configuration */
    { "PGPASSWORD=FAKE psql -h h", "PGPASSWORD=[REDACTED] psql -h h" },
    { "MYSQL_PWD=FAKE22 mysql", "MYSQL_PWD=[REDACTED_DB_PASS] mysql" },
    { "DB_PASS=FAKE22", "DB_PASS=[REDACTED]" },
    { "\"pass\": \"FAKE22\"", "\"pass\": \"[REDACTED]\"" },
    { "passphrase: FAKE22", "passphrase: [REDACTED]" },
    { "//r.example/:_authToken=FAKE22", "//r.example/:_authToken=[REDACTED]" },
    { "_auth=RkFLRUZBS0VGQUtFRkFLRQ==", "_auth=[REDACTED]" },
    { "{\"auth\": \"RkFLRUZBS0VGQUtFRkFLRQ==\"}", "{\"auth\": \"[REDACTED]\"}" },
    { "PresharedKey = FAKE22=", "PresharedKey = [REDACTED]" },
    /* as they are */
    { "this.token = data.token; token = next(); login(token = this.token)", NULL },
    { "access_token: token, password: string; secret: null", NULL },
    { "setKey(privateKey: KeyLike, x: T)", NULL },
    { "{password:e,pass:!0} this.password = V; key: KeyLike | x", NULL },
    { "headers: { Authorization: `Bearer ${token}` }, Authorization: Bearer <token>", NULL },
    { "the secret: don't tell; a password: what people forget", NULL },
    { "password=$PASSWORD token=${TOKEN} secret: <your secret>", NULL },
    { "mkdir -p a/b; ssh -p 2222 h; cp -a x y; docker run -u 1000:1000 -p 8080:80 i", NULL },
    { "with --password you may give one; --token TOKEN --secret <x> --password $PW", NULL },
    { "git push -u origin main; sort -u names", NULL },
    { "cookie: see below; a cookie=1 is set", NULL },
    { "{\"pass\": 12, \"fail\": 0} pass: 3", NULL },
    { "http://user:password@host is the form", NULL },
    { "test_the_parser_2026 key_of_the_map api_version_2", NULL },
    { "call_0a1B2c3D4e5F6g7H8i9J0kLm toolu_01AbCdEfGhIjKlMnOpQrStUv", NULL },
};

static void headers_arguments_and_variables(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(Arena) *a = arena_new();
        Str once = redact_text(a, str_of(rows[i].in));

        assert_str(once, str_of(rows[i].out ? rows[i].out : rows[i].in));
        assert_str(redact_text(a, once), once);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_shapes_of_others_are_found),
        cmocka_unit_test(headers_arguments_and_variables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
