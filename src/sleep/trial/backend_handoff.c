#include "sleep/trial/backend_handoff.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/json.h"
#include "text/sha256.h"

enum { ID_DIGITS = 16 };

typedef struct Pending {
    Str id, prompt;
    int64_t max_tokens;
} Pending;

struct HandoffBackend {
    Arena *arena;
    Str folder, answers;
    Pending *pending;
    size_t n, cap;
    Asker asker;
    Backend backend;
};

static void wait_for(HandoffBackend *h, Str id, const Question *q)
{
    Pending p;

    for (size_t i = 0; i < h->n; i++)
        if (str_eq(h->pending[i].id, id))
            return;
    p = (Pending){ str_dup(h->arena, id), str_dup(h->arena, q->prompt), q->max_tokens };
    ARENA_PUSH(h->arena, h->pending, h->n, h->cap, p);
}

static bool ask(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                Err *err)
{
    HandoffBackend *h = ctx;
    Str id =
        str_head(sha256_hex(a, str_printf(a, "%.*s\n%.*s", STR_FMT(q->draw), STR_FMT(q->prompt))),
                 ID_DIGITS);
    const char *path =
        str_z(a, str_join_path(a, h->answers, str_printf(a, "%.*s.md", STR_FMT(id))));

    b->calls++;
    b->key = id;
    *ret_kept = true; /* in a file of its own, round after round */
    if (access(path, F_OK) != 0) {
        wait_for(h, id, q);
        b->pending = (int64_t)h->n;
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

/* -- writing out ------------------------------------------------------------------------------------------ */

static bool write_json(HandoffBackend *h, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);
    JsonWriter w = JSON_WRITER(&out, 2);

    json_begin(&w, '{');
    json_field_str(&w, "format", STR("skillopt_sleep.handoff.v1"));
    json_field_str(&w, "answers_dir", h->answers);
    json_key(&w, "pending");
    json_begin(&w, '[');
    for (size_t i = 0; i < h->n; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", h->pending[i].id);
        json_field_str(&w, "answer_file",
                       str_printf(h->arena, "%.*s.md", STR_FMT(h->pending[i].id)));
        json_field_int(&w, "max_tokens", h->pending[i].max_tokens);
        json_field_str(&w, "prompt", h->pending[i].prompt);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "the questions do not fit into one file");
    return file_write_atomic(
        str_z(h->arena, str_join_path(h->arena, h->folder, STR("pending.json"))), buf_str(&out),
        err);
}

static bool write_prompts(HandoffBackend *h, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_FILE);

    buf_addf(&out,
             "# %zu questions\n\nAnswer each one in its own file, answers/<id>.md, with the "
             "answer alone, then run the same command again.\n",
             h->n);
    for (size_t i = 0; i < h->n; i++)
        buf_addf(&out, "\n----- BEGIN %.*s -----\n%.*s\n----- END %.*s -----\n",
                 STR_FMT(h->pending[i].id), STR_FMT(h->pending[i].prompt),
                 STR_FMT(h->pending[i].id));
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "the questions do not fit into one file");
    return file_write_atomic(str_z(h->arena, str_join_path(h->arena, h->folder, STR("PROMPTS.md"))),
                             buf_str(&out), err);
}

bool handoff_flush(HandoffBackend *h, size_t *ret_pending, Str *ret_folder, Err *err)
{
    *ret_pending = h->n;
    *ret_folder = h->folder;
    return !h->n || (folder_make(str_z(h->arena, h->answers), err) && write_json(h, err) &&
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
