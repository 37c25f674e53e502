/* record.h - what is kept of one session.
 *
 * A history has thousands of sessions and nearly all are as they were: so the numbers of a session
 * stay packed (a byte each, mostly) and are taken apart only where they are added up or written. */
#ifndef TALARIA_ACHIEVEMENTS_RECORD_H
#define TALARIA_ACHIEVEMENTS_RECORD_H

#include "achievements/catalogue.h"
#include "achievements/metrics.h"
#include "base/buf.h"

/* Names of tools, each once; records of one home share a table. */
typedef struct ToolTable {
    Str *all;
    size_t n, cap;
} ToolTable;

typedef struct Record {
    Str id, title, source;
    Str conversation; /* the newest part, where compression cut it into several; else empty */
    bool covered;     /* a conversation of ours represents it (recall/history.h) */
    bool begun_there; /* and counts as the agent's which wrote this one */
    Str model;        /* several, one a line, where all are counted */
    size_t home;      /* by its place in the homes */
    int64_t rowid;    /* in that */
    double started_at, last_active;
    uint64_t mark; /* of the session as it was counted: differs when it changed */
    Str metrics;   /* packed */
    Str tools;     /* packed: places in the table */
    Str peaks;     /* packed: the message of each metric of which the largest is shown */
    const ToolTable *table;
} Record;

/* -- packing -- */

void pack_number(Buf *out, uint64_t n);
void pack_text(Buf *out, Str s);
void pack_real(Buf *out, double d);

/* Takes apart from the front; `bad` is sticky, looked at once, at the end. */
typedef struct Unpacker {
    Str rest;
    bool bad;
} Unpacker;

uint64_t unpack_number(Unpacker *u);
Str unpack_text(Unpacker *u);
double unpack_real(Unpacker *u);

/* -- numbers -- */

/* Puts what was counted into the record; text and new names go to the arena. */
void record_set(Arena *a, Record *r, ToolTable *table, const SessionMetrics *m);
void record_metrics(const Record *r, int64_t ret[METRIC_COUNT]);
/* Names in order; the array lives in the arena. */
Str *record_tools(Arena *a, const Record *r, size_t *ret_n);
/* Messages by the place of a maximum among the maxima of the catalogue; 0: not known. */
void record_peaks(const Record *r, int64_t ret[MAX_PEAKS]);

#endif
