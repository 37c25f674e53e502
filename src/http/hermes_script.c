/* Frames in the four shapes of a Hermes. The turn itself is the same in all of them: perhaps a tool,
 * perhaps a question, some words, an end. */
#include "http/hermes_script.h"

#include "base/buf.h"
#include "text/json.h"

enum { FRAME_MOST = 64 * 1024, SLOW_MS = 300, PACE_MS = 2, TOKENS_IN = 21, TOKENS_OUT = 13 };

/* -- frames -------------------------------------------------------------------------------------------- */

static void add(Script *s, const char *event, Str data)
{
    ScriptFrame f = { .pause_ms = s->pause_ms };

    f.bytes = event ? str_printf(s->arena, "event: %s\ndata: %.*s\n\n", event, STR_FMT(data))
                    : str_printf(s->arena, "data: %.*s\n\n", STR_FMT(data));
    ARENA_PUSH(s->arena, s->frames, s->n, s->cap, f);
}

static void add_raw(Script *s, Str bytes)
{
    ScriptFrame f = { .bytes = bytes };

    ARENA_PUSH(s->arena, s->frames, s->n, s->cap, f);
}

/* {"name": "value", ...} out of pairs, ended by NULL; a name that begins with '=' has JSON as value. */
static Str object(Script *s, const char *const *pairs)
{
    AUTO_BUF out = BUF(FRAME_MOST);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    for (; *pairs; pairs += 2) {
        bool raw = **pairs == '=';

        json_key(&w, *pairs + raw);
        if (raw)
            json_put_raw(&w, str_of(pairs[1]));
        else
            json_put_str(&w, str_of(pairs[1]));
    }
    json_end(&w, '}');
    return str_dup(s->arena, buf_str(&out));
}
#define OBJECT(...) object(s, (const char *const[]){ __VA_ARGS__, NULL })

/* An event of a session or of a run: the one has names for its frames, the other has none. */
static void add_named(Script *s, const char *event, Str data)
{
    Str inner = str_skip(data, 1);

    if (s->dialect == SCRIPT_SESSION)
        add(s, event,
            str_printf(s->arena, "{\"session_id\":\"%.*s\",\"run_id\":\"run_1\",\"seq\":%zu%s%.*s",
                       STR_FMT(s->session), s->n + 1, inner.n > 1 ? "," : "", STR_FMT(inner)));
    else
        add(s, NULL,
            str_printf(s->arena, "{\"event\":\"%s\"%s%.*s", event, inner.n > 1 ? "," : "",
                       STR_FMT(inner)));
}

static void add_chat(Script *s, const char *delta, const char *finish, const char *more)
{
    add(s, NULL,
        str_printf(s->arena,
                   "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
                   "\"model\":\"hermes-agent\",\"choices\":[{\"index\":0,\"delta\":%s,"
                   "\"finish_reason\":%s}]%s}",
                   delta, finish, more));
}

/* -- parts of a turn ------------------------------------------------------------------------------------- */

static void begin(Script *s)
{
    if (s->dialect == SCRIPT_SESSION) {
        add_named(s, "run.started", OBJECT("model", "double"));
        add_named(s, "message.started", OBJECT("message_id", "msg_1"));
    } else if (s->dialect == SCRIPT_RESPONSES) {
        add(s, "response.created",
            STR("{\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":"
                "\"in_progress\"}}"));
        add(s, "response.output_item.added",
            STR("{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\"}}"));
    } else if (s->dialect == SCRIPT_CHAT) {
        add_chat(s, "{\"role\":\"assistant\"}", "null", "");
        add_raw(s, STR(": keepalive\n\n"));
    }
}

static void tool(Script *s)
{
    if (s->dialect == SCRIPT_CHAT) {
        add(s, "hermes.tool.progress",
            OBJECT("tool", "terminal", "label", "ls", "toolCallId", "call_1", "status", "running"));
        add(s, "hermes.tool.progress",
            OBJECT("tool", "terminal", "toolCallId", "call_1", "status", "completed"));
    } else if (s->dialect == SCRIPT_RESPONSES) {
        add(s, "response.output_item.added",
            STR("{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\","
                "\"name\":\"terminal\",\"call_id\":\"call_1\",\"arguments\":\"{}\"}}"));
        add(s, "response.output_item.done",
            STR("{\"type\":\"response.output_item.done\",\"item\":{\"type\":"
                "\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"notes.txt\"}}"));
    } else {
        add_named(s, "tool.started", OBJECT("tool", "terminal", "preview", "ls"));
        add_named(s, "tool.completed", OBJECT("tool", "terminal", "=duration", "0.25"));
    }
}

static void text(Script *s, Str piece)
{
    Str quoted = OBJECT("delta", str_z(s->arena, piece));

    if (s->dialect == SCRIPT_SESSION)
        add_named(s, "assistant.delta", quoted);
    else if (s->dialect == SCRIPT_RUNS)
        add_named(s, "message.delta", quoted);
    else if (s->dialect == SCRIPT_RESPONSES)
        add(s, "response.output_text.delta",
            OBJECT("type", "response.output_text.delta", "delta", str_z(s->arena, piece)));
    else
        add_chat(s, OBJECT("content", str_z(s->arena, piece)).p, "null", "");
}

static void end_chat(Script *s, int in, int out)
{
    Str more = str_printf(s->arena,
                          ",\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,"
                          "\"total_tokens\":%d}",
                          in, out, in + out);

    add_chat(s, "{}", "\"stop\"", more.p);
    add(s, NULL, STR("[DONE]"));
}

static void end_named(Script *s, int in, int out)
{
    Str usage =
        str_printf(s->arena, "{\"input_tokens\":%d,\"output_tokens\":%d,\"total_tokens\":%d}", in,
                   out, in + out);

    if (s->dialect == SCRIPT_SESSION) {
        add_named(s, "assistant.completed",
                  OBJECT("content", str_z(s->arena, s->answer), "=completed", "true"));
        /* Its own session_id stands first; the last one of a name counts. */
        add_named(s, "run.completed",
                  OBJECT("=usage", usage.p, "session_id", str_z(s->arena, s->next_session)));
        add_named(s, "done", STR("{}"));
    } else {
        add_named(s, "run.completed",
                  OBJECT("output", str_z(s->arena, s->answer), "=usage", usage.p));
        add_raw(s, STR(": stream closed\n\n"));
    }
}

static void end(Script *s, int in, int out)
{
    if (s->dialect == SCRIPT_CHAT)
        end_chat(s, in, out);
    else if (s->dialect == SCRIPT_RESPONSES)
        add(s, "response.completed",
            str_printf(s->arena,
                       "{\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\","
                       "\"status\":\"completed\",\"usage\":{\"input_tokens\":%d,"
                       "\"output_tokens\":%d,\"total_tokens\":%d}}}",
                       in, out, in + out));
    else
        end_named(s, in, out);
}

/* The model behind it refuses. Chat completions hide that, as the real ones do. */
static void end_refused(Script *s)
{
    static const char why[] = "Error code: 400 - this model is not for you";

    if (s->dialect == SCRIPT_CHAT) {
        end(s, 0, 0);
    } else if (s->dialect == SCRIPT_RESPONSES) {
        add(s, "response.failed",
            str_printf(s->arena,
                       "{\"type\":\"response.failed\",\"response\":{\"id\":\"resp_1\",\"status\":"
                       "\"failed\",\"error\":{\"message\":\"%s\"}}}",
                       why));
    } else if (s->dialect == SCRIPT_RUNS) {
        add_named(s, "run.failed", OBJECT("error", why));
        add_raw(s, STR(": stream closed\n\n"));
    } else {
        add_named(s, "error", OBJECT("message", why));
        add_named(s, "done", STR("{}"));
    }
}

/* -- the turn --------------------------------------------------------------------------------------------- */

static bool wants(const Script *s, const char *word)
{
    return str_find_nocase(s->prompt, str_of(word)) < s->prompt.n;
}

static void ask(Script *s)
{
    if (s->dialect != SCRIPT_RUNS)
        return;
    add_named(
        s, "approval.request",
        OBJECT("command", "rm -r build", "=choices", "[\"once\",\"session\",\"always\",\"deny\"]"));
    s->frames[s->n - 1].mark = SCRIPT_WAIT;
    add_named(s, "approval.responded", OBJECT("choice", "answered"));
}

static void words(Script *s)
{
    Str rest = s->answer, word;
    size_t count = 0;

    while (str_split(&rest, ' ', &word)) {
        text(s, rest.n ? str_printf(s->arena, "%.*s ", STR_FMT(word)) : word);
        if (++count == 3 && str_eqz(s->fail, "cut")) {
            s->frames[s->n - 1].mark = SCRIPT_CUT;
            return;
        }
    }
}

void script_write(Script *s)
{
    bool empty = str_eqz(s->fail, "empty"), refused = str_eqz(s->fail, "400");

    s->pause_ms = str_eqz(s->fail, "slow") || wants(s, "slow") ? SLOW_MS : PACE_MS;
    s->answer = str_printf(s->arena, "This is the double of a Hermes, turn %d. You said: %.*s",
                           s->turn, STR_FMT(s->prompt));
    s->next_session =
        wants(s, "rotate") ? str_printf(s->arena, "%.*s-2", STR_FMT(s->session)) : s->session;
    begin(s);
    if (refused) {
        end_refused(s);
        return;
    }
    if (wants(s, "tool"))
        tool(s);
    if (wants(s, "approve"))
        ask(s);
    if (empty)
        s->answer = STR("");
    else
        words(s);
    if (!str_eqz(s->fail, "cut"))
        end(s, empty ? 0 : TOKENS_IN, empty ? 0 : TOKENS_OUT);
}

Str script_cancelled(void)
{
    return STR("data: {\"event\":\"run.cancelled\"}\n\n: stream closed\n\n");
}
