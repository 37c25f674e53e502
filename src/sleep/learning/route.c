/* A skill is improved by the tasks that really used it. */
#include "sleep/learning/consolidate.h"

/* The one hint that all tasks of this id have, else empty. */
static Str hint_of(const TaskRecords *tasks, Str id)
{
    Str hint = STR("");
    bool any = false;

    for (size_t i = 0; i < tasks->n; i++) {
        if (!str_eq(tasks->items[i].id, id))
            continue;
        if (any && !str_eq(tasks->items[i].skill_hint, hint))
            return STR("");
        any = true;
        hint = tasks->items[i].skill_hint;
    }
    return hint;
}

SkillGroups consolidate_route(Arena *a, const TaskRecords *tasks, Str managed)
{
    SkillGroups groups = { 0 };

    for (size_t i = 0; i < tasks->n; i++) {
        Str hint = hint_of(tasks, tasks->items[i].id), name = hint.n ? hint : managed;
        size_t k = 0;

        while (k < groups.n && !str_eq(groups.items[k].skill_name, name))
            k++;
        if (k == groups.n)
            LIST_PUSH(a, &groups, ((SkillGroup){ .skill_name = name }));
        LIST_PUSH(a, &groups.items[k].tasks, tasks->items[i]);
    }
    return groups;
}
