/* knowledge_inside.h - handles that one worker uses at a time; for knowledge*.c. */
#ifndef TALARIA_AGENT_KNOWLEDGE_INSIDE_H
#define TALARIA_AGENT_KNOWLEDGE_INSIDE_H

#include "agent/context.h"
#include "agent/knowledge.h"

typedef struct Shelf {
    Arena *arena; /* of what the catalogue borrows */
    Catalogue *catalogue;
    Recall *recall;
    Skills *skills;
    Brain *brain;
    Err no_history, no_skills, no_brain; /* why it is not there */
} Shelf;

const Homes *knowledge_homes(const Knowledge *k);
Shelf *shelf_take(Knowledge *k);
void shelf_give(Knowledge *k, Shelf *s);

#endif
