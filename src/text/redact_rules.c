/* The rules as a table; where each may apply is redact_anchor.c's. */
#include "text/redact_table.h"

#define SECRET(name, before, lead, any, min, exact, set)                                           \
    { LABEL("_" #name), lead,   any,  ANCHOR_ANY, min, false, set, redact_check_token,             \
      redact_shape_run, before, exact },
#define NAME(word, anchor, check)                                                                  \
    {                                                                                              \
        LABEL(""), word, "", anchor, 0, true, 0, check, NULL                                       \
    }

const Rule redact_rules[] = {
#include "../../data/secrets.def"
    { LABEL("_JWT"), "eyJ", "", 0, 0, false, SET_WORD, redact_check_token, redact_shape_jwt },
    { LABEL("_DISCORD_TOKEN"), "*??", "MNO", 0, 0, false, SET_WORD, redact_check_token,
      redact_shape_discord },
    { LABEL("_TELEGRAM_TOKEN"), "*:?", "0123456789", 0, 35, false, SET_WORD, redact_check_telegram,
      redact_shape_telegram },
    { LABEL("_PRIVATE_KEY"), "-----BEGIN", "", 4, 0, false, 0, redact_check_pem, NULL },
    { LABEL("_URL_PASS"), "://", "", 0, 1, false, SET_URL_PASS, redact_check_url, NULL },
    { LABEL("_SAS_SIG"), "sig=", "", 1, 10, true, SET_SIG, redact_check_sig, NULL },
    NAME("key", 0, redact_check_key),
    NAME("token", 1, redact_check_token_name),
    NAME("secret", 1, redact_check_secret_name),
    NAME("password", 2, redact_check_password),
    NAME("passwd", 2, redact_check_password),
    NAME("pwd", 0, redact_check_pwd),
    NAME("authorization", 5, redact_check_authorization),
    NAME("bearer", 3, redact_check_bearer),
    NAME("passphrase", 4, redact_check_password),
    { LABEL(""), "pass*", "=:\"'", 2, 0, true, SET_ALPHA, redact_check_pass, NULL },
    { LABEL(""), "auth*", "=:\"'", 2, 0, true, SET_ALPHA, redact_check_auth, NULL },
    NAME("credential", 6, redact_check_credential),
    NAME("credentials", 6, redact_check_credential),
    NAME("identified by", 9, redact_check_identified),
    { LABEL("_COOKIE"), "cookie", "", 1, 0, true, 0, redact_check_cookie, NULL },
    { LABEL(""), " -*", "paw", 0, 0, false, SET_ALPHA, redact_check_argument, NULL },
    { LABEL(""), " -u", "", 0, 0, false, SET_ALPHA, redact_check_user, NULL },
    { LABEL(""), "--user", "", 0, 0, false, SET_ALPHA, redact_check_user, NULL },
    { LABEL("_TOKEN"), "*??", "_-", 0, 0, false, SET_WORD, redact_check_random, NULL },
};
const size_t redact_rules_n = ARRAY_LEN(redact_rules);
_Static_assert(ARRAY_LEN(redact_rules) <= MAX_RULES, "more rules than there are places for");

const Str redact_label_plain = LABEL(""), redact_label_db = LABEL("_DB_PASS"),
          redact_label_storage = LABEL("_STORAGE_KEY");

bool redact_could_be(Scan *s, const Rule *r, size_t start)
{
    size_t end = start + redact_lead_n(r);

    if (r->shape)
        return true;
    if (r->nocase && end < s->n && in_set((unsigned char)s->p[end], SET_ALNUM) && r->set == 0)
        return false;
    return redact_lead_end(s, r, start) != 0;
}
