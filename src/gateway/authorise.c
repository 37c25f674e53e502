#include "gateway/authorise.h"

#include "chat/home_channels.h"
#include "chat/people.h"

static Str before_at(Str s)
{
    Str rest = s, head = s;

    (void)str_split(&rest, '@', &head);
    return head;
}

static bool has_one(Str list, Str id, bool everyone)
{
    Str one;

    while (list.n && str_split(&list, ',', &one)) {
        one = str_trim(one);
        if (!one.n)
            continue;
        if (str_eqz(one, "*") ? everyone : str_eq(one, id) || str_eq(one, before_at(id)))
            return true;
    }
    return false;
}

bool is_listed(Str list, Str user_id)
{
    return has_one(list, user_id, true);
}

bool is_named(Str list, Str user_id)
{
    return has_one(list, user_id, false);
}

bool names_anyone(Str list)
{
    Str one;

    while (list.n && str_split(&list, ',', &one))
        if (str_trim(one).n && !str_eqz(str_trim(one), "*"))
            return true;
    return false;
}

/* Whether one of `roles` is in the list, by id; '*' does not count, it would allow everyone who has
 * any role. */
static bool has_listed_role(Str list, Str roles)
{
    Str one, role, rest;

    while (list.n && str_split(&list, ',', &one))
        for (rest = roles; rest.n && str_split(&rest, ',', &role);)
            if (str_trim(one).n && str_eq(str_trim(one), role))
                return true;
    return false;
}

/* Only a user id in the list counts as named: '*', a pairing code, a role or an open group do not.
 * A chat that others can read is not private. */
Trust trust_at(const PlatformConfig *config, const ChatAddress *at)
{
    if (str_eqz(at->platform, "local"))
        return TRUST_OWNER;
    if (!config || !at->user_id.n || !is_named(config->allowed, at->user_id))
        return TRUST_GUEST;
    return str_eqz(at->chat_type, "dm") ? TRUST_OWNER : TRUST_NAMED;
}

Str authorise_words(Arena *a, Str code)
{
    return str_printf(a,
                      "You do not have access yet. The owner of this agent can approve you within "
                      "an hour with:\n\ntalaria gateway pair approve %.*s",
                      STR_FMT(code));
}

/* NULL: it is for us. */
static const char *not_for_us(OwnStore *own, const Inbound *in, bool *ret_failed, Err *err)
{
    bool ours = false;

    *ret_failed = false;
    if (in->by_us)
        return "our own words";
    if (in->by_bot)
        return "of a bot";
    if (in->addressed || str_eqz(in->place.chat_type, "dm"))
        return NULL;
    *ret_failed = !topic_is_ours(own, &in->place, &ours, err);
    return ours ? NULL : "not addressed to us";
}

/* A group in which everyone may speak. */
static bool is_open_chat(const PlatformConfig *config, const ChatAddress *at)
{
    return config && !str_eqz(at->chat_type, "dm") &&
           (is_named(config->allowed_chats, at->chat_id) ||
            (at->parent_chat_id.n && is_named(config->allowed_chats, at->parent_chat_id)));
}

static bool judge_stranger(OwnStore *own, Arena *a, const PlatformConfig *config, const Inbound *in,
                           Verdict *ret, Err *err)
{
    if (!str_eqz(in->place.chat_type, "dm")) {
        ret->reason = "of a stranger in a group";
        return true;
    }
    ret->reason = "of a stranger";
    if (config && config->ignores_strangers)
        return true;
    return person_ask(own, a, in->place.platform, in->place.user_id, in->place.user_name,
                      &ret->code, err);
}

bool authorise(OwnStore *own, Arena *a, const PlatformConfig *config, const Inbound *in,
               Verdict *ret, Err *err)
{
    Verdict v = { .code = STR("") };
    bool failed, known = false;

    v.reason = not_for_us(own, in, &failed, err);
    if (failed)
        return false;
    v.quiet = v.reason != NULL;
    if (!v.reason && str_eqz(in->place.platform, "local")) {
        v.may = true;
    } else if (!v.reason && !in->place.user_id.n) {
        v.reason = "of nobody";
    } else if (!v.reason) {
        known = config && (is_listed(config->allowed, in->place.user_id) ||
                           has_listed_role(config->allowed_roles, in->roles) ||
                           is_open_chat(config, &in->place));
        if (!known && !person_is_allowed(own, in->place.platform, in->place.user_id, &known, err))
            return false;
        v.may = known;
        if (!known && !judge_stranger(own, a, config, in, &v, err))
            return false;
    }
    if (v.may)
        v.trust = trust_at(config, &in->place);
    *ret = v;
    return true;
}
