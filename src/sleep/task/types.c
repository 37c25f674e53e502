#include "sleep/task/types.h"

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
