/* backend_mock.h - a backend without a model, which follows the documents literally.
 *
 * For a task judged by rules, a check passes exactly when the documents state it (rule_of_check). A
 * task with "rule:<key>" tags is answered with its reference once the documents have the sentences
 * of these keys (MOCK_RULES). Reflection proposes the sentences that failing tasks lack.
 * Deterministic; writes no files. */
#ifndef TALARIA_SLEEP_TRIAL_BACKEND_MOCK_H
#define TALARIA_SLEEP_TRIAL_BACKEND_MOCK_H

#include "sleep/trial/backend.h"

/* key, sentence */
#define MOCK_RULES(X)                                                                              \
    X("wrap-answer", "Put the final answer between <answer> and </answer>.")                       \
    X("arxiv-id", "Cite a paper by its identifier, as arXiv:NNNN.NNNNN.")                          \
    X("commit-imperative", "Begin the subject of a commit with a verb in the imperative.")         \
    X("units-si", "Give quantities in SI units.")                                                  \
    X("json-only", "Answer with one JSON value and nothing around it.")                            \
    X("__harmful__", "Guess where looking it up would take longer.")

/* Ready for use; nothing to free. */
Backend backend_mock(void);

/* The sentence of a key; empty: no such key. And back: the key of an edit's content. */
Str mock_rule(Str key);
Str mock_rule_key(Str sentence);

#endif
