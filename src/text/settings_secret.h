/* settings_secret.h - keys and tokens: never in config.yaml, never printed.
 *
 * A secret comes from the environment, or from a file of mode 0600 that the setting KEY_file names
 * (relative to the folder of config.yaml, or ~/..., or /...). 'config set KEY' writes such a file
 * below secrets/. */
#ifndef TALARIA_TEXT_SETTINGS_SECRET_H
#define TALARIA_TEXT_SETTINGS_SECRET_H

#include "text/settings.h"

/* X("key", setting that names its file, "variable of the environment", "what it is") */
#define SECRETS(X)                                                                                 \
    X("model.api_key", SETTING_MODEL_API_KEY_FILE, "TALARIA_MODEL_KEY", "API key of the model")    \
    X("hermes.api_key", SETTING_HERMES_API_KEY_FILE, "API_SERVER_KEY",                             \
      "API key of the Hermes API server")                                                          \
    X("platforms.telegram.token", SETTING_TELEGRAM_TOKEN_FILE, "TALARIA_TELEGRAM_TOKEN",           \
      "token of the Telegram bot")                                                                 \
    X("platforms.discord.token", SETTING_DISCORD_TOKEN_FILE, "TALARIA_DISCORD_TOKEN",              \
      "token of the Discord bot")                                                                  \
    X("platforms.slack.token", SETTING_SLACK_TOKEN_FILE, "TALARIA_SLACK_TOKEN",                    \
      "bot token of the Slack app (xoxb-...)")                                                     \
    X("platforms.slack.app_token", SETTING_SLACK_APP_TOKEN_FILE, "TALARIA_SLACK_APP_TOKEN",        \
      "app-level token of the Slack app (xapp-...), for Socket Mode")                              \
    X("platforms.slack.signing_secret", SETTING_SLACK_SIGNING_SECRET_FILE,                         \
      "TALARIA_SLACK_SIGNING_SECRET", "signing secret of the Slack app, for the Events API")

typedef struct SecretInfo {
    const char *key;
    SettingId file;
    const char *variable, *help;
} SecretInfo;

extern const SecretInfo secret_infos[];
extern const size_t secret_count;

/* models.NAME.api_key counts as model.api_key. NULL: the key is not a secret. */
const SecretInfo *secret_info(Str key);

/* The content of the file that `id` names, without line breaks around it; empty where none is
 * named. ERR_REFUSED: others can read the file. ERR_NOT_FOUND, ERR_IO: it cannot be read now. */
MUST_CHECK bool secret_read(Arena *a, const Settings *s, SettingId id, Str *ret, Err *err);

/* Where a secret comes from: the variable or the file; p NULL: it is not set. */
Str secret_source(Arena *a, const Settings *s, const SecretInfo *info);

/* A secret becomes part of a header or a path: one word of printable ASCII. */
MUST_CHECK bool secret_check(Str key, Str secret, Err *err);

#endif
