/* answer_inside.h - one answer that is being put together; for answer*.c. */
#ifndef TALARIA_AGENT_ANSWER_INSIDE_H
#define TALARIA_AGENT_ANSWER_INSIDE_H

#include "agent/answer.h"
#include "base/buf.h"
#include "recall/snippet.h"
#include "store/continued.h"

/* A session as lists count it: parts that compression split are one, and so are a session and the
 * conversation that continues it. */
typedef struct Talk {
    Entry entry;  /* of its newest part */
    Entry *parts; /* newest first */
    size_t n_parts, cap;
    int64_t messages, calls, failed;
} Talk;

typedef struct Answering {
    Arena *arena;
    const AnswerSource *source;
    const Question *q;
    Buf *out;
    DocReader *reader;
    When period;
    Str period_name; /* "last week, 2026-11-09 to 2026-11-15; 2 automated sessions not counted" */
    Continuation *continued;
    size_t n_continued;
    Talk *talks; /* newest first */
    size_t n;
    int64_t until_ms; /* reading ends then, monotonic */
    size_t unread;    /* talks for which there was no time */
    bool found;       /* what was asked for */
} Answering;

/* The sessions of the period that a person took part in; without those that only asked about the
 * history. `project`: only those whose folder or title has its words; may be empty. */
MUST_CHECK bool answer_sessions(Answering *w, Str project, Err *err);

bool answer_in_period(const Answering *w, double at);
/* Documents of a talk, oldest first; an unreadable one has none. False: time is up. */
bool answer_read(Answering *w, const Talk *talk, DocFn *fn, void *ctx);

void answer_date(Buf *out, double at);
void answer_plural(Buf *out, int64_t n, const char *one, const char *many);
/* Text of the history within a line: escaped, redacted, clipped. */
void answer_text(Buf *out, Str text, size_t max_chars);
/* The same as code. */
void answer_code(Buf *out, Str text, size_t max_chars);

/* One kind of question each. */
MUST_CHECK bool answer_worked(Answering *w, Err *err);
MUST_CHECK bool answer_failed(Answering *w, Err *err);
MUST_CHECK bool answer_fixed(Answering *w, Err *err);
MUST_CHECK bool answer_decided(Answering *w, Err *err);
MUST_CHECK bool answer_session(Answering *w, Err *err);

#endif
