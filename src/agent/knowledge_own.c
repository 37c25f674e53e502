/* What a conversation itself says about a question. Neither the index nor another session is read. */
#include "agent/answer.h"
#include "agent/knowledge_inside.h"
#include "base/clock.h"
#include "base/limits.h"

bool knowledge_recall_own(void *knowledge, Arena *a, Str question, Str conversation_id, Str *ret,
                          Err *err)
{
    AnswerSource source = { .homes = knowledge_homes(knowledge),
                            .conversation_id = conversation_id,
                            .text = question,
                            .now = clock_wall() };
    Question q = question_read(a, question, source.now), own = { .intent = INTENT_SESSION };
    bool found = true, ok;
    Str text = STR("");

    if (q.intent == INTENT_SESSION || (q.intent == INTENT_WORKED && !q.has_period && !q.topic.n))
        ok = answer_question(a, &source, &own, &text, &found, err);
    else
        ok = answer_from_own(a, &source, &text, err);
    *ret = ok && found ? str_trim(text) : STR("");
    return ok;
}
