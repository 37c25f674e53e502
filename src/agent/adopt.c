/* A session of any source as a conversation of ours: which one is meant, what was said in it,
 * and the conversation that continues it. The agent's own files and databases are read, never
 * written. */
#include "agent/continue.h"

#include "agent/conversations_adopt.h"
#include "agent/service_inside.h"
#include "agent/words.h"
#include "base/limits.h"
#include "recall/history.h"
#include "runtimes/runtimes.h"
#include "text/utf8.h"

/* -- What is continued -- */

/* One session while it is looked at. */
typedef struct Source {
    const Homes *homes;
    const Settings *settings;
    Arena *arena;
    Store *store;
    History *history;
    HistoryItem item;
    Continues from;
    bool ours; /* of our own database */
} Source;

static void source_close(Source *x)
{
    x->history = history_close(x->history);
    x->store = store_free(x->store);
}

static void name_source(Source *x)
{
    Str home = x->item.is_file ? str_of(origin_name(x->item.origin))
                               : store_home(x->store, x->item.lineage.tip.home)->path;

    x->ours = !x->item.is_file && str_eq(home, x->homes->data);
    x->from = (Continues){ str_dup(x->arena, home), x->item.lineage.tip.id };
}

/* `files`: transcripts too. */
static bool source_open(Source *x, const Homes *homes, bool files, Str id, Err *err)
{
    x->store = store_open(homes, err);
    if (!x->store)
        return false;
    x->history = history_open(
        &(HistoryWhere){ .homes = homes, .store = x->store, .files = files, .budget_ms = 0 });
    if (!history_find(x->history, x->arena, id, &x->item, err))
        return false;
    name_source(x);
    return true;
}

/* A home that was named is looked at alone, but for the conversations, which are always ours. */
static bool source_find(Source *x, Str id, Err *err)
{
    Homes *now = ARENA_NEW(x->arena, Homes); /* a service may be older than a database */

    *now = homes_again(x->arena, x->homes);
    return source_open(x, now, now->primary->kind != HOME_GIVEN, id, err);
}

static bool load_transcript(const Source *x, SessionWords *ret, Err *err)
{
    LoadOptions options = { .summaries = true, .inherited = true };
    Loaded loaded;

    if (!transcript_load(x->arena, &x->item.file, &options, &loaded, err))
        return false;
    for (size_t i = 0; i < loaded.n; i++)
        if (loaded.side_chain[i])
            loaded.messages[i].display_kind = STR("side_chain");
    words_from(x->arena, loaded.messages, loaded.n, ret);
    return true;
}

static bool load_words(const Source *x, SessionWords *ret, Err *err)
{
    return x->item.is_file ? load_transcript(x, ret, err)
                           : words_load(x->store, x->arena, &x->item.lineage.tip, ret, err);
}

/* -- As a conversation -- */

/* A name that only the other program's server knows is of no use to ours. */
static Str known_model(const Settings *settings, Str name)
{
    return name.n && settings_model(settings, name) ? name : STR("");
}

/* What a handle can hold, and half of the model's window: the other half is for what is said
 * next. */
static size_t room_for(const Settings *settings)
{
    int64_t window = setting_int(settings, SETTING_MODEL_WINDOW);
    size_t room = LIMIT_RUN_HANDLE / 4;

    return window > 0 && (size_t)window / 2 < room ? (size_t)window / 2 : room;
}

static Conversation row_of(const Source *x)
{
    const Session *tip = &x->item.lineage.tip;

    return (Conversation){ .id = x->ours ? tip->id : id_new(x->arena, 'c'),
                           .title = utf8_head(tip->title, LIMIT_TITLE),
                           .model = known_model(x->settings, tip->model),
                           .cwd = tip->cwd };
}

static bool make(const Source *x, Runs *r, Str fingerprint, Str *ret_id, Err *err)
{
    SessionWords words;
    Adoption made = { .from = x->from,
                      .fingerprint = fingerprint,
                      .by = str_of(origin_title(x->item.origin)),
                      .row = row_of(x),
                      .thread = STR(NATIVE_ALIAS) };

    if (!load_words(x, &words, err))
        return false;
    words_fit(&words, room_for(x->settings));
    made.turns = words.turns;
    made.n_turns = words.n_turns;
    if (words.thread.n > 1)
        made.handle = thread_handle(&words.thread, x->arena);
    return adoption_make(r, x->arena, &made, ret_id, err);
}

static bool is_conversation(Runs *r, Arena *a, Str id, bool *ret, Err *err)
{
    Conversation c;

    *ret = conversation_get(r, a, id, &c, err);
    return *ret || err->kind == ERR_NOT_FOUND;
}

static bool adopt(const Source *x, Runs *r, Str *ret_id, Err *err)
{
    Str fingerprint = STR(""), before;
    bool there = false;

    *ret_id = x->from.session_id;
    if (x->ours)
        return is_conversation(r, x->arena, *ret_id, &there, err) &&
               (there || make(x, r, fingerprint, ret_id, err));
    if (!history_fingerprint(x->history, x->arena, &x->item, &fingerprint, err) ||
        !adoption_find(r, x->arena, &x->from, ret_id, &before, err))
        return false;
    return (ret_id->n && str_eq(fingerprint, before)) || make(x, r, fingerprint, ret_id, err);
}

static Source source_of(Service *s, Arena *a)
{
    return (Source){ .homes = s->options.homes, .settings = s->options.settings, .arena = a };
}

bool service_adopt(Service *s, Arena *a, const Home *home, Str session_id, Str *ret_id, Err *err)
{
    Home one = *home;
    Homes homes = { .all = &one, .n = 1, .primary = &one, .data = s->options.homes->data };
    Source x = source_of(s, a);
    bool there = false, ok;
    Runs *r = service_borrow_runs(s, err);

    *ret_id = session_id;
    ok = r && (!str_eq(home->path, homes.data) || is_conversation(r, a, session_id, &there, err));
    if (ok && !there)
        ok = source_open(&x, &homes, false, session_id, err) && adopt(&x, r, ret_id, err);
    source_close(&x);
    service_return_runs(s, r);
    return ok;
}

/* -- By whatever id -- */

/* Conversations are ours, also where --home names another database: then they are looked for by
 * themselves. */
static bool find(Source *x, Runs *r, Str id, Str *ret_conversation, Err *err)
{
    Err why;

    *ret_conversation = STR("");
    if (source_find(x, id, err))
        return true;
    if (err->kind != ERR_NOT_FOUND)
        return false;
    if (!conversation_by_prefix(r, x->arena, id, ret_conversation, &why)) {
        *err = why;
        return false;
    }
    return ret_conversation->n ||
           err_set(err, ERR_NOT_FOUND, "no session '%.*s'; 'talaria sessions list' shows them",
                   STR_FMT(id));
}

static bool continue_any(Source *x, Runs *r, Str id, Str *ret_id, Err *err)
{
    bool there;

    *ret_id = id;
    if (!is_conversation(r, x->arena, id, &there, err))
        return false;
    if (there)
        return true;
    if (!find(x, r, id, ret_id, err))
        return false;
    if (ret_id->n)
        return true;
    return (x->ours || adoption_allowed(r, &x->from, err)) && adopt(x, r, ret_id, err);
}

bool session_continue(const ContinueWhere *where, Runs *r, Arena *a, Str id, Str *ret_id, Err *err)
{
    Source x = { .homes = where->homes, .settings = where->settings, .arena = a };
    bool ok = continue_any(&x, r, id, ret_id, err);

    source_close(&x);
    return ok;
}

bool service_continue(Service *s, Arena *a, Str id, Str *ret_id, Err *err)
{
    ContinueWhere where = { s->options.homes, s->options.settings };
    Runs *r = service_borrow_runs(s, err);
    bool ok = r && session_continue(&where, r, a, id, ret_id, err);

    service_return_runs(s, r);
    return ok;
}

/* -- Without writing -- */

/* Where a session is gone, the conversation that continues it is still here. */
static bool look_up(Source *x, Runs *r, Str id, Str *ret_id, Err *err)
{
    Str fingerprint;
    bool there;

    if (!is_conversation(r, x->arena, id, &there, err))
        return false;
    *ret_id = there ? id : STR("");
    if (there)
        return true;
    if (!adoption_of(r, x->arena, id, ret_id, err))
        return false;
    if (ret_id->n)
        return true;
    if (!find(x, r, id, ret_id, err))
        return false;
    if (ret_id->n)
        return true;
    if (!x->ours)
        return adoption_find(r, x->arena, &x->from, ret_id, &fingerprint, err);
    if (!is_conversation(r, x->arena, x->from.session_id, &there, err))
        return false;
    *ret_id = there ? x->from.session_id : STR("");
    return true;
}

static void fill_row(const Source *x, const SessionWords *words, Conversation *row)
{
    const Lineage *l = &x->item.lineage;

    *row = row_of(x);
    row->id = l->tip.id;
    row->title = l->title;
    row->first_words = words->n_turns ? utf8_head(words->turns[0].content, 80) : STR_NONE;
    row->messages = (int64_t)words->n_turns;
    row->created_ms = (int64_t)(l->started_at * 1000);
    row->updated_ms = (int64_t)(l->last_active * 1000);
    if (!x->ours) {
        row->continues_home = x->from.home;
        row->continues_id = x->from.session_id;
    }
}

static bool preview(const Source *x, Preview *ret, Err *err)
{
    SessionWords words;

    if (!load_words(x, &words, err))
        return false;
    for (size_t i = 0; i < words.n_turns; i++) {
        words.turns[i].seq = words.turns[i].message_id = (int64_t)i + 1;
        words.turns[i].finished_ms = words.turns[i].created_ms;
        words.turns[i].status = STR("complete");
    }
    *ret = (Preview){ .turns = words.turns, .n_turns = words.n_turns };
    fill_row(x, &words, &ret->row);
    return true;
}

bool service_look_up(Service *s, Arena *a, Str id, Str *ret_id, Preview *ret, Err *err)
{
    Source x = source_of(s, a);
    Runs *r = service_borrow_runs(s, err);
    bool ok = r && look_up(&x, r, id, ret_id, err);

    if (ok && !ret_id->n)
        ok = preview(&x, ret, err);
    source_close(&x);
    service_return_runs(s, r);
    return ok;
}

bool session_continued_in(const ContinueWhere *where, Runs *r, Arena *a, Str id, Str *ret_id,
                          Err *err)
{
    Source x = { .homes = where->homes, .settings = where->settings, .arena = a };
    bool ok = look_up(&x, r, id, ret_id, err);

    source_close(&x);
    return ok;
}
