#include "transcripts/line.h"

#include "base/limits.h"
#include "text/human.h"

/* -- fields -- */

static size_t slot_of(Str name)
{
    return (name.n * 7 + (unsigned char)name.p[0] * 3 + (unsigned char)name.p[name.n - 1]) %
           KEY_SLOTS;
}

void line_keys(KeyTable *table, const Str *names, size_t n)
{
    ASSERT(n < KEY_SLOTS / 2);
    table->names = names;
    table->n = n;
    for (size_t i = 0; i < n; i++) {
        size_t slot = slot_of(names[i]);

        while (table->slots[slot])
            slot = (slot + 1) % KEY_SLOTS;
        table->slots[slot] = (uint8_t)(i + 1);
    }
}

/* Keys are short, and there are millions of them. */
static inline bool is_key(const char *p, const Str *known)
{
    uint64_t a, b;
    uint32_t c, d;

    if (known->n < sizeof c) {
        for (size_t i = 0; i < known->n; i++)
            if (p[i] != known->p[i])
                return false;
        return true;
    }
    if (known->n >= sizeof a) {
        for (size_t i = 0; i + sizeof a <= known->n; i += sizeof a) {
            memcpy(&a, p + i, sizeof a);
            memcpy(&b, known->p + i, sizeof b);
            if (a != b)
                return false;
        }
        memcpy(&a, p + known->n - sizeof a, sizeof a);
        memcpy(&b, known->p + known->n - sizeof b, sizeof b);
        return a == b;
    }
    memcpy(&c, p, sizeof c);
    memcpy(&d, known->p, sizeof d);
    if (c != d)
        return false;
    memcpy(&c, p + known->n - sizeof c, sizeof c);
    memcpy(&d, known->p + known->n - sizeof d, sizeof d);
    return c == d;
}

void line_fields(const Line *l, JsonTok object, const KeyTable *table, JsonTok *ret)
{
    JsonTok at = json_tok_first(l->scan, object), item;
    Str name;

    for (size_t i = 0; i < table->n; i++)
        ret[i] = JSON_TOK_NONE;
    while (json_tok_next(l->scan, &at, &name, &item)) {
        if (!name.n)
            continue;
        for (size_t slot = slot_of(name); table->slots[slot]; slot = (slot + 1) % KEY_SLOTS) {
            const Str *known = &table->names[table->slots[slot] - 1];

            if (name.n == known->n && is_key(name.p, known)) {
                ret[table->slots[slot] - 1] = item;
                break;
            }
        }
    }
}

Str line_string(const Line *l, JsonTok t)
{
    return json_unescape(l->a, json_tok_raw(l->scan, t));
}

bool line_true(const Line *l, JsonTok t)
{
    return json_tok_char(l->scan, t) == 't';
}

int64_t line_int(const Line *l, JsonTok t)
{
    int64_t n = 0;

    if (!json_tok_int(l->scan, t, &n) || n < 0)
        return 0;
    return n < LIMIT_COUNT ? n : LIMIT_COUNT;
}

double line_double(const Line *l, JsonTok t)
{
    Str json = json_tok_json(l->scan, t);
    double n = 0;

    return json.n && json.p[0] >= '0' && json.p[0] <= '9' && str_to_double(json, &n) ? n : 0;
}

void line_piece(const Line *l, Pieces *p, Str raw)
{
    if (raw.n)
        ARENA_PUSH(l->a, p->all, p->n, p->cap, raw);
}

/* -- times -- */

static int digits(const char *p, int n)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        value = value * 10 + p[i] - '0';
    }
    return value;
}

/* Days since 1970 of a date of the Gregorian calendar; months count from March. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t era, of_era, of_year;

    year -= month <= 2;
    era = year / 400;
    of_era = year - era * 400;
    of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The day that begins a time, in seconds; mostly that of the line before. */
static bool iso_day(LineState *state, Str s, int64_t *ret)
{
    int year, month, day;

    if (memcmp(state->date, s.p, sizeof state->date) != 0) {
        year = digits(s.p, 4);
        month = digits(s.p + 5, 2);
        day = digits(s.p + 8, 2);
        if (year < 1970 || month < 1 || month > 12 || day < 1)
            return false;
        memcpy(state->date, s.p, sizeof state->date);
        state->day = days_of(year, month, day) * 86400;
    }
    *ret = state->day;
    return true;
}

/* The form that both programs write, without a detour through libc. */
static bool iso_time(LineState *state, Str s, double *ret)
{
    int hour, minute, second;
    double fraction = 0, scale = 1;
    int64_t day;
    size_t i = 19;

    if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' || s.p[10] != 'T' || s.p[s.n - 1] != 'Z')
        return false;
    hour = digits(s.p + 11, 2);
    minute = digits(s.p + 14, 2);
    second = digits(s.p + 17, 2);
    if (hour < 0 || minute < 0 || second < 0 || !iso_day(state, s, &day))
        return false;
    if (s.p[i] == '.')
        for (i++; i + 1 < s.n && i < 29; i++) {
            scale /= 10;
            fraction += (s.p[i] - '0') * scale;
        }
    *ret = (double)(day + hour * 3600 + minute * 60 + second) + fraction;
    return true;
}

double line_time(const Line *l, JsonTok t)
{
    Str raw = json_tok_raw(l->scan, t);
    int64_t ms = 0;
    double at = 0;

    if (raw.p) {
        if (!iso_time(l->state, raw, &at) && (raw.n > 40 || !human_parse_time(raw, &at)))
            return 0;
        return at;
    }
    if (!json_tok_int(l->scan, t, &ms) || ms <= 0)
        return 0;
    return ms > 100000000000 ? (double)ms / 1000 : (double)ms;
}

/* -- events -- */

bool line_wants(const Line *l, EventKind kind)
{
    return !l->kinds || l->kinds & 1u << kind;
}

bool line_emit(Line *l, Event *e)
{
    e->flags |= l->flags;
    e->at = l->at;
    e->where = l->where;
    e->line_bytes = l->bytes;
    e->part = l->part++;
    if (!l->fn || !line_wants(l, e->kind) || (l->state->inherited && !l->all))
        return true;
    l->stats->events++;
    return l->fn(l->ctx, e, l->err);
}

bool line_text_event(Line *l, EventKind kind, unsigned flags, const Str *pieces, size_t n)
{
    Event e = { .kind = kind, .flags = flags, .text = { pieces, n, 1 } };

    return line_emit(l, &e);
}

Str line_fact(const Line *l, const KnownFact *known, JsonTok t)
{
    Str raw = json_tok_raw(l->scan, t);

    /* What has no escape is its own text. */
    if (raw.n && raw.n == known->n && known->plain && memcmp(raw.p, known->p, raw.n) == 0)
        return STR_NONE;
    return json_unescape(l->a, raw);
}

/* Whether it is new; what is too long to be kept is told each time. */
static bool learn(KnownFact *known, Str *fact)
{
    if (!fact->n)
        return false;
    if (fact->n == known->n && memcmp(fact->p, known->p, fact->n) == 0) {
        *fact = STR_NONE;
        return false;
    }
    known->n = 0;
    if (fact->n <= sizeof known->p) {
        memcpy(known->p, fact->p, fact->n);
        known->n = fact->n;
        known->plain = !memchr(fact->p, '\\', fact->n);
    }
    return true;
}

bool line_facts(Line *l, SessionFacts facts)
{
    bool anything = facts.title.n > 0 || facts.cost_usd > 0;
    Event e = { .kind = EVENT_SESSION };

#define X(name) anything |= learn(&l->state->known.name, &facts.name);
    REPEATED_FACTS(X)
#undef X
    e.facts = facts;
    return !anything || line_emit(l, &e);
}

/* -- what a text says of itself -- */

/* X("beginning", flags): texts that stand in the user's place and are not the user's words. */
#define NOT_WORDS(X)                                                                               \
    X("[Request interrupted by user", EVENT_IS_INTERRUPT)                                          \
    X("[CONTEXT COMPACTION", EVENT_IS_SUMMARY)                                                     \
    X("<turn_aborted>", EVENT_IS_INTERRUPT | EVENT_IS_META)                                        \
    X("<local-command-", EVENT_IS_COMMAND)                                                         \
    X("<bash-input>", EVENT_IS_COMMAND | EVENT_IS_SHELL)                                           \
    X("<bash-stdout>", EVENT_IS_COMMAND | EVENT_IS_SHELL)                                          \
    X("<bash-stderr>", EVENT_IS_COMMAND | EVENT_IS_SHELL)                                          \
    X("<user_shell_command>", EVENT_IS_COMMAND)                                                    \
    X("# /", EVENT_IS_COMMAND)                                                                     \
    X("Caveat: The messages below were generated", EVENT_IS_META)                                  \
    X("Caveat: The messages below were produced", EVENT_IS_META)                                   \
    X("<system-reminder>", EVENT_IS_META)                                                          \
    X("<task-notification>", EVENT_IS_META)                                                        \
    X("<user-prompt-submit-hook>", EVENT_IS_META)                                                  \
    X("<ide_opened_file>", EVENT_IS_META)                                                          \
    X("<ide_selection>", EVENT_IS_META)                                                            \
    X("<ide_diagnostics>", EVENT_IS_META)                                                          \
    X("<teammate-message", EVENT_IS_META)                                                          \
    X("<environment_context>", EVENT_IS_META)                                                      \
    X("<user_instructions>", EVENT_IS_META)                                                        \
    X("<permissions instructions>", EVENT_IS_META)                                                 \
    X("<collaboration_mode>", EVENT_IS_META)                                                       \
    X("<personality_spec>", EVENT_IS_META)                                                         \
    X("<model_switch>", EVENT_IS_META)                                                             \
    X("<subagent_notification>", EVENT_IS_META)                                                    \
    X("<skills_instructions>", EVENT_IS_META)                                                      \
    X("<plugins_instructions>", EVENT_IS_META)                                                     \
    X("<apps_instructions>", EVENT_IS_META)                                                        \
    X("<skill>", EVENT_IS_META)                                                                    \
    X("<codex_internal_context", EVENT_IS_META)                                                    \
    X("# AGENTS.md instructions", EVENT_IS_META)

/* White space at the front, also where it is escaped. */
static Str skip_space(Str raw)
{
    for (;;) {
        if (raw.n && (raw.p[0] == ' ' || raw.p[0] == '\t'))
            raw = str_skip(raw, 1);
        else if (raw.n > 1 && raw.p[0] == '\\' &&
                 (raw.p[1] == 'n' || raw.p[1] == 't' || raw.p[1] == 'r'))
            raw = str_skip(raw, 2);
        else
            return raw;
    }
}

/* "/model opus": one word behind the slash, itself without one, and no sentence after it. */
static bool is_slash_command(Str raw)
{
    size_t words = 1, i = 1;

    if (raw.n < 2 || raw.p[0] != '/' || raw.n > 200)
        return false;
    for (; i < raw.n && raw.p[i] != ' ' && raw.p[i] != '\\'; i++)
        if (raw.p[i] == '/' || raw.p[i] == '.')
            return false;
    for (; i < raw.n; i++)
        words += raw.p[i] == ' ' || (raw.p[i] == '\\' && i + 1 < raw.n && raw.p[i + 1] == 'n');
    return words <= 3;
}

unsigned line_text_flags(Str raw)
{
    static const struct {
        Str begins;
        unsigned flags;
    } table[] = {
#define X(begins, flags) { STR_INIT(begins), flags },
        NOT_WORDS(X)
#undef X
    };
    Str head;

    raw = skip_space(raw);
    if (!raw.n || (raw.p[0] != '<' && raw.p[0] != '[' && raw.p[0] != '#' && raw.p[0] != '/' &&
                   raw.p[0] != 'C'))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_starts(raw, table[i].begins))
            return table[i].flags;
    head = str_head(raw, 200);
    if (raw.p[0] == '<' && (str_find(head, STR("<command-name>")) < head.n ||
                            str_find(head, STR("<command-message>")) < head.n))
        return EVENT_IS_COMMAND;
    return is_slash_command(raw) ? EVENT_IS_COMMAND : 0;
}

bool line_exit_code(Str raw, int64_t *ret)
{
    static const Str marks[] = { STR_INIT("Exit code "), STR_INIT("Exit code: "),
                                 STR_INIT("Error: Exit code "),
                                 STR_INIT("Process exited with code "),
                                 STR_INIT("\\\"exit_code\\\":") };
    Str head = str_head(raw, 400);
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t at = i < 3 ? (str_starts(head, marks[i]) ? 0 : head.n) : str_find(head, marks[i]);
        Str rest;

        if (at >= head.n)
            continue;
        rest = str_skip(head, at + marks[i].n);
        for (n = rest.n && rest.p[0] == '-'; n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9';)
            n++;
        if (str_to_int(str_head(rest, n), INT32_MIN, INT32_MAX, ret))
            return true;
    }
    return false;
}

Str line_tool_name(const Line *l, Str raw)
{
    Str name = json_unescape(l->a, raw);
    bool clean = name.n <= 80;
    char *out;
    size_t n = 0;

#define IS_NAME(c)                                                                                 \
    (((c) >= '0' && (c) <= '9') || (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'z') || (c) == '_' ||   \
     (c) == '.' || (c) == ':' || (c) == '-')
    for (size_t i = 0; i < name.n && clean; i++)
        clean = IS_NAME(name.p[i]);
    if (clean)
        return name;
    out = arena_alloc(l->a, 80);
    for (size_t i = 0; i < name.n && n < 80; i++)
        if (IS_NAME(name.p[i]))
            out[n++] = name.p[i];
        else if (n == 0 || out[n - 1] != '_' || IS_NAME(name.p[i - 1]))
            out[n++] = '_';
#undef IS_NAME
    return (Str){ out, n };
}
