#include "demo/steps.h"

/* What a step is done to, and which of the decks picks it where the thread leaves it open. */
static const struct {
    Str verb;
    const char *among; /* key in the project */
    bool only_looks, changes;
} verbs[DECKS] = {
    { STR_INIT("read"), "files", true, false },    { STR_INIT("grep"), "greps", true, false },
    { STR_INIT("edit"), "edits", false, true },    { STR_INIT("write"), "writes", false, true },
    { STR_INIT("run"), "commands", false, false }, { STR_INIT("code"), "code", false, false },
    { STR_INIT("search"), "topics", true, false }, { STR_INIT("extract"), "topics", true, false },
};

Str step_split(Str step, Str *ret_object)
{
    size_t space = str_find(step, STR(" "));

    *ret_object = str_skip(step, space + 1);
    return str_head(step, space);
}

/* The n-th key of an object, or the n-th string of an array, counted round. */
static Str nth_name(Json v, size_t n)
{
    JsonIter it = json_each(v);
    Json item;
    Str key = STR_NONE;

    for (size_t i = 0; i <= n % json_count(v); i++)
        if (!json_next(&it, &key, &item))
            return STR_NONE;
    return json_type(v) == JSON_ARRAY ? json_str(item) : key;
}

Json step_named(Scene *s, const char *among, Str name)
{
    Json own = json_get(world_get(s->thread, among), name);

    return json_type(own) != JSON_NONE ? own : json_get(world_get(s->project, among), name);
}

SceneEdit *step_edit(Scene *s, Json change)
{
    for (size_t i = 0; i < s->n_edits; i++)
        if (s->edits[i].edit.doc == change.doc && s->edits[i].edit.at == change.at)
            return &s->edits[i];
    return NULL;
}

/* A change is planned once a session; only in one that takes all day may it be taken back. */
static bool plan_change(Scene *s, Json change)
{
    SceneEdit edit = { .edit = change };

    if (step_edit(s, change))
        return world_flag(s->thread, "long");
    edit.old = words_fill(s, world_get(change, "old"));
    edit.new = words_fill(s, world_get(change, "new"));
    ARENA_PUSH(s->arena, s->edits, s->n_edits, s->cap_edits, edit);
    return true;
}

/* Some tools have no business outside of a browser or a talk. */
static Str random_extra(Scene *s)
{
    Str kind = world_str(s->thread, "kind");
    bool web = str_eqz(kind, "mixed") || str_eqz(kind, "research");
    Json extra;

    do
        extra = dice_weighted(&s->dice, world_get(s->world->tools, "extras"));
    while (!web && world_str(extra, "only").p);
    return world_str(extra, "tool");
}

/* What a verb is done to: something from the thread's scope where it has one; else anything of the
 * project but the commands that somebody must ask for. Empty where the scope forbids the verb. */
static Str random_object(Scene *s, size_t verb)
{
    Json scope = json_get(world_get(s->thread, "scope"), verbs[verb].verb);
    Json all = world_get(s->project, verbs[verb].among);
    Str name;

    if (json_type(scope) == JSON_ARRAY)
        return json_count(scope) ? nth_name(scope, s->decks[verb]++) : STR_NONE;
    do
        name = nth_name(all, s->decks[verb]++);
    while (world_flag(json_get(all, name), "asked"));
    return name;
}

Str step_complete(Scene *s, Str step)
{
    Str object, verb = step_split(step, &object);
    size_t i = 0;

    if (str_eqz(verb, "extra") && !object.n)
        object = random_extra(s);
    while (i < ARRAY_LEN(verbs) && !str_eq(verbs[i].verb, verb))
        i++;
    if (i == ARRAY_LEN(verbs) && !object.n)
        return str_printf(s->arena, "browse %zu",
                          dice_below(&s->dice, json_count(world_get(s->project, "pages"))));
    if (!object.n)
        object = random_object(s, i);
    if (!object.n || (i < ARRAY_LEN(verbs) && verbs[i].changes &&
                      !plan_change(s, step_named(s, verbs[i].among, object))))
        return step_complete(s, STR("read"));
    return str_printf(s->arena, "%.*s %.*s", STR_FMT(verb), STR_FMT(object));
}

bool step_only_looks(Str step)
{
    Str object, verb = step_split(step, &object);

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(verbs[i].verb, verb))
            return verbs[i].only_looks;
    return false;
}

/* Which verb serves a kind of work; the shares are those of an ordinary day. */
static Str verb_of(Scene *s, Str sort)
{
    size_t at = dice_below(&s->dice, 100);

    if (str_eqz(sort, "code"))
        return STR("code");
    if (str_eqz(sort, "shell"))
        return STR("run");
    if (str_eqz(sort, "extra"))
        return STR("extra");
    if (str_eqz(sort, "file"))
        return at < 46 ? STR("read") : at < 64 ? STR("grep") : at < 91 ? STR("edit") : STR("write");
    return at < 38 ? STR("search") : at < 76 ? STR("extract") : STR("browse");
}

Str step_random(Scene *s)
{
    Json mix = json_get(world_get(s->world->general, "mix"), world_str(s->thread, "kind")), share;
    JsonIter it = json_each(mix);
    int64_t at = dice_span(&s->dice, 0, 99), n = 0;
    Str sort = STR_NONE;

    while (json_next(&it, &sort, &share) && (json_int(share, &n), (at -= n) >= 0))
        continue;
    return step_complete(s, verb_of(s, sort));
}
