/* The words of a conversation that our own runtime keeps stand in its handle, with the calls of
 * tools and their results; what others answered stands behind it. Of every other session they are
 * the rows themselves. */
#include "handoff/hermes.h"

#include "agent/conversation.h"
#include "agent/words.h"
#include "base/clock.h"
#include "base/limits.h"
#include "handoff/copy.h"
#include "platforms/config.h"
#include "text/json.h"

/* -- where to -- */

static bool is_set_up(const HandoffAsk *ask, Str home, Err *err)
{
    AUTO(Arena) *a = arena_new();
    GatewayConfig *c = ARENA_NEW(a, GatewayConfig);
    const PlatformConfig *p = gateway_config_of(c, ask->request.platform);

    gateway_config_hermes(a, home, c);
    /* What else Hermes serves it knows itself. */
    if (!p || p->home_channel.n)
        return true;
    return err_set(err, ERR_REFUSED,
                   p->token.n ? "the Hermes gateway on '%.*s' has no home channel for %.*s; send "
                                "it /sethome in a chat"
                              : "neither the Hermes gateway on '%.*s' nor Talaria is set up for "
                                "%.*s; run 'talaria setup'",
                   STR_FMT(home), STR_FMT(ask->request.platform));
}

static bool can_be_asked(const HandoffAsk *ask, Err *err)
{
    if (ask->request.target.n)
        return err_set(err, ERR_REFUSED,
                       "the Hermes gateway can only deliver to its home channel, not to '%.*s'",
                       STR_FMT(ask->request.target));
    if (ask->request.no_turn)
        return err_set(err, ERR_REFUSED,
                       "the Hermes gateway always lets its agent speak first; omit --no-turn");
    return true;
}

bool lend_may_ask(const HandoffAsk *ask, Str home, Err *err)
{
    return is_set_up(ask, home, err) && can_be_asked(ask, err);
}

bool lend_home(const HandoffAsk *ask, Str *ret_home, Err *err)
{
    for (size_t i = 0; i < ask->homes->n; i++) {
        const Home *home = &ask->homes->all[i];

        if (str_eq(home->path, ask->homes->data) || !home->present ||
            !hermes_gateway_runs(home->path))
            continue;
        if (!lend_may_ask(ask, home->path, err))
            return false;
        *ret_home = home->path;
        return true;
    }
    return err_set(err, ERR_REFUSED,
                   "%.*s is not set up here and no Hermes gateway is running; run 'talaria setup' "
                   "('talaria gateway status' shows what is missing)",
                   STR_FMT(ask->request.platform));
}

void one_home(Arena *a, const Homes *all, Str path, OneHome *ret)
{
    bool ours = str_eq(path, all->data);

    ret->home =
        (Home){ .kind = ours ? HOME_OURS : HOME_HERMES,
                .name = ours ? STR("talaria") : STR("hermes"),
                .path = path,
                .database = str_join_path(a, path, ours ? STR("talaria.db") : STR("state.db")),
                .present = true };
    ret->homes = (Homes){ .all = &ret->home, .n = 1, .primary = &ret->home, .data = all->data };
}

/* -- the words -- */

typedef struct Copy {
    Arena *arena;
    const ChatTurn *turns; /* when things were said */
    size_t n_turns, next;
    double at;
    Message *messages;
    size_t n, cap;
} Copy;

/* Handles have no times. What the next turn says was said then; all else between two of them. */
static double time_of(Copy *c, const ModelMessage *m)
{
    for (size_t i = c->next; m->text.n && i < c->n_turns; i++)
        if (str_eq(c->turns[i].content, m->text)) {
            double at = (double)c->turns[i].created_ms / 1000;

            c->next = i + 1;
            c->at = at > c->at ? at : c->at;
            break;
        }
    return c->at;
}

static Str calls_json(Arena *a, const ModelMessage *m)
{
    AUTO_BUF out = BUF(LIMIT_RUN_HANDLE * 2);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '[');
    for (size_t i = 0; i < m->n_calls; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", m->calls[i].id);
        json_field_str(&w, "type", STR("function"));
        json_field_begin(&w, "function", '{');
        json_field_str(&w, "name", m->calls[i].name);
        json_field_str(&w, "arguments", m->calls[i].arguments);
        json_end(&w, '}');
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return str_dup(a, buf_str(&out));
}

/* Which tool a result is of, by the call before it. */
static Str tool_of(const Thread *t, size_t at)
{
    for (size_t i = at; i-- > 0;)
        for (size_t k = 0; k < t->messages[i].n_calls; k++)
            if (str_eq(t->messages[i].calls[k].id, t->messages[at].call_id))
                return t->messages[i].calls[k].name;
    return STR_NONE;
}

static void add_message(Copy *c, const Thread *t, size_t i)
{
    const ModelMessage *m = &t->messages[i];
    Message row = { .content = m->text, .active = 1 };

    row.timestamp = time_of(c, m);
    if (m->role == MODEL_TOOL) {
        row.role = STR("tool");
        row.tool_call_id = m->call_id;
        row.tool_name = tool_of(t, i);
    } else if (m->role == MODEL_ASSISTANT) {
        row.role = STR("assistant");
        row.finish_reason = m->n_calls ? STR("tool_calls") : STR("stop");
        if (m->n_calls)
            row.tool_calls = calls_json(c->arena, m);
    } else {
        row.role = STR("user");
    }
    ARENA_PUSH(c->arena, c->messages, c->n, c->cap, row);
}

/* Turns that the handle does not know: somebody else answered them. */
static bool add_others(Runs *r, Arena *a, Str id, Thread *t, Err *err)
{
    int64_t known;
    ChatTurn *turns;
    size_t n;

    if (!turns_known_to(r, id, STR("native"), &known, err) ||
        !turns_list(r, a, id, known, SIZE_MAX >> 1, &turns, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (turns[i].content.n && !str_eqz(turns[i].status, "running"))
            thread_add(t, (ModelMessage){ .role = str_eqz(turns[i].role, "user") ? MODEL_USER
                                                                                 : MODEL_ASSISTANT,
                                          .text = turns[i].content });
    return true;
}

/* *ret_n 0: it has no handle. */
static bool kept_words(Runs *r, Arena *a, Str id, Thread *ret, Err *err)
{
    Continuity c;
    bool foreign;

    *ret = (Thread){ .arena = a };
    if (!continuity_of(r, a, id, runtime_find(STR("native")), &c, &foreign, err))
        return false;
    if (!c.generation)
        return true;
    if (!thread_open(ret, a, &(RuntimeRequest){ .handle = c.handle }, err))
        return false;
    ret->n--; /* what would be said next */
    return add_others(r, a, id, ret, err);
}

static bool words_of(Runs *r, Store *store, Arena *a, const Session *tip, Thread *ret, Err *err)
{
    SessionWords words;

    if (!kept_words(r, a, tip->id, ret, err))
        return false;
    if (ret->n)
        return true;
    if (!words_load(store, a, tip, &words, err))
        return false;
    *ret = words.thread;
    return true;
}

static bool copy_of(const HandoffAsk *ask, Arena *a, Session *ret_row, Copy *ret, Err *err)
{
    AUTO(Store) *store = NULL;
    AUTO(Runs) *r = runs_open(ask->homes->data, err);
    OneHome ours;
    ChatTurn *turns;
    Lineage l;
    Thread t;

    one_home(a, ask->homes, ask->homes->data, &ours);
    store = r ? store_open(&ours.homes, err) : NULL;
    if (!store || !store_find(store, a, ask->request.session_id, &l, err) ||
        !turns_list(r, a, l.tip.id, 0, SIZE_MAX >> 1, &turns, &ret->n_turns, err) ||
        !words_of(r, store, a, &l.tip, &t, err))
        return false;
    *ret_row = l.tip;
    ret_row->title = str_eqz(l.title, "Untitled") ? STR_NONE : l.title;
    ret->arena = a;
    ret->turns = turns;
    ret->at = l.tip.started_at;
    for (size_t i = 1; i < t.n; i++)
        add_message(ret, &t, i);
    return true;
}

/* -- asking -- */

static bool request(OwnStore *own, Arena *a, const HandoffAsk *ask, Handoff *ret, Err *err)
{
    bool lent;
    Err none;

    if (handoff_request(own, a, &ask->request, ret, err))
        return true;
    /* Somebody asked before, and may have died since: the same request, under the same name. */
    return err->kind == ERR_CONFLICT &&
           copy_find(own, a, ask->request.home, ask->request.session_id, ret, &lent, &none) &&
           lent && !handoff_is_over(ret->state) && str_eq(ret->platform, ask->request.platform);
}

bool lend_session(OwnStore *own, Arena *a, const HandoffAsk *ask, Handoff *ret, Err *err)
{
    Copy copy = { 0 };
    Session row;
    Err why;

    if (!request(own, a, ask, ret, err))
        return false;
    if (copy_of(ask, a, &row, &copy, err))
        return copy_write(own, a, ret, &row, copy.messages, copy.n, err);
    if (!handoff_fail(own, ret, HANDOFF_FAILED, "copy", str_of(err->text), &why))
        return err_wrap(err, "%s", why.text);
    return false;
}
