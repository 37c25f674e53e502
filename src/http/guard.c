#include "http/guard.h"

#include <sys/random.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/sha256.h"

int guard_status(GuardVerdict v)
{
    static const int statuses[] = {
#define X(name, status, text) status,
        GUARD_VERDICTS(X)
#undef X
    };

    return statuses[v];
}

const char *guard_text(GuardVerdict v)
{
    static const char *const texts[] = {
#define X(name, status, text) text,
        GUARD_VERDICTS(X)
#undef X
    };

    return texts[v];
}

/* -- secrets -- */

/* Takes the same time wherever the texts differ. */
static bool is_same_secret(Str given, const char secret[SECRET_CHARS + 1])
{
    volatile unsigned char differ = given.n != SECRET_CHARS;

    for (size_t i = 0; i < SECRET_CHARS; i++)
        differ |= (unsigned char)((i < given.n ? given.p[i] : 0) ^ secret[i]);
    return !differ;
}

static bool is_secret(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789abcdef", s.p[i]) || !s.p[i])
            return false;
    return s.n == SECRET_CHARS;
}

static bool new_secret(char ret[SECRET_CHARS + 1], Err *err)
{
    unsigned char bytes[SECRET_CHARS / 2];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_errno(err, "cannot make a random token");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool read_secret(SecretFile *f, Arena *a, Err *err)
{
    struct stat seen = { 0 };
    Str text;

    /* Looked at before it is read: what changes in between is seen the next time. */
    (void)stat(f->path.p, &seen);
    if (!file_read(a, f->path.p, KIB(1), &text, err))
        return false;
    text = str_trim(text);
    if (!is_secret(text))
        return err_set(err, ERR_INVALID, "'%s' does not hold a token; remove it for a new one",
                       f->path.p);
    memcpy(f->text, text.p, SECRET_CHARS);
    f->seen = seen;
    f->settled = clock_wall() - (double)seen.st_mtim.tv_sec > 2;
    return true;
}

static bool write_secret(SecretFile *f, Arena *a, const char secret[SECRET_CHARS + 1], Err *err)
{
    return file_write_atomic(f->path.p, str_printf(a, "%s\n", secret), err) &&
           read_secret(f, a, err);
}

static bool load_secret(SecretFile *f, Arena *a, Str folder, const char *name, Err *err)
{
    char secret[SECRET_CHARS + 1];

    f->path = str_join_path(a, folder, str_of(name));
    if (read_secret(f, a, err))
        return true;
    return err->kind == ERR_NOT_FOUND && new_secret(secret, err) && write_secret(f, a, secret, err);
}

static void derive(const Guard *g, const char *what, char ret[SECRET_CHARS + 1])
{
    char text[16 + SECRET_CHARS];
    uint8_t hash[SHA256_BYTES];

    snprintf(text, sizeof text, "%s:%s", what, g->salt.text);
    hmac_sha256((Str){ g->token.text, SECRET_CHARS }, str_of(text), hash);
    for (size_t i = 0; i < sizeof hash; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

static void derive_parts(Guard *g)
{
    derive(g, "cookie", g->cookie);
    derive(g, "page", g->page);
}

/* True: it is another one now. A file that is gone or holds no secret changes nothing: whoever
 * writes it may not be done. */
static bool look_again(SecretFile *f)
{
    char before[SECRET_CHARS + 1];
    struct stat now;
    Err err;

    if (stat(f->path.p, &now) != 0 || (f->settled && is_same_file(&now, &f->seen)))
        return false;
    AUTO(Arena) *a = arena_new();
    memcpy(before, f->text, sizeof before);
    return read_secret(f, a, &err) && strcmp(before, f->text) != 0;
}

/* Takes the lock; the secrets are those of the files. */
static void lock_current(Guard *g)
{
    bool token, salt;

    pthread_mutex_lock(&g->lock);
    token = look_again(&g->token);
    salt = look_again(&g->salt);
    if (token || salt)
        derive_parts(g);
}

/* -- the check -- */

static bool host_is_ours(const Guard *g, Str host)
{
    for (size_t i = 0; i < g->n_hosts; i++)
        if (host.n && str_eq(g->hosts[i], host))
            return true;
    return false;
}

/* The origin is the scheme and the very Host of this request: pages of one of our names do not
 * speak for another. https is what a proxy in front of us makes of it. */
static bool origin_is_ours(Str origin, Str host)
{
    Str rest = str_starts(origin, STR("https://"))  ? str_skip(origin, 8)
               : str_starts(origin, STR("http://")) ? str_skip(origin, 7)
                                                    : STR_NONE;

    return rest.n && str_eq(rest, host);
}

static bool site_is_fine(const GuardAsk *ask)
{
    if (!ask->site.p || str_eqz(ask->site, "same-origin"))
        return true;
    if (str_eqz(ask->site, "none"))
        return ask->reads;
    return ask->page && ask->reads && str_eqz(ask->mode, "navigate");
}

/* Whether one of the cookies is ours; several of the same name may come from several paths. */
static bool cookie_is_ours(Str cookies, const char secret[SECRET_CHARS + 1])
{
    Str one;

    while (str_split(&cookies, ';', &one)) {
        one = str_trim(one);
        if (str_starts(one, STR("talaria=")) && is_same_secret(str_skip(one, 8), secret))
            return true;
    }
    return false;
}

/* Both are compared, whichever is wrong. */
static bool is_signed_in(Guard *g, const GuardAsk *ask)
{
    bool cookie, page;

    lock_current(g);
    cookie = cookie_is_ours(ask->cookie, g->cookie);
    page = is_same_secret(ask->page_part, g->page);
    pthread_mutex_unlock(&g->lock);
    return cookie && page;
}

static bool is_token(Guard *g, Str given)
{
    bool same;

    lock_current(g);
    same = is_same_secret(given, g->token.text);
    pthread_mutex_unlock(&g->lock);
    return same;
}

static GuardVerdict check_token(Guard *g, const GuardAsk *ask)
{
    Str given = ask->authorization;

    if (given.p)
        return str_eq_nocase(str_head(given, 7), STR("bearer ")) &&
                       is_token(g, str_trim(str_skip(given, 7)))
                   ? GUARD_OK
                   : GUARD_TOKEN;
    if (!is_signed_in(g, ask))
        return GUARD_TOKEN;
    /* A browser sends cookies by itself; so it has to say where the request comes from. */
    if (!ask->reads && !ask->origin.p)
        return GUARD_ORIGIN;
    if (ask->stream && !ask->origin.p && !str_eqz(ask->site, "same-origin"))
        return GUARD_ORIGIN;
    return GUARD_OK;
}

GuardVerdict guard_check(Guard *g, const GuardAsk *ask)
{
    if (!host_is_ours(g, ask->host))
        return GUARD_HOST;
    if (!site_is_fine(ask))
        return GUARD_SITE;
    if (ask->origin.p && !origin_is_ours(ask->origin, ask->host))
        return GUARD_ORIGIN;
    return ask->needs_token ? check_token(g, ask) : GUARD_OK;
}

/* -- signing in and out -- */

bool guard_revoke(Guard *g, Err *err)
{
    AUTO(Arena) *a = arena_new();
    char salt[SECRET_CHARS + 1];
    bool ok;

    if (!new_secret(salt, err))
        return false;
    lock_current(g);
    ok = write_secret(&g->salt, a, salt, err);
    derive_parts(g);
    pthread_mutex_unlock(&g->lock);
    return ok;
}

bool guard_parts(Guard *g, Arena *a, Str token, Str *ret_cookie, Str *ret_page)
{
    bool same;

    lock_current(g);
    same = is_same_secret(token, g->token.text);
    if (same) {
        *ret_cookie = str_dup(a, (Str){ g->cookie, SECRET_CHARS });
        *ret_page = str_dup(a, (Str){ g->page, SECRET_CHARS });
    }
    pthread_mutex_unlock(&g->lock);
    return same;
}

bool guard_load(Guard *g, Arena *a, Str folder, Err *err)
{
    AUTO(FileLock) *lock = NULL;

    pthread_mutex_init(&g->lock, NULL);
    if (!folder_make(str_z(a, folder), err))
        return false;
    /* Two servers that start at once must agree on one token. */
    lock = lock_take(str_join_path(a, folder, STR("server.lock")).p, 5000, err);
    if (!lock || !load_secret(&g->token, a, folder, "server-token", err) ||
        !load_secret(&g->salt, a, folder, "server-cookie", err))
        return false;
    derive_parts(g);
    return true;
}

/* -- hosts -- */

static void add_host(Guard *g, Arena *a, size_t *cap, Str name, uint16_t port)
{
    Str with_port = str_printf(a, "%.*s:%u", STR_FMT(name), port);

    ARENA_PUSH(a, g->hosts, g->n_hosts, *cap, with_port);
    /* Browsers leave the port out where it is the scheme's own. */
    if (port == 80)
        ARENA_PUSH(a, g->hosts, g->n_hosts, *cap, str_dup(a, name));
}

static Str in_brackets(Arena *a, Str address)
{
    return str_find(address, STR(":")) < address.n ? str_printf(a, "[%.*s]", STR_FMT(address))
                                                   : address;
}

void guard_hosts(Guard *g, Arena *a, uint16_t port, Str bind, const char *more)
{
    Str rest = str_of(more), name;
    size_t cap = 0;

    add_host(g, a, &cap, STR("127.0.0.1"), port);
    add_host(g, a, &cap, STR("localhost"), port);
    add_host(g, a, &cap, STR("[::1]"), port);
    /* "Everywhere" is no name: how others know this machine, --allow-host has to say. */
    if (bind.n && !str_is_one_of(bind, "127.0.0.1|::1|0.0.0.0|::"))
        add_host(g, a, &cap, in_brackets(a, bind), port);
    while (str_split(&rest, ',', &name)) {
        name = str_trim(name);
        if (!name.n)
            continue;
        ARENA_PUSH(a, g->hosts, g->n_hosts, cap, str_dup(a, name));
        if (str_find(name, STR(":")) == name.n)
            add_host(g, a, &cap, name, port);
    }
}
