/* The actions. Each gets the place of its literal, [p, q), and looks around as far as its rule
 * needs. What must be known of the rest of a line is looked up once a line, so that no text makes
 * the walk slower than linear. */
#include "achievements/rules.h"

#include "achievements/chars.h"

/* -- counting -- */

static inline uint32_t offset(const Tally *t, const char *p)
{
    return (uint32_t)(p - t->begin);
}

static inline bool is_free(const Tally *t, Metric m, const char *p)
{
    return offset(t, p) >= t->done[m];
}

static inline bool count(Tally *t, Metric m, const char *p, const char *q)
{
    if (!is_free(t, m, p))
        return false;
    t->count[m]++;
    t->done[m] = offset(t, q);
    return true;
}

/* Words that need boundaries begin and end with word characters: their neighbours must be none. */
static inline bool is_bounded(const char *p, const char *q)
{
    return !word_before(p) && !word_at(q);
}

static void error_word(Tally *t, const char *p, const char *q)
{
    uint32_t end = offset(t, q);

    if (offset(t, p) < t->error_row_end || !is_bounded(p, q))
        return;
    while (*t->row_ends < end)
        t->row_ends++;
    t->error_row_end = *t->row_ends;
    t->count[METRIC_ERROR_COUNT]++;
}

/* -- the rest of a line -- */

typedef unsigned char Sixteen __attribute__((vector_size(16)));

static inline Sixteen sixteen_lowered(const char *p)
{
    Sixteen bytes;

    memcpy(&bytes, p, sizeof bytes);
    return bytes | 0x20;
}

/* Whether the word may stand at one of sixteen places: first and last letter fit, more or less. */
static inline bool may_stand_around(const char *p, Str word)
{
    unsigned char first = (unsigned char)(word.p[0] | 0x20);
    unsigned char last = (unsigned char)(word.p[word.n - 1] | 0x20);
    Sixteen both =
        (Sixteen)(sixteen_lowered(p) == first) & (Sixteen)(sixteen_lowered(p + word.n - 1) == last);
    uint64_t halves[2];

    memcpy(halves, &both, sizeof halves);
    return halves[0] | halves[1];
}

/* The last place of the word wholly within [from, end); NULL where there is none. */
static const char *last_of(const char *from, const char *end, Str word, bool bounded)
{
    const char *p = end - word.n, *next;

    if ((size_t)(end - from) < word.n)
        return NULL;
    for (; p >= from; p = next) {
        bool sixteen = p - from >= 15;

        next = sixteen ? p - 16 : from - 1;
        if (sixteen && !may_stand_around(p - 15, word))
            continue;
        for (; p > next; p--)
            if (stands_at(p, word) && (!bounded || is_bounded(p, p + word.n)))
                return p;
    }
    return NULL;
}

static const char *last_of_any(const char *from, const char *end, const Str *words, size_t n,
                               bool bounded)
{
    const char *last = NULL;

    for (size_t i = 0; i < n; i++) {
        const char *p = last_of(last ? last : from, end, words[i], bounded);

        last = p ? p : last;
    }
    return last;
}

/* Whether p is on a line that was not looked at yet; then its end is set. */
static bool new_line(const Tally *t, LineEnd *line, const char *p)
{
    if (line->end && p <= line->end)
        return false;
    line->end = memchr(p, '\n', (size_t)(t->end - p));
    if (!line->end)
        line->end = t->end;
    return true;
}

static void port_head(Tally *t, const char *p, const char *q)
{
    static const Str tails[] = { STR_INIT("in use"), STR_INIT("already"), STR_INIT("taken"),
                                 STR_INIT("eaddrinuse") };

    if (t->flag[FLAG_PORT] || !is_bounded(p, q))
        return;
    if (new_line(t, &t->port, q))
        t->port.last = last_of_any(q, t->port.end, tails, ARRAY_LEN(tails), true);
    t->flag[FLAG_PORT] = t->port.last && t->port.last >= q;
}

static void install_head(Tally *t, const char *p, const char *q)
{
    static const Str tails[] = { STR_INIT("install"), STR_INIT("add") };

    if (t->flag[FLAG_INSTALL] || !is_bounded(p, q))
        return;
    if (new_line(t, &t->install, q))
        t->install.last = last_of_any(q, t->install.end, tails, ARRAY_LEN(tails), true);
    t->flag[FLAG_INSTALL] = t->install.last && t->install.last >= q;
}

/* "missing ", anything, and the last "env" of the line. */
static void missing(Tally *t, const char *p, const char *q)
{
    static const Str env = STR_INIT("env");

    if (!is_free(t, METRIC_ENV_VAR_ERROR_EVENTS, p))
        return;
    if (new_line(t, &t->missing, q))
        t->missing.last = last_of(q, t->missing.end, env, false);
    if (t->missing.last && t->missing.last >= q)
        count(t, METRIC_ENV_VAR_ERROR_EVENTS, p, t->missing.last + env.n);
}

/* "docker", somewhere "name" or "container", and behind that the last "already" of the line. */
static void docker(Tally *t, const char *p, const char *q)
{
    static const Str already = STR_INIT("already"),
                     things[] = { STR_INIT("name"), STR_INIT("container") };
    LineEnd *line = &t->docker;

    if (!is_free(t, METRIC_DOCKER_CONFLICT_EVENTS, p))
        return;
    if (new_line(t, line, q)) {
        line->last = last_of(q, line->end, already, false);
        line->inner = line->last ? last_of_any(q, line->last, things, 2, false) : NULL;
    }
    if (line->inner && line->inner >= q)
        count(t, METRIC_DOCKER_CONFLICT_EVENTS, p, line->last + already.n);
}

/* -- phrases -- */

/* Four alternatives of two rules hold this word. Of two that meet the one that begins first
 * counts. */
static void conflict(Tally *t, const char *p, const char *q)
{
    static const Str merge = STR_INIT("merge "), container = STR_INIT("container name "),
                     the = STR_INIT(". the container");

    if (!stands_before(p, merge) || !count(t, METRIC_GIT_HISTORY_EVENTS, p - merge.n, q)) {
        const char *r = skip_spaces(q, t->end);

        if (r < t->end && *r == '(')
            count(t, METRIC_GIT_HISTORY_EVENTS, p, r + 1);
    }
    if (stands_before(p, container) && count(t, METRIC_DOCKER_CONFLICT_EVENTS, p - container.n, q))
        return;
    if (stands_at(q, the))
        count(t, METRIC_DOCKER_CONFLICT_EVENTS, p, q + the.n);
}

static void git(Tally *t, const char *p, const char *q)
{
    enum { DAILY = 1, HISTORY = 2, RELEASE = 4 };
    static const struct {
        Str word;
        unsigned rules;
    } commands[] = {
        { STR_INIT("status"), DAILY },
        { STR_INIT("commit"), DAILY },
        { STR_INIT("diff"), DAILY },
        { STR_INIT("push"), DAILY | HISTORY },
        { STR_INIT("merge"), DAILY | HISTORY },
        { STR_INIT("rebase"), DAILY | HISTORY },
        { STR_INIT("fetch"), HISTORY },
        { STR_INIT("pull"), HISTORY },
        { STR_INIT("checkout"), HISTORY },
        { STR_INIT("tag"), HISTORY | RELEASE },
    };
    const char *r;

    if (word_before(p) || word_at(q))
        return;
    r = skip_spaces(q, t->end);
    if (r == q)
        return;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *end = r + commands[i].word.n;

        if (!stands_at(r, commands[i].word))
            continue;
        if (commands[i].rules & DAILY)
            count(t, METRIC_GIT_EVENTS, p, end);
        if (commands[i].rules & HISTORY)
            count(t, METRIC_GIT_HISTORY_EVENTS, p, end);
        if (commands[i].rules & RELEASE)
            count(t, METRIC_RELEASE_EVENTS, p, end);
        return;
    }
}

static void background(Tally *t, const char *p, const char *q)
{
    static const Str yes = STR_INIT("true");
    const char *r = skip_spaces(q, t->end);

    if (r == t->end || *r != '=')
        return;
    r = skip_spaces(r + 1, t->end);
    if (stands_at(r, yes))
        count(t, METRIC_PROCESS_CALLS, p, r + yes.n);
}

static void exit_code(Tally *t, const char *p, const char *q)
{
    const char *r = q + (*q == '"' || *q == '\'');

    if (t->flag[FLAG_SUCCESS] || word_before(p))
        return;
    r = skip_spaces(r, t->end);
    if (*r != ':' && *r != '=')
        return;
    r = skip_spaces(r + 1, t->end);
    t->flag[FLAG_SUCCESS] = *r == '0' && !word_at(r + 1);
}

static void start(Tally *t, const char *p, const char *q)
{
    if (!word_at(q) || (stands_before(p, STR("re")) && !word_before(p - 2)))
        t->flag[FLAG_RESTART] = true;
}

static void logs(Tally *t, const char *p, const char *q)
{
    static const Str api = STR_INIT("/api/");

    if (stands_before(p, api) && count(t, METRIC_LOG_READ_EVENTS, p - api.n, q))
        return;
    if (is_bounded(p, q))
        count(t, METRIC_LOG_READ_EVENTS, p, q);
}

/* -- configuration files -- */

static inline bool in_config_name(char c)
{
    return c == '-' || ((unsigned char)c < 0x80 && is_word((unsigned char)c));
}

/* "config." with an extension: with more of a name before it, from the first boundary in that name;
 * by itself only where it is YAML. */
static void config(Tally *t, const char *p, const char *q)
{
    const char *free_from = t->begin + t->done[METRIC_CONFIG_EVENTS], *from = p;
    size_t yaml = stands_at(q, STR("yaml")) ? 4 : stands_at(q, STR("yml")) ? 3 : 0;
    size_t n = yaml ? yaml : stands_at(q, STR("js")) || stands_at(q, STR("ts")) ? 2 : 0;

    if (!n)
        return;
    while (from > free_from && in_config_name(from[-1]))
        from--;
    while (from < p && !boundary(from))
        from++;
    if (from < p || yaml)
        count(t, METRIC_CONFIG_EVENTS, from, q + n);
}

/* -- the text as it was -- */

/* Python lowers the whole text for this rule, and U+0130 becomes an i with a mark behind it. */
static void skill(Tally *t, const char *p)
{
    uint32_t c = (unsigned char)p[-1] < 0x80 ? (unsigned char)p[-1] : char_before(p);

    if (!is_word(c) || c == 0x130)
        t->count[METRIC_SKILL_EVENTS]++;
}

/* The sign for kelvin is a k to this rule, the other three are not letters of it. */
static bool is_skill(const char *p)
{
    static const Str kelvin = STR_INIT("\xe2\x84\xaa"), ill = STR_INIT("ill");

    return lower(p[0]) == 's' && ((lower(p[1]) == 'k' && stands_at(p + 2, ill)) ||
                                  (stands_at(p + 1, kelvin) && stands_at(p + 1 + kelvin.n, ill)));
}

void tally_original(Tally *t, Str row)
{
    for (const char *p = row.p; p < row.p + row.n; p++)
        if (is_skill(p))
            skill(t, p);
    paths_add_all(t->paths, row, false);
}

static bool is_folded(Tally *t, const char *p)
{
    uint32_t at = offset(t, p);

    while (t->folded->end <= at)
        t->folded++;
    return t->folded->begin <= at;
}

static void path(Tally *t, const char *p, const char *q)
{
    size_t before = paths_count(t->paths);

    if (is_folded(t, p))
        return;
    paths_add_at(t->paths, &t->run, p, (size_t)(q - p), t->end, false);
    if (paths_count(t->paths) != before)
        t->new_path = offset(t, q);
}

/* -- the walk -- */

static void act(Tally *t, Action a, const char *p, const char *q)
{
    switch ((ActionKind)a.kind) {
    case ACT_COUNT:
        count(t, (Metric)a.argument, p, q);
        break;
    case ACT_COUNT_BOUNDED:
        if (is_bounded(p, q))
            count(t, (Metric)a.argument, p, q);
        break;
    case ACT_ERROR_WORD:
        error_word(t, p, q);
        break;
    case ACT_FLAG:
        t->flag[a.argument] = true;
        break;
    case ACT_FLAG_BOUNDED:
        if (!t->flag[a.argument])
            t->flag[a.argument] = is_bounded(p, q);
        break;
    case ACT_PORT_HEAD:
        port_head(t, p, q);
        break;
    case ACT_INSTALL_HEAD:
        install_head(t, p, q);
        break;
    case ACT_EXIT_CODE:
        exit_code(t, p, q);
        break;
    case ACT_START:
        start(t, p, q);
        break;
    case ACT_LOGS:
        logs(t, p, q);
        break;
    case ACT_MISSING:
        missing(t, p, q);
        break;
    case ACT_DOCKER:
        docker(t, p, q);
        break;
    case ACT_CONFLICT:
        conflict(t, p, q);
        break;
    case ACT_GIT:
        git(t, p, q);
        break;
    case ACT_CONFIG:
        config(t, p, q);
        break;
    case ACT_DOT_ENV:
        if (!word_at(q))
            count(t, METRIC_CONFIG_EVENTS, p, q);
        break;
    case ACT_BACKGROUND:
        background(t, p, q);
        break;
    case ACT_SKILL:
        if (!is_folded(t, p))
            skill(t, p);
        break;
    case ACT_PATH:
        path(t, p, q);
        break;
    }
}

void tally_text(Tally *t, const TallyText *text, const Hit *hits, size_t n)
{
    t->begin = text->text.p;
    t->end = text->text.p + text->text.n;
    t->row_ends = text->row_ends;
    t->error_row_end = 0;
    t->folded = text->folded;
    memset(t->done, 0, sizeof t->done);
    t->port = t->install = t->missing = t->docker = (LineEnd){ 0 };
    t->run = (PathRun){ 0 };
    t->new_path = 0;
    for (size_t i = 0; i < n; i++) {
        const Literal *literal = &rule_literals[hits[i].literal];
        const char *q = t->begin + hits[i].end, *p = q - literal->text.n;

        /* More than half of all hits are of this kind: worth its own branch. */
        if (literal->actions[0].kind == ACT_COUNT)
            count(t, (Metric)literal->actions[0].argument, p, q);
        else
            act(t, literal->actions[0], p, q);
        for (size_t k = 1; k < literal->n; k++)
            act(t, literal->actions[k], p, q);
    }
}
