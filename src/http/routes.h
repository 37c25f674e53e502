/* routes.h - every route of the server is one row here.
 *
 * The table is the router, /openapi.json and the list in docs/http.md. A pattern's {name} matches
 * one segment; segments are compared before they are decoded. */
#ifndef TALARIA_HTTP_ROUTES_H
#define TALARIA_HTTP_ROUTES_H

#include "base/limits.h"
#include "http/request.h"

enum {
    ROUTE_OPEN = 1,   /* no token */
    ROUTE_WORKER = 2, /* may wait: runs on a worker */
    ROUTE_SLOW = 4,   /* ... and may take seconds: in the lane for such */
    ROUTE_STREAM = 8,
    ROUTE_FORM = 16,   /* its body is a form, not JSON: it must know by itself who sent it */
    ROUTE_SIGNED = 32, /* Slack's signature represents a token */
};

typedef bool RouteFn(Request *rq, Err *err);

#define ACHIEVEMENTS "/api/plugins/hermes-achievements"

/* X(method, pattern, flags, handler, max bytes of the body, "query parameters", "fields of the
 * body", summary) */
#define HTTP_ROUTES(X)                                                                             \
    X(GET, "/healthz", ROUTE_OPEN, route_healthz, 0, "", "", "whether the server is up")           \
    X(GET, "/metrics", 0, route_metrics, 0, "", "", "counters, in Prometheus' text format")        \
    X(GET, "/openapi.json", ROUTE_OPEN, route_openapi, 0, "", "", "this description")              \
    X(POST, "/api/auth", ROUTE_OPEN, route_auth, LIMIT_HTTP_AUTH, "", "token",                     \
      "signs a browser in: a cookie, and the part that the page keeps")                            \
    X(DELETE, "/api/auth", ROUTE_OPEN | ROUTE_WORKER, route_auth_end, LIMIT_HTTP_AUTH, "", "",     \
      "signs every browser out")                                                                   \
    X(GET, "/api/status", ROUTE_WORKER, route_status, 0, "", "", "what was found, and where")      \
    X(GET, "/api/demo", 0, route_demo, 0, "", "",                                                  \
      "whether the sample data is in use, and what to try")                                        \
    X(GET, "/api/events", ROUTE_STREAM, route_events, 0, "", "",                                   \
      "what happens, as it happens (SSE)")                                                         \
    X(GET, "/api/sessions", ROUTE_WORKER, route_sessions, 0,                                       \
      "limit cursor source project model tool since until archived side_chains", "",               \
      "sessions of every source, newest first")                                                    \
    X(GET, "/api/sessions/facets", ROUTE_WORKER, route_facets, 0, "", "",                          \
      "what filters can offer: origins, projects, models, tools")                                  \
    X(GET, "/api/sessions/{id}", ROUTE_WORKER, route_session, 0, "", "", "one session")            \
    X(PATCH, "/api/sessions/{id}", ROUTE_WORKER, route_session_change, LIMIT_HTTP_FIELDS, "",      \
      "title archived",                                                                            \
      "another title for one of Talaria's own sessions, or archived true or false")                \
    X(DELETE, "/api/sessions/{id}", ROUTE_WORKER, route_session_delete, LIMIT_HTTP_FIELDS, "", "", \
      "deletes one of Talaria's own sessions with everything that belongs to it")                  \
    X(GET, "/api/sessions/{id}/messages", ROUTE_WORKER, route_messages, 0, "part after limit all", \
      "", "its transcript, a page at a time")                                                      \
    X(GET, "/api/sessions/{id}/export", ROUTE_WORKER | ROUTE_SLOW, route_export, 0, "as", "",      \
      "the session to save, without secrets: as=jsonl or md")                                      \
    X(GET, "/api/search", ROUTE_WORKER, route_search, 0,                                           \
      "q source role tool project since limit substring", "",                                      \
      "what was said and done, in every session of every source")                                  \
    X(GET, "/api/index", ROUTE_WORKER, route_index, 0, "", "", "how the search index stands")      \
    X(GET, "/api/templates", ROUTE_WORKER, route_templates, 0, "type", "",                         \
      "templates, newest first")                                                                   \
    X(POST, "/api/templates", ROUTE_WORKER, route_template_create, LIMIT_HTTP_FIELDS, "",          \
      "session name type max_examples include_failed force dry_run",                               \
      "a template from a session, or with dry_run what it would be")                               \
    X(GET, "/api/templates/study", ROUTE_WORKER | ROUTE_SLOW, route_study, 0, "source", "",        \
      "share of failing calls by tenth of the session")                                            \
    X(GET, "/api/templates/{name}", ROUTE_WORKER, route_template, 0, "", "", "one template")       \
    X(DELETE, "/api/templates/{name}", ROUTE_WORKER, route_template_delete, LIMIT_HTTP_FIELDS, "", \
      "", "removes a template")                                                                    \
    X(POST, "/api/templates/{name}/inject", ROUTE_WORKER, route_template_inject, LIMIT_HTTP_BODY,  \
      "", "messages format tools replace count", "the messages with the template put in")          \
    X(GET, "/api/sleep", ROUTE_WORKER, route_sleep, 0, "", "",                                     \
      "nights, newest first, the one that runs, and what is scheduled")                            \
    X(GET, "/api/sleep/worth", ROUTE_WORKER | ROUTE_SLOW, route_sleep_worth, 0, "backend", "",     \
      "what a night would cost at most, and what it could find out")                               \
    X(POST, "/api/sleep/run", ROUTE_WORKER, route_sleep_run, LIMIT_HTTP_FIELDS, "",                \
      "backend dry_run", "begins a night; what it does is told by the event 'sleep'")              \
    X(POST, "/api/sleep/undo", ROUTE_WORKER | ROUTE_SLOW, route_sleep_undo, LIMIT_HTTP_FIELDS, "", \
      "night", "takes back what was adopted of a night, or last")                                  \
    X(GET, "/api/sleep/nights/{name}", ROUTE_WORKER, route_sleep_night, 0, "", "",                 \
      "one night: diff, edits, scores, answers")                                                   \
    X(POST, "/api/sleep/nights/{name}/adopt", ROUTE_WORKER | ROUTE_SLOW, route_sleep_adopt,        \
      LIMIT_HTTP_FIELDS, "", "skills all", "puts proposals in place")                              \
    X(POST, "/api/sleep/nights/{name}/reject", ROUTE_WORKER | ROUTE_SLOW, route_sleep_reject,      \
      LIMIT_HTTP_FIELDS, "", "reason",                                                             \
      "turns the proposal down: its edits are not proposed again")                                 \
    X(GET, "/api/conversations", ROUTE_WORKER, route_conversations, 0, "limit cursor", "",         \
      "conversations, newest first")                                                               \
    X(POST, "/api/conversations", ROUTE_WORKER, route_conversation_create, LIMIT_HTTP_BODY, "",    \
      "title runtime model template agent_state", "a new conversation")                            \
    X(GET, "/api/conversations/{id}", ROUTE_WORKER, route_conversation, 0, "", "",                 \
      "one conversation, with agent_state: what each runtime goes on from")                        \
    X(PATCH, "/api/conversations/{id}", ROUTE_WORKER, route_conversation_change,                   \
      LIMIT_HTTP_FIELDS, "", "title runtime model version", "another title, runtime or model")     \
    X(DELETE, "/api/conversations/{id}", ROUTE_WORKER, route_conversation_delete,                  \
      LIMIT_HTTP_FIELDS, "", "", "removes a conversation with all that belongs to it")             \
    X(GET, "/api/conversations/{id}/messages", ROUTE_WORKER, route_conversation_messages, 0,       \
      "after limit", "", "its messages, oldest first")                                             \
    X(POST, "/api/conversations/{id}/chat", ROUTE_WORKER | ROUTE_STREAM, route_chat,               \
      LIMIT_HTTP_BODY, "", "text runtime model files deadline_ms refresh",                         \
      "a turn: its events, as they happen (SSE)")                                                  \
    X(POST, "/api/conversations/{id}/branch", ROUTE_WORKER, route_conversation_branch,             \
      LIMIT_HTTP_FIELDS, "", "through", "a new conversation with the messages up to one")          \
    X(POST, "/api/conversations/{id}/files", ROUTE_WORKER, route_file_add, LIMIT_HTTP_BODY, "",    \
      "name mime data", "a file for the next message; data is base64")                             \
    X(GET, "/api/conversations/{id}/attachments", ROUTE_WORKER, route_attachments, 0, "run", "",   \
      "files, receipts, traces")                                                                   \
    X(GET, "/api/attachments/{id}", ROUTE_WORKER, route_attachment, 0, "", "", "its bytes")        \
    X(GET, "/api/runs/{id}", ROUTE_WORKER, route_run, 0, "", "", "how a run stands")               \
    X(GET, "/api/runs/{id}/events", ROUTE_WORKER | ROUTE_STREAM, route_run_events, 0, "after", "", \
      "the events of a run, from any place on (SSE)")                                              \
    X(POST, "/api/runs/{id}/cancel", ROUTE_WORKER, route_run_cancel, LIMIT_HTTP_FIELDS, "", "",    \
      "ends a run")                                                                                \
    X(POST, "/api/runs/{id}/approval", ROUTE_WORKER, route_run_approval, LIMIT_HTTP_FIELDS, "",    \
      "id choice", "an answer to what a runtime asks")                                             \
    X(GET, "/api/handoffs", ROUTE_WORKER, route_handoffs, 0, "limit", "",                          \
      "the journal of handoffs, newest first, each with its steps")                                \
    X(POST, "/api/handoffs", ROUTE_WORKER, route_handoff_ask, LIMIT_HTTP_FIELDS, "",               \
      "session_id platform target no_turn", "hands a session over")                                \
    X(POST, "/api/handoffs/{id}/cancel", ROUTE_WORKER, route_handoff_cancel, LIMIT_HTTP_FIELDS,    \
      "", "", "leaves one that is on its way")                                                     \
    X(POST, "/api/handoffs/{id}/retry", ROUTE_WORKER, route_handoff_retry, LIMIT_HTTP_FIELDS, "",  \
      "", "asks again for one that failed")                                                        \
    X(POST, "/api/sessions/{id}/back", ROUTE_WORKER, route_session_back, LIMIT_HTTP_FIELDS, "",    \
      "", "a session that was handed over is the terminal's again")                                \
    X(GET, "/api/platforms", ROUTE_WORKER, route_platforms, 0, "", "",                             \
      "chat platforms: line, lag, queue, last error, home channel")                                \
    X(GET, "/api/outbox/dead", ROUTE_WORKER, route_outbox_dead, 0, "limit", "",                    \
      "words that could not be delivered")                                                         \
    X(POST, "/api/outbox/{id}/retry", ROUTE_WORKER, route_outbox_retry, LIMIT_HTTP_FIELDS, "", "", \
      "tries again")                                                                               \
    X(GET, "/api/inbox/parked", ROUTE_WORKER, route_inbox_parked, 0, "limit", "",                  \
      "messages that no turn could be made of")                                                    \
    X(POST, "/api/inbox/{seq}/retry", ROUTE_WORKER, route_inbox_retry, LIMIT_HTTP_FIELDS, "", "",  \
      "tries again")                                                                               \
    X(GET, "/api/local/channels", ROUTE_WORKER, route_local_channels, 0, "", "",                   \
      "channels of the local chat")                                                                \
    X(GET, "/api/local/threads", ROUTE_WORKER, route_local_threads, 0, "channel limit", "",        \
      "threads of the local chat, where something was said last first")                            \
    X(GET, "/api/local/messages", ROUTE_WORKER, route_local_messages, 0,                           \
      "channel thread after before since limit", "", "what was said there, oldest first")          \
    X(POST, "/api/local/messages", ROUTE_WORKER, route_local_say, LIMIT_UPDATE_BYTES, "",          \
      "channel thread text", "says something there")                                               \
    X(GET, "/api/runtimes", ROUTE_WORKER | ROUTE_SLOW, route_runtimes, 0, "", "",                  \
      "runtimes, and whether they are there")                                                      \
    X(POST, "/v1/chat/completions", ROUTE_WORKER, route_openai_chat, LIMIT_HTTP_BODY, "",          \
      "model messages stream stream_options max_tokens max_completion_tokens",                     \
      "a turn, as OpenAI's API has it")                                                            \
    X(GET, "/v1/models", ROUTE_WORKER | ROUTE_SLOW, route_openai_models, 0, "", "",                \
      "runtimes, as OpenAI's API lists models")                                                    \
    X(GET, "/v1/models/{id}", ROUTE_WORKER | ROUTE_SLOW, route_openai_model, 0, "", "",            \
      "one of them")                                                                               \
    X(POST, "/api/slack/events", ROUTE_OPEN | ROUTE_WORKER | ROUTE_SIGNED, route_slack_events,     \
      LIMIT_UPDATE_BYTES, "", "type event", "what Slack's Events API sends, by its signature")     \
    X(POST, "/api/slack/commands", ROUTE_OPEN | ROUTE_WORKER | ROUTE_FORM | ROUTE_SIGNED,          \
      route_slack_commands, LIMIT_UPDATE_BYTES, "",                                                \
      "command text channel_id user_id team_id trigger_id",                                        \
      "a slash command, as Slack sends it, by its signature")                                      \
    X(GET, "/api/achievements", ROUTE_WORKER, route_all_badges, 0, "source", "",                   \
      "badges and progress over every source, and what was counted")                               \
    X(GET, "/api/achievements/recent", ROUTE_WORKER, route_all_recent, 0, "source", "",            \
      "the latest unlocked badges")                                                                \
    X(GET, "/api/achievements/scan-status", 0, route_scan_status, 0, "", "", "state of the scan")  \
    X(GET, "/api/achievements/sessions/{session_id}/badges", ROUTE_WORKER, route_badges, 0, "",    \
      "", "the badges of one session by itself")                                                   \
    X(POST, "/api/achievements/rescan", ROUTE_WORKER | ROUTE_SLOW, route_rescan,                   \
      LIMIT_HTTP_FIELDS, "", "", "scans, and gives the whole result")                              \
    X(POST, "/api/achievements/reset", ROUTE_WORKER | ROUTE_SLOW, route_reset, LIMIT_HTTP_FIELDS,  \
      "", "", "forgets every unlock; the next scan awards them again from the history")            \
    X(GET, ACHIEVEMENTS "/achievements", 0, route_achievements, 0, "", "", "badges and progress")  \
    X(GET, ACHIEVEMENTS "/scan-status", 0, route_scan_status, 0, "", "", "how the scan stands")    \
    X(GET, ACHIEVEMENTS "/recent-unlocks", ROUTE_WORKER, route_recent, 0, "", "",                  \
      "the latest unlocked badges")                                                                \
    X(GET, ACHIEVEMENTS "/sessions/{session_id}/badges", ROUTE_WORKER, route_badges, 0, "", "",    \
      "the badges of one session by itself")                                                       \
    X(POST, ACHIEVEMENTS "/rescan", ROUTE_WORKER | ROUTE_SLOW, route_rescan, LIMIT_HTTP_FIELDS,    \
      "", "", "scans, and gives the whole snapshot")                                               \
    X(POST, ACHIEVEMENTS "/reset-state", ROUTE_WORKER | ROUTE_SLOW, route_reset,                   \
      LIMIT_HTTP_FIELDS, "", "", "forgets unlocks, snapshot and checkpoint")                       \
    X(GET, ACHIEVEMENTS "/manifest.json", 0, route_manifest, 0, "", "", "the plugin's manifest")

struct Route {
    HttpMethod method;
    const char *pattern;
    unsigned flags;
    RouteFn *handler;
    size_t body; /* most bytes of it */
    const char *query, *fields, *summary;
};

#define X(method, pattern, flags, handler, body, query, fields, summary) RouteFn handler;
HTTP_ROUTES(X)
#undef X

/* The row for this method and path, its parameters raw; NULL: none. Where only other methods have
 * the path, ret_allow says which ("GET, HEAD"); else it is empty. */
const Route *route_find(HttpMethod method, Str path, Str params[2], Buf *ret_allow);

const char *route_body_type(const Route *r); /* what its body must be */

/* The OpenAPI 3.1 document of the table. */
void routes_openapi(JsonWriter *w, const char *version);

#endif
