/* api.h - what the handlers of routes.h share with the server. */
#ifndef TALARIA_HTTP_API_H
#define TALARIA_HTTP_API_H

#include "agent/continue.h"
#include "http/state.h"
#include "sleep/night/night.h"
#include "store/own.h"

/* A ScanListener: what the scan says goes to the event streams. ctx is the Server. */
void api_scan_event(void *ctx, const char *event, Str data);

void api_forget_badges(BadgeCache *cache);

/* Brings the search index up to date in the background, unless that is under way. */
void api_index_refresh(Server *s);

/* -- nights: api_sleep_run.c begins them, api_sleep.c shows them -- */

bool api_night_runs(Server *s);
/* "running", "last" and "last_error" of GET /api/sleep. elsewhere: another program has one under
 * way. */
void api_night_put(Server *s, JsonWriter *w, bool elsewhere);
/* Tells every page that nights have changed. */
void api_night_changed(Server *s);
MUST_CHECK bool api_night_options(Server *s, Arena *a, const Homes *homes, NightOptions *ret,
                                  Err *err);
/* Whether another program has a night under way, by the lock that it holds. */
bool api_night_elsewhere(Arena *a, const SleepHome *home);

/* A field of the body's object of the right type; absent or null is fine and leaves *ret alone. */
MUST_CHECK bool field_str(Json object, const char *key, Str *ret, Err *err);
MUST_CHECK bool field_bool(Json object, const char *key, bool *ret, Err *err);
MUST_CHECK bool field_int(Json object, const char *key, int64_t min, int64_t max, int64_t *ret,
                          Err *err);

/* -- conversations, runs and OpenAI's dialect -- */

/* ERR_BUSY with the reason where there is no service. */
MUST_CHECK bool request_service(Request *rq, Service **ret, Err *err);

/* The id in the path may be that of any session. For writing: it is that of the conversation that
 * continues it from here on, which is made where there is none yet. */
MUST_CHECK bool request_continue(Request *rq, Err *err);
/* For reading, which writes nothing. *ret_there: it is the id of a conversation from here on; else
 * *ret is what the session would be as one. */
MUST_CHECK bool request_look_up(Request *rq, bool *ret_there, Preview *ret, Err *err);

/* The chat and handoff tables of talaria.db. */
MUST_CHECK OwnStore *request_own_store(Request *rq, Err *err);

#endif
