/* talaria debug: low-level tools for troubleshooting. */
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_debug.h"
#include "cmd/commands.h"
#include "model/call.h"
#include "platforms/platform.h"
#include "text/utf8.h"

/* -- debug model -- */

/* Shared by the command, which waits, and the loop's thread, which writes. */
typedef struct Talk {
    Cli *cli;
    const ModelConfig *config;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    int64_t began;
    ModelFail fail;
    char message[512];
} Talk;

static void put_event(JsonWriter *w, const Talk *talk, const ModelEvent *e)
{
    switch (e->kind) {
    case MODEL_TEXT:
    case MODEL_REASONING:
        json_field_str(w, "text", e->text);
        break;
    case MODEL_TOOL_CALL:
        json_field_str(w, "id", e->call.id);
        json_field_str(w, "name", e->call.name);
        json_field_str(w, "arguments", e->call.arguments);
        break;
    case MODEL_RETRY:
        json_field_int(w, "attempt", e->attempt);
        json_field_int(w, "wait_ms", e->wait_ms);
        break;
    case MODEL_USAGE:
        json_field_int(w, "input", e->usage.input);
        json_field_int(w, "output", e->usage.output);
        json_field_int(w, "cached", e->usage.cached);
        json_field_int(w, "reasoning", e->usage.reasoning);
        json_field_double(w, "cost", model_cost(talk->config, &e->usage));
        break;
    case MODEL_FINISH:
        json_field_str(w, "reason", str_of(model_finish_name(e->finish)));
        break;
    case MODEL_ERROR:
        break;
    }
    if (e->kind == MODEL_RETRY || e->kind == MODEL_ERROR) {
        json_field_str(w, "kind", str_of(model_fail_name(e->fail.kind)));
        json_field_int(w, "status", e->fail.status);
        json_field_str(w, "message", e->fail.message);
    }
}

/* One JSON object a line: {"event": ..., "ms": ..., ...} */
static void print_json(Talk *talk, const ModelEvent *e)
{
    JsonWriter w = JSON_WRITER(talk->cli->out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "event", str_of(model_event_name(e->kind)));
    json_field_int(&w, "ms", clock_mono_ms() - talk->began);
    put_event(&w, talk, e);
    json_end(&w, '}');
    buf_addc(talk->cli->out, '\n');
}

static void print_plain(Talk *talk, const ModelEvent *e)
{
    const ModelUsage *u = &e->usage;

    if (e->kind == MODEL_TEXT)
        say_text(talk->cli, e->text, true);
    else if (e->kind == MODEL_TOOL_CALL)
        log_note("calls %.*s %.*s", STR_FMT(e->call.name), STR_FMT(e->call.arguments));
    else if (e->kind == MODEL_RETRY)
        log_note("%s: %.*s; try %d in %lld ms", model_fail_name(e->fail.kind),
                 STR_FMT(e->fail.message), e->attempt, (long long)e->wait_ms);
    else if (e->kind == MODEL_USAGE)
        log_note("%lld tokens in, %lld out, %lld from the cache, %lld reasoning",
                 (long long)u->input, (long long)u->output, (long long)u->cached,
                 (long long)u->reasoning);
    else if (e->kind == MODEL_FINISH) {
        say(talk->cli, "\n");
        log_note("finished (%s) after %lld ms", model_finish_name(e->finish),
                 (long long)(clock_mono_ms() - talk->began));
    }
}

static void on_event(void *ctx, const ModelEvent *e)
{
    Talk *talk = ctx;

    pthread_mutex_lock(&talk->lock);
    if (talk->cli->json)
        print_json(talk, e);
    else
        print_plain(talk, e);
    buf_flush(talk->cli->out);
    if (e->kind == MODEL_ERROR) {
        talk->fail = e->fail;
        snprintf(talk->message, sizeof talk->message, "%.*s", STR_FMT(e->fail.message));
        talk->fail.message = str_of(talk->message);
    }
    talk->over = model_event_is_last(e);
    if (talk->over)
        pthread_cond_signal(&talk->changed);
    pthread_mutex_unlock(&talk->lock);
}

static bool run_talk(Talk *talk, const ModelRequest *request, Err *err)
{
    AUTO(Net) *net = net_new(err);
    AUTO(ModelClient) *client = net ? model_client_new(net, talk->config, err) : NULL;
    NetId id;

    talk->began = clock_mono_ms();
    if (!client || !model_start(client, request, on_event, talk, &id, err))
        return false;
    pthread_mutex_lock(&talk->lock);
    while (!talk->over)
        pthread_cond_wait(&talk->changed, &talk->lock);
    pthread_mutex_unlock(&talk->lock);
    return true;
}

/* The command line takes precedence over the file and the environment. */
static bool configure(Cli *cli, const Args *args, ModelConfig *ret, Err *err)
{
    static const struct {
        const char *option;
        SettingId setting;
        const char *variable;
    } rows[] = { { "base-url", SETTING_MODEL_BASE_URL, "TALARIA_MODEL_BASE_URL" },
                 { "model", SETTING_MODEL_NAME, "TALARIA_MODEL" },
                 { "dialect", SETTING_MODEL_DIALECT, "TALARIA_MODEL_DIALECT" } };
    Settings settings = cli->settings;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!args_given(args, rows[i].option))
            continue;
        settings.values[rows[i].setting].text = args_text(args, rows[i].option);
        unsetenv(rows[i].variable);
    }
    return model_config(cli->arena, &settings, ret, err);
}

static void begin_json(Cli *cli, const ModelConfig *config)
{
    JsonWriter w = JSON_WRITER(cli->out, 0);

    json_begin(&w, '{');
    json_field_int(&w, "format", 1);
    json_field_str(&w, "event", STR("start"));
    json_field_str(&w, "base_url", config->base_url);
    json_field_str(&w, "model", config->name);
    json_field_str(&w, "dialect", str_of(model_dialect_name(config->dialect)));
    json_field_bool(&w, "key", config->key.n > 0);
    json_end(&w, '}');
    buf_addc(cli->out, '\n');
}

static bool debug_model(Cli *cli, const Args *args, Err *err)
{
    ModelMessage message = { .role = MODEL_USER, .text = args_operand(args, 0) };
    ModelRequest request = { .messages = &message,
                             .n_messages = 1,
                             .max_tokens = args_number(args, "max-tokens"),
                             .whole = args_flag(args, "whole"),
                             .deadline_ms = args_number(args, "timeout") * 1000 };
    Talk talk = { .cli = cli,
                  .lock = PTHREAD_MUTEX_INITIALIZER,
                  .changed = PTHREAD_COND_INITIALIZER };
    ModelConfig config;

    if (!configure(cli, args, &config, err))
        return false;
    talk.config = &config;
    if (cli->json)
        begin_json(cli, &config);
    if (!run_talk(&talk, &request, err))
        return false;
    if (talk.fail.kind != MODEL_FAIL_NONE)
        return model_fail_to_err(&config, &talk.fail, err);
    return true;
}

static const Option model_options[] = {
    { OPT_CHOICE("dialect", "D", "protocol of the API"),
      .choices = "openai-chat|openai-responses|anthropic" },
    { OPT_TEXT("base-url", "URL", "base URL of the API") },
    { OPT_TEXT("model", "NAME", "model name") },
    { OPT_NUMBER("max-tokens", "N",
                 "maximum length of the answer in tokens; 0: the server's default"),
      .fallback = "0" },
    { OPT_NUMBER("timeout", "SECONDS", "time limit, including retries"), .fallback = "600" },
    { OPT_FLAG("whole", "request the answer in one piece instead of a stream") },
    { 0 },
};

static const Example examples[] = {
    { "talaria debug model 'say hello'", "send a prompt to the configured model" },
    { "talaria debug model --json 'say hello'", "print every event, one per line" },
    { "talaria debug model --base-url http://127.0.0.1:11434/v1 --model llama3.2 hi",
      "test a local model" },
    { 0 },
};

/* -- debug session-key: the session of a message, for addresses given as lines of JSON -- */

/* An update as the platform sends it, with the flags that are the default. */
static bool one_update(Arena *a, const Shape *shape, Str line, Str aliases, Str *ret, Err *err)
{
    KeyFlags flags = KEY_FLAGS;
    Inbound in;
    bool is;

    if (!shape->parse(a, line, &(Identity){ 0 }, &in, &is, err))
        return false;
    if (!is)
        return err_set(err, ERR_INVALID, "no message of %s", shape->name);
    flags.aliases = aliases;
    *ret = address_key(a, &in.place, &flags);
    return true;
}

static bool one_line(Arena *a, Str line, Str aliases, Str *ret, Err *err)
{
    const PyValue *source, *given;
    PyValue v, none = { .type = PY_NULL };
    KeyFlags flags;
    ChatAddress place;

    if (!pyjson_read(a, line, &v))
        return err_set(err, ERR_INVALID, "not JSON");
    source = pyjson_get(&v, STR("source"));
    given = pyjson_get(&v, STR("flags"));
    if (!source)
        return err_set(err, ERR_INVALID, "no 'source'");
    if (!address_read(source, &place, err) || !key_flags_read(given ? given : &none, &flags, err))
        return false;
    flags.aliases = aliases;
    *ret = address_key(a, &place, &flags);
    return true;
}

static void print_key(Cli *cli, Str key)
{
    if (cli->json) {
        JsonWriter w = JSON_WRITER(cli->out, 0);

        json_begin(&w, '{');
        json_field_int(&w, "format", 1);
        json_field_str(&w, "key", key);
        json_end(&w, '}');
    } else {
        say_text(cli, key, false);
    }
    say(cli, "\n");
}

static bool debug_key(Cli *cli, const Args *args, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const Shape *shape = args_given(args, "update") ? shape_named(args_text(args, "update")) : NULL;
    const Homes *homes;
    size_t bad = 0, number = 0;
    Str text, line, aliases;

    if (!cli_homes(cli, &homes, err) ||
        !file_read_fd(cli->arena, STDIN_FILENO, "standard input", LIMIT_STDIN_BYTES, &text, err))
        return false;
    aliases = str_join_path(cli->arena, homes->primary->path, STR("whatsapp/session"));
    while (str_split(&text, '\n', &line)) {
        Err why;
        Str key;

        arena_reset(a);
        number++;
        if (!str_trim(line).n)
            continue;
        if (shape ? one_update(a, shape, line, aliases, &key, &why)
                  : one_line(a, line, aliases, &key, &why)) {
            print_key(cli, key);
            continue;
        }
        log_error("line %zu: %s", number, why.text);
        bad++;
    }
    return bad == 0 || err_set(err, ERR_INVALID, "%zu of the lines could not be read", bad);
}

static const Option key_options[] = {
    { OPT_CHOICE("update", "PLATFORM", "the lines are updates as that platform sends them"),
      .choices = "telegram|discord|slack|local" },
    { 0 },
};

static const Example key_examples[] = {
    { "echo '{\"source\":{\"platform\":\"telegram\",\"chat_id\":55}}' | talaria debug session-key",
      "agent:main:telegram:dm:55" },
    { 0 },
};

static const Command children[] = {
    { .name = "model",
      .operands = "PROMPT",
      .summary = "send one prompt to the configured model and print the response",
      .details = "Checks the model settings: model.base_url, model.name, model.dialect and "
                 "model.api_key_env in config.yaml, or TALARIA_MODEL_BASE_URL, TALARIA_MODEL, "
                 "TALARIA_MODEL_DIALECT and TALARIA_MODEL_KEY. The key is never shown.\n\nWith "
                 "--json the first line describes the request; each further line is one event: "
                 "text, reasoning, tool_call, retry, usage, then finish or error.",
      .options = model_options,
      .examples = examples,
      .run = debug_model },
    { .name = "run",
      .operands = "PROMPT",
      .summary = "send one prompt to a runtime and print its events",
      .details = "Runs one turn without memory, skills or storage, to check that a runtime works. "
                 "Each line is {\"event\": ..., \"data\": ...}: metadata, progress, chunk, error, "
                 "done. Ctrl-C cancels the turn. The last progress event of the stage 'session' "
                 "contains the handle that continues the conversation.",
      .options = debug_run_options,
      .examples = debug_run_examples,
      .run = debug_run },
    { .name = "replay",
      .operands = "FILE",
      .summary = "replay a recorded runtime stream and print its events",
      .details = "Useful in bug reports. FILE contains what the runtime sent: JSON lines of Claude "
                 "Code (stream-json) and Codex (exec --json, app-server), or event streams of "
                 "Hermes and models.",
      .options = debug_replay_options,
      .examples = debug_replay_examples,
      .run = debug_replay },
    { .name = "session-key",
      .summary = "print the session keys of chat addresses read from standard input",
      .details = "Each input line is {\"source\": {...}, \"flags\": {...}}: the address of a "
                 "message as Hermes' gateway stores it, and group_sessions_per_user, "
                 "thread_sessions_per_user and profile. Prints one key per line. Invalid lines are "
                 "reported on standard error, and the exit code is 1.",
      .options = key_options,
      .examples = key_examples,
      .run = debug_key },
    { 0 },
};

const Command cmd_debug = { .name = "debug",
                            .summary = "low-level tools for troubleshooting",
                            .examples = examples,
                            .children = children };
