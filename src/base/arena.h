/* arena.h - memory that is born together and dies at once.
 *
 * One arena per request, turn, row batch or command. Nothing in it is freed by itself;
 * arena_reset keeps the largest block for the next round. Running out of memory ends
 * the process through one hook: whatever the outside can size goes through a limit
 * first, so that input cannot get there. Not thread-safe. */
#ifndef TALARIA_BASE_ARENA_H
#define TALARIA_BASE_ARENA_H

#include "base/str.h"

typedef struct Arena Arena;

Arena *arena_new(void);
Arena *arena_free(Arena *a);
AUTO_FREE(Arena, arena_free)

/* Everything handed out before is gone. */
void arena_reset(Arena *a);

/* Zeroed, aligned for any type. */
void *arena_alloc(Arena *a, size_t size) __attribute__((malloc, returns_nonnull));
void *arena_array(Arena *a, size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Not zeroed: for text that is written at once. */
char *arena_bytes(Arena *a, size_t size) __attribute__((malloc, returns_nonnull));
#define ARENA_NEW(a, Type)          ((Type *)arena_alloc((a), sizeof(Type)))
#define ARENA_ARRAY(a, Type, count) ((Type *)arena_array((a), (count), sizeof(Type)))

Str str_dup(Arena *a, Str s);
char *str_z(Arena *a, Str s); /* NUL-terminated copy, for libc and SQLite */
Str str_printf(Arena *a, const char *fmt, ...) PRINTF(2, 3);
Str str_join_path(Arena *a, Str folder, Str name);

/* Room for one more in an array that lives in the arena: old items are copied, cap doubles. */
void *arena_grow(Arena *a, void *items, size_t count, size_t *cap, size_t size);
#define ARENA_PUSH(a, items, count, cap, item)                                                     \
    do {                                                                                           \
        if ((count) == (cap))                                                                      \
            (items) = arena_grow((a), (items), (count), &(cap), sizeof *(items));                  \
        (items)[(count)++] = (item);                                                               \
    } while (0)

/* Says so and aborts: what every allocation does that fails. size 0: not known. */
void out_of_memory(size_t size) __attribute__((noreturn));

/* malloc and friends that do not come back empty-handed; for long-lived objects. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *mem_resize(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
void *mem_free(void *p); /* returns NULL */
char *mem_strdup(Str s);

#endif
