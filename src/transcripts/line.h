/* line.h - one line of a transcript on its way to becoming events; inside this room only.
 *
 * The reader finds and scans the line, claude.c and codex.c say what stands in it, what is common
 * to both (facts that are told once, flags by how a text begins, times) is here. Nothing outlives
 * the line but LineState, which outlives the file's other lines. */
#ifndef TALARIA_TRANSCRIPTS_LINE_H
#define TALARIA_TRANSCRIPTS_LINE_H

#include "text/json_scan.h"
#include "transcripts/reader.h"

enum { FACT_BYTES = 256, USAGE_KEPT = 64, TWINS_KEPT = 16 };

/* X(name): facts of SessionFacts that every line repeats, and that are told when they change. */
#define REPEATED_FACTS(X)                                                                          \
    X(id)                                                                                          \
    X(cwd)                                                                                         \
    X(branch)                                                                                      \
    X(model)                                                                                       \
    X(entrypoint)                                                                                  \
    X(version)                                                                                     \
    X(originator)                                                                                  \
    X(parent)                                                                                      \
    X(kind)                                                                                        \
    X(continued_in)

typedef struct KnownFact {
    char p[FACT_BYTES];
    size_t n;
    bool plain; /* without a backslash */
} KnownFact;

/* A turn that is written in several forms: what was told, and in which of them it has been seen. */
typedef enum TwinRole { TWIN_USER, TWIN_ASSISTANT, TWIN_THINKING, TWIN_ROLES } TwinRole;
typedef struct Twin {
    uint64_t hash;
    int64_t line; /* 0: none is here */
    unsigned forms;
} Twin;

typedef struct LineState {
    struct {
#define X(name) KnownFact name;
        REPEATED_FACTS(X)
#undef X
    } known;
    struct {
        uint64_t call;
        EventUsage counted;
    } usage[USAGE_KEPT]; /* calls of the model, newest over oldest */
    size_t usage_at;
    Twin twins[TWIN_ROLES][TWINS_KEPT]; /* newest over oldest */
    size_t twin_at[TWIN_ROLES];
    int64_t line;
    double first_at; /* Claude Code: of the first line that has a time */
    char date[10];   /* of the last time that was read, and when that day began */
    int64_t day;
    bool side_file;   /* the whole file is of a side chain */
    bool named;       /* the user gave the session a title: the program's own do not replace it */
    bool has_session; /* Codex: session_meta was read; one of a fork's parent may follow */
    bool inherited; /* Codex: what comes was said in another thread, before this one was forked from
                       it */
    bool is_fork;   /* Codex: totals begin with those of the parent */
    bool ordinals, paginated; /* Codex: lines are numbered; what was shown is in item_completed */
    bool no_input; /* Codex: nothing was said yet in this turn: an answer is the summary of a
                      compaction */
    double forked_at;
    int64_t fork_ms;
    int64_t last_total; /* Codex: tokens so far, when they were last told */
} LineState;

typedef struct Line {
    const JsonScan *scan;
    Arena *a; /* until the line ends */
    LineState *state;
    ReadStats *stats;
    unsigned kinds;
    bool all; /* what was inherited, too */
    EventFn *fn;
    void *ctx;
    Err *err;
    int64_t where, bytes;
    int part;
    unsigned flags;
    double at;
} Line;

/* The parts of a text, gathered in the line's arena. */
typedef struct Pieces {
    Str *all;
    size_t n, cap;
} Pieces;

void line_piece(const Line *l, Pieces *p, Str raw); /* an empty one is none */

/* False: the callback wants no more, err says why. */
MUST_CHECK bool claude_line(Line *l);
MUST_CHECK bool codex_line(Line *l);

/* -- what both use -- */

/* Names of keys, found by a hash that is built before main: every key of every line is looked
 * up. */
enum { KEY_SLOTS = 128 };
typedef struct KeyTable {
    const Str *names;
    size_t n;
    uint8_t slots[KEY_SLOTS]; /* place in names + 1; 0: empty */
} KeyTable;

void line_keys(KeyTable *table, const Str *names, size_t n);
#define KEY_TABLE(table, names_)                                                                   \
    static KeyTable table;                                                                         \
    __attribute__((constructor)) static void build_##table(void)                                   \
    {                                                                                              \
        line_keys(&table, names_, ARRAY_LEN(names_));                                              \
    }

/* The values of `object` under the names of the table; JSON_TOK_NONE where it has none. */
void line_fields(const Line *l, JsonTok object, const KeyTable *table, JsonTok *ret);

MUST_CHECK bool line_emit(Line *l, Event *e);
MUST_CHECK bool line_text_event(Line *l, EventKind kind, unsigned flags, const Str *pieces,
                                size_t n);

/* Tells what differs from what was told before. */
MUST_CHECK bool line_facts(Line *l, SessionFacts facts);

/* Of a fact that every line repeats: decoded, or nothing where it is the one that is known. */
Str line_fact(const Line *l, const KnownFact *known, JsonTok t);

bool line_wants(const Line *l, EventKind kind);
Str line_string(const Line *l, JsonTok t); /* decoded; empty where it is no string */
bool line_true(const Line *l, JsonTok t);
int64_t line_int(const Line *l, JsonTok t);
double line_double(const Line *l, JsonTok t); /* 0: none */

/* 2026-08-21T10:00:00.123Z, or a number of milliseconds; 0 where it is none. */
double line_time(const Line *l, JsonTok t);

/* Tool names as others may print them. */
Str line_tool_name(const Line *l, Str raw);

/* What the beginning of a text in the user's place says of who wrote it. */
unsigned line_text_flags(Str raw);

/* The number behind "Exit code " and the like at the beginning of a result. */
bool line_exit_code(Str raw, int64_t *ret);

#endif
