/* What is known of Discord's channels. A message names its channel and no more; whether that is a
 * thread, and of what, was said when the guild or the thread came up. After a restart that
 * continues with the old session nobody says it again: then it is asked for, once. */
#include <uthash.h>

#include "base/limits.h"
#include "platforms/discord/inside.h"

struct Channel {
    UT_hash_handle hh;
    Snow id, guild, parent;
    int type;
    char *name;
};

/* -- under the lock -- */

static Channel *find(Connection *c, Str id)
{
    Channel *found;

    HASH_FIND(hh, c->channels, id.p, id.n, found);
    return found;
}

static void drop(Connection *c, Channel *gone)
{
    HASH_DEL(c->channels, gone);
    c->channels_n--;
    mem_free(gone->name);
    mem_free(gone);
}

static Channel *find_or_make(Connection *c, Str id)
{
    Channel *found = find(c, id);

    if (found)
        return found;
    if (c->channels_n >= LIMIT_DISCORD_CHANNELS)
        drop(c, c->channels); /* the oldest: it is asked for again when it is needed */
    found = mem_alloc(sizeof *found);
    (void)snow_set(&found->id, id);
    HASH_ADD_KEYPTR(hh, c->channels, found->id.z, id.n, found);
    c->channels_n++;
    return found;
}

/* -- for the others -- */

void channel_learn(Connection *c, const PyValue *channel, Str guild)
{
    Str id = update_text(channel, "id"), own = update_text(channel, "guild_id");
    int64_t type;
    Channel *known;

    if (!snow_number(id) || !str_to_int(update_text(channel, "type"), 0, 255, &type))
        return;
    pthread_mutex_lock(&c->wire.lock);
    known = find_or_make(c, id);
    known->type = (int)type;
    (void)snow_set(&known->guild, own.n ? own : guild);
    (void)snow_set(&known->parent, update_text(channel, "parent_id"));
    mem_free(known->name);
    known->name = mem_strdup(str_head(update_text(channel, "name"), 400));
    pthread_mutex_unlock(&c->wire.lock);
}

void channel_forget(Connection *c, Str id)
{
    Channel *known;

    pthread_mutex_lock(&c->wire.lock);
    known = find(c, id);
    if (known)
        drop(c, known);
    pthread_mutex_unlock(&c->wire.lock);
}

Channel *channels_free(Channel *all)
{
    Channel *each, *next;

    HASH_ITER(hh, all, each, next)
    {
        HASH_DEL(all, each);
        mem_free(each->name);
        mem_free(each);
    }
    return NULL;
}

static bool from_memory(Connection *c, Arena *a, Str id, ChannelFacts *ret)
{
    const Channel *known;

    pthread_mutex_lock(&c->wire.lock);
    known = find(c, id);
    if (known)
        *ret = (ChannelFacts){ .type = known->type,
                               .guild = str_dup(a, snow_str(&known->guild)),
                               .parent = str_dup(a, snow_str(&known->parent)),
                               .name = str_dup(a, str_of(known->name)) };
    pthread_mutex_unlock(&c->wire.lock);
    return known != NULL;
}

bool channel_facts(Connection *c, Arena *a, Str id, int64_t until, ChannelFacts *ret, Err *err)
{
    Rest rest;

    if (from_memory(c, a, id, ret))
        return true;
    if (!snow_number(id))
        return err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(id));
    if (!rest_call(c, a,
                   &(Ask){ .method = "GET",
                           .path = str_printf(a, "/channels/%.*s", STR_FMT(id)),
                           .until = until },
                   &rest, err))
        return false;
    channel_learn(c, &rest.v, STR_NONE);
    if (!from_memory(c, a, id, ret))
        return err_set(err, ERR_CORRUPT, "discord did not return a channel");
    return true;
}

void channel_write(JsonWriter *w, const ChannelFacts *facts)
{
    json_begin(w, '{');
    json_field_int(w, "type", facts->type);
    json_field_str(w, "guild_id", facts->guild.n ? facts->guild : STR_NONE);
    json_field_str(w, "parent_id", facts->parent.n ? facts->parent : STR_NONE);
    json_field_str(w, "name", facts->name);
    json_end(w, '}');
}
