/* Which roles are ours, guild by guild. Who types '@' and a bot's name is offered the role that
 * Discord made for the bot as well as the bot, and a message that names the role names us. Discord
 * tells our roles with each guild and where they change; a session that was resumed was told
 * earlier, so a guild that is not known is asked for. The parser knows no guilds: those of our
 * roles that a message names are written beside it. The link's thread alone. */
#include "base/log.h"
#include "platforms/discord/inside.h"

enum { MAX_ROLES = 256, MAX_GUILDS = 4096 };

struct Roles {
    Roles *next;
    Snow guild;
    size_t n;
    Snow all[];
};

Roles *roles_free(Roles *all)
{
    while (all) {
        Roles *next = all->next;

        mem_free(all);
        all = next;
    }
    return NULL;
}

static Roles **find(DiscordSocket *l, Str guild)
{
    Roles **r = &l->roles;

    while (*r && !str_eq(snow_str(&(*r)->guild), guild))
        r = &(*r)->next;
    return r;
}

void roles_learn(DiscordSocket *l, Str guild, const PyValue *member)
{
    const PyValue *roles = update_get(member, "roles");
    size_t n = roles->type == PY_LIST ? roles->n : 0;
    Roles **at = find(l, guild), *r;
    Snow number;

    if (!snow_set(&number, guild) || (!*at && l->roles_n == MAX_GUILDS))
        return;
    n = n < MAX_ROLES ? n : MAX_ROLES;
    r = mem_alloc(sizeof *r + n * sizeof r->all[0]);
    r->guild = number;
    for (size_t i = 0; i < n; i++)
        if (roles->items[i].type == PY_STR && snow_set(&r->all[r->n], roles->items[i].text))
            r->n++;
    if (*at)
        r->next = (*at)->next;
    else
        l->roles_n++;
    mem_free(*at);
    *at = r;
}

/* What cannot be learned now is not ours now; it is asked for again with the next message that
 * names a role. */
static const Roles *roles_of(Connection *c, Arena *a, Str guild)
{
    Rest rest;
    Err err;

    if (*find(&c->link, guild) || !c->me.z[0])
        return *find(&c->link, guild);
    discord_link_beat(c);
    if (rest_call(c, a,
                  &(Ask){ .method = "GET",
                          .path = str_printf(a, "/guilds/%.*s/members/%s", STR_FMT(guild), c->me.z),
                          .until = discord_soon() },
                  &rest, &err))
        roles_learn(&c->link, guild, &rest.v);
    else
        log_debug("discord: %s", err.text);
    return *find(&c->link, guild);
}

static bool is_ours(const Roles *r, Str role)
{
    for (size_t i = 0; r && i < r->n; i++)
        if (str_eq(snow_str(&r->all[i]), role))
            return true;
    return false;
}

void roles_write(Connection *c, Arena *a, const PyValue *message, Str guild, Buf *out)
{
    const PyValue *named = update_get(message, "mention_roles");
    JsonWriter w = JSON_WRITER(out, 0);
    const Roles *ours;

    if (named->type != PY_LIST || !named->n || !snow_number(guild))
        return;
    ours = roles_of(c, a, guild);
    buf_addz(out, ",\"our_roles\":");
    json_begin(&w, '[');
    for (uint32_t i = 0; i < named->n; i++)
        if (named->items[i].type == PY_STR && is_ours(ours, named->items[i].text))
            json_put_str(&w, named->items[i].text);
    json_end(&w, ']');
}
