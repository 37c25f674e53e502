/* routing_inside.h - what routing.c and routing_entry.c share. */
#ifndef TALARIA_STORE_ROUTING_INSIDE_H
#define TALARIA_STORE_ROUTING_INSIDE_H

#include "base/arena.h"

/* Under which name the entries of a home stand: the folder of its sessions, resolved. */
Str routing_scope(Arena *a, Str home);

#endif
