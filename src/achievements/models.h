/* models.h - whose a model is, and whether it runs at home, told from its name alone. */
#ifndef TALARIA_ACHIEVEMENTS_MODELS_H
#define TALARIA_ACHIEVEMENTS_MODELS_H

#include "achievements/catalogue.h"

/* Empty where the name says nothing. */
Str model_provider(Arena *a, Str model);
bool model_is_local(Arena *a, Str model);
/* Counts as a model at all: everything but the empty name and exactly "None". */
bool model_counts(Str model);

#endif
