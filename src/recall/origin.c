#include "recall/origin.h"

static const struct {
    const char *name, *title;
} origins[] = {
#define X(id, name, title) { name, title },
    ORIGINS(X)
#undef X
};

const char *origin_name(Origin o)
{
    return origins[o].name;
}

const char *origin_title(Origin o)
{
    return origins[o].title;
}

bool origin_parse(Str name, Origin *ret)
{
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        if (str_eqz(name, origins[i].name)) {
            *ret = (Origin)i;
            return true;
        }
    return false;
}

Origin origin_of(const Home *home, Str source)
{
    if (home->kind == HOME_CLAUDE)
        return ORIGIN_CLAUDE;
    if (home->kind == HOME_CODEX)
        return ORIGIN_CODEX;
    if (home->kind != HOME_OURS)
        return ORIGIN_HERMES;
    return str_eqz(source, "claude")  ? ORIGIN_CLAUDE
           : str_eqz(source, "codex") ? ORIGIN_CODEX
                                      : ORIGIN_TALARIA;
}
