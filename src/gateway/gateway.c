/* Trouble of one round is told and the next one comes: a database that is locked or full for a while must not
 * end the process. TALARIA_LOCAL_FAULTS ("send=2,thread=1") makes the next calls of the local platform fail, to
 * see what that looks like. */
#include "gateway/gateway.h"

#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/wake.h"
#include "gateway/worker.h"

enum { TROUBLE_MS = 2000 };

static char *lock_path(Arena *a, Str data)
{
    return str_z(a, str_join_path(a, data, STR("gateway.lock")));
}

bool gateway_is_running(Str data)
{
    AUTO(Arena) *a = arena_new();
    AUTO(FileLock) *lock = NULL;
    Err err;

    if (access(lock_path(a, data), F_OK) != 0)
        return false;
    lock = lock_take(lock_path(a, data), 0, &err);
    return !lock;
}

/* -- trouble on demand --------------------------------------------------------------------------------- */

typedef struct Faults {
    int64_t thread, send;
} Faults;

static void read_faults(Faults *f)
{
    Str rest = str_of(getenv("TALARIA_LOCAL_FAULTS")), one, name;

    while (str_split(&rest, ',', &one)) {
        int64_t n = 0;

        if (!str_split(&one, '=', &name) || !str_to_int(one, 0, 1000000, &n))
            continue;
        if (str_eqz(name, "send"))
            f->send = n;
        else if (str_eqz(name, "thread"))
            f->thread = n;
    }
}

static PlatformFault next_fault(void *ctx, const char *call)
{
    Faults *f = ctx;
    int64_t *left = strcmp(call, "send") == 0 ? &f->send : &f->thread;

    return *left > 0 && (*left)-- ? FAULT_FAILS : FAULT_NONE;
}

/* -- running ------------------------------------------------------------------------------------------------ */

static bool make_card(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err)
{
    return card_make(a, ctx, h->session_id, ret, err);
}

/* Host, process and a number that nobody had before: a pid comes back, this does not. */
static Str owner_name(Arena *a)
{
    char host[64] = "localhost", id[ULID_CHARS];

    (void)gethostname(host, sizeof host - 1);
    ulid_make(0, id);
    return str_printf(a, "%s:%d:%s", host, (int)getpid(), id + 10);
}

static bool serve_rounds(const GatewayOptions *o, Worker *worker, Wake *wake, Err *err)
{
    for (bool stop = false; !stop;) {
        int64_t wait = TROUBLE_MS;
        Err why;

        if (!worker_round(worker, &wait, &why))
            log_warning("%s", why.text);
        if (!wake_wait(wake, wait, o->stop_fd, &stop, err))
            return false;
    }
    return true;
}

static bool with_local(const GatewayOptions *o, Arena *a, Journal *journal, Wake *wake,
                       Connection *local, Err *err)
{
    Served served[] = { { &platform_local, local } };
    AUTO(Worker) *worker = worker_new(&(WorkerOptions){ .journal = journal,
                                                        .owner = owner_name(a),
                                                        .served = served,
                                                        .n_served = ARRAY_LEN(served),
                                                        .flags = KEY_FLAGS,
                                                        .homes = o->homes,
                                                        .card = make_card,
                                                        .card_ctx = o->homes });

    o->ready(o->ctx);
    return serve_rounds(o, worker, wake, err);
}

bool gateway_run(const GatewayOptions *o, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Journal) *journal = journal_open(o->homes->data, err);
    AUTO(FileLock) *lock = NULL;
    AUTO(Wake) *wake = NULL;
    Faults faults = { 0 };
    PlatformHost host = { .data = o->homes->data, .fault = next_fault, .fault_ctx = &faults };
    Connection *local = NULL;
    bool ok;

    if (!journal)
        return false;
    lock = lock_take(lock_path(a, o->homes->data), 0, err);
    if (!lock)
        return err_set(err, ERR_CONFLICT, "a gateway is running already on '%.*s'",
                       STR_FMT(o->homes->data));
    read_faults(&faults);
    wake = wake_open(o->homes, err);
    if (!wake || !platform_local.open(&host, &local, err))
        return false;
    ok = with_local(o, a, journal, wake, local, err);
    platform_local.close(local);
    return ok;
}
