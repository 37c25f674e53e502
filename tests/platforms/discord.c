/* One connection to Discord, driven by lines of JSON: {"do": "send", "channel": "600", "text": "hi"} on the input, one
 * line of answer each; what is received comes in lines of its own, {"cursor": ..., "updates": [...]}. The end of the
 * input closes it. Token, address and cursor come from the environment. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "platforms/platform.h"
#include "text/json.h"

static const Platform *const discord = &platform_discord;
static bool full; /* the disk */

static bool receive(void *ctx, const Update *all, size_t n, Str cursor, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    (void)ctx;
    if (__atomic_load_n(&full, __ATOMIC_SEQ_CST))
        return err_set(err, ERR_BUSY, "the disk is full");
    json_begin(&w, '{');
    json_field_str(&w, "cursor", cursor);
    json_key(&w, "updates");
    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", all[i].id);
        json_field_str(&w, "json", all[i].json);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    buf_addc(&out, '\n');
    fwrite(out.p, 1, out.n, stdout);
    fflush(stdout);
    return true;
}

/* -- orders -------------------------------------------------------------------------------------------------- */

typedef struct Order {
    Connection *c;
    Arena *a;
    Json v;
    JsonWriter *w;
} Order;

static Str word(const Order *o, const char *key)
{
    return json_str(json_get(o->v, str_of(key)));
}

static void put_end(const Order *o, bool ok, const Sent *sent, const Err *err)
{
    json_field_bool(o->w, "ok", ok);
    json_field_str(o->w, "id", sent->id);
    json_field_int(o->w, "wait_ms", sent->wait_ms);
    json_field_bool(o->w, "unsure", sent->unsure);
    json_field_str(o->w, "kind", ok ? STR_NONE : str_of(err_name(err)));
    json_field_str(o->w, "error", ok ? STR_NONE : str_of(err->text));
}

static HomeChannel home_of(const Order *o)
{
    return (HomeChannel){ .chat_id = word(o, "channel"),
                          .chat_type = word(o, "type"),
                          .owner_id = word(o, "owner") };
}

static void do_send(const Order *o)
{
    Place to = { .chat_id = word(o, "channel") };
    Post post = { .to = &to, .text = word(o, "text"), .key = word(o, "key") };
    Sent sent = { 0 };
    Err err = { 0 };
    bool ok = word(o, "edit").n ? discord->edit(o->c, o->a, word(o, "edit"), &post, &sent, &err)
                                : discord->send(o->c, o->a, &post, &sent, &err);

    put_end(o, ok, &sent, &err);
}

static void do_thread(const Order *o)
{
    HomeChannel home = home_of(o);
    Sent sent = { 0 };
    Err err = { 0 };
    bool ok =
        discord->open_thread(o->c, o->a, &home, word(o, "title"), word(o, "key"), &sent, &err);

    put_end(o, ok, &sent, &err);
}

static void do_drop(const Order *o)
{
    HomeChannel home = home_of(o);

    discord->drop_thread(o->c, &home, word(o, "thread"));
}

static void do_typing(const Order *o)
{
    discord->typing(o->c, &(Place){ .chat_id = word(o, "channel") });
}

static void do_look(const Order *o)
{
    HomeChannel home = { 0 };
    Err err = { 0 };
    bool ok = discord->look(o->c, o->a, word(o, "channel"), word(o, "owner"), &home, &err);

    put_end(o, ok, &(Sent){ 0 }, &err);
    json_field_str(o->w, "chat_id", home.chat_id);
    json_field_str(o->w, "name", home.name);
    json_field_str(o->w, "chat_type", home.chat_type);
    json_field_str(o->w, "scope_id", home.scope_id);
    json_field_str(o->w, "owner_id", home.owner_id);
    json_field_str(o->w, "thread_id", home.thread_id);
}

static void do_health(const Order *o)
{
    static const char *const names[] = {
#define X(id, name) name,
        LINK_STATES(X)
#undef X
    };
    Identity me = { 0 };
    Health health;

    discord->health(o->c, o->a, &health);
    json_field_str(o->w, "state", str_of(names[health.state]));
    json_field_str(o->w, "error", health.error);
    json_field_bool(o->w, "known", discord->identity(o->c, o->a, &me));
    json_field_str(o->w, "me", me.id);
    json_field_str(o->w, "name", me.name);
}

static void do_parse(const Order *o)
{
    KeyFlags flags = KEY_FLAGS;
    Identity me = { 0 };
    Inbound in = { 0 };
    bool is = false;
    Err err;

    (void)discord->identity(o->c, o->a, &me);
    json_field_bool(o->w, "ok", discord->shape->parse(o->a, word(o, "json"), &me, &in, &is, &err));
    json_field_bool(o->w, "is", is);
    if (!is)
        return;
    json_field_str(o->w, "text", in.text);
    json_field_bool(o->w, "addressed", in.addressed);
    json_field_bool(o->w, "by_us", in.by_us);
    json_field_bool(o->w, "by_bot", in.by_bot);
    json_field_str(o->w, "key", place_key(o->a, &in.place, &flags));
}

static void do_full(const Order *o)
{
    bool is = false;

    (void)json_bool(json_get(o->v, STR("is")), &is);
    __atomic_store_n(&full, is, __ATOMIC_SEQ_CST);
}

static const struct {
    const char *name;
    void (*run)(const Order *o);
} orders[] = { { "send", do_send },     { "thread", do_thread }, { "drop", do_drop },
               { "typing", do_typing }, { "look", do_look },     { "health", do_health },
               { "parse", do_parse },   { "full", do_full } };

static void obey(Connection *c, Str line)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    Err err;
    AUTO(JsonDoc) *doc = json_parse(line, &err);
    Order o = { .c = c, .a = a, .w = &w };

    if (!doc)
        exit(2);
    o.v = json_root(doc);
    json_begin(&w, '{');
    json_key(&w, "answer");
    json_put(&w, json_get(o.v, STR("n")));
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        if (str_eqz(word(&o, "do"), orders[i].name))
            orders[i].run(&o);
    json_end(&w, '}');
    buf_addc(&out, '\n');
    fwrite(out.p, 1, out.n, stdout);
    fflush(stdout);
}

int main(void)
{
    PlatformConfig config = { .token = str_of(getenv("TALARIA_DISCORD_TOKEN")),
                              .api_base = str_of(getenv("TALARIA_DISCORD_API_BASE")) };
    Err err = { 0 };
    AUTO(Net) *net = net_new(&err);
    PlatformHost host = {
        .net = net, .config = &config, .cursor = str_of(getenv("CURSOR")), .receive = receive
    };
    Connection *c = NULL;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (!net || !discord->open(&host, &c, &err)) {
        fprintf(stderr, "%s: %s\n", err_name(&err), err.text);
        return 1;
    }
    while ((n = getline(&line, &cap, stdin)) > 0)
        obey(c, (Str){ line, (size_t)n });
    free(line);
    discord->close(c);
    return 0;
}
