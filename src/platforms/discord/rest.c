/* Discord's REST calls and its rules for callers. A route is a method and a path in which only the
 * first number counts; answers say which bucket the route draws from and how much is left in it,
 * and several routes may share one. Short waits are waited out here, longer ones are the caller's.
 * Who continues asking with a bad token, or where it is forbidden, is locked out by Discord as a
 * whole: so neither is asked again. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/call.h"
#include "platforms/discord/inside.h"
#include "text/utf8.h"

enum { PATIENCE_MS = 3000, REFUSED_MS = 60000, MAX_TRIES = 4 };

bool snow_set(Snow *s, Str text)
{
    int64_t number;

    *s = (Snow){ "" };
    if (!str_to_int(text, 1, INT64_MAX, &number))
        return false;
    snprintf(s->z, sizeof s->z, "%.*s", STR_FMT(text));
    return true;
}

int64_t snow_number(Str id)
{
    int64_t number;

    return str_to_int(id, 1, INT64_MAX, &number) ? number : 0;
}

int64_t snow_at(int64_t wall_ms)
{
    return (wall_ms - 1420070400000) * (1 << 22); /* since 2015; the rest of the bits count */
}

/* -- buckets: under the lock -- */

/* "PATCH /channels/1/messages/2" draws from "PATCH /channels/1/messages/:"; *ret_major is 1. */
static void route_of(const Ask *ask, char route[96], Snow *ret_major)
{
    Str path = ask->path, rest = STR_NONE, part;
    int at = snprintf(route, 96, "%s ", ask->method);

    *ret_major = (Snow){ "" };
    (void)str_split(&path, '?', &rest);
    rest = str_skip(rest, 1);
    while (str_split(&rest, '/', &part) && at < 90) {
        bool id = snow_number(part) > 0;

        if (id && !ret_major->z[0])
            (void)snow_set(ret_major, part);
        else if (id)
            part = STR(":");
        at += snprintf(route + at, (size_t)(96 - at), "/%.*s", STR_FMT(part));
    }
}

static Bucket *bucket_of(Connection *c, const char *route, const Snow *major)
{
    Bucket *oldest = &c->buckets[0];

    for (size_t i = 0; i < DISCORD_BUCKETS; i++) {
        Bucket *b = &c->buckets[i];

        if (str_eqz(str_of(b->route), route)) {
            b->used_at = clock_mono_ms();
            return b;
        }
        if (b->used_at < oldest->used_at)
            oldest = b;
    }
    *oldest = (Bucket){ .major = *major, .remaining = -1, .used_at = clock_mono_ms() };
    snprintf(oldest->route, sizeof oldest->route, "%s", route);
    return oldest;
}

static bool same_bucket(const Bucket *a, const Bucket *b)
{
    return a == b || (a->hash[0] && str_eqz(str_of(a->hash), b->hash) &&
                      str_eqz(snow_str(&a->major), b->major.z));
}

/* How long the route has to wait; takes one out of its bucket where it has not. */
static int64_t draw(Connection *c, const Bucket *mine, int64_t now)
{
    int64_t until = c->global_until;

    for (size_t i = 0; i < DISCORD_BUCKETS; i++) {
        const Bucket *b = &c->buckets[i];

        if (same_bucket(mine, b) && b->remaining == 0 && b->reset_at > until)
            until = b->reset_at;
    }
    if (until > now)
        return until - now;
    for (size_t i = 0; i < DISCORD_BUCKETS; i++) {
        Bucket *b = &c->buckets[i];

        if (same_bucket(mine, b) && b->remaining > 0)
            b->remaining--;
        else if (same_bucket(mine, b))
            b->remaining = -1; /* its time has come: the answer will say how much there is now */
    }
    return 0;
}

static int64_t header_ms(const CallAnswer *answer, const char *name)
{
    double seconds;

    return str_to_double(call_header(answer, name), &seconds) && seconds >= 0 && seconds < 1e6
               ? (int64_t)(seconds * 1000) + 1
               : 0;
}

static void learn(Bucket *b, const CallAnswer *answer, int64_t now)
{
    Str hash = call_header(answer, "X-RateLimit-Bucket");
    int64_t left, reset = now + header_ms(answer, "X-RateLimit-Reset-After");

    if (hash.n && hash.n < sizeof b->hash)
        snprintf(b->hash, sizeof b->hash, "%.*s", STR_FMT(hash));
    if (!str_to_int(call_header(answer, "X-RateLimit-Remaining"), 0, 1000000, &left))
        return;
    /* Answers overtake each other: within one window the least that is left is the truth. */
    if (b->remaining < 0 || left < b->remaining || reset > b->reset_at + 500)
        b->remaining = left;
    if (reset > b->reset_at)
        b->reset_at = reset;
}

static int64_t learn_limit(Connection *c, Bucket *b, const CallAnswer *answer, const PyValue *v,
                           int64_t now)
{
    const PyValue *after = update_get(v, "retry_after");
    int64_t ms = after->type == PY_FLOAT && after->real >= 0 && after->real < 1e6
                     ? (int64_t)(after->real * 1000) + 1
                     : header_ms(answer, "Retry-After");

    if (after->type == PY_INT && str_to_int(after->text, 0, 1000000, &ms))
        ms *= 1000;
    if (ms <= 0)
        ms = 1000;
    if (update_true(v, "global")) {
        c->global_until = now + ms;
    } else {
        b->remaining = 0;
        b->reset_at = now + ms;
    }
    return ms;
}

/* -- asking -- */

static bool may_ask(Connection *c, const Bucket *b, int64_t now, Rest *ret, Err *err)
{
    if (c->wire.state == CONNECTION_REFUSED) {
        ret->status = 401;
        return err_set(err, ERR_REFUSED, "%s", c->wire.error);
    }
    if (b->refused_until > now) {
        ret->status = 403;
        return err_set(err, ERR_REFUSED, "%s", b->refused);
    }
    return true;
}

/* Waits for the route's turn, where that is soon. */
static bool take_turn(Connection *c, const char *route, const Snow *major, int64_t patient_until,
                      Rest *ret, Err *err)
{
    for (;;) {
        int64_t now = clock_mono_ms(), wait;
        Bucket *b;
        bool may;

        pthread_mutex_lock(&c->wire.lock);
        b = bucket_of(c, route, major);
        may = may_ask(c, b, now, ret, err);
        wait = may ? draw(c, b, now) : 0;
        pthread_mutex_unlock(&c->wire.lock);
        if (!may || !wait)
            return may;
        ret->wait_ms = wait;
        if (now + wait > patient_until)
            return err_set(err, ERR_BUSY, "discord rate limit: wait %lld ms", (long long)wait);
        if (!connection_rest(&c->wire, wait))
            return err_set(err, ERR_IO, "the connection to discord is being closed");
    }
}

static FetchRequest request_of(Connection *c, Arena *a, const Ask *ask, const char **headers,
                               int64_t ms)
{
    headers[0] = c->authorization;
    headers[1] = DISCORD_AGENT;
    headers[2] = ask->body.n ? "Content-Type: application/json" : NULL;
    headers[3] = NULL;
    return (FetchRequest){
        .method = ask->method,
        .url = str_z(a, str_printf(a, "%s%.*s", c->api, STR_FMT(ask->path))),
        .headers = headers,
        .body = ask->body,
        .times = { .connect = 5000, .total = ms },
        .secret = true,
    };
}

static bool ask_once(Connection *c, Arena *a, const Ask *ask, int64_t until, CallAnswer *ret,
                     Err *err)
{
    int64_t left = until - clock_mono_ms();
    const char *headers[4];
    FetchRequest request = request_of(c, a, ask, headers, left > 100 ? left : 100);

    return call_wait(c->host.net, a, &request, ret, err);
}

/* -- what became of it -- */

static ErrKind kind_of(int status)
{
    return status == 401 || status == 403   ? ERR_REFUSED
           : status == 404 || status == 410 ? ERR_NOT_FOUND
           : status == 429                  ? ERR_BUSY
           : status == 413                  ? ERR_TOO_LARGE
           : status >= 400 && status < 500  ? ERR_INVALID
                                            : ERR_IO;
}

static void say_what(const Ask *ask, const CallAnswer *answer, Rest *ret, Err *err)
{
    Str words = update_text(&ret->v, "message");

    if (answer->end != FETCH_OK)
        err_set_to(err, ERR_IO, "discord: %s", answer->detail);
    else
        err_set_to(err, kind_of(answer->status), "discord answered %d %.*s (%lld) to %s",
                   answer->status, STR_FMT(utf8_head(words, 200)), (long long)ret->code,
                   ask->method);
}

/* Under the lock: what is remembered of a refusal. */
static void remember(Bucket *b, int status, const Err *err)
{
    if (status == 403) {
        b->refused_until = clock_mono_ms() + REFUSED_MS;
        snprintf(b->refused, sizeof b->refused, "%.127s", err->text);
    }
}

static void read_answer(Connection *c, Arena *a, const char *route, const Snow *major,
                        const CallAnswer *answer, Rest *ret)
{
    int64_t now = clock_mono_ms();
    Bucket *b;

    ret->status = answer->end == FETCH_OK ? answer->status : 0;
    ret->unsure = answer->unsure || ret->status >= 500;
    ret->v = (PyValue){ .type = PY_NULL };
    if (answer->body.n && !pyjson_read(a, answer->body, &ret->v))
        ret->v = (PyValue){ .type = PY_NULL };
    ret->code = snow_number(update_text(&ret->v, "code"));
    pthread_mutex_lock(&c->wire.lock);
    b = bucket_of(c, route, major);
    if (answer->end == FETCH_OK) {
        c->wire.heard_ms = clock_wall_ms();
        learn(b, answer, now);
    }
    if (ret->status == 429)
        ret->wait_ms = learn_limit(c, b, answer, &ret->v, now);
    pthread_mutex_unlock(&c->wire.lock);
}

static bool judge(Connection *c, const Ask *ask, const char *route, const Snow *major,
                  const CallAnswer *answer, Rest *ret, Err *err)
{
    if (ret->status >= 200 && ret->status < 300)
        return true;
    say_what(ask, answer, ret, err);
    pthread_mutex_lock(&c->wire.lock);
    remember(bucket_of(c, route, major), ret->status, err);
    pthread_mutex_unlock(&c->wire.lock);
    if (ret->status == 401) {
        connection_set_state(&c->wire, CONNECTION_REFUSED, "discord does not accept the token");
    } else if (err->kind == ERR_IO || err->kind == ERR_BUSY) {
        connection_trouble(&c->wire, err->text);
    }
    return false;
}

int64_t discord_soon(void)
{
    return clock_mono_ms() + 5000;
}

bool rest_call(Connection *c, Arena *a, const Ask *ask, Rest *ret, Err *err)
{
    int64_t now = clock_mono_ms(), until = ask->until ? ask->until : now + LIMIT_PLATFORM_CALL_MS;
    int64_t patient = now + PATIENCE_MS < until ? now + PATIENCE_MS : until;
    CallAnswer answer;
    char route[96];
    Snow major;

    *ret = (Rest){ .v = { .type = PY_NULL } };
    route_of(ask, route, &major);
    for (int tries = 1;; tries++) {
        if (!take_turn(c, route, &major, patient, ret, err) ||
            !ask_once(c, a, ask, until, &answer, err))
            return false;
        ret->wait_ms = 0;
        read_answer(c, a, route, &major, &answer, ret);
        if (ret->status != 429 || tries == MAX_TRIES)
            return judge(c, ask, route, &major, &answer, ret, err);
    }
}

void rest_now(Connection *c, Arena *a, const Ask *ask, const char *what)
{
    CallAnswer answer;
    Err err;

    if (!ask_once(c, a, ask, ask->until, &answer, &err))
        log_warning("discord: %s: %s", what, err.text);
    else if (answer.end != FETCH_OK || answer.status >= 300)
        log_warning("discord: %s: %s (%d)", what, fetch_end_text(answer.end), answer.status);
}

/* -- without waiting -- */

static bool fired_body(void *ctx, Str bytes)
{
    (void)ctx;
    (void)bytes;
    return true;
}

static void fired_done(void *ctx, const FetchDone *done)
{
    const char *what = ctx;

    if (done->end != FETCH_OK || done->status >= 300)
        log_warning("discord: %s: %s (%d)", what, done->detail, done->status);
}

void rest_fire(Connection *c, const Ask *ask, const char *what)
{
    static const FetchHandlers handlers = { NULL, fired_body, fired_done };
    AUTO(Arena) *a = arena_new();
    const char *headers[4];
    FetchRequest request = request_of(c, a, ask, headers, LIMIT_PLATFORM_CALL_MS);
    NetId id;
    Err err;

    request.max = LIMIT_CALL_BODY;
    if (!fetch_start(c->host.net, &request, &handlers, (void *)(uintptr_t)what, &id, &err))
        log_warning("discord: %s: %s", what, err.text);
}
