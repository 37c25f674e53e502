/* talaria ask: one turn through the agent service, in this process. */
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/continue.h"
#include "agent/files.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/commands.h"
#include "handoff/wait.h"
#include "runtimes/runtimes.h"
#include "terminal/paint.h"

static const Option options[] = {
    { OPT_TEXT("runtime", "NAME", "runtime that answers"), .letter = 'r',
      .choices = RUNTIME_CHOICES },
    { OPT_TEXT("conversation", "ID", "continue this conversation, or any session of any agent"),
      .letter = 'c', .values = "sessions" },
    { OPT_TEXT("file", "FILE", "attach a file (can be repeated)"), .letter = 'f' },
    { OPT_TEXT("template", "auto|NAME|none", "start a new session from a template"),
      .values = "templates" },
    { OPT_TEXT("model", "NAME", "model that the runtime should use") },
    { 0 },
};

/* -- waiting for frames -- */

static void on_wake(void *ctx)
{
    uint64_t one = 1;

    (void)!write(*(int *)ctx, &one, sizeof one);
}

/* wake_fd: written by new frames and by signals. */
static const Frame *next_frame(Service *s, Subscriber *sub, Str run_id, int wake_fd)
{
    struct pollfd woken = { .fd = wake_fd, .events = POLLIN };
    uint64_t count;

    for (;;) {
        bool over;
        const Frame *f = sub_next(sub, &over);
        Err err;

        if (f || over)
            return f;
        if (signals_stop_came() && !service_cancel(s, run_id, &err))
            log_warning("%s", err.text);
        (void)poll(&woken, 1, -1);
        (void)!read(wake_fd, &count, sizeof count);
    }
}

/* -- showing them -- */

/* Markdown is drawn on a terminal that can move its cursor, and stays as it is in a pipe. */
static Paint *new_paint(const Cli *cli)
{
    const char *term = getenv("TERM");

    if (cli->json || !cli_on_terminal(cli) || !term || strcmp(term, "dumb") == 0)
        return NULL;
    return paint_new(&(PaintOptions){ .columns = cli_width(cli),
                                      .color = cli->color,
                                      .hyperlinks = cli->color,
                                      .homes = &cli->homes });
}

/* State of the output: text as it arrives, or drawn Markdown; notes about tools between. */
typedef struct Shown {
    Paint *paint;   /* NULL: a pipe, or a terminal that cannot move its cursor */
    bool open_line; /* words without the end of their line */
    bool noted;     /* a note was the last */
} Shown;

static void show_words(Cli *cli, Shown *s, Str text)
{
    if (s->paint) {
        paint_add(s->paint, text, cli->out);
        return;
    }
    while (s->noted && cli_on_terminal(cli) && str_starts(text, STR("\n")))
        text = str_skip(text, 1);
    if (!text.n)
        return;
    say_text(cli, text, true);
    s->noted = false;
    s->open_line = !str_ends(text, STR("\n"));
}

static void show_text(Cli *cli, Shown *s, const Frame *f, Json data)
{
    Str stage = json_str(json_get(data, STR("stage")));

    if (f->event == FRAME_CHUNK) {
        show_words(cli, s, json_str(json_get(data, STR("text"))));
    } else if (f->event == FRAME_PROGRESS && str_eqz(stage, "tool")) {
        if (s->paint)
            paint_break(s->paint, cli->out);
        else if (s->open_line && cli_on_terminal(cli))
            say(cli, "\n");
        s->open_line = false;
        s->noted = true;
        buf_flush(cli->out);
        log_note("%.*s: %.*s", STR_FMT(json_str(json_get(data, STR("tool")))),
                 STR_FMT(json_str(json_get(data, STR("status")))));
    }
}

/* What the run came to: an error frame, then done. */
static void judge(const Frame *f, Json data, Err *ret, bool *ret_ok)
{
    Str status = json_str(json_get(data, STR("status")));

    if (f->event == FRAME_ERROR) {
        *ret_ok =
            err_set(ret, ERR_INTERNAL, "%.*s", STR_FMT(json_str(json_get(data, STR("message")))));
    } else if (f->event == FRAME_DONE && str_eqz(status, "cancelled")) {
        *ret_ok = err_set(ret, ERR_INTERRUPTED, "cancelled");
    }
}

static bool listen_to(Cli *cli, Service *s, LiveRun *live, Str run_id, int wake_fd, Err *err)
{
    Subscriber sub = { .wake = on_wake, .ctx = &wake_fd };
    AUTO(Paint) *paint = new_paint(cli);
    Shown shown = { .paint = paint };
    bool ok = true;
    const Frame *f;

    sub_join(&sub, live, 0);
    while ((f = next_frame(s, &sub, run_id, wake_fd)) != NULL) {
        Err why;
        AUTO(JsonDoc) *doc = json_parse(frame_data(f), &why);

        if (cli->json)
            say(cli, "{\"event\":\"%s\",\"data\":%.*s}\n", frame_event_name(f->event),
                STR_FMT(frame_data(f)));
        if (doc && !cli->json)
            show_text(cli, &shown, f, json_root(doc));
        if (doc)
            judge(f, json_root(doc), err, &ok);
        buf_flush(cli->out);
    }
    sub_leave(&sub);
    if (paint)
        paint_end(paint, cli->out);
    else if (!cli->json)
        say(cli, "\n");
    return ok;
}

/* -- the request -- */

static bool add_files(Cli *cli, Service *s, const Args *args, ChatRequest *request, Err *err)
{
    Str *files, bytes;
    Attachment x;
    size_t n;

    if (!args_files(cli->arena, args, LIMIT_FILES, &files, &n, err))
        return false;
    request->files = files;
    for (; request->n_files < n; files[request->n_files++] = x.id) {
        Str path = files[request->n_files];

        if (!file_read_any(cli->arena, str_z(cli->arena, path), LIMIT_FILE_BYTES, &bytes, err) ||
            !files_add(s, cli->arena, request->conversation_id, str_base_name(path), STR_NONE,
                       bytes, &x, err))
            return false;
    }
    return true;
}

static bool begin_conversation(Cli *cli, Service *s, const Args *args, ChatRequest *request,
                               Err *err)
{
    char here[LIMIT_PATH_BYTES];
    Conversation c = { .id = id_new(cli->arena, 'c'),
                       .default_runtime = args_text(args, "runtime"),
                       .model = args_text(args, "model"),
                       .template = args_text(args, "template") };

    if (getcwd(here, sizeof here))
        c.cwd = str_of(here); /* goes with it, wherever it goes */
    if (request->conversation_id.n)
        return !c.template.p || err_set(err, ERR_USAGE, "--template is for a new conversation");
    request->conversation_id = c.id;
    c.one_shot = true;
    return service_begin(s, &c, err);
}

/* A conversation that was handed over is not continued here by accident. */
static bool check_owner(const Cli *cli, Str conversation_id, Err *err)
{
    AUTO(OwnStore) *journal = NULL;

    if (!conversation_id.n)
        return true;
    journal = own_store_open(cli->homes.data, err);
    return journal && handoff_is_here(journal, cli->homes.data, conversation_id, err);
}

static bool turn(Cli *cli, Service *s, const Args *args, int wake_fd, Err *err)
{
    ChatRequest request = { .conversation_id = args_text(args, "conversation"),
                            .trust = TRUST_OWNER,
                            .text = args_words(cli->arena, args),
                            .runtime = args_text(args, "runtime"),
                            .model = args_text(args, "model") };
    bool fresh = !request.conversation_id.n;
    LiveRun *live;
    Run run;

    /* -c takes any session: it continues as a Talaria conversation. */
    if ((!fresh && !service_continue(s, cli->arena, request.conversation_id,
                                     &request.conversation_id, err)) ||
        !check_owner(cli, request.conversation_id, err) ||
        !begin_conversation(cli, s, args, &request, err))
        return false;
    if (!add_files(cli, s, args, &request, err) ||
        !service_chat(s, cli->arena, &request, &run, &live, err)) {
        if (fresh)
            service_unbegin(s, request.conversation_id);
        return false;
    }
    if (!cli->json)
        log_note("conversation %.*s", STR_FMT(request.conversation_id));
    if (listen_to(cli, s, live, run.id, wake_fd, err))
        return true;
    /* What was answered before Ctrl-C is kept; a question that failed leaves nothing behind. */
    if (fresh && err->kind != ERR_INTERRUPTED)
        service_unbegin(s, request.conversation_id);
    return false;
}

static bool ask(Cli *cli, const Args *args, Err *err)
{
    AUTO(Service) *s = NULL;
    const Homes *homes;
    int wake_fd;

    if (!cli_homes(cli, &homes, err))
        return false;
    wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_fd < 0)
        return err_errno(err, "cannot wait for an answer");
    signals_catch(SIGNALS_STOP | SIGNALS_ONCE, wake_fd);
    s = service_open(&(ServiceOptions){ .homes = homes, .settings = &cli->settings }, err);
    return s && turn(cli, s, args, wake_fd, err);
}

static const Example examples[] = {
    { "talaria ask \"where did we fix the login test?\"",
      "ask a question; the answer is streamed" },
    { "talaria ask -c ID \"and why?\"", "continue a conversation or any session" },
    { "talaria ask --json \"hello\"", "print the events of the turn, one JSON object per line" },
    { 0 },
};

const Command cmd_ask = {
    .name = "ask",
    .operands = "TEXT...",
    .summary = "ask one question and print the answer",
    .details =
        "Several words are one question; quotes keep the shell from reading characters such as "
        "'?' and '*'. Streams the answer to standard output. With --json it prints the events of "
        "the "
        "turn (metadata, progress, chunk, error, done), one JSON object per line. The exit "
        "code is 0 if there is an answer (also one cut short), 1 if the turn failed, 130 if it "
        "was cancelled. The session is kept, and its id is printed on standard error; 'sessions "
        "list --source "
        "ask' lists such sessions. Continued with -c, it is listed like any other.",
    .options = options,
    .examples = examples,
    .draws = true,
    .run = ask
};
