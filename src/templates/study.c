#include "templates/study.h"

#include <math.h>

#include "base/limits.h"
#include "base/log.h"
#include "templates/extract.h"
#include "templates/tasktype.h"

static const double z95 = 1.959963984540054;

static const char *const kind_names[] = {
#define X(name, text) [name] = text,
    STUDY_KINDS(X)
#undef X
};

const char *study_kind_name(StudyKind kind)
{
    return kind_names[kind];
}

/* -- statistics -- */

/* Wilson's interval: stays within 0 and 1 and is honest for small counts and for no failure. */
StudyShare study_share(uint64_t failed, uint64_t calls)
{
    StudyShare s = { .calls = calls, .failed = failed, .high = 1 };
    double n = (double)calls, z2 = z95 * z95, middle, half;

    if (!calls)
        return s;
    s.share = (double)failed / n;
    middle = (s.share + z2 / (2 * n)) / (1 + z2 / n);
    half = z95 / (1 + z2 / n) * sqrt(s.share * (1 - s.share) / n + z2 / (4 * n * n));
    s.low = failed == 0 ? 0 : fmax(0, middle - half);
    s.high = failed == calls ? 1 : fmin(1, middle + half);
    return s;
}

/* The 97.5 % point of Student's t, by the expansion around the normal's (Abramowitz and Stegun
 * 26.7.5); right to three digits from five degrees on, and we ask from nineteen on. */
static double student_95(double df)
{
    double z = z95, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

static StudySums add_up(const StudySums *sessions, size_t n)
{
    StudySums all = { 0 };

    for (size_t i = 0; i < n; i++) {
        all.n += sessions[i].n;
        all.x += sessions[i].x;
        all.y += sessions[i].y;
        all.xx += sessions[i].xx;
        all.xy += sessions[i].xy;
    }
    return all;
}

/* What a session's calls, taken together, pull at the slope: the sum over its calls of
 * (x - mean x) times the residual. */
static double pull(const StudySums *s, const StudyFit *fit, double mean_x)
{
    double about_zero = s->xy - fit->intercept * s->x - fit->slope * s->xx;
    double residuals = s->y - fit->intercept * s->n - fit->slope * s->x;

    return about_zero - mean_x * residuals;
}

StudyFit study_fit(const StudySums *sessions, size_t n)
{
    StudySums all = add_up(sessions, n);
    StudyFit fit = { 0 };
    double mean_x, spread, squares = 0, half, groups = (double)n;

    if (n < 2 || all.n < 3)
        return fit;
    mean_x = all.x / all.n;
    spread = all.xx - mean_x * all.x;
    if (!(spread > 1e-9))
        return fit;
    fit.known = true;
    fit.slope = (all.xy - mean_x * all.y) / spread;
    fit.intercept = all.y / all.n - fit.slope * mean_x;
    for (size_t i = 0; i < n; i++) {
        double u = pull(&sessions[i], &fit, mean_x);

        squares += u * u;
    }
    squares *= groups / (groups - 1) * (all.n - 1) / (all.n - 2);
    fit.error = sqrt(squares) / spread;
    half = student_95(groups - 1) * fit.error;
    fit.low = fit.slope - half;
    fit.high = fit.slope + half;
    fit.differs = fit.error > 0 ? fit.low > 0 || fit.high < 0 : fit.slope != 0;
    return fit;
}

/* -- gathering -- */

/* By the calls of the first turns, also those whose result was lost. */
static StudyKind kind_of(const Exchange *exchanges, size_t n)
{
    size_t early = 0, count[TASK_TYPE_COUNT] = { 0 };

    for (size_t i = 0; i < n && exchanges[i].turn <= STUDY_FIRST_TURNS; i++) {
        count[tasktype_of_tool(exchanges[i].call.name)]++;
        early++;
    }
    if (count[TASK_CODE] * 2 > early)
        return STUDY_CODE;
    return count[TASK_FILE] * 2 > early ? STUDY_FILE : STUDY_REST;
}

StudyFacts study_facts(Arena *scratch, const Message *messages, size_t n)
{
    StudyFacts facts = { 0 };
    Exchange *exchanges;
    size_t n_exchanges;

    exchanges_pair(scratch, messages, n, &exchanges, &n_exchanges);
    facts.kind = kind_of(exchanges, n_exchanges);
    for (size_t i = 0; i < n_exchanges; i++) {
        size_t decile = exchanges[i].message * STUDY_DECILES / n;

        if (!exchanges[i].has_result)
            continue;
        facts.calls[decile]++;
        if (extract_outcome(&exchanges[i], message_text(scratch, exchanges[i].content)) !=
            OUTCOME_OK)
            facts.failed[decile]++;
    }
    return facts;
}

/* "kind calls/failed calls/failed ..." */
Str study_facts_text(Arena *a, const StudyFacts *facts)
{
    AUTO_BUF out = BUF(1024);

    buf_addf(&out, "%d", (int)facts->kind);
    for (size_t d = 0; d < STUDY_DECILES; d++)
        buf_addf(&out, " %llu/%llu", (unsigned long long)facts->calls[d],
                 (unsigned long long)facts->failed[d]);
    return str_dup(a, buf_str(&out));
}

bool study_facts_parse(Str text, StudyFacts *ret)
{
    StudyFacts facts = { 0 };
    int64_t kind, calls, failed;
    Str word, part;

    if (!str_split(&text, ' ', &word) || !str_to_int(word, 0, STUDY_KIND_COUNT - 1, &kind))
        return false;
    for (size_t d = 0; d < STUDY_DECILES; d++) {
        if (!str_split(&text, ' ', &word) || !str_split(&word, '/', &part) ||
            !str_to_int(part, 0, INT32_MAX, &calls) || !str_to_int(word, 0, calls, &failed))
            return false;
        facts.calls[d] = (uint64_t)calls;
        facts.failed[d] = (uint64_t)failed;
    }
    facts.kind = (StudyKind)kind;
    *ret = facts;
    return true;
}

void study_add(StudyTally *tally, const StudyFacts *facts)
{
    StudySums sums = { 0 };
    StudyKind kind = facts->kind;

    tally->seen++;
    for (size_t d = 0; d < STUDY_DECILES; d++) {
        double x = (double)d + 1, calls = (double)facts->calls[d];

        tally->kinds[kind].calls[d] += facts->calls[d];
        tally->kinds[kind].failed[d] += facts->failed[d];
        sums.n += calls;
        sums.x += calls * x;
        sums.xx += calls * x * x;
        sums.y += (double)facts->failed[d];
        sums.xy += (double)facts->failed[d] * x;
    }
    if (sums.n > 0)
        ARENA_PUSH(tally->arena, tally->kinds[kind].sums, tally->kinds[kind].n,
                   tally->kinds[kind].cap, sums);
}

void study_finish(const StudyTally *tally, Study *ret)
{
    *ret = (Study){ .sessions = tally->seen };
    for (StudyKind k = 0; k < STUDY_KIND_COUNT; k++) {
        StudyLine *line = &ret->lines[k];

        line->sessions = tally->kinds[k].n;
        line->enough = line->sessions >= STUDY_MIN_SESSIONS;
        line->fit = study_fit(tally->kinds[k].sums, tally->kinds[k].n);
        for (size_t d = 0; d < STUDY_DECILES; d++) {
            line->deciles[d] = study_share(tally->kinds[k].failed[d], tally->kinds[k].calls[d]);
            line->calls += tally->kinds[k].calls[d];
            line->failed += tally->kinds[k].failed[d];
        }
    }
}

const char *study_verdict(const StudyLine *line)
{
    if (!line->enough || !line->fit.known)
        return "too little to tell";
    if (!line->fit.differs)
        return "no change that can be told from chance";
    return line->fit.slope < 0 ? "fewer calls fail as a session goes on"
                               : "more calls fail as a session goes on";
}

/* Raise the number when the rules of judging or of counting change. */
static const Str topic = STR_INIT("study 2");

static bool mark_of(const Past *past, Arena *a, const HistoryItem *item, Str *ret, Err *err)
{
    AUTO_BUF marks = BUF(KIB(64));

    for (size_t i = 0; i < item->lineage.n_parts; i++) {
        Str mark;

        if (!past_mark(past, a, item, i, &mark, err))
            return false;
        buf_addf(&marks, "%s%.*s", i ? " " : "", STR_FMT(mark));
    }
    *ret = str_dup(a, buf_str(&marks));
    return true;
}

static bool facts_of(const Past *past, Arena *scratch, const HistoryItem *item, StudyFacts *ret,
                     Err *err)
{
    Str home = past_home(past, item), id = item->lineage.tip.id, mark, kept;
    Message *messages;
    size_t n;

    if (!mark_of(past, scratch, item, &mark, err))
        return false;
    if (index_get(past->index, scratch, topic, home, id, mark, &kept) &&
        study_facts_parse(kept, ret))
        return true;
    if (!history_load(past->history, scratch, item, 0, &messages, &n, err))
        return false;
    *ret = study_facts(scratch, messages, n);
    index_put(past->index, topic, home, id, mark, study_facts_text(scratch, ret));
    return true;
}

typedef struct Studying {
    const Past *past;
    StudyTally tally;
} Studying;

static bool add_session(void *ctx, Arena *scratch, const HistoryItem *item, Err *err)
{
    Studying *s = ctx;
    StudyFacts facts;

    if (facts_of(s->past, scratch, item, &facts, err))
        study_add(&s->tally, &facts);
    else if (item->is_file) /* a file that cannot be read hides no other */
        log_warning("left out: %s", err->text);
    else
        return false;
    return true;
}

bool study_run(const Past *past, Study *ret, Err *err)
{
    AUTO(Arena) *arena = arena_new();
    Studying s = { .past = past, .tally = { .arena = arena } };

    if (!past_each(past, "sessions studied", add_session, &s, err))
        return false;
    study_finish(&s.tally, ret);
    return true;
}
