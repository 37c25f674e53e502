/* Turns of a chat. The log of a run wakes us through a descriptor, whatever thread it writes on;
 * reading and drawing happen here, between two keys. One turn at a time: what is sent meanwhile
 * waits in a queue. */
#include <unistd.h>

#include "terminal/chat_inside.h"

static void on_wake(void *ctx)
{
    Chat *c = ctx;
    uint64_t one = 1;

    (void)!write(c->wake_fd, &one, sizeof one);
}

/* The session that was resumed becomes a conversation with the first message to it. */
static bool continue_session(Chat *c, Err *err)
{
    Str id;

    if (!c->session)
        return true;
    if (!service_continue(c->service, c->arena, c->conversation, &id, err))
        return false;
    if (!str_eq(id, c->conversation))
        chat_note(c, "continues in conversation %.*s", STR_FMT(id));
    c->conversation = str_dup(c->arena, id);
    c->session = false;
    return true;
}

bool chat_begin(Chat *c, Err *err)
{
    char here[LIMIT_PATH_BYTES];
    Conversation row = { .id = id_new(c->arena, 'c'),
                         .default_runtime = c->runtime,
                         .model = c->model,
                         .template = c->template };

    if (c->conversation.n)
        return continue_session(c, err) && chat_is_ours(c, c->conversation, err);
    if (getcwd(here, sizeof here))
        row.cwd = str_of(here); /* goes with it, wherever it goes */
    if (!service_begin(c->service, &row, err))
        return false;
    c->conversation = row.id;
    c->fresh = true;
    return true;
}

/* -- sending -- */

static void failed(Chat *c, const Err *err)
{
    c->failed = true;
    c->err = *err;
    chat_trouble(c, err);
}

static void listen_to(Chat *c, LiveRun *live)
{
    c->render = render_free(c->render);
    c->render =
        render_new(c->options->color, c->editor ? editor_columns(c->editor) : 0, c->options->homes);
    c->sub = (Subscriber){ .wake = on_wake, .ctx = c };
    c->running = true;
    c->failed = false;
    sub_join(&c->sub, live, 0);
    on_wake(c);
}

static void send_now(Chat *c, Str text)
{
    ChatRequest request = { .text = text,
                            .trust = TRUST_OWNER,
                            .runtime = c->runtime,
                            .model = c->model,
                            .files = c->files,
                            .n_files = c->n_files };
    Err err = { 0 };
    LiveRun *live;
    Run run;

    arena_reset(c->run_arena);
    if (!chat_begin(c, &err)) {
        failed(c, &err);
        return;
    }
    request.conversation_id = c->conversation;
    if (!service_chat(c->service, c->run_arena, &request, &run, &live, &err)) {
        failed(c, &err);
        return;
    }
    c->run_id = run.id;
    c->n_files = 0;
    c->fresh = false;
    listen_to(c, live);
}

static void queue_up(Chat *c, Str text)
{
    if (c->n_queue == LIMIT_CHAT_QUEUE) {
        chat_note(c, "%d messages are already queued; this one was not accepted", LIMIT_CHAT_QUEUE);
        return;
    }
    c->queue[c->n_queue++] = mem_strdup(text);
}

void chat_say(Chat *c, Str text)
{
    if (c->running) {
        queue_up(c, text);
        return;
    }
    mem_free(c->last);
    c->last = mem_strdup(text);
    send_now(c, text);
}

/* It was erased when it was typed; it is shown again where it is answered. */
static void send_next(Chat *c)
{
    AUTO_BUF line = BUF(LIMIT_RUN_ASK * 2);
    char *text = c->queue[0];

    memmove(c->queue, c->queue + 1, --c->n_queue * sizeof *c->queue);
    buf_addz(&line, "> ");
    render_text(&line, str_of(text));
    buf_addc(&line, '\n');
    screen_lines(&c->screen, buf_str(&line));
    chat_say(c, str_of(text));
    mem_free(text);
}

/* -- watching -- */

void chat_forget_turn(Chat *c)
{
    if (c->running)
        sub_leave(&c->sub);
    c->running = false;
}

/* The same verdicts as those of `talaria ask`. */
static void judge(Chat *c)
{
    const Render *r = c->render;

    if (r->error.n)
        c->failed = !err_set(&c->err, ERR_INTERNAL, "%.*s", STR_FMT(r->error));
    else if (!str_eqz(r->status, "completed") && !str_eqz(r->status, "truncated"))
        c->failed = !err_set(&c->err, ERR_INTERRUPTED, "cancelled");
    if (c->failed)
        c->told = true;
}

static void show(Chat *c, const Frame *f)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(frame_data(f), &err);

    if (!doc)
        return;
    if (c->editor)
        render_resize(c->render, editor_columns(c->editor));
    render_frame(c->render, f->event, json_root(doc));
    screen_words(&c->screen, buf_str(&c->render->before));
    if (c->editor || !c->options->quiet || f->event == FRAME_ERROR)
        screen_lines(&c->screen, buf_str(&c->render->quiet));
    screen_words(&c->screen, buf_str(&c->render->words));
}

/* Without a terminal no person can approve. */
static void deny_if_alone(Chat *c)
{
    Err err = { 0 };
    Str id = c->render->approval.id;

    if (c->editor || !id.n)
        return;
    c->render->approval.id = STR_NONE;
    if (service_approve(c->service, c->run_id, id, STR("deny"), &err))
        chat_note(c, "denied: not running interactively");
}

static void turn_is_over(Chat *c)
{
    chat_forget_turn(c);
    judge(c);
    screen_fresh(&c->screen);
    while (c->n_queue && !c->running && !c->leaving)
        send_next(c);
    if (c->editor) { /* with the prompt of one whose turn it is */
        editor_hide(c->editor);
        editor_show(c->editor);
    }
}

void chat_pump(Chat *c)
{
    const Frame *f;
    bool over = false;

    while (c->running) {
        f = sub_next(&c->sub, &over);
        if (f) {
            show(c, f);
            deny_if_alone(c);
        } else if (over) {
            turn_is_over(c);
        } else {
            return;
        }
    }
}

void chat_cancel(Chat *c)
{
    Err err = { 0 };

    if (c->running && !service_cancel(c->service, c->run_id, &err))
        chat_trouble(c, &err);
}

/* -- answers to a runtime that asks -- */

/* By the word or how it begins: o, s, a, d. */
static Str choice_of(const Render *r, Str line)
{
    Str found = STR_NONE;

    for (size_t i = 0; i < r->approval.n; i++)
        if (line.n && line.n <= r->approval.choices[i].n &&
            str_eq_nocase(line, str_head(r->approval.choices[i], line.n)))
            found = r->approval.choices[i];
    return found;
}

bool chat_answers(Chat *c, Str line)
{
    Err err = { 0 };
    Str choice, id;

    if (!c->running || !c->render->approval.id.n)
        return false;
    choice = choice_of(c->render, str_trim(line));
    if (!choice.n) {
        chat_note(c, "answer first: once, session, always or deny (or the first letter)");
        return true;
    }
    id = c->render->approval.id;
    c->render->approval.id = STR_NONE;
    if (service_approve(c->service, c->run_id, id, choice, &err))
        chat_note(c, "answered: %.*s", STR_FMT(choice));
    else
        chat_trouble(c, &err);
    return true;
}
