#include "gateway/commands.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/limits.h"
#include "gateway/wake.h"
#include "store/chats.h"
#include "store/places_home.h"
#include "store/take_codes.h"
#include "text/human.h"

enum { MOST_NAME = 32, MOST_LISTED = 10 };

/* -- reading --------------------------------------------------------------------------------------------- */

static int command_named(Str name)
{
#define X(id, word, text)                                                                          \
    if (str_eq_nocase(name, STR(word)))                                                            \
        return id;
    CHAT_COMMANDS(X)
#undef X
    return -1;
}

static size_t letters_of(Str s)
{
    size_t n = 0;

    while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '-'))
        n++;
    return n;
}

bool chat_words(const Inbound *in, const Identity *me, ChatWords *ret)
{
    Str text = str_trim(in->text), rest;
    bool bang = text.n && text.p[0] == '!' && str_eqz(in->place.platform, "slack");
    ChatWords w;

    if (!text.n || (text.p[0] != '/' && !bang))
        return false;
    rest = str_skip(text, 1);
    w.name = str_head(rest, letters_of(rest));
    rest = str_skip(rest, w.name.n);
    if (rest.n && rest.p[0] == '@') {
        Str to = str_head(str_skip(rest, 1), letters_of(str_skip(rest, 1)));

        if (!str_eq_nocase(to, me->name))
            return false;
        rest = str_skip(rest, 1 + to.n);
    }
    if (!w.name.n || w.name.n > MOST_NAME || (rest.n && !isspace((unsigned char)rest.p[0])))
        return false;
    w.rest = str_trim(rest);
    w.command = command_named(w.name);
    *ret = w;
    return w.command >= 0 || !bang; /* "!" alone is only emphasis */
}

/* -- answers ----------------------------------------------------------------------------------------------- */

static Str help(Chat *c)
{
    AUTO_BUF b = BUF(KIB(4));

#define X(id, name, text) buf_addz(&b, "/" name " - " text "\n");
    CHAT_COMMANDS(X)
#undef X
    buf_addz(&b, "Everything else goes to the agent.");
    return str_dup(c->arena, buf_str(&b));
}

/* The session of this place with its home and title; id empty: there is none yet. */
static bool find_session(Chat *c, Str *ret_id, Str *ret_home, Str *ret_title, Err *err)
{
    AUTO(Store) *store = NULL;
    Lineage l;
    Str id;

    if (!c->sinks->session(c->sinks->turns, c->arena, c->key, &id, err))
        return false;
    *ret_id = STR("");
    if (!id.n)
        return true;
    store = store_open(c->homes, err);
    if (!store || !store_find(store, c->arena, id, &l, err))
        return false;
    *ret_id = l.tip.id;
    *ret_home = str_dup(c->arena, store_home(store, l.tip.home)->path);
    *ret_title = l.title;
    return true;
}

static bool status(Chat *c, Str *ret, Err *err)
{
    AUTO_BUF b = BUF(KIB(4));
    Str id, home, title;
    Identity me = { 0 };
    Health h = { 0 };

    if (!find_session(c, &id, &home, &title, err))
        return false;
    if (id.n)
        buf_addf(&b, "Session: %.*s\nId: %.*s\n", STR_FMT(title), STR_FMT(id));
    else
        buf_addz(&b, "There is no session here yet: it begins with your next words.\n");
    (void)c->here->platform->identity(c->here->connection, c->arena, &me);
    c->here->platform->health(c->here->connection, c->arena, &h);
    buf_addf(&b, "Platform: %s%s%.*s, since %.*s", c->here->platform->shape->name,
             me.name.n ? " as " : "", STR_FMT(me.name),
             STR_FMT(human_ago(c->arena, (double)h.since_ms / 1000, clock_wall())));
    *ret = str_dup(c->arena, buf_str(&b));
    return true;
}

static bool stop(Chat *c, Str *ret, Err *err)
{
    bool was;

    if (!c->sinks->stop(c->sinks->turns, c->key, &was, err))
        return false;
    *ret = was ? STR("Stopped. The session goes on with your next words.")
               : STR("Nothing is on its way here.");
    return true;
}

/* X("choice of a runtime", "what is said when it was made") */
#define CHOICES(X)                                                                                 \
    X("once", "Approved, this once.")                                                              \
    X("session", "Approved, for the rest of the session.")                                         \
    X("always", "Approved, from now on.")                                                          \
    X("deny", "Denied.")

static bool approve(Chat *c, Str choice, Str *ret, Err *err)
{
    const char *said = NULL;

#define X(name, words)                                                                             \
    if (str_eq_nocase(choice, STR(name))) {                                                        \
        choice = STR(name);                                                                        \
        said = words;                                                                              \
    }
    CHOICES(X)
#undef X
    if (!said)
        return err_set(err, ERR_INVALID,
                       "no '%.*s'; it is /approve, /approve session, /approve always, or /deny",
                       STR_FMT(choice));
    if (!c->sinks->approve(c->sinks->turns, c->key, choice, c->received_ms, err))
        return false;
    *ret = str_of(said);
    return true;
}

static bool begin_new(Chat *c, Str *ret, Err *err)
{
    bool was;

    if (!c->sinks->stop(c->sinks->turns, c->key, &was, err) ||
        !c->sinks->forget(c->sinks->turns, c->key, err))
        return false;
    *ret = STR("A new session begins with your next words. The old one is kept: /resume");
    return true;
}

static Str listed(Chat *c, const ChatSession *all, size_t n)
{
    AUTO_BUF b = BUF(KIB(16));

    if (n == 0)
        return STR("There are no sessions of this chat yet.");
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%zu. %.*s (%.*s, %.*s)\n", i + 1,
                 STR_FMT(all[i].title.n ? all[i].title : STR("Untitled")), STR_FMT(all[i].id),
                 STR_FMT(human_ago(c->arena, all[i].started_at, clock_wall())));
    buf_addz(&b, "Go on with one: /resume NUMBER");
    return str_dup(c->arena, buf_str(&b));
}

static bool resume(Chat *c, Str said, Str *ret, Err *err)
{
    const ChatSession *s;
    ChatSession *all;
    size_t n;

    chat_sessions(c->arena, c->homes, &c->in->place, c->key, MOST_LISTED, &all, &n);
    if (!said.n) {
        *ret = listed(c, all, n);
        return true;
    }
    s = chat_session_meant(all, n, said);
    if (!s)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s' of this chat; /sessions lists them",
                       STR_FMT(said));
    if (!c->sinks->resume(c->sinks->turns, &c->in->place, s->id, err))
        return false;
    *ret = str_printf(c->arena, "This is '%.*s' again.", STR_FMT(s->title.n ? s->title : s->id));
    return true;
}

/* -- places -------------------------------------------------------------------------------------------------- */

static bool set_home(Chat *c, Str *ret, Err *err)
{
    const Place *at = &c->in->place;
    Str chat = at->parent_chat_id.n ? at->parent_chat_id : at->chat_id;
    HomeChannel home;

    if (!c->here->platform->look(c->here->connection, c->arena, chat, at->user_id, &home, err) ||
        !home_set(c->journal, at->platform, &home, err))
        return false;
    *ret = str_printf(c->arena,
                      "%.*s is the home channel of %.*s from now on: sessions that are handed "
                      "over arrive here.%s",
                      STR_FMT(home.name.n ? home.name : home.chat_id), STR_FMT(at->platform),
                      str_eqz(home.chat_type, "dm") ? ""
                                                    : " Everyone in it will be able to read them.");
    return true;
}

static Str destinations(Chat *c)
{
    AUTO_BUF b = BUF(KIB(1));

    buf_addz(&b, "Where to? /handoff cli for a terminal");
    for (size_t i = 0; i < c->n_served; i++)
        if (&c->served[i] != c->here)
            buf_addf(&b, ", /handoff %s", c->served[i].platform->shape->name);
    return str_dup(c->arena, buf_str(&b));
}

static const Served *server_of(const Chat *c, Str platform)
{
    for (size_t i = 0; i < c->n_served; i++)
        if (str_eq_nocase(platform, str_of(c->served[i].platform->shape->name)))
            return &c->served[i];
    return NULL;
}

static bool to_terminal(Chat *c, Str home, Str id, Str *ret, Err *err)
{
    Str code;

    if (!take_code_make(c->journal, c->arena, home, id, &code, err))
        return false;
    *ret = str_printf(c->arena,
                      "Within ten minutes, in a terminal on the machine of the agent:\n\ntalaria "
                      "take %.*s",
                      STR_FMT(code));
    return true;
}

static bool to_platform(Chat *c, Str home, Str id, Str platform, Str *ret, Err *err)
{
    HandoffWish wish = { .home = home, .session_id = id };
    const Served *s = server_of(c, platform);
    HomeChannel there;
    Handoff h;

    if (!s)
        return err_set(err, ERR_REFUSED, "'%.*s' is not served here", STR_FMT(platform));
    wish.platform = platform = str_of(s->platform->shape->name);
    if (s == c->here)
        return err_set(err, ERR_REFUSED, "the session is at %.*s already", STR_FMT(platform));
    if (!(s->config && s->config->home_channel.n) &&
        !home_get(c->journal, c->arena, platform, &there, err))
        return false;
    if (!handoff_request(c->journal, c->arena, &wish, &h, err))
        return false;
    wake_call(c->homes->data);
    *ret = str_printf(c->arena, "On its way to %.*s. It goes on there.", STR_FMT(platform));
    return true;
}

static bool hand_over(Chat *c, Str where, Str *ret, Err *err)
{
    Str id, home, title;

    if (!where.n) {
        *ret = destinations(c);
        return true;
    }
    if (!find_session(c, &id, &home, &title, err))
        return false;
    if (!id.n)
        return err_set(err, ERR_NOT_FOUND, "there is no session here yet");
    if (str_eq_nocase(where, STR("cli")))
        return to_terminal(c, home, id, ret, err);
    return to_platform(c, home, id, where, ret, err);
}

/* -- which -------------------------------------------------------------------------------------------------- */

static bool run(Chat *c, const ChatWords *w, Str *ret, Err *err)
{
    switch (w->command) {
    case CHAT_NEW:
        return begin_new(c, ret, err);
    case CHAT_RESUME:
        return resume(c, w->rest, ret, err);
    case CHAT_SESSIONS:
        return resume(c, STR(""), ret, err);
    case CHAT_STATUS:
        return status(c, ret, err);
    case CHAT_STOP:
        return stop(c, ret, err);
    case CHAT_APPROVE:
        return approve(c, w->rest.n ? w->rest : STR("once"), ret, err);
    case CHAT_DENY:
        return approve(c, STR("deny"), ret, err);
    case CHAT_HANDOFF:
        return hand_over(c, w->rest, ret, err);
    case CHAT_SETHOME:
        return set_home(c, ret, err);
    case CHAT_HELP:
        *ret = help(c);
        return true;
    default:
        *ret =
            str_printf(c->arena, "There is no /%.*s. /help lists what there is.", STR_FMT(w->name));
        return true;
    }
}

bool chat_command(Chat *c, const ChatWords *words, Str *ret_text, Err *err)
{
    Err why;

    if (run(c, words, ret_text, &why))
        return true;
    if (why.kind == ERR_BUSY || why.kind == ERR_IO) {
        *err = why;
        return false;
    }
    *ret_text = str_printf(c->arena, "That cannot be done: %s", why.text);
    return true;
}
