/* keys.h - what a terminal sends: characters, and pastes as one piece.
 *
 * A terminal that was asked for it puts a paste between two marks (bracketed paste). Between them
 * nothing is a key: a line feed in a paste does not send, an escape does not steer. Everything else
 * is handed on code point by code point, so that the line editor's own tables see arrows and the
 * like as before. Pure: bytes in, keys out, the same however they are cut. Not thread-safe. */
#ifndef TALARIA_TERMINAL_KEYS_H
#define TALARIA_TERMINAL_KEYS_H

#include "base/buf.h"

typedef enum KeyKind {
    KEY_NONE, /* nothing is there, or too little to tell */
    KEY_CHAR,
    KEY_PASTE /* keys->paste, until the next call */
} KeyKind;

typedef struct Keys {
    Buf raw;
    size_t at; /* what of raw was handed on */
    Buf paste;
    bool pasting, waits; /* waits: what is there may be the beginning of something */
} Keys;

void keys_init(Keys *k);
void keys_done(Keys *k);

void keys_feed(Keys *k, Str bytes);
/* enough: nothing more came for a while, so that what is there is all of it. */
KeyKind keys_next(Keys *k, bool enough, uint32_t *ret_char);
/* A paste whose end never came is given up. */
void keys_abort(Keys *k);

#endif
