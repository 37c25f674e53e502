/* backend.h - who answers a task, judges an answer and thinks about failures.
 *
 * One struct of functions, filled by each kind of backend. A backend answers from its store of earlier
 * answers where it has one, except for a fresh draw: that is named by night, phase, prompt and number of
 * the sample, and no answer under another name may stand in for it (a night that was killed finds its own
 * draws again under the same names). It says whether it is deterministic: then asking twice is pointless, and the gate judges without chance.
 * A function that fails sets err and ends the night: an answer that could not be had is never scored as
 * a wrong one. Documents are handed over as a model is to see them, without the notes of their rules.
 * What comes back lives in the arena. Not thread-safe. */
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
    StrList
        tools; /* tools that the answer may call, because the judge looks for them; may be empty */
    int64_t sample; /* 0 for the plain answer; others are further rollouts */
    bool fresh;     /* a draw of its own, see above */
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

/* A task with what came of it: the whole trace that reflection sees. */
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
    const KnownEdits *known; /* of earlier nights: rejected and waiting ones, with reasons */
} ReflectAsk;

/* What was asked of a model, and what it said. */
typedef struct Heard {
    const char *kind; /* "attempt", "judge", "reflect", "mine" */
    Str prompt, reply;
    Str key;   /* what the answer is kept under */
    bool kept; /* it had said so before: the answer is out of the store */
} Heard;

typedef struct Backend Backend;
struct Backend {
    const char *name; /* "mock", "openai", ... */
    Str model;        /* empty: its default */
    bool deterministic;
    Str night; /* tonight's name: fresh draws belong to it */
    void *ctx;

    /* An answer to the task with these documents. */
    bool (*attempt)(Backend *b, Arena *a, const AttemptAsk *ask, Attempt *ret, Err *err);
    /* Scores an answer that no rule and no exact reference decides. */
    bool (*judge)(Backend *b, Arena *a, const JudgeAsk *ask, Score *ret, Err *err);
    /* Edits that may help; the caller bounds, filters and tests them. */
    bool (*reflect)(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret, Err *err);
    /* Any prompt, for the miner; NULL where there is no model behind. */
    bool (*call)(Backend *b, Arena *a, Str prompt, int64_t max_tokens, Str *ret, Err *err);

    /* Told of every exchange; may be NULL. A backend with no model behind has none. */
    void (*heard)(void *ctx, const Heard *exchange);
    void *heard_ctx;

    Str key; /* what the answer to the last question is kept under; empty: it is not */
    int64_t calls, tokens; /* so far, counted by the backend */
    double usd;
    double
        waited_ms;   /* for answers, when they were first given: the same in a night that goes on */
    bool failed;     /* an answer could not be had; err says why */
    int64_t pending; /* answers that are still to come: what was scored meanwhile means nothing */
    /* Numbers of answers in its store: the last one there is, and the last that an earlier night has
     * paid for. What this night had before it was interrupted counts as spent, as it was. */
    int64_t last_answer, paid_before;
};

/* False, with ERR_NOT_FOUND, while answers are still to come: before anything is decided by them. */
MUST_CHECK bool backend_settled(const Backend *b, Err *err);

/* One task under two documents, attempted and scored; spends from the budget (NULL: none). The
 * score is in the result: rule judges and exact references are scored here, the rest is judged by
 * the backend, and everything is kept within 0..1. */
typedef struct ReplayAsk {
    const TaskRecord *task;
    Docs docs;
    int64_t sample;
    bool fresh;
    const char *phase; /* what it is for: "train", "gate_trial:skill", ... */
} ReplayAsk;
/* Calls that one replay of the task may take: where no rule decides, a judge is asked twice. */
int64_t replay_calls(const Backend *b, const TaskRecord *task);
MUST_CHECK bool replay_task(Backend *b, Arena *a, const ReplayAsk *ask, Budget *budget,
                            ReplayResult *ret, Err *err);

#endif
