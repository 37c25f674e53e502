#include "achievements/models.h"

#include "text/letters.h"

/* Trimmed and in lower case, as Python does both. */
static Str normal(Arena *a, Str model)
{
    return text_lower(a, text_trim(model));
}

static Str before(Str s, char sep)
{
    const char *hit = s.n ? memchr(s.p, sep, s.n) : NULL;

    return hit ? str_head(s, (size_t)(hit - s.p)) : s;
}

static bool contains(Str s, Str needle)
{
    return str_find(s, needle) < s.n;
}

Str model_provider(Arena *a, Str model)
{
    const Catalogue *c = catalogue();
    Str name = normal(a, model);

    if (!name.n || str_eqz(name, "none"))
        return STR("");
    if (contains(name, STR("/")))
        return before(name, '/');
    for (size_t i = 0; i < c->n_providers; i++)
        if (contains(name, c->providers[i]))
            return str_eqz(c->providers[i], "gemini") ? STR("google") : c->providers[i];
    return before(before(name, ':'), '-');
}

bool model_is_local(Arena *a, Str model)
{
    const Catalogue *c = catalogue();
    Str name = normal(a, model);

    if (str_eqz(name, "none"))
        return false;
    for (size_t i = 0; i < c->n_local_marks; i++)
        if (contains(name, c->local_marks[i]))
            return true;
    return false;
}

bool model_counts(Str model)
{
    return model.n && !str_eqz(model, "None");
}
