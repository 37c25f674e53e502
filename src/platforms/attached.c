/* A name that came with a file is for people and models to read and never a path: what stands
 * before the last slash goes, and so does whatever could break a line. */
#include "platforms/attached.h"

#include "base/limits.h"
#include "text/utf8.h"

enum { MAX_ENDING = 16 };

static Str behind_slashes(Str name)
{
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == '/' || name.p[i - 1] == '\\')
            return str_skip(name, i);
    return name;
}

static Str without_controls(Arena *a, Str name)
{
    char *out = arena_bytes(a, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] >= 0x20 && name.p[i] != 0x7f)
            out[n++] = name.p[i];
    return (Str){ out, n };
}

/* Shortened in the middle: what kind of file it is stands at the end. */
static Str fitting(Arena *a, Str name)
{
    Str ending = STR("");

    if (name.n <= LIMIT_FILE_NAME)
        return name;
    for (size_t i = name.n; i > 0 && name.n - i < MAX_ENDING; i--)
        if (name.p[i - 1] == '.') {
            ending = str_skip(name, i - 1);
            break;
        }
    return str_printf(a, "%.*s%.*s", STR_FMT(utf8_head(name, LIMIT_FILE_NAME - ending.n)),
                      STR_FMT(ending));
}

void attached_add(Arena *a, Inbound *in, InboundFile file, Str otherwise)
{
    Str name = str_trim(without_controls(a, behind_slashes(utf8_repair(a, file.name))));

    if (in->n_files == LIMIT_INBOUND_FILES) {
        in->more_files++;
        return;
    }
    if (!in->files)
        in->files = ARENA_ARRAY(a, InboundFile, LIMIT_INBOUND_FILES);
    file.name = fitting(a, name.n ? name : otherwise);
    file.mime = str_trim(without_controls(a, utf8_head(utf8_repair(a, file.mime), 100)));
    in->files[in->n_files++] = file;
}

int64_t attached_size(const PyValue *v, const char *key)
{
    int64_t size;

    return str_to_int(update_text(v, key), 0, INT64_MAX, &size) ? size : -1;
}
