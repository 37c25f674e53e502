/* args.h - what the parser found; the frame's own view of Args. */
#ifndef TALARIA_CMD_ARGS_H
#define TALARIA_CMD_ARGS_H

#include "cmd/cli.h"

enum { MAX_OPTIONS = 64, MAX_GIVEN = 256, MAX_OPERANDS = 256, MAX_DEPTH = 4 };

typedef struct ArgValue {
    const Option *option;
    const char *text; /* as given; NULL: not given */
    int64_t number;
    double time;
} ArgValue;

struct Args {
    const Command *path[MAX_DEPTH]; /* from the root to the command */
    size_t depth;
    ArgValue values[MAX_OPTIONS];
    size_t n_values;
    struct {
        const Option *option;
        const char *text;
    } given[MAX_GIVEN]; /* in the order of the command line */
    size_t n_given;
    const char *operands[MAX_OPERANDS];
    size_t n_operands;
    bool help, version;
};

#endif
