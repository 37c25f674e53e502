/* event.h - what every agent's transcript is turned into.
 *
 * One stream of events, whatever wrote it. An event says what stood there and nothing about what it
 * means: that a line was meta, of a side chain or a summary of a compaction is kept as a flag, and
 * whoever reads decides. Text stays as it is in the file (escaped, in pieces) until somebody
 * asks: most of a transcript is tool results that most readers never look at.
 *
 * An Event and all it points to is gone when the callback returns. */
#ifndef TALARIA_TRANSCRIPTS_EVENT_H
#define TALARIA_TRANSCRIPTS_EVENT_H

#include "base/arena.h"
#include "base/err.h"

/* X(id, "name"): the name is what --source takes and what JSON says. */
#define SOURCES(X)                                                                                 \
    X(SOURCE_HERMES, "hermes", "Hermes Agent")                                                     \
    X(SOURCE_CLAUDE, "claude", "Claude Code")                                                      \
    X(SOURCE_CODEX, "codex", "Codex")

typedef enum SourceKind {
#define X(id, name, title) id,
    SOURCES(X)
#undef X
        SOURCE_COUNT
} SourceKind;

/* X(id, "name") */
#define EVENT_KINDS(X)                                                                             \
    X(EVENT_SESSION, "session")         /* facts of the session: only those that this line says */ \
    X(EVENT_USER, "user")               /* what stood in the user's place */                       \
    X(EVENT_ASSISTANT, "assistant")     /* what the agent said */                                  \
    X(EVENT_THINKING, "thinking")       /* what it thought */                                      \
    X(EVENT_TOOL_CALL, "tool_call")     /* name, id, arguments */                                  \
    X(EVENT_TOOL_RESULT, "tool_result") /* id, text, failed */                                     \
    X(EVENT_ERROR, "error")             /* the agent program says that something failed */         \
    X(EVENT_META, "meta")             /* notes of the program: hooks, durations, developer text */ \
    X(EVENT_COMPACTION, "compaction") /* what came before was summed up; text: the summary */      \
    X(EVENT_USAGE, "usage")           /* tokens of one call of the model */                        \
    X(EVENT_FILES, "files")           /* paths of files that were changed, one a piece */

typedef enum EventKind {
#define X(id, name) id,
    EVENT_KINDS(X)
#undef X
        EVENT_KIND_COUNT
} EventKind;

enum {
    EVENT_IS_META = 1,        /* the program put it there (isMeta, developer text, contexts) */
    EVENT_IS_SIDE_CHAIN = 2,  /* of a sub-agent */
    EVENT_IS_SUMMARY = 4,     /* isCompactSummary */
    EVENT_IS_INTERRUPT = 8,   /* "[Request interrupted by user]" and the like */
    EVENT_IS_COMMAND = 16,    /* a slash command or its output, not words to the agent */
    EVENT_HAS_FAILED = 32,    /* a tool result that says it is an error, or a non-zero exit code */
    EVENT_HAS_EXIT_CODE = 64, /* exit_code is known */
    EVENT_IS_INACTIVE = 128,  /* rewound or compacted away (Hermes) */
    EVENT_IS_REWOUND = 512,   /* taken back by the user (Hermes) */
    EVENT_IS_GUEST = 1024,    /* of a turn that a guest asked for, not the owner (our own) */
    EVENT_IS_SHELL = 256,     /* a command that the user ran (!ls), or what it printed */
    EVENT_IS_COPY = 1024,     /* usage in a fork that was copied from the parent */
    EVENT_IS_TYPED = 2048,    /* the program says that a person typed it */
};

/* Text in the pieces in which it lies. */
typedef struct EventText {
    const Str *pieces;
    size_t n;
    unsigned escaped; /* how often: 1, insides of JSON strings; 2, of strings in JSON in a string */
} EventText;

typedef struct SessionFacts { /* empty: this line does not say */
    Str id, cwd, branch, model, title, entrypoint, version, originator;
    Str parent;       /* session that a side chain or a fork belongs to */
    Str kind;         /* Claude Code's sessionKind: bg, daemon, daemon-worker; empty: interactive */
    Str continued_in; /* session that continues this one */
    double cost_usd;  /* of the whole session so far, as the program itself counts it; 0: this line
                         does not say */
} SessionFacts;

typedef struct EventUsage {
    int64_t input, output, cache_read, cache_write, reasoning;
    bool total; /* of the whole session so far, not of one call */
} EventUsage;

typedef struct Event {
    EventKind kind;
    unsigned flags;
    double at; /* unix seconds; 0: not said */
    EventText text;
    Str name;      /* of the tool, cleaned; skill targets stay in arguments */
    Str id;        /* pairs a call with its result; may be empty */
    Str arguments; /* JSON text of an object, as it is in the file; empty: none */
    int64_t exit_code;
    SessionFacts facts; /* EVENT_SESSION */
    EventUsage usage;   /* EVENT_USAGE: what is new */
    EventUsage of_call; /* the same call of the model so far, where it has an id */
    uint64_t call;      /* hash of that id, never 0; 0: none */
    int64_t where;      /* byte at which its line begins; of a database, the message's id */
    int64_t line_bytes; /* 0 in a database */
    int part;           /* which event of that line, from 0 */
} Event;

typedef bool EventFn(void *ctx, const Event *e, Err *err);

/* The text as UTF-8, pieces joined by line ends; what is invalid becomes U+FFFD. */
Str event_text(Arena *a, const Event *e);

/* The same, with no more than head and tail bytes of it decoded: the middle of a long one becomes
 * " ... ". Never cuts a character. */
Str event_clip(Arena *a, const Event *e, size_t head, size_t tail);

/* A command that the user ran beside the agent: it is shown, and no words to the agent. */
static inline bool event_is_shell(const Event *e)
{
    return (e->flags & (EVENT_IS_SHELL | EVENT_IS_META)) == EVENT_IS_SHELL;
}

size_t event_raw_bytes(const Event *e); /* about how long it is, for nothing */

const char *source_name(SourceKind s);
const char *source_title(SourceKind s);
bool source_parse(Str name, SourceKind *ret);
const char *event_kind_name(EventKind k);

#endif
