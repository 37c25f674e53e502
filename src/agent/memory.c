/* The two files. What Hermes would not read back as it was written is never written: entries are
 * trimmed, empty ones and second copies are dropped when reading, and a file in which that loses
 * anything that looks like more than white space is left alone. */
#include "agent/memory.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/letters.h"
#include "text/sha256.h"
#include "text/utf8.h"

enum { LOCK_MS = 2000, MAX_ENTRIES = 512 };

#define MARK "\n\xc2\xa7\n" /* a line with § */

static const struct {
    const char *name, *file, *title;
    size_t limit;
} kinds[] = {
#define X(id, name_, file_, limit_, title_)                                                        \
    [id] = { .name = (name_), .file = (file_), .title = (title_), .limit = (limit_) },
    MEMORY_KINDS(X)
#undef X
};

const char *memory_name(MemoryKind kind)
{
    return kinds[kind].name;
}

const char *memory_title(MemoryKind kind)
{
    return kinds[kind].title;
}

size_t memory_limit(MemoryKind kind)
{
    return kinds[kind].limit;
}

/* -- Reading -- */

static bool has_entry(const MemoryFile *f, Str entry)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->entries[i], entry))
            return true;
    return false;
}

static size_t chars_of(const MemoryFile *f)
{
    size_t chars = f->n ? (f->n - 1) * utf8_count(STR(MARK)) : 0;

    for (size_t i = 0; i < f->n; i++)
        chars += utf8_count(f->entries[i]);
    return chars;
}

static void add_entry(Arena *a, MemoryFile *f, size_t *cap, Str entry)
{
    entry = text_trim(entry);
    if (entry.n && f->n < MAX_ENTRIES && !has_entry(f, entry))
        ARENA_PUSH(a, f->entries, f->n, *cap, entry);
}

static Str without_returns(Arena *a, Str text)
{
    AUTO_BUF b = BUF(text.n + 1);

    if (str_find(text, STR("\r")) == text.n)
        return text;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\r')
            buf_addc(&b, text.p[i]);
    return str_dup(a, buf_str(&b));
}

/* With the mark at its beginning or end an entry would be read as two, or as none. */
static bool is_ambiguous(Str entry)
{
    return str_find(entry, STR(MARK)) < entry.n || str_starts(entry, STR("\xc2\xa7\n")) ||
           str_ends(entry, STR("\n\xc2\xa7")) || str_eq(entry, STR("\xc2\xa7"));
}

static Str drift_of(Arena *a, MemoryKind kind, Str text, const MemoryFile *f)
{
    if (utf8_valid_prefix(text) < text.n)
        return STR("it is not UTF-8");
    for (size_t i = 0; i < f->n; i++) {
        if (is_ambiguous(f->entries[i]))
            return STR("an entry has the mark of their ends in it");
        if (utf8_count(f->entries[i]) > memory_limit(kind))
            return str_printf(a, "one entry alone has more than %zu characters",
                              memory_limit(kind));
    }
    return f->n == MAX_ENTRIES ? STR("it has too many entries") : STR("");
}

void memory_parse(Arena *a, MemoryKind kind, Str text, MemoryFile *ret)
{
    Str rest = without_returns(a, text);
    size_t cap = 0;

    *ret = (MemoryFile){ .sha256 = sha256_hex(a, text) };
    for (;;) {
        size_t at = str_find(rest, STR(MARK));

        add_entry(a, ret, &cap, str_head(rest, at));
        if (at == rest.n)
            break;
        /* The line end behind the mark may be the one before the next. */
        rest = str_skip(rest, at + sizeof MARK - 2);
        if (!str_starts(rest, STR(MARK)))
            rest = str_skip(rest, 1);
    }
    ret->chars = chars_of(ret);
    ret->drift = drift_of(a, kind, text, ret);
}

Str memory_write(Arena *a, const MemoryFile *file)
{
    AUTO_BUF b = BUF(LIMIT_MEMORY_BYTES);

    for (size_t i = 0; i < file->n; i++) {
        if (i)
            buf_addz(&b, MARK);
        buf_add(&b, file->entries[i]);
    }
    return str_dup(a, buf_str(&b));
}

static Str folder_of(Arena *a, const Homes *homes)
{
    return str_join_path(a, homes->primary ? homes->primary->path : homes->data, STR("memories"));
}

static Str path_of(Arena *a, const Homes *homes, MemoryKind kind)
{
    return str_join_path(a, folder_of(a, homes), str_of(kinds[kind].file));
}

bool memory_load(Arena *a, const Homes *homes, MemoryKind kind, MemoryFile *ret, Err *err)
{
    char *path = str_z(a, path_of(a, homes, kind));
    Str text;

    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *ret = (MemoryFile){ 0 };
        return true;
    }
    if (!file_read(a, path, LIMIT_MEMORY_BYTES, &text, err))
        return false;
    memory_parse(a, kind, text, ret);
    return true;
}

/* -- Changing -- */

/* Several entries with the piece are one where they are the same text. */
static bool find_entry(const MemoryFile *f, Str piece, size_t *ret, Err *err)
{
    size_t found = 0;

    if (!text_trim(piece).n)
        return err_set(err, ERR_USAGE, "old_text must not be empty");
    for (size_t i = 0; i < f->n; i++)
        if (str_find(f->entries[i], piece) < f->entries[i].n && found++ == 0)
            *ret = i;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "no entry has '%.*s'", STR_FMT(utf8_head(piece, 80)));
    return found == 1 ||
           err_set(err, ERR_CONFLICT, "%zu entries have '%.*s'; a longer piece names one of them",
                   found, STR_FMT(utf8_head(piece, 80)));
}

static bool check_content(Str content, Err *err)
{
    if (!text_trim(content).n)
        return err_set(err, ERR_USAGE, "content must not be empty");
    if (utf8_valid_prefix(content) < content.n)
        return err_set(err, ERR_USAGE, "content must be UTF-8");
    if (is_ambiguous(text_trim(content)))
        return err_set(err, ERR_USAGE, "content must not have a line with the mark alone");
    return true;
}

static bool apply_edit(Arena *a, MemoryFile *f, const MemoryEdit *e, Err *err)
{
    size_t at = f->n, cap = f->n;

    if (e->action != MEMORY_REMOVE && !check_content(without_returns(a, e->content), err))
        return false;
    if (e->action == MEMORY_ADD) {
        add_entry(a, f, &cap, without_returns(a, e->content));
        return true;
    }
    if (!find_entry(f, e->old_text, &at, err))
        return false;
    ASSERT(f->entries && at < f->n);
    if (e->action == MEMORY_REPLACE) {
        f->entries[at] = text_trim(without_returns(a, e->content));
        return true;
    }
    memmove(&f->entries[at], &f->entries[at + 1], (f->n - at - 1) * sizeof *f->entries);
    f->n--;
    return true;
}

static bool apply_all(Arena *a, MemoryKind kind, const MemoryEdit *edits, size_t n, MemoryFile *f,
                      Err *err)
{
    size_t before = f->chars;

    if (f->drift.n)
        return err_set(err, ERR_CONFLICT, "%s was edited by hand: %.*s", kinds[kind].file,
                       STR_FMT(f->drift));
    for (size_t i = 0; i < n; i++)
        if (!apply_edit(a, f, &edits[i], err))
            return false;
    f->chars = chars_of(f);
    /* What makes a file smaller that is too large already is let through. */
    if (f->chars > memory_limit(kind) && f->chars >= before)
        return err_set(err, ERR_TOO_LARGE,
                       "%s would have %zu characters of at most %zu; %zu are in use: replace or "
                       "remove entries first",
                       kinds[kind].file, f->chars, memory_limit(kind), before);
    return true;
}

bool memory_change(Arena *a, const Homes *homes, MemoryKind kind, const MemoryEdit *edits, size_t n,
                   MemoryFile *ret, Err *err)
{
    char *folder = str_z(a, folder_of(a, homes)), *path = str_z(a, path_of(a, homes, kind));
    Str lock_path = str_printf(a, "%s.lock", path), bytes;
    AUTO(FileLock) *lock = NULL;
    MemoryFile f;

    if (!folder_make(folder, err))
        return false;
    lock = lock_take(lock_path.p, LOCK_MS, err);
    /* Read again under the lock: what another program has written meanwhile stays. */
    if (!lock || !memory_load(a, homes, kind, &f, err) || !apply_all(a, kind, edits, n, &f, err))
        return false;
    bytes = memory_write(a, &f);
    if (!file_write_atomic(path, bytes, err))
        return false;
    f.sha256 = sha256_hex(a, bytes);
    *ret = f;
    return true;
}
