/* Runs a fuzz target once over each file of a folder: regression without libFuzzer. */
#include <stdint.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    AUTO(Arena) *a = arena_new();
    FileEntry *entries;
    size_t n;
    Err err;

    if (argc != 2 || !folder_list(a, argv[1], 100000, &entries, &n, &err)) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        Str path = str_join_path(a, str_of(argv[1]), entries[i].name), bytes;

        if (!file_read(a, path.p, 1 << 24, &bytes, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)bytes.p, bytes.n);
    }
    return 0;
}
