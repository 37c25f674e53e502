/* entry.h - a row of the catalogue while it is being made; inside this room only. */
#ifndef TALARIA_TRANSCRIPTS_ENTRY_H
#define TALARIA_TRANSCRIPTS_ENTRY_H

#include "base/buf.h"
#include "transcripts/catalogue.h"

/* X(kind, column, where it is in an EntryRow) */
#define ENTRY_COLUMNS(X)                                                                           \
    X(SOURCE, source, e.source)                                                                    \
    X(TEXT, home, e.home)                                                                          \
    X(TEXT, id, e.id)                                                                              \
    X(TEXT, path, e.path)                                                                          \
    X(TEXT, parent, e.parent)                                                                      \
    X(TEXT, title, e.title)                                                                        \
    X(BOOL, titled, titled)                                                                        \
    X(TEXT, cwd, e.cwd)                                                                            \
    X(TEXT, branch, e.branch)                                                                      \
    X(TEXT, model, e.model)                                                                        \
    X(TEXT, entrypoint, e.entrypoint)                                                              \
    X(TEXT, version, e.version)                                                                    \
    X(REAL, started_at, e.started_at)                                                              \
    X(REAL, last_at, e.last_at)                                                                    \
    X(INT, users, e.users)                                                                         \
    X(INT, assistants, e.assistants)                                                               \
    X(INT, calls, e.calls)                                                                         \
    X(INT, failed, e.failed)                                                                       \
    X(INT, messages, e.messages)                                                                   \
    X(INT, input_tokens, e.input_tokens)                                                           \
    X(INT, output_tokens, e.output_tokens)                                                         \
    X(INT, cache_read_tokens, e.cache_read_tokens)                                                 \
    X(INT, cache_write_tokens, e.cache_write_tokens)                                               \
    X(REAL, cost_usd, e.cost_usd)                                                                  \
    X(BOOL, side_chain, e.side_chain)                                                              \
    X(BOOL, archived, e.archived)                                                                  \
    X(BOOL, human, e.human)                                                                        \
    X(BOOL, by_program, by_program)                                                                \
    X(TEXT, kind, kind)                                                                            \
    X(BOOL, typed, typed)                                                                          \
    X(TEXT, continued_in, e.continued_in)                                                          \
    X(TEXT, tools, e.tools)                                                                        \
    X(INT, open, open)                                                                             \
    X(PULSE, pulse, pulse)                                                                         \
    X(INT, offset, e.cursor.offset)                                                                \
    X(UINT, proof, e.cursor.proof)                                                                 \
    X(INT, size, e.cursor.size)                                                                    \
    X(INT, mtime_ns, e.cursor.mtime_ns)                                                            \
    X(UINT, inode, e.cursor.inode)                                                                 \
    X(BOOL, settled, e.cursor.settled)                                                             \
    X(UINT, mark, mark)

/* Messages over time in slots of equal length; when the last is passed, two become one. */
enum { PULSE_SLOTS = 64 };
typedef struct Pulse {
    double from, width; /* seconds; width 0: nothing counted yet */
    uint32_t counts[PULSE_SLOTS];
} Pulse;

void pulse_count(Pulse *p, double at);
void pulse_show(const Pulse *p, double from, double to, uint8_t ret[ACTIVITY_BUCKETS]);

typedef struct EntryRow {
    Entry e; /* text lives in the arena of whoever reads it */
    Pulse pulse;
    uint64_t mark;
    bool titled, by_program;
    bool typed;         /* the program says that a person typed a request */
    Str kind;           /* of Claude Code: bg, daemon, daemon-worker */
    int64_t open;       /* of a file: its last message is the assistant's and may go on */
    int64_t last_where; /* of the message that was counted last */
} EntryRow;

/* -- in and out of the database -- */

enum {
    ENTRY_N_COLUMNS = 1 /* the key */
#define X(kind, column, place) +1
    ENTRY_COLUMNS(X)
#undef X
};

/* "key, source, ...": in the order of entry_read */
#define ENTRY_COLUMN_NAME(kind, column, place) ", " #column
#define ENTRY_COLUMN_NAMES                     "key" ENTRY_COLUMNS(ENTRY_COLUMN_NAME)
void entry_read(Arena *a, DbRows *rows, EntryRow *ret);
MUST_CHECK bool entry_write(Db *db, const EntryRow *row, Err *err);

/* -- what events make of it -- */

enum {
    ENTRY_KINDS = 1u << EVENT_SESSION | 1u << EVENT_USER | 1u << EVENT_ASSISTANT |
                  1u << EVENT_THINKING | 1u << EVENT_TOOL_CALL | 1u << EVENT_TOOL_RESULT |
                  1u << EVENT_USAGE | 1u << EVENT_ERROR | 1u << EVENT_COMPACTION
};

void entry_event(Arena *a, EntryRow *row, const Event *e);
void entry_settle(EntryRow *row); /* what follows from the rest: human, activity */

#endif
