/* Which platforms are served, with what: four layers, and secrets that must not be read by
 * others. */
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platforms/config.h"

typedef struct Scene {
    Arena *arena;
    char folder[64];
    Home home;
    Homes homes;
    Settings settings;
    GatewayConfig config;
    Err err;
} Scene;

static const char *const variables[] = { "TELEGRAM_BOT_TOKEN",
                                         "TELEGRAM_HOME_CHANNEL",
                                         "TELEGRAM_ALLOWED_USERS",
                                         "DISCORD_BOT_TOKEN",
                                         "DISCORD_ALLOW_ALL_USERS",
                                         "SLACK_BOT_TOKEN",
                                         "TALARIA_TELEGRAM_TOKEN",
                                         "TALARIA_TELEGRAM_API_BASE",
                                         "TALARIA_SLACK_APP_TOKEN",
                                         "GATEWAY_ALLOWED_USERS",
                                         "GATEWAY_ALLOW_ALL_USERS",
                                         "TALARIA_TELEGRAM_HOME_OWNER",
                                         "TELEGRAM_HOME_CHANNEL_THREAD_ID",
                                         "TELEGRAM_GROUP_ALLOWED_CHATS" };

static void setup(Scene *s)
{
    *s = (Scene){ .arena = arena_new(), .folder = "/tmp/talaria-config-XXXXXX" };
    assert_non_null(mkdtemp(s->folder));
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        unsetenv(variables[i]);
    s->home = (Home){ .kind = HOME_HERMES, .path = str_of(s->folder) };
    s->homes = (Homes){ .all = &s->home, .n = 1, .primary = &s->home };
    settings_defaults(&s->settings);
    s->settings.path = str_printf(s->arena, "%s/config-of-ours.yaml", s->folder);
}

static int remove_it(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void teardown(Scene *s)
{
    assert_int_equal(nftw(s->folder, remove_it, 8, FTW_DEPTH | FTW_PHYS), 0);
    arena_free(s->arena);
}

static void file(Scene *s, const char *name, int mode, const char *text)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, (mode_t)mode), 0);
    close(fd);
}

static bool load(Scene *s)
{
    return gateway_config(s->arena, &s->settings, &s->homes, &s->config, &s->err);
}

static void yaml(Scene *s, const char *text)
{
    if (!settings_parse(s->arena, str_of(text), &s->settings, &s->err))
        fail_msg("%s", s->err.text);
}

static const PlatformConfig *of(Scene *s, const char *name)
{
    return gateway_config_of(&s->config, str_of(name));
}

static void nothing_set(void **unused)
{
    Scene s;

    (void)unused;
    setup(&s);
    assert_true(load(&s));
    assert_true(of(&s, "local")->enabled);
    assert_false(of(&s, "telegram")->enabled);
    assert_null(of(&s, "irc"));
    assert_true(s.config.interrupts);
    assert_true(s.config.flags.group_per_user);
    yaml(&s, "platforms: {local: {enabled: false}}\ngateway: {busy: queue}\n");
    assert_true(load(&s));
    assert_false(of(&s, "local")->enabled);
    assert_false(s.config.interrupts);
    teardown(&s);
}

static void layers(void **unused)
{
    Scene s;

    (void)unused;
    setup(&s);
    file(&s, "gateway.json", 0600,
         "{\"platforms\": {\"telegram\": {\"token\": \"t-json\", \"home_channel\": {\"chat_id\": "
         "\"-1\"}}, \"discord\": {\"token\": \"d-json\"}}}");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t-json"));
    assert_str(of(&s, "telegram")->home_channel, STR("-1"));
    assert_true(of(&s, "discord")->enabled);
    file(&s, "config.yaml", 0600,
         "gateway:\n  thread_sessions_per_user: true\n  platforms:\n    telegram:\n      token: "
         "t-yaml\n      allow_from: [7, 8]\n    discord: {enabled: false}\n");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t-yaml"));
    assert_str(of(&s, "telegram")->allowed, STR("7,8"));
    assert_str(of(&s, "telegram")->home_channel, STR("-1"));
    assert_false(of(&s, "discord")->enabled);
    assert_true(s.config.flags.thread_per_user);
    file(
        &s, ".env", 0600,
        "# secrets\nexport TELEGRAM_BOT_TOKEN='t-env-file'\nOTHER=1\nDISCORD_ALLOW_ALL_USERS=true\n"
        "DISCORD_BOT_TOKEN=\"d-env\"\nDISCORD_ALLOWED_ROLES=801,802\n");
    assert_true(load(&s));
    assert_str(of(&s, "discord")->allowed_roles, STR("801,802"));
    assert_str(of(&s, "telegram")->token, STR("t-env-file"));
    assert_str(of(&s, "discord")->token, STR("d-env"));
    assert_str(of(&s, "discord")->allowed, STR("*"));
    setenv("TELEGRAM_BOT_TOKEN", "t-hermes", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t-hermes"));
    file(&s, "secret", 0600, " t-file\n");
    yaml(&s, "platforms:\n  telegram:\n    token_file: secret\n    allowed: '9'\n    api_base: "
             "http://127.0.0.1:1\n");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t-file"));
    assert_str(of(&s, "telegram")->allowed, STR("9"));
    setenv("TALARIA_TELEGRAM_TOKEN", "t-ours", 1);
    setenv("TALARIA_TELEGRAM_API_BASE", "http://127.0.0.1:2", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t-ours"));
    assert_str(of(&s, "telegram")->api_base, STR("http://127.0.0.1:2"));
    assert_str(of(&s, "telegram")->home_channel, STR("-1"));
    yaml(&s, "platforms: {telegram: {enabled: false}}\n");
    assert_true(load(&s));
    assert_false(of(&s, "telegram")->enabled);
    teardown(&s);
}

/* Who may speak, and where unasked words go, with all that Hermes knows of it. */
static void people_and_places(void **unused)
{
    Scene s;

    (void)unused;
    setup(&s);
    file(&s, "config.yaml", 0600,
         "unauthorized_dm_behavior: ignore\nsession_reset: {mode: idle}\nplatforms:\n  telegram:\n"
         "    token: t\n    home_channel: {chat_id: -5, thread_id: 9, user_id: 7}\n"
         "    channel_overrides: {}\n  discord: {token: d, unauthorized_dm_behavior: pair}\n"
         "  slack: {token: s, allow_from: [U1]}\n");
    file(&s, ".env", 0600,
         "GATEWAY_ALLOWED_USERS=7,8\nTELEGRAM_GROUP_ALLOWED_CHATS=-5\n"
         "GATEWAY_ALLOW_ALL_USERS=true\n");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->home_channel, STR("-5"));
    assert_str(of(&s, "telegram")->home_thread, STR("9"));
    assert_str(of(&s, "telegram")->home_owner, STR("7"));
    assert_str(of(&s, "telegram")->allowed, STR("7,8"));
    assert_str(of(&s, "telegram")->allowed_chats, STR("-5"));
    assert_str(of(&s, "slack")->allowed, STR("U1,7,8"));
    assert_true(of(&s, "telegram")->ignores_strangers);
    assert_false(of(&s, "discord")->ignores_strangers);
    assert_str(s.config.unfollowed, STR("session_reset, telegram.channel_overrides"));
    /* Everybody, where nobody is named. */
    file(&s, ".env", 0600, "GATEWAY_ALLOW_ALL_USERS=true\n");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->allowed, STR("*"));
    assert_str(of(&s, "slack")->allowed, STR("U1"));
    setenv("GATEWAY_ALLOW_ALL_USERS", "false", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->allowed, STR(""));
    /* Another chat is nobody's, and has no such thread. */
    setenv("TELEGRAM_HOME_CHANNEL", "-5", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->home_thread, STR("9"));
    setenv("TELEGRAM_HOME_CHANNEL", "-6", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->home_channel, STR("-6"));
    assert_str(of(&s, "telegram")->home_thread, STR(""));
    assert_str(of(&s, "telegram")->home_owner, STR(""));
    setenv("TELEGRAM_HOME_CHANNEL_THREAD_ID", "3", 1);
    setenv("TALARIA_TELEGRAM_HOME_OWNER", "4", 1);
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->home_thread, STR("3"));
    assert_str(of(&s, "telegram")->home_owner, STR("4"));
    teardown(&s);
}

/* What is said in a profile goes out through its own bot, to its own chat, or not at all. */
static void profiles(void **unused)
{
    static const struct {
        const char *config;
        int mode;
        bool shares;
    } rows[] = {
        { "platforms: {telegram: {token: t}}", 0600, true },
        { "platforms: {telegram: {token: t, home_channel: '5'}}", 0600, true },
        { "platforms: {telegram: {token: t, home_channel: '6'}}", 0600, false },
        { "platforms: {telegram: {token: other}}", 0600, false },
        { "platforms: {telegram: {token: t}}", 0644, false },
        { "platforms: {telegram: {token: t, enabled: false}}", 0600, false },
        { "platforms: {discord: {token: t}}", 0600, false },
        { "{broken", 0600, false },
    };
    PlatformConfig ours = { .token = STR("t"), .home_channel = STR("5") };
    Scene s;

    (void)unused;
    setup(&s);
    assert_false(gateway_profile_shares(s.home.path, STR("telegram"), &ours));
    setenv("TELEGRAM_BOT_TOKEN", "t", 1); /* is of our own process */
    assert_false(gateway_profile_shares(s.home.path, STR("telegram"), &ours));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        file(&s, "config.yaml", rows[i].mode, rows[i].config);
        assert_int_equal(gateway_profile_shares(s.home.path, STR("telegram"), &ours),
                         rows[i].shares);
    }
    teardown(&s);
}

/* A file with a secret that is not there may come; what is missing is named with the way to give
 * it. */
static void troubles(void **unused)
{
    Scene s;

    (void)unused;
    setup(&s);
    yaml(&s, "platforms: {telegram: {token_file: later}, discord: {enabled: false}}\n");
    assert_true(load(&s));
    assert_true(of(&s, "telegram")->enabled);
    assert_non_null(strstr(gateway_config_trouble(&s.config, STR("telegram")).p, "token_file"));
    assert_false(of(&s, "discord")->enabled);
    assert_str(
        gateway_config_trouble(&s.config, STR("discord")),
        STR("switched off; 'talaria config set platforms.discord.enabled true' turns it on"));
    assert_false(of(&s, "slack")->enabled);
    assert_str(
        gateway_config_trouble(&s.config, STR("slack")),
        STR("no token; run 'talaria setup' or 'talaria config set platforms.slack.token', or "
            "set TALARIA_SLACK_TOKEN"));
    assert_str(gateway_config_trouble(&s.config, STR("local")), STR(""));
    setenv("TALARIA_TELEGRAM_TOKEN", "t-ours", 1);
    assert_true(load(&s));
    assert_str(gateway_config_trouble(&s.config, STR("telegram")), STR(""));
    unsetenv("TALARIA_TELEGRAM_TOKEN");
    file(&s, "later", 0600, "t");
    assert_true(load(&s));
    assert_str(of(&s, "telegram")->token, STR("t"));
    assert_str(gateway_config_trouble(&s.config, STR("telegram")), STR(""));
    teardown(&s);
}

static void secrets(void **unused)
{
    static const char *const in_the_file[] = { "platforms: {telegram: {token: x}}",
                                               "platforms: {slack: {app_token: x}}",
                                               "platforms: {slack: {signing_secret: x}}" };
    Scene s;

    (void)unused;
    setup(&s);
    for (size_t i = 0; i < ARRAY_LEN(in_the_file); i++) {
        assert_false(settings_parse(s.arena, str_of(in_the_file[i]), &s.settings, &s.err));
        assert_non_null(strstr(s.err.text, "_file"));
        assert_null(strstr(s.err.text, "'x'"));
    }
    file(&s, "secret", 0640, "t");
    yaml(&s, "platforms: {telegram: {token_file: secret}}\n");
    assert_false(load(&s));
    assert_int_equal(s.err.kind, ERR_REFUSED);
    assert_non_null(strstr(s.err.text, "0600"));
    file(&s, "secret", 0600, "\n");
    assert_false(load(&s));
    file(&s, "secret", 0600, "two words");
    assert_false(load(&s));
    assert_null(strstr(s.err.text, "words"));
    file(&s, "secret", 0600, "t");
    assert_true(load(&s));
    /* Of others' files those that anybody can read are left out, and end nothing. */
    file(&s, ".env", 0644, "DISCORD_BOT_TOKEN=d\n");
    file(&s, "config.yaml", 0644, "platforms: {slack: {token: s, home_channel: C1}}\n");
    file(&s, "gateway.json", 0600, "{broken");
    assert_true(load(&s));
    assert_false(of(&s, "discord")->enabled);
    assert_false(of(&s, "slack")->enabled);
    assert_str(of(&s, "slack")->home_channel, STR("C1"));
    teardown(&s);
}

static int warnings;

static void count_warning(Str line, Buf *out)
{
    (void)out;
    warnings += str_find(line, STR("other users can read it")) < line.n;
}

/* A page that is looked at all day does not fill the log. */
static void told_once(void **unused)
{
    LogFilter *before;
    Scene s;

    (void)unused;
    setup(&s);
    file(&s, ".env", 0644, "DISCORD_BOT_TOKEN=d\n");
    warnings = 0;
    before = log_set_filter(count_warning);
    for (int i = 0; i < 5; i++)
        assert_true(load(&s));
    log_set_filter(before);
    assert_int_equal(warnings, 1);
    teardown(&s);
}

static void left_to_hermes(void **unused)
{
    struct flock whole = { .l_type = F_WRLCK };
    int ends[2], fd;
    char path[128];
    pid_t child;
    Scene s;
    char c;

    (void)unused;
    setup(&s);
    file(&s, ".env", 0600, "TELEGRAM_BOT_TOKEN=t\n");
    file(&s, "gateway.lock", 0600, "");
    assert_false(hermes_gateway_runs(s.home.path));
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        snprintf(path, sizeof path, "%s/gateway.lock", s.folder);
        fd = open(path, O_RDWR);
        c = fcntl(fd, F_SETLK, &whole) == 0 ? 'y' : 'n';
        (void)!write(ends[1], &c, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    assert_true(hermes_gateway_runs(s.home.path));
    assert_true(load(&s));
    assert_false(of(&s, "telegram")->enabled);
    setenv("TALARIA_TELEGRAM_TOKEN", "ours", 1);
    assert_true(load(&s));
    assert_true(of(&s, "telegram")->enabled);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(hermes_gateway_runs(s.home.path));
    close(ends[0]);
    close(ends[1]);
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set),       cmocka_unit_test(layers),
        cmocka_unit_test(troubles),          cmocka_unit_test(secrets),
        cmocka_unit_test(left_to_hermes),    cmocka_unit_test(told_once),
        cmocka_unit_test(people_and_places), cmocka_unit_test(profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
