/* How often the skill that a request is about is on the shortlist: all of its text beside name and
 * description alone, over skills and requests made up here; and with a folder given, over the
 * SKILL.md in it, asked by the points of their own "when to use" sections, which are taken out of
 * the index first. Such requests come from the same document and are easier than people's own
 * words: of use to see a change, not to boast with. Then how long a shortlist, a graph and a
 * context take. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/context.h"
#include "base/clock.h"
#include "base/limits.h"
#include "common.h"
#include "shortlist_skills.h"
#include "text/letters.h"

static double percent(size_t n, size_t of)
{
    return of ? 100.0 * (double)n / (double)of : 0;
}

static bool print_pair(const char *name, const Hits *ours, const Hits *plain, bool promised)
{
    double at_8 = percent(ours->at_8, ours->asked), at_8_plain = percent(plain->at_8, plain->asked);
    bool pass = !promised || at_8 - at_8_plain >= 15;

    fprintf(stderr, "%s: %zu requests; hit@1 %.1f beside %.1f, hit@8 %.1f beside %.1f\n", name,
            ours->asked, percent(ours->at_1, ours->asked), percent(plain->at_1, plain->asked), at_8,
            at_8_plain);
    bench_line(name, at_8, "% hit@8", at_8_plain, "run", at_8_plain > 0 ? at_8 / at_8_plain : 0,
               pass);
    return pass;
}

/* -- a folder -- */

typedef struct Asked {
    Str name, request;
} Asked;

typedef struct Folder {
    Arena *arena;
    Asked *all;
    size_t n, cap;
} Folder;

static bool is_when_heading(Arena *a, Str line)
{
    Str low = text_lower(a, line);

    return str_find(low, STR("when to use")) < low.n || str_find(low, STR("何时使用")) < low.n ||
           str_find(low, STR("使用场景")) < low.n;
}

/* The skill without its section, whose points become requests. */
static void take_section(Folder *f, Skill *s)
{
    AUTO_BUF rest = BUF(LIMIT_SKILL_BYTES);
    Str body = s->body, line;
    bool inside = false;

    while (str_split(&body, '\n', &line)) {
        Str trimmed = str_trim(line);

        if (str_starts(line, STR("#")))
            inside = is_when_heading(f->arena, line);
        if (!inside) {
            buf_add(&rest, line);
            buf_addc(&rest, '\n');
        } else if (trimmed.n > 12 && (trimmed.p[0] == '-' || trimmed.p[0] == '*')) {
            Asked asked = { s->name, str_trim(str_skip(trimmed, 1)) };

            ARENA_PUSH(f->arena, f->all, f->n, f->cap, asked);
        }
    }
    s->body = str_dup(f->arena, buf_str(&rest));
}

static bool ask_folder(const Folder *f, const Skill *all, size_t n, Hits *ret, Err *err)
{
    SkillPlaces nowhere = { .only = STR("/nonexistent") };
    AUTO(Skills) *s = skills_open(&nowhere, err);

    *ret = (Hits){ 0 };
    if (!s || !skills_put(s, all, n, err))
        return false;
    for (size_t i = 0; i < f->n; i++)
        if (!ask_one(s, str_z(f->arena, f->all[i].request), f->all[i].name, ret, err))
            return false;
    return true;
}

static bool run_folder(const char *path, Err *err)
{
    AUTO(Arena) *a = arena_new();
    SkillPlaces places = { .only = str_of(path) };
    AUTO(Skills) *found = skills_open(&places, err);
    Folder f = { .arena = a };
    Hits ours, plain;
    const Skill *skills;
    Skill *whole, *headline;
    size_t n;

    if (!found || !skills_refresh(found, 0, err))
        return false;
    skills = skills_all(found, &n);
    whole = ARENA_ARRAY(a, Skill, n + 1);
    headline = ARENA_ARRAY(a, Skill, n + 1);
    for (size_t i = 0; i < n; i++) {
        whole[i] = skills[i];
        take_section(&f, &whole[i]);
        headline[i] = (Skill){ .name = skills[i].name, .description = skills[i].description };
    }
    if (!ask_folder(&f, whole, n, &ours, err) || !ask_folder(&f, headline, n, &plain, err))
        return false;
    return print_pair("shortlist of a folder", &ours, &plain, false);
}

/* -- time -- */

enum { ROUNDS = 200, MANY = 400 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static bool print_p95(const char *name, double *ms, double max)
{
    double p95;

    qsort(ms, ROUNDS, sizeof *ms, ascending);
    p95 = ms[ROUNDS * 95 / 100];
    bench_line(name, p95, "ms p95", 0, "-", 0, p95 <= max);
    return p95 <= max;
}

/* As many skills as a much used machine has. */
static Skills *many_skills(Arena *a, Err *err)
{
    SkillPlaces nowhere = { .only = STR("/nonexistent") };
    Skills *s = skills_open(&nowhere, err);
    Skill *all = ARENA_ARRAY(a, Skill, MANY);

    for (size_t i = 0; i < MANY; i++) {
        all[i] = made_skill(&made_skills[i % MADE_SKILLS], false);
        all[i].name = str_printf(a, "%.*s-%zu", STR_FMT(all[i].name), i);
    }
    return s && skills_put(s, all, MANY, err) ? s : skills_close(s);
}

static bool run_time(Err *err)
{
    static const char list[] =
        "Please do these:\n- research the queue in src/queue.c\n- fix src/a.c\n"
        "- test src/a.c\n- write docs/a.md\n- deploy it to staging\n";
    AUTO(Arena) *a = arena_new();
    AUTO(Skills) *s = many_skills(a, err);
    double skills_ms[ROUNDS], graph_ms[ROUNDS];
    GraphOptions options = { .parallel = true };

    if (!s)
        return false;
    for (size_t i = 0; i < ROUNDS; i++) {
        AUTO(Arena) *turn = arena_new();
        ShortlistQuery query = { .text = str_of(made_skills[i % MADE_SKILLS].requests[0]) };
        int64_t start = clock_thread_ns(), middle;
        Shortlist found;

        if (!skills_shortlist(s, turn, &query, &found, err))
            return false;
        middle = clock_thread_ns();
        (void)graph_build(turn, str_of(list), &options);
        graph_ms[i] = (double)(clock_thread_ns() - middle) / 1e6;
        skills_ms[i] = (double)(middle - start) / 1e6;
    }
    return print_p95("shortlist of 400 skills", skills_ms, 10) &
           print_p95("task graph", graph_ms, 10);
}

int main(int argc, char **argv)
{
    Hits ours, plain;
    bool ok;
    Err err;

    if (!ask_made_up(false, &ours, &err) || !ask_made_up(true, &plain, &err) || !run_time(&err)) {
        fprintf(stderr, "bench_shortlist: %s\n", err.text);
        return 1;
    }
    ok = print_pair("shortlist", &ours, &plain, true);
    if (argc > 1 && !run_folder(argv[1], &err)) {
        fprintf(stderr, "bench_shortlist: %s\n", err.text);
        return 1;
    }
    return ok ? 0 : 1;
}
