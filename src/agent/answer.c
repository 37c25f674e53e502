/* What the answers share: which sessions, which period, how a session is named. */
#include "agent/answer.h"

#include <ctype.h>
#include <stdlib.h>

#include "agent/answer_inside.h"
#include "agent/render.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "recall/skills_words.h"
#include "text/human.h"
#include "text/utf8.h"

enum { MAX_SESSIONS = 4000, READ_MS = 1500, TITLE_CHARS = 80, REPEAT_WORDS = 64 };

/* -- Text -- */

void answer_text(Buf *out, Str text, size_t max_chars)
{
    AUTO_BUF line = BUF(KIB(16));
    Str rest;

    render_line(&line, text, max_chars);
    rest = buf_str(&line);
    for (size_t i = 0; i < rest.n; i++) {
        if (strchr("[]\\`*<", rest.p[i]) && rest.p[i])
            buf_addc(out, '\\');
        buf_addc(out, rest.p[i]);
    }
}

void answer_code(Buf *out, Str text, size_t max_chars)
{
    AUTO_BUF line = BUF(KIB(16));
    Str rest;

    render_line(&line, text, max_chars);
    rest = buf_str(&line);
    buf_addc(out, '`');
    for (size_t i = 0; i < rest.n; i++)
        buf_addc(out, rest.p[i] == '`' ? '\'' : rest.p[i]);
    buf_addc(out, '`');
}

/* An id has letters, digits, '-' and '_' unless a person made one by hand. */
void answer_link(Buf *out, Str title, Str id)
{
    buf_addc(out, '[');
    answer_text(out, str_trim(title).n ? title : STR("Untitled session"), TITLE_CHARS);
    buf_addz(out, "](/sessions/");
    for (size_t i = 0; i < id.n; i++) {
        unsigned char c = (unsigned char)id.p[i];

        if (isalnum(c) || c == '-' || c == '_' || c == '.')
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
    buf_addc(out, ')');
}

void answer_date(Buf *out, double at)
{
    AUTO(Arena) *a = arena_new();

    buf_add(out, str_head(human_time(a, at), 10));
}

void answer_plural(Buf *out, int64_t n, const char *one, const char *many)
{
    AUTO(Arena) *a = arena_new();

    buf_addf(out, "%.*s %s", STR_FMT(human_count(a, n)), n == 1 ? one : many);
}

/* -- Passages that say the same -- */

static size_t word_hashes(Str text, uint64_t ret[REPEAT_WORDS])
{
    TermIter it = TERMS(str_head(text, KIB(4)));
    size_t n = 0;
    Term t;

    while (n < REPEAT_WORDS && term_next(&it, &t)) {
        uint64_t hash = HASH_START; /* numbers are alike */
        bool known = false;

        if (!isdigit((unsigned char)t.text[0]))
            hash = hash_text(hash, term_str(&t));
        for (size_t i = 0; i < n && !known; i++)
            known = ret[i] == hash;
        if (!known)
            ret[n++] = hash;
    }
    return n;
}

bool answer_is_repeat(Str one, Str other)
{
    uint64_t a[REPEAT_WORDS], b[REPEAT_WORDS];
    size_t n = word_hashes(one, a), m = word_hashes(other, b), both = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            both += a[i] == b[k];
    return 10 * both >= 8 * (n + m - both); /* four of five words */
}

/* -- The period -- */

bool answer_in_period(const Answering *w, double at)
{
    return at <= 0 || (at >= w->period.from && at < w->period.until);
}

/* Without one: the days that such a question usually means; 0: the whole history. */
static int default_days(Intent intent)
{
    return intent == INTENT_WORKED ? 7 : intent == INTENT_FIXED ? 30 : 0;
}

static void name_period(Answering *w)
{
    AUTO_BUF b = BUF(KIB(1));
    const Question *q = w->q;

    if (q->has_period)
        answer_text(&b, q->period_text, 40);
    else if (default_days(q->intent))
        buf_addf(&b, "last %d days", default_days(q->intent));
    else
        buf_addz(&b, "whole history");
    if (w->period.from > 0) {
        AUTO(Arena) *a = arena_new();
        Str from = str_head(human_time(a, w->period.from), 10);
        Str until = str_head(human_time(a, w->period.until - 1), 10);

        buf_addf(&b, ", %.*s", STR_FMT(from));
        if (!str_eq(from, until))
            buf_addf(&b, " to %.*s", STR_FMT(until));
    }
    w->period_name = str_dup(w->arena, buf_str(&b));
}

static void set_period(Answering *w)
{
    double now = w->source->now;
    int days = default_days(w->q->intent);

    w->period =
        w->q->has_period ? w->q->period : (When){ days ? now - days * 86400.0 : 0, now + 1 };
    name_period(w);
}

/* -- Sessions -- */

static bool is_automation(const Entry *e)
{
    return e->entrypoint.n && str_is_one_of(e->entrypoint, "cron|subagent|tool|kanban|batch|ask");
}

/* One that did nothing but ask such a question is not work. */
static bool only_asked(const Answering *w, const Entry *e)
{
    return e->calls == 0 && question_read(w->arena, e->title, w->source->now).intent != INTENT_NONE;
}

static bool is_about(const Answering *w, const Words *words, const Entry *e)
{
    Str both = str_printf(w->arena, "%.*s %.*s", STR_FMT(e->cwd), STR_FMT(e->title));

    return !words->n || words_in(w->arena, words, both, NULL) > 0;
}

static bool is_asked_about(const Answering *w, const Words *words, const Entry *e)
{
    return e->started_at < w->period.until && is_about(w, words, e);
}

static bool counts(const Answering *w, const Entry *e)
{
    return e->human && !is_automation(e) && !str_eq(e->id, w->source->conversation_id) &&
           !only_asked(w, e);
}

/* Whether lists show the conversation in place of the session that it continues. */
static bool continues_another(const Answering *w, Str id)
{
    for (size_t i = 0; i < w->n_continued; i++)
        if (str_eq(w->continued[i].conversation_id, id))
            return true;
    return false;
}

/* Listed as a session, but nobody took part in it. */
static bool counts_as_automated(const Answering *w, const Entry *e)
{
    return !e->side_chain && !continues_another(w, e->id) && !str_eqz(e->entrypoint, "ask") &&
           (!e->human || is_automation(e));
}

/* The one whose oldest part so far continues this session. */
static Talk *talk_of(Answering *w, Str id)
{
    for (size_t i = 0; id.n && i < w->n; i++)
        if (str_eq(w->talks[i].entry.parent, id))
            return &w->talks[i];
    return NULL;
}

/* The conversation in which this session was continued. */
static Talk *continued_talk(Answering *w, Str id)
{
    for (size_t i = 0; i < w->n_continued; i++)
        for (size_t k = 0; k < w->n && str_eq(w->continued[i].session_id, id); k++)
            if (str_eq(w->talks[k].entry.id, w->continued[i].conversation_id))
                return &w->talks[k];
    return NULL;
}

/* The list is newest first: a part that another one continues comes behind it. */
static void add_talk(Answering *w, const Entry *e)
{
    Talk *newer = e->home.n ? talk_of(w, e->id) : NULL;

    if (!newer)
        newer = continued_talk(w, e->id);
    if (!newer) {
        newer = &w->talks[w->n++];
        newer->entry = *e;
    }
    newer->entry.parent = e->home.n ? e->parent : STR(""); /* the next older part */
    newer->entry.started_at = e->started_at;
    ARENA_PUSH(w->arena, newer->parts, newer->n_parts, newer->cap, *e);
    newer->messages += e->messages;
    newer->calls += e->calls;
    newer->failed += e->failed;
}

/* "the checkout project": the last word says what kind of thing it is. */
static Words project_words(Arena *a, Str project)
{
    static const Str kinds[] = { STR_INIT("project"), STR_INIT("repo"), STR_INIT("repository"),
                                 STR_INIT("folder"), STR_INIT("app") };
    size_t at;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_ends(project, kinds[i]) && project.n > kinds[i].n) {
            at = project.n - kinds[i].n;
            return words_of(a, str_head(project, at), 8);
        }
    return words_of(a, project, 8);
}

bool answer_sessions(Answering *w, Str project, Err *err)
{
    EntryQuery query = { .source = -1, .since = w->period.from, .max = MAX_SESSIONS };
    Words words = project_words(w->arena, project);
    int64_t automated = 0;
    Entry *entries;
    size_t n;

    if (!catalogue_list(w->source->catalogue, w->arena, &query, &entries, &n, err))
        return false;
    if (!continuations_load(w->source->homes->data, w->arena, &w->continued, &w->n_continued, err))
        return false;
    w->talks = ARENA_ARRAY(w->arena, Talk, n + 1);
    for (size_t i = 0; i < n; i++) {
        const Entry *e = &entries[i];

        if (!is_asked_about(w, &words, e))
            continue;
        if (counts(w, e))
            add_talk(w, e);
        else
            automated += counts_as_automated(w, e);
    }
    if (automated)
        w->period_name = str_printf(w->arena, "%.*s; %.*s not counted", STR_FMT(w->period_name),
                                    STR_FMT(human_n(w->arena, automated, "automated session")));
    return true;
}

bool answer_read(Answering *w, const Talk *talk, DocFn *fn, void *ctx)
{
    Err ignored;

    if (clock_mono_ms() > w->until_ms)
        return false;
    for (size_t i = talk->n_parts; i > 0; i--)
        (void)!doc_each(w->reader, &talk->parts[i - 1], fn, ctx, &ignored);
    return true;
}

/* -- The answer -- */

static bool put_answer(Answering *w, Err *err)
{
    switch (w->q->intent) {
    case INTENT_WORKED:
        return answer_worked(w, err);
    case INTENT_FAILED:
        return answer_failed(w, err);
    case INTENT_FIXED:
        return answer_fixed(w, err);
    case INTENT_DECIDED:
        return answer_decided(w, err);
    case INTENT_SESSION:
        return answer_session(w, err);
    case INTENT_NONE:
        break;
    }
    return true;
}

bool answer_question(Arena *a, const AnswerSource *source, const Question *q, Str *ret,
                     bool *ret_found, Err *err)
{
    AUTO_BUF out = BUF(KIB(64));
    AUTO(DocReader) *reader = doc_reader_new(source->homes);
    Answering w = { .arena = a,
                    .source = source,
                    .q = q,
                    .out = &out,
                    .reader = reader,
                    .found = true,
                    .until_ms = clock_mono_ms() + READ_MS };

    *ret = STR("");
    set_period(&w);
    if (!put_answer(&w, err))
        return false;
    if (w.unread) {
        answer_plural(&out, (int64_t)w.unread, "older session was", "older sessions were");
        buf_addz(&out, " not read: name a shorter period to see them.\n");
    }
    *ret = str_dup(a, buf_str(&out));
    *ret_found = w.found && out.n;
    return true;
}
