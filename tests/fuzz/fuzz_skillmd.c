/* Any bytes are a skill with a name, and any request can be put to it; memory files likewise come
 * back as they were written. */
#include <stdlib.h>

#include "agent/memory.h"
#include "recall/skills.h"

static Skills *skills;

static void check_memory(Arena *a, Str text)
{
    MemoryFile f, again;

    memory_parse(a, MEMORY_NOTES, text, &f);
    memory_parse(a, MEMORY_NOTES, memory_write(a, &f), &again);
    if (!f.drift.n && (again.n != f.n || again.chars != f.chars))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SkillPlaces nowhere = { .only = STR("/nonexistent") };
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    ShortlistQuery query = { .text = text };
    Shortlist found;
    Skill skill;
    Err err;

    if (!skills && !(skills = skills_open(&nowhere, &err)))
        abort();
    skill_parse(a, STR("folder"), text, &skill);
    if (!skill.name.n || !skills_put(skills, &skill, 1, &err) ||
        !skills_shortlist(skills, a, &query, &found, &err) || found.n > 1)
        abort();
    check_memory(a, text);
    return 0;
}
