/* One connection to a platform, driven by lines of JSON: {"do": "send", "chat": "55", "text": "hi"}
 * on the input, one line of answer each; what is received comes as lines of its own, one an update
 * (or one with none, where only the cursor moves). The end of the input closes it.
 *
 * usage: platform_link NAME [CURSOR]     settings from TALARIA_<NAME>_TOKEN, _API_BASE, ... */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/platforms.h"
#include "text/json.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool receives = true;

static const Platform *platform;
static Connection *connection;

static void say(const Buf *line)
{
    pthread_mutex_lock(&lock);
    printf("%.*s\n", STR_FMT(buf_str(line)));
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

static bool receive(void *ctx, const Update *all, size_t n, Str cursor, Err *err)
{
    (void)ctx;
    pthread_mutex_lock(&lock);
    bool works = receives;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < (n ? n : works); i++) {
        AUTO_BUF out = BUF(MIB(4));
        JsonWriter w = JSON_WRITER(&out, 0);

        json_begin(&w, '{');
        json_field_str(&w, works ? "update" : "lost", n ? all[i].id : STR(""));
        json_field_str(&w, "cursor", cursor);
        json_key(&w, "json");
        json_put_raw(&w, n ? all[i].json : STR("null"));
        json_end(&w, '}');
        say(&out);
    }
    return works || err_set(err, ERR_IO, "the disk is full");
}

static void moved(void *ctx, Str before, Str now)
{
    AUTO_BUF out = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);

    (void)ctx;
    json_begin(&w, '{');
    json_field_str(&w, "moved", before);
    json_field_str(&w, "to", now);
    json_end(&w, '}');
    say(&out);
}

/* -- what can be asked for -- */

typedef struct Order {
    Arena *a;
    Json v;
    JsonWriter *w;
} Order;

static Str word(const Order *o, const char *key)
{
    return json_str(json_get(o->v, str_of(key)));
}

static ChatAddress place_of(const Order *o)
{
    return (ChatAddress){ .platform = str_of(platform->shape->name),
                          .chat_id = word(o, "chat"),
                          .chat_type = word(o, "type"),
                          .thread_id = word(o, "thread") };
}

static HomeChannel home_of(const Order *o)
{
    HomeChannel home = { .chat_id = word(o, "chat"),
                         .chat_type = word(o, "type"),
                         .owner_id = word(o, "owner") };

    (void)json_bool(json_get(o->v, STR("topics")), &home.topics);
    return home;
}

static void put_sent(const Order *o, bool ok, const Sent *sent, const Err *err)
{
    json_field_bool(o->w, "ok", ok);
    json_field_str(o->w, "id", sent->id);
    json_field_int(o->w, "wait_ms", sent->wait_ms);
    json_field_bool(o->w, "unsure", sent->unsure);
    json_field_bool(o->w, "no_thread", sent->no_thread);
    json_field_bool(o->w, "anchored", sent->anchored);
    if (!ok) {
        json_field_str(o->w, "kind", str_of(err_name(err)));
        json_field_str(o->w, "error", str_of(err->text));
    }
}

static void do_send(const Order *o)
{
    ChatAddress to = place_of(o);
    Post post = {
        .to = &to, .text = word(o, "text"), .key = word(o, "key"), .anchor = word(o, "anchor")
    };
    Sent sent = { 0 };
    Err err = { 0 };
    (void)json_bool(json_get(o->v, STR("again")), &post.again);
    (void)json_bool(json_get(o->v, STR("anchored")), &post.anchored);
    bool ok = word(o, "edit").n
                  ? platform->edit(connection, o->a, word(o, "edit"), &post, &sent, &err)
                  : platform->send(connection, o->a, &post, &sent, &err);

    put_sent(o, ok, &sent, &err);
}

static void do_thread(const Order *o)
{
    HomeChannel home = home_of(o);
    Sent sent = { 0 };
    Err err = { 0 };
    bool ok = platform->open_thread(connection, o->a, &home, word(o, "title"), word(o, "key"),
                                    &sent, &err);

    put_sent(o, ok, &sent, &err);
}

static void do_drop(const Order *o)
{
    HomeChannel home = home_of(o);

    platform->drop_thread(connection, &home, word(o, "thread"));
    json_field_bool(o->w, "ok", true);
}

static void do_typing(const Order *o)
{
    ChatAddress at = place_of(o);

    platform->typing(connection, &at);
    json_field_bool(o->w, "ok", true);
}

static void do_look(const Order *o)
{
    HomeChannel home = { 0 };
    Err err = { 0 };
    bool ok = platform->look(connection, o->a, word(o, "chat"), word(o, "owner"), &home, &err);

    put_sent(o, ok, &(Sent){ 0 }, &err);
    json_field_str(o->w, "chat", home.chat_id);
    json_field_str(o->w, "name", home.name);
    json_field_str(o->w, "type", home.chat_type);
    json_field_str(o->w, "owner", home.owner_id);
    json_field_str(o->w, "scope", home.scope_id);
    json_field_str(o->w, "thread", home.thread_id);
    json_field_bool(o->w, "topics", home.topics);
    json_field_bool(o->w, "threads", home.threads);
}

static void do_health(const Order *o)
{
    static const char *const states[] = {
#define X(id, name) name,
        CONNECTION_STATES(X)
#undef X
    };
    Identity me = { 0 };
    Health health;

    platform->health(connection, o->a, &health);
    json_field_str(o->w, "state", str_of(states[health.state]));
    json_field_int(o->w, "heard_ms", health.heard_ms);
    json_field_str(o->w, "error", health.error);
    json_field_bool(o->w, "known", platform->identity(connection, o->a, &me));
    json_field_str(o->w, "me", me.id);
    json_field_str(o->w, "name", me.name);
}

/* Whether what comes can be kept. */
static void do_receive(const Order *o)
{
    pthread_mutex_lock(&lock);
    (void)json_bool(json_get(o->v, STR("works")), &receives);
    pthread_mutex_unlock(&lock);
    json_field_bool(o->w, "ok", true);
}

/* The place and words of an update, as the shape reads them here and now. */
static void do_parse(const Order *o)
{
    AUTO_BUF raw = BUF(MIB(4));
    JsonWriter w = JSON_WRITER(&raw, 0);
    Identity me = { 0 };
    KeyFlags flags = KEY_FLAGS;
    Inbound in = { 0 };
    Err err = { 0 };
    bool is = false;

    json_put(&w, json_get(o->v, STR("json")));
    (void)platform->identity(connection, o->a, &me);
    json_field_bool(o->w, "ok", platform->shape->parse(o->a, buf_str(&raw), &me, &in, &is, &err));
    json_field_bool(o->w, "is", is);
    if (!is)
        return;
    json_field_str(o->w, "text", in.text);
    json_field_bool(o->w, "addressed", in.addressed);
    json_field_bool(o->w, "by_us", in.by_us);
    json_field_bool(o->w, "by_bot", in.by_bot);
    json_field_str(o->w, "key", address_key(o->a, &in.place, &flags));
}

static const struct {
    const char *name;
    void (*run)(const Order *o);
} orders[] = { { "send", do_send },     { "thread", do_thread },  { "drop", do_drop },
               { "typing", do_typing }, { "look", do_look },      { "health", do_health },
               { "parse", do_parse },   { "receive", do_receive } };

static void obey(Str line)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(4));
    JsonWriter w = JSON_WRITER(&out, 0);
    Err err;
    AUTO(JsonDoc) *doc = json_parse(line, &err);
    Order o = { .a = a, .w = &w };

    if (!doc)
        exit(2);
    o.v = json_root(doc);
    json_begin(&w, '{');
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        if (str_eqz(word(&o, "do"), orders[i].name))
            orders[i].run(&o);
    json_end(&w, '}');
    say(&out);
}

/* -- the program -- */

static Str from_environment(Arena *a, const char *name, const char *key)
{
    char variable[128];

    snprintf(variable, sizeof variable, "TALARIA_%s_%s", name, key);
    for (char *p = variable; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return str_dup(a, str_of(getenv(variable)));
}

static bool begin(Arena *a, Net *net, char **argv, Err *err)
{
    PlatformConfig config = { .enabled = true };
    PlatformHost host = { .net = net, .config = &config, .receive = receive, .moved = moved };

    platform = platform_named(str_of(argv[1]));
    if (!platform)
        return err_set(err, ERR_USAGE, "no platform '%s'", argv[1]);
#define X(name, env, secret, text) config.name = from_environment(a, argv[1], env);
    PLATFORM_TEXTS(X)
#undef X
    host.cursor = str_of(argv[2] ? argv[2] : "");
    return platform->open(&host, &connection, err);
}

int main(int argc, char **argv)
{
    AUTO(Arena) *a = arena_new();
    Err err = { 0 };
    AUTO(Net) *net = net_new(&err);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (argc < 2 || !net || !begin(a, net, argv, &err)) {
        fprintf(stderr, "platform_link: %s\n", err.text);
        return 1;
    }
    while ((n = getline(&line, &cap, stdin)) > 0)
        obey((Str){ line, (size_t)n });
    free(line);
    connection = platform->close(connection);
    printf("{\"closed\":true}\n");
    return 0;
}
