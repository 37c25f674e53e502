/* take_codes.h - a session that waits for a terminal, under a code that works once.
 *
 * The code is shown in a chat and typed at a terminal within ten minutes; only its SHA-256 is kept.
 * On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_HANDOFF_TAKE_CODES_H
#define TALARIA_HANDOFF_TAKE_CODES_H

#include "store/own.h"

/* Ends the codes that the session had before. */
MUST_CHECK bool take_code_make(OwnStore *own, Arena *a, Str home, Str session_id, Str *ret_code,
                               Err *err);
/* ERR_NOT_FOUND: there is none, it was used, or it is over; the text does not tell which. */
MUST_CHECK bool take_code_find(OwnStore *own, Arena *a, Str code, Str *ret_home,
                               Str *ret_session_id, Err *err);
/* The same, and it is used from now on. */
MUST_CHECK bool take_code_use(OwnStore *own, Arena *a, Str code, Str *ret_home, Str *ret_session_id,
                              Err *err);

#endif
