#include "templates/tasktype.h"

static const char *const names[] = {
#define X(name, text) [name] = text,
    TASK_TYPES(X)
#undef X
};

static const struct {
    Str tool;
    TaskType type;
    bool is_prefix;
} sets[] = {
#define TOOL(name, set, as, agent)        { STR_INIT(name), TASK_##set, false },
#define TOOL_PREFIX(name, set, as, agent) { STR_INIT(name), TASK_##set, true },
#include "../../data/tools.def"
#undef TOOL
#undef TOOL_PREFIX
};

TaskType tasktype_of_tool(Str tool)
{
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (sets[i].is_prefix ? str_starts(tool, sets[i].tool) : str_eq(tool, sets[i].tool))
            return sets[i].type;
    return TASK_MIXED;
}

TaskType tasktype_of(const Str *tools, size_t n)
{
    size_t count[TASK_TYPE_COUNT] = { 0 };

    for (size_t i = 0; i < n; i++)
        count[tasktype_of_tool(tools[i])]++;
    /* Of all calls, unknown tools included: three reads among five are not a file session. */
    for (TaskType t = 0; t < TASK_MIXED; t++)
        if (count[t] * 10 > n * 6)
            return t;
    return TASK_MIXED;
}

const char *tasktype_name(TaskType type)
{
    return names[type];
}

bool tasktype_parse(Str name, TaskType *ret)
{
    for (TaskType t = 0; t < TASK_TYPE_COUNT; t++)
        if (str_eqz(name, names[t])) {
            *ret = t;
            return true;
        }
    return false;
}
