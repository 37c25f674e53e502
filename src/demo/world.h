/* world.h - what the demo is about: the JSON files of data/demo/, read once.
 *
 * The files are ours and embedded, so a part that is missing is a bug, not an input. Everything
 * handed out is borrowed from the World. */
#ifndef TALARIA_DEMO_WORLD_H
#define TALARIA_DEMO_WORLD_H

#include "text/json.h"

typedef struct World {
    Json general;  /* models, sources, mixes of work, words, how people talk */
    Json projects; /* files, edits, commands, snippets, pages of each project */
    Json tools;    /* what is said before a call, how calls fail, the lesser tools */
    Json tasks;    /* recurring, checkable */
    Json episodes; /* everything else that happens */
    Json files;    /* skills, memory, notes */
    JsonDoc *docs[6];
} World;

MUST_CHECK World *world_open(Err *err);
World *world_free(World *w);
AUTO_FREE(World, world_free)

/* The item of an array of objects whose "id" (or `key`) is this; JSON_NONE where there is none. */
Json world_find(Json array, const char *key, Str value);

/* A number of an object, or the fallback. */
int64_t world_int(Json object, const char *key, int64_t fallback);
bool world_flag(Json object, const char *key);
Str world_str(Json object, const char *key);
Json world_get(Json object, const char *key);

#endif
