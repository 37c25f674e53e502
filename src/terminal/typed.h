/* typed.h - what was typed in earlier chats, for the arrow keys.
 *
 * One JSON string a line in `chat-history` of our own home, 0600: a message of several lines is one
 * entry. An entry is appended when it is sent, so that chats side by side and one that dies lose
 * nothing; reading keeps the newest LIMIT_CHAT_HISTORY and rewrites the file if there are twice as
 * many. */
#ifndef TALARIA_TERMINAL_TYPED_H
#define TALARIA_TERMINAL_TYPED_H

#include "base/arena.h"
#include "base/err.h"

/* Oldest first; other lines are skipped. No file: none. */
MUST_CHECK bool typed_load(Arena *a, Str folder, Str **ret, size_t *ret_n, Err *err);
MUST_CHECK bool typed_append(Arena *a, Str folder, Str entry, Err *err);

#endif
