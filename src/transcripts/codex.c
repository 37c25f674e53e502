/* Codex' rollouts: {timestamp, type, payload} a line; the oldest have the payload alone.
 *
 * Nearly everything is written twice, as an item of the model's protocol (response_item) and as an
 * event for the screen (event_msg, of two kinds), in any order, and versions differ in what they
 * write. What was told in one form is remembered for a while: the same text in another form, or
 * another form within a few lines, is its twin. So each turn is told once, whatever is there. */
#include "base/hash.h"
#include "transcripts/codex_base.h"
#include "transcripts/line.h"

enum { NEAR_LINES = 3 };

/* X(NAME, "key"): all keys of all payloads that are looked at. */
#define KEYS(X)                                                                                    \
    X(TYPE, "type")                                                                                \
    X(PAYLOAD, "payload")                                                                          \
    X(TIMESTAMP, "timestamp")                                                                      \
    X(ID, "id")                                                                                    \
    X(ROLE, "role")                                                                                \
    X(CONTENT, "content")                                                                          \
    X(MESSAGE, "message")                                                                          \
    X(TEXT, "text")                                                                                \
    X(SUMMARY, "summary")                                                                          \
    X(NAME, "name")                                                                                \
    X(ARGUMENTS, "arguments")                                                                      \
    X(INPUT, "input")                                                                              \
    X(ACTION, "action")                                                                            \
    X(CALL_ID, "call_id")                                                                          \
    X(OUTPUT, "output")                                                                            \
    X(ITEM, "item")                                                                                \
    X(INFO, "info")                                                                                \
    X(CHANGES, "changes")                                                                          \
    X(CWD, "cwd")                                                                                  \
    X(MODEL, "model")                                                                              \
    X(ORIGINATOR, "originator")                                                                    \
    X(CLI_VERSION, "cli_version")                                                                  \
    X(SOURCE, "source")                                                                            \
    X(GIT, "git")                                                                                  \
    X(FORKED_FROM, "forked_from_id")                                                               \
    X(THREAD_NAME, "thread_name")                                                                  \
    X(RECORD_TYPE, "record_type")                                                                  \
    X(ORDINAL, "ordinal")                                                                          \
    X(TURN_ID, "turn_id")

#define TOKEN_KEYS(X)                                                                              \
    X(TOKENS_INPUT, "input_tokens")                                                                \
    X(TOKENS_OUTPUT, "output_tokens")                                                              \
    X(TOKENS_CACHED, "cached_input_tokens")                                                        \
    X(TOKENS_REASONING, "reasoning_output_tokens")

#define X(name, key) name,
enum { KEYS(X) KEY_COUNT };
enum { TOKEN_KEYS(X) TOKEN_COUNT };
#undef X
#define X(name, key) STR_INIT(key),
static const Str keys[] = { KEYS(X) };
static const Str token_keys[] = { TOKEN_KEYS(X) };
#undef X
KEY_TABLE(payload_table, keys)
KEY_TABLE(token_table, token_keys)

/* What was attached is named in its place; its bytes are nobody's words. */
static Str attachment(Str type)
{
    return str_is_one_of(type, "input_image|image|local_image") ? STR("[image]")
           : str_is_one_of(type, "input_file|file")             ? STR("[document]")
                                                                : STR_NONE;
}

/* A string, an array of strings or of objects with "text", or one such object. */
static void collect_text(Line *l, JsonTok content, Pieces *ret)
{
    JsonTok at, item;
    Str key;
    char c = json_tok_char(l->scan, content);

    if (c == '{')
        content = json_tok_get(l->scan, content, STR("text"));
    line_piece(l, ret, json_tok_raw(l->scan, content));
    at = c == '[' ? content : JSON_TOK_NONE;
    while (json_tok_next(l->scan, &at, &key, &item)) {
        if (json_tok_char(l->scan, item) == '{') {
            line_piece(l, ret,
                       attachment(json_tok_raw(l->scan, json_tok_get(l->scan, item, STR("type")))));
            item = json_tok_get(l->scan, item, STR("text"));
        }
        line_piece(l, ret, json_tok_raw(l->scan, item));
    }
}

/* -- twins -- */

/* response_item; event_msg of its own type; event_msg item_completed */
typedef enum Form { FORM_ITEM = 1, FORM_EVENT = 2, FORM_COMPLETED = 4 } Form;

/* Whether this was told in another form. */
static bool was_told(Line *l, TwinRole role, Form form, const Pieces *text)
{
    LineState *state = l->state;
    Twin *all = state->twins[role], *found = NULL;
    uint64_t hash = 1;

    for (size_t i = 0; i < text->n; i++)
        hash = hash_text(hash, text->all[i]);
    for (size_t i = 0; i < TWINS_KEPT; i++) {
        bool same = all[i].hash == hash;

        if (all[i].line && !(all[i].forms & form) &&
            (same || (!found && state->line - all[i].line <= NEAR_LINES)))
            found = &all[i];
        if (found && same && found == &all[i])
            break;
    }
    if (found) {
        found->forms |= form;
        return true;
    }
    all[state->twin_at[role]++ % TWINS_KEPT] = (Twin){ hash, state->line, form };
    return false;
}

/* -- messages -- */

/* Instructions and the user's words in one text: the words stand behind the last closing tag. */
static Str words_behind(Str raw)
{
    static const Str closing[] = { STR_INIT("</environment_context>"),
                                   STR_INIT("</INSTRUCTIONS>") };

    for (size_t i = 0; i < ARRAY_LEN(closing); i++) {
        Str rest = raw, last = STR_NONE;

        for (size_t at; (at = str_find(rest, closing[i])) < rest.n; last = rest)
            rest = str_skip(rest, at + closing[i].n);
        while (last.n > 1 && (last.p[0] == ' ' || (last.p[0] == '\\' && last.p[1] == 'n')))
            last = str_skip(last, last.p[0] == ' ' ? 1 : 2);
        if (last.n && last.p[0] != '<')
            return last;
    }
    return STR_NONE;
}

static bool user_message(Line *l, Form form, const Pieces *all)
{
    Pieces words = { 0 };

    for (size_t i = 0; i < all->n; i++) {
        unsigned flags = line_text_flags(all->all[i]);

        if (!flags)
            line_piece(l, &words, all->all[i]);
        else if (!line_text_event(l, EVENT_USER, flags, &all->all[i], 1))
            return false;
        if (flags & EVENT_IS_META && str_starts(all->all[i], STR("# AGENTS.md")))
            line_piece(l, &words, words_behind(all->all[i]));
    }
    l->state->no_input = l->state->no_input && !words.n;
    if (!words.n || was_told(l, TWIN_USER, form, &words))
        return true;
    return line_text_event(l, EVENT_USER, 0, words.all, words.n);
}

static bool agent_message(Line *l, Form form, const Pieces *text)
{
    if (!text->n || was_told(l, TWIN_ASSISTANT, form, text))
        return true;
    return line_text_event(l, EVENT_ASSISTANT, 0, text->all, text->n);
}

static bool thinking(Line *l, Form form, const Pieces *text)
{
    if (!text->n || was_told(l, TWIN_THINKING, form, text))
        return true;
    return line_text_event(l, EVENT_THINKING, 0, text->all, text->n);
}

static bool message_item(Line *l, const JsonTok *f)
{
    Str role = json_tok_raw(l->scan, f[ROLE]);
    Pieces text = { 0 };

    collect_text(l, f[CONTENT], &text);
    if (str_eqz(role, "user"))
        return user_message(l, FORM_ITEM, &text);
    /* The summary that a compaction asked for is in no list of what was shown. */
    if (str_eqz(role, "assistant"))
        return l->state->no_input || l->state->paginated || agent_message(l, FORM_ITEM, &text);
    return !text.n || line_text_event(l, EVENT_META, EVENT_IS_META, text.all, text.n);
}

static bool reasoning_item(Line *l, const JsonTok *f)
{
    Pieces text = { 0 };

    collect_text(l, f[SUMMARY], &text);
    if (!text.n)
        collect_text(l, f[CONTENT], &text);
    return thinking(l, FORM_ITEM, &text);
}

/* -- tools -- */

/* {"input": "..."}: free text in the shape of arguments. */
static Str wrap_input(Line *l, JsonTok t)
{
    Str parts[] = { STR("{\"input\":"), json_tok_json(l->scan, t), STR("}") };
    Str all = { arena_bytes(l->a, parts[0].n + parts[1].n + parts[2].n), 0 };

    /* Patches are large, and printf looks at every character of them twice. */
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        memcpy((char *)all.p + all.n, parts[i].p, parts[i].n);
        all.n += parts[i].n;
    }
    return all;
}

static Str arguments_of(Line *l, const JsonTok *f)
{
    JsonTok t = f[ARGUMENTS] != JSON_TOK_NONE ? f[ARGUMENTS]
                : f[INPUT] != JSON_TOK_NONE   ? f[INPUT]
                                              : f[ACTION];
    Str text;

    if (json_tok_char(l->scan, t) == '{')
        return json_tok_json(l->scan, t);
    if (json_tok_char(l->scan, t) != '"')
        return STR_NONE;
    text = str_trim(line_string(l, t));
    return text.n && text.p[0] == '{' && text.p[text.n - 1] == '}' ? text : wrap_input(l, t);
}

static bool tool_call(Line *l, const JsonTok *f, Str name)
{
    Event e = { .kind = EVENT_TOOL_CALL, .name = name };

    if (!line_wants(l, EVENT_TOOL_CALL))
        return true;
    e.id = line_string(l, f[CALL_ID] != JSON_TOK_NONE ? f[CALL_ID] : f[ID]);
    e.arguments = arguments_of(l, f);
    return line_emit(l, &e);
}

/* A result is often JSON in a string: {"output":"...","metadata":{"exit_code":0}}. Its text is
 * taken out as it lies, twice escaped. */
static bool unwrap_output(Str raw, Str *ret, int64_t *ret_code)
{
    static const Str begins = STR_INIT("{\\\"output\\\":\\\""),
                     ends = STR_INIT("\\\",\\\"metadata\\\":{");
    Str tail;
    size_t from, at;

    if (!str_starts(raw, begins))
        return false;
    from = raw.n > 400 ? raw.n - 400 : begins.n;
    tail = str_skip(raw, from < begins.n ? begins.n : from);
    at = str_find(tail, ends);
    if (at == tail.n)
        return false;
    *ret = (Str){ raw.p + begins.n, (size_t)(tail.p + at - raw.p) - begins.n };
    if (!line_exit_code(str_skip(tail, at), ret_code))
        *ret_code = INT64_MIN;
    return true;
}

static bool tool_result(Line *l, const JsonTok *f)
{
    Event e = { .kind = EVENT_TOOL_RESULT, .id = line_string(l, f[CALL_ID]) };
    JsonTok output = f[OUTPUT];
    Pieces text = { 0 };
    int64_t code = INT64_MIN;
    bool success;

    if (!line_wants(l, EVENT_TOOL_RESULT))
        return true;
    if (json_tok_char(l->scan, output) == '{') {
        if (json_tok_bool(l->scan, json_tok_get(l->scan, output, STR("success")), &success) &&
            !success)
            e.flags |= EVENT_HAS_FAILED;
        output = json_tok_get(l->scan, output, STR("content"));
    }
    collect_text(l, output, &text);
    e.text = (EventText){ text.all, text.n, 1 };
    if (text.n == 1 && unwrap_output(text.all[0], &text.all[0], &code))
        e.text.escaped = 2;
    else if (text.n && !line_exit_code(text.all[0], &code))
        code = INT64_MIN;
    if (code != INT64_MIN) {
        e.exit_code = code;
        e.flags |= EVENT_HAS_EXIT_CODE | (code ? EVENT_HAS_FAILED : 0u);
    }
    return line_emit(l, &e);
}

static bool item(Line *l, const JsonTok *f)
{
    Str type = json_tok_raw(l->scan, f[TYPE]);

    if (str_eqz(type, "message"))
        return message_item(l, f);
    if (str_eqz(type, "reasoning"))
        return reasoning_item(l, f);
    if (str_is_one_of(type, "function_call_output|custom_tool_call_output|tool_search_output|"
                            "mcp_tool_call_output"))
        return tool_result(l, f);
    if (f[NAME] != JSON_TOK_NONE)
        return tool_call(l, f, line_tool_name(l, json_tok_raw(l->scan, f[NAME])));
    if (str_eqz(type, "local_shell_call"))
        return tool_call(l, f, STR("shell"));
    if (str_ends(type, STR("_call")))
        return tool_call(l, f, line_tool_name(l, str_head(type, type.n - 5)));
    return true;
}

/* -- events for the screen -- */

static EventUsage usage_of(Line *l, JsonTok t)
{
    JsonTok f[TOKEN_COUNT];

    line_fields(l, t, &token_table, f);
    return (EventUsage){ .input = line_int(l, f[TOKENS_INPUT]) - line_int(l, f[TOKENS_CACHED]),
                         .output = line_int(l, f[TOKENS_OUTPUT]),
                         .cache_read = line_int(l, f[TOKENS_CACHED]),
                         .reasoning = line_int(l, f[TOKENS_REASONING]),
                         .total = true };
}

/* A fork's totals begin with its parent's: of a fork each call is told by itself. A total that
 * stays says nothing. */
static bool token_count(Line *l, JsonTok info)
{
    Event e = { .kind = EVENT_USAGE };
    JsonTok total = json_tok_get(l->scan, info, STR("total_token_usage"));
    JsonTok last = json_tok_get(l->scan, info, STR("last_token_usage"));
    int64_t sum, before = l->state->last_total;

    if (json_tok_char(l->scan, total) != '{')
        return true;
    e.usage = usage_of(l, total);
    sum = e.usage.input + e.usage.cache_read + e.usage.output;
    l->state->last_total = sum;
    if (l->state->is_fork && json_tok_char(l->scan, last) == '{') {
        if (sum == before)
            return true;
        e.usage = usage_of(l, last);
        e.usage.total = false;
    }
    return line_emit(l, &e);
}

static bool changed_files(Line *l, JsonTok changes)
{
    JsonTok at = json_tok_first(l->scan, changes), value;
    Pieces paths = { 0 };
    Str key;

    while (json_tok_next(l->scan, &at, &key, &value))
        line_piece(l, &paths, key);
    return !paths.n || line_text_event(l, EVENT_FILES, 0, paths.all, paths.n);
}

/* {type: UserMessage|AgentMessage|Reasoning|..., content}: the screen's history in newer
 * versions. */
static bool completed_item(Line *l, JsonTok done)
{
    Str type = json_tok_raw(l->scan, json_tok_get(l->scan, done, STR("type")));
    Pieces text = { 0 };

    collect_text(l, json_tok_get(l->scan, done, STR("content")), &text);
    l->state->paginated |= l->state->ordinals;
    if (str_eqz(type, "UserMessage"))
        return user_message(l, FORM_COMPLETED, &text);
    if (str_eqz(type, "AgentMessage"))
        return agent_message(l, FORM_COMPLETED, &text);
    if (!str_eqz(type, "Reasoning"))
        return true;
    collect_text(l, json_tok_get(l->scan, done, STR("summary_text")), &text);
    return thinking(l, FORM_COMPLETED, &text);
}

static bool screen_event(Line *l, const JsonTok *f)
{
    Str type = json_tok_raw(l->scan, f[TYPE]);
    Pieces text = { 0 };

    collect_text(l, f[MESSAGE] != JSON_TOK_NONE ? f[MESSAGE] : f[TEXT], &text);
    if (str_eqz(type, "user_message"))
        return user_message(l, FORM_EVENT, &text);
    if (str_eqz(type, "agent_message"))
        return agent_message(l, FORM_EVENT, &text);
    if (str_eqz(type, "agent_reasoning"))
        return thinking(l, FORM_EVENT, &text);
    if (str_eqz(type, "item_completed"))
        return completed_item(l, f[ITEM]);
    if (str_eqz(type, "token_count"))
        return token_count(l, f[INFO]);
    if (str_eqz(type, "patch_apply_end"))
        return changed_files(l, f[CHANGES]);
    if (str_eqz(type, "task_started"))
        l->state->no_input = f[TURN_ID] != JSON_TOK_NONE;
    if (str_eqz(type, "thread_name_updated"))
        return line_facts(l, (SessionFacts){ .title = line_string(l, f[THREAD_NAME]) });
    if (str_eqz(type, "turn_aborted"))
        return line_text_event(l, EVENT_META, EVENT_IS_META | EVENT_IS_INTERRUPT, NULL, 0);
    if (str_is_one_of(type, "error|stream_error"))
        return line_text_event(l, EVENT_ERROR, 0, text.all, text.n);
    return true;
}

/* -- the session -- */

/* "cli", "exec", "vscode"; of a sub-agent an object that names its parent. */
static Str source_of(Line *l, JsonTok source, Str *ret_parent)
{
    Str json, parent;
    size_t at;

    if (json_tok_char(l->scan, source) != '{')
        return line_string(l, source);
    json = json_tok_json(l->scan, source);
    at = str_find(json, STR("\"parent_thread_id\":\""));
    if (at < json.n) {
        parent = str_skip(json, at + sizeof "\"parent_thread_id\":\"" - 1);
        *ret_parent = str_head(parent, str_find(parent, STR("\"")));
    }
    return STR("subagent");
}

static bool session_meta(Line *l, const JsonTok *f)
{
    Str parent = line_string(l, f[FORKED_FROM]);
    SessionFacts facts = { .id = line_string(l, f[ID]),
                           .cwd = line_string(l, f[CWD]),
                           .originator = line_string(l, f[ORIGINATOR]),
                           .version = line_string(l, f[CLI_VERSION]) };

    /* Older forks begin with all that the parent has, its first line included. */
    if (l->state->has_session) {
        Str known = { l->state->known.parent.p, l->state->known.parent.n };

        l->state->inherited |= l->state->fork_ms && facts.id.n && str_eq(facts.id, known);
        return true;
    }
    l->state->has_session = true;
    l->state->fork_ms = codex_id_ms(facts.id);
    l->state->forked_at = l->at;
    facts.branch = line_string(l, json_tok_get(l->scan, f[GIT], STR("branch")));
    facts.entrypoint = source_of(l, f[SOURCE], &parent);
    facts.parent = parent;
    l->state->is_fork |= parent.n > 0;
    l->state->side_file |= str_eqz(facts.entrypoint, "subagent");
    return line_facts(l, facts);
}

/* A turn that was begun after the fork is its own. Where ids do not say when that was, times do:
 * copies are all written at once. */
static void end_of_inheritance(Line *l, const JsonTok *f)
{
    enum { AT_ONCE = 5 };
    int64_t ms = codex_id_ms(json_tok_raw(l->scan, f[TURN_ID]));
    bool turn = f[TURN_ID] != JSON_TOK_NONE;

    if (turn ? !ms || ms >= l->state->fork_ms : l->at > l->state->forked_at + AT_ONCE)
        l->state->inherited = false;
}

static bool turn_context(Line *l, const JsonTok *f)
{
    l->state->no_input = false;
    if (l->state->inherited)
        return true;
    return line_facts(
        l, (SessionFacts){ .cwd = line_string(l, f[CWD]), .model = line_string(l, f[MODEL]) });
}

static bool compacted(Line *l, const JsonTok *f)
{
    Pieces text = { 0 };

    collect_text(l, f[MESSAGE], &text);
    return line_text_event(l, EVENT_COMPACTION, 0, text.all, text.n);
}

/* The oldest rollouts: the payload is the line; the first one has an id and no type. */
static bool bare_line(Line *l, const JsonTok *f)
{
    if (f[RECORD_TYPE] != JSON_TOK_NONE)
        return true;
    if (f[TYPE] == JSON_TOK_NONE) {
        l->stats->foreign += f[ID] == JSON_TOK_NONE;
        return f[ID] == JSON_TOK_NONE || session_meta(l, f);
    }
    return item(l, f);
}

bool codex_line(Line *l)
{
    JsonTok root[KEY_COUNT], f[KEY_COUNT];
    Str type;

    line_fields(l, 0, &payload_table, root);
    l->at = line_time(l, root[TIMESTAMP]);
    l->flags = l->state->side_file ? EVENT_IS_SIDE_CHAIN : 0u;
    if (json_tok_char(l->scan, root[PAYLOAD]) != '{')
        return bare_line(l, root);
    type = json_tok_raw(l->scan, root[TYPE]);
    line_fields(l, root[PAYLOAD], &payload_table, f);
    if (l->at == 0)
        l->at = line_time(l, f[TIMESTAMP]);
    l->state->ordinals = root[ORDINAL] != JSON_TOK_NONE;
    if (l->state->inherited)
        end_of_inheritance(l, f);
    if (str_eqz(type, "response_item"))
        return item(l, f);
    if (str_eqz(type, "event_msg"))
        return screen_event(l, f);
    if (str_eqz(type, "session_meta"))
        return session_meta(l, f);
    if (str_eqz(type, "turn_context"))
        return turn_context(l, f);
    if (str_eqz(type, "compacted"))
        return compacted(l, f);
    l->stats->foreign += !str_is_one_of(type, "world_state|token_usage_record");
    return true;
}
