#include "agent/conversation.h"

static void field_or_null(JsonWriter *w, const char *key, Str s)
{
    json_field_str(w, key, s.n ? s : STR_NONE);
}

static void field_id(JsonWriter *w, const char *key, int64_t id)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)id);
    field_or_null(w, key, id ? str_of(text) : STR_NONE);
}

/* A transcript is named by its agent, a session of Hermes by the folder of its database. */
static void put_continues(JsonWriter *w, const Conversation *c)
{
    bool folder = str_starts(c->continues_home, STR("/"));

    json_key(w, "continues");
    if (!c->continues_id.n) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    json_field_str(w, "session_id", c->continues_id);
    json_field_str(w, "origin", folder ? STR("hermes") : c->continues_home);
    json_field_str(w, "home", folder ? c->continues_home : STR_NONE);
    json_end(w, '}');
}

void conversation_put(JsonWriter *w, const Conversation *c)
{
    json_field_str(w, "id", c->id);
    field_or_null(w, "title", c->title);
    field_or_null(w, "first_words", c->first_words);
    field_or_null(w, "default_runtime", c->default_runtime);
    field_or_null(w, "model", c->model);
    field_or_null(w, "template", c->template);
    field_or_null(w, "parent_id", c->parent_id);
    put_continues(w, c);
    field_or_null(w, "running", c->running);
    json_field_int(w, "messages", c->messages);
    json_field_int(w, "created_ms", c->created_ms);
    json_field_int(w, "updated_ms", c->updated_ms);
    json_field_int(w, "version", c->version);
}

void chat_turn_put(JsonWriter *w, const ChatTurn *t)
{
    field_id(w, "id", t->message_id);
    json_field_int(w, "seq", t->seq);
    json_field_str(w, "role", t->role);
    json_field_str(w, "content", t->content);
    json_key(w, "passages");
    json_put_raw(w, t->passages.n ? t->passages : STR("null"));
    json_field_str(w, "status", t->status);
    field_or_null(w, "runtime", t->runtime);
    field_or_null(w, "run_id", t->run_id);
    field_or_null(w, "model", t->model);
    json_key(w, "usage");
    json_put_raw(w, t->usage_json.n ? t->usage_json : STR("null"));
    json_field_int(w, "created_ms", t->created_ms);
    json_field_int(w, "finished_ms", t->finished_ms);
}

void run_put(JsonWriter *w, const Run *run)
{
    json_field_str(w, "id", run->id);
    json_field_str(w, "conversation_id", run->conversation_id);
    field_id(w, "user_message_id", run->user_message_id);
    field_id(w, "assistant_message_id", run->assistant_message_id);
    json_field_str(w, "runtime", run->runtime);
    json_field_str(w, "state", run->state);
    field_or_null(w, "error_code", run->error_code);
    json_field_int(w, "last_seq", run->last_seq);
    json_field_int(w, "started_ms", run->started_ms);
    json_field_int(w, "ended_ms", run->ended_ms);
}

void attachment_put(JsonWriter *w, const Attachment *x)
{
    json_field_str(w, "id", x->id);
    json_field_str(w, "kind", x->kind);
    field_or_null(w, "name", x->name);
    field_or_null(w, "mime", x->mime);
    field_or_null(w, "runtime", x->runtime);
    field_or_null(w, "run_id", x->run_id);
    field_id(w, "message_id", x->message_id);
    json_field_int(w, "size", x->size);
    json_field_str(w, "sha256", x->sha256);
    json_field_bool(w, "visible", x->visible);
    json_field_int(w, "created_ms", x->created_ms);
}

void caps_put(JsonWriter *w, const Runtime *runtime, const RuntimeCaps *caps)
{
    json_field_str(w, "name", str_of(runtime->name));
    json_field_str(w, "alias", str_of(runtime->alias));
    json_field_str(w, "title", str_of(runtime->title));
    json_field_bool(w, "available", caps->available);
    field_or_null(w, "version", caps->version);
    field_or_null(w, "model", caps->model);
    field_or_null(w, "detail", caps->detail);
    json_field_bool(w, "approvals", caps->approvals);
    json_field_bool(w, "resumes", caps->resumes);
    json_field_bool(w, "tools", caps->tools);
    json_field_bool(w, "streams", caps->streams);
    json_field_int(w, "max_parallel", caps->max_parallel);
}

/* On one line and JSON: then it can stand in the document as it is. */
static bool is_plain_json(Str handle)
{
    AUTO(JsonDoc) *doc = NULL;
    Err err;

    for (size_t i = 0; i < handle.n; i++)
        if (handle.p[i] == '\n' || handle.p[i] == '\r')
            return false;
    doc = json_parse(handle, &err);
    return doc && json_type(json_root(doc)) == JSON_OBJECT;
}

bool continuity_of(Runs *r, Arena *a, Str conversation_id, const Runtime *runtime, Continuity *ret,
                   bool *ret_foreign, Err *err)
{
    Str name = str_of(runtime->alias ? runtime->alias : runtime->name);

    *ret_foreign = false;
    if (!continuity_get(r, a, conversation_id, name, ret, err))
        return false;
    if (!ret->generation || !runtime->owns || runtime->owns(ret->handle))
        return true;
    *ret_foreign = true;
    return continuity_get(r, a, conversation_id, str_of(runtime->name), ret, err);
}

bool agent_state_put(JsonWriter *w, Runs *r, Arena *a, const Conversation *c, Err *err)
{
    const Runtime *active = runtime_find(c->active);
    Continuity *all;
    size_t n;

    if (!continuity_list(r, a, c->id, &all, &n, err))
        return false;
    json_begin(w, '{');
    json_field_int(w, "v", 1);
    field_or_null(w, "active", active && active->alias ? str_of(active->alias) : c->active);
    json_field_begin(w, "runtimes", '{');
    for (size_t i = 0; i < n; i++) {
        json_key_str(w, all[i].runtime);
        if (is_plain_json(all[i].handle))
            json_put_raw(w, all[i].handle);
        else
            json_put_str(w, all[i].handle);
    }
    json_end(w, '}');
    json_end(w, '}');
    return true;
}
