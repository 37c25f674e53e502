#include "platforms/platforms.h"

const Platform *platforms_each(size_t i)
{
    static const Platform *const all[] = {
#define X(name) &platform_##name,
        PLATFORMS(X)
#undef X
    };

    return i < ARRAY_LEN(all) ? all[i] : NULL;
}

const Platform *platform_named(Str name)
{
    for (size_t i = 0; platforms_each(i); i++)
        if (str_eqz(name, platforms_each(i)->shape->name))
            return platforms_each(i);
    return NULL;
}
