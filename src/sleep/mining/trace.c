#include "sleep/mining/trace.h"

#include "base/limits.h"
#include "sleep/mining/filters.h"
#include "sleep/task/checks.h"
#include "text/human.h"
#include "text/outcome.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { FINALS = 5, MAX_FILES = 200, TEST_HEAD = 600, TEST_TAIL = 2000, MAX_ID = 128 };

struct TraceBuilder {
    Arena *arena;
    SessionDigest digest;
    Turns turns;
    char open_test[MAX_ID]; /* id of a test run whose result has not come yet */
    size_t open_test_n;
    bool test_waits;
    bool tests_failed, reverted;
};

TraceBuilder *trace_begin(void)
{
    TraceBuilder *b = mem_alloc(sizeof *b);

    b->arena = arena_new();
    digest_init(&b->digest);
    return b;
}

TraceBuilder *trace_drop(TraceBuilder *b)
{
    if (b)
        arena_free(b->arena);
    return mem_free(b);
}

unsigned trace_kinds(void)
{
    return 1u << EVENT_USER | 1u << EVENT_ASSISTANT | 1u << EVENT_TOOL_CALL |
           1u << EVENT_TOOL_RESULT | 1u << EVENT_FILES;
}

/* -- What was said -- */

/* Redacted before it is cut: the redactor does not recognise half a key. */
static Str said(TraceBuilder *b, const Event *e)
{
    enum { HEAD = LIMIT_TRACE_TEXT * 3 / 4, TAIL = LIMIT_TRACE_TEXT / 4, MARGIN = 1024 };
    Str text = str_trim(event_clip(b->arena, e, HEAD + MARGIN, TAIL + MARGIN));
    AUTO_BUF cut = BUF(LIMIT_TRACE_TEXT + MARGIN);

    text = redact_text(b->arena, text);
    if (text.n <= LIMIT_TRACE_TEXT)
        return str_dup(b->arena, text); /* it may still be in the reader's memory */
    buf_add(&cut, utf8_head(text, HEAD));
    buf_addz(&cut, " ... ");
    buf_add(&cut, utf8_tail(text, TAIL));
    return str_dup(b->arena, buf_str(&cut));
}

static void add_user(TraceBuilder *b, const Event *e)
{
    const unsigned not_words = EVENT_IS_META | EVENT_IS_SIDE_CHAIN | EVENT_IS_SUMMARY |
                               EVENT_IS_INTERRUPT | EVENT_IS_COMMAND | EVENT_IS_INACTIVE;
    Turn turn;
    Str text;

    if (e->flags & not_words)
        return;
    text = said(b, e);
    if (!text.n || filter_is_meta(text))
        return;
    b->digest.n_user_turns++;
    if (b->turns.n == LIMIT_TRACE_TURNS)
        return;
    turn_init(&turn);
    turn.request = text;
    LIST_PUSH(b->arena, &b->turns, turn);
    LIST_PUSH(b->arena, &b->digest.user_prompts, text);
    filter_feedback(b->arena, text, &b->digest.feedback_signals);
    b->tests_failed = b->reverted = b->test_waits = false; /* a new request may end differently */
}

static void add_assistant(TraceBuilder *b, const Event *e)
{
    StrList *finals = &b->digest.assistant_finals;
    Str text;

    if (e->flags & (EVENT_IS_SIDE_CHAIN | EVENT_IS_INACTIVE))
        return;
    b->digest.n_assistant_turns++;
    text = said(b, e);
    if (!text.n)
        return;
    if (finals->n == FINALS)
        memmove(finals->items, finals->items + 1, --finals->n * sizeof *finals->items);
    LIST_PUSH(b->arena, finals, text);
    if (b->turns.n)
        b->turns.items[b->turns.n - 1].answer = text;
}

/* -- What was done -- */

static bool has_any(Str text, const Str *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(text, words[i]) < text.n)
            return true;
    return false;
}

static bool has(Str text, Str word)
{
    return str_find(text, word) < text.n;
}

/* Few arguments have any of these, and some are long: most of the words share a part. */
static bool runs_tests(Str arguments)
{
    static const Str with_est[] = {
        STR_INIT("pytest"),       STR_INIT("ctest"),       STR_INIT("npm test"),
        STR_INIT("npm run test"), STR_INIT("yarn test"),   STR_INIT("pnpm test"),
        STR_INIT("vitest"),       STR_INIT("jest"),        STR_INIT("cargo test"),
        STR_INIT("go test"),      STR_INIT("make test"),   STR_INIT("meson test"),
        STR_INIT("mvn test"),     STR_INIT("gradle test"), STR_INIT("unittest"),
        STR_INIT("script/test"),
    };
    static const Str others[] = { STR_INIT("make check"), STR_INIT("rspec"), STR_INIT("phpunit") };

    return (has(arguments, STR("est")) && has_any(arguments, with_est, ARRAY_LEN(with_est))) ||
           has_any(arguments, others, ARRAY_LEN(others));
}

static bool throws_away(Str arguments)
{
    static const Str words[] = { STR_INIT("git revert"), STR_INIT("git reset --hard"),
                                 STR_INIT("git restore "), STR_INIT("git checkout -- ") };

    return has(arguments, STR("git ")) && has_any(arguments, words, ARRAY_LEN(words));
}

/* The text under a key, decoded; empty if it is missing. */
static Str argument(Arena *a, Str arguments, const char *key)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(arguments, &err);

    return doc ? str_dup(a, json_str(json_get(json_root(doc), str_of(key)))) : STR_NONE;
}

/* The path if it comes first and needs no decoding, as programs write it: the rest may be a whole
 * file and is not parsed. */
static Str first_path(Arena *a, Str arguments)
{
    static const Str begins = STR_INIT("{\"file_path\":\"");
    Str value = str_skip(arguments, begins.n), path;
    size_t n;

    if (!str_starts(arguments, begins))
        return STR_NONE;
    n = str_find(value, STR("\""));
    path = str_head(value, n);
    if (n + 1 >= value.n || (value.p[n + 1] != ',' && value.p[n + 1] != '}') ||
        memchr(path.p, '\\', path.n))
        return STR_NONE;
    return str_dup(a, path);
}

static void add_file(TraceBuilder *b, Str path)
{
    if (path.n && b->digest.files_touched.n < MAX_FILES)
        strs_add_new(b->arena, &b->digest.files_touched, path);
}

/* The files that a patch in Codex' format is about: in a call of apply_patch, or of a shell that
 * runs it. */
static void add_patched(TraceBuilder *b, Str patch)
{
    static const Str marks[] = { STR_INIT("*** Update File: "), STR_INIT("*** Add File: "),
                                 STR_INIT("*** Delete File: "), STR_INIT("*** Move to: ") };
    Str line;

    while (str_split(&patch, '\n', &line))
        for (size_t i = 0; i < ARRAY_LEN(marks); i++)
            if (str_starts(line, marks[i]))
                add_file(b, str_dup(b->arena, str_trim(str_skip(line, marks[i].n))));
}

static void add_patches(TraceBuilder *b, Json v, int depth)
{
    enum { DEEPEST = 4 };
    JsonIter it = json_each(v);
    Json item;
    Str key;

    if (json_type(v) == JSON_STRING)
        add_patched(b, json_str(v));
    while (depth < DEEPEST && json_next(&it, &key, &item))
        add_patches(b, item, depth + 1);
}

static bool is_one_of(Str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(name, names[i]))
            return true;
    return false;
}

static bool writes_files(Str tool)
{
    static const char *const names[] = { "Edit",       "Write", "MultiEdit",  "NotebookEdit",
                                         "write_file", "patch", "apply_patch" };

    return is_one_of(tool, names, ARRAY_LEN(names));
}

static void look_into_call(TraceBuilder *b, const Event *e)
{
    static const char *const skills[] = { "Skill", "skill_view" };

    if (is_one_of(e->name, skills, ARRAY_LEN(skills))) {
        Str skill = argument(b->arena, e->arguments, str_eqz(e->name, "Skill") ? "skill" : "name");

        if (str_trim(skill).n)
            strs_add_new(b->arena, &b->digest.skills_used, str_trim(skill));
    } else if (writes_files(e->name)) {
        Str path = first_path(b->arena, e->arguments);

        if (!path.n && has(e->arguments, STR("path\""))) { /* not in most patches */
            path = argument(b->arena, e->arguments, "file_path");
            path = path.n ? path : argument(b->arena, e->arguments, "path");
        }
        add_file(b, path);
    }
}

static void add_call(TraceBuilder *b, const Event *e)
{
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;
    bool runs;

    if (e->flags & (EVENT_IS_SIDE_CHAIN | EVENT_IS_INACTIVE) || !e->name.n)
        return;
    if (b->digest.tools_used.n < LIMIT_TRACE_TURNS && !strs_have(&b->digest.tools_used, e->name))
        LIST_PUSH(b->arena, &b->digest.tools_used, str_dup(b->arena, e->name));
    if (b->turns.n)
        b->turns.items[b->turns.n - 1].calls++;
    look_into_call(b, e);
    doc = has(e->arguments, STR("*** Begin Patch")) ? json_parse(e->arguments, &ignored) : NULL;
    if (doc)
        add_patches(b, json_root(doc), 0);
    /* Writing a file that mentions tests does not run them; and the file may be long. */
    runs = !writes_files(e->name);
    b->reverted = runs && throws_away(e->arguments);
    b->test_waits = runs && runs_tests(e->arguments) && e->id.n < sizeof b->open_test;
    if (b->test_waits) {
        memcpy(b->open_test, e->id.p, e->id.n);
        b->open_test_n = e->id.n;
    }
}

static void add_result(TraceBuilder *b, const Event *e)
{
    bool failed = e->flags & EVENT_HAS_FAILED;
    bool of_test = b->test_waits && str_eq(e->id, (Str){ b->open_test, b->open_test_n });

    if (e->flags & (EVENT_IS_SIDE_CHAIN | EVENT_IS_INACTIVE))
        return;
    if (of_test && !failed && !(e->flags & EVENT_HAS_EXIT_CODE))
        failed = outcome_of_result(event_clip(b->arena, e, TEST_HEAD, TEST_TAIL)) != OUTCOME_OK;
    if (failed && b->turns.n)
        b->turns.items[b->turns.n - 1].failed++;
    b->tests_failed = of_test && failed;
    b->test_waits = b->test_waits && !of_test;
}

void trace_event(TraceBuilder *b, const Event *e)
{
    if (e->flags & EVENT_IS_GUEST) /* guests' requests are not the owner's habits */
        return;
    switch (e->kind) {
    case EVENT_USER:
        add_user(b, e);
        break;
    case EVENT_ASSISTANT:
        add_assistant(b, e);
        break;
    case EVENT_TOOL_CALL:
        add_call(b, e);
        break;
    case EVENT_TOOL_RESULT:
        add_result(b, e);
        break;
    case EVENT_FILES:
        for (size_t i = 0; i < e->text.n; i++) {
            Event one = *e;

            one.text.pieces = &e->text.pieces[i];
            one.text.n = 1;
            add_file(b, str_dup(b->arena, event_text(b->arena, &one)));
        }
        break;
    default:
        break;
    }
}

/* -- The whole -- */

static void copy_texts(Arena *a, const StrList *from, StrList *to)
{
    for (size_t i = 0; i < from->n; i++)
        LIST_PUSH(a, to, str_dup(a, from->items[i]));
}

static void add_marks(Arena *a, Trace *t, Str correction)
{
    Demands demands = { 0 };

    demands_of_correction(a, correction, &demands);
    for (size_t i = 0; i < demands.n; i++)
        if (demands.items[i].telling)
            strs_add_new(
                a, &t->marks,
                str_printf(a, "%s %.*s", demands.items[i].op, STR_FMT(demands.items[i].arg)));
}

void trace_judge(Arena *a, Trace *t)
{
    for (size_t i = 1; i < t->turns.n; i++) {
        Turn *turn = &t->turns.items[i];
        Remark remark = outcome_of_remark(turn->request);

        /* A correction blames, or asks for something that the answer before it did not have. */
        turn->remark = remark;
        turn->corrects = remark == REMARK_BLAME ||
                         (remark == REMARK_NONE &&
                          demands_not_met(a, turn->request, t->turns.items[i - 1].answer));
        if (turn->corrects)
            add_marks(a, t, turn->request);
    }
}

/* A database holds many sessions. */
static Str in_database(Arena *a, const Entry *e)
{
    Str path = e->path.n ? e->path : e->home;
    Str mark = str_printf(a, "#%.*s", STR_FMT(e->id));

    return str_ends(path, mark) ? str_dup(a, path)
                                : str_printf(a, "%.*s%.*s", STR_FMT(path), STR_FMT(mark));
}

void trace_finish(TraceBuilder *b, Arena *a, const Entry *entry, Trace *ret)
{
    const SessionDigest *from = &b->digest;
    SessionDigest d;

    trace_init(ret);
    digest_init(&d);
    d.session_id = str_dup(a, entry->id);
    d.project = str_dup(a, entry->cwd);
    d.git_branch = str_dup(a, entry->branch);
    d.started_at = entry->started_at > 0 ? human_iso(a, entry->started_at) : STR("");
    d.ended_at = entry->last_at > 0 ? human_iso(a, entry->last_at) : STR("");
    d.raw_path = entry->home.n ? in_database(a, entry) : str_dup(a, entry->path);
    copy_texts(a, &from->user_prompts, &d.user_prompts);
    copy_texts(a, &from->assistant_finals, &d.assistant_finals);
    copy_texts(a, &from->tools_used, &d.tools_used);
    copy_texts(a, &from->skills_used, &d.skills_used);
    copy_texts(a, &from->files_touched, &d.files_touched);
    copy_texts(a, &from->feedback_signals, &d.feedback_signals);
    d.n_user_turns = from->n_user_turns;
    d.n_assistant_turns = from->n_assistant_turns;
    LIST_PUSH(a, &ret->digests, d);
    for (size_t i = 0; i < b->turns.n; i++) {
        Turn turn = b->turns.items[i];

        turn.request = d.user_prompts.items[i];
        turn.answer = str_dup(a, turn.answer);
        LIST_PUSH(a, &ret->turns, turn);
    }
    trace_judge(a, ret);
    ret->tests_failed = b->tests_failed;
    ret->reverted = b->reverted;
    arena_reset(b->arena);
    *b = (TraceBuilder){ .arena = b->arena };
    digest_init(&b->digest);
}

const SessionDigest *trace_digest(const Trace *t)
{
    return &t->digests.items[0];
}

Str trace_outcome(const Trace *t)
{
    enum { MANY_TURNS = 3 };

    for (size_t i = t->turns.n; i-- > 1;) {
        int64_t remark = t->turns.items[i].remark;

        if (remark != REMARK_NONE)
            return remark == REMARK_PRAISE ? STR("success") : STR("fail");
    }
    if (t->reverted || t->tests_failed)
        return STR("fail");
    return t->turns.n >= MANY_TURNS ? STR("mixed") : STR("unknown");
}

bool trace_is_human(const Trace *t)
{
    return t->turns.n > 0 && !filter_is_harness(trace_digest(t));
}
