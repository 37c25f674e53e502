/* "Which commands failed most often, and why?": failed tool calls by command or tool, each with its
 * most frequent error. The catalogue says which sessions have failures; only those are read. */
#include <stdlib.h>

#include "agent/answer_inside.h"
#include "agent/failure.h"
#include "base/limits.h"
#include "text/human.h"

enum { MAX_KINDS = 400, MAX_ERRORS = 24, MAX_CALLS = 32, SHOWN = 8 };

typedef struct ErrorKind {
    Str kind, line; /* the line: of its newest failure */
    size_t n;
    size_t talk;
    double at;
} ErrorKind;

typedef struct FailedKind {
    Str name, tool; /* tool: if the name is a command's */
    size_t n, sessions, last_talk;
    ErrorKind errors[MAX_ERRORS];
    size_t n_errors;
} FailedKind;

typedef struct Call {
    Str id, tool, text;
} Call;

typedef struct Failures {
    Answering *w;
    FailedKind **all;
    size_t n, cap;
    size_t total, calls, talk; /* failures and calls in the period; the talk that is read */
    Call recent[MAX_CALLS];
    size_t n_calls;
    Arena *scratch;
} Failures;

/* -- Kinds -- */

static FailedKind *kind_of(Failures *f, Str name, Str tool)
{
    Arena *a = f->w->arena;
    FailedKind *k;

    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->all[i]->name, name))
            return f->all[i];
    if (f->n == MAX_KINDS)
        return NULL;
    k = ARENA_NEW(a, FailedKind);
    *k = (FailedKind){ .name = str_dup(a, name), .tool = str_dup(a, tool), .last_talk = SIZE_MAX };
    ARENA_PUSH(a, f->all, f->n, f->cap, k);
    return k;
}

static void add_error(Failures *f, FailedKind *k, Str line, double at)
{
    Arena *a = f->w->arena;
    Str kind = failure_kind(f->scratch, line);
    ErrorKind *e = NULL;

    for (size_t i = 0; i < k->n_errors && !e; i++)
        if (str_eq(k->errors[i].kind, kind))
            e = &k->errors[i];
    if (!e && k->n_errors == MAX_ERRORS)
        return;
    if (!e) {
        e = &k->errors[k->n_errors++];
        *e = (ErrorKind){ .kind = str_dup(a, kind), .at = -1 };
    }
    e->n++;
    if (at > e->at) {
        e->line = str_dup(a, line);
        e->talk = f->talk;
        e->at = at;
    }
}

/* -- Reading -- */

static const Call *call_of(const Failures *f, const Doc *result)
{
    for (size_t i = f->n_calls; i > 0 && i + MAX_CALLS > f->n_calls; i--) {
        const Call *c = &f->recent[(i - 1) % MAX_CALLS];

        if (result->call.n ? str_eq(c->id, result->call) : str_eq(c->tool, result->tool))
            return c;
    }
    return NULL;
}

static void remember_call(Failures *f, const Doc *d)
{
    Call *c = &f->recent[f->n_calls++ % MAX_CALLS];
    Str text = str_skip(d->text, d->tool.n + 1); /* the first line is the name */

    *c = (Call){ .id = str_dup(f->scratch, d->call),
                 .tool = str_dup(f->scratch, d->tool),
                 .text = str_dup(f->scratch, str_head(text, 4096)) };
}

static void add_failure(Failures *f, const Doc *d)
{
    const Call *call = call_of(f, d);
    Str tool = call ? call->tool : d->tool, name = tool, line = failure_line(f->scratch, d->text);
    bool shell = call && failure_is_shell(tool);
    FailedKind *k;

    if (shell)
        name = failure_command(f->scratch, call->text);
    f->total++;
    k = kind_of(f, name.n ? name : STR("unknown tool"), shell ? tool : STR(""));
    if (!k)
        return;
    k->n++;
    k->sessions += k->last_talk != f->talk;
    k->last_talk = f->talk;
    add_error(f, k, line.n ? line : STR("no message"), d->at);
}

static bool on_doc(void *ctx, const Doc *d)
{
    Failures *f = ctx;

    if (d->role == DOC_CALL)
        remember_call(f, d);
    if (!answer_in_period(f->w, d->at))
        return true;
    f->calls += d->role == DOC_CALL;
    if (d->role == DOC_RESULT && d->failed)
        add_failure(f, d);
    return true;
}

/* Sessions without a failure are only counted. */
static size_t read_all(Failures *f)
{
    Answering *w = f->w;
    size_t with = 0;

    for (size_t i = 0; i < w->n; i++) {
        size_t before = f->total;

        if (!w->talks[i].failed) {
            f->calls += (size_t)w->talks[i].calls;
            continue;
        }
        f->talk = i;
        f->n_calls = 0;
        arena_reset(f->scratch);
        if (!answer_read(w, &w->talks[i], on_doc, f))
            w->unread++;
        with += f->total > before;
    }
    return with;
}

/* -- The answer -- */

static int most_first(const void *left, const void *right)
{
    const FailedKind *x = *(FailedKind *const *)left, *y = *(FailedKind *const *)right;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return str_cmp(x->name, y->name);
}

static const ErrorKind *main_error(const FailedKind *k)
{
    const ErrorKind *best = &k->errors[0];

    for (size_t i = 1; i < k->n_errors; i++)
        if (k->errors[i].n > best->n || (k->errors[i].n == best->n && k->errors[i].at > best->at))
            best = &k->errors[i];
    return best;
}

static void put_kind(Failures *f, const FailedKind *k, size_t number)
{
    const ErrorKind *e = main_error(k);
    const Talk *t = &f->w->talks[e->talk];
    Buf *out = f->w->out;

    buf_addf(out, "%zu. ", number);
    answer_code(out, k->name, 60);
    buf_addz(out, " failed ");
    answer_plural(out, (int64_t)k->n, "time", "times");
    buf_addf(out, " (%.0f %% of all failures) in ", 100.0 * (double)k->n / (double)f->total);
    answer_plural(out, (int64_t)k->sessions, "session", "sessions");
    if (k->n_errors > 1)
        buf_addf(out, ". Most often (%zu of %zu): ", e->n, k->n);
    else
        buf_addz(out, ". Error: ");
    answer_code(out, e->line, 200);
    buf_addz(out, ", last in ");
    answer_link(out, t->entry.title, t->entry.id);
    buf_addz(out, ", ");
    answer_date(out, e->at > 0 ? e->at : t->entry.last_at);
    buf_addc(out, '\n');
}

static void put_head(Failures *f, size_t with)
{
    Answering *w = f->w;

    buf_addf(w->out, "%.*s of ", STR_FMT(human_count(w->arena, (int64_t)f->total)));
    answer_plural(w->out, (int64_t)f->calls, "tool call", "tool calls");
    buf_addf(w->out, " failed (%.1f %%), in %zu of ",
             f->calls ? 100.0 * (double)f->total / (double)f->calls : 0.0, with);
    answer_plural(w->out, (int64_t)w->n, "session", "sessions");
    buf_addf(w->out, " (%.*s). By command or tool:\n\n", STR_FMT(w->period_name));
}

bool answer_failed(Answering *w, Err *err)
{
    AUTO(Arena) *scratch = arena_new();
    Failures *f = ARENA_NEW(w->arena, Failures);
    size_t with;

    *f = (Failures){ .w = w, .scratch = scratch };
    if (!answer_sessions(w, w->q->topic, err))
        return false;
    with = read_all(f);
    if (!f->total) {
        buf_addz(w->out, "No tool call failed in ");
        answer_plural(w->out, (int64_t)w->n, "session", "sessions");
        buf_addf(w->out, " (%.*s).\n", STR_FMT(w->period_name));
        return true;
    }
    qsort(f->all, f->n, sizeof *f->all, most_first);
    put_head(f, with);
    for (size_t i = 0; i < f->n && i < SHOWN; i++)
        put_kind(f, f->all[i], i + 1);
    if (f->n > SHOWN)
        buf_addf(w->out, "\nand %zu more, each rarer\n", f->n - SHOWN);
    return true;
}
