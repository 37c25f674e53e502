#include "recall/resume.h"

#include "base/limits.h"

/* Claude Code looks for a session only below the folder it was begun in. Codex finds it anywhere,
 * but then works on the files of the folder it is started in. */
static const struct {
    const char *program, *first, *second;
    bool in_folder;
} programs[ORIGIN_COUNT] = {
    [ORIGIN_HERMES] = { "hermes", "--resume", NULL, false },
    [ORIGIN_CLAUDE] = { "claude", "--resume", NULL, true },
    [ORIGIN_CODEX] = { "codex", "resume", NULL, true },
    [ORIGIN_TALARIA] = { "talaria", "chat", "--resume", false },
};

static bool in_demo; /* set once, before anything is read */

void resume_in_demo(void)
{
    in_demo = true;
}

const char *resume_program(void)
{
    return in_demo ? "talaria --demo" : "talaria";
}

static void add(Resume *r, Str word)
{
    if (word.n)
        r->argv[r->n++] = word;
}

/* Ids and folders come from other programs' files: no option may hide in one, and no control
 * character, which a terminal could obey while the line is pasted. */
static bool is_plain(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return s.n > 0 && s.p[0] != '-';
}

/* A profile is named; a folder that --home gave can only be meant through the environment. */
static bool add_hermes_home(Arena *a, Resume *r, Str home)
{
    Str prefix = STR("hermes/");

    if (str_starts(home, STR("/"))) {
        add(r, STR("env"));
        add(r, str_printf(a, "HERMES_HOME=%.*s", STR_FMT(home)));
    }
    add(r, r->program);
    if (str_starts(home, prefix)) {
        add(r, STR("--profile"));
        add(r, str_dup(a, str_skip(home, prefix.n)));
    }
    return is_plain(home);
}

bool resume_plan(Arena *a, const HistoryItem *item, Resume *ret)
{
    const Session *tip = &item->lineage.tip;
    bool agents_own = !in_demo && (item->is_file || item->origin == ORIGIN_HERMES);
    Origin by = agents_own ? item->origin : ORIGIN_TALARIA;
    Resume r = { .program = str_of(programs[by].program) };

    if (item->side_chain || !is_plain(tip->id))
        return false;
    if (by != ORIGIN_HERMES)
        add(&r, r.program);
    else if (!add_hermes_home(a, &r, item->home))
        return false;
    if (in_demo)
        add(&r, STR("--demo"));
    add(&r, str_of(programs[by].first));
    add(&r, str_of(programs[by].second));
    add(&r, str_dup(a, tip->id));
    if (programs[by].in_folder && str_starts(tip->cwd, STR("/")) && is_plain(tip->cwd))
        r.folder = str_dup(a, tip->cwd);
    *ret = r;
    return true;
}

/* -- as a line -- */

static bool needs_no_quotes(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c && strchr("-_./:@%+,=", c))))
            return false;
    }
    return s.n > 0;
}

/* Inside single quotes a shell reads everything as it is, but the quote itself. */
static void add_quoted(Buf *out, Str s)
{
    if (needs_no_quotes(s)) {
        buf_add(out, s);
        return;
    }
    buf_addc(out, '\'');
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            buf_addz(out, "'\\''");
        else
            buf_addc(out, s.p[i]);
    buf_addc(out, '\'');
}

Str resume_command(Arena *a, const HistoryItem *item)
{
    AUTO_BUF out = BUF(LIMIT_PATH_BYTES * 8);
    Resume r;

    if (!resume_plan(a, item, &r))
        return STR_NONE;
    if (r.folder.n) {
        buf_addz(&out, "cd ");
        add_quoted(&out, r.folder);
        buf_addz(&out, " && ");
    }
    for (size_t i = 0; i < r.n; i++) {
        buf_addz(&out, i ? " " : "");
        add_quoted(&out, r.argv[i]);
    }
    return buf_full(&out) ? STR_NONE : str_dup(a, buf_str(&out));
}
