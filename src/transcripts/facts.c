/* What the events of a session add up to. Everything here can go on where it stopped: a session
 * that grows is not read again for it. */
#include "transcripts/entry.h"
#include "transcripts/load.h"

#include "text/redact.h"
#include "text/utf8.h"

enum { TITLE_BYTES = 400, TITLE_CHARS = 60, TOOLS_BYTES = 4096, TEXT_BYTES = 4096 };

/* -- activity -- */

/* Twice as long slots, half as many of them. */
static void widen(Pulse *p)
{
    for (size_t i = 0; i < PULSE_SLOTS; i++)
        p->counts[i] = i < PULSE_SLOTS / 2 ? p->counts[2 * i] + p->counts[2 * i + 1] : 0;
    p->width *= 2;
}

void pulse_count(Pulse *p, double at)
{
    if (!(at > 0) || at > 1e11)
        return;
    if (p->width == 0) {
        p->width = 1;
        p->from = at;
    }
    while (at - p->from >= p->width * PULSE_SLOTS)
        widen(p);
    p->counts[at < p->from ? 0 : (size_t)((at - p->from) / p->width)]++;
}

void pulse_show(const Pulse *p, double from, double to, uint8_t ret[ACTIVITY_BUCKETS])
{
    uint64_t sums[ACTIVITY_BUCKETS] = { 0 }, max = 0;
    double span = to > from ? to - from : 1;

    memset(ret, 0, ACTIVITY_BUCKETS);
    for (size_t i = 0; i < PULSE_SLOTS; i++) {
        double place = (p->from + p->width * ((double)i + 0.5) - from) / span * ACTIVITY_BUCKETS;
        size_t at = place <= 0                  ? 0
                    : place >= ACTIVITY_BUCKETS ? ACTIVITY_BUCKETS - 1
                                                : (size_t)place;

        sums[at] += p->counts[i];
    }
    for (size_t i = 0; i < ACTIVITY_BUCKETS; i++)
        max = sums[i] > max ? sums[i] : max;
    for (size_t i = 0; i < ACTIVITY_BUCKETS && max; i++)
        ret[i] = (uint8_t)((sums[i] * 255 + max - 1) / max);
}

/* -- who is talking -- */

/* Programs that run an agent without anybody in front of it. */
static const char headless[] = "sdk-cli|sdk-ts|sdk-py|sdk|mcp|codex_exec|exec|codex_sdk_ts|"
                               "codex_sdk_py|codex_mcp_server|cron|batch|subagent|observer";

/* Kinds of sessions of Claude Code that it runs for itself. One in the background (bg) is a
 * person's where a person typed in it. */
static const char services[] = "daemon|daemon-worker";

/* First requests that no person types: of observers, graders and engines that learn from sessions,
 * whatever they were started as. */
static const char *const written_by_programs[] = {
    "Hello memory agent",      "You are a Claude-Mem",
    "You are a strict grader", "Score the response 0.0-1.0",
    "You are SkillOpt-Sleep",  "You are driving **SkillOpt-Sleep**",
    "## CURRENT SKILL",        "## FAILED TASKS",
    "## SUCCESSFUL TASKS",     "<observed_from_primary_session>",
};

static bool is_by_program(Str text)
{
    for (size_t i = 0; i < ARRAY_LEN(written_by_programs); i++)
        if (str_find(text, str_of(written_by_programs[i])) < text.n)
            return true;
    return false;
}

void entry_settle(EntryRow *row)
{
    Entry *e = &row->e;

    e->human = e->users > 0 && !e->side_chain && !row->by_program &&
               !str_is_one_of(row->kind, services) &&
               (row->typed ||
                !(row->kind.n || (e->entrypoint.n && str_is_one_of(e->entrypoint, headless))));
    pulse_show(&row->pulse, e->started_at, e->last_at, e->activity);
}

/* -- events -- */

static void take(Arena *a, Str *place, Str value)
{
    if (value.n && !str_eq(*place, value))
        *place = str_dup(a, value);
}

/* The first line of a request, at most TITLE_CHARS characters. */
static Str title_of(Arena *a, Str text)
{
    Str line, rest, whole;
    size_t chars = 0, end = 0;

    text = str_trim(text);
    if (!str_split(&text, '\n', &line))
        return STR("");
    whole = line = redact_text(a, str_trim(line)); /* before it is cut: half a key is one too */
    for (rest = line; rest.n && chars < TITLE_CHARS; chars++) {
        (void)utf8_next(&rest);
        end = line.n - rest.n;
    }
    line = str_head(line, end);
    return str_printf(a, "%.*s%s", STR_FMT(line), end < whole.n ? "..." : "");
}

Str transcript_title(Arena *a, Str words)
{
    return title_of(a, words);
}

/* Titles of programs may be cut out of longer texts. */
static Str one_line(Arena *a, Str text)
{
    char *out = str_z(a, utf8_head(redact_text(a, str_trim(text)), TITLE_BYTES));

    for (char *p = out; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    return str_of(out);
}

static void session_event(Arena *a, EntryRow *row, const SessionFacts *f)
{
    Entry *e = &row->e;

    /* The first folder is the project; the agent may move to others later. */
    if (!e->cwd.n)
        take(a, &e->cwd, f->cwd);
    if (!e->branch.n)
        take(a, &e->branch, f->branch);
    take(a, &e->model, f->model);
    take(a, &e->version, f->version);
    take(a, &e->parent, f->parent);
    take(a, &e->continued_in, f->continued_in);
    take(a, &row->kind, f->kind);
    take(a, &e->entrypoint, f->originator.n ? f->originator : f->entrypoint);
    if (str_eqz(f->entrypoint, "subagent"))
        e->side_chain = true;
    if (f->cost_usd > 0)
        e->cost_usd = f->cost_usd;
    if (f->title.n) {
        e->title = one_line(a, f->title);
        row->titled = true;
    }
}

static void user_event(Arena *a, EntryRow *row, const Event *e)
{
    Str text;

    /* Titles come along with what is recalled, so a guest's words are none, and no request of the
     * owner. */
    if (e->flags & EVENT_IS_GUEST) {
        if (!row->e.title.n)
            row->e.title = STR("Guest session");
        return;
    }
    row->typed |= (e->flags & EVENT_IS_TYPED) != 0;
    if (row->e.users++)
        return;
    text = event_clip(a, e, TEXT_BYTES, 0);
    row->by_program = is_by_program(text);
    if (!row->titled)
        row->e.title = title_of(a, text);
}

static void tool_event(Arena *a, EntryRow *row, Str name)
{
    Str rest = row->e.tools, known;

    row->e.calls++;
    while (str_split(&rest, '\n', &known))
        if (str_eq(known, name))
            return;
    if (!name.n || row->e.tools.n + name.n + 1 > TOOLS_BYTES)
        return;
    row->e.tools = str_printf(a, "%.*s%s%.*s", STR_FMT(row->e.tools), row->e.tools.n ? "\n" : "",
                              STR_FMT(name));
}

static void usage_event(Entry *e, const EventUsage *u)
{
    int64_t keep = u->total ? 0 : 1;

    e->input_tokens = e->input_tokens * keep + u->input;
    e->output_tokens = e->output_tokens * keep + u->output;
    e->cache_read_tokens = e->cache_read_tokens * keep + u->cache_read;
    e->cache_write_tokens = e->cache_write_tokens * keep + u->cache_write;
}

enum {
    NOT_SAID = EVENT_IS_META | EVENT_IS_SUMMARY | EVENT_IS_INTERRUPT | EVENT_IS_COMMAND,
    OPEN = 1, /* the assistant's message may go on */
    OPEN_ASIDE = 2,
    OPEN_CALLS = 4 /* it has come to calls: words begin another */
};

/* Messages of a file are counted as load.c puts them together: what is listed is what is shown. */
static bool begins_message(EntryRow *row, const Event *e)
{
    bool call = e->kind == EVENT_TOOL_CALL;
    int64_t open = e->flags & EVENT_IS_SIDE_CHAIN ? OPEN | OPEN_ASIDE : OPEN;
    bool goes_on = (row->open & ~OPEN_CALLS) == open && (call || !(row->open & OPEN_CALLS));

    if (e->kind == EVENT_THINKING ||
        (e->flags & NOT_SAID && e->kind != EVENT_TOOL_RESULT && !event_is_shell(e)))
        return false;
    if (!call && e->kind != EVENT_ASSISTANT) {
        row->open = 0;
        return true;
    }
    if (!goes_on)
        row->open = open;
    if (call)
        row->open |= OPEN_CALLS;
    return !goes_on;
}

/* Those of a home are its rows. */
static bool is_another_row(EntryRow *row, const Event *e)
{
    bool another = row->last_where != e->where + 1;

    row->last_where = e->where + 1;
    return another;
}

static void count_message(EntryRow *row, const Event *e)
{
    if (!(row->e.home.n ? is_another_row(row, e) : begins_message(row, e)))
        return;
    row->e.messages++;
    pulse_count(&row->pulse, e->at);
}

void entry_event(Arena *a, EntryRow *row, const Event *e)
{
    bool aside = e->flags & EVENT_IS_SIDE_CHAIN && !row->e.side_chain;

    if (!(ENTRY_KINDS & 1u << e->kind))
        return;
    if (e->at > 0) {
        if (row->e.started_at == 0 || e->at < row->e.started_at)
            row->e.started_at = e->at;
        if (e->at > row->e.last_at)
            row->e.last_at = e->at;
    }
    if (e->kind == EVENT_SESSION)
        session_event(a, row, &e->facts);
    if (e->kind == EVENT_USAGE && !e->call && !(e->flags & EVENT_IS_COPY))
        usage_event(&row->e, &e->usage);
    if (e->kind == EVENT_SESSION || e->kind == EVENT_USAGE || e->flags & EVENT_IS_INACTIVE)
        return;
    count_message(row, e);
    if (e->kind == EVENT_TOOL_CALL)
        tool_event(a, row, e->name);
    if (e->kind == EVENT_TOOL_RESULT && e->flags & EVENT_HAS_FAILED)
        row->e.failed++;
    if (e->kind == EVENT_ASSISTANT && !aside && !(e->flags & EVENT_IS_META))
        row->e.assistants++;
    if (e->kind == EVENT_USER && !aside && !(e->flags & NOT_SAID))
        user_event(a, row, e);
}
