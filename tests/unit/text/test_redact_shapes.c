/* How much is found of tokens that the rules were not made from: shapes of another scanner, with
 * random bytes from a seed, in seven carriers whose words say nothing of a secret. And that
 * programs and sentences about secrets stay as they are. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/redact.h"

#define SHAPE(text) text,
static const char *const shapes[] = {
#include "secret_shapes.def"
};
static const char *const tuned[] = {
#include "secret_shapes_tuned.def"
};
static const char *const blind[] = {
#include "secret_shapes_blind.def"
};
static const char *const trufflehog[] = {
#include "secret_shapes_trufflehog.def"
};
#undef SHAPE

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
           : kind == 'H' ? "0123456789ABCDEF"
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

/* In how many cells of a hundred nothing of the secret's end is left; with `say` it names the
 * shapes that are missed. */
static size_t found_in_100(const char *const *list, size_t n, bool say)
{
    size_t cells = 0, found = 0;
    uint64_t seed = 42;

    for (size_t i = 0; i < n; i++) {
        AUTO(Arena) *a = arena_new();
        Str secret = make(a, list[i], &seed), tail = str_skip(secret, secret.n - 10);
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
        if (say && found < before + ARRAY_LEN(carriers))
            print_message("%s: %zu of %zu\n", list[i], found - before, ARRAY_LEN(carriers));
    }
    print_message("%zu of %zu cells\n", found, cells);
    return found * 100 / cells;
}

static void most_shapes_of_others_are_found(void **state)
{
    (void)state;
    assert_true(found_in_100(shapes, ARRAY_LEN(shapes), true) >= 90);
    assert_true(found_in_100(tuned, ARRAY_LEN(tuned), true) >= 95);
}

/* Some of these are public identifiers, or mistakes of the program that made them. */
static void shapes_made_by_a_program(void **state)
{
    (void)state;
    assert_true(found_in_100(blind, ARRAY_LEN(blind), true) >= 84);
    assert_true(found_in_100(trufflehog, ARRAY_LEN(trufflehog), true) >= 86);
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
    /* a prefix that no row has, and names that are of other things, too */
    { "zq_0aB9cD8eF7gH6iJ5kL4m here", "[REDACTED_TOKEN] here" },
    { "say \\nzq_0aB9cD8eF7gH6iJ5kL4m", "say \\n[REDACTED_TOKEN]" },
    { "sortKey=0aB9cD8eF7gH6iJ5", "sortKey=[REDACTED]" },
    { "token_for_tests: 0aB9cD8eF7gH6iJ5", "token_for_tests: [REDACTED]" },
    { "<apiKey>FAKE22x</apiKey> <mapKey>0aB9cD8eF7gH6iJ5</mapKey>",
      "<apiKey>[REDACTED]</apiKey> <mapKey>[REDACTED]</mapKey>" },
    { "define('MAP_KEY', '0aB9cD8eF7gH6iJ5');", "define('MAP_KEY', '[REDACTED]');" },
    { "name: API_TOKEN\n  value: FAKE22", "name: API_TOKEN\n  value: [REDACTED]" },
    { "const token: string = \"FAKE22\";", "const token: string = [REDACTED];" },
    { "CREATE USER u IDENTIFIED BY 'FAKE22'", "CREATE USER u IDENTIFIED BY '[REDACTED]'" },
    /* as they are */
    { "sha512-0aB9cD8eF7gH6iJ5kL4m main-0aB9cD8eF7gH6iJ5kL4m.js msg_0aB9cD8eF7gH6iJ5kL4m", NULL },
    { "x/zq_0aB9cD8eF7gH6iJ5kL4m the_getMetricDataV2ForUsers VK_FORMAT_G10X6B10X6R10X6G10X6",
      NULL },
    { "sortKey = byName2; {\"NextToken\": \"0aB9cD8eF7gH6iJ5\"} 'pass' === err", NULL },
    { "{ token: \"@rematch\" } { token: \"delimiter.$S2\" } `token`: The one", NULL },
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
    { "token = scanner2.scan(); let token = {a: 1}; this.password = arg2; url.password=value1}",
      NULL },
    { "password = toB64Url(x); token: parent2, secret = await _load(x); key: T", NULL },
    { "pass: 'Every element has a title', \"pass\": \"\xe5\x85\x83\xe7\xb4\xa0\"", NULL },
    { "\"password\": {\"type\": \"string\"}, password:{type:\"blob\"}", NULL },
    { "token: 'mock-token', apiKey: 'your-api-key', secret: \"<secret>\", password: \"xxxxxxxx\"",
      NULL },
    { "\"input_token\": \"NextMarker\", token: \"keyword.operator\", token === \".\"", NULL },
    { "password: \"Please enter the new one\", \"auth-token\": \"^6.0.0\"", NULL },
    { "Authorization: Bearer $(print-token), Authorization: Bearer YOUR_TOKEN", NULL },
    { "Token *pName1, sk_X509_ATTRIBUTE_TYPE_AND_VALUE_set_cmp_func(sk)", NULL },
    { "arn:aws:secretsmanager:x:1:secret:Name-a1b2c3 AKIAIOSFODNN7EXAMPLE", NULL },
    { "http://a:b@host token = /^x/; STENCIL_PASS: 0x0B96", NULL },
    { "this.password = 'FAKE22'; password: hunter2, x",
      "this.password = [REDACTED]; password: [REDACTED], x" },
    { "password: \"correct horse battery staple\"", "password: [REDACTED]" },
    { "const TOKEN ", NULL },
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
        cmocka_unit_test(shapes_made_by_a_program),
        cmocka_unit_test(headers_arguments_and_variables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
