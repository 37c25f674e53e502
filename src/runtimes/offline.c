/* No model at all: what the user's own history says about the question, quoted as it was found, or
 * that it says nothing. It never talks as if it had thought. */
#include "base/limits.h"
#include "runtimes/run.h"
#include "runtimes/runtimes.h"
#include "text/utf8.h"

enum { PIECE = 400 };

/* Where there is no model, and where it was chosen beside one. */
static const char *const beginnings[] = { "No model is configured", "No model was asked" };

static const char kept_files[] = " kept, not read. ";

bool offline_said(Str text)
{
    Str head = str_head(text, 64), kept = str_of(kept_files);
    size_t at = str_find(head, kept);

    if (at < head.n)
        text = str_skip(text, at + kept.n);
    return str_starts(text, str_of(beginnings[0])) || str_starts(text, str_of(beginnings[1]));
}

typedef struct OfflineRun {
    RuntimeRun run;
    Arena *found_in; /* of the worker, until it has posted back */
    Str found;
    bool failed;
    Err err;
} OfflineRun;

/* In a few pieces, at the ends of paragraphs where there are some. */
static void say_in_pieces(Teller *t, Str text)
{
    while (text.n) {
        Str head = utf8_head(text, PIECE);
        size_t paragraph = str_find(head, STR("\n\n"));

        if (head.n < text.n && paragraph < head.n)
            head.n = paragraph + 2;
        teller_text(t, head);
        text = str_skip(text, head.n);
    }
}

/* `own`: of this conversation alone, for who may not know the rest. */
static void say_found(Teller *t, bool has_model, bool own, Str found)
{
    teller_text(t, str_of(beginnings[has_model]));
    if (!has_model)
        teller_text(t, STR(" (run 'talaria setup' to add one)"));
    if (!str_trim(found).n) {
        teller_text(t, own ? STR(", and nothing in this conversation answers this.")
                           : STR(", and nothing in your history answers this."));
    } else {
        teller_text(t, own ? STR(". This is what this conversation says:\n\n")
                           : STR(". This is what your own history says:\n\n"));
        say_in_pieces(t, found);
    }
    teller_finish(t, RUNTIME_COMPLETED, STR("stop"), STR(""));
}

/* Files are kept with the conversation, for whoever answers next; here nobody reads them. */
static void say_all(RuntimeRun *run, Str found)
{
    const Settings *settings = run->host.settings;

    if (run->request.n_files)
        teller_text(&run->teller,
                    str_printf(run->arena, "%zu file%s%s", run->request.n_files,
                               run->request.n_files > 1 ? "s are" : " is", kept_files));
    say_found(&run->teller, settings && model_config_exists(settings), run->host.n_withheld > 0,
              found);
}

static void back(void *ctx)
{
    RuntimeRun *run = ctx;
    OfflineRun *o = (OfflineRun *)run;

    run_heard(run, true);
    if (!run->stopping && o->failed)
        teller_fail(&run->teller, RUN_STORE_UNAVAILABLE, str_of(o->err.text), 0, STR(""));
    else if (!run->stopping)
        say_all(run, o->found);
    run_drop(run);
}

/* A gateway's own request, when a session was handed over: say what you know of it. */
static const Str about_session = STR_INIT("What is this session about?");

static void look(void *ctx)
{
    OfflineRun *o = ctx;
    const RuntimeHost *host = &o->run.host;

    Str question = o->run.request.internal ? about_session : o->run.request.text;

    o->failed = !host->recall(host->recall_ctx, o->found_in, question,
                              o->run.request.conversation_id, &o->found, &o->err);
    net_post(o->run.net, back, o);
}

static void begin(RuntimeRun *run)
{
    OfflineRun *o = (OfflineRun *)run;

    o->found_in = arena_new();
    teller_session(&run->teller, STR(""), CONTINUITY_NEW, STR(""), STR(""));
    if (!run->host.recall || !run->host.work) {
        say_all(run, STR(""));
        return;
    }
    run_hold(run);
    run->host.work(run->host.work_ctx, look, o);
}

/* The worker comes back by itself; nothing is said any more when it does. */
static void stop(RuntimeRun *run)
{
    (void)run;
}

static void dispose(RuntimeRun *run)
{
    arena_free(((OfflineRun *)run)->found_in);
}

static const RunKind run_kind = { sizeof(OfflineRun), begin, stop, NULL, dispose };

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    RuntimeRun *run = run_new(&run_kind, host, request, fn, ctx);

    (void)err;
    run_begin(run);
    return run;
}

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)host;
    (void)a;
    (void)err;
    *ret = (RuntimeCaps){ .available = true,
                          .streams = true,
                          .max_parallel = 8,
                          .version = STR(""),
                          .model = STR(""),
                          .detail = STR("no model; quotes from your history") };
    return true;
}

/* The recording is what was found. */
static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    Teller t;

    if (dialect.n)
        return err_set(err, ERR_USAGE, "offline has no dialects");
    teller_init(&t, fn, ctx);
    teller_session(&t, STR(""), CONTINUITY_NEW, STR(""), STR(""));
    say_found(&t, false, false, bytes);
    teller_done(&t);
    return true;
}

const Runtime runtime_offline = { .name = "offline",
                                  .title = "no model; quotes from your history",
                                  .probe = probe,
                                  .start = start,
                                  .cancel = run_cancel,
                                  .free = run_free,
                                  .replay = replay };
