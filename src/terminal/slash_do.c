/* What the commands do. Each is a function of the table's name; a failure is shown by the
 * caller. */
#include <stdlib.h>
#include <unistd.h>

#include "agent/files.h"
#include "agent/memory.h"
#include "base/clock.h"
#include "base/file.h"
#include "recall/skills.h"
#include "templates/template.h"
#include "terminal/chat_inside.h"
#include "text/human.h"
#include "text/utf8.h"

enum { SESSIONS_SHOWN = 20, NAME_COLUMNS = 28, TEXT_COLUMNS = 70 };

/* One row of a list: a name, then what is said of it. */
static void add_row(Chat *c, Buf *out, Str name, Str text)
{
    size_t wide = utf8_columns(name);

    buf_addf(out, "  %s", tint(c->options->color, TINT_CYAN));
    buf_add(out, utf8_fit(c->scratch, name, NAME_COLUMNS));
    buf_addz(out, tint(c->options->color, TINT_OFF));
    buf_pad(out, ' ', wide < NAME_COLUMNS ? NAME_COLUMNS - wide + 1 : 1);
    buf_add(out, utf8_fit(c->scratch, text, TEXT_COLUMNS));
    buf_addc(out, '\n');
}

/* -- conversations -- */

static bool slash_new(Chat *c, Str rest, Err *err)
{
    (void)rest;
    (void)err;
    chat_drop_conversation(c);
    chat_note(c, "your next message starts a new conversation");
    return true;
}

/* Inside of a chat the way out is a command of the chat. */
static bool slash_resume(Chat *c, Str id, Err *err)
{
    if (chat_resume(c, id, err))
        return true;
    if (id.n && err->kind == ERR_NOT_FOUND)
        (void)err_set(err, ERR_NOT_FOUND, "no session '%.*s'; /sessions shows them", STR_FMT(id));
    return false;
}

/* An id is copied: it stays whole, and the text beside it gives way. */
static void add_session(Chat *c, Buf *out, const Listed *s)
{
    Str ago = human_ago(c->scratch, s->last_active, clock_wall());
    size_t wide = utf8_columns(s->id), room = NAME_COLUMNS + TEXT_COLUMNS;
    Str text = str_printf(c->scratch, "%s%.*s · %.*s · %lld message%s · %.*s",
                          str_eq(s->id, c->conversation) ? "(this one) " : "", STR_FMT(ago),
                          STR_FMT(s->origin), (long long)s->messages, s->messages == 1 ? "" : "s",
                          STR_FMT(s->title));

    buf_addf(out, "  %s%.*s%s", tint(c->options->color, TINT_CYAN), STR_FMT(s->id),
             tint(c->options->color, TINT_OFF));
    buf_pad(out, ' ', wide < NAME_COLUMNS ? NAME_COLUMNS - wide + 1 : 1);
    buf_add(out, utf8_fit(c->scratch, text, wide < room / 2 ? room - wide : room / 2));
    buf_addc(out, '\n');
}

static bool slash_sessions(Chat *c, Str rest, Err *err)
{
    AUTO_BUF out = BUF(KIB(64));
    Listed *all;
    size_t n;

    (void)rest;
    if (!chat_list(c, SESSIONS_SHOWN, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        add_session(c, &out, &all[i]);
    screen_lines(&c->screen, buf_str(&out));
    chat_note(c, n ? "/resume ID continues one" : "no sessions yet");
    return true;
}

static bool change(Chat *c, const ConversationChange *what, Err *err)
{
    Runs *r;
    bool ok;

    if (!chat_is_ours(c, c->conversation, err))
        return false;
    r = service_borrow_runs(c->service, err);
    ok = r && conversation_change(r, c->conversation, what, err);
    service_return_runs(c->service, r);
    return ok;
}

static bool slash_title(Chat *c, Str rest, Err *err)
{
    if (!chat_begin(c, err) || !change(c, &(ConversationChange){ .title = rest }, err))
        return false;
    c->fresh = false;
    chat_note(c, "named");
    return true;
}

/* -- who answers -- */

static bool list_runtimes(Chat *c, Err *err)
{
    AUTO_BUF out = BUF(KIB(64));
    const Runtime *now = service_runtime(c->service, c->runtime, err);

    if (!now)
        return false;
    for (const Runtime *const *r = service_runtimes(c->service); *r; r++) {
        RuntimeCaps caps = { 0 };
        Err why = { 0 };
        bool there = service_probe(c->service, c->scratch, *r, &caps, &why) && caps.available;
        Str said = why.text[0] ? str_of(why.text) : caps.detail;

        add_row(c, &out, str_printf(c->scratch, "%s%s", (*r)->name, *r == now ? " (answers)" : ""),
                str_printf(c->scratch, "%s%s%.*s", there ? "ready" : "not available",
                           said.n ? ": " : "", STR_FMT(said)));
    }
    screen_lines(&c->screen, buf_str(&out));
    return true;
}

static bool slash_runtime(Chat *c, Str rest, Err *err)
{
    const Runtime *r;

    if (!rest.n)
        return list_runtimes(c, err);
    r = service_runtime(c->service, rest, err);
    if (!r)
        return err_wrap(err, "nothing was changed");
    c->runtime = str_of(r->name);
    if (c->conversation.n &&
        !change(c, &(ConversationChange){ .default_runtime = c->runtime }, err))
        return false;
    chat_note(c, "runtime: %s (%s)", r->name, r->title);
    return true;
}

static bool slash_model(Chat *c, Str rest, Err *err)
{
    if (rest.n && c->conversation.n &&
        !change(c, &(ConversationChange){ .model = str_eqz(rest, "default") ? STR("") : rest },
                err))
        return false;
    if (rest.n)
        c->model = str_eqz(rest, "default") ? STR_NONE : str_dup(c->arena, rest);
    if (c->model.n)
        chat_note(c, "model: %.*s", STR_FMT(utf8_fit(c->scratch, c->model, TEXT_COLUMNS)));
    else
        chat_note(c, "model: the runtime's own");
    return true;
}

static bool list_templates(Chat *c, Err *err)
{
    AUTO_BUF out = BUF(KIB(256));
    Template *all;
    size_t n;

    if (!templates_load(c->scratch, c->options->homes, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        add_row(c, &out, all[i].name, all[i].description);
    screen_lines(&c->screen, buf_str(&out));
    chat_note(c, "the next conversation starts with: %.*s",
              STR_FMT(c->template.n ? c->template : STR("none")));
    return true;
}

bool chat_set_template(Chat *c, Str name, Err *err)
{
    Template found;

    if (!str_eqz(name, "auto") && !str_eqz(name, "none") &&
        !template_find(c->scratch, c->options->homes, name, &found, err))
        return false;
    c->template = str_dup(c->arena, name);
    return true;
}

static bool slash_template(Chat *c, Str rest, Err *err)
{
    if (!rest.n)
        return list_templates(c, err);
    if (!chat_set_template(c, rest, err))
        return false;
    chat_note(c, "%.*s: for %s", STR_FMT(rest),
              c->conversation.n ? "the next conversation (/new)" : "this conversation");
    return true;
}

/* -- context of the runtime -- */

static bool slash_memory(Chat *c, Str rest, Err *err)
{
    AUTO_BUF out = BUF(MIB(1));

    (void)rest;
    for (size_t kind = 0; kind < MEMORY_KIND_COUNT; kind++) {
        MemoryFile file;

        if (!memory_load(c->scratch, c->options->homes, (MemoryKind)kind, &file, err))
            return false;
        buf_addf(&out, "%s (%zu of %zu characters)\n", memory_title((MemoryKind)kind), file.chars,
                 memory_limit((MemoryKind)kind));
        for (size_t i = 0; i < file.n; i++) {
            buf_addz(&out, "  - ");
            buf_add(&out, utf8_fit(c->scratch, file.entries[i], 400));
            buf_addc(&out, '\n');
        }
        if (!file.n)
            buf_addz(&out, "  nothing yet\n");
    }
    screen_lines(&c->screen, buf_str(&out));
    return true;
}

static bool open_skills(Chat *c, Skills **ret, Err *err)
{
    char here[LIMIT_PATH_BYTES];
    SkillPlaces places = { .homes = c->options->homes };

    if (getcwd(here, sizeof here))
        places.project = str_of(here);
    *ret = skills_open(&places, err);
    return *ret && skills_refresh(*ret, 0, err);
}

static bool slash_skills(Chat *c, Str rest, Err *err)
{
    AUTO_BUF out = BUF(MIB(1));
    AUTO(Skills) *s = NULL;
    Shortlist found = { 0 };
    const Skill *all;
    size_t n;

    if (!open_skills(c, &s, err))
        return false;
    all = skills_all(s, &n);
    for (size_t i = 0; i < n && !rest.n; i++)
        add_row(c, &out, all[i].name, all[i].description);
    if (rest.n && !skills_shortlist(s, c->scratch, &(ShortlistQuery){ .text = rest }, &found, err))
        return false;
    for (size_t i = 0; i < found.n; i++)
        add_row(c, &out, found.picks[i].name,
                str_printf(c->scratch, "%.1f %s · %.*s", found.picks[i].score,
                           skill_confidence_name(found.picks[i].confidence),
                           STR_FMT(found.picks[i].description)));
    screen_lines(&c->screen, buf_str(&out));
    if (!out.n)
        chat_note(c, rest.n ? "no matching skill" : "no skills found");
    return true;
}

/* The receipts of the last turn, as the service kept them; the newest of all where none was made
 * here. */
static bool read_receipts(Chat *c, Str *ret, Err *err)
{
    Runs *r = service_borrow_runs(c->service, err);
    Attachment *all, x;
    size_t n = 0;
    bool ok = r && attachment_list(r, c->scratch, c->conversation, c->run_id, &all, &n, err);

    *ret = STR_NONE;
    for (size_t i = 0; ok && i < n; i++) {
        if (!str_eqz(all[i].kind, "context_receipt"))
            continue;
        ok = attachment_get(r, c->scratch, all[i].id, &x, err) &&
             files_read(c->service, c->scratch, &x, ret, err);
    }
    service_return_runs(c->service, r);
    return ok;
}

static void add_receipt(Chat *c, Buf *out, Json item)
{
    double score = 0;
    int64_t chars = 0;

    (void)json_double(json_get(item, STR("score")), &score);
    (void)json_int(json_get(item, STR("chars")), &chars);
    add_row(c, out,
            str_printf(c->scratch, "%.*s %.*s", STR_FMT(json_str(json_get(item, STR("kind")))),
                       STR_FMT(json_str(json_get(item, STR("id"))))),
            str_printf(c->scratch, "%.2f · %lld characters · %.*s", score, (long long)chars,
                       STR_FMT(json_str(json_get(item, STR("reason"))))));
}

static bool slash_context(Chat *c, Str rest, Err *err)
{
    AUTO_BUF out = BUF(MIB(1));
    AUTO(JsonDoc) *doc = NULL;
    Json receipts, item;
    JsonIter it;
    Str json, key;

    (void)rest;
    if (!c->last)
        return err_set(err, ERR_NOT_FOUND, "no turn yet");
    if (!read_receipts(c, &json, err))
        return false;
    doc = json.n ? json_parse(json, err) : NULL;
    if (json.n && !doc)
        return false;
    receipts = doc ? json_get(json_root(doc), STR("receipts")) : (Json){ 0 };
    it = json_each(receipts);
    while (doc && json_next(&it, &key, &item))
        add_receipt(c, &out, item);
    screen_lines(&c->screen, buf_str(&out));
    if (!out.n)
        chat_note(c, "the last turn had no context besides the conversation");
    return true;
}

/* -- messages -- */

static Str expand(Chat *c, Str path)
{
    const char *home = getenv("HOME");

    if (path.n > 1 && (path.p[0] == '"' || path.p[0] == '\'') && path.p[path.n - 1] == path.p[0])
        path = (Str){ path.p + 1, path.n - 2 };
    if (home && str_starts(path, STR("~/")))
        return str_join_path(c->scratch, str_of(home), str_skip(path, 2));
    return path;
}

bool chat_add_file(Chat *c, Str path, Err *err)
{
    Attachment x;
    Str bytes;

    path = expand(c, path);
    if (c->n_files == LIMIT_FILES)
        return err_set(err, ERR_USAGE, "at most %d files", LIMIT_FILES);
    if (!file_read_any(c->scratch, str_z(c->scratch, path), LIMIT_FILE_BYTES, &bytes, err) ||
        !chat_begin(c, err) ||
        !files_add(c->service, c->scratch, c->conversation, str_base_name(path), STR_NONE, bytes,
                   &x, err))
        return false;
    c->files[c->n_files++] = str_dup(c->arena, x.id);
    chat_note(c, "%.*s (%.*s) is attached to your next message",
              STR_FMT(utf8_fit(c->scratch, str_base_name(path), 60)),
              STR_FMT(human_bytes(c->scratch, (int64_t)bytes.n)));
    return true;
}

static bool slash_file(Chat *c, Str rest, Err *err)
{
    return chat_add_file(c, rest, err);
}

static bool slash_retry(Chat *c, Str rest, Err *err)
{
    (void)rest;
    if (!c->last)
        return err_set(err, ERR_NOT_FOUND, "nothing sent yet");
    chat_say(c, str_dup(c->scratch, str_of(c->last)));
    return true;
}

static bool slash_stop(Chat *c, Str rest, Err *err)
{
    (void)rest;
    (void)err;
    if (!c->running)
        chat_note(c, "nothing is running");
    chat_cancel(c);
    return true;
}

static bool slash_help(Chat *c, Str rest, Err *err)
{
    AUTO_BUF out = BUF(KIB(16));

    (void)rest;
    (void)err;
    slash_help_add(&out);
    buf_addz(&out,
             "  Tab completes, Alt-Enter begins a new line, Ctrl-C cancels a turn, Ctrl-D leaves\n"
             "  // starts a message that begins with a slash\n");
    screen_lines(&c->screen, buf_str(&out));
    return true;
}

static bool slash_quit(Chat *c, Str rest, Err *err)
{
    (void)rest;
    (void)err;
    c->leaving = true;
    return true;
}

bool slash_do(Chat *c, SlashId id, Str rest, Err *err)
{
    static bool (*const functions[])(Chat *, Str, Err *) = {
#define X(name, needs, operand, idle, what) slash_##name,
        SLASH_COMMANDS(X)
#undef X
    };

    if (c->running && slash_rows[id].idle)
        return err_set(err, ERR_CONFLICT, "a turn is running; /stop first, then /%s",
                       slash_rows[id].name);
    return functions[id](c, rest, err);
}
