/* Long enough that two of a history do not meet, short enough to be read out. */
#include "sleep/task/ids.h"

#include "text/letters.h"
#include "text/sha256.h"

enum { TASK_DIGITS = 12, RULE_DIGITS = 8 };

static Str short_hash(Arena *a, Str text, size_t digits)
{
    return str_head(sha256_hex(a, text), digits);
}

Str id_of_request(Arena *a, Str project, Str request)
{
    Str text = str_printf(a, "%.*s::%.*s", STR_FMT(project), STR_FMT(request));

    return str_printf(a, "task_%.*s", STR_FMT(short_hash(a, text, TASK_DIGITS)));
}

Str id_of_intent(Arena *a, Str project, Str intent)
{
    Str text = str_printf(a, "%.*s%.*s", STR_FMT(project), STR_FMT(intent));

    return str_printf(a, "llm_%.*s", STR_FMT(short_hash(a, text, TASK_DIGITS)));
}

Str id_of_rule(Arena *a, Str rule)
{
    return str_printf(a, "r%.*s", STR_FMT(short_hash(a, text_squeeze(a, rule), RULE_DIGITS)));
}
