#include "demo/pack.h"

#include <zlib.h>

bool demo_unpack(Arena *a, RecordedFile **ret, size_t *ret_n, Err *err)
{
    RecordedFile *files = ARENA_ARRAY(a, RecordedFile, demo_pack_count + 1);
    char *whole = arena_bytes(a, demo_pack_whole_size + 1);
    uLongf size = demo_pack_whole_size;
    size_t at = 0;

    if (uncompress((Bytef *)whole, &size, demo_pack, demo_pack_size) != Z_OK ||
        size != demo_pack_whole_size)
        return err_set(err, ERR_INVALID, "the recorded demo in this program is damaged");
    for (size_t i = 0; i < demo_pack_count; i++) {
        files[i] = (RecordedFile){ str_of(demo_pack_files[i].path),
                                   { whole + at, demo_pack_files[i].size } };
        at += demo_pack_files[i].size;
    }
    *ret = files;
    *ret_n = demo_pack_count;
    return true;
}

Str demo_recorded(const RecordedFile *files, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(files[i].path, path))
            return files[i].text;
    return STR_NONE;
}
