/* tasktype.h - what kind of work a session is, told from its tools.
 *
 * Which tool belongs to which set is data: data/tools.def. */
#ifndef TALARIA_TEMPLATES_TASKTYPE_H
#define TALARIA_TEMPLATES_TASKTYPE_H

#include "base/str.h"

/* X(name, as files and users write it) */
#define TASK_TYPES(X)                                                                              \
    X(TASK_CODE, "code")                                                                           \
    X(TASK_FILE, "file")                                                                           \
    X(TASK_RESEARCH, "research")                                                                   \
    X(TASK_TERMINAL, "terminal")                                                                   \
    X(TASK_MIXED, "mixed")

typedef enum TaskType {
#define X(name, text) name,
    TASK_TYPES(X)
#undef X
        TASK_TYPE_COUNT
} TaskType;

/* The set of one tool; TASK_MIXED where it is in none. */
TaskType tasktype_of_tool(Str tool);

/* The type that more than 60 % of all calls belong to; TASK_MIXED where there is none. */
TaskType tasktype_of(const Str *tools, size_t n);

const char *tasktype_name(TaskType type);
MUST_CHECK bool tasktype_parse(Str name, TaskType *ret);

#endif
