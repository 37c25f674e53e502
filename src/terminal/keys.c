#include "terminal/keys.h"

#include "base/limits.h"
#include "text/utf8.h"

static const Str paste_begins = STR_INIT("\033[200~"), paste_ends = STR_INIT("\033[201~");

void keys_init(Keys *k)
{
    *k = (Keys){ .raw = BUF(LIMIT_RUN_ASK), .paste = BUF(LIMIT_RUN_ASK) };
}

void keys_done(Keys *k)
{
    buf_done(&k->raw);
    buf_done(&k->paste);
}

static Str rest(const Keys *k)
{
    return str_skip(buf_str(&k->raw), k->at);
}

static void take(Keys *k, size_t n)
{
    k->at += n;
    if (k->at < k->raw.n)
        return;
    buf_clear(&k->raw);
    k->at = 0;
}

void keys_feed(Keys *k, Str bytes)
{
    buf_add(&k->raw, bytes);
}

void keys_abort(Keys *k)
{
    k->pasting = false;
    buf_clear(&k->paste);
    take(k, rest(k).n);
}

/* The terminal's line ends become line feeds; other control characters of a paste are dropped. */
static void add_pasted(Buf *out, Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '\r')
            buf_addc(out, '\n');
        else if (c == '\n' && i && s.p[i - 1] == '\r')
            continue;
        else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
            buf_addc(out, (char)c);
    }
}

/* Held back whole: where a paste is cut must not matter. */
static KeyKind next_of_paste(Keys *k)
{
    Str s = rest(k);
    size_t end = str_find(s, paste_ends);

    if (end == s.n)
        return KEY_NONE;
    buf_clear(&k->paste);
    add_pasted(&k->paste, str_head(s, end));
    take(k, end + paste_ends.n);
    k->pasting = false;
    return KEY_PASTE;
}

static bool is_cut_char(Str s)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;

    return s.n < n;
}

KeyKind keys_next(Keys *k, bool enough, uint32_t *ret_char)
{
    Str s = rest(k), after;

    k->waits = false;
    if (!k->pasting && str_starts(s, paste_begins)) {
        take(k, paste_begins.n);
        k->pasting = true;
    }
    if (k->pasting)
        return next_of_paste(k);
    if (!s.n)
        return KEY_NONE;
    if (!enough && ((s.n < paste_begins.n && str_starts(paste_begins, s)) || is_cut_char(s))) {
        k->waits = true;
        return KEY_NONE;
    }
    after = s;
    *ret_char = utf8_next(&after);
    take(k, s.n - after.n);
    return KEY_CHAR;
}
