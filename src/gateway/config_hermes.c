/* What a Hermes is configured with, read and never written.
 *
 * Its gateway.json, config.yaml and .env become the variables that Hermes itself would fill from them, so that
 * there is one table of what a variable means. JSON is read as YAML, which it is. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/config.h"
#include "text/yml.h"

/* X(variable, PLATFORM, field) */
#define VARIABLES(X)                                                                               \
    X("TELEGRAM_BOT_TOKEN", TELEGRAM, token)                                                       \
    X("TELEGRAM_HOME_CHANNEL", TELEGRAM, home_channel)                                             \
    X("TELEGRAM_ALLOWED_USERS", TELEGRAM, allowed)                                                 \
    X("DISCORD_BOT_TOKEN", DISCORD, token)                                                         \
    X("DISCORD_HOME_CHANNEL", DISCORD, home_channel)                                               \
    X("DISCORD_ALLOWED_USERS", DISCORD, allowed)                                                   \
    X("DISCORD_ALLOWED_ROLES", DISCORD, allowed_roles)                                             \
    X("SLACK_BOT_TOKEN", SLACK, token)                                                             \
    X("SLACK_APP_TOKEN", SLACK, app_token)                                                         \
    X("SLACK_SIGNING_SECRET", SLACK, signing_secret)                                               \
    X("SLACK_HOME_CHANNEL", SLACK, home_channel)                                                   \
    X("SLACK_ALLOWED_USERS", SLACK, allowed)

/* X(variable): "true" lets everybody in. */
#define EVERYBODY(X)                                                                               \
    X("TELEGRAM_ALLOW_ALL_USERS", TELEGRAM)                                                        \
    X("DISCORD_ALLOW_ALL_USERS", DISCORD)                                                          \
    X("SLACK_ALLOW_ALL_USERS", SLACK)

static bool is_true(Str s)
{
    return str_eq_nocase(s, STR("true")) || str_eqz(s, "1") || str_eq_nocase(s, STR("yes")) ||
           str_eq_nocase(s, STR("on"));
}

bool gateway_config_set(Arena *a, GatewayConfig *c, Str variable, Str value)
{
    value = str_dup(a, str_trim(value));
#define X(name, NAME, field)                                                                       \
    if (str_eqz(variable, name)) {                                                                 \
        if (value.n)                                                                               \
            c->platforms[GATEWAY_##NAME].field = value;                                            \
        return true;                                                                               \
    }
    VARIABLES(X)
#undef X
#define X(name, NAME)                                                                              \
    if (str_eqz(variable, name)) {                                                                 \
        if (is_true(value))                                                                        \
            c->platforms[GATEWAY_##NAME].allowed = STR("*");                                       \
        return true;                                                                               \
    }
    EVERYBODY(X)
#undef X
    return false;
}

/* -- YAML ------------------------------------------------------------------------------------------------ */

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

static void keep(Arena *a, Str *field, Str value)
{
    if (value.n)
        *field = str_dup(a, value);
}

/* `private`: nobody else can read the file, so its token counts. */
static void take_platform(Arena *a, yaml_document_t *doc, yaml_node_t *node, bool private,
                          GatewayPlatform which, GatewayConfig *c)
{
    PlatformConfig *p = &c->platforms[which];
    Str token = yml_text(yml_member(doc, node, "token"));

    if (private)
        keep(a, &p->token, token);
    else if (token.n)
        log_warning("the token of %s in Hermes' configuration is not used: others can read the "
                    "file",
                    gateway_platform_name(which));
    keep(a, &p->home_channel, channel_of(doc, yml_member(doc, node, "home_channel")));
    keep(a, &p->allowed, people_of(a, doc, yml_member(doc, node, "allow_from")));
    if (str_eqz(yml_text(yml_member(doc, node, "enabled")), "false"))
        *p = (PlatformConfig){ 0 };
}

static void take_document(Arena *a, yaml_document_t *doc, bool private, GatewayConfig *c)
{
    yaml_node_t *platforms = at_either(doc, "platforms");
    yaml_node_t *group = at_either(doc, "group_sessions_per_user");
    yaml_node_t *thread = at_either(doc, "thread_sessions_per_user");

#define X(name, NAME)                                                                              \
    if (GATEWAY_##NAME != GATEWAY_LOCAL && yml_member(doc, platforms, #name))                      \
        take_platform(a, doc, yml_member(doc, platforms, #name), private, GATEWAY_##NAME, c);
    GATEWAY_PLATFORMS(X)
#undef X
    if (yml_text(group).n)
        c->flags.group_per_user = is_true(yml_text(group));
    if (yml_text(thread).n)
        c->flags.thread_per_user = is_true(yml_text(thread));
}

static void take_yaml(Arena *a, const char *path, Str text, bool private, GatewayConfig *c)
{
    yaml_document_t doc;
    Err err;

    if (!yml_load(text, 1, &doc, &err)) {
        log_warning("'%s' is left out: %s", path, err.text);
        return;
    }
    take_document(a, &doc, private, c);
    yaml_document_delete(&doc);
}

/* -- .env ------------------------------------------------------------------------------------------------- */

static Str unquoted(Str s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
        return str_head(str_skip(s, 1), s.n - 2);
    return s;
}

static void take_env(Arena *a, const char *path, Str text, bool private, GatewayConfig *c)
{
    Str line, name;

    if (!private) {
        log_warning("'%s' is left out: others can read it", path);
        return;
    }
    while (str_split(&text, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("export ")))
            line = str_trim(str_skip(line, 7));
        if (!line.n || line.p[0] == '#' || !str_split(&line, '=', &name))
            continue;
        (void)gateway_config_set(a, c, str_trim(name), unquoted(str_trim(line)));
    }
}

/* -- all of it ---------------------------------------------------------------------------------------------- */

static void take_file(Arena *a, Str home, const char *name,
                      void (*take)(Arena *, const char *, Str, bool, GatewayConfig *),
                      GatewayConfig *c)
{
    const char *path = str_z(a, str_join_path(a, home, str_of(name)));
    struct stat st;
    Str text;
    Err err;

    if (stat(path, &st) != 0)
        return;
    if (file_read(a, path, LIMIT_CONFIG_BYTES, &text, &err))
        take(a, path, text, (st.st_mode & 077) == 0, c);
    else
        log_warning("%s", err.text);
}

void gateway_config_hermes(Arena *a, Str home, GatewayConfig *c)
{
    if (home.n) {
        take_file(a, home, "gateway.json", take_yaml, c);
        take_file(a, home, "config.yaml", take_yaml, c);
        take_file(a, home, ".env", take_env, c);
    }
#define X(name, ...) (void)gateway_config_set(a, c, STR(name), str_of(getenv(name)));
    VARIABLES(X)
    EVERYBODY(X)
#undef X
}

/* -- is it running? ------------------------------------------------------------------------------------------ */

/* The kernel's list of locks is asked, not the lock: to try it would be to take it, for a moment. A line is
 * "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF". */
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
