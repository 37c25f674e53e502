/* The id of a stored file is derived from the message's name, the file's position and the
 * conversation. So a file that is already stored is not downloaded again, and one that a crash left
 * incomplete is overwritten. */
#include "gateway/turns_inside.h"

#include <time.h>

#include "agent/files.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "text/human.h"
#include "text/redact.h"
#include "text/sha256.h"
#include "text/utf8.h"

enum { TRIES = 3, PAUSE_MS = 500, LOOK_MS = 50, MAX_NOTES = KIB(16), MAX_WHY = 200 };

/* The files of one turn. */
typedef struct Fetching {
    Turns *t;
    Arena *arena;
    const TurnJob *job;
    Str conversation_id;
    int64_t until; /* monotonic */
    Str *ids;
    size_t n_ids, cap_ids;
    Buf kept, notes; /* names of those that are there; a line for each that is not */
} Fetching;

void turn_files_keep(TurnJob *job, const Inbound *in)
{
    job->n_files = in->n_files;
    job->more_files = in->more_files;
    job->files = ARENA_ARRAY(job->arena, InboundFile, in->n_files + 1);
    for (size_t i = 0; i < in->n_files; i++)
        job->files[i] = (InboundFile){ .name = str_dup(job->arena, in->files[i].name),
                                       .mime = str_dup(job->arena, in->files[i].mime),
                                       .ref = str_dup(job->arena, in->files[i].ref),
                                       .size = in->files[i].size };
}

/* -- Waiting -- */

/* The sender cancelled the turn. If a new message replaced it, the file is still downloaded: that
 * message is often about the file. */
static bool is_stopped(Turns *t, Str key)
{
    bool stopped = false;

    pthread_mutex_lock(&t->lock);
    for (const ActiveTurn *x = t->active; x; x = x->next)
        stopped |= x->stopped && !x->replaced && str_eq(x->key, key);
    pthread_mutex_unlock(&t->lock);
    return stopped;
}

static bool goes_on(const Fetching *f)
{
    return !turns_closing(f->t) && !is_stopped(f->t, f->job->key);
}

/* False: there is no time for it. */
static bool wait_for(const Fetching *f, int64_t ms)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    int64_t until = clock_mono_ms() + ms;

    if (until > f->until)
        return false;
    while (clock_mono_ms() < until && goes_on(f))
        nanosleep(&look, NULL);
    return goes_on(f);
}

/* -- One file -- */

static Str id_of(const Fetching *f, size_t i)
{
    Str name = str_printf(f->arena, "%.*s\n%.*s\n%zu", STR_FMT(f->job->name),
                          STR_FMT(f->conversation_id), i);

    return str_printf(f->arena, "f%.*s", STR_FMT(str_head(sha256_hex(f->arena, name), 24)));
}

static bool is_kept(const Fetching *f, Str id)
{
    Attachment x;
    Err ignored;
    Runs *r = service_borrow_runs(f->t->service, &ignored);
    bool kept = r && attachment_get(r, f->arena, id, &x, &ignored);

    service_return_runs(f->t->service, r);
    return kept;
}

static bool too_large(Arena *a, Err *err)
{
    return err_set(err, ERR_TOO_LARGE, "larger than %.*s",
                   STR_FMT(human_bytes(a, LIMIT_FILE_BYTES)));
}

/* What may work later is tried again, as long as there is time. */
static bool fetch(const Fetching *f, Arena *a, const InboundFile *file, Str *ret, Err *err)
{
    const GatewayConnection *s = turns_server(f->t, f->job->place.platform);

    if (!s->platform->fetch)
        return err_set(err, ERR_REFUSED, "files are not supported on this platform");
    if (!file->ref.n)
        return err_set(err, ERR_REFUSED, "the platform does not provide the file");
    if (file->size > LIMIT_FILE_BYTES)
        return too_large(a, err);
    for (int i = 1;; i++) {
        Fetched got = { 0 };

        if (s->platform->fetch(s->connection, a, file, LIMIT_FILE_BYTES, &got, err)) {
            *ret = got.bytes;
            return true;
        }
        if (err->kind == ERR_TOO_LARGE)
            return too_large(a, err);
        if ((err->kind != ERR_BUSY && err->kind != ERR_IO) || i == TRIES ||
            !wait_for(f, got.wait_ms ? got.wait_ms : (int64_t)PAUSE_MS << i))
            return false;
    }
}

static bool take(const Fetching *f, size_t i, Str id, Err *err)
{
    AUTO(Arena) *a = arena_new(); /* of the bytes: one file at a time */
    const InboundFile *file = &f->job->files[i];
    Attachment x;
    Str bytes;

    if (clock_mono_ms() >= f->until)
        return err_set(err, ERR_BUSY, "no time left to download it");
    return fetch(f, a, file, &bytes, err) && files_add_as(f->t->service, a, id, f->conversation_id,
                                                          file->name, file->mime, bytes, &x, err);
}

/* -- What is said of it -- */

static void note(Fetching *f, const InboundFile *file, const Err *err)
{
    Arena *a = f->arena;
    /* Foreign text is kept on one line. */
    Str why = utf8_fit(a, redact_text(a, str_dup(a, str_of(err->text))), MAX_WHY);

    log_note("turn '%.*s': file '%.*s' was not read: %.*s", STR_FMT(f->job->name),
             STR_FMT(file->name), STR_FMT(why));
    buf_addf(&f->notes, "%s[file '%.*s'", f->notes.n ? "\n" : "", STR_FMT(file->name));
    if (file->size >= 0)
        buf_addf(&f->notes, " (%.*s)", STR_FMT(human_bytes(a, file->size)));
    buf_addf(&f->notes, " was not read: %.*s]", STR_FMT(why));
}

/* A message needs text: without any, it lists its files. */
static Str text_of(const Fetching *f)
{
    AUTO_BUF out = BUF(LIMIT_RUN_ASK);

    if (str_trim(f->job->text).n)
        buf_add(&out, f->job->text);
    else if (f->kept.n)
        buf_addf(&out, "[sent without text: %.*s]", STR_FMT(buf_str(&f->kept)));
    else if (!f->notes.n)
        buf_addz(&out, "[a file that was not read]"); /* the turn ends before it begins */
    if (f->notes.n)
        buf_addf(&out, "%s%.*s", out.n ? "\n\n" : "", STR_FMT(buf_str(&f->notes)));
    return str_dup(f->arena, buf_str(&out));
}

/* In a separate message at once: the answer may take long and need not mention it. */
static void tell_sender(const Fetching *f)
{
    Str id = str_printf(f->arena, "files:%.*s", STR_FMT(f->job->name));
    Err err;

    if (f->notes.n && !turns_say(f->t, &f->job->place, id, buf_str(&f->notes), &err))
        log_warning("words '%.*s': %s", STR_FMT(id), err.text);
}

/* -- What was left -- */

/* A file and then the question about it, in two messages: the second ends the turn of the first,
 * and takes over what that was to read. */
static void take_over(Fetching *f)
{
    size_t n = 0;
    Str *left;
    Err err;
    Runs *r = service_borrow_runs(f->t->service, &err);

    if (!r || !attachment_unanswered(r, f->arena, f->conversation_id, &left, &n, &err))
        log_warning("turn '%.*s': %s", STR_FMT(f->job->name), err.text);
    service_return_runs(f->t->service, r);
    for (size_t i = 0; i < n; i++)
        ARENA_PUSH(f->arena, f->ids, f->n_ids, f->cap_ids, left[i]);
}

/* -- All of them -- */

static void each(Fetching *f)
{
    for (size_t i = 0; i < f->job->n_files && goes_on(f); i++) {
        const InboundFile *file = &f->job->files[i];
        Str id = id_of(f, i);
        Err err;

        if (!is_kept(f, id) && !take(f, i, id, &err)) {
            note(f, file, &err);
            continue;
        }
        ARENA_PUSH(f->arena, f->ids, f->n_ids, f->cap_ids, id);
        buf_addf(&f->kept, "%s'%.*s'", f->kept.n ? ", " : "", STR_FMT(file->name));
    }
    if (f->job->more_files)
        buf_addf(&f->notes, "%s[%zu more %s not read: at most %d files per message]",
                 f->notes.n ? "\n" : "", f->job->more_files,
                 f->job->more_files == 1 ? "file was" : "files were", LIMIT_INBOUND_FILES);
}

bool turn_files_fetch(Turns *t, Arena *a, const TurnJob *job, ChatRequest *request, Err *err)
{
    Fetching f = { .t = t,
                   .arena = a,
                   .job = job,
                   .conversation_id = request->conversation_id,
                   .until = clock_mono_ms() + LIMIT_INBOUND_FILES_MS,
                   .kept = BUF(MAX_NOTES),
                   .notes = BUF(MAX_NOTES) };
    bool ends;

    if (!request->internal && !request->instead_of.n)
        take_over(&f);
    each(&f);
    ends = turns_closing(t);
    if (!ends && job->n_files) {
        tell_sender(&f);
        request->text = text_of(&f);
    }
    request->files = f.ids;
    request->n_files = f.n_ids;
    buf_done(&f.kept);
    buf_done(&f.notes);
    return !ends || err_set(err, ERR_INTERRUPTED, "the gateway ends");
}
