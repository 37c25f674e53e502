/* How a turn of Hermes ended, and whose words its text is. Hermes says "completed" of turns that
 * failed and puts its own words where the answer goes: what the model's server said, or that the
 * model said nothing. The structure tells them apart. The model's words are streamed in pieces, or
 * tokens were counted for them, or the turn has left them as a message. Words of which none of
 * these is true are Hermes' own. Usage that is not reported at all tells nothing; a model server
 * that counts no tokens gives zeros with every answer, but streams it. */
#include "runtimes/hermes_stream.h"
#include "runtimes/lines.h"

/* Hermes' own mark for a model that said nothing, also in the messages that it keeps. */
#define EMPTY STR("(empty)")

bool hermes_looks_like_error(Str text)
{
    static const char *const beginnings[] = { "Error: ", "Error code: ", "\xe2\x9a\xa0" };

    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++) {
        Str b = str_of(beginnings[i]);
        size_t n = text.n < b.n ? text.n : b.n;

        if (n && memcmp(text.p, b.p, n) == 0)
            return true;
    }
    return false;
}

HermesKept hermes_kept(Json messages, Str answer)
{
    if (json_type(messages) != JSON_ARRAY)
        return HERMES_NOT_TOLD;
    for (size_t i = 0; i < json_count(messages); i++) {
        Json m = json_at(messages, i);

        if (is_at(m, "role", "assistant") &&
            str_eq(str_trim(str_at(m, "content")), str_trim(answer)))
            return HERMES_IS_KEPT;
    }
    return HERMES_IS_NOT_KEPT;
}

/* -- what the words of a failure mean -- */

/* "HTTP 429: …", "Error code: 401 - …". */
static int status_in(Str text)
{
    static const char *const before[] = { "HTTP ", "Error code: " };

    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        Str rest = str_skip(text, str_find(text, str_of(before[i])));
        int status = 0;

        rest = str_skip(rest, strlen(before[i]));
        for (size_t d = 0; d < 3 && d < rest.n && rest.p[d] >= '0' && rest.p[d] <= '9'; d++)
            status = status * 10 + rest.p[d] - '0';
        if (status >= 400 && status < 600)
            return status;
    }
    return 0;
}

RunError hermes_code_of(Str text, int status)
{
    static const struct {
        const char *words;
        RunError code;
    } rows[] = {
        { "gateway_draining", RUN_UPSTREAM_ERROR },
        { "rate limit", RUN_RATE_LIMITED },
        { "rate_limit", RUN_RATE_LIMITED },
        { "authentication", RUN_RUNTIME_AUTH },
        { "API key", RUN_RUNTIME_AUTH },
        { "context length", RUN_CONTEXT_TOO_LARGE },
        { "cannot be read", RUN_PROTOCOL_VIOLATION },
    };

    if (status)
        return run_error_of_status(status);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_find_nocase(text, str_of(rows[i].words)) < text.n)
            return rows[i].code;
    status = status_in(text);
    return status ? run_error_of_status(status) : RUN_UPSTREAM_ERROR;
}

/* -- whose words -- */

/* No token was made, says a Hermes that counts them. Tokens that were read are no sign of an
 * answer. */
static bool counted_nothing(const HermesStream *s)
{
    return s->counts_output && !s->usage.output && !s->usage.reasoning &&
           s->usage.total <= s->usage.input;
}

static void set_own_words(HermesStream *s, Str words)
{
    s->end = HERMES_FAILED;
    s->text = str_dup(s->arena, words);
    s->is_empty = str_eq(str_trim(words), EMPTY);
}

/* Of text that was not streamed, or came in one piece. */
static bool is_own_words(const HermesStream *s, Str text)
{
    if (str_eq(str_trim(text), EMPTY))
        return s->dialect != HERMES_CHAT || counted_nothing(s);
    if (s->kept == HERMES_IS_KEPT)
        return false;
    if (counted_nothing(s))
        return true;
    return !s->has_usage && (s->kept == HERMES_IS_NOT_KEPT || hermes_looks_like_error(text));
}

static void settle_unsure(HermesStream *s)
{
    Str text = buf_str(&s->unsure);

    if (!text.n)
        return;
    if (s->end == HERMES_COMPLETED && is_own_words(s, text))
        set_own_words(s, text);
    else if (s->end != HERMES_FAILED)
        teller_text(s->t, text);
    buf_clear(&s->unsure);
}

/* The end has other words than the model was heard to say: it broke off, and Hermes says why. */
static void settle_whole(HermesStream *s)
{
    Str said = str_trim(buf_str(&s->t->message)), whole = str_trim(s->whole);

    if (s->end == HERMES_COMPLETED && counted_nothing(s) && s->kept != HERMES_IS_KEPT && said.n &&
        whole.n && !str_ends(said, whole) && !str_ends(whole, said))
        set_own_words(s, whole);
}

/* -- the verdict -- */

static void complete(HermesStream *s, Str handle)
{
    /* Over chat an early version ends a stream that broke off as if it were whole. */
    bool none = counted_nothing(s) && !s->usage.input;

    if (!s->closed && s->dialect != HERMES_RUNS)
        teller_fail(s->t, RUN_STREAM_TRUNCATED, STR("the stream broke off before its end"), 0,
                    STR(""));
    else if (none && !s->t->chars)
        teller_fail(s->t, RUN_EMPTY_RESPONSE, STR("Hermes ended without an answer"), 0, s->reason);
    else
        teller_finish(s->t,
                      none && s->dialect == HERMES_CHAT ? RUNTIME_TRUNCATED : RUNTIME_COMPLETED,
                      s->reason, handle);
}

void hermes_stream_verdict(HermesStream *s, Str handle)
{
    settle_unsure(s);
    settle_whole(s);
    if (s->has_usage)
        teller_usage(s->t, &s->usage);
    switch (s->end) {
    case HERMES_FAILED:
        if (s->is_empty)
            teller_fail(s->t, RUN_EMPTY_RESPONSE, STR("the model said nothing, says Hermes"), 0,
                        s->code);
        else
            teller_fail(s->t, hermes_code_of(s->text, 0), s->text, 0, s->code);
        break;
    case HERMES_CANCELLED:
        teller_finish(s->t, RUNTIME_CANCELLED, s->reason, STR(""));
        break;
    case HERMES_TRUNCATED:
        teller_finish(s->t, RUNTIME_TRUNCATED, s->reason, handle);
        break;
    case HERMES_COMPLETED:
        complete(s, handle);
        break;
    case HERMES_OPEN:
        teller_fail(s->t, RUN_STREAM_TRUNCATED, STR("the stream broke off"), 0, STR(""));
    }
}
