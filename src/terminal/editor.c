/* libedit draws the line relative to where it thinks the cursor is, and does not report it. So we
 * count, by its own rules (rows.h), how many rows above the cursor its first one is; to hide
 * the line is to go there and clear to the end of the screen. EL_REFRESH forgets what was drawn and
 * draws all of it from the cursor on. */
#include "terminal/editor.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/limits.h"
#include "base/signals.h"
#include "terminal/editline.h"
#include "terminal/keys.h"
#include "terminal/rows.h"
#include "text/utf8.h"

enum { PAUSE_MS = 40, CTRL_U = 0x15, MIN_COLUMNS = 8 };

#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

/* libedit's callbacks take no context; there is one terminal. */
static Editor *the_editor;

struct Editor {
    const Editline *lib;
    EditLine *el;
    History *history;
    EditorHooks hooks;
    FILE *out;
    int wake_fd, ended_by;
    struct termios before; /* as the shell had it */
    Keys keys;
    bool typing;       /* inside of libedit, waiting for a key */
    size_t drawn_rows; /* of the line that was given last */
    wchar_t prompt[128];
};

/* -- where things are -- */

size_t editor_columns(const Editor *e)
{
    struct winsize size;

    if (ioctl(fileno(e->out), TIOCGWINSZ, &size) == 0 && size.ws_col >= MIN_COLUMNS)
        return size.ws_col;
    return 80;
}

/* Rows from the first one of the line to where it has been written to `upto`. */
static size_t rows_to(const Editor *e, const wchar_t *line, size_t upto)
{
    size_t rows = rows_of(e->prompt, line, upto, editor_columns(e)), max = 23;
    struct winsize size;

    if (ioctl(fileno(e->out), TIOCGWINSZ, &size) == 0 && size.ws_row > 1)
        max = size.ws_row - 1U;

    return rows < max ? rows : max;
}

static void clear_from(Editor *e, size_t rows_up)
{
    fputs("\r", e->out);
    if (rows_up)
        fprintf(e->out, "\033[%zuA", rows_up);
    fputs("\033[J", e->out);
}

void editor_hide(Editor *e)
{
    const LineInfoW *line;

    if (!e || !e->typing)
        return;
    line = e->lib->el_wline(e->el);
    clear_from(e, rows_to(e, line->buffer, (size_t)(line->cursor - line->buffer)));
}

void editor_show(Editor *e)
{
    if (e && e->typing)
        e->lib->el_set(e->el, EL_REFRESH);
    else if (e)
        fflush(e->out);
}

void editor_erase(Editor *e)
{
    clear_from(e, e->drawn_rows + 1);
}

/* -- keys -- */

static void insert(Editor *e, Str text)
{
    wchar_t *wide = mem_resize(NULL, text.n + 1, sizeof *wide);
    size_t n = 0;

    while (text.n)
        wide[n++] = (wchar_t)utf8_next(&text);
    wide[n] = 0;
    editor_hide(e);
    if (n)
        (void)e->lib->el_winsertstr(e->el, wide);
    editor_show(e);
    mem_free(wide);
}

static void suspend(Editor *e)
{
    editor_hide(e);
    fputs(PASTE_OFF, e->out);
    fflush(e->out);
    e->lib->el_set(e->el, EL_PREP_TERM, 0);
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &e->before);
    (void)kill(getpid(), SIGSTOP);
    e->lib->el_set(e->el, EL_PREP_TERM, 1);
    fputs(PASTE_ON, e->out);
    editor_show(e);
}

/* libedit knows a key that takes the line away. */
static bool interrupt(Editor *e, wchar_t *ret)
{
    const LineInfoW *line = e->lib->el_wline(e->el);

    keys_abort(&e->keys);
    *ret = CTRL_U;
    return e->hooks.interrupt(e->hooks.ctx, line->lastchar == line->buffer);
}

/* 1: *ret is a key; 0: this is the end; -1: keep waiting. */
static int woken(Editor *e, wchar_t *ret)
{
    uint64_t count;

    (void)!read(e->wake_fd, &count, sizeof count);
    if (signals_came(SIGTERM) || signals_came(SIGHUP)) {
        e->ended_by = SIGTERM;
        return 0;
    }
    if (signals_came(SIGWINCH)) {
        editor_hide(e);
        e->lib->el_resize(e->el);
        editor_show(e);
    }
    if (signals_came(SIGTSTP))
        suspend(e);
    if (signals_came(SIGINT) && interrupt(e, ret))
        return 1;
    e->hooks.wake(e->hooks.ctx);
    return -1;
}

/* False: the terminal is gone. */
static bool read_terminal(Editor *e)
{
    char bytes[4096];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n > 0)
        keys_feed(&e->keys, (Str){ bytes, (size_t)n });
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* As woken. */
static int wait_for_key(Editor *e, bool *ret_enough, wchar_t *ret)
{
    struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                            { .fd = e->wake_fd, .events = POLLIN } };
    int n = poll(fds, ARRAY_LEN(fds), e->keys.waits ? PAUSE_MS : -1);
    int what = -1;

    *ret_enough = n == 0;
    if (n > 0 && fds[1].revents)
        what = woken(e, ret);
    if (what < 0 && n > 0 && fds[0].revents && !read_terminal(e))
        what = 0;
    return what;
}

static int next_key(EditLine *el, wchar_t *ret)
{
    Editor *e = the_editor;
    bool enough = false;
    uint32_t c;
    int what;

    (void)el;
    e->typing = true;
    for (what = -1; what < 0;) {
        KeyKind kind = keys_next(&e->keys, enough, &c);

        enough = false;
        if (kind == KEY_PASTE)
            insert(e, buf_str(&e->keys.paste));
        else if (kind == KEY_NONE)
            what = wait_for_key(e, &enough, ret);
        else
            what = 1;
        if (kind == KEY_CHAR)
            *ret = (wchar_t)c;
    }
    e->typing = false;
    return what;
}

/* -- what libedit asks -- */

static wchar_t *prompt(EditLine *el)
{
    Editor *e = the_editor;
    Str text = str_of(e->hooks.prompt(e->hooks.ctx));
    size_t n = 0;

    (void)el;
    while (text.n && n + 1 < ARRAY_LEN(e->prompt))
        e->prompt[n++] = (wchar_t)utf8_next(&text);
    e->prompt[n] = 0;
    return e->prompt;
}

static void add_wide(Buf *out, const wchar_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char bytes[4];

        buf_add(out, (Str){ bytes, utf8_put(bytes, (uint32_t)s[i]) });
    }
}

/* How far all of them go together. */
static size_t common(const Completion *c)
{
    size_t n = c->words[0].n;

    for (size_t i = 1; i < c->n; i++) {
        size_t same = 0;

        while (same < n && same < c->words[i].n && c->words[i].p[same] == c->words[0].p[same])
            same++;
        n = same;
    }
    return utf8_head(c->words[0], n).n;
}

static void list(Editor *e, const Completion *c)
{
    AUTO_BUF out = BUF(KIB(64));

    for (size_t i = 0; i < c->n; i++) {
        buf_addz(&out, i ? "  " : "");
        utf8_show(&out, c->words[i], false);
    }
    buf_addc(&out, '\n');
    e->hooks.say(e->hooks.ctx, buf_str(&out));
}

static unsigned char complete(EditLine *el, int key)
{
    Editor *e = the_editor;
    const LineInfoW *line = e->lib->el_wline(el);
    AUTO_BUF before = BUF(LIMIT_RUN_ASK);
    AUTO(Arena) *a = arena_new();
    Completion c = { .arena = a, .end = " " };
    size_t n;

    (void)key;
    add_wide(&before, line->buffer, (size_t)(line->cursor - line->buffer));
    e->hooks.complete(e->hooks.ctx, buf_str(&before), &c);
    if (!c.n)
        return CC_REFRESH_BEEP;
    n = common(&c);
    e->typing = true; /* between two keys, as far as drawing goes */
    if (n > c.replaces)
        insert(e, str_skip(str_head(c.words[0], n), c.replaces));
    if (c.n == 1)
        insert(e, str_of(c.end));
    else if (n == c.replaces)
        list(e, &c);
    e->typing = false;
    return CC_NORM;
}

static unsigned char new_line(EditLine *el, int key)
{
    Editor *e = the_editor;

    (void)el;
    (void)key;
    e->typing = true;
    insert(e, STR("\n"));
    e->typing = false;
    return CC_NORM;
}

/* -- opening, closing -- */

/* Everything inside is UTF-8; where the user's locale is not, libedit must still see characters. */
static void set_locale(void)
{
    (void)setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

static void bind(Editor *e)
{
    static const struct {
        const wchar_t *key, *what;
    } binds[] = {
        { L"\t", L"talaria-complete" },         { L"\033\n", L"talaria-newline" },
        { L"\033\r", L"talaria-newline" },      { L"^R", L"em-inc-search-prev" },
        { L"\033[1~", L"ed-move-to-beg" },      { L"\033[4~", L"ed-move-to-end" },
        { L"\033[3~", L"ed-delete-next-char" },
    };

    e->lib->el_wset(e->el, EL_ADDFN, L"talaria-complete", L"complete", complete);
    e->lib->el_wset(e->el, EL_ADDFN, L"talaria-newline", L"a new line in the message", new_line);
    for (size_t i = 0; i < ARRAY_LEN(binds); i++)
        e->lib->el_wset(e->el, EL_BIND, binds[i].key, binds[i].what, NULL);
}

static bool set_up(Editor *e, Err *err)
{
    HistEvent event;

    if (tcgetattr(STDIN_FILENO, &e->before) != 0)
        return err_errno(err, "cannot use the terminal");
    e->el = e->lib->el_init("talaria", stdin, e->out, stderr);
    e->history = e->lib->history_init();
    if (!e->el || !e->history)
        return err_set(err, ERR_INTERNAL, "libedit does not start");
    e->lib->history(e->history, &event, H_SETSIZE, LIMIT_CHAT_HISTORY);
    e->lib->history(e->history, &event, H_SETUNIQUE, 1);
    e->lib->el_wset(e->el, EL_EDITOR, L"emacs");
    e->lib->el_wset(e->el, EL_GETCFN, next_key);
    e->lib->el_wset(e->el, EL_PROMPT, prompt);
    e->lib->el_set(e->el, EL_HIST, e->lib->history, e->history);
    bind(e);
    /* Between two lines libedit puts the terminal back, and what is typed then would be drawn by
     * the kernel, over the answer: from beginning to end nothing is echoed. A paste keeps its line
     * ends. */
    e->lib->el_set(e->el, EL_SETTY, "-x", "-echo", "-icanon", "-icrnl", "-inlcr", NULL);
    e->lib->el_set(e->el, EL_SETTY, "-d", "-icrnl", "-inlcr", NULL);
    return true;
}

Editor *editor_open(const EditorHooks *hooks, int wake_fd, FILE *out, Err *err)
{
    const Editline *lib = editline_load(err);
    AUTO(Editor) *e = NULL;

    if (!lib)
        return NULL;
    ASSERT(!the_editor);
    e = mem_alloc(sizeof *e);
    *e = (Editor){ .lib = lib, .hooks = *hooks, .wake_fd = wake_fd, .out = out };
    keys_init(&e->keys);
    set_locale();
    the_editor = e;
    if (!set_up(e, err))
        return NULL;
    signals_catch(SIGNALS_STOP | SIGNALS_HANGUP | SIGNALS_TERMINAL, wake_fd);
    fputs(PASTE_ON, out);
    return TAKE(e);
}

Editor *editor_close(Editor *e)
{
    if (!e)
        return NULL;
    fputs(PASTE_OFF, e->out);
    fflush(e->out);
    signals_release();
    if (e->el)
        e->lib->el_end(e->el);
    if (e->history)
        e->lib->history_end(e->history);
    keys_done(&e->keys);
    the_editor = NULL;
    return mem_free(e);
}

/* -- lines -- */

bool editor_line(Editor *e, Buf *ret)
{
    int n = 0;
    const wchar_t *line = e->lib->el_wgets(e->el, &n);

    if (!line || n <= 0)
        return false;
    if (line[n - 1] == L'\n')
        n--;
    e->drawn_rows = rows_to(e, line, (size_t)n);
    add_wide(ret, line, (size_t)n);
    return true;
}

int editor_ended_by(const Editor *e)
{
    return e->ended_by;
}

void editor_remember(Editor *e, Str line)
{
    AUTO(Arena) *a = arena_new();
    HistEvent event;

    e->lib->history(e->history, &event, H_ENTER, str_z(a, line));
}
