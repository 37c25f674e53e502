/* Entries as Hermes' gateway writes them, member by member, and the sessions.json that it keeps
 * beside the table. The file is a mirror: entries of it fill what the table lacks, so one that
 * leads elsewhere has to be changed there too. It is written only where it is already: not every
 * Hermes keeps one. */
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"

Str routing_scope(Arena *a, Str home)
{
    char resolved[PATH_MAX];

    if (realpath(str_z(a, str_join_path(a, home, STR("sessions"))), resolved))
        return str_dup(a, str_of(resolved));
    if (realpath(str_z(a, home), resolved))
        return str_join_path(a, str_dup(a, str_of(resolved)), STR("sessions"));
    return str_join_path(a, home, STR("sessions"));
}

/* -- entries -- */

/* datetime.now().isoformat(): local, without a zone. */
static Str local_iso(Arena *a, double now)
{
    time_t seconds = (time_t)now;
    int micro = (int)((now - (double)seconds) * 1e6);
    char text[32];
    struct tm tm;

    localtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    return micro > 0 ? str_printf(a, "%s.%06d", text, micro) : str_dup(a, str_of(text));
}

#define PY_ZERO_INT ((PyValue){ .type = PY_INT, .text = STR("0") })
#define PY_NONE     ((PyValue){ .type = PY_NULL })
#define PY_NO       ((PyValue){ .type = PY_FALSE })

static PyValue text_value(Str s)
{
    return s.p ? (PyValue){ .type = PY_STR, .text = s } : PY_NONE;
}

Str routing_entry(Arena *a, Str key, Str session_id, const ChatAddress *place, double now)
{
    AUTO_BUF out = BUF(LIMIT_PLACE_BYTES);
    PyValue time = text_value(local_iso(a, now)), origin = address_value(a, place);
    PyValue items[] = {
#define MEMBER(name, value) { .type = PY_STR, .text = STR(name) }, value
        MEMBER("session_key", text_value(key)),
        MEMBER("session_id", text_value(session_id)),
        MEMBER("created_at", time),
        MEMBER("updated_at", time),
        MEMBER("display_name", text_value(place->chat_name)),
        MEMBER("platform", text_value(place->platform)),
        MEMBER("chat_type", text_value(place->chat_type)),
        MEMBER("metadata", ((PyValue){ .type = PY_DICT })),
        MEMBER("input_tokens", PY_ZERO_INT),
        MEMBER("output_tokens", PY_ZERO_INT),
        MEMBER("cache_read_tokens", PY_ZERO_INT),
        MEMBER("cache_write_tokens", PY_ZERO_INT),
        MEMBER("total_tokens", PY_ZERO_INT),
        MEMBER("last_prompt_tokens", PY_ZERO_INT),
        MEMBER("estimated_cost_usd", ((PyValue){ .type = PY_FLOAT, .real = 0 })),
        MEMBER("cost_status", text_value(STR("unknown"))),
        MEMBER("expiry_finalized", PY_NO),
        MEMBER("suspended", PY_NO),
        MEMBER("resume_pending", PY_NO),
        MEMBER("resume_reason", PY_NONE),
        MEMBER("last_resume_marked_at", PY_NONE),
        MEMBER("active_turn_token", PY_NONE),
        MEMBER("active_turn_started_at", PY_NONE),
        MEMBER("is_fresh_reset", PY_NO),
        MEMBER("was_auto_reset", PY_NO),
        MEMBER("auto_reset_reason", PY_NONE),
        MEMBER("reset_had_activity", PY_NO),
        MEMBER("prev_session_id", PY_NONE),
        MEMBER("origin", origin),
#undef MEMBER
    };
    PyValue entry = { .type = PY_DICT, .n = ARRAY_LEN(items) / 2, .items = items };

    pyjson_write(&out, &entry);
    return str_dup(a, buf_str(&out));
}

/* -- sessions.json -- */

static void indent(Buf *out, int depth)
{
    buf_addc(out, '\n');
    buf_pad(out, ' ', 2 * (size_t)depth);
}

/* json.dumps(v, indent=2). Depth is that of what pyjson_read let through. */
static void write_indented(Buf *out, const PyValue *v, int depth)
{
    bool dict = v->type == PY_DICT;
    uint32_t width = dict ? 2 : 1;

    if ((!dict && v->type != PY_LIST) || v->n == 0) {
        pyjson_write(out, v);
        return;
    }
    buf_addc(out, dict ? '{' : '[');
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            buf_addc(out, ',');
        indent(out, depth + 1);
        if (dict) {
            pyjson_write(out, &v->items[2 * i]);
            buf_addz(out, ": ");
        }
        write_indented(out, &v->items[width * i + width - 1], depth + 1);
    }
    indent(out, depth);
    buf_addc(out, dict ? '}' : ']');
}

static bool is_among(Str key, const Str *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(all[i], key))
            return true;
    return false;
}

/* The same object without `gone`, with `key` changed in its place or added at the end. */
static PyValue changed(Arena *a, const PyValue *old, Str key, const PyValue *entry, const Str *gone,
                       size_t n_gone)
{
    PyValue all = { .type = PY_DICT, .items = ARENA_ARRAY(a, PyValue, 2 * (size_t)old->n + 2) };
    bool placed = !key.n;

    for (uint32_t i = 0; i < old->n; i++) {
        bool same = key.n && str_eq(old->items[2 * i].text, key);

        if (!same && is_among(old->items[2 * i].text, gone, n_gone))
            continue;
        all.items[2 * all.n] = old->items[2 * i];
        all.items[2 * all.n + 1] = same ? *entry : old->items[2 * i + 1];
        all.n++;
        placed |= same;
    }
    if (!placed) {
        all.items[2 * all.n] = text_value(key);
        all.items[2 * all.n + 1] = *entry;
        all.n++;
    }
    return all;
}

bool routing_mirror(Arena *a, Str home, Str key, Str entry_json, const Str *gone, size_t n_gone,
                    Err *err)
{
    char *path = str_z(a, str_join_path(a, home, STR("sessions/sessions.json")));
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    PyValue old, entry = PY_NONE, all;
    Str text;

    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_JSON_BYTES, &text, err))
        return false;
    if (!pyjson_read(a, text, &old) || old.type != PY_DICT ||
        (key.n && !pyjson_read(a, entry_json, &entry)))
        return err_set(err, ERR_CORRUPT, "'%s' is not an object of entries; it was left alone",
                       path);
    all = changed(a, &old, key, &entry, gone, n_gone);
    write_indented(&out, &all, 0);
    return !buf_full(&out) ? file_write_atomic(path, buf_str(&out), err)
                           : err_set(err, ERR_TOO_LARGE, "'%s' has grown too large", path);
}
