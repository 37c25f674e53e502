/* take_codes.h - a session that waits for a terminal, under a code that works once.
 *
 * The code is shown in a chat and typed at a terminal within ten minutes; only its SHA-256 is kept. On a Journal,
 * so one thread; text lives in the arena. */
#ifndef TALARIA_STORE_TAKE_CODES_H
#define TALARIA_STORE_TAKE_CODES_H

#include "handoff/handoff.h"

/* Eight characters of 32 that cannot be mistaken for each other: 40 bits. The same for whoever asks to be let in. */
enum { CODE_CHARS = 8 };
void code_make(char ret[CODE_CHARS + 1]);
/* As it is kept: upper case, without what people put between the halves. Empty: it cannot be one. */
Str code_tidy(Arena *a, Str typed);

/* Ends the codes that the session had before. */
MUST_CHECK bool take_code_make(Journal *j, Arena *a, Str home, Str session_id, Str *ret_code,
                               Err *err);
/* ERR_NOT_FOUND: there is none, it was used, or it is over; the text does not tell which. */
MUST_CHECK bool take_code_find(Journal *j, Arena *a, Str code, Str *ret_home, Str *ret_session_id,
                               Err *err);
/* The same, and it is used from now on. */
MUST_CHECK bool take_code_use(Journal *j, Arena *a, Str code, Str *ret_home, Str *ret_session_id,
                              Err *err);

#endif
