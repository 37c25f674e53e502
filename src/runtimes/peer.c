/* Children that speak lines. The environment is an allow-list: a key of one provider is nobody
 * else's business. */
#include "runtimes/peer.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/limits.h"
#include "runtimes/lines.h"

enum { ERRORS_KEPT = 4096, MAX_NAMES = 256, VERSION_MS = 2000, VERSION_BYTES = 4096 };

static const char common_names[] =
    "HOME|PATH|USER|LOGNAME|SHELL|LANG|LC_*|TZ|TERM|TMPDIR|XDG_*|SSL_CERT_FILE|SSL_CERT_DIR|"
    "NODE_EXTRA_CA_CERTS|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|http_proxy|https_proxy|no_proxy|"
    "IS_SANDBOX|NODE_OPTIONS";

/* -- what it is given -- */

static const char *find_bin(Arena *a, const Settings *settings, const PeerKind *kind)
{
    const char *given = getenv(kind->variable);

    return given && *given ? str_z(a, str_of(given)) : str_z(a, setting_text(settings, kind->bin));
}

static bool name_matches(Str name, const char *patterns, char sep)
{
    Str rest = str_of(patterns), one;

    while (str_split(&rest, sep, &one)) {
        one = str_trim(one);
        if (str_ends(one, STR("*")) ? str_starts(name, str_head(one, one.n - 1))
                                    : str_eq(name, one))
            return true;
    }
    return false;
}

static const char *const *make_env(Arena *a, const Settings *settings, const PeerKind *kind)
{
    const char **env = ARENA_ARRAY(a, const char *, MAX_NAMES + 1);
    const char *more = str_z(a, setting_text(settings, SETTING_RUNTIMES_ENV));
    size_t n = 0;

    for (char **e = environ; *e && n < MAX_NAMES; e++) {
        Str all = str_of(*e), name = str_head(all, str_find(all, STR("=")));

        if (name_matches(name, common_names, '|') || name_matches(name, kind->names, '|') ||
            name_matches(name, more, ','))
            env[n++] = str_z(a, all);
    }
    return env;
}

/* -- callbacks -- */

static void on_ndjson(void *ctx, Str line, bool cut)
{
    Peer *p = ctx;

    teller_trace(&p->run->teller, line);
    p->on_line(p->run, line, cut);
}

static void on_output(void *ctx, Str bytes)
{
    Peer *p = ctx;

    run_heard(p->run, true);
    ndjson_feed(&p->lines, bytes);
}

static void on_errors(void *ctx, Str bytes)
{
    Peer *p = ctx;

    run_heard(p->run, false);
    teller_trace(&p->run->teller, bytes);
    if (bytes.n > ERRORS_KEPT)
        bytes = str_skip(bytes, bytes.n - ERRORS_KEPT);
    if (p->errors.n + bytes.n > ERRORS_KEPT) {
        size_t drop = p->errors.n + bytes.n - ERRORS_KEPT;

        memmove(p->errors.p, p->errors.p + drop, p->errors.n - drop);
        p->errors.n -= drop;
    }
    buf_add(&p->errors, bytes);
}

static void on_done(void *ctx, const ChildDone *done)
{
    Peer *p = ctx;
    RuntimeRun *run = p->run;

    p->id = 0;
    p->ended = true;
    p->done = *done;
    ndjson_finish(&p->lines);
    p->on_end(run);
    run_drop(run);
}

bool peer_start(Peer *p, RuntimeRun *run, const PeerKind *kind, const char *const *argv, Str input,
                bool keep_input, const int64_t *patience, Err *err)
{
    static const ChildHandlers handlers = { on_output, on_errors, on_done };
    Arena *a = run->arena;
    const char **all;
    size_t n = 0;
    ChildSpec spec = { .env = make_env(a, run->host.settings, kind),
                       .cwd = run->request.cwd.n ? str_z(a, run->request.cwd) : NULL,
                       .input = input,
                       .keep_input = keep_input,
                       .kill_after = patience };

    while (argv[n])
        n++;
    all = ARENA_ARRAY(a, const char *, n + 2);
    all[0] = find_bin(a, run->host.settings, kind);
    memcpy(all + 1, argv, n * sizeof *argv);
    spec.argv = all;
    p->run = run;
    p->kind = kind;
    p->ended = false;
    p->lines = ndjson_of(LIMIT_NDJSON_LINE, on_ndjson, p);
    p->errors = p->errors.max ? p->errors : BUF(ERRORS_KEPT);
    buf_clear(&p->errors);
    run_hold(run);
    if (child_start(run->net, &spec, &handlers, p, &p->id, err))
        return true;
    run->out--; /* the caller holds the run: this is not its end */
    return false;
}

void peer_write(Peer *p, Str line)
{
    AUTO_BUF bytes = BUF(LIMIT_CHILD_INPUT);

    buf_add(&bytes, line);
    buf_addc(&bytes, '\n');
    if (p->id)
        child_write(p->run->net, p->id, buf_str(&bytes), false);
}

void peer_close(Peer *p)
{
    if (p->id)
        child_write(p->run->net, p->id, STR(""), true);
}

void peer_cancel(Peer *p)
{
    if (p->id)
        child_cancel(p->run->net, p->id);
}

void peer_dispose(Peer *p)
{
    buf_done(&p->lines.line);
    buf_done(&p->errors);
}

/* Which program, why, and what to do about it. */
static Str not_started(Arena *a, const Settings *settings, const PeerKind *kind, int code)
{
    const char *bin = find_bin(a, settings, kind), *key = setting_infos[kind->bin].key;

    if (code == ENOENT)
        return str_printf(a, "%s not found ('%s' %s); install it or set %s", kind->title, bin,
                          strchr(bin, '/') ? "does not exist" : "is not on PATH", key);
    return str_printf(a, "%s could not be started ('%s': %s); check %s", kind->title, bin,
                      strerror(code), key);
}

Str peer_obituary(Arena *a, const Peer *p)
{
    Str words = str_trim(buf_str(&p->errors)), tail = words;
    const char *how = child_end_text(p->done.end);

    if (p->done.end == CHILD_NOT_STARTED)
        return not_started(a, p->run->host.settings, p->kind, p->done.code);
    if (tail.n > 300) { /* the last lines say why */
        tail = str_skip(words, words.n - 300);
        tail = str_skip(tail, str_find(tail, STR("\n")));
    }
    return str_printf(a, "%s %s (%d)%s%.*s", p->kind->title, how, p->done.code, tail.n ? ": " : "",
                      STR_FMT(tail));
}

/* -- its version -- */

typedef struct Ask {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    ChildDone done;
    Buf out;
} Ask;

static void ask_output(void *ctx, Str bytes)
{
    Ask *ask = ctx;

    buf_add(&ask->out, bytes);
}

static void ask_done(void *ctx, const ChildDone *done)
{
    Ask *ask = ctx;

    pthread_mutex_lock(&ask->lock);
    ask->done = *done;
    ask->over = true;
    pthread_cond_signal(&ask->changed);
    pthread_mutex_unlock(&ask->lock);
}

static bool ask_version(const RuntimeHost *host, const PeerKind *kind, Arena *a, Str *ret, Err *err)
{
    static const ChildHandlers handlers = { ask_output, NULL, ask_done };
    static const int64_t at_once[3] = { 0, 0, 0 };
    const char *argv[] = { find_bin(a, host->settings, kind), "--version", NULL };
    ChildSpec spec = { .argv = argv,
                       .env = make_env(a, host->settings, kind),
                       .total_ms = VERSION_MS,
                       .kill_after = at_once };
    Ask ask = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    NetId id;
    Str text;

    ask.out = BUF(VERSION_BYTES);
    if (!child_start(host->net, &spec, &handlers, &ask, &id, err))
        return false;
    pthread_mutex_lock(&ask.lock);
    while (!ask.over)
        pthread_cond_wait(&ask.changed, &ask.lock);
    pthread_mutex_unlock(&ask.lock);
    text = str_trim(buf_str(&ask.out));
    *ret = str_dup(a, version_in(str_head(text, str_find(text, STR("\n")))));
    buf_done(&ask.out);
    if (ask.done.end == CHILD_EXITED && ask.done.code == 0)
        return true;
    if (ask.done.end == CHILD_NOT_STARTED)
        return err_set(err, ERR_NOT_FOUND, "%.*s",
                       STR_FMT(not_started(a, host->settings, kind, ask.done.code)));
    return err_set(err, ERR_INVALID, "'%s --version' %s", argv[0], child_end_text(ask.done.end));
}

void peer_probe(const RuntimeHost *host, const PeerKind *kind, Arena *a, RuntimeCaps *ret)
{
    Err why;

    ret->model = ret->version = ret->detail = STR("");
    ret->available = ask_version(host, kind, a, &ret->version, &why);
    if (!ret->available)
        ret->detail = str_dup(a, str_of(why.text));
}

bool peer_id_is_plain(Str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!isalnum((unsigned char)id.p[i]) && (!i || (id.p[i] != '-' && id.p[i] != '_')))
            return false;
    return id.n <= 128;
}
