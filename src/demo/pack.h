/* pack.h - the recorded files of data/demo/, as tools/pack.py puts them into the program. */
#ifndef TALARIA_DEMO_PACK_H
#define TALARIA_DEMO_PACK_H

#include "base/arena.h"
#include "base/err.h"

typedef struct PackedFile {
    const char *path; /* below data/demo/, and below the demo's folder */
    size_t size;
} PackedFile;

/* One zlib stream of all files in the order of the table. */
extern const PackedFile demo_pack_files[];
extern const unsigned char demo_pack[];
extern const size_t demo_pack_size, demo_pack_whole_size, demo_pack_count;

typedef struct RecordedFile {
    Str path, text;
} RecordedFile;

/* All files, by path. They live in the arena. */
MUST_CHECK bool demo_unpack(Arena *a, RecordedFile **ret, size_t *ret_n, Err *err);

/* The file of that path; p NULL where there is none. */
Str demo_recorded(const RecordedFile *files, size_t n, const char *path);

#endif
