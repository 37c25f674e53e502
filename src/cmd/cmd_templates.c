/* talaria templates: list, create, show, inject, delete; harvest and study are next door.
 *
 * The texts of list, create and delete are read by scripts: docs/templates.md promises them. */
#include "cmd/cmd_templates.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "templates/extract.h"
#include "templates/inject.h"
#include "templates/policy.h"
#include "templates/template_json.h"
#include "text/human.h"
#include "text/utf8.h"

#define TYPES "code|file|research|terminal|mixed"

/* "Template not found: NAME" is a promise, so it goes out without our name before it. */
static bool tell_not_found(Cli *cli, Err *err)
{
    static const Str promised = STR_INIT("Template not found: ");

    if (err->kind == ERR_NOT_FOUND && !cli->json && str_starts(str_of(err->text), promised)) {
        AUTO_BUF line = BUF(KIB(4));

        utf8_show(&line, str_of(err->text), false);
        fprintf(stderr, "%s\n", line.p);
        cli->told = true;
    }
    return false;
}

/* True with the type where --type was given; the parser has let only real ones through. */
static bool given_type(const Args *args, TaskType *ret)
{
    return args_given(args, "type") && tasktype_parse(args_text(args, "type"), ret);
}

/* -- list -- */

static const Option list_options[] = {
    { OPT_CHOICE("type", "TYPE", "only templates of this type"), .choices = TYPES },
    { 0 },
};

static const TableColumn list_columns[] = {
    { .title = "TEMPLATE" },
    { .title = "TYPE" },
    { .title = "EXAMPLES", .right = true, .drop = 1 },
    { .title = "USED", .right = true, .drop = 2 },
    { .title = "CREATED", .drop = 3 },
    { .title = "DESCRIPTION", .min = 16, .style = STYLE_DIM, .drop = 4 },
};

/* Scripts read this: its wording is part of the format. */
static void print_promised(Cli *cli, const Template *all, size_t n)
{
    if (!n) {
        say(cli, "No templates found\n");
        return;
    }
    say(cli, "Found %zu templates:\n", n);
    for (size_t i = 0; i < n; i++) {
        say(cli, "  ");
        say_text(cli, all[i].name, false);
        say(cli, ": %s (%zu examples, used %lld times)\n", tasktype_name(all[i].type),
            all[i].n_examples, (long long)all[i].usage_count);
    }
}

static void print_list(Cli *cli, const Template *all, size_t n)
{
    AUTO(Table) *t = table_begin(cli, list_columns, ARRAY_LEN(list_columns));

    for (size_t i = 0; i < n; i++) {
        table_cell(t, all[i].name);
        table_cell(t, str_of(tasktype_name(all[i].type)));
        table_cellf(t, "%zu", all[i].n_examples);
        table_cellf(t, "%lld", (long long)all[i].usage_count);
        table_cell(t, human_time(cli->arena, all[i].created_at));
        table_cell(t, all[i].description);
    }
    table_end(t);
    if (!n)
        log_note("no templates found; 'talaria templates harvest' makes some from your sessions");
}

/* --json: {format, templates: [{name, type, examples, usage_count, created_at, description,
 *          source_session_id, path}]}; examples is how many. */
static bool list(Cli *cli, const Args *args, Err *err)
{
    const Homes *homes;
    Template *all;
    size_t n, kept = 0;
    TaskType type;
    JsonWriter w;

    if (!cli_homes(cli, &homes, err) || !templates_load(cli->arena, homes, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!given_type(args, &type) || all[i].type == type)
            all[kept++] = all[i];
    if (!cli->json) {
        (cli_on_terminal(cli) ? print_list : print_promised)(cli, all, kept);
        return true;
    }
    w = cli_json_begin(cli);
    json_field_begin(&w, "templates", '[');
    for (size_t i = 0; i < kept; i++) {
        json_begin(&w, '{');
        template_put_summary(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}

/* -- create -- */

static const Option create_options[] = {
    { OPT_TEXT("name", "NAME", "name of the template") },
    { OPT_CHOICE("type", "TYPE", "task type (default: derived from the tools)"), .choices = TYPES },
    { OPT_NUMBER("max-examples", "N", "maximum number of tool calls to keep"), .fallback = "10" },
    { OPT_NUMBER("max-messages", "N", "use only the first N messages"), .fallback = "100" },
    { OPT_FLAG("include-failed", "also keep failed calls, marked as failed") },
    { OPT_FLAG("chain", "use all parts of a session that was cut by compression") },
    { OPT_FLAG("force", "replace a template of the same name") },
    { OPT_FLAG("dry-run", "print what would be created, change nothing") },
    { 0 },
};

static bool save(Cli *cli, const Args *args, const Homes *homes, Template *t, Err *err)
{
    bool force = args_flag(args, "force");

    if (args_flag(args, "dry-run"))
        return force || !args_given(args, "name") || !template_exists(cli->arena, homes, t->name) ||
               err_set(err, ERR_CONFLICT, "template '%.*s' exists already; --force replaces it",
                       STR_FMT(t->name));
    if (args_given(args, "name") || force)
        return template_save(cli->arena, homes, t, force, err);
    return template_save_unnamed(cli->arena, homes, t, err);
}

static bool read_create_options(const Args *args, ExtractOptions *ret, Err *err)
{
    ret->max_examples = (size_t)args_number(args, "max-examples");
    ret->max_messages = (size_t)args_number(args, "max-messages");
    ret->include_failed = args_flag(args, "include-failed");
    ret->chain = args_flag(args, "chain");
    if (ret->max_examples < 1 || ret->max_examples > LIMIT_EXAMPLES)
        return err_set(err, ERR_USAGE, "--max-examples must be 1 to %d", LIMIT_EXAMPLES);
    if (ret->max_messages < 1)
        return err_set(err, ERR_USAGE, "--max-messages must be at least 1");
    return !args_given(args, "name") || template_name_check(args_text(args, "name"), err);
}

/* A session of a home, or a transcript of another program. */
static bool extract(Cli *cli, Str session, const ExtractOptions *options, Template *ret,
                    Extract *ret_extract, Err *err)
{
    AUTO(History) *h = sessions_history(cli, err);

    return h && extract_template(h, cli->arena, session, options, ret, ret_extract, err);
}

/* --json: {format, dry_run, name, type, examples, description, source_session_id, sessions, path,
 * calls, failed, too_large, tokens}; calls, failed and too_large count what was looked at. */
static bool create(Cli *cli, const Args *args, Err *err)
{
    Str session = args_operand(args, 0);
    bool dry_run = args_flag(args, "dry-run");
    ExtractOptions options;
    const Homes *homes;
    JsonWriter w;
    Template t;
    Extract x;

    if (!read_create_options(args, &options, err) || !cli_homes(cli, &homes, err))
        return false;
    if (!extract(cli, session, &options, &t, &x, err))
        return err_wrap(err, "cannot make a template from '%.*s'", STR_FMT(session));
    (void)given_type(args, &t.type);
    t.name =
        args_given(args, "name") ? args_text(args, "name") : template_name_default(cli->arena, &t);
    if (!save(cli, args, homes, &t, err))
        return false;
    if (!cli->json) {
        say(cli, "%s template: %.*s\n  Type: %s\n  Examples: %zu\n",
            dry_run ? "Would create" : "Created", STR_FMT(t.name), tasktype_name(t.type),
            t.n_examples);
        for (size_t i = 0; options.chain && i < x.n_sessions; i++) {
            say(cli, "%s", i ? ", " : "  Sessions: ");
            say_text(cli, x.sessions[i], false);
        }
        if (options.chain)
            say(cli, "\n");
        return true;
    }
    w = cli_json_begin(cli);
    template_put_created(&w, &t, &x, dry_run);
    cli_json_end(cli, &w);
    return true;
}

/* -- show -- */

static const Option show_options[] = {
    { OPT_FLAG("full", "print complete arguments and results") },
    { 0 },
};

static void print_text(Cli *cli, const char *before, Str text, bool full)
{
    enum { SHOWN = 300 };
    Str head = full ? text : utf8_head(text, SHOWN);

    say(cli, "    %s", before);
    say_text(cli, head, full);
    if (head.n < text.n)
        say(cli, "%s [%zu bytes more; --full shows them]%s", style(cli, STYLE_DIM), text.n - head.n,
            style(cli, STYLE_OFF));
    say(cli, "\n");
}

static void print_template(Cli *cli, const Template *t, bool full)
{
    say(cli, "%s", style(cli, STYLE_BOLD));
    say_text(cli, t->name, false);
    say(cli, "%s\n  type     %s\n  about    ", style(cli, STYLE_OFF), tasktype_name(t->type));
    say_text(cli, t->description, false);
    say(cli, "\n  used     %.*s\n  created  %.*s\n  source   ",
        STR_FMT(human_n(cli->arena, t->usage_count, "time")),
        STR_FMT(human_time(cli->arena, t->created_at)));
    say_text(cli, t->source_session_id.n ? t->source_session_id : STR("-"), false);
    say(cli, "\n  file     ");
    say_text(cli, t->path, false);
    say(cli, "\n  tokens   about %s\n", human_count(cli->arena, (int64_t)template_tokens(t)).p);
    for (size_t i = 0; i < t->n_examples; i++) {
        const TemplateExample *e = &t->examples[i];

        say(cli, "\n%3zu %s", i + 1, style(cli, e->success ? STYLE_GREEN : STYLE_RED));
        say_text(cli, e->tool, false);
        say(cli, "%s%s\n", style(cli, STYLE_OFF), e->success ? "" : " (failed)");
        print_text(cli, "", e->arguments, full);
        print_text(cli, "→ ", e->result, full);
    }
}

/* --json: {format, path, tokens, template: the object of the file}. */
static bool show(Cli *cli, const Args *args, Err *err)
{
    const Homes *homes;
    JsonWriter w;
    Template t;

    if (!cli_homes(cli, &homes, err))
        return false;
    if (!template_find(cli->arena, homes, args_operand(args, 0), &t, err))
        return tell_not_found(cli, err);
    if (!cli->json) {
        print_template(cli, &t, args_flag(args, "full"));
        return true;
    }
    w = cli_json_begin(cli);
    template_put_shown(&w, &t);
    cli_json_end(cli, &w);
    return true;
}

/* -- inject -- */

static const Option inject_options[] = {
    { OPT_CHOICE("type", "TYPE", "choose a template of this type"), .choices = TYPES },
    { OPT_CHOICE("policy", "P", "how to choose if no name is given"), .fallback = "least-used",
      .choices = "least-used|best" },
    { OPT_TEXT("tools", "A,B", "tools of the new session; examples of other tools are skipped") },
    { OPT_CHOICE("format", "F", "message format"), .fallback = "openai",
      .choices = "openai|anthropic" },
    { OPT_FLAG("replace", "replace the template already in the conversation") },
    { 0 },
};

static bool choose(Cli *cli, const Args *args, Json messages, Template *ret, Err *err)
{
    PolicyQuery query = { .tools = args_text(args, "tools"), .request_of = policy_first_request };
    const Template *chosen;
    const Homes *homes;
    Template *all;
    Store *store;
    size_t n;

    if (!cli_homes(cli, &homes, err))
        return false;
    if (args_count(args)) {
        if (args_given(args, "type"))
            return err_set(err, ERR_USAGE, "give NAME or --type, not both");
        return template_find(cli->arena, homes, args_operand(args, 0), ret, err) ||
               tell_not_found(cli, err);
    }
    query.one_type = given_type(args, &query.type);
    if (str_eqz(args_text(args, "policy"), "best")) {
        if (!cli_store(cli, &store, err))
            return false;
        query.policy = POLICY_BEST;
        query.task = inject_task(cli->arena, messages);
        query.ctx = store;
    }
    if (!templates_load(cli->arena, homes, &all, &n, err) ||
        !policy_choose(cli->arena, all, n, &query, &chosen, err))
        return false;
    *ret = *chosen;
    return true;
}

static void print_injection(Cli *cli, Json messages, Str input, const Template *t,
                            const InjectOptions *options, InjectEffect effect)
{
    JsonWriter w = JSON_WRITER(cli->out, 2);

    if (!cli->json) {
        inject_put_messages(&w, messages, input, t, options, effect);
        buf_addc(cli->out, '\n');
        return;
    }
    w = cli_json_begin(cli);
    inject_put(&w, messages, input, t, options, effect);
    cli_json_end(cli, &w);
}

/* Without --json the messages alone; with it {format, template, type, changed, reason,
 * messages}. */
static bool inject(Cli *cli, const Args *args, Err *err)
{
    InjectOptions options = { .tools = args_text(args, "tools"),
                              .replace = args_flag(args, "replace") };
    AUTO(JsonDoc) *doc = NULL;
    InjectEffect effect;
    Template t;
    Str input;

    if (str_eqz(args_text(args, "format"), "anthropic"))
        options.format = INJECT_ANTHROPIC;
    if (isatty(STDIN_FILENO))
        log_note("reading messages from standard input");
    if (!file_read_fd(cli->arena, STDIN_FILENO, "standard input", LIMIT_STDIN_BYTES, &input, err))
        return false;
    doc = json_parse(input, err);
    if (!doc || !inject_check(json_root(doc), err))
        return err_wrap(err, "standard input");
    if (!choose(cli, args, json_root(doc), &t, err))
        return false;
    effect = inject_effect(json_root(doc), &t, &options);
    /* Counted before it is handed out: what was used is never missing from the count. */
    if (inject_changes(effect) && !template_count_use(cli->arena, &t, err))
        return false;
    if (!inject_changes(effect))
        log_note("nothing changed: %s", inject_effect_text(effect));
    print_injection(cli, json_root(doc), input, &t, &options, effect);
    return true;
}

/* -- delete -- */

static const Option delete_options[] = {
    { OPT_FLAG("dry-run", "print what would be deleted, change nothing") },
    { 0 },
};

/* --json: {format, dry_run, name}. */
static bool delete (Cli *cli, const Args *args, Err *err)
{
    Str name = args_operand(args, 0);
    bool dry_run = args_flag(args, "dry-run");
    const Homes *homes;
    JsonWriter w;

    if (!cli_homes(cli, &homes, err))
        return false;
    if (!template_delete(cli->arena, homes, name, dry_run, err))
        return tell_not_found(cli, err);
    if (!cli->json) {
        say(cli, "%s template: ", dry_run ? "Would delete" : "Deleted");
        say_text(cli, name, false);
        say(cli, "\n");
        return true;
    }
    w = cli_json_begin(cli);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_str(&w, "name", name);
    cli_json_end(cli, &w);
    return true;
}

/* -- rows -- */

#define SOURCE_OPTION                                                                              \
    {                                                                                              \
        OPT_TEXT("source", "SOURCE",                                                               \
                 "only sessions of hermes, claude, codex or talaria, or of a source that Hermes "  \
                 "names (cli, telegram, ...)")                                                     \
    }

static const Option harvest_options[] = {
    { OPT_NUMBER("limit", "N", "maximum number of templates to create"), .letter = 'n',
      .fallback = "5" },
    SOURCE_OPTION,
    { OPT_FLAG("dry-run", "print what would be created, change nothing") },
    { 0 },
};

static const Option study_options[] = { SOURCE_OPTION, { 0 } };

static const Example list_examples[] = {
    { "talaria templates list", "newest first" },
    { "talaria templates list --type code", "only templates of one type" },
    { "talaria templates list --json", "as JSON" },
    { 0 },
};

static const Example create_examples[] = {
    { "talaria templates create 20261115_2030", "from a session, by the beginning of its id" },
    { "talaria templates create ID --name release --max-examples 5",
      "with a name and at most five calls" },
    { "talaria templates create ID --dry-run --json", "preview as JSON" },
    { 0 },
};

static const Example show_examples[] = {
    { "talaria templates show release", "show its tool calls" },
    { "talaria templates show release --full", "with complete results" },
    { "talaria templates show release --json", "the template file as JSON" },
    { 0 },
};

static const Example inject_examples[] = {
    { "talaria templates inject release < messages.json", "put it in front of a conversation" },
    { "talaria templates inject --type code --policy best < in.json > out.json",
      "the best template for code" },
    { "talaria templates inject --tools terminal,patch --format anthropic < in.json",
      "in Anthropic's message format" },
    { 0 },
};

static const Example delete_examples[] = {
    { "talaria templates delete release", "remove one" },
    { "talaria templates delete release --dry-run", "check that it exists" },
    { "talaria templates delete release --json", "as JSON" },
    { 0 },
};

static const Example harvest_examples[] = {
    { "talaria templates harvest --dry-run", "preview, with reasons" },
    { "talaria templates harvest", "create up to five templates" },
    { "talaria templates harvest --limit 20 --json", "also list skipped sessions, with reasons" },
    { 0 },
};

static const Example study_examples[] = {
    { "talaria templates study", "failure rates of your own sessions" },
    { "talaria templates study --source claude", "only Claude Code sessions" },
    { "talaria templates study --json", "the figures as JSON" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "list templates, newest first",
      .options = list_options,
      .examples = list_examples,
      .run = list },
    { .name = "create",
      .operands = "SESSION",
      .values = "sessions",
      .summary = "create a template from a session's successful tool calls",
      .details = "SESSION is an id or a unique beginning of one; --chain adds the calls of the "
                 "parts that it continues or that continue it. Secrets are redacted and long "
                 "results are shortened.",
      .options = create_options,
      .examples = create_examples,
      .acts = true,
      .run = create },
    { .name = "show",
      .operands = "NAME",
      .values = "templates",
      .summary = "show a template and its examples",
      .options = show_options,
      .examples = show_examples,
      .run = show },
    { .name = "inject",
      .operands = "[NAME]",
      .values = "templates",
      .summary = "add a template to the messages on standard input",
      .details = "Reads a JSON array of chat messages and writes it with the template's calls "
                 "inserted after the leading system messages. A conversation that already contains "
                 "a template is not changed.",
      .options = inject_options,
      .examples = inject_examples,
      .run = inject },
    { .name = "delete",
      .operands = "NAME",
      .values = "templates",
      .summary = "delete a template",
      .options = delete_options,
      .examples = delete_examples,
      .acts = true,
      .run = delete },
    { .name = "harvest",
      .summary = "create templates from successful sessions",
      .details = "Looks through your whole history, whichever agent wrote it, and makes the best "
                 "template of each type first. "
                 "What is nearly an existing template is left out.",
      .options = harvest_options,
      .examples = harvest_examples,
      .acts = true,
      .run = templates_harvest },
    { .name = "study",
      .summary = "failure rate of tool calls over the course of a session",
      .details = "A session is code-heavy if more than half of the tool calls in its first 30 "
                 "turns run code, and file-heavy if they work on files. Fewer than 20 sessions of "
                 "a kind are not enough for a result.",
      .options = study_options,
      .examples = study_examples,
      .run = templates_study },
    { 0 },
};

static const Example examples[] = {
    { "talaria templates harvest", "create templates from successful sessions" },
    { "talaria templates list", "list templates" },
    { "talaria templates inject --type code < messages.json",
      "start a conversation from a template" },
    { 0 },
};

const Command cmd_templates = { .name = "templates",
                                .summary = "reuse successful tool calls in new sessions",
                                .examples = examples,
                                .children = children };
