/* Claude Code's transcripts: one object a line, told apart by "type".
 *
 * A message of the model is written in several lines, one a block of its content, each with the
 * same message id and request id and a usage that may still grow: the largest counts, once. A fork
 * repeats the parent's lines with the parent's ids: usage carries its call's id, so that the
 * catalogue can count it once (calls.h). Tool results stand in the user's place; beside them lies
 * toolUseResult, the same again for the program's screen, which nobody reads. What is meta, of a
 * side chain or a summary stays and is flagged. */
#include "base/hash.h"
#include "transcripts/line.h"

/* X(NAME, "key") */
#define ROOT_KEYS(X)                                                                               \
    X(IS_SIDE_CHAIN, "isSidechain")                                                                \
    X(CWD, "cwd")                                                                                  \
    X(SESSION_ID, "sessionId")                                                                     \
    X(VERSION, "version")                                                                          \
    X(GIT_BRANCH, "gitBranch")                                                                     \
    X(ENTRYPOINT, "entrypoint")                                                                    \
    X(TYPE, "type")                                                                                \
    X(MESSAGE, "message")                                                                          \
    X(REQUEST_ID, "requestId")                                                                     \
    X(TIMESTAMP, "timestamp")                                                                      \
    X(IS_META, "isMeta")                                                                           \
    X(IS_SUMMARY, "isCompactSummary")                                                              \
    X(IS_API_ERROR, "isApiErrorMessage")                                                           \
    X(SUBTYPE, "subtype")                                                                          \
    X(CONTENT, "content")                                                                          \
    X(SUMMARY, "summary")                                                                          \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(CUSTOM_TITLE, "customTitle")                                                                 \
    X(AI_TITLE, "aiTitle")                                                                         \
    X(ATTACHMENT, "attachment")                                                                    \
    X(PROMPT_SOURCE, "promptSource")                                                               \
    X(SESSION_KIND, "sessionKind")                                                                 \
    X(CONTINUED_IN, "continuedInSessionId")                                                        \
    X(TOTAL_COST, "totalCostUSD")

#define MESSAGE_KEYS(X)                                                                            \
    X(MESSAGE_ID, "id")                                                                            \
    X(MESSAGE_MODEL, "model")                                                                      \
    X(MESSAGE_CONTENT, "content")                                                                  \
    X(MESSAGE_USAGE, "usage")

#define BLOCK_KEYS(X)                                                                              \
    X(BLOCK_TOOL_USE_ID, "tool_use_id")                                                            \
    X(BLOCK_TYPE, "type")                                                                          \
    X(BLOCK_TEXT, "text")                                                                          \
    X(BLOCK_THINKING, "thinking")                                                                  \
    X(BLOCK_ID, "id")                                                                              \
    X(BLOCK_NAME, "name")                                                                          \
    X(BLOCK_INPUT, "input")                                                                        \
    X(BLOCK_CONTENT, "content")                                                                    \
    X(BLOCK_IS_ERROR, "is_error")

#define USAGE_KEYS(X)                                                                              \
    X(USAGE_INPUT, "input_tokens")                                                                 \
    X(USAGE_CACHE_WRITE, "cache_creation_input_tokens")                                            \
    X(USAGE_CACHE_READ, "cache_read_input_tokens")                                                 \
    X(USAGE_OUTPUT, "output_tokens")

/* Lines that say nothing about the conversation, but are known. */
static const char passed_over[] =
    "progress|last-prompt|mode|permission-mode|agent-name|agent-color|agent-setting|"
    "pr-link|tag|worktree-state|content-replacement|speculation-accept|file-history-delta|"
    "marble-origami-commit|marble-origami-snapshot|task-summary|bridge-session|started|result|"
    "attribution-snapshot|atis-latch|tools-used|api-request|api-request-shape|api-request-blob";

#define X(name, key) name,
enum { ROOT_KEYS(X) ROOT_COUNT };
enum { MESSAGE_KEYS(X) MESSAGE_COUNT };
enum { BLOCK_KEYS(X) BLOCK_COUNT };
enum { USAGE_KEYS(X) USAGE_COUNT };
#undef X
#define X(name, key) STR_INIT(key),
static const Str root_keys[] = { ROOT_KEYS(X) };
static const Str message_keys[] = { MESSAGE_KEYS(X) };
static const Str block_keys[] = { BLOCK_KEYS(X) };
static const Str usage_keys[] = { USAGE_KEYS(X) };
#undef X
KEY_TABLE(root_table, root_keys)
KEY_TABLE(message_table, message_keys)
KEY_TABLE(block_table, block_keys)
KEY_TABLE(usage_table, usage_keys)

/* The text of a string, or of the text blocks of an array. */
static void collect_text(Line *l, JsonTok content, Pieces *ret)
{
    JsonTok at = json_tok_first(l->scan, content), item, f[BLOCK_COUNT];
    Str key;

    line_piece(l, ret, json_tok_raw(l->scan, content));
    if (json_tok_char(l->scan, content) != '[')
        return;
    while (json_tok_next(l->scan, &at, &key, &item)) {
        line_fields(l, item, &block_table, f);
        line_piece(l, ret, json_tok_raw(l->scan, f[BLOCK_TEXT]));
    }
}

/* -- the user's place -- */

static bool tool_result(Line *l, const JsonTok *block)
{
    Event e = { .kind = EVENT_TOOL_RESULT, .id = line_string(l, block[BLOCK_TOOL_USE_ID]) };
    Pieces text = { 0 };

    if (!line_wants(l, EVENT_TOOL_RESULT))
        return true;
    collect_text(l, block[BLOCK_CONTENT], &text);
    e.text = (EventText){ text.all, text.n, 1 };
    if (line_true(l, block[BLOCK_IS_ERROR])) {
        e.flags |= EVENT_HAS_FAILED;
        if (text.n && line_exit_code(text.all[0], &e.exit_code))
            e.flags |= EVENT_HAS_EXIT_CODE;
    }
    return line_emit(l, &e);
}

/* What an editor adds may stand in one text with the words, before them. */
static Str words_behind(Str raw)
{
    Str rest = raw, last = STR_NONE;

    if (!str_starts(raw, STR("<ide_")))
        return STR_NONE;
    for (size_t at; (at = str_find(rest, STR("</ide_"))) < rest.n; last = rest) {
        rest = str_skip(rest, at);
        rest = str_skip(rest, str_find(rest, STR(">")) + 1);
    }
    while (last.n > 1 && (last.p[0] == ' ' || (last.p[0] == '\\' && last.p[1] == 'n')))
        last = str_skip(last, last.p[0] == ' ' ? 1 : 2);
    return last;
}

/* Text blocks become one event, but those that the program put beside them (reminders, what the
 * editor shows) one of their own: a turn is counted once, and its words are the user's. */
static bool user_text(Line *l, const Pieces *all)
{
    Pieces words = { 0 };

    for (size_t i = 0; i < all->n; i++) {
        unsigned flags = line_text_flags(all->all[i]);

        if (!flags)
            line_piece(l, &words, all->all[i]);
        else if (!line_text_event(l, EVENT_USER, flags, &all->all[i], 1))
            return false;
        line_piece(l, &words, flags ? words_behind(all->all[i]) : STR_NONE);
    }
    return !words.n || line_text_event(l, EVENT_USER, 0, words.all, words.n);
}

/* What was attached is named in its place; its bytes are nobody's words. */
static Str attachment(Str type)
{
    return str_eqz(type, "image")      ? STR("[image]")
           : str_eqz(type, "document") ? STR("[document]")
                                       : STR_NONE;
}

static bool user_line(Line *l, JsonTok content)
{
    JsonTok at, item, f[BLOCK_COUNT];
    Pieces text = { 0 };
    Str key;

    line_piece(l, &text, json_tok_raw(l->scan, content));
    at = json_tok_char(l->scan, content) == '[' ? content : JSON_TOK_NONE;
    while (json_tok_next(l->scan, &at, &key, &item)) {
        line_fields(l, item, &block_table, f);
        if (f[BLOCK_TOOL_USE_ID] != JSON_TOK_NONE) {
            if (!tool_result(l, f))
                return false;
        } else {
            line_piece(l, &text, json_tok_raw(l->scan, f[BLOCK_TEXT]));
            line_piece(l, &text, attachment(json_tok_raw(l->scan, f[BLOCK_TYPE])));
        }
    }
    return user_text(l, &text);
}

/* -- the agent -- */

/* What is more than was counted of the same call, which then is counted. */
static int64_t growth(int64_t now, int64_t *counted)
{
    int64_t more = now > *counted ? now - *counted : 0;

    *counted += more;
    return more;
}

static EventUsage *counted_of(LineState *state, uint64_t call)
{
    size_t at;

    for (size_t i = 0; i < USAGE_KEPT; i++)
        if (state->usage[i].call == call)
            return &state->usage[i].counted;
    at = state->usage_at++ % USAGE_KEPT;
    state->usage[at].call = call;
    state->usage[at].counted = (EventUsage){ 0 };
    return &state->usage[at].counted;
}

/* A fork that was started with a prompt begins with that: what is older was copied. Other forks do
 * not tell, and are found by the ids of their calls. */
static bool is_copy(const Line *l)
{
    return l->at > 0 && l->at + 1 < l->state->first_at;
}

static bool count_usage(Line *l, const JsonTok *root, const JsonTok *message)
{
    Event e = { .kind = EVENT_USAGE };
    uint64_t call = hash_text(1, json_tok_raw(l->scan, message[MESSAGE_ID]));
    EventUsage none = { 0 }, *counted = &none;
    JsonTok f[USAGE_COUNT];

    if (json_tok_char(l->scan, message[MESSAGE_USAGE]) != '{')
        return true;
    call = hash_text(call, json_tok_raw(l->scan, root[REQUEST_ID])) | 1;
    if (message[MESSAGE_ID] != JSON_TOK_NONE) {
        counted = counted_of(l->state, call);
        e.call = call;
    }
    if (is_copy(l))
        e.flags |= EVENT_IS_COPY;
    line_fields(l, message[MESSAGE_USAGE], &usage_table, f);
    e.usage =
        (EventUsage){ .input = growth(line_int(l, f[USAGE_INPUT]), &counted->input),
                      .output = growth(line_int(l, f[USAGE_OUTPUT]), &counted->output),
                      .cache_read = growth(line_int(l, f[USAGE_CACHE_READ]), &counted->cache_read),
                      .cache_write =
                          growth(line_int(l, f[USAGE_CACHE_WRITE]), &counted->cache_write) };
    e.of_call = *counted;
    return !(e.usage.input | e.usage.output | e.usage.cache_read | e.usage.cache_write) ||
           line_emit(l, &e);
}

static bool tool_call(Line *l, const JsonTok *block)
{
    Event e = { .kind = EVENT_TOOL_CALL };

    if (!line_wants(l, EVENT_TOOL_CALL))
        return true;
    e.name = line_tool_name(l, json_tok_raw(l->scan, block[BLOCK_NAME]));
    e.id = line_string(l, block[BLOCK_ID]);
    if (json_tok_char(l->scan, block[BLOCK_INPUT]) == '{')
        e.arguments = json_tok_json(l->scan, block[BLOCK_INPUT]);
    return line_emit(l, &e);
}

static bool agent_block(Line *l, const JsonTok *block, EventKind said, unsigned flags)
{
    Str type = json_tok_raw(l->scan, block[BLOCK_TYPE]);
    Str text = json_tok_raw(l->scan, block[BLOCK_TEXT]);

    if (str_eqz(type, "tool_use") || str_eqz(type, "server_tool_use") ||
        str_eqz(type, "mcp_tool_use"))
        return tool_call(l, block);
    if (block[BLOCK_TOOL_USE_ID] != JSON_TOK_NONE)
        return tool_result(l, block);
    if (str_eqz(type, "thinking")) {
        text = json_tok_raw(l->scan, block[BLOCK_THINKING]);
        return !text.n || line_text_event(l, EVENT_THINKING, 0, &text, 1);
    }
    return !text.n || line_text_event(l, said, flags, &text, 1);
}

static bool agent_line(Line *l, const JsonTok *root, const JsonTok *message)
{
    JsonTok content = message[MESSAGE_CONTENT], at, item, f[BLOCK_COUNT];
    Str model = json_tok_raw(l->scan, message[MESSAGE_MODEL]), text, key;
    bool made_up = str_eqz(model, "<synthetic>");
    EventKind said = line_true(l, root[IS_API_ERROR]) ? EVENT_ERROR : EVENT_ASSISTANT;
    unsigned flags = made_up && said == EVENT_ASSISTANT ? EVENT_IS_META : 0;

    if (!made_up && !line_facts(l, (SessionFacts){ .model = line_fact(l, &l->state->known.model,
                                                                      message[MESSAGE_MODEL]) }))
        return false;
    text = json_tok_raw(l->scan, content);
    if (text.n && !line_text_event(l, said, flags, &text, 1))
        return false;
    at = json_tok_char(l->scan, content) == '[' ? content : JSON_TOK_NONE;
    while (json_tok_next(l->scan, &at, &key, &item)) {
        line_fields(l, item, &block_table, f);
        if (!agent_block(l, f, said, flags))
            return false;
    }
    return made_up || count_usage(l, root, message);
}

/* -- the program -- */

static bool system_line(Line *l, const JsonTok *root)
{
    Str subtype = json_tok_raw(l->scan, root[SUBTYPE]);
    Str text = json_tok_raw(l->scan, root[CONTENT]);
    EventKind kind = EVENT_META;
    unsigned flags = EVENT_IS_META;

    if (str_eqz(subtype, "compact_boundary") || str_eqz(subtype, "microcompact_boundary")) {
        kind = EVENT_COMPACTION;
        flags = 0;
    } else if (str_eqz(subtype, "api_error")) {
        kind = EVENT_ERROR;
        flags = 0;
    } else if (str_eqz(subtype, "local_command")) {
        flags |= EVENT_IS_COMMAND;
    }
    return line_text_event(l, kind, flags, &text, text.n ? 1 : 0);
}

/* The paths are the names of the backups: objects of today nest them, older ones do not. */
static bool snapshot_line(Line *l, JsonTok snapshot)
{
    JsonTok files = json_tok_get(l->scan, snapshot, STR("trackedFileBackups")), at, item;
    Pieces paths = { 0 };
    Str key;

    at = json_tok_first(l->scan, files);
    while (json_tok_next(l->scan, &at, &key, &item))
        line_piece(l, &paths, key);
    return !paths.n || line_text_event(l, EVENT_FILES, 0, paths.all, paths.n);
}

static bool title_line(Line *l, const JsonTok *root)
{
    Str custom = line_string(l, root[CUSTOM_TITLE]), own = line_string(l, root[SUMMARY]);

    if (custom.n) {
        l->state->named = true;
        return line_facts(l, (SessionFacts){ .title = custom });
    }
    if (!own.n)
        own = line_string(l, root[AI_TITLE]);
    return l->state->named || line_facts(l, (SessionFacts){ .title = own });
}

/* Words that the user typed while the agent was at work reach it as an attachment. */
static bool attachment_line(Line *l, JsonTok attachment)
{
    Str type = json_tok_raw(l->scan, json_tok_get(l->scan, attachment, STR("type")));
    Str mode = json_tok_raw(l->scan, json_tok_get(l->scan, attachment, STR("commandMode")));
    Pieces text = { 0 };

    if (!str_eqz(type, "queued_command") || (mode.n && !str_eqz(mode, "prompt")))
        return true;
    collect_text(l, json_tok_get(l->scan, attachment, STR("prompt")), &text);
    return user_text(l, &text);
}

static unsigned flags_of(Line *l, const JsonTok *root)
{
    Str prompt = json_tok_raw(l->scan, root[PROMPT_SOURCE]);
    bool made_up = str_eqz(prompt, "system");

    return (str_is_one_of(prompt, "typed|queued") ? EVENT_IS_TYPED : 0u) |
           (made_up || line_true(l, root[IS_META]) ? EVENT_IS_META : 0u) |
           (line_true(l, root[IS_SIDE_CHAIN]) || l->state->side_file ? EVENT_IS_SIDE_CHAIN : 0u) |
           (line_true(l, root[IS_SUMMARY]) ? EVENT_IS_SUMMARY : 0u);
}

/* The session that a side chain's lines name is the one it was started from. */
static bool facts_line(Line *l, const JsonTok *root)
{
    bool side = l->state->side_file;
    Str session =
        line_fact(l, side ? &l->state->known.parent : &l->state->known.id, root[SESSION_ID]);

    return line_facts(
        l,
        (SessionFacts){ .id = side ? STR_NONE : session,
                        .parent = side ? session : STR_NONE,
                        .cwd = line_fact(l, &l->state->known.cwd, root[CWD]),
                        .branch = line_fact(l, &l->state->known.branch, root[GIT_BRANCH]),
                        .entrypoint = line_fact(l, &l->state->known.entrypoint, root[ENTRYPOINT]),
                        .kind = line_fact(l, &l->state->known.kind, root[SESSION_KIND]),
                        .version = line_fact(l, &l->state->known.version, root[VERSION]) });
}

/* Everything but what the two say to each other. */
static bool other_line(Line *l, Str type, const JsonTok *root)
{
    if (str_is_one_of(type, "summary|custom-title|ai-title"))
        return title_line(l, root);
    if (str_eqz(type, "cost-state"))
        return line_facts(l, (SessionFacts){ .cost_usd = line_double(l, root[TOTAL_COST]) });
    if (str_eqz(type, "continued-in"))
        return line_facts(
            l, (SessionFacts){ .continued_in = line_fact(l, &l->state->known.continued_in,
                                                         root[CONTINUED_IN]) });
    if (str_eqz(type, "file-history-snapshot"))
        return snapshot_line(l, root[SNAPSHOT]);
    if (!str_is_one_of(type, "system|queue-operation|attachment")) {
        l->stats->foreign += !str_is_one_of(type, passed_over);
        return true;
    }
    if (!facts_line(l, root))
        return false;
    if (str_eqz(type, "attachment"))
        return attachment_line(l, root[ATTACHMENT]);
    if (str_eqz(type, "queue-operation") && root[CONTENT] == JSON_TOK_NONE)
        return true;
    return system_line(l, root);
}

bool claude_line(Line *l)
{
    JsonTok root[ROOT_COUNT], message[MESSAGE_COUNT];
    bool is_user;
    Str type;

    line_fields(l, 0, &root_table, root);
    type = json_tok_raw(l->scan, root[TYPE]);
    l->at = line_time(l, root[TIMESTAMP]);
    l->flags = flags_of(l, root);
    if (l->state->first_at == 0)
        l->state->first_at = l->at;
    is_user = str_eqz(type, "user");
    if (!is_user && !str_eqz(type, "assistant"))
        return other_line(l, type, root);
    if (!facts_line(l, root))
        return false;
    line_fields(l, root[MESSAGE], &message_table, message);
    return is_user ? user_line(l, message[MESSAGE_CONTENT]) : agent_line(l, root, message);
}
