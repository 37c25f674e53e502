/* store_inside.h - a Store as its own files see it. */
#ifndef TALARIA_STORE_STORE_INSIDE_H
#define TALARIA_STORE_STORE_INSIDE_H

#include "store/engine.h"

struct Store {
    const Homes *homes;
    const Engine *engine;
    Conn **conns; /* one a home; NULL where it is empty or cannot be read */
};

/* The chain that ends with this session. */
MUST_CHECK bool store_lineage(Store *s, Arena *a, const Session *tip, Lineage *ret, Err *err);

#endif
