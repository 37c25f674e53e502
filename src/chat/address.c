/* Reading is tolerant, as Hermes' own reader is: what is null, missing or of another kind is
 * absent, and only a place without a platform is refused. Writing follows one table, so the order
 * of the members, which Hermes' own files have, cannot drift. */
#include "chat/address.h"

#include "base/file.h"
#include "base/limits.h"

/* -- JSON -- */

static Str text_of(const PyValue *v)
{
    if (!v)
        return STR_NONE;
    if (v->type == PY_STR || v->type == PY_INT)
        return v->text.n ? v->text : STR("");
    return v->type == PY_TRUE ? STR("true") : STR_NONE;
}

bool address_read(const PyValue *v, ChatAddress *ret, Err *err)
{
    ChatAddress p = { 0 };

    if (v->type != PY_DICT)
        return err_set(err, ERR_INVALID, "a place must be an object");
#define X(name, always) p.name = text_of(pyjson_get(v, STR(#name)));
    CHAT_ADDRESS_FIELDS(X)
#undef X
    if (!p.scope_id.n)
        p.scope_id = text_of(pyjson_get(v, STR("guild_id")));
    if (!p.chat_type.n)
        p.chat_type = STR("dm");
    if (!p.platform.n)
        return err_set(err, ERR_INVALID, "a place needs a 'platform'");
    *ret = p;
    return true;
}

bool address_parse(Arena *a, Str json, ChatAddress *ret, Err *err)
{
    PyValue v;

    if (!pyjson_read(a, json, &v))
        return err_set(err, ERR_INVALID, "not JSON");
    return address_read(&v, ret, err);
}

static PyValue py_text(Str s)
{
    return s.p ? (PyValue){ .type = PY_STR, .text = s } : (PyValue){ .type = PY_NULL };
}

typedef struct Pairs {
    PyValue *items;
    uint32_t n;
} Pairs;

static void pair(Pairs *d, Str key, PyValue value)
{
    d->items[2 * d->n] = py_text(key);
    d->items[2 * d->n + 1] = value;
    d->n++;
}

static void put_field(Pairs *d, Str name, bool always, Str value)
{
    if (!value.n && !always)
        return;
    if (str_eqz(name, "auto_thread_created")) {
        pair(d, name, (PyValue){ .type = PY_TRUE });
        return;
    }
    pair(d, name, py_text(value));
    if (str_eqz(name, "scope_id"))
        pair(d, STR("guild_id"), py_text(value));
}

PyValue address_value(Arena *a, const ChatAddress *p)
{
    enum {
        MOST = 1
#define X(name, always) +1
        CHAT_ADDRESS_FIELDS(X)
#undef X
    };
    Pairs d = { .items = ARENA_ARRAY(a, PyValue, 2 * (size_t)MOST) };

#define X(name, always) put_field(&d, STR(#name), always, p->name);
    CHAT_ADDRESS_FIELDS(X)
#undef X
    return (PyValue){ .type = PY_DICT, .n = d.n, .items = d.items };
}

Str address_json(Arena *a, const ChatAddress *p)
{
    AUTO_BUF out = BUF(LIMIT_PLACE_BYTES);
    PyValue v = address_value(a, p);

    pyjson_write(&out, &v);
    return str_dup(a, buf_str(&out));
}

/* -- WhatsApp -- */

enum { MAX_ALIASES = 32 };

static Str before(Str s, char c)
{
    Str part = s;

    return str_split(&s, c, &part) ? part : s;
}

/* Without one '+', and without device (":12") and server ("@lid"). */
static Str bare_whatsapp(Arena *a, Str id)
{
    Str s = str_trim(id);
    size_t plus = str_find(s, STR("+"));

    if (plus < s.n)
        s = str_printf(a, "%.*s%.*s", (int)plus, s.p, STR_FMT(str_skip(s, plus + 1)));
    return s.n ? before(before(s, ':'), '@') : s;
}

/* It becomes part of a file's name. */
static bool safe_name(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z') ||
              (s.p[i] >= 'A' && s.p[i] <= 'Z') || s.p[i] == '-' || s.p[i] == '_'))
            return false;
    return s.n > 0 && s.n < 128;
}

static Str mapped_to(Arena *a, Str folder, Str id, const char *suffix)
{
    Str path = str_printf(a, "%.*s/lid-mapping-%.*s%s.json", STR_FMT(folder), STR_FMT(id), suffix);
    Str text;
    PyValue v;
    Err none;

    if (!file_read(a, str_z(a, path), LIMIT_PLACE_BYTES, &text, &none) ||
        !pyjson_read(a, text, &v) || v.type != PY_STR)
        return STR_NONE;
    return bare_whatsapp(a, v.text);
}

static void add_alias(Str *known, size_t *n, Str id)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq(known[i], id))
            return;
    if (*n < MAX_ALIASES && safe_name(id))
        known[(*n)++] = id;
}

Str whatsapp_canonical(Arena *a, Str id, Str folder)
{
    Str known[MAX_ALIASES], best = bare_whatsapp(a, id);
    size_t n = 0;

    if (!folder.n)
        return best;
    add_alias(known, &n, best);
    for (size_t i = 0; i < n; i++) {
        add_alias(known, &n, mapped_to(a, folder, known[i], ""));
        add_alias(known, &n, mapped_to(a, folder, known[i], "_reverse"));
        if (known[i].n < best.n || (known[i].n == best.n && str_cmp(known[i], best) < 0))
            best = known[i];
    }
    return best;
}

/* -- keys -- */

bool key_flags_read(const PyValue *v, KeyFlags *ret, Err *err)
{
    KeyFlags flags = KEY_FLAGS;
    const PyValue *group, *thread;

    if (v->type == PY_NULL) {
        *ret = flags;
        return true;
    }
    if (v->type != PY_DICT)
        return err_set(err, ERR_INVALID, "flags must be an object");
    group = pyjson_get(v, STR("group_sessions_per_user"));
    thread = pyjson_get(v, STR("thread_sessions_per_user"));
    if (group)
        flags.group_per_user = pyjson_truthy(group);
    if (thread)
        flags.thread_per_user = pyjson_truthy(thread);
    flags.profile = text_of(pyjson_get(v, STR("profile")));
    *ret = flags;
    return true;
}

static void add_part(Buf *out, Str part)
{
    if (!part.n)
        return;
    buf_addc(out, ':');
    buf_add(out, part);
}

/* Who wrote, as far as keys are concerned. */
static Str participant(Arena *a, const ChatAddress *p, const KeyFlags *flags)
{
    Str who = p->user_id_alt.n ? p->user_id_alt : p->user_id, one;

    if (!who.n || !str_eqz(p->platform, "whatsapp"))
        return who;
    one = whatsapp_canonical(a, who, flags->aliases);
    return one.n ? one : who;
}

static void add_dm(Arena *a, Buf *out, const ChatAddress *p, const KeyFlags *flags)
{
    Str chat = p->chat_id;

    if (chat.n && str_eqz(p->platform, "whatsapp"))
        chat = whatsapp_canonical(a, chat, flags->aliases);
    add_part(out, chat.n ? chat : participant(a, p, flags));
    add_part(out, p->thread_id);
}

static void add_shared(Arena *a, Buf *out, const ChatAddress *p, const KeyFlags *flags)
{
    Str thread = p->thread_id.n ? p->thread_id : p->prospective_thread_id;

    add_part(out, p->chat_id);
    add_part(out, thread);
    /* In a thread the flag for groups still has to be set: so the keys of all existing sessions
     * are. */
    if (flags->group_per_user && (!thread.n || flags->thread_per_user))
        add_part(out, participant(a, p, flags));
}

Str address_key(Arena *a, const ChatAddress *p, const KeyFlags *flags)
{
    AUTO_BUF out = BUF(LIMIT_PLACE_BYTES);
    bool is_dm = str_eqz(p->chat_type, "dm");
    bool main = !flags->profile.n || str_eqz(flags->profile, "default");

    buf_addz(&out, "agent");
    add_part(&out, main ? STR("main") : flags->profile);
    add_part(&out, p->platform);
    add_part(&out, !is_dm && !p->thread_id.n && p->prospective_thread_id.n ? STR("thread")
                                                                           : p->chat_type);
    if (str_eqz(p->platform, "slack"))
        add_part(&out, p->scope_id);
    if (is_dm)
        add_dm(a, &out, p, flags);
    else
        add_shared(a, &out, p, flags);
    return str_dup(a, buf_str(&out));
}
