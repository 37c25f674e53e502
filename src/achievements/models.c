#include "achievements/models.h"

#include "text/utf8.h"

/* White space as Python's strip() sees it. */
static bool is_space(uint32_t c)
{
    return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Lower case for what occurs in model names: Latin, Greek and Cyrillic, and the dotted I. */
static void add_lower(Buf *out, uint32_t c)
{
    char utf8[4];

    if (c == 0x130) {
        buf_addz(out, "i\xcc\x87");
        return;
    }
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
        (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) || (c >= 0x410 && c <= 0x42f))
        c += 32;
    else if (c >= 0x400 && c <= 0x40f)
        c += 80;
    else if (c == 0x212a)
        c = 'k';
    else if ((c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177))
        c |= 1;
    buf_add(out, (Str){ utf8, utf8_put(utf8, c) });
}

/* Trimmed and in lower case. */
static Str normal(Arena *a, Str model)
{
    AUTO_BUF out = BUF(model.n * 3 + 4);
    size_t end = 0;
    bool begun = false;

    while (model.n) {
        uint32_t c = utf8_next(&model);

        if (is_space(c) && !begun)
            continue;
        begun = true;
        add_lower(&out, c);
        if (!is_space(c))
            end = out.n;
    }
    return str_dup(a, str_head(buf_str(&out), end));
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
