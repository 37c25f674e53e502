/* What a Hermes is configured with, read and never written.
 *
 * Its gateway.json, config.yaml and .env become the variables that Hermes itself would fill from
 * them, so that there is one table of what a variable means. JSON is read as YAML, which it is. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "platforms/config.h"
#include "text/yml.h"

/* X(variable, PLATFORM, field) */
#define ONE_PLATFORM(X, NAME)                                                                      \
    X(#NAME "_BOT_TOKEN", NAME, token)                                                             \
    X(#NAME "_HOME_CHANNEL", NAME, home_channel)                                                   \
    X(#NAME "_HOME_CHANNEL_THREAD_ID", NAME, home_thread)                                          \
    X(#NAME "_ALLOWED_USERS", NAME, allowed)
#define VARIABLES(X)                                                                               \
    ONE_PLATFORM(X, TELEGRAM)                                                                      \
    X("TELEGRAM_GROUP_ALLOWED_CHATS", TELEGRAM, allowed_chats)                                     \
    ONE_PLATFORM(X, DISCORD)                                                                       \
    X("DISCORD_ALLOWED_ROLES", DISCORD, allowed_roles)                                             \
    ONE_PLATFORM(X, SLACK)                                                                         \
    X("SLACK_APP_TOKEN", SLACK, app_token)                                                         \
    X("SLACK_SIGNING_SECRET", SLACK, signing_secret)

/* X(variable): "true" lets everybody in. */
#define EVERYBODY(X)                                                                               \
    X("TELEGRAM_ALLOW_ALL_USERS", TELEGRAM)                                                        \
    X("DISCORD_ALLOW_ALL_USERS", DISCORD)                                                          \
    X("SLACK_ALLOW_ALL_USERS", SLACK)

/* What is being read. */
typedef struct Hermes {
    Arena *arena;
    GatewayConfig *c;
    bool private;   /* nobody else can read the file, so its secrets count */
    Str everywhere; /* who may speak on every platform */
    bool everybody; /* where nobody is named */
} Hermes;

static bool is_true(Str s)
{
    return str_eq_nocase(s, STR("true")) || str_eqz(s, "1") || str_eq_nocase(s, STR("yes")) ||
           str_eq_nocase(s, STR("on"));
}

static void set(Hermes *h, Str variable, Str value)
{
    PlatformConfig *all = h->c->platforms;

    value = str_dup(h->arena, str_trim(value));
#define X(name, NAME, field)                                                                       \
    if (str_eqz(variable, name))                                                                   \
        gateway_config_put(&all[GATEWAY_##NAME], &all[GATEWAY_##NAME].field, value);
    VARIABLES(X)
#undef X
#define X(name, NAME)                                                                              \
    if (str_eqz(variable, name) && is_true(value))                                                 \
        all[GATEWAY_##NAME].allowed = STR("*");
    EVERYBODY(X)
#undef X
    if (str_eqz(variable, "GATEWAY_ALLOWED_USERS") && value.n)
        h->everywhere = value;
    if (str_eqz(variable, "GATEWAY_ALLOW_ALL_USERS") && value.n)
        h->everybody = is_true(value);
}

/* -- YAML -- */

/* At the top or below `gateway`; the top wins. */
static yaml_node_t *at_either(yaml_document_t *doc, const char *key)
{
    yaml_node_t *root = yaml_document_get_root_node(doc), *node = yml_member(doc, root, key);

    return node ? node : yml_member(doc, yml_member(doc, root, "gateway"), key);
}

/* A text, or the chat_id of a map. */
static Str channel_of(yaml_document_t *doc, yaml_node_t *node)
{
    return node && node->type == YAML_MAPPING_NODE ? yml_text(yml_member(doc, node, "chat_id"))
                                                   : yml_text(node);
}

/* A list, or a text with commas. */
static Str people_of(Arena *a, yaml_document_t *doc, yaml_node_t *node)
{
    AUTO_BUF b = BUF(LIMIT_PATH_BYTES);
    yaml_node_t *item;

    if (!node || node->type != YAML_SEQUENCE_NODE)
        return yml_text(node);
    for (size_t i = 0; (item = yml_item(doc, node, i)); i++)
        buf_addf(&b, "%s%.*s", b.n ? "," : "", STR_FMT(yml_text(item)));
    return str_dup(a, buf_str(&b));
}

static void keep(Hermes *h, PlatformConfig *p, Str *field, Str value)
{
    gateway_config_put(p, field, str_dup(h->arena, value));
}

/* "ignore" or "pair". */
static void take_strangers(yaml_node_t *node, PlatformConfig *p)
{
    if (yml_text(node).n)
        p->ignores_strangers = str_eqz(yml_text(node), "ignore");
}

static void take_home(Hermes *h, yaml_document_t *doc, yaml_node_t *node, PlatformConfig *p)
{
    keep(h, p, &p->home_channel, channel_of(doc, node));
    if (node && node->type == YAML_MAPPING_NODE) {
        keep(h, p, &p->home_thread, yml_text(yml_member(doc, node, "thread_id")));
        keep(h, p, &p->home_owner, yml_text(yml_member(doc, node, "user_id")));
    }
}

static void take_platform(Hermes *h, yaml_document_t *doc, yaml_node_t *node, GatewayPlatform which)
{
    PlatformConfig *p = &h->c->platforms[which];
    Str token = yml_text(yml_member(doc, node, "token"));

    if (h->private)
        keep(h, p, &p->token, token);
    else if (token.n)
        gateway_config_tell(
            LOG_WARNING,
            "ignoring the %s token in Hermes' configuration: other users can read the file",
            gateway_platform_name(which));
    take_home(h, doc, yml_member(doc, node, "home_channel"), p);
    take_strangers(yml_member(doc, node, "unauthorized_dm_behavior"), p);
    keep(h, p, &p->allowed, people_of(h->arena, doc, yml_member(doc, node, "allow_from")));
    keep(h, p, &p->allowed_chats,
         people_of(h->arena, doc, yml_member(doc, node, "group_allowed_chats")));
    if (str_eqz(yml_text(yml_member(doc, node, "enabled")), "false"))
        *p = (PlatformConfig){ 0 };
}

/* X(key): known to Hermes, and without effect here. */
#define UNFOLLOWED(X)                                                                              \
    X(session_reset)                                                                               \
    X(quick_commands)                                                                              \
    X(stt)                                                                                         \
    X(multiplex_profiles)                                                                          \
    X(profile_routes)                                                                              \
    X(max_concurrent_sessions)                                                                     \
    X(streaming)                                                                                   \
    X(reset_triggers)
#define UNFOLLOWED_OF_ONE(X)                                                                       \
    X(reply_to_mode)                                                                               \
    X(typing_indicator)                                                                            \
    X(channel_overrides)                                                                           \
    X(extra)

static void unfollowed(Hermes *h, const char *of, const char *key)
{
    Str *all = &h->c->unfollowed, one = str_printf(h->arena, "%s%s", of, key);

    if (str_find(*all, one) == all->n)
        *all = all->n ? str_printf(h->arena, "%.*s, %.*s", STR_FMT(*all), STR_FMT(one)) : one;
}

static void note_platform(Hermes *h, yaml_document_t *doc, yaml_node_t *node, const char *of)
{
#define X(key)                                                                                     \
    if (yml_member(doc, node, #key))                                                               \
        unfollowed(h, of, #key);
    UNFOLLOWED_OF_ONE(X)
#undef X
}

static void note_unfollowed(Hermes *h, yaml_document_t *doc, yaml_node_t *platforms)
{
#define X(key)                                                                                     \
    if (at_either(doc, #key))                                                                      \
        unfollowed(h, "", #key);
    UNFOLLOWED(X)
#undef X
#define X(name, NAME) note_platform(h, doc, yml_member(doc, platforms, #name), #name ".");
    GATEWAY_PLATFORMS(X)
#undef X
}

static void take_document(Hermes *h, yaml_document_t *doc)
{
    yaml_node_t *platforms = at_either(doc, "platforms");
    yaml_node_t *strangers = at_either(doc, "unauthorized_dm_behavior");
    yaml_node_t *group = at_either(doc, "group_sessions_per_user");
    yaml_node_t *thread = at_either(doc, "thread_sessions_per_user");
    GatewayConfig *c = h->c;

    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        if (i != GATEWAY_LOCAL)
            take_strangers(strangers, &c->platforms[i]);
#define X(name, NAME)                                                                              \
    if (GATEWAY_##NAME != GATEWAY_LOCAL && yml_member(doc, platforms, #name))                      \
        take_platform(h, doc, yml_member(doc, platforms, #name), GATEWAY_##NAME);
    GATEWAY_PLATFORMS(X)
#undef X
    if (yml_text(group).n)
        c->flags.group_per_user = is_true(yml_text(group));
    if (yml_text(thread).n)
        c->flags.thread_per_user = is_true(yml_text(thread));
    note_unfollowed(h, doc, platforms);
}

static void take_yaml(Hermes *h, const char *path, Str text)
{
    yaml_document_t doc;
    Err err;

    if (!yml_load(text, 1, &doc, &err)) {
        gateway_config_tell(LOG_WARNING, "ignoring '%s': %s", path, err.text);
        return;
    }
    take_document(h, &doc);
    yaml_document_delete(&doc);
}

/* -- .env -- */

static Str unquoted(Str s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
        return str_head(str_skip(s, 1), s.n - 2);
    return s;
}

static void take_env(Hermes *h, const char *path, Str text)
{
    Str line, name;

    if (!h->private) {
        gateway_config_tell(LOG_WARNING, "ignoring '%s': other users can read it", path);
        return;
    }
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("export ")))
            line = str_trim(str_skip(line, 7));
        if (!line.n || line.p[0] == '#' || !str_split(&line, '=', &name))
            continue;
        set(h, str_trim(name), unquoted(str_trim(line)));
    }
}

/* -- all of it -- */

static void take_file(Hermes *h, Str home, const char *name,
                      void (*take)(Hermes *, const char *, Str))
{
    const char *path = str_z(h->arena, str_join_path(h->arena, home, str_of(name)));
    struct stat st;
    Str text;
    Err err;

    if (stat(path, &st) != 0)
        return;
    h->private = (st.st_mode & 077) == 0;
    if (file_read(h->arena, path, LIMIT_CONFIG_BYTES, &text, &err))
        take(h, path, text);
    else
        gateway_config_tell(LOG_WARNING, "%s", err.text);
}

static void take_files(Hermes *h, Str home)
{
    take_file(h, home, "gateway.json", take_yaml);
    take_file(h, home, "config.yaml", take_yaml);
    take_file(h, home, ".env", take_env);
}

/* Who may speak everywhere may also do so on each; where nobody was named at all, everybody may be
 * meant. */
static void let_in(Hermes *h)
{
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        Str *allowed = &h->c->platforms[i].allowed;

        if (allowed->n && h->everywhere.n)
            *allowed = str_printf(h->arena, "%.*s,%.*s", STR_FMT(*allowed), STR_FMT(h->everywhere));
        else if (h->everywhere.n)
            *allowed = h->everywhere;
        else if (!allowed->n && h->everybody)
            *allowed = STR("*");
    }
}

void gateway_config_hermes(Arena *a, Str home, GatewayConfig *c)
{
    Hermes h = { .arena = a, .c = c };

    if (home.n)
        take_files(&h, home);
#define X(name, ...) set(&h, STR(name), str_of(getenv(name)));
    VARIABLES(X)
    EVERYBODY(X)
    X("GATEWAY_ALLOWED_USERS")
    X("GATEWAY_ALLOW_ALL_USERS")
#undef X
    let_in(&h);
}

/* Its variables are those of its own process, which we do not see: its files count. */
bool gateway_profile_shares(Str home, Str platform, const PlatformConfig *ours)
{
    AUTO(Arena) *a = arena_new();
    GatewayConfig c = { 0 };
    Hermes h = { .arena = a, .c = &c };
    const PlatformConfig *its;

    take_files(&h, home);
    its = gateway_config_of(&c, platform);
    return its && its->token.n && str_eq(its->token, ours->token) &&
           (!its->home_channel.n || str_eq(its->home_channel, ours->home_channel));
}

/* -- is it running? -- */

/* The kernel's list of locks is asked, not the lock: to try it would be to take it, for a moment. A
 * line is "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF". */
bool hermes_gateway_runs(Str home)
{
    AUTO(Arena) *a = arena_new();
    Str all, line, wanted;
    struct stat st;
    Err ignored;

    if (stat(str_z(a, str_join_path(a, home, STR("gateway.lock"))), &st) != 0 ||
        !file_read(a, "/proc/locks", MIB(4), &all, &ignored))
        return false;
    wanted = str_printf(a, " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
                        (unsigned long long)st.st_ino);
    while (str_split(&all, '\n', &line))
        if (str_find(line, wanted) < line.n && str_find(line, STR("->")) == line.n)
            return true;
    return false;
}
