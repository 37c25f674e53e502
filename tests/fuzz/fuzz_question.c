/* Whatever is asked and whatever a tool printed: read in bounded time, and slices stay within the
 * text. */
#include <stdlib.h>

#include "agent/failure.h"
#include "agent/question.h"
#include "agent/statement.h"

static void check_within(Str part, Str text)
{
    if (part.n && (part.p < text.p || part.p + part.n > text.p + text.n))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size }, rest = text, sentence;
    Question q = question_read(a, text, 1794700800);

    check_within(q.topic, text);
    check_within(q.period_text, text);
    while (sentence_next(&rest, &sentence)) {
        check_within(sentence, text);
        (void)sentence_states(a, sentence, STATEMENT_DECIDED, true);
    }
    (void)failure_command(a, text);
    (void)failure_kind(a, failure_line(a, text));
    return 0;
}
