/* The chat itself: opening, the two ways of reading lines, leaving.
 *
 * What threads of the service log would tear the screen apart: on a terminal it is kept until the
 * next moment between two keys and shown above the line, as everything else. */
#include "terminal/chat.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/signals.h"
#include "handoff/handoff.h"
#include "terminal/chat_inside.h"
#include "terminal/typed.h"
#include "text/utf8.h"

/* -- talk -- */

static void put_line(Chat *c, Tint t, const char *label, Str text)
{
    AUTO_BUF line = BUF(KIB(16));

    buf_addf(&line, "%s%s", tint(c->options->color, t), label);
    utf8_show(&line, text, false);
    buf_addf(&line, "%s\n", tint(c->options->color, TINT_OFF));
    screen_lines(&c->screen, buf_str(&line));
}

void chat_note(Chat *c, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (c->editor || !c->options->quiet)
        put_line(c, TINT_DIM, "", str_of(text));
}

void chat_trouble(Chat *c, const Err *err)
{
    put_line(c, TINT_RED, "error: ", str_of(err->text));
    c->told = true;
}

/* -- the log of other threads -- */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static Buf kept;
static int kept_wake_fd;
static LogFilter *filter_before;
static LogLevel level_before;

static void keep_line(Str line, Buf *out)
{
    uint64_t one = 1;
    AUTO_BUF clean = BUF(8192);

    (void)out; /* nothing is written here and now */
    if (filter_before)
        filter_before(line, &clean);
    pthread_mutex_lock(&kept_lock);
    buf_add(&kept, filter_before ? buf_str(&clean) : line);
    pthread_mutex_unlock(&kept_lock);
    (void)!write(kept_wake_fd, &one, sizeof one);
}

/* Progress is drawn on one line; in a chat it would be drawn over the answer. */
static void keep_log(int wake_fd)
{
    kept = BUF(KIB(64));
    kept_wake_fd = wake_fd;
    filter_before = log_set_filter(keep_line);
    level_before = log_level();
    if (level_before == LOG_NOTE)
        log_set_level(LOG_WARNING);
}

static void show_kept(Chat *c)
{
    AUTO_BUF lines = BUF(KIB(64));

    pthread_mutex_lock(&kept_lock);
    render_text(&lines, buf_str(&kept));
    buf_clear(&kept);
    pthread_mutex_unlock(&kept_lock);
    screen_lines(&c->screen, buf_str(&lines));
}

/* -- what the editor asks -- */

static void add_choices(Chat *c, Buf *out)
{
    for (size_t i = 0; i < c->render->approval.n; i++) {
        buf_addz(out, i ? "/" : "");
        utf8_show(out, utf8_head(c->render->approval.choices[i], 12), false);
    }
    buf_addz(out, "? ");
}

/* "> " where it is your turn; "+ " while somebody answers: what is typed waits. */
static const char *prompt(void *ctx)
{
    Chat *c = ctx;
    AUTO_BUF out = BUF(sizeof c->prompt - 1);
    const char *activity = c->running ? c->render->activity : "";

    if (c->running && c->render->approval.id.n) {
        add_choices(c, &out);
    } else if (c->running) {
        if (*activity || c->n_queue)
            buf_addf(&out, "[%s", activity);
        if (c->n_queue)
            buf_addf(&out, "%s%zu queued", *activity ? ", " : "", c->n_queue);
        buf_addz(&out, *activity || c->n_queue ? "] + " : "+ ");
    } else {
        buf_addz(&out, "> ");
    }
    snprintf(c->prompt, sizeof c->prompt, "%s", buf_full(&out) ? "+ " : buf_str(&out).p);
    return c->prompt;
}

static void wake(void *ctx)
{
    Chat *c = ctx;

    show_kept(c);
    chat_pump(c);
}

static bool interrupt(void *ctx, bool empty)
{
    Chat *c = ctx;

    if (c->running)
        chat_cancel(c);
    else if (empty)
        chat_note(c, "Ctrl-D or /quit leaves");
    return !c->running && !empty;
}

static void say(void *ctx, Str lines)
{
    Chat *c = ctx;

    screen_lines(&c->screen, lines);
}

/* -- lines -- */

/* A command is done, a message sent or queued. */
static void take_line(Chat *c, Str line)
{
    Err err = { 0 };
    SlashId id;
    Str rest;
    SlashKind kind = slash_parse(line, &id, &rest, &err);

    if (!str_trim(line).n)
        return;
    arena_reset(c->scratch);
    if (kind == SLASH_MESSAGE) {
        if (!chat_answers(c, rest))
            chat_say(c, rest);
        return;
    }
    if (kind == SLASH_COMMAND && slash_do(c, id, rest, &err))
        return;
    c->failed = true;
    c->err = err;
    chat_trouble(c, &err);
}

static void remember(Chat *c, Str line)
{
    Err err = { 0 };

    if (!str_trim(line).n || (c->running && c->render->approval.id.n))
        return;
    editor_remember(c->editor, line);
    if (!typed_append(c->scratch, c->options->homes->data, line, &err))
        log_debug("%s", err.text);
}

static void load_history(Chat *c)
{
    Err err = { 0 };
    Str *lines;
    size_t n = 0;

    if (!typed_load(c->scratch, c->options->homes->data, &lines, &n, &err))
        chat_note(c, "cannot read the input history: %s", err.text);
    for (size_t i = 0; i < n; i++)
        editor_remember(c->editor, lines[i]);
}

static bool is_message(Str line)
{
    Err err;
    SlashId id;
    Str rest;

    return slash_parse(line, &id, &rest, &err) == SLASH_MESSAGE;
}

/* A queued message is erased, so that the answer continues in one piece; it appears again where it
 * is answered. Other input stays, and the answer continues below it. */
static void settle(Chat *c, Str line)
{
    if (c->running && !c->render->approval.id.n && (is_message(line) || !str_trim(line).n))
        editor_erase(c->editor);
    else
        screen_fresh(&c->screen);
}

static void talk_at_terminal(Chat *c)
{
    while (!c->leaving) {
        AUTO_BUF line = BUF(LIMIT_RUN_ASK);

        if (!editor_line(c->editor, &line))
            break;
        settle(c, buf_str(&line));
        remember(c, buf_str(&line));
        take_line(c, buf_str(&line));
        chat_pump(c);
    }
    c->leaving = true;
}

/* -- without a terminal: lines from a pipe, one turn after the other -- */

typedef struct Input {
    char bytes[4096];
    size_t at, n;
} Input;

static bool was_told_to_leave(Chat *c)
{
    uint64_t count;

    (void)!read(c->wake_fd, &count, sizeof count);
    return signals_stop_came();
}

/* Whatever became of the turn: what was to come after it will not be. */
static void interrupted(Chat *c)
{
    c->leaving = c->failed = c->told = true;
    (void)err_set(&c->err, ERR_INTERRUPTED, "cancelled");
}

/* Shows the turn under way to its end. */
static void watch_turn(Chat *c)
{
    struct pollfd fd = { .fd = c->wake_fd, .events = POLLIN };
    bool stop = false;

    for (chat_pump(c); c->running; chat_pump(c)) {
        if (poll(&fd, 1, -1) < 0 && errno != EINTR)
            break;
        if (was_told_to_leave(c)) {
            stop = c->leaving = true;
            chat_cancel(c);
        }
    }
    if (stop)
        interrupted(c);
}

/* False: there is no more. */
static bool refill(Chat *c, Input *in)
{
    struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                            { .fd = c->wake_fd, .events = POLLIN } };
    ssize_t n;

    while (poll(fds, ARRAY_LEN(fds), -1) < 0 || !fds[0].revents || fds[1].revents)
        if (fds[1].revents && was_told_to_leave(c)) {
            interrupted(c);
            return false;
        }
    n = read(STDIN_FILENO, in->bytes, sizeof in->bytes);
    in->at = 0;
    in->n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* The last line need not end. */
static bool read_line(Chat *c, Input *in, Buf *line)
{
    bool any = false;

    buf_clear(line);
    while (in->at < in->n || refill(c, in)) {
        char b = in->bytes[in->at++];

        any = true;
        if (b == '\n')
            return true;
        buf_addc(line, b);
    }
    return any && !c->leaving;
}

static void talk_in_pipe(Chat *c)
{
    Input in = { .n = 0 };

    signals_catch(SIGNALS_STOP | SIGNALS_HANGUP, c->wake_fd);
    while (!c->leaving) {
        AUTO_BUF line = BUF(LIMIT_RUN_ASK);

        if (!read_line(c, &in, &line))
            break;
        if (buf_full(&line)) {
            c->failed =
                !err_set(&c->err, ERR_TOO_LARGE, "a line is longer than %d bytes", LIMIT_RUN_ASK);
            chat_trouble(c, &c->err);
        } else {
            take_line(c, buf_str(&line));
        }
        watch_turn(c);
    }
    signals_release();
}

/* -- opening, leaving -- */

static bool is_terminal(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

static bool open_editor(Chat *c, Err *err)
{
    EditorHooks hooks = { .prompt = prompt,
                          .wake = wake,
                          .interrupt = interrupt,
                          .complete = chat_complete,
                          .say = say,
                          .ctx = c };

    c->screen.out = fdopen(dup(STDOUT_FILENO), "w");
    if (!c->screen.out)
        return err_errno(err, "cannot write to the terminal");
    setvbuf(c->screen.out, NULL, _IOFBF, KIB(64));
    c->editor = editor_open(&hooks, c->wake_fd, c->screen.out, err);
    c->screen.editor = c->editor;
    if (!c->editor)
        return false;
    keep_log(c->wake_fd);
    load_history(c);
    return true;
}

/* Which runtime answers; without a model, how to add one. */
static void name_runtime(Chat *c, const Runtime *r)
{
    bool offline = strcmp(r->name, "offline") == 0;

    chat_note(c, "Runtime: %s (%s)%s", r->name, r->title, offline ? "." : "");
    if (offline)
        chat_note(c, "To add a model: talaria setup");
}

static bool greet(Chat *c, Err *err)
{
    const ChatOptions *o = c->options;
    const Runtime *r = service_runtime(c->service, c->runtime, err);

    if (!r)
        return false;
    if (c->editor) {
        name_runtime(c, r);
        chat_note(c, "/help shows the commands, Ctrl-D leaves");
    }
    for (size_t i = 0; i < o->n_files; i++)
        if (!chat_add_file(c, o->files[i], err))
            return false;
    return true;
}

static bool begin(Chat *c, Err *err)
{
    const ChatOptions *o = c->options;

    c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (c->wake_fd < 0)
        return err_errno(err, "cannot begin a chat");
    c->runtime = o->runtime;
    c->model = o->model;
    if (o->template.n && !chat_set_template(c, o->template, err))
        return false;
    c->service = service_open(&(ServiceOptions){ .homes = o->homes, .settings = o->settings }, err);
    if (!c->service || (is_terminal() && !open_editor(c, err)))
        return false;
    if ((o->resume || o->conversation.n) && !chat_resume(c, o->conversation, err))
        return false;
    return greet(c, err);
}

/* What still runs is cancelled, and seen to its end, so that nothing is lost of it. */
static void leave(Chat *c)
{
    if (c->running) {
        chat_cancel(c);
        watch_turn(c);
    }
    if (c->n_queue)
        chat_note(c, "%zu queued messages were not sent", c->n_queue);
    chat_farewell(c);
}

static void close_editor(Chat *c)
{
    if (c->editor) {
        log_set_filter(filter_before);
        log_set_level(level_before);
        show_kept(c);
        buf_done(&kept);
        c->editor = editor_close(c->editor);
        c->screen.editor = NULL;
    }
    if (c->screen.out)
        fclose(c->screen.out);
    c->screen.out = NULL;
}

static void dispose(Chat *c)
{
    chat_forget_turn(c);
    chat_abandon(c);
    c->service = service_close(c->service);
    close_editor(c);
    if (c->wake_fd >= 0)
        close(c->wake_fd);
    for (size_t i = 0; i < c->n_queue; i++)
        mem_free(c->queue[i]);
    mem_free(c->last);
    render_free(c->render);
    own_store_close(c->journal);
    arena_free(c->run_arena);
    arena_free(c->scratch);
    arena_free(c->arena);
}

bool chat(const ChatOptions *options, bool *ret_told, Err *err)
{
    Chat c = { .options = options,
               .arena = arena_new(),
               .scratch = arena_new(),
               .run_arena = arena_new(),
               .wake_fd = -1 };
    bool ok = begin(&c, err);
    int ended_by = 0;

    if (ok && c.editor)
        talk_at_terminal(&c);
    else if (ok)
        talk_in_pipe(&c);
    if (ok)
        leave(&c);
    /* At a terminal everything was seen; a chat that one leaves has not failed. */
    if (ok && !c.editor && c.failed) {
        *err = c.err;
        *ret_told = c.told;
        ok = false;
    }
    if (c.editor)
        ended_by = editor_ended_by(c.editor);
    dispose(&c);
    if (ended_by)
        raise(ended_by);
    return ok;
}
