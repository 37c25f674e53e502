/* Shows a run at a platform: a typing indicator, then one message that grows. Both are for the eye
 * only; the outbox has the result when the run is over, so a failure here is ignored and tried
 * again later.
 *
 * When the runtime asks for approval, the text so far becomes a separate message, so that the text
 * after the answer appears below it. Where the text is cut depends on the run's frames only, so
 * that a run that is shown again after a crash is cut at the same positions. */

#include "base/clock.h"
#include "base/cond.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/turns_inside.h"
#include "text/json.h"

enum { REST_MS = 1000, TROUBLE_MS = 3000 };

typedef struct Show {
    pthread_mutex_t lock;
    pthread_cond_t called;
    bool woken;
    Subscriber sub;
    Delivery delivery;
    ChatAddress place;
    OwnStore *journal;
    Outgoing *out;
    TurnOutcome *outcome;
    Prompt prompt;
    Str shown; /* the text of the message now; in one of the arenas */
    Arena *arenas[2];
    int arena;
    int64_t type_at, grow_at; /* clock_mono_ms */
    bool mute;                /* no more edits: it is not known whether the message exists */
} Show;

/* Under the run's lock: nothing but the sign. */
static void on_wake(void *ctx)
{
    Show *s = ctx;

    pthread_mutex_lock(&s->lock);
    s->woken = true;
    pthread_cond_signal(&s->called);
    pthread_mutex_unlock(&s->lock);
}

static void wait_until(Show *s, int64_t at)
{
    int64_t soonest = clock_mono_ms() + 1;

    pthread_mutex_lock(&s->lock);
    while (!s->woken && cond_wait_until(&s->called, &s->lock, at < soonest ? soonest : at))
        ;
    s->woken = false;
    pthread_mutex_unlock(&s->lock);
}

/* -- Listening -- */

static Str field(Arena *a, const JsonDoc *doc, const char *key)
{
    return str_dup(a, json_str(json_get(json_root(doc), str_of(key))));
}

/* Closes the text so far as a separate row. */
static void close_part(Show *s, Arena *a, const Frame *f)
{
    Str words = str_trim(str_skip(buf_str(&s->outcome->text), s->outcome->told));
    Err err;

    if (!words.n)
        return;
    if (!outbox_part(
            s->journal, a, s->out,
            str_printf(a, "part:%.*s:%lld", STR_FMT(s->prompt.me->run_id), (long long)f->seq),
            words, &err)) {
        log_warning("words of '%.*s': %s", STR_FMT(s->out->id), err.text);
        return;
    }
    s->outcome->told = buf_str(&s->outcome->text).n;
    s->shown = STR("");
    s->mute = false;
    turns_post(s->prompt.turns, s->journal, s->place.platform, s->out->place);
}

static void on_frame(Show *s, Arena *a, const Frame *f)
{
    AUTO(JsonDoc) *doc = NULL;
    bool asks;
    Err err;

    if (f->event == FRAME_METADATA)
        return;
    doc = json_parse(frame_data(f), &err);
    if (!doc)
        return;
    if (f->event == FRAME_PROGRESS) {
        prompt_on_progress(&s->prompt, f, doc, &asks);
        if (asks)
            close_part(s, a, f);
    } else if (f->event == FRAME_CHUNK)
        buf_add(&s->outcome->text, json_str(json_get(json_root(doc), STR("text"))));
    else if (f->event == FRAME_ERROR)
        s->outcome->trouble = field(a, doc, "message");
    else if (f->event == FRAME_DONE)
        s->outcome->status = field(a, doc, "status");
}

static bool read_frames(Show *s, Arena *a)
{
    const Frame *f;
    bool over;

    while ((f = sub_next(&s->sub, &over)) != NULL)
        on_frame(s, a, f);
    return over;
}

/* -- Showing -- */

static void show_typing(Show *s, int64_t now)
{
    const Platform *p = s->delivery.platform;

    if (prompt_is_open(&s->prompt)) {
        s->type_at = now; /* waiting for a person: typing resumes at once afterwards */
    } else if (!p->typing || p->typing_ms <= 0) {
        s->type_at = INT64_MAX;
    } else if (now >= s->type_at) {
        p->typing(s->delivery.connection, &s->place);
        s->type_at = now + p->typing_ms * 4 / 5;
    }
}

/* What fits into the first message. */
static Str first_piece(Show *s, Arena *a)
{
    Str all = str_trim(str_skip(buf_str(&s->outcome->text), s->outcome->told));
    Str *pieces;
    size_t n;

    if (!all.n)
        return STR("");
    shape_split(a, s->delivery.platform->shape, all, &pieces, &n);
    return n ? pieces[0] : STR("");
}

static int64_t pause_after(const Show *s, bool ok)
{
    int64_t ms = s->delivery.platform->edit_every_ms;

    if (!ok && ms < TROUBLE_MS)
        ms = TROUBLE_MS;
    return s->delivery.wait_ms > ms ? s->delivery.wait_ms : ms;
}

/* A first message would overtake what waits for its next try there. */
static bool must_wait(Show *s)
{
    bool waits = false;
    Err ignored;

    return !s->out->first_ref.n &&
           (!outbox_waits(s->journal, s->out->place, &waits, &ignored) || waits);
}

/* Typing and commands follow the message to its new address. */
static void on_topic_gone(void *ctx, const ChatAddress *to)
{
    Show *s = ctx;
    Turns *t = s->prompt.turns;
    Arena *keep = s->prompt.job->arena;
    Err ignored;

    if (address_parse(keep, address_json(keep, to), &s->place, &ignored))
        active_turn_move(t, s->prompt.me, address_key(keep, &s->place, &t->o.flags));
}

/* What telling them has changed in the row. */
static void copy_row(Outgoing *o, Arena *keep, const Outgoing *before)
{
    o->first_ref = str_dup(keep, o->first_ref);
    if (o->post_as.p != before->post_as.p)
        o->post_as = str_dup(keep, o->post_as);
    if (o->address_json.p == before->address_json.p)
        return;
    o->address_json = str_dup(keep, o->address_json);
    o->place = str_dup(keep, o->place);
}

static void update_message(Show *s, Arena *keep, int64_t now)
{
    Arena *a = s->arenas[s->arena];
    Outgoing before = *s->out;
    Err err = { 0 };
    Str text;
    bool ok;

    if (s->mute || !s->delivery.platform->edit || now < s->grow_at)
        return;
    arena_reset(a);
    text = first_piece(s, a);
    if (!text.n || str_eq(text, s->shown) || must_wait(s))
        return;
    ok = deliver_growing(&s->delivery, s->journal, a, s->out, text, &err);
    s->grow_at = clock_mono_ms() + pause_after(s, ok);
    if (ok) {
        s->shown = text;
        s->arena = !s->arena;
    } else {
        log_debug("words of '%.*s': %s", STR_FMT(s->out->id), err.text);
    }
    copy_row(s->out, keep, &before);
    s->mute = s->delivery.never || (s->out->sending > s->out->sent && !s->out->first_ref.n);
}

/* -- To the end -- */

static int64_t next_time(const Show *s, int64_t now)
{
    int64_t at = now + REST_MS;

    if (s->type_at < at && !prompt_is_open(&s->prompt))
        at = s->type_at;
    if (s->prompt.until && s->prompt.until < at && !s->prompt.late)
        at = s->prompt.until;
    return s->grow_at > now && s->grow_at < at ? s->grow_at : at;
}

static void watch_run(Show *s, Arena *a)
{
    while (!read_frames(s, a)) {
        int64_t now = clock_mono_ms();

        prompt_update(&s->prompt, now);
        show_typing(s, now);
        update_message(s, a, now);
        wait_until(s, next_time(s, clock_mono_ms()));
    }
}

void turn_watch(Turns *t, OwnStore *own, const TurnJob *job, ActiveTurn *me, Outgoing *out,
                LiveRun *live, TurnOutcome *ret)
{
    const GatewayConnection *served = turns_server(t, job->place.platform);
    Show s = { .delivery = { .platform = served->platform,
                             .connection = served->connection,
                             .flags = &t->o.flags },
               .place = job->place,
               .journal = own,
               .out = out,
               .outcome = ret,
               .prompt = { .turns = t, .journal = own, .job = job, .me = me } };

    pthread_mutex_init(&s.lock, NULL);
    cond_init(&s.called);
    s.arenas[0] = arena_new();
    s.arenas[1] = arena_new();
    s.delivery.leaves = on_topic_gone;
    s.delivery.ctx = &s;
    s.sub = (Subscriber){ .wake = on_wake, .ctx = &s };
    sub_join(&s.sub, live, 0);
    watch_run(&s, job->arena);
    prompt_close(&s.prompt);
    sub_leave(&s.sub);
    for (size_t i = 0; i < ARRAY_LEN(s.arenas); i++)
        arena_free(s.arenas[i]);
    pthread_cond_destroy(&s.called);
    pthread_mutex_destroy(&s.lock);
}
