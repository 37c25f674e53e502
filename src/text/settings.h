/* settings.h - config.yaml: every setting is one row here.
 *
 * The table makes the enum, the defaults, `talaria config` and the manual. A key that is not in the
 * table is an error that names the nearest one: a misspelt setting must not be ignored in silence.
 * Read once at the start of a command; immutable afterwards. */
#ifndef TALARIA_TEXT_SETTINGS_H
#define TALARIA_TEXT_SETTINGS_H

#include "base/arena.h"
#include "base/err.h"

/* What every chat platform with an account can be told. */
#define PLATFORM_SETTINGS(X, ID, name)                                                             \
    X(SETTING_##ID##_ENABLED, "platforms." name ".enabled", SETTING_BOOL, "true",                  \
      "serve " name "; it also needs a token")                                                     \
    X(SETTING_##ID##_TOKEN_FILE, "platforms." name ".token_file", SETTING_TEXT, "",                \
      "file with the bot's token that only you can read; or the token is in the environment")      \
    X(SETTING_##ID##_API_BASE, "platforms." name ".api_base", SETTING_TEXT, "",                    \
      "address of the platform's API; empty: the public one")                                      \
    X(SETTING_##ID##_HOME_CHANNEL, "platforms." name ".home_channel", SETTING_TEXT, "",            \
      "chat for what nobody asked for, until /sethome")                                            \
    X(SETTING_##ID##_ALLOWED, "platforms." name ".allowed", SETTING_TEXT, "",                      \
      "who may talk to it, by number: A,B; '*' for everyone; others ask by a code")

/* X(id, "key", kind, "default", "what it does") */
#define SETTINGS(X)                                                                                \
    X(SETTING_HOMES_PROFILES, "homes.profiles", SETTING_BOOL, "false",                             \
      "read the profiles of a Hermes home (profiles/*/state.db) as part of the history")           \
    X(SETTING_TEMPLATES_POLICY, "templates.policy", SETTING_CHOICE, "least-used|best",             \
      "which template 'templates inject' takes when none is named")                                \
    X(SETTING_ACHIEVEMENTS_TTL, "achievements.ttl", SETTING_INT, "120",                            \
      "seconds for which a scan of the achievements counts as fresh")                              \
    X(SETTING_COUNT_COMPACTED, "achievements.count.compacted", SETTING_BOOL, "false",              \
      "count rows that were compacted away, each once")                                            \
    X(SETTING_COUNT_ARCHIVED, "achievements.count.archived", SETTING_BOOL, "false",                \
      "count archived sessions")                                                                   \
    X(SETTING_COUNT_PROFILES, "achievements.count.profiles", SETTING_BOOL, "false",                \
      "count the profiles of a Hermes home")                                                       \
    X(SETTING_COUNT_ALL_MODELS, "achievements.count.all_models", SETTING_BOOL, "false",            \
      "count every model that a session used, not only its last")                                  \
    X(SETTING_COUNT_DOUBLE_ENCODED, "achievements.count.double_encoded", SETTING_BOOL, "false",    \
      "count tool calls that lie as JSON in a JSON string")                                        \
    X(SETTING_COUNT_MEMORY_WRITES, "achievements.count.memory_writes", SETTING_BOOL, "false",      \
      "count memory calls as writes only where they add or replace")                               \
    X(SETTING_MEMORY_BRAIN, "memory.brain", SETTING_TEXT, "notes",                                 \
      "folder of your notes that agents may quote; relative to our home, or ~/..., or /...")       \
    X(SETTING_MEMORY_SUMMARY_MODEL, "memory.summary_model", SETTING_TEXT, "",                      \
      "model that sums up long conversations, a name of 'models'; empty: sentences of their own")  \
    X(SETTING_CHAT_CANCEL, "chat.cancel_on_disconnect", SETTING_BOOL, "false",                     \
      "cancel a turn when the client that began it over HTTP goes away")                           \
    X(SETTING_LIST_LIMIT, "sessions.limit", SETTING_INT, "50",                                     \
      "how many sessions 'sessions list' shows")                                                   \
    X(SETTING_MODEL_BASE_URL, "model.base_url", SETTING_TEXT, "",                                  \
      "address of the model's API: https://host/v1")                                               \
    X(SETTING_MODEL_NAME, "model.name", SETTING_TEXT, "", "which model is asked there")            \
    X(SETTING_MODEL_DIALECT, "model.dialect", SETTING_CHOICE,                                      \
      "openai-chat|openai-responses|anthropic", "what the API speaks")                             \
    X(SETTING_MODEL_API_KEY_ENV, "model.api_key_env", SETTING_TEXT, "",                            \
      "name of the environment variable that holds the key; empty: no key is sent")                \
    X(SETTING_MODEL_API_KEY_FILE, "model.api_key_file", SETTING_TEXT, "",                          \
      "file with the key that only you can read; 'config set model.api_key' writes it")            \
    X(SETTING_MODEL_AT_ONCE, "model.at_once", SETTING_INT, "4",                                    \
      "how many calls of the model are out at a time")                                             \
    X(SETTING_MODEL_MAX_TOKENS, "model.max_tokens", SETTING_INT, "0",                              \
      "tokens of one answer; 0: as the server has it, 4096 where it must be told")                 \
    X(SETTING_MODEL_WINDOW, "model.window", SETTING_INT, "0",                                      \
      "tokens that the model takes; the oldest turns are left out for it; 0: not known")           \
    X(SETTING_MODEL_PRICE_INPUT, "model.price_input", SETTING_REAL, "0",                           \
      "price of a million tokens that go in, in your currency; 0: not known")                      \
    X(SETTING_MODEL_PRICE_OUTPUT, "model.price_output", SETTING_REAL, "0",                         \
      "price of a million tokens that come out; 0: not known")                                     \
    X(SETTING_MODEL_PROXY, "model.proxy", SETTING_TEXT, "",                                        \
      "URL of a proxy for the model; those of the environment are not used")                       \
    X(SETTING_MODEL_ALLOW_PLAIN, "model.allow_plain_http", SETTING_BOOL, "false",                  \
      "let the key go to another machine over http without TLS")                                   \
    X(SETTING_HERMES_BASE_URL, "hermes.base_url", SETTING_TEXT, "http://127.0.0.1:8642",           \
      "address of the API server of a Hermes")                                                     \
    X(SETTING_HERMES_API_KEY_ENV, "hermes.api_key_env", SETTING_TEXT, "",                          \
      "name of the environment variable that holds its key; empty: API_SERVER_KEY")                \
    X(SETTING_HERMES_API_KEY_FILE, "hermes.api_key_file", SETTING_TEXT, "",                        \
      "file with its key that only you can read; 'config set hermes.api_key' writes it")           \
    X(SETTING_HERMES_TRANSPORT, "hermes.transport", SETTING_CHOICE,                                \
      "auto|session|runs|responses|chat", "which of its routes is used; runs asks for approvals")  \
    X(SETTING_CLAUDE_BIN, "claude.bin", SETTING_TEXT, "claude", "the Claude Code program")         \
    X(SETTING_CODEX_BIN, "codex.bin", SETTING_TEXT, "codex", "the Codex program")                  \
    X(SETTING_CODEX_TRANSPORT, "codex.transport", SETTING_CHOICE, "auto|app-server|exec",          \
      "how Codex is talked to; auto: the app server where it has one")                             \
    X(SETTING_RUNTIMES_ENV, "runtimes.env", SETTING_TEXT, "",                                      \
      "further environment variables for Claude Code and Codex, by name: A,B")                     \
    X(SETTING_SLEEP_MAX_TASKS, "sleep.max_tasks_per_night", SETTING_INT, "40",                     \
      "tasks of a night, the most worthwhile first")                                               \
    X(SETTING_SLEEP_MAX_TOKENS, "sleep.max_tokens_per_night", SETTING_INT, "400000",               \
      "end a night after so many tokens; 0: never")                                                \
    X(SETTING_SLEEP_MAX_CALLS, "sleep.max_calls_per_night", SETTING_INT, "0",                      \
      "end a night after so many calls of the model; 0: never")                                    \
    X(SETTING_SLEEP_MAX_MINUTES, "sleep.max_minutes_per_night", SETTING_REAL, "0",                 \
      "end a night after so many minutes; 0: never")                                               \
    X(SETTING_SLEEP_MAX_USD, "sleep.max_usd_per_night", SETTING_REAL, "0",                         \
      "end a night after so much money, in the currency of the prices; 0: never")                  \
    X(SETTING_SLEEP_VAL_FRACTION, "sleep.val_fraction", SETTING_REAL, "0.34",                      \
      "share of the tasks that decides")                                                           \
    X(SETTING_SLEEP_TEST_FRACTION, "sleep.test_fraction", SETTING_REAL, "0",                       \
      "share of the tasks that only measures")                                                     \
    X(SETTING_SLEEP_SEED, "sleep.seed", SETTING_INT, "42",                                         \
      "of the split into tasks that teach, decide and measure")                                    \
    X(SETTING_SLEEP_EDIT_BUDGET, "sleep.edit_budget", SETTING_INT, "4",                            \
      "edits that may be proposed at a time")                                                      \
    X(SETTING_SLEEP_DREAM_ROLLOUTS, "sleep.dream_rollouts", SETTING_INT, "1",                      \
      "attempts at each task that teaches")                                                        \
    X(SETTING_SLEEP_DREAM_FACTOR, "sleep.dream_factor", SETTING_INT, "0",                          \
      "variants of each task that teaches")                                                        \
    X(SETTING_SLEEP_RECALL_K, "sleep.recall_k", SETTING_INT, "0",                                  \
      "tasks of earlier nights that are looked at again")                                          \
    X(SETTING_SLEEP_GATE_MODE, "sleep.gate_mode", SETTING_CHOICE, "on|off",                        \
      "off: propose every edit that applies, without proof")                                       \
    X(SETTING_SLEEP_GATE_METRIC, "sleep.gate_metric", SETTING_CHOICE, "mixed|hard|soft",           \
      "what the gate compares: all checks, their share, or both")                                  \
    X(SETTING_SLEEP_GATE_MIXED_WEIGHT, "sleep.gate_mixed_weight", SETTING_REAL, "0.5",             \
      "weight of the share in mixed, from 0 to 1")                                                 \
    X(SETTING_SLEEP_GATE_NO_REGRESSION, "sleep.gate_no_regression", SETTING_BOOL, "true",          \
      "block edits that make a single task worse")                                                 \
    X(SETTING_SLEEP_OBJECTIVE, "sleep.objective", SETTING_TEXT, "1,0,0",                           \
      "weights of accuracy, tokens and latency")                                                   \
    X(SETTING_SLEEP_PREFERENCES, "sleep.preferences", SETTING_TEXT, "",                            \
      "what reflection should know of your taste")                                                 \
    X(SETTING_SLEEP_EVOLVE_SKILL, "sleep.evolve_skill", SETTING_BOOL, "true", "let skills learn")  \
    X(SETTING_SLEEP_EVOLVE_MEMORY, "sleep.evolve_memory", SETTING_BOOL, "true",                    \
      "let the project's CLAUDE.md learn")                                                         \
    X(SETTING_SLEEP_LLM_MINE, "sleep.llm_mine", SETTING_BOOL, "true",                              \
      "ask the model what tasks are about, where rules do not tell")                               \
    X(SETTING_SLEEP_EVIDENCE_LOG, "sleep.evidence_log", SETTING_BOOL, "true",                      \
      "keep what was said and scored")                                                             \
    X(SETTING_SLEEP_EVIDENCE_MAX_CHARS, "sleep.evidence_max_chars", SETTING_INT, "4000",           \
      "characters of one text that is kept there, 200 at least")                                   \
    X(SETTING_GATEWAY_BUSY, "gateway.busy", SETTING_CHOICE, "interrupt|queue",                     \
      "what a message does while an answer is on its way: end it, or wait")                        \
    X(SETTING_LOCAL_ENABLED, "platforms.local.enabled", SETTING_BOOL, "true",                      \
      "serve the chat of our own page")                                                            \
    PLATFORM_SETTINGS(X, TELEGRAM, "telegram")                                                     \
    PLATFORM_SETTINGS(X, DISCORD, "discord")                                                       \
    X(SETTING_DISCORD_ALLOWED_ROLES, "platforms.discord.allowed_roles", SETTING_TEXT, "",          \
      "roles whose members may talk to it in servers, by number: A,B")                             \
    PLATFORM_SETTINGS(X, SLACK, "slack")                                                           \
    X(SETTING_SLACK_APP_TOKEN_FILE, "platforms.slack.app_token_file", SETTING_TEXT, "",            \
      "file with the app's token, for Socket Mode")                                                \
    X(SETTING_SLACK_SIGNING_SECRET_FILE, "platforms.slack.signing_secret_file", SETTING_TEXT, "",  \
      "file with the secret that signs what the Events API sends")

typedef enum SettingKind {
    SETTING_BOOL,
    SETTING_INT,
    SETTING_REAL, /* a number, not negative */
    SETTING_CHOICE,
    SETTING_TEXT
} SettingKind;

typedef enum SettingId {
#define X(id, key, kind, fallback, help) id,
    SETTINGS(X)
#undef X
        SETTING_COUNT
} SettingId;

typedef struct SettingInfo {
    const char *key;
    SettingKind kind;
    const char *fallback; /* of a choice: the choices, the first is the default */
    const char *help;
} SettingInfo;

/* One of several models, `models.NAME`: the rows of `model` for it, p NULL where nothing is said. */
typedef struct NamedModel {
    Str name;
    Str values[SETTING_COUNT];
} NamedModel;

typedef struct Settings {
    Str path; /* of the file, also where there is none */
    bool found;
    struct {
        Str text;
        bool given; /* in the file */
    } values[SETTING_COUNT];
    NamedModel *models;
    size_t n_models;
} Settings;

extern const SettingInfo setting_infos[SETTING_COUNT];

/* $XDG_CONFIG_HOME/talaria/config.yaml; no file: all defaults. Errors name file, line and key. */
Str settings_path(Arena *a); /* empty: there is no home folder */
void settings_defaults(Settings *ret);
MUST_CHECK bool settings_load(Arena *a, Settings *ret, Err *err);
MUST_CHECK bool settings_parse(Arena *a, Str yaml, Settings *s, Err *err);
bool setting_is_secret(Str key); /* settings_secret.h */
/* Whether config.yaml may hold this: the key exists, is not a secret, and the value is one that it takes. */
MUST_CHECK bool setting_check(Arena *a, Str key, Str value, Err *err);

bool setting_bool(const Settings *s, SettingId id);
int64_t setting_int(const Settings *s, SettingId id);
double setting_real(const Settings *s, SettingId id);
Str setting_text(const Settings *s, SettingId id);

const NamedModel *settings_model(const Settings *s, Str name); /* NULL: there is none */

#endif
