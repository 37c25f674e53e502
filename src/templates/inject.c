/* One pass over the input: system messages, the template, the rest. What belongs to a template that
 * is already there is recognised piece by piece (a message, a call, a block), since in Anthropic's
 * shape a message may hold pieces of the template and of the user at once. */
#include "templates/inject.h"

#include "base/limits.h"
#include "text/pyjson.h"

static const char *const effects[] = {
#define X(name, text) [name] = text,
    INJECT_EFFECTS(X)
#undef X
};

static const Str first_words = STR_INIT("Session template: ");
static const Str second_line =
    STR_INIT("Examples of successful tool calls from previous sessions:");
static const Str second_line_mixed = STR_INIT(
    "Examples of tool calls from previous sessions, successful ones and ones marked as failed:");
static const Str failed_mark = STR_INIT("[this call failed]\n");
static const Str id_prefix = STR_INIT("template_");

const char *inject_effect_text(InjectEffect effect)
{
    return effects[effect];
}

bool inject_changes(InjectEffect effect)
{
    return effect == INJECT_ADDED || effect == INJECT_REPLACED;
}

/* -- whose is it -- */

static bool is_template_id(Str id)
{
    if (!str_starts(id, id_prefix) || id.n == id_prefix.n)
        return false;
    for (size_t i = id_prefix.n; i < id.n; i++)
        if (id.p[i] < '0' || id.p[i] > '9')
            return false;
    return true;
}

static bool has_role(Json message, const char *role)
{
    return str_eqz(json_str(json_get(message, STR("role"))), role);
}

/* "developer" is what newer models call their system message. */
static bool is_system(Json message)
{
    return has_role(message, "system") || has_role(message, "developer");
}

/* "Session template: NAME (TYPE)". A system message needs no more than this line; from a user,
 * who may quote one, it takes both lines and nothing else. */
static bool names_template(Str text, bool in_system)
{
    Str line, rest = text;
    TaskType type;
    size_t open;

    if (!str_starts(text, first_words) || !str_split(&rest, '\n', &line) ||
        !str_ends(line, STR(")")))
        return false;
    for (open = line.n - 1; open > 0 && line.p[open] != '('; open--)
        ;
    if (!tasktype_parse(str_head(str_skip(line, open + 1), line.n - open - 2), &type))
        return false;
    return in_system || str_eq(rest, second_line) || str_eq(rest, second_line_mixed);
}

static bool block_is_ours(Json block, bool in_system)
{
    Str type = json_str(json_get(block, STR("type")));

    if (str_eqz(type, "text"))
        return names_template(json_str(json_get(block, STR("text"))), in_system);
    if (str_eqz(type, "tool_use"))
        return is_template_id(json_str(json_get(block, STR("id"))));
    if (str_eqz(type, "tool_result"))
        return is_template_id(json_str(json_get(block, STR("tool_use_id"))));
    return false;
}

/* in_system: as block_is_ours has it; a call is no different there. */
static bool call_is_ours(Json call, bool in_system)
{
    (void)in_system;
    return is_template_id(json_str(json_get(call, STR("id"))));
}

typedef struct Share {
    size_t ours, others;
} Share;

/* Every piece of a message: its text or blocks, its calls, the call it answers. */
static Share share_of(Json message)
{
    Json content = json_get(message, STR("content"));
    bool in_system = is_system(message), speaks = in_system || has_role(message, "user");
    JsonIter blocks = json_each(content), calls = json_each(json_get(message, STR("tool_calls")));
    Share share = { 0 };
    Json item;
    Str key, text = json_str(content);

    if (is_template_id(json_str(json_get(message, STR("tool_call_id")))) ||
        (speaks && names_template(text, in_system)))
        return (Share){ .ours = 1 };
    share.others += text.n > 0;
    while (json_next(&blocks, &key, &item))
        *(block_is_ours(item, in_system) ? &share.ours : &share.others) += 1;
    while (json_next(&calls, &key, &item))
        *(call_is_ours(item, in_system) ? &share.ours : &share.others) += 1;
    return share;
}

/* -- looking at a conversation -- */

bool inject_check(Json messages, Err *err)
{
    JsonIter it = json_each(messages);
    size_t i = 0;
    Json item;
    Str key;

    if (json_type(messages) != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "the messages must be an array, not %s",
                       json_type_name(json_type(messages)));
    for (; json_next(&it, &key, &item); i++) {
        Json role = json_get(item, STR("role"));

        if (json_type(item) != JSON_OBJECT)
            return err_set(err, ERR_INVALID, "messages[%zu] must be an object, not %s", i,
                           json_type_name(json_type(item)));
        if (json_type(role) != JSON_STRING)
            return err_set(err, ERR_INVALID, "messages[%zu].role must be a string, not %s", i,
                           json_type_name(json_type(role)));
    }
    return true;
}

bool inject_carries(Json messages)
{
    JsonIter it = json_each(messages);
    Json item;
    Str key;

    while (json_next(&it, &key, &item))
        if (share_of(item).ours)
            return true;
    return false;
}

Str inject_task(Arena *a, Json messages)
{
    AUTO_BUF task = BUF(LIMIT_STDIN_BYTES);
    AUTO_BUF text = BUF(LIMIT_STDIN_BYTES);
    JsonIter it = json_each(messages);
    Json item;
    Str key;

    while (json_next(&it, &key, &item)) {
        Json content = json_get(item, STR("content")), block;
        JsonIter blocks = json_each(content);

        if (!has_role(item, "user"))
            continue;
        buf_clear(&text);
        if (!names_template(json_str(content), false))
            buf_add(&text, json_str(content));
        while (json_next(&blocks, &key, &block))
            if (!block_is_ours(block, false)) {
                buf_add(&text, json_str(json_get(block, STR("text"))));
                buf_addc(&text, '\n');
            }
        if (str_trim(buf_str(&text)).n) {
            buf_clear(&task);
            buf_add(&task, buf_str(&text));
        }
    }
    return str_dup(a, str_trim(buf_str(&task)));
}

static bool has_tool(Str tools, Str tool)
{
    Str part;

    if (!tools.p)
        return true;
    while (str_split(&tools, ',', &part))
        if (str_eq(str_trim(part), tool))
            return true;
    return false;
}

size_t inject_usable(const Template *t, Str tools)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_examples; i++)
        n += has_tool(tools, t->examples[i].tool);
    return n;
}

InjectEffect inject_effect(Json messages, const Template *t, const InjectOptions *options)
{
    bool carries = inject_carries(messages);

    if (carries && !options->replace)
        return INJECT_CARRIED;
    if (!t->n_examples)
        return INJECT_EMPTY;
    if (!inject_usable(t, options->tools))
        return INJECT_NO_TOOLS;
    return carries ? INJECT_REPLACED : INJECT_ADDED;
}

/* -- the template's messages -- */

static void put_id(JsonWriter *w, const char *key, size_t i)
{
    char id[32];

    snprintf(id, sizeof id, "%s%zu", id_prefix.p, i);
    json_field_str(w, key, str_of(id));
}

/* The second line is one that other programs know, wherever it is true. */
static void put_intro_text(JsonWriter *w, const char *key, const Template *t, Str tools)
{
    AUTO_BUF text = BUF(KIB(4));
    bool failed = false;

    for (size_t i = 0; i < t->n_examples; i++)
        failed |= !t->examples[i].success && has_tool(tools, t->examples[i].tool);
    buf_addf(&text, "%s%.*s (%s)\n%s", first_words.p, STR_FMT(t->name), tasktype_name(t->type),
             failed ? second_line_mixed.p : second_line.p);
    json_field_str(w, key, buf_str(&text));
}

static void begin_message(JsonWriter *w, const char *role)
{
    json_begin(w, '{');
    json_field_str(w, "role", str_of(role));
}

static void put_openai_call(JsonWriter *w, const TemplateExample *e, size_t i)
{
    begin_message(w, "assistant");
    json_field_null(w, "content");
    json_field_begin(w, "tool_calls", '[');
    json_begin(w, '{');
    put_id(w, "id", i);
    json_field_str(w, "type", STR("function"));
    json_field_begin(w, "function", '{');
    json_field_str(w, "name", e->tool);
    json_field_str(w, "arguments", e->arguments);
    json_end(w, '}');
    json_end(w, '}');
    json_end(w, ']');
    json_end(w, '}');
}

static void put_openai(JsonWriter *w, const Template *t, Str tools)
{
    AUTO_BUF text = BUF(LIMIT_OUTPUT_BYTES);
    size_t n = 0;

    begin_message(w, "system");
    put_intro_text(w, "content", t, tools);
    json_end(w, '}');
    for (size_t i = 0; i < t->n_examples; i++) {
        if (!has_tool(tools, t->examples[i].tool))
            continue;
        put_openai_call(w, &t->examples[i], n);
        begin_message(w, "tool");
        put_id(w, "tool_call_id", n++);
        buf_clear(&text);
        if (!t->examples[i].success) /* this shape has no field for a failure */
            buf_add(&text, failed_mark);
        buf_add(&text, t->examples[i].result);
        json_field_str(w, "content", buf_str(&text));
        json_end(w, '}');
    }
}

static void begin_blocks(JsonWriter *w, const char *role)
{
    begin_message(w, role);
    json_field_begin(w, "content", '[');
}

static void end_blocks(JsonWriter *w)
{
    json_end(w, ']');
    json_end(w, '}');
}

static void put_tool_use(JsonWriter *w, const TemplateExample *e, size_t i)
{
    AUTO(Arena) *a = arena_new();
    PyValue input;

    json_begin(w, '{');
    json_field_str(w, "type", STR("tool_use"));
    put_id(w, "id", i);
    json_field_str(w, "name", e->tool);
    json_key(w, "input");
    if (pyjson_read(a, e->arguments, &input) && input.type == PY_DICT)
        pyjson_put(w, &input);
    else /* the API takes objects only */
        json_put_raw(w, STR("{}"));
    json_end(w, '}');
}

static void put_tool_result(JsonWriter *w, const TemplateExample *e, size_t i)
{
    json_begin(w, '{');
    json_field_str(w, "type", STR("tool_result"));
    put_id(w, "tool_use_id", i);
    json_field_str(w, "content", e->result);
    if (!e->success)
        json_field_bool(w, "is_error", true);
    json_end(w, '}');
}

/* Leaves the last user message open: the user's own words may come into it. */
static void put_anthropic(JsonWriter *w, const Template *t, Str tools)
{
    size_t n = 0;

    begin_blocks(w, "user");
    json_begin(w, '{');
    json_field_str(w, "type", STR("text"));
    put_intro_text(w, "text", t, tools);
    json_end(w, '}');
    for (size_t i = 0; i < t->n_examples; i++) {
        if (!has_tool(tools, t->examples[i].tool))
            continue;
        end_blocks(w);
        begin_blocks(w, "assistant");
        put_tool_use(w, &t->examples[i], n);
        end_blocks(w);
        begin_blocks(w, "user");
        put_tool_result(w, &t->examples[i], n++);
    }
}

/* -- the others' messages -- */

static void put_items(JsonWriter *w, Json array, bool (*ours)(Json item, bool in_system),
                      bool in_system)
{
    JsonIter it = json_each(array);
    Json item;
    Str key;

    while (json_next(&it, &key, &item))
        if (!ours(item, in_system))
            json_put(w, item);
}

static bool all_ours(Json calls)
{
    JsonIter it = json_each(calls);
    Json item;
    Str key;

    while (json_next(&it, &key, &item))
        if (!call_is_ours(item, false))
            return false;
    return true;
}

/* A message that is partly the template's: the rest of it. */
static void put_rest(JsonWriter *w, Json message)
{
    bool in_system = is_system(message);
    JsonIter it = json_each(message);
    Json item;
    Str key;

    json_begin(w, '{');
    while (json_next(&it, &key, &item)) {
        bool calls = str_eqz(key, "tool_calls"), list = json_type(item) == JSON_ARRAY;

        if (calls && list && all_ours(item))
            continue; /* an empty list of calls is refused by the APIs */
        json_key_str(w, key);
        if (!list || (!calls && !str_eqz(key, "content"))) {
            json_put(w, item);
            continue;
        }
        json_begin(w, '[');
        put_items(w, item, calls ? call_is_ours : block_is_ours, in_system);
        json_end(w, ']');
    }
    json_end(w, '}');
}

/* The blocks of the user's message into the open one, then whatever else that message says. */
static void put_into_open(JsonWriter *w, Json message)
{
    Json content = json_get(message, STR("content"));
    JsonIter it = json_each(message);
    Json item;
    Str key;

    if (json_str(content).n) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("text"));
        json_field_str(w, "text", json_str(content));
        json_end(w, '}');
    }
    if (json_type(content) == JSON_ARRAY)
        put_items(w, content, block_is_ours, false);
    json_end(w, ']');
    while (json_next(&it, &key, &item))
        if (!str_eqz(key, "role") && !str_eqz(key, "content")) {
            json_key_str(w, key);
            json_put(w, item);
        }
    json_end(w, '}');
}

/* True where `next` went into the template's last message. */
static bool put_template(JsonWriter *w, const Template *t, const InjectOptions *options, Json next)
{
    if (options->format == INJECT_OPENAI) {
        put_openai(w, t, options->tools);
        return false;
    }
    put_anthropic(w, t, options->tools);
    if (has_role(next, "user")) {
        put_into_open(w, next);
        return true;
    }
    end_blocks(w);
    return false;
}

void inject_write(JsonWriter *w, Json messages, const Template *t, const InjectOptions *options)
{
    JsonIter it = json_each(messages);
    bool placed = false;
    Json item;
    Str key;

    json_begin(w, '[');
    while (json_next(&it, &key, &item)) {
        Share share = share_of(item);

        if (share.ours && !share.others)
            continue;
        if (!placed && !is_system(item)) {
            placed = true;
            if (put_template(w, t, options, item))
                continue;
        }
        if (share.ours)
            put_rest(w, item);
        else
            json_put(w, item);
    }
    if (!placed)
        (void)put_template(w, t, options, (Json){ 0 });
    json_end(w, ']');
}
