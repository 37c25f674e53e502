/* searching.h - the index as commands open it. */
#ifndef TALARIA_CMD_SEARCHING_H
#define TALARIA_CMD_SEARCHING_H

#include "cmd/cli.h"
#include "recall/search.h"

/* Catalogue and index over what --home and the environment mean: with --home that home alone. */
typedef struct Searching {
    const Homes *homes;
    Catalogue *catalogue;
    RecallIndex *index;
    Recall *recall;
} Searching;

MUST_CHECK bool searching_open(Cli *cli, Searching *ret, Err *err);
void searching_close(Searching *s);
#define AUTO_SEARCHING __attribute__((cleanup(searching_close))) Searching

#endif
