/* settings_write.h - changes of config.yaml and of the files beside it that hold secrets.
 *
 * Each change takes a lock, reads the file as it is then, edits its text (yml_edit.h) and replaces
 * it atomically: two programs that set different keys at the same time both succeed. The folder is
 * made with mode 0700, files with 0600. The Settings that were loaded are not changed. */
#ifndef TALARIA_TEXT_SETTINGS_WRITE_H
#define TALARIA_TEXT_SETTINGS_WRITE_H

#include "text/settings_secret.h"

/* The key as the table has it: "telegram.token" is short for "platforms.telegram.token". */
Str setting_full_key(Arena *a, Str key);

/* ERR_INVALID: no such setting, or a value that it does not take. */
MUST_CHECK bool settings_set(Arena *a, const Settings *s, Str key, Str value, Err *err);
/* *ret_found false: the file did not have it. */
MUST_CHECK bool settings_unset(Arena *a, const Settings *s, Str key, bool *ret_found, Err *err);

/* Into secrets/KEY beside config.yaml, which names that file from then on. */
MUST_CHECK bool secret_set(Arena *a, const Settings *s, Str key, Str secret, Err *err);
/* With its file, where 'config set' wrote it. */
MUST_CHECK bool secret_unset(Arena *a, const Settings *s, Str key, bool *ret_found, Err *err);

#endif
