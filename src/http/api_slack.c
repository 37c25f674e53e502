/* Slack's Events API and its slash commands: how an app without Socket Mode hears. Slack is another
 * server, so it has no token of ours; its signature represents one. What it sends lies in the inbox
 * before Slack is told that it arrived; what comes twice, or is sent again by somebody who has seen
 * it, is there already. A command comes as a form, and lies there as Socket Mode would have brought
 * it. */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "chat/inbox.h"
#include "handoff/wake.h"
#include "http/reply.h"
#include "http/routes.h"
#include "http/slack_form.h"
#include "http/state.h"
#include "platforms/config.h"
#include "platforms/slack/slack.h"

static bool signing_secret(Request *rq, Str *ret, Err *err)
{
    const Homes *homes;
    GatewayConfig all;

    if (!request_homes(rq, &homes, err) ||
        !gateway_config(rq->arena, rq->server->settings, homes, &all, err))
        return false;
    *ret = all.platforms[GATEWAY_SLACK].signing_secret;
    return true;
}

/* True: it is answered, with a refusal. The first is said aloud; more of them would only fill the
 * log. */
static bool refuse(Request *rq, const Err *why)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        log_warning("a request to %.*s was refused: %s", STR_FMT(rq->path), why->text);
    reply_problem_status(rq, 401, NULL, why);
    return true;
}

static void answer_challenge(Request *rq, Str challenge)
{
    JsonWriter w = reply_json(rq);

    json_field_str(&w, "challenge", challenge);
    json_end(&w, '}');
}

static bool keep(Request *rq, Str body, Err *err)
{
    InboxUpdate update = { .json = body };
    AUTO(OwnStore) *journal = NULL;
    const Homes *homes;
    size_t fresh;
    bool wanted;

    if (!slack_name(rq->arena, body, NULL, &update.id, &wanted, err))
        return false;
    if (!wanted)
        return true;
    if (!request_homes(rq, &homes, err))
        return false;
    journal = own_store_open(homes->data, err);
    if (!journal || !inbox_put(journal, STR("slack"), &update, 1, STR_NONE, &fresh, err))
        return false;
    if (fresh)
        wake_call(homes->data);
    return true;
}

/* *ret_refused: it is not from Slack, and is answered. */
static bool check(Request *rq, bool *ret_refused, Err *err)
{
    SlackSigned s = { .timestamp = request_header(rq, "X-Slack-Request-Timestamp"),
                      .signature = request_header(rq, "X-Slack-Signature"),
                      .body = buf_str(&rq->body) };
    Str secret;
    Err why;

    if (!signing_secret(rq, &secret, err))
        return false;
    if (!secret.n)
        return err_set(err, ERR_NOT_FOUND,
                       "slack events are disabled: TALARIA_SLACK_SIGNING_SECRET is not set");
    *ret_refused =
        !slack_verify(rq->arena, secret, &s, (int64_t)clock_wall(), &why) && refuse(rq, &why);
    return true;
}

bool route_slack_events(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = NULL;
    JsonWriter w;
    bool refused;

    if (!check(rq, &refused, err))
        return false;
    if (refused)
        return true;
    doc = request_json(rq, err);
    if (!doc)
        return false;
    if (str_eqz(json_str(json_get(json_root(doc), STR("type"))), "url_verification")) {
        answer_challenge(rq, json_str(json_get(json_root(doc), STR("challenge"))));
        return true;
    }
    if (!keep(rq, buf_str(&rq->body), err))
        return false;
    w = reply_json(rq);
    return reply_end(&w);
}

/* -- slash commands -- */

/* Answered with nothing: what the command says comes as a message. */
bool route_slack_commands(Request *rq, Err *err)
{
    bool refused;
    Str json;

    if (!check(rq, &refused, err))
        return false;
    if (refused)
        return true;
    if (!slack_form_read(rq->arena, buf_str(&rq->body), &json, err) ||
        (json.n && !keep(rq, json, err)))
        return false;
    rq->reply.type = "text/plain";
    return true;
}
