/* Who learns tonight, and from which tasks; then the learning itself, one document after the
 * other. */
#include "sleep/night/night_inside.h"
#include "sleep/task/document.h"
#include "text/utf8.h"

enum { MIN_GROUP = 12, MAX_PROPOSALS = 64 };

/* -- who learns -- */

/* A group by itself must have tasks on both sides, and, where chance plays, enough of them. */
static bool can_stand_alone(const Night *w, const SkillGroup *group)
{
    size_t val = 0, train = 0;

    for (size_t i = 0; i < group->tasks.n; i++) {
        Str split = split_of(&group->tasks.items[i]);

        val += str_eqz(split, "val");
        train += str_eqz(split, "train");
    }
    return val && train && (w->backend->deterministic || group->tasks.n >= MIN_GROUP);
}

static void read_memory(Night *w, Target *t)
{
    Str path = str_join_path(w->arena, w->options->harvest.project, STR("CLAUDE.md"));
    Document as_it_is;
    Err why;

    if (live_read(w->arena, path, &t->memory, &why)) {
        t->docs.memory = t->memory.bytes;
        if (document_parse(w->arena, t->memory.bytes, &as_it_is, &why))
            return;
    }
    /* People keep it as a link, or half a marker in it: it is theirs, and no reason not to
     * sleep. */
    t->memory = (LiveDoc){ 0 };
    recorder_note(&w->recorder,
                  str_printf(w->arena, "skipped the project's memory file: %s", why.text));
}

/* Agents list skills with the beginning of their description alone: it says when to use this
 * one. */
static Str skill_description(Night *w)
{
    enum { NAME_BYTES = 40 };
    Str project = str_file_name(w->options->harvest.project);

    if (!project.n)
        return STR(
            "Use for every recurring request of this user. Rules learned from past sessions, "
            "each tested before it was added.");
    return str_printf(w->arena,
                      "Use for recurring requests in %.*s. Rules learned from past sessions, each "
                      "tested before it was added.",
                      STR_FMT(utf8_head(project, NAME_BYTES)));
}

static bool read_docs(Night *w, Target *t, Str path, Err *err)
{
    if (!live_read(w->arena, path, &t->live, err))
        return false;
    t->docs.skill = t->live.bytes.n ? t->live.bytes
                                    : document_scaffold(w->arena, t->skill, skill_description(w));
    t->docs.memory = STR("");
    if (t->kind == ITEM_MANAGED && w->options->harvest.project.n)
        read_memory(w, t);
    return true;
}

static bool is_of_our_home(const Night *w, Str name)
{
    Str root = str_join_path(w->arena, w->place.homes->data, STR("skills")), path;

    return skill_find(w->arena, &(StrList){ .items = &root, .n = 1 }, name, &path) == SKILL_FOUND;
}

/* A skill of others that is not found, or that cannot be worked on, teaches nobody less: it is
 * reported, and its tasks go to the managed one. */
static bool add_skill(Night *w, const SkillGroup *group)
{
    Target *t = &w->targets[w->n_targets];
    Str path = STR_NONE;
    SkillFound found = skill_find(w->arena, &w->roots, group->skill_name, &path);
    Document as_it_is;
    Err why;

    *t = (Target){ .skill = group->skill_name, .kind = ITEM_SKILL, .group = *group };
    if (found == SKILL_MISSING && is_of_our_home(w, group->skill_name))
        return false;
    if (found != SKILL_FOUND) {
        recorder_left_out(&w->recorder, group, "skipped", str_of(skill_found_says(found)));
        return false;
    }
    if (!read_docs(w, t, path, &why) || !document_parse(w->arena, t->docs.skill, &as_it_is, &why)) {
        recorder_left_out(&w->recorder, group, "failed", str_of(why.text));
        return false;
    }
    w->n_targets++;
    return true;
}

/* A skill that was used and is found learns from its own tasks; all else goes to the managed
 * one. */
bool night_find_targets(Night *w, Err *err)
{
    SkillGroups groups = consolidate_route(w->arena, &w->tonight.tasks, STR(NIGHT_MANAGED));
    SkillGroup rest = { 0 };
    Target *managed;

    w->targets = ARENA_ARRAY(w->arena, Target, groups.n + 2);
    if (!place_of_managed(w->arena, &w->place, STR(NIGHT_MANAGED), &w->managed_path, err) ||
        !skill_roots(w->arena, &w->place, &w->roots, err))
        return false;
    rest.skill_name = str_file_name(str_folder(w->managed_path));
    for (size_t i = 0; i < groups.n; i++) {
        const SkillGroup *g = &groups.items[i];
        bool own = !w->options->target.n && !str_eqz(g->skill_name, NIGHT_MANAGED) &&
                   w->n_targets < MAX_PROPOSALS && can_stand_alone(w, g);

        if (!own || !add_skill(w, g))
            for (size_t k = 0; k < g->tasks.n; k++)
                LIST_PUSH(w->arena, &rest.tasks, g->tasks.items[k]);
    }
    if (!rest.tasks.n)
        return true;
    managed = &w->targets[w->n_targets++];
    *managed = (Target){ .skill = rest.skill_name, .kind = ITEM_MANAGED, .group = rest };
    return read_docs(w, managed, w->managed_path, err);
}

/* -- learning -- */

bool night_learn(Night *w, Err *err)
{
    ConsolidateWatch watch = recorder_watch(&w->recorder);
    ConsolidateRules rules = w->options->rules;

    rules.night = w->tonight.number;
    rules.alpha /=
        (double)(w->n_targets ? w->n_targets : 1); /* the rate is that of the whole night */
    for (size_t i = 0; i < w->n_targets; i++) {
        Target *t = &w->targets[i];
        KnownEdits *known = known_book_of(w->arena, &w->known, t->skill);

        rules.evolve_memory = w->options->rules.evolve_memory && t->memory.path.n;
        w->recorder.live = t->docs;
        if (!consolidate(w->arena, w->backend, &t->group.tasks, t->docs, &rules, known, &w->budget,
                         &watch, &t->done, err))
            return err_wrap(err, "skill '%.*s'", STR_FMT(t->skill));
        recorder_group(&w->recorder, t->skill, &t->group, &t->done);
    }
    return true;
}

static bool measure(Night *w, const Target *t, const TaskRecord *task, Err *err)
{
    ReplayAsk ask = { .task = task, .docs = t->docs, .phase = "test" };
    ReplayResult before, after;

    if (!replay_task(w->backend, w->arena, &ask, &w->budget, &before, err))
        return false;
    after = before;
    ask.docs = t->done.docs;
    if (t->done.accepted && !replay_task(w->backend, w->arena, &ask, &w->budget, &after, err))
        return false;
    recorder_test(&w->recorder, task, &before, &after);
    return true;
}

/* Tasks that nothing was decided by: what the new documents are worth on them. */
bool night_measure(Night *w, Err *err)
{
    for (size_t i = 0; i < w->n_targets; i++) {
        const TaskRecords *tasks = &w->targets[i].group.tasks;

        for (size_t k = 0; k < tasks->n; k++) {
            if (!str_eqz(split_of(&tasks->items[k]), "test"))
                continue;
            if (budget_spent(&w->budget, 2 * replay_calls(w->backend, &tasks->items[k]))) {
                recorder_note(&w->recorder, STR("some test tasks were not measured"));
                return true;
            }
            if (!measure(w, &w->targets[i], &tasks->items[k], err))
                return false;
        }
    }
    return backend_settled(w->backend, err);
}
