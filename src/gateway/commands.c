#include "gateway/commands.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/limits.h"
#include "chat/chats.h"
#include "chat/home_channels.h"
#include "handoff/card.h"
#include "handoff/take_codes.h"
#include "handoff/wake.h"
#include "text/human.h"

enum { MAX_NAME = 32, MAX_LISTED = 10 };

/* -- Reading -- */

static int command_named(Str name)
{
#define X(id, word, who, all, text)                                                                \
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
    if (!w.name.n || w.name.n > MAX_NAME || (rest.n && !isspace((unsigned char)rest.p[0])))
        return false;
    w.rest = str_trim(rest);
    w.command = command_named(w.name);
    *ret = w;
    return w.command >= 0 || !bang; /* "!" alone is only emphasis */
}

/* -- Answers -- */

static Str help_text(Chat *c)
{
    AUTO_BUF b = BUF(KIB(4));

#define X(id, name, who, all, text)                                                                \
    if (c->trust >= (who))                                                                         \
        buf_addz(&b, "/" name " - " text "\n");
    CHAT_COMMANDS(X)
#undef X
    buf_addz(&b, "Any other message goes to the agent.");
    return str_dup(c->arena, buf_str(&b));
}

/* The session of this chat and its folder; its id is empty if there is none yet. */
static bool find_session(Chat *c, Lineage *ret, Str *ret_home, Err *err)
{
    Homes homes = homes_again(c->arena, c->homes);
    AUTO(Store) *store = NULL;
    Str id;

    if (!c->sinks->session(c->sinks->turns, c->arena, c->key, &id, err))
        return false;
    *ret = (Lineage){ 0 };
    if (!id.n)
        return true;
    store = store_open(&homes, err);
    if (!store || !store_find(store, c->arena, id, ret, err))
        return false;
    *ret_home = str_dup(c->arena, store_home(store, ret->tip.home)->path);
    return true;
}

static void put_line(Buf *b, const char *label, Str value)
{
    if (value.n)
        buf_addf(b, "%s: %.*s\n", label, STR_FMT(value));
}

static void put_session(Chat *c, Buf *b, const Lineage *l)
{
    static const char *const doing[] = {
        [TURNS_IDLE] = "idle; send a message to continue",
        [TURNS_WAITING] = "your message is queued",
        [TURNS_RUNNING] = "the agent is answering; /stop cancels",
        [TURNS_ASKING] = "the agent is waiting for your approval: /approve or /deny",
    };

    put_line(b, "Session", l->title);
    put_line(b, "Id", l->tip.id);
    put_line(b, "Folder", l->tip.cwd);
    put_line(b, "Model", l->tip.model);
    buf_addf(b, "Messages: %lld, started %.*s\n", (long long)l->messages,
             STR_FMT(human_ago(c->arena, l->started_at, clock_wall())));
    put_line(b, "State", str_of(doing[c->sinks->doing(c->sinks->turns, c->key)]));
}

static bool status_text(Chat *c, Str *ret, Err *err)
{
    AUTO_BUF b = BUF(KIB(4));
    Identity me = { 0 };
    Health h = { 0 };
    Lineage l;
    Str home;

    if (!find_session(c, &l, &home, err))
        return false;
    if (l.tip.id.n)
        put_session(c, &b, &l);
    else
        buf_addz(&b, "No session here yet: your next message starts one.\n");
    (void)c->here->platform->identity(c->here->connection, c->arena, &me);
    c->here->platform->health(c->here->connection, c->arena, &h);
    buf_addf(&b, "Platform: %s%s%.*s, since %.*s", c->here->platform->shape->name,
             me.name.n ? " as " : "", STR_FMT(me.name),
             STR_FMT(human_ago(c->arena, (double)h.since_ms / 1000, clock_wall())));
    *ret = str_dup(c->arena, buf_str(&b));
    return true;
}

static bool stop_turn(Chat *c, Str *ret, Err *err)
{
    bool was;

    if (!c->sinks->stop(c->sinks->turns, c->key, &was, err))
        return false;
    *ret = was ? STR("Stopped. Send a message to continue the session.")
               : STR("Nothing to stop: the agent is not answering.");
    return true;
}

/* X("choice of a runtime", "confirmation") */
#define CHOICES(X)                                                                                 \
    X("once", "Approved once.")                                                                    \
    X("session", "Approved for the rest of the session.")                                          \
    X("always", "Approved permanently.")                                                           \
    X("deny", "Denied.")

static bool answer_question(Chat *c, Str choice, Str *ret, Err *err)
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
        return err_set(
            err, ERR_INVALID,
            "unknown choice '%.*s'; use /approve, /approve session, /approve always or /deny",
            STR_FMT(choice));
    if (!c->sinks->approve(c->sinks->turns, c->key, choice, c->received_ms, err))
        return false;
    *ret = str_of(said);
    return true;
}

static bool start_session(Chat *c, Str *ret, Err *err)
{
    bool was;

    if (!c->sinks->stop(c->sinks->turns, c->key, &was, err) ||
        !c->sinks->forget(c->sinks->turns, c->key, err))
        return false;
    *ret = STR("Your next message starts a new session. To return to this one: /resume");
    return true;
}

static Str list_text(Chat *c, const ChatSession *all, size_t n, const char *how)
{
    AUTO_BUF b = BUF(KIB(16));

    if (n == 0)
        return STR("This chat has no sessions yet.");
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%zu. %.*s (%.*s, %.*s)\n", i + 1,
                 STR_FMT(all[i].title.n ? all[i].title : STR("Untitled")), STR_FMT(all[i].id),
                 STR_FMT(human_ago(c->arena, all[i].started_at, clock_wall())));
    buf_addf(&b, "To continue one: %s", how);
    return str_dup(c->arena, buf_str(&b));
}

/* -- Sessions of elsewhere -- */

static bool newest_of_all(Chat *c, Store *store, ChatSession **ret, size_t *ret_n, Err *err)
{
    AUTO(SessionList) *list = sessions_open(store, &(SessionQuery){ 0 }, err);
    bool more = list != NULL;
    size_t n = 0;

    *ret = ARENA_ARRAY(c->arena, ChatSession, MAX_LISTED);
    while (more && n < MAX_LISTED) {
        Lineage l;

        if (!sessions_next(list, c->arena, &l, &more, err))
            return false;
        if (more)
            (*ret)[n++] =
                (ChatSession){ .id = l.tip.id, .title = l.title, .started_at = l.started_at };
    }
    *ret_n = n;
    return list != NULL;
}

/* Moves the session to this chat and answers with its card, which shows the last messages. */
static bool bring_here(Chat *c, Store *store, const ChatSession *all, size_t n, Str said, Str *ret,
                       Err *err)
{
    const ChatSession *s = chat_session_meant(all, n, said);
    Lineage l;
    Card card;

    if (!store_find(store, c->arena, s ? s->id : said, &l, err) ||
        !c->sinks->resume(c->sinks->turns, &c->in->place, l.tip.id, err) ||
        !card_make(c->arena, c->homes, l.tip.id, &card, err))
        return false;
    *ret = card.text;
    return true;
}

static bool resume_any(Chat *c, Str said, Str *ret, Err *err)
{
    Homes homes = homes_again(c->arena, c->homes);
    AUTO(Store) *store = NULL;
    ChatSession *all;
    size_t n;

    store = store_open(&homes, err);
    if (!store || !newest_of_all(c, store, &all, &n, err))
        return false;
    if (said.n)
        return bring_here(c, store, all, n, said, ret, err);
    *ret = list_text(c, all, n, "/resume --all NUMBER");
    return true;
}

/* -- Sessions of this chat -- */

/* If *said is, starts with or ends with the word: true, and *said without it. */
static bool takes_word(Str *said, Str word)
{
    if (str_eq_nocase(*said, word)) {
        *said = STR("");
        return true;
    }
    if (said->n > word.n && str_eq_nocase(str_head(*said, word.n), word) &&
        isspace((unsigned char)said->p[word.n])) {
        *said = str_trim(str_skip(*said, word.n));
        return true;
    }
    if (said->n > word.n && str_eq_nocase(str_skip(*said, said->n - word.n), word) &&
        isspace((unsigned char)said->p[said->n - word.n - 1])) {
        *said = str_trim(str_head(*said, said->n - word.n));
        return true;
    }
    return false;
}

/* A session without a title is shown with its first message, as everywhere else. */
static void fill_titles(Chat *c, const Homes *homes, ChatSession *all, size_t n)
{
    Err none;
    AUTO(Store) *store = store_open(homes, &none);
    Lineage l;

    for (size_t i = 0; store && i < n; i++)
        if (!all[i].title.n && store_find(store, c->arena, all[i].id, &l, &none))
            all[i].title = l.title;
}

static bool resume_session(Chat *c, Str said, Str *ret, Err *err)
{
    Homes homes = homes_again(c->arena, c->homes);
    const ChatSession *s;
    ChatSession *all;
    size_t n;

    if (takes_word(&said, STR("--all")))
        return resume_any(c, said, ret, err);
    chat_sessions(c->arena, &homes, &c->in->place, c->key, MAX_LISTED, &all, &n);
    fill_titles(c, &homes, all, n);
    if (!said.n) {
        *ret = list_text(c, all, n, "/resume NUMBER");
        return true;
    }
    s = chat_session_meant(all, n, said);
    if (!s)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s' in this chat; /sessions lists them",
                       STR_FMT(said));
    if (!c->sinks->resume(c->sinks->turns, &c->in->place, s->id, err))
        return false;
    *ret = str_printf(c->arena, "Continuing '%.*s'.", STR_FMT(s->title.n ? s->title : s->id));
    return true;
}

/* -- Places -- */

static Str destinations(Chat *c)
{
    AUTO_BUF b = BUF(KIB(1));

    buf_addz(&b, "Where to? /handoff cli (a terminal, with a code), /handoff back (the terminal on "
                 "the agent's machine)");
    for (size_t i = 0; i < c->n_served; i++)
        if (&c->served[i] != c->here)
            buf_addf(&b, ", /handoff %s", c->served[i].platform->shape->name);
    return str_dup(c->arena, buf_str(&b));
}

static const GatewayConnection *server_of(const Chat *c, Str platform)
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
    *ret = str_printf(
        c->arena,
        "Within ten minutes, run this in a terminal on the agent's machine:\n\ntalaria take %.*s",
        STR_FMT(code));
    return true;
}

static bool to_platform(Chat *c, Str home, Str id, Str platform, Str *ret, Err *err)
{
    HandoffRequest request = { .home = home, .session_id = id };
    const GatewayConnection *s = server_of(c, platform);
    HomeChannel there;
    Handoff h;

    if (!s)
        return err_set(err, ERR_REFUSED, "'%.*s' is not connected here", STR_FMT(platform));
    request.platform = platform = str_of(s->platform->shape->name);
    if (s == c->here)
        return err_set(err, ERR_REFUSED, "the session is already on %.*s", STR_FMT(platform));
    if (!(s->config && s->config->home_channel.n) &&
        !home_get(c->journal, c->arena, platform, STR(""), &there, err))
        return false;
    if (!handoff_request(c->journal, c->arena, &request, &h, err))
        return false;
    wake_call(c->homes->data);
    *ret =
        str_printf(c->arena, "Moving the session to %.*s. Continue it there.", STR_FMT(platform));
    return true;
}

/* The session returns to the terminal at once, without a code: a user of that machine could open it
 * anyway. */
static bool give_back(Chat *c, Str home, const Lineage *l, Str *ret, Err *err)
{
    if (c->sinks->doing(c->sinks->turns, c->key) != TURNS_IDLE)
        return err_set(err, ERR_CONFLICT,
                       "the agent is answering; /stop first, then /handoff back");
    if (!c->sinks->forget(c->sinks->turns, c->key, err))
        return false;
    *ret = str_printf(c->arena,
                      "Continue '%.*s' in the terminal:\n\n%s --resume %.*s\n\nYour next message "
                      "here starts a new session.",
                      STR_FMT(l->title), str_eq(home, c->homes->data) ? "talaria chat" : "hermes",
                      STR_FMT(l->tip.id));
    return true;
}

static bool hand_over(Chat *c, Str where, Str *ret, Err *err)
{
    Lineage l;
    Str home;

    if (!where.n) {
        *ret = destinations(c);
        return true;
    }
    if (!find_session(c, &l, &home, err))
        return false;
    if (!l.tip.id.n)
        return err_set(err, ERR_NOT_FOUND, "no session here yet");
    if (str_eq_nocase(where, STR("cli")))
        return to_terminal(c, home, l.tip.id, ret, err);
    if (str_eq_nocase(where, STR("back")))
        return give_back(c, home, &l, ret, err);
    return to_platform(c, home, l.tip.id, where, ret, err);
}

/* -- The home channel -- */

/* The home channel receives all handoffs of a platform, so the configuration has precedence over
 * /sethome, and the chat that loses the role is notified. */

static Str name_of(const HomeChannel *home)
{
    return home->name.n ? home->name : home->chat_id;
}

/* Before the change: a gateway that dies between the two does both again, and says it once. */
static bool tell_old_home(Chat *c, const HomeChannel *now, Err *err)
{
    Str platform = c->in->place.platform;
    HomeChannel old;
    ChatAddress there;

    if (!home_get(c->journal, c->arena, platform, STR(""), &old, err))
        return err->kind == ERR_NOT_FOUND;
    if (str_eq(old.chat_id, now->chat_id))
        return true;
    there = (ChatAddress){ .platform = platform,
                           .chat_id = old.chat_id,
                           .chat_type = old.chat_type,
                           .scope_id = old.scope_id,
                           .user_id = old.owner_id,
                           .thread_id = old.thread_id };
    return c->sinks->say(
        c->sinks->turns, &there, str_printf(c->arena, "home:%.*s", STR_FMT(c->id)),
        str_printf(
            c->arena,
            "Sessions handed over to %.*s no longer arrive here: %.*s made '%.*s' the home "
            "channel. If that was not you, remove them from platforms.%.*s.allowed and type "
            "/sethome here.",
            STR_FMT(platform),
            STR_FMT(c->in->place.user_name.n ? c->in->place.user_name : c->in->place.user_id),
            STR_FMT(name_of(now)), STR_FMT(platform)),
        err);
}

static bool chat_set_home(Chat *c, Str *ret, Err *err)
{
    const ChatAddress *at = &c->in->place;
    Str chat = at->parent_chat_id.n ? at->parent_chat_id : at->chat_id;
    HomeChannel home;

    if (!home_may_be(at->platform, c->here->config ? c->here->config->home_channel : STR(""), chat,
                     err) ||
        !c->here->platform->look(c->here->connection, c->arena, chat, at->user_id, &home, err) ||
        !tell_old_home(c, &home, err) || !home_set(c->journal, at->platform, &home, err))
        return false;
    *ret = str_printf(
        c->arena, "%.*s is now the home channel of %.*s: sessions handed over arrive here, %s.%s",
        STR_FMT(name_of(&home)), STR_FMT(at->platform),
        home.threads ? "each in its own thread" : HOME_WITHOUT_THREADS,
        str_eqz(home.chat_type, "dm") ? "" : " Everyone in this chat will be able to read them.");
    return true;
}

/* -- Which -- */

/* The error speaks of the command as it was typed. */
static bool check_trust(const Chat *c, Trust min, Str name, bool all, Err *err)
{
    if (c->trust >= min)
        return true;
    if (c->trust == TRUST_NAMED)
        return err_set(err, ERR_REFUSED,
                       "sessions from elsewhere can only be opened in a private chat");
    return err_set(err, ERR_REFUSED,
                   "only people whose user id is in platforms.%.*s.allowed can %s%.*s",
                   STR_FMT(c->in->place.platform), all ? "open sessions from elsewhere" : "use /",
                   STR_FMT(all ? STR("") : name));
}

/* "/resume --all 3", "/sessions all" */
static bool is_for_all(const ChatWords *w)
{
    Str rest = w->rest;

    return takes_word(&rest, w->command == CHAT_SESSIONS ? STR("all") : STR("--all"));
}

static bool is_allowed(const Chat *c, const ChatWords *w, Err *err)
{
    static const struct {
        Trust who, all;
    } rows[] = {
#define X(id, name, who, all, text) [id] = { who, all },
        CHAT_COMMANDS(X)
#undef X
    };
    bool all;

    if (w->command < 0)
        return true;
    all = rows[w->command].all != rows[w->command].who && is_for_all(w);
    return check_trust(c, all ? rows[w->command].all : rows[w->command].who, w->name, all, err);
}

static bool run(Chat *c, const ChatWords *w, Str *ret, Err *err)
{
    Str rest = w->rest;

    if (!is_allowed(c, w, err))
        return false;
    switch (w->command) {
    case CHAT_NEW:
        return start_session(c, ret, err);
    case CHAT_RESUME:
        return resume_session(c, w->rest, ret, err);
    case CHAT_SESSIONS:
        return resume_session(c, takes_word(&rest, STR("all")) ? STR("--all") : STR(""), ret, err);
    case CHAT_STATUS:
        return status_text(c, ret, err);
    case CHAT_STOP:
        return stop_turn(c, ret, err);
    case CHAT_APPROVE:
        return answer_question(c, w->rest.n ? w->rest : STR("once"), ret, err);
    case CHAT_DENY:
        return answer_question(c, STR("deny"), ret, err);
    case CHAT_HANDOFF:
        return hand_over(c, w->rest, ret, err);
    case CHAT_SETHOME:
        return chat_set_home(c, ret, err);
    case CHAT_HELP:
        *ret = help_text(c);
        return true;
    default:
        *ret = str_printf(c->arena, "Unknown command /%.*s. /help lists the commands.",
                          STR_FMT(w->name));
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
    *ret_text = str_printf(c->arena, "This did not work: %s", why.text);
    return true;
}
