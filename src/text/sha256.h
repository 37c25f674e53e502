/* sha256.h - SHA-256, for names that follow from content and for pins on files.
 *
 * Pure, thread-safe, no allocation but for the hexadecimal text and the HMAC. */
#ifndef TALARIA_TEXT_SHA256_H
#define TALARIA_TEXT_SHA256_H

#include "base/arena.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

void sha256(Str bytes, uint8_t ret[SHA256_BYTES]);

/* HMAC (RFC 2104) of bytes under a key of any length. */
void hmac_sha256(Str key, Str bytes, uint8_t ret[SHA256_BYTES]);

/* 64 lower-case hexadecimal digits. */
Str sha256_hex(Arena *a, Str bytes);

#endif
