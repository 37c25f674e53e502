/* Templates and the study: the same features as `talaria templates`, in the same shapes. */
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "templates/template_json.h"

bool route_templates(Request *rq, Err *err)
{
    TaskType type = TASK_MIXED;
    const Homes *homes;
    Template *all;
    JsonWriter w;
    Str wanted;
    size_t n;

    if (!query_text(rq->arena, rq->query, "type", &wanted, err))
        return false;
    if (wanted.n && !tasktype_parse(wanted, &type))
        return err_set(err, ERR_USAGE, "parameter 'type' names no type of task");
    if (!request_homes(rq, &homes, err) || !templates_load(rq->arena, homes, &all, &n, err))
        return false;
    w = reply_json(rq);
    json_field_begin(&w, "templates", '[');
    for (size_t i = 0; i < n; i++) {
        if (wanted.n && all[i].type != type)
            continue;
        json_begin(&w, '{');
        template_put_summary(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    return reply_end(&w);
}

bool route_template(Request *rq, Err *err)
{
    const Homes *homes;
    JsonWriter w;
    Template t;

    if (!request_homes(rq, &homes, err) || !template_find(rq->arena, homes, rq->params[0], &t, err))
        return false;
    w = reply_json(rq);
    template_put_shown(&w, &t);
    return reply_end(&w);
}

bool route_template_delete(Request *rq, Err *err)
{
    const Homes *homes;
    JsonWriter w;

    if (!request_homes(rq, &homes, err) ||
        !template_delete(rq->arena, homes, rq->params[0], false, err))
        return false;
    w = reply_json(rq);
    json_field_bool(&w, "dry_run", false);
    json_field_str(&w, "name", rq->params[0]);
    return reply_end(&w);
}

/* -- making one -- */

typedef struct CreateRequest {
    Str session, name, type;
    ExtractOptions options;
    bool force, dry_run;
} CreateRequest;

static bool read_create(Json body, CreateRequest *ret, Err *err)
{
    int64_t examples = (int64_t)EXTRACT_DEFAULTS.max_examples;
    TaskType type;

    ret->options = EXTRACT_DEFAULTS;
    if (!field_str(body, "session", &ret->session, err) ||
        !field_str(body, "name", &ret->name, err) || !field_str(body, "type", &ret->type, err) ||
        !field_int(body, "max_examples", 1, LIMIT_EXAMPLES, &examples, err) ||
        !field_bool(body, "include_failed", &ret->options.include_failed, err) ||
        !field_bool(body, "chain", &ret->options.chain, err) ||
        !field_bool(body, "force", &ret->force, err) ||
        !field_bool(body, "dry_run", &ret->dry_run, err))
        return false;
    ret->options.max_examples = (size_t)examples;
    if (!ret->session.n)
        return err_set(err, ERR_INVALID, "'session' is missing");
    if (ret->type.n && !tasktype_parse(ret->type, &type))
        return err_set(err, ERR_INVALID, "'type' names no type of task");
    return !ret->name.n || template_name_check(ret->name, err);
}

/* A preview says nothing of a name that is taken: the page shows that beside the field itself. */
static bool save(Request *rq, const Homes *homes, const CreateRequest *request, Template *t,
                 Err *err)
{
    if (request->dry_run)
        return true;
    if (request->name.n || request->force)
        return template_save(rq->arena, homes, t, request->force, err);
    return template_save_unnamed(rq->arena, homes, t, err);
}

static void put_made(Request *rq, const Homes *homes, const CreateRequest *request,
                     const Template *t, const Extract *x)
{
    JsonWriter w = reply_json(rq);

    template_put_created(&w, t, x, request->dry_run);
    if (request->dry_run)
        json_field_bool(&w, "exists",
                        request->name.n && template_exists(rq->arena, homes, t->name));
    json_key(&w, "template");
    template_put(&w, t);
    json_end(&w, '}');
}

/* A session of a home, or a transcript of another program. */
static bool extract(Request *rq, const CreateRequest *request, Template *ret, Extract *ret_extract,
                    Err *err)
{
    AUTO(History) *h = request_history(rq, err);

    return h && extract_template(h, rq->arena, request->session, &request->options, ret,
                                 ret_extract, err);
}

bool route_template_create(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    CreateRequest request = { 0 };
    const Homes *homes;
    Template t;
    Extract x;

    if (!doc || !read_create(json_root(doc), &request, err) || !request_homes(rq, &homes, err))
        return false;
    if (!extract(rq, &request, &t, &x, err))
        return err_wrap(err, "cannot make a template from '%.*s'", STR_FMT(request.session));
    if (request.type.n && !tasktype_parse(request.type, &t.type))
        return err_set(err, ERR_INVALID, "'type' names no type of task");
    t.name = request.name.n ? request.name : template_name_default(rq->arena, &t);
    if (!save(rq, homes, &request, &t, err))
        return false;
    rq->reply.status = request.dry_run ? 200 : 201;
    put_made(rq, homes, &request, &t, &x);
    return true;
}

/* -- trying one -- */

/* "a,b" or ["a", "b"]. */
static bool read_tools(Arena *a, Json v, Str *ret, Err *err)
{
    AUTO_BUF list = BUF(KIB(64));
    JsonIter it = json_each(v);
    Str key;
    Json item;

    if (json_type(v) == JSON_NONE || json_type(v) == JSON_NULL)
        return true;
    if (json_type(v) == JSON_STRING) {
        *ret = json_str(v);
        return true;
    }
    while (json_type(v) == JSON_ARRAY && json_next(&it, &key, &item)) {
        if (list.n)
            buf_addc(&list, ',');
        buf_add(&list, json_str(item));
    }
    if (json_type(v) != JSON_ARRAY || buf_full(&list))
        return err_set(err, ERR_INVALID, "'tools' must be a list of names");
    *ret = str_dup(a, buf_str(&list));
    return true;
}

static bool read_inject(Request *rq, Json body, InjectOptions *ret, bool *ret_count, Err *err)
{
    Str format = STR("openai");

    if (!field_str(body, "format", &format, err) ||
        !field_bool(body, "replace", &ret->replace, err) ||
        !field_bool(body, "count", ret_count, err) ||
        !read_tools(rq->arena, json_get(body, STR("tools")), &ret->tools, err))
        return false;
    if (!str_is_one_of(format, "openai|anthropic"))
        return err_set(err, ERR_INVALID, "'format' must be openai or anthropic");
    ret->format = str_eqz(format, "anthropic") ? INJECT_ANTHROPIC : INJECT_OPENAI;
    return inject_check(json_get(body, STR("messages")), err) || err_wrap(err, "'messages'");
}

/* A try on the page is not a use, unless it says so. */
bool route_template_inject(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    AUTO_BUF before = BUF(LIMIT_HTTP_BODY * 2);
    JsonWriter copy = JSON_WRITER(&before, 0), w;
    InjectOptions options = { 0 };
    InjectEffect effect;
    const Homes *homes;
    bool count = false;
    Json messages;
    Template t;

    if (!doc || !read_inject(rq, json_root(doc), &options, &count, err) ||
        !request_homes(rq, &homes, err) || !template_find(rq->arena, homes, rq->params[0], &t, err))
        return false;
    messages = json_get(json_root(doc), STR("messages"));
    effect = inject_effect(messages, &t, &options);
    if (count && inject_changes(effect) && !template_count_use(rq->arena, &t, err))
        return false;
    json_put(&copy, messages);
    w = reply_json(rq);
    inject_put(&w, messages, buf_str(&before), &t, &options, effect);
    json_field_int(&w, "tokens", (int64_t)template_tokens(&t));
    return reply_end(&w);
}

/* -- study -- */

bool route_study(Request *rq, Err *err)
{
    AUTO(History) *h = request_history(rq, err);
    AUTO(Index) *index = NULL;
    Past past = { .history = h };
    const Homes *homes;
    Study study;
    JsonWriter w;

    if (!h || !request_homes(rq, &homes, err) || !request_store(rq, &past.store, err) ||
        !query_text(rq->arena, rq->query, "source", &past.source, err))
        return false;
    index = past.index = index_open(homes->data);
    if (!study_run(&past, &study, err))
        return false;
    w = reply_json(rq);
    study_put(&w, &study);
    return reply_end(&w);
}
