#include "demo/world.h"

#include "embedded.h"

static bool read_part(World *w, size_t i, const unsigned char *bytes, size_t n, const char *key,
                      Json *ret, Err *err)
{
    Json root;

    w->docs[i] = json_parse((Str){ (const char *)bytes, n }, err);
    if (!w->docs[i])
        return err_wrap(err, "cannot read the demo's data");
    root = json_root(w->docs[i]);
    *ret = key ? world_get(root, key) : root;
    return true;
}

#define PART(i, name, key, to)                                                                     \
    read_part(w, i, data_demo_##name##_json, data_demo_##name##_json_size, key, to, err)

World *world_open(Err *err)
{
    AUTO(World) *w = mem_alloc(sizeof *w);

    if (!PART(0, world, NULL, &w->general) || !PART(1, projects, "projects", &w->projects) ||
        !PART(2, tools, NULL, &w->tools) || !PART(3, tasks, "tasks", &w->tasks) ||
        !PART(4, episodes, "episodes", &w->episodes) || !PART(5, home, "files", &w->files))
        return NULL;
    return TAKE(w);
}

World *world_free(World *w)
{
    for (size_t i = 0; w && i < ARRAY_LEN(w->docs); i++)
        json_free(w->docs[i]);
    return mem_free(w);
}

Json world_get(Json object, const char *key)
{
    return json_get(object, str_of(key));
}

Str world_str(Json object, const char *key)
{
    return json_str(world_get(object, key));
}

int64_t world_int(Json object, const char *key, int64_t fallback)
{
    int64_t n = fallback;

    (void)json_int(world_get(object, key), &n);
    return n;
}

bool world_flag(Json object, const char *key)
{
    bool on = false;

    (void)json_bool(world_get(object, key), &on);
    return on;
}

Json world_find(Json array, const char *key, Str value)
{
    JsonIter it = json_each(array);
    Json item;
    Str unused;

    while (json_next(&it, &unused, &item))
        if (str_eq(world_str(item, key), value))
            return item;
    return (Json){ 0 };
}
