/* The order of rows decides: "/api/templates/study" stands before "/api/templates/{name}". */
#include "http/routes.h"

#include "text/json.h"

static const Route routes[] = {
#define X(method, pattern, flags, handler, body, query, fields, summary)                           \
    { HTTP_##method, pattern, flags, handler, body, query, fields, summary },
    HTTP_ROUTES(X)
#undef X
};

static const char *method_name(HttpMethod m)
{
    static const char *const names[] = { "get", "head", "post", "delete", "patch", "" };

    return names[m];
}

/* -- matching -- */

static bool matches(const char *pattern, Str path, Str params[2])
{
    Str rest = str_of(pattern), want, have;
    size_t n = 0;

    while (str_split(&rest, '/', &want)) {
        if (!str_split(&path, '/', &have))
            return false;
        if (want.n && want.p[0] == '{') {
            if (!have.n || n == 2)
                return false;
            params[n++] = have;
        } else if (!str_eq(want, have)) {
            return false;
        }
    }
    return !path.p;
}

const char *route_body_type(const Route *r)
{
    return r->flags & ROUTE_FORM ? "application/x-www-form-urlencoded" : "application/json";
}

const Route *route_find(HttpMethod method, Str path, Str params[2], Buf *ret_allow)
{
    HttpMethod as = method == HTTP_HEAD ? HTTP_GET : method;

    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        static const char *const allow[] = { "GET, HEAD", "", "POST", "DELETE", "PATCH", "" };

        if (!matches(routes[i].pattern, path, params))
            continue;
        if (routes[i].method == as)
            return &routes[i];
        if (ret_allow->n)
            buf_addz(ret_allow, ", ");
        buf_addz(ret_allow, allow[routes[i].method]);
    }
    return NULL;
}

/* -- OpenAPI -- */

static void put_parameter(JsonWriter *w, Str name, const char *in)
{
    json_begin(w, '{');
    json_field_str(w, "name", name);
    json_field_str(w, "in", str_of(in));
    json_field_bool(w, "required", strcmp(in, "path") == 0);
    json_key(w, "schema");
    json_put_raw(w, STR("{\"type\":\"string\"}"));
    json_end(w, '}');
}

static void put_parameters(JsonWriter *w, const Route *r)
{
    Str rest = str_of(r->pattern), part;

    json_field_begin(w, "parameters", '[');
    while (str_split(&rest, '/', &part))
        if (part.n > 2 && part.p[0] == '{')
            put_parameter(w, (Str){ part.p + 1, part.n - 2 }, "path");
    rest = str_of(r->query);
    while (rest.n && str_split(&rest, ' ', &part))
        put_parameter(w, part, "query");
    json_end(w, ']');
}

static void put_body(JsonWriter *w, const Route *r)
{
    Str rest = str_of(r->fields), field;

    if (!rest.n)
        return;
    json_key(w, "requestBody");
    json_put_raw(w, STR("{\"required\":true,\"content\":{"));
    buf_addf(w->out, "\"%s\":{\"schema\":{\"type\":\"object\",\"properties\":{",
             route_body_type(r));
    for (bool first = true; str_split(&rest, ' ', &field); first = false)
        buf_addf(w->out, "%s\"%.*s\":{}", first ? "" : ",", STR_FMT(field));
    buf_addz(w->out, "}}}}}");
}

static void put_answers(JsonWriter *w, const Route *r)
{
    const char *type = r->flags & ROUTE_STREAM       ? "text/event-stream"
                       : r->handler == route_metrics ? "text/plain"
                                                     : "application/json";

    json_field_begin(w, "responses", '{');
    json_field_begin(w, "200", '{');
    json_field_str(w, "description", str_of(r->summary));
    json_field_begin(w, "content", '{');
    json_key(w, type);
    json_put_raw(w, STR("{}"));
    json_end(w, '}');
    json_end(w, '}');
    json_key(w, "default");
    json_put_raw(w, STR("{\"$ref\":\"#/components/responses/Problem\"}"));
    json_end(w, '}');
}

static void put_operation(JsonWriter *w, const Route *r)
{
    json_field_begin(w, method_name(r->method), '{');
    json_field_str(w, "summary", str_of(r->summary));
    if (r->flags & ROUTE_OPEN) {
        json_key(w, "security");
        json_put_raw(w, STR("[]"));
    }
    put_parameters(w, r);
    put_body(w, r);
    put_answers(w, r);
    json_end(w, '}');
}

static bool seen_before(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(routes[k].pattern, routes[i].pattern) == 0)
            return true;
    return false;
}

static void put_paths(JsonWriter *w)
{
    json_field_begin(w, "paths", '{');
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (seen_before(i))
            continue;
        json_field_begin(w, routes[i].pattern, '{');
        for (size_t k = i; k < ARRAY_LEN(routes); k++)
            if (strcmp(routes[k].pattern, routes[i].pattern) == 0)
                put_operation(w, &routes[k]);
        json_end(w, '}');
    }
    json_end(w, '}');
}

void routes_openapi(JsonWriter *w, const char *version)
{
    static const Str components = STR_INIT(
        "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"cookie\":"
        "{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"talaria\"},\"page\":"
        "{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Talaria-Page\"}},\"responses\":{"
        "\"Problem\":"
        "{\"description\":\"why not\",\"content\":{\"application/problem+json\":{\"schema\":"
        "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"title\":"
        "{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
        "\"kind\":{\"type\":\"string\"}}}}}}}}");

    json_begin(w, '{');
    json_field_str(w, "openapi", STR("3.1.0"));
    json_field_begin(w, "info", '{');
    json_field_str(w, "title", STR("Talaria"));
    json_field_str(w, "version", str_of(version));
    json_end(w, '}');
    json_key(w, "security");
    json_put_raw(w, STR("[{\"token\":[]},{\"cookie\":[],\"page\":[]}]"));
    put_paths(w);
    json_key(w, "components");
    json_put_raw(w, components);
    json_end(w, '}');
}
