/* Files are fenced by more backticks than they have in a row, so that no file ends its own
 * fence. */
#include "runtimes/prompt.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/human.h"
#include "text/utf8.h"

Str prompt_system(Arena *a, const RuntimeRequest *r)
{
    AUTO_BUF out = BUF(LIMIT_RUN_PROMPT);

    buf_add(&out, r->context);
    if (r->context.n && r->examples.n)
        buf_addz(&out, "\n\n");
    buf_add(&out, r->examples);
    return str_dup(a, buf_str(&out));
}

static size_t longest_fence(Str s)
{
    size_t max = 0, run = 0;

    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        max = run > max ? run : max;
    }
    return max;
}

static bool is_text(Str bytes)
{
    return utf8_valid_prefix(bytes) == bytes.n && !memchr(bytes.p, '\0', bytes.n);
}

static void add_file(Arena *a, Buf *out, const RuntimeFile *f)
{
    Str bytes = STR(""), size = human_bytes(a, f->size);
    size_t fence;
    Err ignored;

    buf_addf(out, "File '%.*s' (%.*s, %.*s), at %.*s", STR_FMT(f->name), STR_FMT(f->mime),
             STR_FMT(size), STR_FMT(f->path));
    if (f->size > LIMIT_RUN_FILE ||
        !file_read(a, str_z(a, f->path), LIMIT_RUN_FILE, &bytes, &ignored) || !is_text(bytes)) {
        buf_addz(out, "\n\n");
        return;
    }
    fence = longest_fence(bytes) < 3 ? 3 : longest_fence(bytes) + 1;
    buf_addz(out, ":\n");
    buf_pad(out, '`', fence);
    buf_addc(out, '\n');
    buf_add(out, bytes);
    if (bytes.n && bytes.p[bytes.n - 1] != '\n')
        buf_addc(out, '\n');
    buf_pad(out, '`', fence);
    buf_addz(out, "\n\n");
}

Str prompt_user(Arena *a, const RuntimeRequest *r)
{
    AUTO_BUF out = BUF(LIMIT_RUN_PROMPT);

    if (r->gap.n)
        buf_addf(&out, "Meanwhile this conversation went on elsewhere:\n%.*s\n\n", STR_FMT(r->gap));
    for (size_t i = 0; i < r->n_files; i++)
        add_file(a, &out, &r->files[i]);
    buf_add(&out, r->text);
    return str_dup(a, buf_str(&out));
}

static Str history_of(Arena *a, const RuntimeRequest *r)
{
    AUTO_BUF out = BUF(LIMIT_RUN_PROMPT);

    if (!r->n_history)
        return STR("");
    buf_addz(&out, "What was said before in this conversation, quoted:\n");
    for (size_t i = 0; i < r->n_history; i++) {
        Str rest = r->history[i].text, line;

        buf_addf(&out, "\n%s:\n", r->history[i].from_user ? "User" : "Assistant");
        while (str_split(&rest, '\n', &line))
            buf_addf(&out, "> %.*s\n", STR_FMT(line));
    }
    return str_dup(a, buf_str(&out));
}

Str prompt_preamble(Arena *a, const RuntimeRequest *r, bool goes_on)
{
    Str above = prompt_system(a, r), before = goes_on ? STR("") : history_of(a, r);

    return before.n ? str_printf(a, "%.*s\n\n%.*s", STR_FMT(above), STR_FMT(before)) : above;
}
