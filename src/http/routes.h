/* routes.h - every route of the server is one row here.
 *
 * The table is the router, /openapi.json and the list in docs/http.md. A pattern's {name} matches
 * one segment; segments are compared before they are decoded. */
#ifndef TALARIA_HTTP_ROUTES_H
#define TALARIA_HTTP_ROUTES_H

#include "http/request.h"

enum {
    ROUTE_OPEN = 1,   /* no token */
    ROUTE_WORKER = 2, /* may wait: runs on a worker */
    ROUTE_SLOW = 4,   /* ... and may take seconds: in the lane for such */
    ROUTE_STREAM = 8,
    ROUTE_FORM = 16, /* its body is a form, not JSON: it must know by itself who sent it */
};

typedef bool RouteFn(Request *rq, Err *err);

#define ACHIEVEMENTS "/api/plugins/hermes-achievements"

/* X(method, pattern, flags, handler, "query parameters", "fields of the body", summary) */
#define HTTP_ROUTES(X)                                                                             \
    X(GET, "/healthz", ROUTE_OPEN, route_healthz, "", "", "whether the server is up")              \
    X(GET, "/metrics", 0, route_metrics, "", "", "counters, in Prometheus' text format")           \
    X(GET, "/openapi.json", ROUTE_OPEN, route_openapi, "", "", "this description")                 \
    X(POST, "/api/auth", ROUTE_OPEN, route_auth, "", "token", "the token for a cookie")            \
    X(DELETE, "/api/auth", ROUTE_OPEN, route_auth_end, "", "", "takes the cookie back")            \
    X(GET, "/api/status", ROUTE_WORKER, route_status, "", "", "what was found, and where")         \
    X(GET, "/api/demo", 0, route_demo, "", "",                                                     \
      "whether the sample data is in use, and what to try")                                        \
    X(GET, "/api/events", ROUTE_STREAM, route_events, "", "", "what happens, as it happens (SSE)") \
    X(GET, "/api/sessions", ROUTE_WORKER, route_sessions,                                          \
      "limit cursor source project model tool since until archived side_chains", "",               \
      "sessions of every source, newest first")                                                    \
    X(GET, "/api/sessions/facets", ROUTE_WORKER, route_facets, "", "",                             \
      "what filters can offer: origins, projects, models, tools")                                  \
    X(GET, "/api/sessions/{id}", ROUTE_WORKER, route_session, "", "", "one session")               \
    X(PATCH, "/api/sessions/{id}", ROUTE_WORKER, route_session_change, "", "title archived",       \
      "another title for one of Talaria's own sessions, or archived true or false")                \
    X(DELETE, "/api/sessions/{id}", ROUTE_WORKER, route_session_delete, "", "",                    \
      "deletes one of Talaria's own sessions with everything that belongs to it")                  \
    X(GET, "/api/sessions/{id}/messages", ROUTE_WORKER, route_messages, "part after limit all",    \
      "", "its transcript, a page at a time")                                                      \
    X(GET, "/api/sessions/{id}/export", ROUTE_WORKER | ROUTE_SLOW, route_export, "as", "",         \
      "the session to save, without secrets: as=jsonl or md")                                      \
    X(GET, "/api/search", ROUTE_WORKER, route_search,                                              \
      "q source role tool project since limit substring", "",                                      \
      "what was said and done, in every session of every source")                                  \
    X(GET, "/api/index", ROUTE_WORKER, route_index, "", "", "how the search index stands")         \
    X(GET, "/api/templates", ROUTE_WORKER, route_templates, "type", "", "templates, newest first") \
    X(POST, "/api/templates", ROUTE_WORKER, route_template_create, "",                             \
      "session name type max_examples include_failed force dry_run",                               \
      "a template from a session, or with dry_run what it would be")                               \
    X(GET, "/api/templates/study", ROUTE_WORKER | ROUTE_SLOW, route_study, "source", "",           \
      "share of failing calls by tenth of the session")                                            \
    X(GET, "/api/templates/{name}", ROUTE_WORKER, route_template, "", "", "one template")          \
    X(DELETE, "/api/templates/{name}", ROUTE_WORKER, route_template_delete, "", "",                \
      "removes a template")                                                                        \
    X(POST, "/api/templates/{name}/inject", ROUTE_WORKER, route_template_inject, "",               \
      "messages format tools replace count", "the messages with the template put in")              \
    X(GET, "/api/sleep", ROUTE_WORKER, route_sleep, "", "",                                        \
      "nights, newest first, the one that runs, and what is scheduled")                            \
    X(GET, "/api/sleep/worth", ROUTE_WORKER | ROUTE_SLOW, route_sleep_worth, "backend", "",        \
      "what a night would cost at most, and what it could find out")                               \
    X(POST, "/api/sleep/run", ROUTE_WORKER, route_sleep_run, "", "backend dry_run",                \
      "begins a night; what it does is told by the event 'sleep'")                                 \
    X(POST, "/api/sleep/undo", ROUTE_WORKER | ROUTE_SLOW, route_sleep_undo, "", "night",           \
      "takes back what was adopted of a night, or last")                                           \
    X(GET, "/api/sleep/nights/{name}", ROUTE_WORKER, route_sleep_night, "", "",                    \
      "one night: diff, edits, scores, answers")                                                   \
    X(POST, "/api/sleep/nights/{name}/adopt", ROUTE_WORKER | ROUTE_SLOW, route_sleep_adopt, "",    \
      "skills all", "puts proposals in place")                                                     \
    X(POST, "/api/sleep/nights/{name}/reject", ROUTE_WORKER | ROUTE_SLOW, route_sleep_reject, "",  \
      "reason", "turns the proposal down: its edits are not proposed again")                       \
    X(GET, "/api/conversations", ROUTE_WORKER, route_conversations, "limit cursor", "",            \
      "conversations, newest first")                                                               \
    X(POST, "/api/conversations", ROUTE_WORKER, route_conversation_create, "",                     \
      "title runtime model template agent_state", "a new conversation")                            \
    X(GET, "/api/conversations/{id}", ROUTE_WORKER, route_conversation, "", "",                    \
      "one conversation, with agent_state: what each runtime goes on from")                        \
    X(PATCH, "/api/conversations/{id}", ROUTE_WORKER, route_conversation_change, "",               \
      "title runtime model version", "another title, runtime or model")                            \
    X(DELETE, "/api/conversations/{id}", ROUTE_WORKER, route_conversation_delete, "", "",          \
      "removes a conversation with all that belongs to it")                                        \
    X(GET, "/api/conversations/{id}/messages", ROUTE_WORKER, route_conversation_messages,          \
      "after limit", "", "its messages, oldest first")                                             \
    X(POST, "/api/conversations/{id}/chat", ROUTE_WORKER | ROUTE_STREAM, route_chat, "",           \
      "text runtime model files deadline_ms refresh", "a turn: its events, as they happen (SSE)")  \
    X(POST, "/api/conversations/{id}/branch", ROUTE_WORKER, route_conversation_branch, "",         \
      "through", "a new conversation with the messages up to one")                                 \
    X(POST, "/api/conversations/{id}/files", ROUTE_WORKER, route_file_add, "", "name mime data",   \
      "a file for the next message; data is base64")                                               \
    X(GET, "/api/conversations/{id}/attachments", ROUTE_WORKER, route_attachments, "run", "",      \
      "files, receipts, traces")                                                                   \
    X(GET, "/api/attachments/{id}", ROUTE_WORKER, route_attachment, "", "", "its bytes")           \
    X(GET, "/api/runs/{id}", ROUTE_WORKER, route_run, "", "", "how a run stands")                  \
    X(GET, "/api/runs/{id}/events", ROUTE_WORKER | ROUTE_STREAM, route_run_events, "after", "",    \
      "the events of a run, from any place on (SSE)")                                              \
    X(POST, "/api/runs/{id}/cancel", ROUTE_WORKER, route_run_cancel, "", "", "ends a run")         \
    X(POST, "/api/runs/{id}/approval", ROUTE_WORKER, route_run_approval, "", "id choice",          \
      "an answer to what a runtime asks")                                                          \
    X(GET, "/api/handoffs", ROUTE_WORKER, route_handoffs, "limit", "",                             \
      "the journal of handoffs, newest first, each with its steps")                                \
    X(POST, "/api/handoffs", ROUTE_WORKER, route_handoff_ask, "",                                  \
      "session_id platform target no_turn", "hands a session over")                                \
    X(POST, "/api/handoffs/{id}/cancel", ROUTE_WORKER, route_handoff_cancel, "", "",               \
      "leaves one that is on its way")                                                             \
    X(POST, "/api/handoffs/{id}/retry", ROUTE_WORKER, route_handoff_retry, "", "",                 \
      "asks again for one that failed")                                                            \
    X(POST, "/api/sessions/{id}/back", ROUTE_WORKER, route_session_back, "", "",                   \
      "a session that was handed over is the terminal's again")                                    \
    X(GET, "/api/platforms", ROUTE_WORKER, route_platforms, "", "",                                \
      "chat platforms: line, lag, queue, last error, home channel")                                \
    X(GET, "/api/outbox/dead", ROUTE_WORKER, route_outbox_dead, "limit", "",                       \
      "words that could not be delivered")                                                         \
    X(POST, "/api/outbox/{id}/retry", ROUTE_WORKER, route_outbox_retry, "", "", "tries again")     \
    X(GET, "/api/inbox/parked", ROUTE_WORKER, route_inbox_parked, "limit", "",                     \
      "messages that no turn could be made of")                                                    \
    X(POST, "/api/inbox/{seq}/retry", ROUTE_WORKER, route_inbox_retry, "", "", "tries again")      \
    X(GET, "/api/local/channels", ROUTE_WORKER, route_local_channels, "", "",                      \
      "channels of the local chat")                                                                \
    X(GET, "/api/local/threads", ROUTE_WORKER, route_local_threads, "channel limit", "",           \
      "threads of the local chat, where something was said last first")                            \
    X(GET, "/api/local/messages", ROUTE_WORKER, route_local_messages,                              \
      "channel thread after before since limit", "", "what was said there, oldest first")          \
    X(POST, "/api/local/messages", ROUTE_WORKER, route_local_say, "", "channel thread text",       \
      "says something there")                                                                      \
    X(GET, "/api/runtimes", ROUTE_WORKER | ROUTE_SLOW, route_runtimes, "", "",                     \
      "runtimes, and whether they are there")                                                      \
    X(POST, "/v1/chat/completions", ROUTE_WORKER, route_openai_chat, "",                           \
      "model messages stream stream_options max_tokens", "a turn, as OpenAI's API has it")         \
    X(GET, "/v1/models", ROUTE_WORKER, route_openai_models, "", "",                                \
      "runtimes, as OpenAI's API lists models")                                                    \
    X(POST, "/api/slack/events", ROUTE_OPEN | ROUTE_WORKER, route_slack_events, "", "type event",  \
      "what Slack's Events API sends, by its signature")                                           \
    X(POST, "/api/slack/commands", ROUTE_OPEN | ROUTE_WORKER | ROUTE_FORM, route_slack_commands,   \
      "", "command text channel_id user_id team_id trigger_id",                                    \
      "a slash command, as Slack sends it, by its signature")                                      \
    X(GET, "/api/achievements", ROUTE_WORKER, route_all_badges, "source", "",                      \
      "badges and progress over every source, and what was counted")                               \
    X(GET, "/api/achievements/recent", ROUTE_WORKER, route_all_recent, "source", "",               \
      "the latest unlocked badges")                                                                \
    X(GET, "/api/achievements/scan-status", 0, route_all_status, "", "", "state of the scan")      \
    X(GET, "/api/achievements/sessions/{session_id}/badges", ROUTE_WORKER, route_all_session, "",  \
      "", "the badges of one session by itself")                                                   \
    X(POST, "/api/achievements/rescan", ROUTE_WORKER | ROUTE_SLOW, route_all_rescan, "", "",       \
      "scans, and gives the whole result")                                                         \
    X(POST, "/api/achievements/reset", ROUTE_WORKER | ROUTE_SLOW, route_all_reset, "", "",         \
      "forgets every unlock; the next scan awards them again from the history")                    \
    X(GET, ACHIEVEMENTS "/achievements", 0, route_achievements, "", "", "badges and progress")     \
    X(GET, ACHIEVEMENTS "/scan-status", 0, route_scan_status, "", "", "how the scan stands")       \
    X(GET, ACHIEVEMENTS "/recent-unlocks", ROUTE_WORKER, route_recent, "", "",                     \
      "the latest unlocked badges")                                                                \
    X(GET, ACHIEVEMENTS "/sessions/{session_id}/badges", ROUTE_WORKER, route_badges, "", "",       \
      "the badges of one session by itself")                                                       \
    X(POST, ACHIEVEMENTS "/rescan", ROUTE_WORKER | ROUTE_SLOW, route_rescan, "", "",               \
      "scans, and gives the whole snapshot")                                                       \
    X(POST, ACHIEVEMENTS "/reset-state", ROUTE_WORKER | ROUTE_SLOW, route_reset, "", "",           \
      "forgets unlocks, snapshot and checkpoint")                                                  \
    X(GET, ACHIEVEMENTS "/manifest.json", 0, route_manifest, "", "", "the plugin's manifest")

struct Route {
    HttpMethod method;
    const char *pattern;
    unsigned flags;
    RouteFn *handler;
    const char *query, *fields, *summary;
};

#define X(method, pattern, flags, handler, query, fields, summary) RouteFn handler;
HTTP_ROUTES(X)
#undef X

/* The row for this method and path, its parameters raw; NULL: none. Where only other methods have
 * the path, ret_allow says which ("GET, HEAD"); else it is empty. */
const Route *route_find(HttpMethod method, Str path, Str params[2], Buf *ret_allow);

const char *route_body_type(const Route *r); /* what its body must be */

/* The OpenAPI 3.1 document of the table. */
void routes_openapi(JsonWriter *w, const char *version);

#endif
