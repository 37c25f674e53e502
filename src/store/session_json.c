/* The shapes of docs/cmd.md; a field that is added here is on every surface at once. */
#include "store/session_json.h"

/* What is not known is not free. */
static void put_cost(JsonWriter *w, double usd)
{
    json_key(w, "cost_usd");
    if (usd > 0)
        json_put_double(w, usd);
    else
        json_put_null(w);
}

void session_put(JsonWriter *w, const Session *s)
{
    json_field_str(w, "id", s->id);
    json_field_str(w, "source", s->source);
    json_field_str(w, "model", s->model);
    json_field_str(w, "title", s->title);
    json_field_str(w, "cwd", s->cwd);
    json_field_double(w, "started_at", s->started_at);
    json_field_double(w, "ended_at", s->ended_at);
    json_field_str(w, "end_reason", s->end_reason);
    json_field_int(w, "messages", s->message_count);
    json_field_int(w, "tool_calls", s->tool_call_count);
    json_field_int(w, "input_tokens", s->input_tokens);
    json_field_int(w, "output_tokens", s->output_tokens);
    json_field_int(w, "cache_read_tokens", s->cache_read_tokens);
    json_field_int(w, "cache_write_tokens", s->cache_write_tokens);
    put_cost(w, s->actual_cost_usd > 0 ? s->actual_cost_usd : s->estimated_cost_usd);
}

void lineage_put(JsonWriter *w, Str home, const Lineage *l)
{
    json_field_str(w, "id", l->tip.id);
    json_field_str(w, "home", home);
    json_field_str(w, "source", l->tip.source);
    json_field_str(w, "model", l->tip.model);
    json_field_str(w, "title", l->title);
    json_field_str(w, "cwd", l->tip.cwd);
    json_field_str(w, "git_branch", l->tip.git_branch);
    json_field_bool(w, "archived", l->tip.archived != 0);
    json_field_double(w, "started_at", l->started_at);
    json_field_double(w, "last_active", l->last_active);
    json_field_int(w, "messages", l->messages);
    json_field_int(w, "tool_calls", l->tool_calls);
    json_field_int(w, "input_tokens", l->input_tokens);
    json_field_int(w, "output_tokens", l->output_tokens);
    json_field_int(w, "cache_read_tokens", l->cache_read_tokens);
    json_field_int(w, "cache_write_tokens", l->cache_write_tokens);
    put_cost(w, l->cost_usd);
}

void lineage_put_parts(JsonWriter *w, const Lineage *l)
{
    json_field_begin(w, "parts", '[');
    for (size_t i = 0; i < l->n_parts; i++) {
        json_begin(w, '{');
        session_put(w, &l->parts[i]);
        json_end(w, '}');
    }
    json_end(w, ']');
}

void message_put(JsonWriter *w, const Message *m, Str text)
{
    json_field_int(w, "id", m->id);
    json_field_str(w, "role", m->role);
    json_field_double(w, "timestamp", m->timestamp);
    json_field_str(w, "content", text);
    json_field_str(w, "tool_name", m->tool_name);
    json_field_str(w, "tool_call_id", m->tool_call_id);
    json_field_bool(w, "active", m->active != 0);
    json_field_bool(w, "compacted", m->compacted != 0);
}

void toolcall_put(JsonWriter *w, const ToolCall *call)
{
    json_field_str(w, "id", call->id);
    json_field_str(w, "name", call->name);
    json_field_str(w, "arguments", call->arguments);
}

void home_put(JsonWriter *w, const HomeFacts *f)
{
    json_field_str(w, "name", f->home->name);
    json_field_str(w, "path", f->home->path);
    json_field_str(w, "database", f->home->database);
    json_field_bool(w, "present", f->home->present);
    json_field_bool(w, "readable", f->readable);
    json_field_str(w, "trouble", f->trouble[0] ? str_of(f->trouble) : STR_NONE);
    if (f->readable) {
        json_field_int(w, "messages", f->messages);
        json_field_bool(w, "messages_are_about", f->messages_are_about);
        json_field_int(w, "bytes", f->bytes);
        json_field_int(w, "schema_version", f->schema_version);
        json_field_str(w, "journal", str_of(f->journal));
    }
}
