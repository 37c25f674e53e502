/* backend.h - the interface to a model: it answers tasks, judges answers and reflects on failures.
 *
 * Each kind of backend fills one struct of functions. A backend may answer from its store of
 * earlier answers, except for a fresh draw: its name consists of night, phase, prompt and sample
 * number, and no answer under another name may replace it (a resumed night finds its own draws
 * under the same names). A deterministic backend gives the same answer every time, so the gate
 * needs no statistics. A function that fails sets err and ends the night: a missing answer is never
 * scored as a wrong one. Documents are passed as a model sees them, without the notes of their
 * rules. Results live in the arena. Not thread-safe. */
#ifndef TALARIA_SLEEP_TRIAL_BACKEND_H
#define TALARIA_SLEEP_TRIAL_BACKEND_H

#include "sleep/task/judge.h"
#include "sleep/trial/budget.h"

/* The two documents that a night may change. */
typedef struct Docs {
    Str skill, memory;
} Docs;

typedef struct AttemptAsk {
    const TaskRecord *task;
    Docs docs;
    StrList tools;  /* that the answer may call, because the judge looks for them */
    int64_t sample; /* 0 for the plain answer; others are further rollouts */
    bool fresh;     /* not from the store, see above */
    const char *phase;
} AttemptAsk;

typedef struct Attempt {
    Str answer;
    StrList tools_called;
} Attempt;

typedef struct JudgeAsk {
    const TaskRecord *task;
    Str answer;
    int64_t sample;
    bool fresh;
    const char *phase;
} JudgeAsk;

/* A task with its result, as reflection sees it. */
typedef struct Replayed {
    TaskRecord task;
    ReplayResult result;
} Replayed;
typedef LIST_OF(Replayed) ReplayedList;

typedef struct ReflectAsk {
    const ReplayedList *failures;  /* the worst rollout of each task that fails */
    const ReplayedList *successes; /* the best rollout of tasks that pass, sometimes or always */
    Docs docs;
    Str target; /* "skill" | "memory" */
    int64_t edit_budget;
    Str preferences;
    const KnownEdits *known; /* of earlier nights: rejected and pending ones, with reasons */
} ReflectAsk;

/* One exchange with a model. */
typedef struct Heard {
    const char *kind; /* "attempt", "judge", "reflect", "mine" */
    Str prompt, reply;
    Str key;   /* of the answer in the store */
    bool kept; /* the answer is from the store */
} Heard;

typedef struct Backend Backend;
struct Backend {
    const char *name; /* "mock", "openai", ... */
    Str model;        /* empty: its default */
    bool deterministic;
    Str night; /* tonight's name, part of the names of fresh draws */
    void *ctx;

    /* An answer to the task with these documents. */
    bool (*attempt)(Backend *b, Arena *a, const AttemptAsk *ask, Attempt *ret, Err *err);
    /* Scores an answer that no rule and no exact reference decides. */
    bool (*judge)(Backend *b, Arena *a, const JudgeAsk *ask, Score *ret, Err *err);
    /* Edits that may help; the caller bounds, filters and tests them. */
    bool (*reflect)(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret, Err *err);
    /* Any prompt, for the miner; NULL without a model. */
    bool (*call)(Backend *b, Arena *a, Str prompt, int64_t max_tokens, Str *ret, Err *err);

    /* Called after every exchange with a model; may be NULL. */
    void (*heard)(void *ctx, const Heard *exchange);
    void *heard_ctx;

    Str key;               /* of the last answer in the store; empty: not stored */
    int64_t calls, tokens; /* so far, counted by the backend */
    double usd;
    double waited_ms; /* for answers when they were first given: the same in a resumed night */
    bool failed;      /* an answer failed; err says why */
    int64_t pending;  /* answers still to come: until then no score means anything */
    /* Numbers of answers in its store: the last one, and the last that an earlier night paid for.
     * What this night paid before it was interrupted counts as spent. */
    int64_t last_answer, paid_before;
};

/* False, with ERR_NOT_FOUND, while answers are pending. To be called before any decision. */
MUST_CHECK bool backend_settled(const Backend *b, Err *err);

/* Attempts and scores one task under two documents; spends from the budget (NULL: none). Rule
 * judges and exact references are scored here, the rest by the backend; scores are within 0..1. */
typedef struct ReplayAsk {
    const TaskRecord *task;
    Docs docs;
    int64_t sample;
    bool fresh;
    const char *phase; /* purpose: "train", "gate_trial:skill", ... */
} ReplayAsk;
/* Calls that one replay may take: without a rule, a judge is asked twice. */
int64_t replay_calls(const Backend *b, const TaskRecord *task);
MUST_CHECK bool replay_task(Backend *b, Arena *a, const ReplayAsk *ask, Budget *budget,
                            ReplayResult *ret, Err *err);

#endif
