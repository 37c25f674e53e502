#include "transcripts/codex_base.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "text/json.h"
#include "transcripts/packed.h"

enum { UUID_CHARS = 36, DAY_S = 86400 };

/* -- names -- */

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_uuid(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? s.p[i] != '-' : hex_of(s.p[i]) < 0)
            return false;
    }
    return s.n == UUID_CHARS;
}

bool codex_name(Str path, Str *ret_thread, Str *ret_file)
{
    Str stem = path_unpacked(path), before;

    stem = str_ends(stem, STR(".jsonl")) ? str_head(stem, stem.n - 6) : stem;

    if (stem.n < UUID_CHARS || !is_uuid(str_skip(stem, stem.n - UUID_CHARS)))
        return false;
    *ret_file = *ret_thread = str_skip(stem, stem.n - UUID_CHARS);
    before = str_head(stem, stem.n - UUID_CHARS);
    if (before.n > UUID_CHARS && before.p[before.n - 1] == '_' &&
        is_uuid(str_head(str_skip(before, before.n - 1 - UUID_CHARS), UUID_CHARS)))
        *ret_thread = str_head(str_skip(before, before.n - 1 - UUID_CHARS), UUID_CHARS);
    return true;
}

int64_t codex_id_ms(Str id)
{
    int64_t ms = 0;

    if (!is_uuid(id) || id.p[14] != '7')
        return 0;
    for (size_t i = 0; i < 13; i++)
        if (i != 8)
            ms = ms << 4 | hex_of(id.p[i]);
    return ms;
}

/* -- finding a file by its id -- */

static Str look_in(Arena *a, Str folder, Str id)
{
    Str suffix = str_printf(a, "%.*s.jsonl", STR_FMT(id)), found = STR_NONE;
    DIR *dir = opendir(str_z(a, folder));
    struct dirent *e;

    while (dir && (!found.n || path_is_packed(found)) && (e = readdir(dir)))
        if (str_starts(str_of(e->d_name), STR("rollout-")) &&
            str_ends(path_unpacked(str_of(e->d_name)), suffix))
            found = str_join_path(a, folder, str_of(e->d_name));
    if (dir)
        closedir(dir);
    return found;
}

/* An id says when it was made, and folders are named after the day, as the machine's clock showed
 * it. */
static Str look_around(Arena *a, Str root, Str id)
{
    static const char *const places[] = { "sessions", "archived_sessions" };
    int64_t ms = codex_id_ms(id);
    Str found = STR_NONE;

    for (size_t p = 0; p < ARRAY_LEN(places) && !found.n; p++) {
        Str folder = str_join_path(a, root, str_of(places[p]));

        for (int day = -1; day <= 1 && ms && !found.n; day++) {
            time_t at = (time_t)(ms / 1000 + day * (int64_t)DAY_S);
            struct tm tm;

            if (gmtime_r(&at, &tm))
                found = look_in(a,
                                str_printf(a, "%.*s/%04d/%02d/%02d", STR_FMT(folder),
                                           tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday),
                                id);
        }
        if (!found.n)
            found = look_in(a, folder, id);
    }
    return found;
}

static Str find_file(Arena *a, Str path, Str id)
{
    static const Str places[] = { STR_INIT("/sessions/"), STR_INIT("/archived_sessions/") };
    Str found, folder = path;

    while (folder.n && folder.p[folder.n - 1] != '/')
        folder.n--;
    found = look_in(a, str_head(folder, folder.n ? folder.n - 1 : 0), id);
    for (size_t i = 0; i < ARRAY_LEN(places) && !found.n; i++) {
        size_t at = str_find(path, places[i]);

        if (at < path.n)
            found = look_around(a, str_head(path, at), id);
    }
    return found;
}

/* -- what the first line says -- */

static bool read_first_line(Arena *a, Str path, Str *ret)
{
    enum { BLOCK = 64 << 10 };
    AUTO_BUF text = BUF(LIMIT_TRANSCRIPT_LINE + BLOCK);
    char block[BLOCK], *end = NULL;
    ssize_t got = 1;
    Err ignored;
    int fd;

    if (!transcript_open(a, path, LIMIT_TRANSCRIPT_LINE, &fd, &ignored)) {
        *ret = STR_NONE;
        return false;
    }
    while (!end && got > 0 && text.n < LIMIT_TRANSCRIPT_LINE) {
        got = pread(fd, block, sizeof block, (off_t)text.n);
        end = got > 0 ? memchr(block, '\n', (size_t)got) : NULL;
        if (got > 0)
            buf_add(&text, (Str){ block, end ? (size_t)(end - block) : (size_t)got });
    }
    close(fd);
    *ret = end ? str_dup(a, buf_str(&text)) : STR_NONE;
    return end != NULL;
}

/* False: it continues from no other file. */
static bool base_of(Arena *a, Str path, Str *ret_id, int64_t *ret_end, int64_t *ret_first)
{
    AUTO(JsonDoc) *doc = NULL;
    Str line;
    Json base;
    Err ignored;

    *ret_first = 0;
    if (!read_first_line(a, path, &line))
        return false;
    *ret_first = (int64_t)line.n + 1;
    /* Most have none, and the line is long. */
    if (str_find(line, STR("\"history_base\":{")) == line.n || !(doc = json_parse(line, &ignored)))
        return false;
    base = json_get(json_get(json_root(doc), STR("payload")), STR("history_base"));
    *ret_id = str_dup(a, json_str(json_get(base, STR("thread_id"))));
    return ret_id->n && json_int(json_get(base, STR("end_byte_offset")), ret_end) && *ret_end > 0;
}

/* Newest first. A ring, which only a damaged file has, ends at the limit. */
static void collect(Arena *a, Str path, CodexBase *ret)
{
    Str thread = STR_NONE, file, id;
    size_t cap = 0;
    int64_t end, first;

    (void)codex_name(path, &thread, &file);
    while (ret->n < LIMIT_CODEX_BASES && base_of(a, path, &id, &end, &first)) {
        Str from, found = find_file(a, path, id);

        if (ret->n == 0)
            ret->first = first;
        if (!found.n || !codex_name(found, &from, &file)) {
            log_debug("'%.*s' goes on from a rollout that is not there", STR_FMT(path));
            return;
        }
        ARENA_PUSH(a, ret->parts, ret->n, cap,
                   ((CodexPart){ .path = found, .end = end, .inherited = !str_eq(from, thread) }));
        path = found;
    }
}

CodexBase codex_base(Arena *a, Str path)
{
    CodexBase ret = { 0 };

    collect(a, path, &ret);
    for (size_t i = 0; i < ret.n / 2; i++) {
        CodexPart swap = ret.parts[i];

        ret.parts[i] = ret.parts[ret.n - 1 - i];
        ret.parts[ret.n - 1 - i] = swap;
    }
    for (size_t i = 0; i < ret.n; i++) {
        ret.parts[i].before = ret.bytes;
        ret.bytes += ret.parts[i].end;
    }
    return ret;
}
