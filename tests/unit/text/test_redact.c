/* Every secret in this file is made up, and says so: FAKE or EXAMPLE. */
#include "unit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "text/redact.h"

enum { OUT_MOST = 1 << 26 };

typedef struct Case {
    const char *in, *out; /* out NULL: stays as it is */
} Case;

/* The strings of vec_redact.json, in its order. */
static const Case vectors[] = {
    { "key sk-FAKEabcdefghij12345 end", "key [REDACTED_OPENAI_KEY] end" },
    { "AKIAABCDEFGHIJKLMNOP", "[REDACTED_AWS_KEY]" },
    { "ghp_aaaaaaaaaaaaaaaaaaaaaaaa", "[REDACTED_GITHUB_TOKEN]" },
    { "xoxb-1234567890-abc", "[REDACTED_SLACK_TOKEN]" },
    { "AIzaBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", "[REDACTED_GOOGLE_KEY]" },
    { "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "[REDACTED_JWT]" },
    { "Authorization: Bearer abc.def", "Authorization: Bearer [REDACTED]" },
    { "authorization: basic dXNlcg==", "authorization: basic [REDACTED]" },
    { "Password=hunter2;Server=x", "Password=[REDACTED_DB_PASS];Server=x" },
    { "PWD=/home/dev", NULL },
    { "Driver=x;PWD=s3cret;", "Driver=x;PWD=[REDACTED_DB_PASS];" },
    { "Pwd=abc", "Pwd=[REDACTED_DB_PASS]" },
    { "AZURE_CLIENT_SECRET=abc123", "AZURE_CLIENT_SECRET=[REDACTED]" },
    { "my_token: 'a b c'", "my_token: [REDACTED]" },
    { "token budget is 500 tokens", NULL },
    { "token abc123def", "token [REDACTED]" },
    { "max_tokens=500", NULL },
    { "secret sauce", NULL },
    { "api_key \"q w\"", NULL },
    { "{\"apiKey\": \"v\", \"n\": 1}", "{\"apiKey\": \"[REDACTED]\", \"n\": 1}" },
    { "-----BEGIN RSA PRIVATE KEY-----\nAAA\n-----END RSA PRIVATE KEY-----",
      "[REDACTED_PRIVATE_KEY]" },
    { "?sv=1&sig=abcdefghijkl%3D&x=1", "?sv=1&sig=[REDACTED_SAS_SIG]&x=1" },
    { "AccountKey=abc==;EndpointSuffix=x", "AccountKey=[REDACTED_STORAGE_KEY];EndpointSuffix=x" },
    { "password: \"unterminated", "password: [REDACTED]" },
};

static const Case names[] = {
    { "\"DB_PASSWORD\" : 'FAKE x'", "\"DB_PASSWORD\" : '[REDACTED]'" },
    { "\"token\": 12345, \"n\": 1", "\"token\": [REDACTED], \"n\": 1" },
    { "\"pwd\":\"FAKE\",\"PWD\":\"/x\"", "\"pwd\":\"[REDACTED]\",\"PWD\":\"/x\"" },
    { "\"accountKey\": \"FAKE\"", "\"accountKey\": \"[REDACTED]\"" },
    { "\"secret\": \"FAKE \\\" quote\", \"n\"", "\"secret\": \"[REDACTED]\", \"n\"" },
    { "\"botToken\": \"FAKE\"", "\"botToken\": \"[REDACTED]\"" },
    { "os.environ[\"API_KEY\"] = \"FAKE\"", "os.environ[\"API_KEY\"] = \"[REDACTED]\"" },
    { "clientSecret: FAKE, n", "clientSecret: [REDACTED], n" },
    { "myApiKey=FAKE&n", "myApiKey=[REDACTED]&n" },
    { "x-api-key: FAKE", "x-api-key: [REDACTED]" },
    { "aws_secret_access_key = FAKE/x+y", "aws_secret_access_key = [REDACTED]" },
    { "SharedAccessKey=FAKE==;x", "SharedAccessKey=[REDACTED];x" },
    { "ssh_private_key: FAKE", "ssh_private_key: [REDACTED]" },
    { ":password => 'FAKE'", ":password => [REDACTED]" },
    { "secret := `FAKE x`", "secret := [REDACTED]" },
    { "token=9(FAKE)x) y", "token=[REDACTED]) y" },
    { "pwd={FAKE}}x;y};z", "pwd=[REDACTED_DB_PASS];z" },
    { "password='FAKE''s';x", "password=[REDACTED_DB_PASS];x" },
    { "a; PWD=FAKE;", "a; PWD=[REDACTED_DB_PASS];" },
    { "Passwd=FAKE", "Passwd=[REDACTED]" },
    { "db_password=FAKE", "db_password=[REDACTED]" },
    { "token: sk-FAKEabcdefghij", "token: [REDACTED_OPENAI_KEY]" },
    { "token: \"ghp_FAKEFAKEFAKEFAKEFAKE\"", "token: \"[REDACTED_GITHUB_TOKEN]\"" },
    { "secret: [\"FAKE\", \"FAKE2\"] x", "secret: [REDACTED] x" },
    { "proxy-authorization: Bearer FAKE", "proxy-authorization: Bearer [REDACTED]" },
    { "{'Authorization': 'Bearer FAKE'}", "{'Authorization': 'Bearer [REDACTED]'}" },
    { "{\"Authorization\": \"FAKE\"}", "{\"Authorization\": \"[REDACTED]\"}" },
    { "Authorization: Bearer eyJFAKE.FAKE.FAKE", "Authorization: Bearer [REDACTED_JWT]" },
    { "password FAKEFAKEFAKEFAKE.", "password [REDACTED]." },
    { "--token FAKE_x, then", "--token [REDACTED], then" },
    { "secret access_token: FAKE", "secret access_token: [REDACTED]" },
    { "token my_secret=\"FAKE x\"", "token my_secret=[REDACTED]" },
    { "Bearer FAKE0FAKE1FAKE2FAKE3 x", "Bearer [REDACTED] x" },
};

static const Case tokens[] = {
    { "(sk-ant-api03-FAKEFAKE)", "([REDACTED_OPENAI_KEY])" },
    { "ASIAEXAMPLEFAKE12345", "[REDACTED_AWS_KEY]" },
    { "github_pat_FAKEFAKEFAKE_FAKEFAKE", "[REDACTED_GITHUB_TOKEN]" },
    { "glpat-FAKEFAKEFAKEFAKEFAKE", "[REDACTED_GITLAB_TOKEN]" },
    { "npm_FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE", "[REDACTED_NPM_TOKEN]" },
    { "hf_FAKEFAKEFAKEFAKEFAKEFAKE", "[REDACTED_HF_TOKEN]" },
    { "xapp-1-FAKEFAKEFAKE", "[REDACTED_SLACK_TOKEN]" },
    { "rk_live_FAKEFAKEFAKE", "[REDACTED_STRIPE_KEY]" },
    { "SG.FAKEFAKEFAKEFAKEFAKEFA.FAKEFAKEFAKEFAKEFAKEFAKE", "[REDACTED_SENDGRID_KEY]" },
    { "gsk_FAKEFAKEFAKEFAKEFAKEFAKE", "[REDACTED_GROQ_KEY]" },
    { "ya29.FAKEFAKEFAKEFAKEFAKE", "[REDACTED_GOOGLE_TOKEN]" },
    { "shpat_FAKEFAKEFAKEFAKEFAKE", "[REDACTED_SHOPIFY_TOKEN]" },
    { "https://hooks.slack.com/services/TFAKE/BFAKE/FAKE", "https://[REDACTED_SLACK_WEBHOOK]" },
    { "/bot123456789:AAFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE1/x", "/bot[REDACTED_TELEGRAM_TOKEN]/x" },
    { "MTFAKEFAKEFAKEFAKEFAKEFA.GFAKE1.FAKEFAKEFAKEFAKEFAKEFAKEFAKE", "[REDACTED_DISCORD_TOKEN]" },
    { "postgres://user:FAKE!x@host/db", "postgres://user:[REDACTED_URL_PASS]@host/db" },
    { "redis://:FAKE@h", "redis://:[REDACTED_URL_PASS]@h" },
    { "https://ghp_FAKEFAKEFAKEFAKEFAKE:x@h",
      "https://[REDACTED_GITHUB_TOKEN]:[REDACTED_URL_PASS]@h" },
    { "a\n-----BEGIN PRIVATE KEY-----\nFAKE", "a\n[REDACTED_PRIVATE_KEY]" },
    { "k=\"-----BEGIN EC PRIVATE KEY-----\\nFAKE\\n-----END EC PRIVATE KEY-----\\n\"",
      "k=\"[REDACTED_PRIVATE_KEY]\\n\"" },
    { "private_key: \"-----BEGIN PRIVATE KEY-----\nFAKE\n-----END PRIVATE KEY-----\"",
      "private_key: \"[REDACTED_PRIVATE_KEY]\"" },
};

static const Case carriers[] = {
    { "{\\\"password\\\": \\\"FAKE\\\", \\\"n\\\": 1}",
      "{\\\"password\\\": \\\"[REDACTED]\\\", \\\"n\\\": 1}" },
    { "\\\"token\\\":\\\"FAKE\\\\\\\"x\\\\\\\\\\\"}", "\\\"token\\\":\\\"[REDACTED]\\\"}" },
    { "\"x\\ntoken=FAKE\\nnext\"", "\"x\\ntoken=[REDACTED]\\nnext\"" },
    { "\"x\\nsk-FAKEabcdefghij\\n\"", "\"x\\n[REDACTED_OPENAI_KEY]\\n\"" },
    { "\"echo token=FAKE\"", "\"echo token=[REDACTED]\"" },
    { "\"say \\\"token=FAKE\\\" x\"", "\"say \\\"token=[REDACTED]\\\" x\"" },
    { "q=token%3DFAKE%26n%3D1", "q=token%3D[REDACTED]%26n%3D1" },
    { "%7B%22password%22%3A%22FAKE%22%7D", "%7B%22password%22%3A%22[REDACTED]%22%7D" },
    { "?access_token=FAKE&n=1", "?access_token=[REDACTED]&n=1" },
    { "x%20ghp_FAKEFAKEFAKEFAKEFAKE", "x%20[REDACTED_GITHUB_TOKEN]" },
    { "a\\u0026token=FAKE", "a\\u0026token=[REDACTED]" },
};

static const Case innocent[] = {
    { "", NULL },
    { "task-force-of-the-year and risk-averse-people", NULL },
    { "the token expired. The password is wrong. A secret, kept.", NULL },
    { "token and/or password, a secret well-known", NULL },
    { "tokens: 5, keyboard: us, secretary: Ann, key: value", NULL },
    { "Token::new(Kind::Secret)", NULL },
    { "printf(\"token: \", x); log('secret=' + y)", NULL },
    { "nextToken = lexer.next()", NULL },
    { "OLDPWD=/home/dev", NULL },
    { "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", NULL },
    { "550e8400-e29b-41d4-a716-446655440000", NULL },
    { "2026-08-01T12:34:56 http://host:8080/a@b", NULL },
    { "20260801:9fceb02d0ae598e95dc970b74767f19372d61af8", NULL },
    { "AKIA and eyJ and sk- and ghp_short", NULL },
    { "if (line == \"-----BEGIN RSA PRIVATE KEY-----\") return 1;", NULL },
    { "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", NULL },
    { "password=[REDACTED_DB_PASS];token: \"[REDACTED]\"", NULL },
    { "\"password\": \"\", token = ''", NULL },
    { "pkg/tests.py,sha256=Tz9w_Q7fK2x9Lm4TzR8vB1nWc6YpD3hJ5sGqEa0UoXi,1907", NULL },
    { "the bearer of this letter; authorization: none", NULL },
    { "\xff\xfe\x80 token \xe4\xbd\xa0 \xc3", NULL },
};

static const struct {
    const char *name;
    const Case *rows;
    size_t n;
} tables[] = {
    { "vectors", vectors, ARRAY_LEN(vectors) },    { "names", names, ARRAY_LEN(names) },
    { "tokens", tokens, ARRAY_LEN(tokens) },       { "carriers", carriers, ARRAY_LEN(carriers) },
    { "innocent", innocent, ARRAY_LEN(innocent) },
};

static void each_row(void (*check)(Arena *a, const Case *c))
{
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (size_t i = 0; i < tables[t].n; i++) {
            AUTO(Arena) *a = arena_new();

            check(a, &tables[t].rows[i]);
        }
}

static void check_row(Arena *a, const Case *c)
{
    Str in = str_of(c->in), out = redact_text(a, in);

    assert_str(out, str_of(c->out ? c->out : c->in));
    if (!c->out && out.p != in.p)
        fail_msg("\"%s\" was copied for nothing", c->in);
}

static void each_row_gives_what_it_says(void **state)
{
    (void)state;
    each_row(check_row);
}

static void check_twice(Arena *a, const Case *c)
{
    Str once = redact_text(a, str_of(c->in));

    assert_str(redact_text(a, once), once);
}

static void redacting_twice_changes_nothing(void **state)
{
    (void)state;
    each_row(check_twice);
}

static void check_splits(Arena *a, const Case *c)
{
    Str in = str_of(c->in), whole = redact_text(a, in);
    AUTO_BUF out = BUF(OUT_MOST);
    AUTO(Redactor) *r = redactor_new(&out);

    for (size_t cut = 0; cut <= in.n; cut++) {
        buf_clear(&out);
        redactor_feed(r, str_head(in, cut));
        redactor_feed(r, str_skip(in, cut));
        redactor_finish(r);
        assert_str(buf_str(&out), whole);
    }
    buf_clear(&out);
    for (size_t i = 0; i < in.n; i++)
        redactor_feed(r, (Str){ in.p + i, 1 });
    redactor_finish(r);
    assert_str(buf_str(&out), whole);
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    each_row(check_splits);
}

/* All rows in one text, again and again, so that the held bytes move and rules meet. */
static void long_streams_are_the_same_in_any_pieces(void **state)
{
    AUTO_BUF text = BUF(OUT_MOST), whole = BUF(OUT_MOST), out = BUF(OUT_MOST);
    AUTO(Redactor) *r = redactor_new(&out);
    static const size_t sizes[] = { 1, 7, 100, 4096, 65536, 1000000 };

    (void)state;
    while (text.n < 300000)
        for (size_t t = 0; t < ARRAY_LEN(tables); t++)
            for (size_t i = 0; i < tables[t].n; i++) {
                buf_addz(&text, tables[t].rows[i].in);
                buf_addc(&text, '\n');
            }
    redact_to(&whole, buf_str(&text));
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        buf_clear(&out);
        for (size_t at = 0; at < text.n; at += sizes[k])
            redactor_feed(r, str_head(str_skip(buf_str(&text), at), sizes[k]));
        redactor_finish(r);
        assert_true(str_eq(buf_str(&out), buf_str(&whole)));
    }
}

static void ordinary_text_is_not_held(void **state)
{
    AUTO_BUF out = BUF(OUT_MOST);
    AUTO(Redactor) *r = redactor_new(&out);

    (void)state;
    redactor_feed(r, STR("Hello there, "));
    assert_str(buf_str(&out), STR("Hello there, "));
    redactor_feed(r, STR("the password is wrong, "));
    assert_str(buf_str(&out), STR("Hello there, the password is wrong, "));
    buf_clear(&out);
    redactor_feed(r, STR("token="));
    redactor_feed(r, STR("FAKE1"));
    assert_str(buf_str(&out), STR("token=[REDACTED]"));
    redactor_feed(r, STR("FAKE more"));
    redactor_finish(r);
    assert_str(buf_str(&out), STR("token=[REDACTED] more"));
}

static void a_secret_longer_than_the_window_does_not_leak(void **state)
{
    static const char *const opens[] = { "token=", "password: \"", "sk-", "token ",
                                         "-----BEGIN PRIVATE KEY-----\n" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        AUTO_BUF text = BUF(OUT_MOST), out = BUF(OUT_MOST);

        buf_addz(&text, opens[i]);
        buf_pad(&text, 'F', LIMIT_REDACT_WINDOW - 100);
        redact_to(&out, buf_str(&text));
        assert_int_equal(str_find(buf_str(&out), STR("FFF")), out.n);
        if (opens[i][0] == '-')
            continue;
        buf_pad(&text, 'F', 2 * LIMIT_REDACT_WINDOW);
        buf_clear(&out);
        redact_to(&out, buf_str(&text));
        assert_int_equal(str_find(buf_str(&out), STR("FFF")), out.n);
    }
}

/* Texts made to be read again and again by a careless rule. A megabyte each takes milliseconds;
 * a quadratic rule would take minutes. */
static void hostile_text_takes_linear_time(void **state)
{
    static const char *const parts[] = {
        "token ",      "eyJ",
        "eyJaaaa.",    "token=\\",
        "://a:",       "-----BEGIN ",
        "token=[",     "MTa",
        "12345678:",   "secret",
        "password \t", "[REDACTED",
        "api_key_",    "\\\\\\\\",
        "token%3D%",   "sk-",
        "key",         "-----BEGIN PRIVATE KEY-----\n",
        "-----END ",   "authorization: ",
        "bearer a",    "cookie: a=",
        " -u a:",      "sshpass -p ",
        "pass=",       "token: a.b ",
        "-us1",        "_mmk",
    };
    int64_t start = clock_cpu_ns();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO_BUF text = BUF(OUT_MOST), whole = BUF(OUT_MOST), out = BUF(OUT_MOST);
        AUTO(Redactor) *r = redactor_new(&out);

        while (text.n < MIB(1))
            buf_addz(&text, parts[i]);
        redact_to(&whole, buf_str(&text));
        for (size_t at = 0; at < text.n; at += 16)
            redactor_feed(r, str_head(str_skip(buf_str(&text), at), 16));
        redactor_finish(r);
        assert_true(str_eq(buf_str(&out), buf_str(&whole)));
    }
    assert_true(clock_cpu_ns() - start < INT64_C(60000000000));
}

static void keys_of_objects(void **state)
{
    static const struct {
        const char *key;
        bool secret;
    } rows[] = {
        { "token", true },
        { "tokens", false },
        { "PWD", false },
        { "pwd", true },
        { "Pwd", true },
        { "nested", false },
        { "client_secret", true },
        { "clientSecret", true },
        { "x-api-key", true },
        { "botToken", true },
        { "max_tokens", false },
        { "Authorization", true },
        { "sig", true },
        { "signature", false },
        { "AccountKey", true },
        { "key", false },
        { "", false },
        { "secret_access_key", true },
        { "OLDPWD", false },
        { "my.db.password", true },
        { "password_hint", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (redact_key_is_secret(str_of(rows[i].key)) != rows[i].secret)
            fail_msg("%s", rows[i].key);
}

/* -- recall: every format in every carrier -- */

/* Known by their shape: they are to be found wherever they stand. */
static const char *const shapes[] = {
    "sk-FAKEabcdefghij12345",
    "sk-proj-FAKE_abc-def0123456789",
    "sk-ant-api03-FAKEabcdef-0123",
    "sk-or-v1-FAKE0123456789abcdef",
    "AKIAEXAMPLEFAKE12345",
    "ASIAEXAMPLEFAKE12345",
    "ghp_FAKEabcdefghijklmnop0123456789abcd",
    "gho_FAKEabcdefghijklmnop0123456789abcd",
    "ghu_FAKEabcdefghijklmnop0123456789abcd",
    "ghs_FAKEabcdefghijklmnop0123456789abcd",
    "ghr_FAKEabcdefghijklmnop0123456789abcd",
    "github_pat_11FAKE0_abcdefghijklmnop0123456789",
    "glpat-FAKEabcdefghij012345",
    "npm_FAKEabcdefghijklmnop0123456789abcdef",
    "hf_FAKEabcdefghijklmnopqrstuvwxyzabcd",
    "xoxb-123456789012-FAKEabcdef",
    "xoxp-123456789012-FAKEabcdef",
    "xoxa-2-FAKEabcdef012",
    "xoxr-FAKEabcdef0123",
    "xoxs-FAKEabc0123",
    "xapp-1-A0FAKE-123456-abcdef",
    "AIzaFAKEabcdefghijklmnopqrstuvwxyz01234",
    "ya29.FAKEabcdefghijklmnopqrstuvwxyz",
    "eyJhbGciOiJGQUtFIn0.eyJzdWIiOiJGQUtFIn0.RkFLRXNpZw",
    "sk_live_FAKEabcdefghijklmnop",
    "rk_live_FAKEabcdefghijklmnop",
    "sk_test_FAKEabcdefghijklmnop",
    "SG.FAKEabcdefghijklmnopqr.FAKEabcdefghijklmnopqrstuvwxyz0123456789abc",
    "gsk_FAKEabcdefghijklmnopqrstuvwxyz",
    "shpat_FAKE0123456789abcdef01234567",
    "dop_v1_FAKE0123456789abcdef0123456789abcdef0123456789",
    "123456789:AAFAKEabcdefghijklmnopqrstuvwxyz012",
    "MTFAKEabcdefghijklmnopqr.GFAKE1.FAKEabcdefghijklmnopqrstuvwx",
    "hooks.slack.com/services/T0FAKE/B0FAKE/FAKEabcdefghij",
};

/* Known only by the name before them. */
static const char *const values[] = {
    "FAKEhunter2",    "FAKE-0123456789abcdef",    "0FAKE9fceb02d0ae598e95dc970b7476",
    "FAKE/x+y0123==", "FAKE.abc_def-0",           "00FAKE",
    "FAKE$w0rd!",     "FAKEqwertyuiopasdfghjkl0",
};

static const char *const shape_carriers[] = {
    "%s",
    "the key is %s, keep it",
    "{\"text\": \"use %s now\"}",
    "{\\\"a\\\": \\\"%s\\\"}",
    "line\\n%s\\nnext",
    "https://x.example/?a=%s&b=1",
    "q%%3D%s%%26n%%3D1",
    "export X=%s\n",
    "'%s'",
    "- item: %s\n- next: 1\n",
    "<b>%s</b>",
    "`%s`",
    "curl -H \"X-Thing: %s\" https://x.example",
};

static const char *const value_carriers[] = {
    "API_KEY=%s",
    "my_token: %s",
    "{\"password\": \"%s\"}",
    "{\\\"client_secret\\\": \\\"%s\\\"}",
    "line\\naccess_token=%s\\nnext",
    "?a=1&access_token=%s&b=1",
    "q=token%%3D%s%%26n%%3D1",
    "export DB_PASSWORD='%s'",
    "Authorization: Bearer %s",
    "login --password %s now",
    "secret = \"%s\"",
    "Server=x;Pwd=%s;Database=y",
    "\"api-key\" => \"%s\"",
    "postgres://u:%s@h/d",
};

/* Whether more than a few bytes of the secret are still there, in any piece of it. */
static bool leaks(Str out, Str secret)
{
    size_t piece = secret.n < 6 ? secret.n : 6;

    for (size_t i = 0; i + piece <= secret.n; i++)
        if (str_find(out, (Str){ secret.p + i, piece }) < out.n)
            return true;
    return false;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the carriers are the formats */
static size_t count_leaks(const char *const *secrets, size_t n, const char *const *in, size_t kinds)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < kinds; k++) {
            AUTO(Arena) *a = arena_new();
            Str text = str_printf(a, in[k], secrets[i]);

            if (leaks(redact_text(a, text), str_of(secrets[i]))) {
                found++;
                print_message("leaks: %.*s\n", STR_FMT(text));
            }
        }
    return found;
}
#pragma GCC diagnostic pop

static void secrets_are_found_in_all_carriers(void **state)
{
    size_t shaped = ARRAY_LEN(shapes) * ARRAY_LEN(shape_carriers);
    size_t named = ARRAY_LEN(values) * ARRAY_LEN(value_carriers);
    size_t missed =
        count_leaks(shapes, ARRAY_LEN(shapes), shape_carriers, ARRAY_LEN(shape_carriers));

    (void)state;
    missed += count_leaks(values, ARRAY_LEN(values), value_carriers, ARRAY_LEN(value_carriers));
    assert_true(ARRAY_LEN(shapes) + ARRAY_LEN(values) >= 40);
    assert_true(missed * 100 <= shaped + named);
}

/* -- false alarms -- */

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void add_random(Buf *text, uint64_t *seed, const char *letters, size_t n)
{
    size_t kinds = strlen(letters);

    while (n--)
        buf_addc(text, letters[next_random(seed) % kinds]);
}

static void add_innocent(Buf *text, uint64_t *seed)
{
    static const char *const words[] = {
        "the",      "token",    "budget",    "of",         "a",       "password", "manager",
        "is",       "key",      "to",        "secret",     "sharing", "and/or",   "well-known",
        "expired.", "On",       "Monday",    "api",        "keys",    "bearer",   "authorization",
        "e.g.",     "sk-learn", "risk-free", "\"quoted\"", "f(x)",    "a->b",     "x::y",
        "const",    "int",      "{",         "}",          "return",
    };
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    switch (next_random(seed) % 8) {
    case 0:
        add_random(text, seed, "0123456789abcdef", 40);
        break;
    case 1:
        add_random(text, seed, "0123456789abcdef", 8);
        buf_addc(text, '-');
        add_random(text, seed, "0123456789abcdef", 12);
        break;
    case 2:
        buf_addz(text, "data:image/png;base64,");
        add_random(text, seed, base64, 400);
        break;
    case 3: /* behind "token " each of these would be one */
        buf_addz(text, "at 12:34:56 user@example.org saw http://example.org:80/a and 1.5");
        break;
    default:
        for (int i = 0; i < 40; i++) {
            buf_addz(text, words[next_random(seed) % ARRAY_LEN(words)]);
            buf_addc(text, ' ');
        }
    }
    buf_addc(text, '\n');
}

static void ten_megabytes_of_innocent_text(void **state)
{
    AUTO_BUF text = BUF(OUT_MOST), out = BUF(OUT_MOST);
    uint64_t seed = 7;

    (void)state;
    while (text.n < MIB(10))
        add_innocent(&text, &seed);
    redact_to(&out, buf_str(&text));
    if (!str_eq(buf_str(&out), buf_str(&text))) {
        size_t at = str_find(buf_str(&out), STR("[REDACTED"));
        size_t from = at > 60 ? at - 60 : 0;

        fail_msg("false alarm: %.*s", STR_FMT(str_head(str_skip(buf_str(&out), from), 120)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_gives_what_it_says),
        cmocka_unit_test(redacting_twice_changes_nothing),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(long_streams_are_the_same_in_any_pieces),
        cmocka_unit_test(ordinary_text_is_not_held),
        cmocka_unit_test(a_secret_longer_than_the_window_does_not_leak),
        cmocka_unit_test(hostile_text_takes_linear_time),
        cmocka_unit_test(keys_of_objects),
        cmocka_unit_test(secrets_are_found_in_all_carriers),
        cmocka_unit_test(ten_megabytes_of_innocent_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
