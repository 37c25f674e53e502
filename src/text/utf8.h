/* utf8.h - code points, columns on a terminal, and text that is safe to show on one. */
#ifndef TALARIA_TEXT_UTF8_H
#define TALARIA_TEXT_UTF8_H

#include "base/arena.h"
#include "base/buf.h"

/* Takes one code point off *rest, which must not be empty. A byte that begins no valid
 * sequence is U+FFFD by itself. */
uint32_t utf8_next(Str *rest);

size_t utf8_put(char out[4], uint32_t code_point); /* bytes written */

/* How many bytes at the beginning are valid UTF-8; s.n when all are. */
size_t utf8_valid_prefix(Str s);
/* Valid UTF-8: what is not becomes U+FFFD. Returns s itself where nothing had to be done. */
Str utf8_repair(Arena *a, Str s);

/* The longest head of at most n bytes that ends between code points. */
Str utf8_head(Str s, size_t n);
/* The longest tail of at most n bytes that begins between code points. */
Str utf8_tail(Str s, size_t n);

/* The first n code points. */
Str utf8_first(Str s, size_t n);
size_t utf8_count(Str s); /* code points */

/* -- terminals -- */

size_t utf8_columns(Str s);

/* What can steer a terminal or turn the direction of text: C0, DEL, C1, and the marks of
 * direction. */
bool utf8_is_control(uint32_t c);

/* s on one line, at most `columns` wide, an ellipsis where it was cut; controls made visible. */
Str utf8_fit(Arena *a, Str s, size_t columns);

/* Appends s so that it cannot steer a terminal: escapes, controls and the marks that turn
 * the direction of text become visible. Line feeds and tabs stay when `lines` is true. */
void utf8_show(Buf *out, Str s, bool lines);

#endif
