/* A session is the same where every field of it and of its messages is: compared row by row, as
 * they lie, so that no digest has to be kept. A title of ours that is taken gets a number behind
 * it, since titles name sessions; such a one counts as the same title when it is compared. */
#include "recall/import.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "recall/gather.h"
#include "store/own.h"
#include "text/json.h"
#include "transcripts/load.h"

struct Import {
    History *history;
    ImportOptions options;
    Arena *arena;
    Homes ours;    /* our home alone */
    OwnStore *own; /* NULL in a dry run */
    Store *store;
    ImportReport report;
};

static const struct {
    const char *name, *text;
} outcomes[] = {
#define X(id, name, text) { name, text },
    IMPORT_OUTCOMES(X)
#undef X
};

const char *import_outcome_name(ImportOutcome o)
{
    return outcomes[o].name;
}

const char *import_outcome_text(ImportOutcome o)
{
    return outcomes[o].text;
}

const ImportReport *import_report(const Import *im)
{
    return &im->report;
}

/* -- opening -- */

Import *import_close(Import *im)
{
    if (im) {
        store_free(im->store);
        own_store_close(im->own);
        arena_free(im->arena);
        mem_free(im);
    }
    return NULL;
}

Import *import_open(History *h, const Homes *homes, const ImportOptions *options, Err *err)
{
    AUTO(Import) *im = mem_alloc(sizeof *im);
    Home *home;

    im->history = h;
    im->options = *options;
    im->arena = arena_new();
    if (!options->dry_run && !(im->own = own_store_open(homes->data, err)))
        return NULL;
    home = ARENA_NEW(im->arena, Home);
    *home = (Home){ .kind = HOME_OURS,
                    .name = STR("talaria"),
                    .path = homes->data,
                    .database = str_join_path(im->arena, homes->data, STR("talaria.db")) };
    home->present = access(str_z(im->arena, home->database), F_OK) == 0;
    im->ours = (Homes){ .all = home, .n = 1, .primary = home, .data = homes->data };
    im->store = store_open(&im->ours, err);
    return im->store ? TAKE(im) : NULL;
}

static void tell(Import *im, ImportOutcome outcome, Str id, const char *why)
{
    im->report.sessions[outcome]++;
    im->options.tell(im->options.ctx, outcome, id, why);
}

/* -- is it the same -- */

#define SAME_TEXT(a, b)         str_eq((a), (b))
#define SAME_REAL(a, b)         ((a) == (b))
#define SAME_REAL_OR_NULL(a, b) ((a) == (b))
#define SAME_INT(a, b)          ((a) == (b))

/* "Fix the build" and "Fix the build (2)". */
static bool same_title(Str there, Str here)
{
    Str rest;
    int64_t n;

    if (str_eq(there, here))
        return true;
    if (!here.n || !str_starts(there, here))
        return false;
    rest = str_skip(there, here.n);
    return str_starts(rest, STR(" (")) && str_ends(rest, STR(")")) &&
           str_to_int((Str){ rest.p + 2, rest.n - 3 }, 2, INT32_MAX, &n);
}

static bool same_session(const Session *there, const Session *here)
{
    Session a = *there, b = *here;

    if (!same_title(a.title, b.title))
        return false;
    a.title = b.title = STR("");
#define X(kind, name)                                                                              \
    if (!SAME_##kind(a.name, b.name))                                                              \
        return false;
    SESSION_FIELDS(X)
#undef X
    return true;
}

typedef struct Compare {
    const Message *messages;
    size_t n, at;
    bool differs;
} Compare;

static bool compare_one(void *ctx, const Message *m, Err *err)
{
    Compare *c = ctx;
    Message a = *m, b;

    (void)err;
    if (c->at >= c->n || c->differs) {
        c->differs = true;
        return true;
    }
    b = c->messages[c->at++];
    a.session_id = b.session_id = STR("");
#define X(kind, name) c->differs |= !SAME_##kind(a.name, b.name);
    MESSAGE_FIELDS(X)
#undef X
    return true;
}

/* The part of what was found that has this id, compared with what comes. */
static bool same_as(History *h, const HistoryItem *there, const Session *s, const Message *messages,
                    size_t n, bool *ret, Err *err)
{
    MessageQuery query = { .inactive = true };
    Compare c = { .messages = messages, .n = n };

    *ret = false;
    for (size_t i = 0; i < there->lineage.n_parts; i++) {
        const Session *part = &there->lineage.parts[i];

        if (!str_eq(part->id, s->id))
            continue;
        /* What a list shows of a transcript may be older than the file: its messages decide. */
        if (!there->is_file && !same_session(part, s))
            return true;
        if (!history_messages(h, there, i, &query, compare_one, &c, err))
            return false;
        *ret = !c.differs && c.at == c.n;
        return true;
    }
    return true;
}

/* -- writing -- */

/* The title with a number behind it, where another session has it. */
static bool free_title(Import *im, Arena *a, Session *s, Err *err)
{
    Str wanted = s->title;
    bool taken = false;

    for (int i = 2; s->title.n; i++) {
        if (!own_title_taken(im->own, s->title, s->id, &taken, err))
            return false;
        if (!taken)
            return true;
        s->title = str_printf(a, "%.*s (%d)", STR_FMT(wanted), i);
    }
    return true;
}

static bool write_rows(Import *im, const Session *s, const Message *messages, size_t n, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Session session = *s;

    if (!own_delete_session(im->own, s->id, err))
        return false;
    if (!session.title.n)
        session.title = STR_NONE; /* an empty one would count as a name */
    if (!free_title(im, a, &session, err) || !own_add_session(im->own, &session, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Message m = messages[i];

        m.session_id = s->id;
        if (!own_add_message(im->own, &m, err))
            return false;
    }
    return true;
}

static bool write_session(Import *im, const Session *s, const Message *messages, size_t n,
                          ImportOutcome outcome, Err *err)
{
    if (!im->options.dry_run) {
        if (!own_store_begin(im->own, err))
            return false;
        if (!own_store_end(im->own, write_rows(im, s, messages, n, err), err))
            return err_wrap(err, "cannot import '%.*s'", STR_FMT(s->id));
    }
    im->report.messages += (int64_t)n;
    tell(im, outcome, s->id, "");
    return true;
}

/* -- one session -- */

/* By its whole id; *ret_found false: there is none. */
static bool find_ours(Import *im, Arena *a, Str id, HistoryItem *ret, bool *ret_found, Err *err)
{
    Lineage l;
    Err why;

    *ret_found = false;
    if (!store_find(im->store, a, id, &l, &why))
        return why.kind == ERR_NOT_FOUND || why.kind == ERR_CONFLICT || (*err = why, false);
    for (size_t i = 0; i < l.n_parts; i++)
        *ret_found |= str_eq(l.parts[i].id, id);
    *ret = (HistoryItem){ .origin = ORIGIN_TALARIA, .lineage = l, .home = STR("talaria") };
    return true;
}

static bool find_elsewhere(Import *im, Arena *a, Str id, HistoryItem *ret, bool *ret_found,
                           Err *err)
{
    Err why;

    *ret_found = false;
    if (!history_find(im->history, a, id, ret, &why))
        return why.kind == ERR_NOT_FOUND || why.kind == ERR_CONFLICT || (*err = why, false);
    for (size_t i = 0; i < ret->lineage.n_parts; i++)
        *ret_found |= str_eq(ret->lineage.parts[i].id, id);
    return true;
}

static bool take_session(void *ctx, const Session *s, const Message *messages, size_t n, Err *err)
{
    Import *im = ctx;
    AUTO(Arena) *a = arena_new();
    HistoryWhere ours = { .homes = &im->ours, .store = im->store };
    AUTO(History) *own = history_open(&ours);
    bool found = false, same = false;
    HistoryItem there;

    if (!find_ours(im, a, s->id, &there, &found, err))
        return false;
    if (found) {
        if (!same_as(own, &there, s, messages, n, &same, err))
            return false;
        if (!same && im->options.replace)
            return write_session(im, s, messages, n, IMPORT_REPLACED, err);
        tell(im, same ? IMPORT_SAME : IMPORT_CONFLICT, s->id, same ? "" : "--replace takes it");
        return true;
    }
    if (!find_elsewhere(im, a, s->id, &there, &found, err))
        return false;
    if (!found)
        return write_session(im, s, messages, n, IMPORT_ADDED, err);
    if (!same_as(im->history, &there, s, messages, n, &same, err))
        return false;
    tell(im, same ? IMPORT_SAME : IMPORT_CONFLICT, s->id,
         str_z(a, str_printf(a, "in the history of %s", origin_title(there.origin))));
    return true;
}

/* -- lines -- */

static void tell_broken(void *ctx, ImportOutcome outcome, Str id, const char *why)
{
    tell(ctx, outcome, id, why);
}

/* Lines of a descriptor; one that is too long is passed over up to its end. */
static bool read_lines(int fd, const char *name, Gather *g, Err *err)
{
    AUTO_BUF line = BUF(LIMIT_JSON_BYTES);
    AUTO_BUF chunk = BUF(KIB(128));
    char *room = buf_room(&chunk, KIB(64));
    ssize_t got;

    ASSERT(room);
    while ((got = read(fd, room, KIB(64))) != 0) {
        Str rest = { room, got > 0 ? (size_t)got : 0 };

        if (got < 0 && errno != EINTR)
            return err_errno(err, "cannot read '%s'", name);
        while (rest.n) {
            size_t end = str_find(rest, STR("\n"));

            buf_add(&line, str_head(rest, end));
            if (end == rest.n)
                break;
            if (buf_full(&line))
                gather_too_long(g);
            else if (!gather_line(g, buf_str(&line), err))
                return false;
            buf_done(&line);
            rest = str_skip(rest, end + 1);
        }
    }
    if (buf_full(&line))
        gather_too_long(g);
    else if (line.n && !gather_line(g, buf_str(&line), err))
        return false;
    gather_end(g);
    return true;
}

bool import_parse(Str bytes, ImportSession *fn, ImportTell *tell_fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Gather g = { .fn = fn, .tell = tell_fn, .ctx = ctx, .arena = a };
    Str line;

    while (str_split(&bytes, '\n', &line))
        if (!gather_line(&g, line, err))
            return false;
    gather_end(&g);
    return true;
}

/* -- transcripts -- */

/* What wrote it, by its first lines. False: one of our exports, or nothing that is known. */
static bool is_transcript(Str head, SourceKind *ret)
{
    Str line;

    for (int i = 0; i < 8 && str_split(&head, '\n', &line); i++) {
        Err ignored;
        AUTO(JsonDoc) *doc = json_parse(line, &ignored);
        Json root = doc ? json_root(doc) : (Json){ 0 };

        if (json_str(json_get(root, STR("kind"))).p)
            return false;
        if (json_type(json_get(root, STR("payload"))) == JSON_OBJECT) {
            *ret = SOURCE_CODEX;
            return true;
        }
        if (json_str(json_get(root, STR("sessionId"))).p ||
            json_type(json_get(root, STR("parentUuid"))) != JSON_NONE ||
            json_str(json_get(root, STR("leafUuid"))).p) {
            *ret = SOURCE_CLAUDE;
            return true;
        }
    }
    return false;
}

/* "rollout-2026-11-15T08-00-00-<uuid>.jsonl" and "<uuid>.jsonl". */
static Str stem_of(const char *path)
{
    enum { UUID = 36 };
    const char *slash = strrchr(path, '/');
    Str name = str_of(slash ? slash + 1 : path);

    if (str_ends(name, STR(".jsonl")))
        name.n -= strlen(".jsonl");
    if (str_starts(name, STR("rollout-")) && name.n > UUID)
        name = str_skip(name, name.n - UUID);
    return name;
}

static bool import_transcript(Import *im, const char *path, SourceKind source, Err *err)
{
    AUTO(Arena) *a = arena_new();
    char real[PATH_MAX];
    TranscriptFile file = { .source = source, .stem = stem_of(path) };
    HistoryItem item = { .is_file = true };
    struct stat st;
    Loaded loaded;

    if (!realpath(path, real) || stat(real, &st) != 0)
        return err_errno(err, "cannot read '%s'", path);
    file.path = str_of(real);
    file.size = st.st_size;
    file.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    file.inode = st.st_ino;
    file.side_chain = str_starts(file.stem, STR("agent-"));
    item.file = file;
    if (!history_load_file(a, &item, &loaded, err))
        return false;
    if (!loaded.session.id.n)
        loaded.session.id = file.stem;
    im->report.lines += loaded.stats.lines;
    if (!loaded.n) {
        tell(im, IMPORT_BROKEN, loaded.session.id, "it holds no messages");
        return true;
    }
    return take_session(im, &loaded.session, loaded.messages, loaded.n, err);
}

/* -- files -- */

static size_t read_head(int fd, char *room, size_t n)
{
    ssize_t got = pread(fd, room, n, 0);

    return got > 0 ? (size_t)got : 0;
}

bool import_file(Import *im, const char *path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Gather g = { .fn = take_session, .tell = tell_broken, .ctx = im, .arena = a };
    bool standard = strcmp(path, "-") == 0, ok;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *head = mem_alloc(KIB(64));
    SourceKind source;
    size_t n;

    if (fd < 0) {
        mem_free(head);
        return err_errno(err, "cannot read '%s'", path);
    }
    n = standard ? 0 : read_head(fd, head, KIB(64));
    if (is_transcript((Str){ head, n }, &source)) {
        ok = import_transcript(im, path, source, err);
    } else {
        ok = read_lines(fd, path, &g, err);
        im->report.lines += g.line;
    }
    mem_free(head);
    if (!standard)
        close(fd);
    return ok;
}
