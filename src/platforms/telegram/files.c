/* Files of Telegram: a number is asked for an address, and the address holds the token, so it goes
 * nowhere but to the server of the API. And albums, which Telegram sends as several messages: those
 * that came in one answer are made one update, before they are kept; what is kept is never put
 * together again. */
#include "base/limits.h"
#include "platforms/download.h"
#include "platforms/telegram/inside.h"

/* -- fetching -- */

/* "<api>/bot<token>/" is where methods are, "<api>/file/bot<token>/" where files are. */
static Str file_base(Arena *a, const Connection *c)
{
    Str base = str_of(c->base);
    size_t slash = base.n - 1;

    while (slash > 0 && base.p[slash - 1] != '/')
        slash--;
    return str_printf(a, "%.*sfile/%.*s", STR_FMT(str_head(base, slash)),
                      STR_FMT(str_skip(base, slash)));
}

/* A server of one's own may keep files on its disk and name them there: those are not for us. */
static bool is_plain(Str path)
{
    if (!path.n || path.p[0] == '/' || str_find(path, STR("..")) < path.n)
        return false;
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] <= ' ' || (unsigned char)path.p[i] > '~' ||
            strchr("?#%\\", path.p[i]))
            return false;
    return true;
}

static bool too_large(Err *err)
{
    return err_set(err, ERR_TOO_LARGE, "the file is too large for telegram bots");
}

static bool find(Connection *c, Arena *a, const InboundFile *file, size_t limit, Str *ret_path,
                 Fetched *ret, Err *err)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    int64_t size;
    Reply reply;

    json_begin(&w, '{');
    json_field_str(&w, "file_id", file->ref);
    json_end(&w, '}');
    if (!telegram_call(c, a, &(Ask){ .method = "getFile", .body = buf_str(&out) }, &reply, err)) {
        ret->wait_ms = reply.wait_ms;
        return reply_says(&reply, "too big") ? too_large(err) : false;
    }
    *ret_path = update_text(&reply.result, "file_path");
    if (str_to_int(update_text(&reply.result, "file_size"), 0, INT64_MAX, &size) &&
        size > (int64_t)limit)
        return too_large(err);
    return is_plain(*ret_path) ||
           err_set(err, ERR_REFUSED, "telegram did not return a download address");
}

bool telegram_fetch(Connection *c, Arena *a, const InboundFile *file, size_t limit, Fetched *ret,
                    Err *err)
{
    Download d = { .platform = "telegram", .base = c->base, .hosts = "", .limit = limit };
    Str path;

    *ret = (Fetched){ 0 };
    if (!find(c, a, file, limit, &path, ret, err))
        return false;
    d.url = str_printf(a, "%.*s%.*s", STR_FMT(file_base(a, c)), STR_FMT(path));
    return download(c->host.net, a, &d, ret, err);
}

/* -- albums -- */

static const PyValue *message_of(const PyValue *update)
{
    const PyValue *m = update_get(update, "message");

    return m->type == PY_DICT ? m : update_get(update, "channel_post");
}

static Str album_of(const PyValue *update)
{
    return update_text(message_of(update), "media_group_id");
}

static bool belongs(const PyValue *first, const PyValue *next)
{
    return str_eq(album_of(first), album_of(next)) &&
           str_eq(update_text(update_get(message_of(first), "chat"), "id"),
                  update_text(update_get(message_of(next), "chat"), "id"));
}

static PyValue text_value(PyType type, Str text)
{
    return (PyValue){ .type = type, .text = text };
}

/* Its number stays taken, so that it changes nothing where it comes again alone. */
static PyValue placeholder(Arena *a, const PyValue *update, const PyValue *first)
{
    PyValue *pairs = ARENA_ARRAY(a, PyValue, 4);

    pairs[0] = text_value(PY_STR, STR("update_id"));
    pairs[1] = *update_get(update, "update_id");
    pairs[2] = text_value(PY_STR, STR("album_of"));
    pairs[3] = *update_get(first, "update_id");
    return (PyValue){ .type = PY_DICT, .n = 2, .items = pairs };
}

static PyValue with_album(Arena *a, const PyValue *update, PyValue album)
{
    PyValue *pairs = ARENA_ARRAY(a, PyValue, 2 * (size_t)update->n + 2);

    memcpy(pairs, update->items, 2 * (size_t)update->n * sizeof *pairs);
    pairs[2 * (size_t)update->n] = text_value(PY_STR, STR("album"));
    pairs[2 * (size_t)update->n + 1] = album;
    return (PyValue){ .type = PY_DICT, .n = update->n + 1, .items = pairs };
}

/* The first of an album takes in the others that are behind it. */
static void gather(Arena *a, PyValue *all, uint32_t n)
{
    PyValue album = { .type = PY_LIST, .items = ARENA_ARRAY(a, PyValue, n) };
    PyValue *first = &all[0];

    for (uint32_t i = 1; i < n; i++) {
        if (!album_of(&all[i]).n || !belongs(first, &all[i]))
            continue;
        album.items[album.n++] = *message_of(&all[i]);
        all[i] = placeholder(a, &all[i], first);
    }
    if (album.n)
        *first = with_album(a, first, album);
}

PyValue telegram_albums(Arena *a, const PyValue *updates)
{
    PyValue all = { .type = PY_LIST,
                    .n = updates->n,
                    .items = ARENA_ARRAY(a, PyValue, (size_t)updates->n + 1) };

    memcpy(all.items, updates->items, updates->n * sizeof *all.items);
    for (uint32_t i = 0; i < all.n; i++)
        if (album_of(&all.items[i]).n)
            gather(a, &all.items[i], all.n - i);
    return all;
}

bool telegram_ends_in_album(const PyValue *updates)
{
    return updates->type == PY_LIST && updates->n && album_of(&updates->items[updates->n - 1]).n;
}
