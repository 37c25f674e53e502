#include "platforms/whoami.h"

#include "net/call.h"
#include "platforms/connection.h"
#include "text/json.h"

enum { CONNECT_MS = 5000, ANSWER_MS = 10000 };

typedef struct Question {
    const char *platform, *title, *public_api, *method;
    const char *path;   /* "%.*s" is the token, if it is part of the path */
    const char *header; /* likewise; NULL: none */
    const char *holder; /* object that has the name; NULL: the answer itself */
    const char *name;
    const char *where; /* to get the token from */
} Question;

static const Question questions[] = {
    { "telegram", "Telegram", "https://api.telegram.org", "GET", "/bot%.*s/getMe", NULL, "result",
      "username", "@BotFather" },
    { "discord", "Discord", "https://discord.com/api/v10", "GET", "/users/@me",
      "Authorization: Bot %.*s", NULL, "username", "the Bot page of discord.com/developers" },
    { "slack", "Slack", "https://slack.com/api", "POST", "/auth.test", "Authorization: Bearer %.*s",
      NULL, "user", "OAuth & Permissions of api.slack.com/apps" },
};

static const Question *question_of(Str platform)
{
    for (size_t i = 0; i < ARRAY_LEN(questions); i++)
        if (str_eqz(platform, questions[i].platform))
            return &questions[i];
    return NULL;
}

/* The only %.*s of a row of the table. */
static const char *with_token(Arena *a, const char *form, Str token)
{
    Str text = str_of(form);
    size_t at = str_find(text, STR("%.*s"));

    if (at == text.n)
        return form;
    return str_z(a, str_printf(a, "%.*s%.*s%.*s", STR_FMT(str_head(text, at)), STR_FMT(token),
                               STR_FMT(str_skip(text, at + 4))));
}

static bool refused(const Question *q, Str why, Err *err)
{
    return err_set(err, ERR_REFUSED, "%s does not accept the token (%.*s); copy it again from %s",
                   q->title, STR_FMT(why), q->where);
}

static bool read_answer(Arena *a, const Question *q, const CallAnswer *answer, Str *ret, Err *err)
{
    AUTO(JsonDoc) *doc = NULL;
    Json root;
    Str why, name;
    Err bad;
    bool ok = true;

    doc = json_parse(answer->body, &bad);
    root = doc ? json_root(doc) : (Json){ 0 };
    why = json_str(json_get(root, STR("description")));
    if (!why.n)
        why = json_str(json_get(root, STR("error")));
    if (!why.n)
        why = json_str(json_get(root, STR("message")));
    (void)json_bool(json_get(root, STR("ok")), &ok);
    if (answer->status == 401 || answer->status == 403 || (doc && !ok) ||
        (answer->status == 404 && doc))
        return refused(q, why.n ? why : str_printf(a, "HTTP %d", answer->status), err);
    name =
        json_str(json_get(q->holder ? json_get(root, str_of(q->holder)) : root, str_of(q->name)));
    if (answer->status != 200 || !name.n)
        return err_set(err, ERR_IO, "%s answered HTTP %d instead of the bot's identity", q->title,
                       answer->status);
    *ret = str_dup(a, name);
    return true;
}

bool platform_whoami(Net *net, Arena *a, Str platform, const PlatformConfig *config, Str *ret_name,
                     Err *err)
{
    const Question *q = question_of(platform);
    const char *headers[] = { "User-Agent: DiscordBot (https://talaria.invalid, " TALARIA_VERSION
                              ")",
                              "Content-Type: application/json", NULL, NULL };
    FetchRequest request = { .headers = headers,
                             .times = { .connect = CONNECT_MS, .total = ANSWER_MS },
                             .secret = true };
    CallAnswer answer;
    Str base;

    if (!q)
        return err_set(err, ERR_NOT_FOUND, "no platform '%.*s'", STR_FMT(platform));
    if (!connection_fits_header(config->token))
        return refused(q, STR("it contains a space or a control character"), err);
    if (!connection_base_url(a, q->platform, config->api_base, q->public_api, &base, err))
        return false;
    request.method = q->method;
    request.url =
        str_z(a, str_printf(a, "%.*s%s", STR_FMT(base), with_token(a, q->path, config->token)));
    if (q->header)
        headers[2] = with_token(a, q->header, config->token);
    if (!call_wait(net, a, &request, &answer, err))
        return false;
    if (answer.end != FETCH_OK)
        return err_set(err, ERR_IO, "%s does not answer at %.*s: %s", q->title, STR_FMT(base),
                       fetch_end_text(answer.end));
    return read_answer(a, q, &answer, ret_name, err);
}
