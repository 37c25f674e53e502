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
      "connect to " name " (also needs a token)")                                                  \
    X(SETTING_##ID##_TOKEN_FILE, "platforms." name ".token_file", SETTING_TEXT, "",                \
      "file with the bot token, readable only by you; a token in the environment works too")       \
    X(SETTING_##ID##_API_BASE, "platforms." name ".api_base", SETTING_TEXT, "",                    \
      "base URL of the platform's API; empty: the public one")                                     \
    X(SETTING_##ID##_HOME_CHANNEL, "platforms." name ".home_channel", SETTING_TEXT, "",            \
      "default chat for handoffs and notices, until /sethome")                                     \
    X(SETTING_##ID##_ALLOWED, "platforms." name ".allowed", SETTING_TEXT, "",                      \
      "user ids with access: A,B; '*' for everyone; others get a pairing code")

/* X(id, "key", kind, "default", "what it does") */
#define SETTINGS(X)                                                                                \
    X(SETTING_HOMES_PROFILES, "homes.profiles", SETTING_BOOL, "false",                             \
      "include Hermes profiles (profiles/*/state.db) in the history")                              \
    X(SETTING_TEMPLATES_POLICY, "templates.policy", SETTING_CHOICE, "least-used|best",             \
      "template that 'templates inject' picks when none is named")                                 \
    X(SETTING_ACHIEVEMENTS_TTL, "achievements.ttl", SETTING_INT, "120",                            \
      "seconds for which an achievements scan stays fresh")                                        \
    X(SETTING_COUNT_COMPACTED, "achievements.count.compacted", SETTING_BOOL, "false",              \
      "count messages removed by compaction, each once")                                           \
    X(SETTING_COUNT_ARCHIVED, "achievements.count.archived", SETTING_BOOL, "false",                \
      "count archived sessions")                                                                   \
    X(SETTING_COUNT_PROFILES, "achievements.count.profiles", SETTING_BOOL, "false",                \
      "count sessions of Hermes profiles")                                                         \
    X(SETTING_COUNT_ALL_MODELS, "achievements.count.all_models", SETTING_BOOL, "false",            \
      "count every model a session used, not only the last one")                                   \
    X(SETTING_COUNT_DOUBLE_ENCODED, "achievements.count.double_encoded", SETTING_BOOL, "false",    \
      "count tool calls stored as JSON inside a JSON string")                                      \
    X(SETTING_COUNT_MEMORY_WRITES, "achievements.count.memory_writes", SETTING_BOOL, "false",      \
      "count memory calls as writes only if they add or replace")                                  \
    X(SETTING_MEMORY_BRAIN, "memory.brain", SETTING_TEXT, "notes",                                 \
      "folder with notes that agents may quote: ~/..., /..., or relative to the data folder")      \
    X(SETTING_MEMORY_SUMMARY_MODEL, "memory.summary_model", SETTING_TEXT, "",                      \
      "name under 'models' of the model that summarizes long conversations; empty: excerpts")      \
    X(SETTING_CHAT_CANCEL, "chat.cancel_on_disconnect", SETTING_BOOL, "false",                     \
      "cancel a turn when the HTTP client that started it disconnects")                            \
    X(SETTING_LIST_LIMIT, "sessions.limit", SETTING_INT, "50",                                     \
      "number of sessions shown by 'sessions list'")                                               \
    X(SETTING_MODEL_BASE_URL, "model.base_url", SETTING_TEXT, "",                                  \
      "base URL of the model's API: https://host/v1")                                              \
    X(SETTING_MODEL_NAME, "model.name", SETTING_TEXT, "", "model name, as the API knows it")       \
    X(SETTING_MODEL_DIALECT, "model.dialect", SETTING_CHOICE,                                      \
      "openai-chat|openai-responses|anthropic", "protocol of the API")                             \
    X(SETTING_MODEL_API_KEY_ENV, "model.api_key_env", SETTING_TEXT, "",                            \
      "environment variable with the API key; empty: send no key")                                 \
    X(SETTING_MODEL_API_KEY_FILE, "model.api_key_file", SETTING_TEXT, "",                          \
      "file with the API key, readable only by you; 'config set model.api_key' writes it")         \
    X(SETTING_MODEL_AT_ONCE, "model.at_once", SETTING_INT, "4",                                    \
      "maximum number of concurrent model calls")                                                  \
    X(SETTING_MODEL_MAX_TOKENS, "model.max_tokens", SETTING_INT, "0",                              \
      "maximum tokens per answer; 0: the server's default, 4096 if the API requires a value")      \
    X(SETTING_MODEL_WINDOW, "model.window", SETTING_INT, "0",                                      \
      "context window in tokens; the oldest turns are dropped to fit; 0: unknown")                 \
    X(SETTING_MODEL_PRICE_INPUT, "model.price_input", SETTING_REAL, "0",                           \
      "price per million input tokens, in your currency; 0: unknown")                              \
    X(SETTING_MODEL_PRICE_OUTPUT, "model.price_output", SETTING_REAL, "0",                         \
      "price per million output tokens; 0: unknown")                                               \
    X(SETTING_MODEL_PROXY, "model.proxy", SETTING_TEXT, "",                                        \
      "proxy URL for the model; proxy variables in the environment are ignored")                   \
    X(SETTING_MODEL_ALLOW_PLAIN, "model.allow_plain_http", SETTING_BOOL, "false",                  \
      "allow sending the key to another machine over plain http")                                  \
    X(SETTING_HERMES_BASE_URL, "hermes.base_url", SETTING_TEXT, "http://127.0.0.1:8642",           \
      "base URL of the Hermes API server")                                                         \
    X(SETTING_HERMES_API_KEY_ENV, "hermes.api_key_env", SETTING_TEXT, "",                          \
      "environment variable with the Hermes API key; empty: API_SERVER_KEY")                       \
    X(SETTING_HERMES_API_KEY_FILE, "hermes.api_key_file", SETTING_TEXT, "",                        \
      "file with the Hermes API key, readable only by you; 'config set hermes.api_key' writes it") \
    X(SETTING_HERMES_TRANSPORT, "hermes.transport", SETTING_CHOICE,                                \
      "auto|session|runs|responses|chat", "Hermes API to use; 'runs' supports approvals")          \
    X(SETTING_CLAUDE_BIN, "claude.bin", SETTING_TEXT, "claude",                                    \
      "name or path of the Claude Code program")                                                   \
    X(SETTING_CODEX_BIN, "codex.bin", SETTING_TEXT, "codex", "name or path of the Codex program")  \
    X(SETTING_CODEX_TRANSPORT, "codex.transport", SETTING_CHOICE, "auto|app-server|exec",          \
      "how to run Codex; auto: the app server if available")                                       \
    X(SETTING_RUNTIMES_ENV, "runtimes.env", SETTING_TEXT, "",                                      \
      "additional environment variables to pass to Claude Code and Codex: A,B")                    \
    X(SETTING_SLEEP_MAX_TASKS, "sleep.max_tasks_per_night", SETTING_INT, "40",                     \
      "maximum tasks per night, the most valuable first")                                          \
    X(SETTING_SLEEP_MAX_TOKENS, "sleep.max_tokens_per_night", SETTING_INT, "400000",               \
      "token limit per night; 0: no limit")                                                        \
    X(SETTING_SLEEP_MAX_CALLS, "sleep.max_calls_per_night", SETTING_INT, "0",                      \
      "limit of model calls per night; 0: no limit")                                               \
    X(SETTING_SLEEP_MAX_MINUTES, "sleep.max_minutes_per_night", SETTING_REAL, "0",                 \
      "time limit per night in minutes; 0: no limit")                                              \
    X(SETTING_SLEEP_MAX_USD, "sleep.max_usd_per_night", SETTING_REAL, "0",                         \
      "cost limit per night, in the currency of the prices; 0: no limit")                          \
    X(SETTING_SLEEP_VAL_FRACTION, "sleep.val_fraction", SETTING_REAL, "0.34",                      \
      "share of tasks held out for validation")                                                    \
    X(SETTING_SLEEP_TEST_FRACTION, "sleep.test_fraction", SETTING_REAL, "0",                       \
      "share of tasks held out for the final test")                                                \
    X(SETTING_SLEEP_SEED, "sleep.seed", SETTING_INT, "42",                                         \
      "random seed of the split into training, validation and test tasks")                         \
    X(SETTING_SLEEP_EDIT_BUDGET, "sleep.edit_budget", SETTING_INT, "4",                            \
      "maximum number of edits proposed at once")                                                  \
    X(SETTING_SLEEP_DREAM_ROLLOUTS, "sleep.dream_rollouts", SETTING_INT, "1",                      \
      "attempts per training task")                                                                \
    X(SETTING_SLEEP_DREAM_FACTOR, "sleep.dream_factor", SETTING_INT, "0",                          \
      "generated variants per training task")                                                      \
    X(SETTING_SLEEP_RECALL_K, "sleep.recall_k", SETTING_INT, "0",                                  \
      "number of tasks replayed from earlier nights")                                              \
    X(SETTING_SLEEP_GATE_MODE, "sleep.gate_mode", SETTING_CHOICE, "on|off",                        \
      "on: propose only edits that improve the validation score; off: propose all")                \
    X(SETTING_SLEEP_GATE_METRIC, "sleep.gate_metric", SETTING_CHOICE, "mixed|hard|soft",           \
      "score to compare: hard (all checks pass), soft (share of checks), mixed (both)")            \
    X(SETTING_SLEEP_GATE_MIXED_WEIGHT, "sleep.gate_mixed_weight", SETTING_REAL, "0.5",             \
      "weight of the soft score in 'mixed', from 0 to 1")                                          \
    X(SETTING_SLEEP_GATE_NO_REGRESSION, "sleep.gate_no_regression", SETTING_BOOL, "true",          \
      "reject edits that make any task worse")                                                     \
    X(SETTING_SLEEP_OBJECTIVE, "sleep.objective", SETTING_TEXT, "1,0,0",                           \
      "weights of accuracy, tokens and latency")                                                   \
    X(SETTING_SLEEP_PREFERENCES, "sleep.preferences", SETTING_TEXT, "",                            \
      "your preferences, passed to the model that writes rules")                                   \
    X(SETTING_SLEEP_EVOLVE_SKILL, "sleep.evolve_skill", SETTING_BOOL, "true",                      \
      "propose changes to skills")                                                                 \
    X(SETTING_SLEEP_EVOLVE_MEMORY, "sleep.evolve_memory", SETTING_BOOL, "true",                    \
      "propose changes to the project's CLAUDE.md")                                                \
    X(SETTING_SLEEP_LLM_MINE, "sleep.llm_mine", SETTING_BOOL, "true",                              \
      "use the model to classify tasks that the built-in rules cannot")                            \
    X(SETTING_SLEEP_EVIDENCE_LOG, "sleep.evidence_log", SETTING_BOOL, "true",                      \
      "keep transcripts and scores of each night")                                                 \
    X(SETTING_SLEEP_EVIDENCE_MAX_CHARS, "sleep.evidence_max_chars", SETTING_INT, "4000",           \
      "maximum characters kept per text, at least 200")                                            \
    X(SETTING_GATEWAY_BUSY, "gateway.busy", SETTING_CHOICE, "interrupt|queue",                     \
      "what a new message does while the agent is answering: interrupt it, or wait")               \
    X(SETTING_LOCAL_ENABLED, "platforms.local.enabled", SETTING_BOOL, "true",                      \
      "serve the local chat on Talaria's page")                                                    \
    PLATFORM_SETTINGS(X, TELEGRAM, "telegram")                                                     \
    PLATFORM_SETTINGS(X, DISCORD, "discord")                                                       \
    X(SETTING_DISCORD_ALLOWED_ROLES, "platforms.discord.allowed_roles", SETTING_TEXT, "",          \
      "ids of roles whose members have access in servers: A,B")                                    \
    PLATFORM_SETTINGS(X, SLACK, "slack")                                                           \
    X(SETTING_SLACK_APP_TOKEN_FILE, "platforms.slack.app_token_file", SETTING_TEXT, "",            \
      "file with the app token, for Socket Mode")                                                  \
    X(SETTING_SLACK_SIGNING_SECRET_FILE, "platforms.slack.signing_secret_file", SETTING_TEXT, "",  \
      "file with the signing secret of the Events API")

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

/* One of several models, `models.NAME`: the rows of `model` for it, p NULL where nothing is
 * said. */
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
/* Whether config.yaml may hold this: the key exists, is not a secret, and the value is one that it
 * takes. */
MUST_CHECK bool setting_check(Arena *a, Str key, Str value, Err *err);

bool setting_bool(const Settings *s, SettingId id);
int64_t setting_int(const Settings *s, SettingId id);
double setting_real(const Settings *s, SettingId id);
Str setting_text(const Settings *s, SettingId id);

const NamedModel *settings_model(const Settings *s, Str name); /* NULL: there is none */

#endif
