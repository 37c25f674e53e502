/* The handle names the server by a hash of its address: ids of one server mean nothing to
 * another. */
#include "runtimes/hermes_link.h"

#include "base/clock.h"
#include "net/fetch.h"
#include "runtimes/lines.h"
#include "text/settings_secret.h"
#include "text/sha256.h"

enum { HASH_DIGITS = 16, MAX_HANDLE = 16 * 1024, MAX_ID = 256, MAX_ROTATED = 4096 };

static bool find_key(Arena *a, const Settings *settings, Str *ret, Err *err)
{
    Str variable = setting_text(settings, SETTING_HERMES_API_KEY_ENV);
    Str key = str_trim(str_of(getenv(variable.n ? str_z(a, variable) : "API_SERVER_KEY")));

    if (!key.n && !secret_read(a, settings, SETTING_HERMES_API_KEY_FILE, &key, err))
        return false;
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.p[i] <= ' ' || key.p[i] == 0x7f)
            return err_set(err, ERR_INVALID,
                           "the API key of Hermes has a space or a control character in it");
    *ret = str_dup(a, key);
    return true;
}

Str hermes_unreachable(Arena *a, const HermesLink *link, Str detail)
{
    return str_printf(a,
                      "Hermes does not answer at %.*s (%.*s); start its API server "
                      "(API_SERVER_ENABLED=true in ~/.hermes/.env, then 'hermes gateway') or set "
                      "hermes.base_url",
                      STR_FMT(link->base), STR_FMT(detail));
}

bool hermes_link(Arena *a, const Settings *settings, HermesLink *ret, Err *err)
{
    const char *given = getenv("TALARIA_HERMES_BASE_URL");
    HermesLink link = { .base = given && *given ? str_of(given)
                                                : setting_text(settings, SETTING_HERMES_BASE_URL),
                        .dialect = -1 };
    HermesDialect wanted;
    FetchRequest probe = { .url = NULL };

    while (link.base.n && link.base.p[link.base.n - 1] == '/')
        link.base.n--;
    link.base = (Str){ str_z(a, link.base), link.base.n };
    if (!find_key(a, settings, &link.key, err))
        return false;
    probe.url = link.base.p;
    probe.secret = link.key.n > 0;
    if (!fetch_check(&probe, err))
        return err_wrap(err, "the address of Hermes");
    if (hermes_dialect_of(setting_text(settings, SETTING_HERMES_TRANSPORT), &wanted))
        link.dialect = (int)wanted;
    *ret = link;
    return true;
}

/* -- handles -- */

static Str base_hash(Arena *a, const HermesLink *link)
{
    return str_head(sha256_hex(a, link->base), HASH_DIGITS);
}

bool hermes_id_is_clean(Str id)
{
    for (size_t i = 0; i < id.n; i++) {
        unsigned char c = (unsigned char)id.p[i];

        if (c <= ' ' || c >= 0x7f || strchr("/\\?#%\"", c))
            return false;
    }
    return id.n > 0 && id.n <= MAX_ID && !str_eqz(id, ".") && !str_eqz(id, "..");
}

bool hermes_handle_read(Arena *a, const HermesLink *link, Str handle, HermesHandle *ret)
{
    AUTO(JsonDoc) *doc = handle.n ? json_parse_mended(a, handle) : NULL;
    Json root = doc ? json_root(doc) : (Json){ 0 };

    *ret = (HermesHandle){ .rotated = STR("[]") };
    if (!str_eq(str_at(root, "base_url_hash"), base_hash(a, link)) ||
        !hermes_id_is_clean(str_at(root, "session_id")))
        return false;
    ret->known = hermes_dialect_of(str_at(root, "transport"), &ret->dialect);
    ret->session = str_dup(a, str_at(root, "session_id"));
    if (hermes_id_is_clean(str_at(root, "last_response_id")))
        ret->response = str_dup(a, str_at(root, "last_response_id"));
    if (json_type(at(root, "rotated_from")) == JSON_ARRAY)
        ret->rotated = str_dup(a, text_of(a, at(root, "rotated_from")));
    if (ret->rotated.n > MAX_ROTATED)
        ret->rotated = STR("[]");
    return ret->known;
}

/* One that has been compressed often enough forgets what it was called at first. */
void hermes_handle_rotate(Arena *a, HermesHandle *h, Str session)
{
    Str old = h->session, list = h->rotated;

    h->rotated = list.n > 2 && list.n + old.n + 3 <= MAX_ROTATED
                     ? str_printf(a, "%.*s,\"%.*s\"]", (int)list.n - 1, list.p, STR_FMT(old))
                     : str_printf(a, "[\"%.*s\"]", STR_FMT(old));
    h->session = session;
}

Str hermes_handle_write(Arena *a, const HermesLink *link, const HermesHandle *h)
{
    AUTO_BUF out = BUF(MAX_HANDLE);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "transport", str_of(hermes_dialect_name(h->dialect)));
    json_field_str(&w, "base_url_hash", base_hash(a, link));
    json_field_str(&w, "session_id", h->session);
    if (h->response.n)
        json_field_str(&w, "last_response_id", h->response);
    json_key(&w, "rotated_from");
    json_put_raw(&w, h->rotated.n ? h->rotated : STR("[]"));
    if (h->version.n)
        json_field_str(&w, "hermes_version", h->version);
    json_field_int(&w, "updated_at", (int64_t)clock_wall());
    json_end(&w, '}');
    return str_dup(a, buf_str(&out));
}

/* -- which dialect -- */

static bool advertised(Json features, HermesDialect d)
{
    static const char *const names[] = { [HERMES_SESSION] = "session_chat_streaming",
                                         [HERMES_RUNS] = "run_events_sse",
                                         [HERMES_RESPONSES] = "responses_streaming" };

    return d == HERMES_CHAT || true_at(features, names[d]);
}

HermesDialect hermes_choose(const HermesLink *link, const HermesHandle *before, Json features)
{
    if (link->dialect >= 0)
        return (HermesDialect)link->dialect;
    if (before->known && advertised(features, before->dialect))
        return before->dialect;
    for (int d = 0; d < HERMES_CHAT; d++)
        if (advertised(features, (HermesDialect)d))
            return (HermesDialect)d;
    return HERMES_CHAT;
}
