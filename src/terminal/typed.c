#include "terminal/typed.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/json.h"

static char *path_of(Arena *a, Str folder)
{
    return str_z(a, str_join_path(a, folder, STR("chat-history")));
}

static void add_line(Buf *out, Str entry)
{
    JsonWriter w = JSON_WRITER(out, 0);

    json_put_str(&w, entry);
    buf_addc(out, '\n');
}

static size_t parse(Arena *a, Str bytes, Str *entries)
{
    size_t n = 0;
    Str line;

    while (str_split(&bytes, '\n', &line)) {
        Err err;
        AUTO(JsonDoc) *doc = json_parse(line, &err);

        if (doc && json_str(json_root(doc)).n)
            entries[n++] = str_dup(a, json_str(json_root(doc)));
    }
    return n;
}

static bool shorten(const char *path, const Str *entries, size_t n, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_CHAT_HISTORY_BYTES);

    for (size_t i = 0; i < n; i++)
        add_line(&out, entries[i]);
    return buf_full(&out) || file_write_atomic(path, buf_str(&out), err);
}

bool typed_load(Arena *a, Str folder, Str **ret, size_t *ret_n, Err *err)
{
    char *path = path_of(a, folder);
    size_t lines = 0, n, skip;
    Str bytes, *entries;

    *ret_n = 0;
    if (access(path, F_OK) != 0)
        return true;
    if (!file_read(a, path, LIMIT_CHAT_HISTORY_BYTES, &bytes, err))
        return false;
    for (size_t i = 0; i < bytes.n; i++)
        lines += bytes.p[i] == '\n';
    entries = ARENA_ARRAY(a, Str, lines + 1);
    n = parse(a, bytes, entries);
    skip = n > LIMIT_CHAT_HISTORY ? n - LIMIT_CHAT_HISTORY : 0;
    *ret = entries + skip;
    *ret_n = n - skip;
    return skip < LIMIT_CHAT_HISTORY || shorten(path, *ret, *ret_n, err);
}

bool typed_append(Arena *a, Str folder, Str entry, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_CHAT_HISTORY_ENTRY);
    const char *path = path_of(a, folder);
    int fd;
    bool ok;

    add_line(&out, entry);
    if (buf_full(&out))
        return true; /* sent, but too long to be useful under the arrow key */
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_errno(err, "cannot open '%s'", path);
    ok = write(fd, out.p, out.n) == (ssize_t)out.n;
    if (!ok)
        (void)err_errno(err, "cannot write '%s'", path);
    close(fd);
    return ok;
}
