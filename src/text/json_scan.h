/* json_scan.h - one JSON value as the places of its tokens, for readers of millions of lines.
 *
 * Where json.h builds a document, this only finds where each token begins (simdjson's first stage),
 * checks that they nest as JSON does, and leaves all text in place. A string costs nothing until
 * it is unescaped; a value that is not needed is skipped in one jump. No memory is taken per
 * line once the arrays have grown to the longest.
 *
 * A JsonTok is an index into the tokens of the last scan. Asking a token for something that it is
 * not gives an empty Str, false or JSON_TOK_NONE. One thread a JsonScan. */
#ifndef TALARIA_TEXT_JSON_SCAN_H
#define TALARIA_TEXT_JSON_SCAN_H

#include "base/arena.h"

typedef struct JsonScan {
    const char *p;
    const uint32_t *at; /* where each token begins */
    uint32_t n;
    uint32_t *close; /* of an opening bracket: the token that closes it */
    size_t close_cap;
    void *stage; /* simdjson's */
} JsonScan;

typedef uint32_t JsonTok;
#define JSON_TOK_NONE UINT32_MAX

typedef enum ScanResult { SCAN_OK, SCAN_BROKEN, SCAN_NOT_UTF8 } ScanResult;

/* `max`: the longest text that will be scanned. */
JsonScan *json_scan_new(size_t max);
JsonScan *json_scan_free(JsonScan *s);
AUTO_FREE(JsonScan, json_scan_free)

enum { JSON_SCAN_SLACK = 64 };

/* JSON_SCAN_SLACK bytes behind the text must be readable, the first of them white space or NUL; the
 * text is borrowed until the next scan. Token 0 is the value itself. */
ScanResult json_scan(JsonScan *s, Str text);

/* -- walking -- */

static inline char json_tok_char(const JsonScan *s, JsonTok t)
{
    return t == JSON_TOK_NONE ? '\0' : s->p[s->at[t]];
}

/* Behind a value: the comma or bracket that follows it. */
static inline JsonTok json_tok_after(const JsonScan *s, JsonTok t)
{
    char c = s->p[s->at[t]];

    return (c == '{' || c == '[' ? s->close[t] : t) + 1;
}

/* The insides of a string, still escaped; p NULL where it is none. */
static inline Str json_tok_raw(const JsonScan *s, JsonTok t)
{
    const char *from, *to;

    if (json_tok_char(s, t) != '"')
        return STR_NONE;
    from = s->p + s->at[t] + 1;
    /* Only white space is between the closing quote and the next token. */
    for (to = s->p + s->at[t + 1] - 1; *to != '"'; to--)
        ;
    return (Str){ from, (size_t)(to - from) };
}

/* The whole value, as it is written. */
Str json_tok_json(const JsonScan *s, JsonTok t);

/* JsonTok at = json_tok_first(s, v);  while (json_tok_next(s, &at, &key, &item)) ...
 * of an object or array; of anything else there is none. Keys are raw. */
static inline JsonTok json_tok_first(const JsonScan *s, JsonTok t)
{
    char c = json_tok_char(s, t);

    return c == '{' || c == '[' ? t : JSON_TOK_NONE;
}

static inline bool json_tok_next(const JsonScan *s, JsonTok *at, Str *ret_key, JsonTok *ret_item)
{
    JsonTok t = *at;
    char c;

    if (t == JSON_TOK_NONE)
        return false;
    c = s->p[s->at[++t]];
    if (c == '}' || c == ']')
        return false;
    if (c == '"' && s->p[s->at[t + 1]] == ':') {
        *ret_key = json_tok_raw(s, t);
        t += 2;
    } else {
        *ret_key = STR_NONE;
    }
    *ret_item = t;
    t = json_tok_after(s, t);
    *at = s->p[s->at[t]] == ',' ? t : JSON_TOK_NONE;
    return true;
}

JsonTok json_tok_get(const JsonScan *s, JsonTok object, Str key); /* the last one of that name */

bool json_tok_bool(const JsonScan *s, JsonTok t, bool *ret);
bool json_tok_int(const JsonScan *s, JsonTok t, int64_t *ret); /* reals lose their fraction */

/* -- escapes -- */

/* The insides of a JSON string as text; raw itself where there is nothing to do. Half of a
 * surrogate pair becomes U+FFFD, a backslash that begins no escape a question mark. */
Str json_unescape(Arena *a, Str raw);

/* The nearest place at or behind `at` (or at or before it) where no escape, surrogate pair or UTF-8
 * sequence is cut. */
size_t json_raw_cut_up(Str raw, size_t at);
size_t json_raw_cut_down(Str raw, size_t at);

/* -- simdjson's side, in json.cc -- */

void *json_stage_new(size_t max);
void *json_stage_free(void *stage);
ScanResult json_stage_run(void *stage, Str text, const uint32_t **ret_at, uint32_t *ret_n);

#endif
