/* Blocks grow from 16 KiB, doubling to 1 MiB; a larger wish gets its own block.
 * Bump allocation, sixteen-byte aligned. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>

enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024, ALIGN = 16 };

typedef struct Block {
    struct Block *next;
    size_t size, used;
    alignas(16) char bytes[];
} Block;

struct Arena {
    Block *top;
};

void out_of_memory(size_t size)
{
    if (size)
        fprintf(stderr, "talaria: out of memory (%zu bytes)\n", size);
    else
        fputs("talaria: out of memory\n", stderr);
    abort();
}

void *mem_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *mem_resize(void *p, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(SIZE_MAX);
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        out_of_memory(bytes);
    return p;
}

void *mem_free(void *p)
{
    free(p);
    return NULL;
}

char *mem_strdup(Str s)
{
    char *z = mem_alloc(s.n + 1);

    if (s.n)
        memcpy(z, s.p, s.n);
    return z;
}

static Block *block_new(size_t size, Block *next)
{
    Block *b = malloc(sizeof *b + size);

    if (!b)
        out_of_memory(size);
    *b = (Block){ .next = next, .size = size };
    return b;
}

Arena *arena_new(void)
{
    Arena *a = mem_alloc(sizeof *a);

    a->top = block_new(FIRST_BLOCK, NULL);
    return a;
}

Arena *arena_free(Arena *a)
{
    if (!a)
        return NULL;
    while (a->top) {
        Block *next = a->top->next;

        free(a->top);
        a->top = next;
    }
    free(a);
    return NULL;
}

void arena_reset(Arena *a)
{
    Block *keep = a->top;

    for (Block *b = keep->next; b;) {
        Block *next = b->next;

        if (b->size > keep->size && b->size <= LARGEST_BLOCK) {
            Block *swap = keep;

            keep = b;
            b = swap;
        }
        free(b);
        b = next;
    }
    keep->next = NULL;
    keep->used = 0;
    a->top = keep;
}

char *arena_bytes(Arena *a, size_t size)
{
    Block *b = a->top;
    size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    char *p;

    if (need < size)
        out_of_memory(size);
    if (b->size - b->used < need) {
        size_t next = b->size < LARGEST_BLOCK ? b->size * 2 : LARGEST_BLOCK;

        b = a->top = block_new(need > next ? need : next, b);
    }
    p = b->bytes + b->used;
    b->used += need;
    return p;
}

void *arena_alloc(Arena *a, size_t size)
{
    return memset(arena_bytes(a, size), 0, size);
}

void *arena_array(Arena *a, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, bytes);
}

void *arena_grow(Arena *a, void *items, size_t count, size_t *cap, size_t size)
{
    size_t wanted = *cap ? *cap * 2 : 8;
    void *grown = arena_array(a, wanted, size);

    if (count)
        memcpy(grown, items, count * size);
    *cap = wanted;
    return grown;
}

Str str_dup(Arena *a, Str s)
{
    return (Str){ str_z(a, s), s.n };
}

char *str_z(Arena *a, Str s)
{
    char *z = arena_bytes(a, s.n + 1);

    if (s.n)
        memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    return z;
}

Str str_printf(Arena *a, const char *fmt, ...)
{
    va_list args, again;
    char *text;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    ASSERT(n >= 0);
    text = arena_bytes(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return (Str){ text, (size_t)n };
}

Str str_join_path(Arena *a, Str folder, Str name)
{
    bool slash = folder.n && folder.p[folder.n - 1] == '/';

    return str_printf(a, "%.*s%s%.*s", STR_FMT(folder), slash ? "" : "/", STR_FMT(name));
}
