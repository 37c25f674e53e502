#include "sleep/trial/backend_handoff.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/sha256.h"

enum { ID_DIGITS = 16 };

typedef struct Pending {
    Str id, answer_file, prompt;
    int64_t max_tokens;
} Pending;

static const RecordField pending_fields[] = {
    RECORD_FIELD(Pending, id),
    RECORD_FIELD(Pending, answer_file),
    RECORD_FIELD(Pending, max_tokens),
    RECORD_FIELD(Pending, prompt),
};
static const RecordTable pending_record = RECORD(Pending, "question", pending_fields);

struct HandoffBackend {
    Arena *arena;
    Str folder, answers;
    LIST_OF(Pending) pending;
    Asker asker;
    Backend backend;
};

static bool ask(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                Err *err)
{
    HandoffBackend *h = ctx;
    Str id =
        str_head(sha256_hex(a, str_printf(a, "%.*s\n%.*s", STR_FMT(q->draw), STR_FMT(q->prompt))),
                 ID_DIGITS);
    Str file = str_printf(a, "%.*s.md", STR_FMT(id));
    const char *path = str_z(a, str_join_path(a, h->answers, file));
    bool waiting = false;

    b->calls++;
    b->key = id;
    *ret_kept = true; /* answers stay in their files */
    if (access(path, F_OK) != 0) {
        for (size_t i = 0; i < h->pending.n; i++)
            waiting |= str_eq(h->pending.items[i].id, id);
        if (!waiting)
            LIST_PUSH(h->arena, &h->pending,
                      ((Pending){ str_dup(h->arena, id), str_dup(h->arena, file),
                                  str_dup(h->arena, q->prompt), q->max_tokens }));
        b->pending = (int64_t)h->pending.n;
        *ret = STR_NONE;
        return true;
    }
    if (!file_read(a, path, LIMIT_SLEEP_DOCUMENT, ret, err))
        return false;
    *ret = str_trim(*ret);
    return true;
}

HandoffBackend *handoff_backend_new(const SleepHome *home)
{
    HandoffBackend *h = mem_alloc(sizeof *h);

    h->arena = arena_new();
    h->folder = str_join_path(h->arena, home->folder, STR("handoff"));
    h->answers = str_join_path(h->arena, h->folder, STR("answers"));
    h->asker = (Asker){ h, ask };
    h->backend = backend_of_asker("handoff", STR(""), &h->asker);
    return h;
}

HandoffBackend *handoff_backend_free(HandoffBackend *h)
{
    if (h)
        arena_free(h->arena);
    return mem_free(h);
}

Backend *handoff_backend(HandoffBackend *h)
{
    return &h->backend;
}

/* -- Writing out -- */

static bool write_file(HandoffBackend *h, Str name, const Buf *text, Err *err)
{
    if (buf_full(text))
        return err_set(err, ERR_TOO_LARGE, "the questions do not fit into one file");
    return file_write_atomic(str_z(h->arena, str_join_path(h->arena, h->folder, name)),
                             buf_str(text), err);
}

static bool write_json(HandoffBackend *h, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&out, 2);

    json_begin(&w, '{');
    json_field_str(&w, "format", STR("skillopt_sleep.handoff.v1"));
    json_field_str(&w, "answers_dir", h->answers);
    json_key(&w, "pending");
    record_put_list(&w, &pending_record, &h->pending);
    json_end(&w, '}');
    return write_file(h, STR("pending.json"), &out, err);
}

static bool write_prompts(HandoffBackend *h, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);

    buf_addf(&out,
             "# %zu questions\n\nAnswer each one in its own file, answers/<id>.md, with the "
             "answer alone, then run the same command again.\n",
             h->pending.n);
    for (size_t i = 0; i < h->pending.n; i++) {
        const Pending *p = &h->pending.items[i];

        buf_addf(&out, "\n----- BEGIN %.*s -----\n%.*s\n----- END %.*s -----\n", STR_FMT(p->id),
                 STR_FMT(p->prompt), STR_FMT(p->id));
    }
    return write_file(h, STR("PROMPTS.md"), &out, err);
}

bool handoff_flush(HandoffBackend *h, size_t *ret_pending, Str *ret_folder, Err *err)
{
    *ret_pending = h->pending.n;
    *ret_folder = h->folder;
    return !h->pending.n || (folder_make(str_z(h->arena, h->answers), err) && write_json(h, err) &&
                             write_prompts(h, err));
}

/* Nights are counted for each project by itself, so the name may be taken. */
bool handoff_archive(HandoffBackend *h, int64_t night, Err *err)
{
    const char *from = str_z(h->arena, h->folder), *to;

    if (access(from, F_OK) != 0)
        return true; /* nothing was asked */
    to = str_z(h->arena, str_printf(h->arena, "%s.night%lld.done", from, (long long)night));
    for (int n = 2; access(to, F_OK) == 0; n++)
        to = str_z(h->arena,
                   str_printf(h->arena, "%s.night%lld-%d.done", from, (long long)night, n));
    if (rename(from, to) != 0)
        return err_errno(err, "cannot put '%s' aside", from);
    return true;
}
