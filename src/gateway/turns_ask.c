/* Requests for approval during a turn, answered in the chat that started it.
 *
 * The question is a row of the outbox like every message, so that it arrives once and in order;
 * the answer is a command. An approval counts only if its sender can have seen the question: it
 * must have arrived after the question was posted, and the question must have been delivered. Of
 * two answers the first counts. A question ends with its turn: if it was not sent yet, it is
 * withdrawn. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/turns_inside.h"
#include "text/utf8.h"

enum { MINUTE_MS = 60000, TOOL_COLUMNS = 60 };

static int64_t approval_timeout(const Turns *t)
{
    return t->o.approval_ms ? t->o.approval_ms : LIMIT_APPROVAL_MS;
}

/* Of all that the run asks. */
static Str row_prefix(Arena *a, const Prompt *k)
{
    return str_printf(a, "ask:%.*s:", STR_FMT(k->me->run_id));
}

/* -- What is heard -- */

static void publish(Prompt *k, const Ask *ask)
{
    pthread_mutex_lock(&k->turns->lock);
    k->me->ask = *ask;
    pthread_mutex_unlock(&k->turns->lock);
}

bool prompt_is_open(const Prompt *k)
{
    return k->ask.id.n > 0;
}

static void withdraw(Prompt *k)
{
    Err err;

    if (prompt_is_open(k)) {
        publish(k, &(Ask){ 0 });
        if (!outbox_take_back(k->journal, row_prefix(k->job->arena, k), STR("it was over before"),
                              &err))
            log_warning("turn '%.*s': %s", STR_FMT(k->job->name), err.text);
    }
    k->ask = (Ask){ 0 };
    k->until = 0;
    k->late = false;
}

static void on_question(Prompt *k, const Frame *f, Json asked)
{
    Json choices = json_get(asked, STR("choices"));
    Arena *a = k->job->arena;

    withdraw(k);
    k->ask.id = str_dup(a, json_str(json_get(asked, STR("id"))));
    k->ask.row = str_printf(a, "%.*s%lld", STR_FMT(row_prefix(a, k)), (long long)f->seq);
    for (size_t i = 0; i < json_count(choices) && i < ARRAY_LEN(k->ask.choices); i++)
        k->ask.choices[k->ask.n_choices++] = str_dup(a, json_str(json_at(choices, i)));
    k->what = str_dup(a, json_str(json_get(asked, STR("command"))));
}

void prompt_on_progress(Prompt *k, const Frame *f, const JsonDoc *doc, bool *ret_asks)
{
    Json root = json_root(doc);
    Str stage = json_str(json_get(root, STR("stage")));
    Str status = json_str(json_get(root, STR("status")));

    *ret_asks = str_eqz(stage, "approval") && str_eqz(status, "waiting");
    if (*ret_asks)
        on_question(k, f, json_get(root, STR("approval")));
    else if (str_eqz(stage, "approval"))
        withdraw(k);
    else if (str_eqz(stage, "tool"))
        k->tool = str_eqz(status, "started")
                      ? str_dup(k->job->arena, json_str(json_get(root, STR("tool"))))
                  : str_eqz(status, "running") ? k->tool
                                               : STR("");
    else if (str_eqz(stage, "notice")) {
        /* The runtime's peer did not take the answer, and says so in a notice. */
        pthread_mutex_lock(&k->turns->lock);
        k->me->ask.answered = false;
        pthread_mutex_unlock(&k->turns->lock);
    }
}

void prompt_close(Prompt *k)
{
    withdraw(k);
}

/* -- What is said -- */

static Str time_words(Arena *a, int64_t ms)
{
    int64_t n = ms >= MINUTE_MS ? ms / MINUTE_MS : ms / 1000;

    return str_printf(a, "%lld %s%s", (long long)n, ms >= MINUTE_MS ? "minute" : "second",
                      n == 1 ? "" : "s");
}

static bool has_choice(const Ask *ask, Str choice)
{
    for (size_t i = 0; i < ask->n_choices; i++)
        if (str_eq(ask->choices[i], choice))
            return true;
    return false;
}

/* The requested command is inside a fence that it cannot close, so that its text cannot pass for
 * ours. */
static void add_fenced(Buf *out, Str text)
{
    size_t ticks = 0;

    buf_addz(out, "\n\n```\n");
    for (size_t i = 0; i < text.n; i++) {
        ticks = text.p[i] == '`' ? ticks + 1 : 0;
        if (ticks == 3) {
            buf_addc(out, ' ');
            ticks = 1;
        }
        buf_addc(out, text.p[i]);
    }
    buf_addz(out, "\n```\n");
    if (str_ends(text, STR("\xe2\x80\xa6")))
        buf_addz(out, "The request is longer than shown here.\n");
}

static Str question_text(Arena *a, const Prompt *k)
{
    /* In its threads Slack keeps '/' to itself. */
    char mark = str_eqz(k->job->place.platform, "slack") ? '!' : '/';
    AUTO_BUF b = BUF(KIB(16));

    buf_addz(&b, "The agent needs your approval");
    if (k->tool.n)
        buf_addf(&b, " to use %.*s", STR_FMT(utf8_fit(a, k->tool, TOOL_COLUMNS)));
    buf_addz(&b, ":");
    add_fenced(&b, k->what.n ? k->what : STR("(no details given)"));
    buf_addf(&b, "\n%capprove - once\n", mark);
    if (has_choice(&k->ask, STR("session")))
        buf_addf(&b, "%capprove session - for the rest of the session\n", mark);
    if (has_choice(&k->ask, STR("always")))
        buf_addf(&b, "%capprove always - permanently\n", mark);
    buf_addf(&b, "%cdeny - no\n\nIt is denied if you do not answer within %.*s.", mark,
             STR_FMT(time_words(a, approval_timeout(k->turns))));
    return str_dup(a, buf_str(&b));
}

static bool post_message(Prompt *k, Str id, Str text, Err *err)
{
    Arena *a = k->job->arena;
    Outgoing row, o = { .id = id,
                        .platform = k->job->place.platform,
                        .address_json = address_json(a, &k->job->place),
                        .text = text };

    if (!outbox_put(k->journal, a, &o, &row, err))
        return false;
    turns_post(k->turns, k->journal, row.platform, row.place);
    return true;
}

static void post_question(Prompt *k, int64_t now)
{
    Err err;

    k->ask.since_ms = clock_wall_ms();
    publish(k, &k->ask); /* before it is said: the answer may come at once */
    if (!post_message(k, k->ask.row, question_text(k->job->arena, k), &err)) {
        log_warning("turn '%.*s': %s", STR_FMT(k->job->name), err.text);
        return; /* tried again in the next round */
    }
    k->until = now + approval_timeout(k->turns);
}

/* -- Answers -- */

/* One that is being stopped asks nothing any more. */
static ActiveTurn *active_turn_of(Turns *t, Str key)
{
    ActiveTurn *x = t->active;

    while (x && !(str_eq(x->key, key) && x->ask.id.n && !x->stopped))
        x = x->next;
    return x;
}

/* The first to set it has answered. */
static bool set_answered(Turns *t, Str key, Str row, bool to)
{
    bool changed;
    ActiveTurn *x;

    pthread_mutex_lock(&t->lock);
    x = active_turn_of(t, key);
    changed = x && str_eq(x->ask.row, row) && x->ask.answered != to;
    if (changed)
        x->ask.answered = to;
    pthread_mutex_unlock(&t->lock);
    return changed;
}

static bool answer(Turns *t, Str key, Str run_id, const Ask *ask, Str choice, Err *err)
{
    if (!set_answered(t, key, ask->row, true))
        return err_set(err, ERR_CONFLICT, "this request was already answered");
    if (service_approve(t->service, run_id, ask->id, choice, err))
        return true;
    (void)set_answered(t, key, ask->row, false);
    return false;
}

static void deny(Prompt *k)
{
    Arena *a = k->job->arena;
    Err err;

    k->late = true;
    if (answer(k->turns, k->me->key, k->me->run_id, &k->ask, STR("deny"), &err) &&
        !post_message(k, str_printf(a, "late:%.*s", STR_FMT(k->ask.row)),
                      str_printf(a, "No answer within %.*s: denied.",
                                 STR_FMT(time_words(a, approval_timeout(k->turns)))),
                      &err))
        log_warning("turn '%.*s': %s", STR_FMT(k->job->name), err.text);
}

void prompt_update(Prompt *k, int64_t now)
{
    if (prompt_is_open(k) && !k->until)
        post_question(k, now);
    else if (prompt_is_open(k) && !k->late && now >= k->until)
        deny(k);
}

/* A copy of what waits at that key. */
static bool find_ask(Turns *t, Arena *a, Str key, Ask *ret, Str *ret_run, Err *err)
{
    ActiveTurn *x;

    pthread_mutex_lock(&t->lock);
    x = active_turn_of(t, key);
    if (x) {
        *ret = x->ask;
        ret->id = str_dup(a, x->ask.id);
        ret->row = str_dup(a, x->ask.row);
        for (size_t i = 0; i < ret->n_choices; i++)
            ret->choices[i] = str_dup(a, x->ask.choices[i]);
        *ret_run = str_dup(a, x->run_id);
    }
    pthread_mutex_unlock(&t->lock);
    return x || err_set(err, ERR_NOT_FOUND,
                        "nothing is waiting for your approval; a request ends with its turn and "
                        "when the gateway stops");
}

/* Whether the sender of the answer can have read the question. */
static bool was_read(Turns *t, Arena *a, const Ask *ask, int64_t received_ms, Err *err)
{
    bool found = false, ok;
    Outgoing o;

    pthread_mutex_lock(&t->journal_lock);
    ok = outbox_get(t->journal, a, ask->row, &o, &found, err);
    pthread_mutex_unlock(&t->journal_lock);
    if (!ok)
        return false;
    return (found && received_ms >= ask->since_ms && (o.state == OUTBOX_SENT || o.sending > 0)) ||
           err_set(err, ERR_CONFLICT,
                   "the current request is newer than your answer; read it first");
}

bool turns_approve(Turns *t, Str key, Str choice, int64_t received_ms, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Str run_id;
    Ask ask;

    if (!find_ask(t, a, key, &ask, &run_id, err) || !was_read(t, a, &ask, received_ms, err))
        return false;
    if (!has_choice(&ask, choice))
        return err_set(err, ERR_INVALID, "'%.*s' is not one of the choices here", STR_FMT(choice));
    return answer(t, key, run_id, &ask, choice, err);
}
