/* Conversations that move: /handoff, /back, and whether what is being written is still ours to
 * write.
 *
 * While we wait for a gateway nothing is typed and nothing runs; Ctrl-C is a word to the waiting. A
 * conversation that went away is left as it is: nothing of it is written here any more, not even at
 * the exit. */
#include <unistd.h>

#include "base/signals.h"
#include "handoff/routing.h"
#include "handoff/wait.h"
#include "terminal/chat_inside.h"

static bool open_journal(Chat *c, Err *err)
{
    if (!c->journal)
        c->journal = own_store_open(c->options->homes->data, err);
    return c->journal != NULL;
}

static bool owner_of(Chat *c, Str id, SessionOwner *ret, bool *ret_away, Err *err)
{
    if (!open_journal(c, err) ||
        !owner_get(c->journal, c->scratch, c->options->homes->data, id, ret, err))
        return false;
    *ret_away = ret->surface.n && !str_eqz(ret->surface, "cli");
    return true;
}

bool chat_is_ours(Chat *c, Str id, Err *err)
{
    SessionOwner owner;
    bool away;

    if (!owner_of(c, id, &owner, &away, err))
        return false;
    if (away && c->service && str_eq(id, c->conversation))
        return err_set(err, ERR_CONFLICT,
                       "this conversation continues in the %.*s chat; /back brings it here",
                       STR_FMT(owner.surface));
    return !away || err_set(err, ERR_CONFLICT,
                            "conversation '%.*s' continues in the %.*s chat; to bring it here: "
                            "/back %.*s or 'talaria handoff back --session %.*s'",
                            STR_FMT(id), STR_FMT(owner.surface), STR_FMT(id), STR_FMT(id));
}

void chat_farewell(Chat *c)
{
    SessionOwner owner;
    bool away = false;
    Err err;

    if (!c->conversation.n || c->handed || c->fresh)
        return;
    if (owner_of(c, c->conversation, &owner, &away, &err) && away)
        chat_note(
            c, "continued in the %.*s chat; to bring it back: talaria handoff back --session %.*s",
            STR_FMT(owner.surface), STR_FMT(c->conversation));
    else
        chat_note(c, "to continue: talaria chat --resume %.*s", STR_FMT(c->conversation));
}

/* -- /handoff -- */

static void note(void *ctx, const char *text)
{
    chat_note(ctx, "%s", text);
}

/* A signal that ends the program is raised again, for the code that reads the next line. */
static WaitWord word(void *ctx)
{
    Chat *c = ctx;
    uint64_t count;
    bool end;

    (void)!read(c->wake_fd, &count, sizeof count);
    end = signals_came(SIGTERM);
    if (end || signals_came(SIGHUP)) {
        (void)raise(end ? SIGTERM : SIGHUP);
        return WAIT_LEAVE;
    }
    return signals_came(SIGINT) ? WAIT_CANCEL : WAIT_ON;
}

static bool wait_for(Chat *c, Handoff *h, Err *err)
{
    HandoffWaiter waiter = {
        .homes = c->options->homes, .wake_fd = c->wake_fd, .word = word, .note = note, .ctx = c
    };
    uint64_t one = 1;
    bool ok = handoff_wait(&waiter, c->journal, c->scratch, h, err);

    /* What else came meanwhile, a new size of the terminal or a warning, was read with our own
     * words. */
    (void)!write(c->wake_fd, &one, sizeof one);
    return ok;
}

static void went(Chat *c, const Handoff *h)
{
    chat_note(c, "done: continued in the %.*s chat", STR_FMT(h->platform));
    chat_note(
        c, "to bring it back: talaria handoff back --session %.*s, then talaria chat --resume %.*s",
        STR_FMT(h->session_id), STR_FMT(h->session_id));
    c->handed = c->leaving = true;
}

/* Empty: there is none yet, and whatever can be refused is refused before one is made. */
static bool find_conversation(Chat *c, Str *ret, Err *err)
{
    Found found;

    *ret = c->conversation;
    if (!c->session)
        return true;
    if (!chat_find(c, c->conversation, &found, err))
        return false;
    *ret = found.session ? STR("") : found.preview.row.id;
    return true;
}

/* *target without it. */
static bool says_no_turn(Str *target)
{
    static const Str flag = STR_INIT("--no-turn");
    bool front = str_starts(*target, flag), whole = front && target->n == flag.n;

    if (whole || (front && target->p[flag.n] == ' '))
        *target = str_trim(str_skip(*target, flag.n));
    else if (str_ends(*target, STR(" --no-turn")))
        *target = str_trim(str_head(*target, target->n - flag.n));
    else
        return false;
    return true;
}

bool slash_handoff(Chat *c, Str rest, Err *err)
{
    size_t end = str_find(rest, STR(" "));
    HandoffAsk ask = { .homes = c->options->homes,
                       .settings = c->options->settings,
                       .request = { .home = c->options->homes->data,
                                    .platform = str_head(rest, end),
                                    .target = str_trim(str_skip(rest, end)) } };
    Handoff h;

    ask.request.no_turn = says_no_turn(&ask.request.target);
    if (c->running)
        return err_set(err, ERR_BUSY, "the agent is still answering; /stop first, then /handoff");
    if (!open_journal(c, err) || !find_conversation(c, &ask.request.session_id, err) ||
        !handoff_may_go(c->journal, &ask, err) || !chat_begin(c, err))
        return false;
    ask.request.session_id = c->conversation;
    if (!handoff_ask(c->journal, c->scratch, &ask, &h, err))
        return false;
    c->fresh = false;
    chat_note(c, "queued: this conversation to %.*s; Ctrl-C cancels", STR_FMT(h.platform));
    if (!wait_for(c, &h, err))
        return false;
    went(c, &h);
    return true;
}

/* -- /back -- */

bool slash_back(Chat *c, Str rest, Err *err)
{
    Str home = c->options->homes->data;
    SessionOwner owner;
    Found found;
    bool away;
    Str id;

    if (!rest.n && !c->conversation.n)
        return err_set(err, ERR_USAGE, "/back needs an ID: no conversation here yet");
    if (!chat_find(c, rest.n ? rest : c->conversation, &found, err))
        return false;
    id = found.preview.row.id;
    if (!owner_of(c, id, &owner, &away, err))
        return false;
    if (!away)
        return err_set(err, ERR_CONFLICT, "conversation '%.*s' is already here", STR_FMT(id));
    if (!handoff_idle(c->options->homes, home, id, err) ||
        !handoff_bring_back(c->options->homes, c->journal, home, id, err))
        return false;
    chat_note(c, "back from %.*s", STR_FMT(owner.surface));
    return chat_resume(c, id, err);
}
