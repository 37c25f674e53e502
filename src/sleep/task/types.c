#include "sleep/task/types.h"

#include "text/letters.h"
#include "text/sha256.h"

#define X(Type, prefix, FIELDS, title) RECORD_TABLE(Type, prefix, FIELDS, title)
SLEEP_RECORDS(X)
#undef X

Str split_normal(Str split)
{
    if (str_eq(split, STR("replay")))
        return STR("train");
    if (str_eq(split, STR("holdout")))
        return STR("val");
    return split;
}

/* -- Ids: long enough not to collide in a history, short enough to read aloud -- */

enum { TASK_DIGITS = 12, RULE_DIGITS = 8 };

Str id_of_request(Arena *a, Str project, Str request)
{
    Str text = str_printf(a, "%.*s::%.*s", STR_FMT(project), STR_FMT(request));

    return str_printf(a, "task_%.*s", TASK_DIGITS, sha256_hex(a, text).p);
}

Str id_of_intent(Arena *a, Str project, Str intent)
{
    Str text = str_printf(a, "%.*s%.*s", STR_FMT(project), STR_FMT(intent));

    return str_printf(a, "llm_%.*s", TASK_DIGITS, sha256_hex(a, text).p);
}

Str id_of_rule(Arena *a, Str rule)
{
    return str_printf(a, "r%.*s", RULE_DIGITS, sha256_hex(a, text_squeeze(a, rule)).p);
}
