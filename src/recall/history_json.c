#include "recall/history_json.h"

#include "base/log.h"
#include "recall/resume.h"
#include "store/session_json.h"

static void put_activity(JsonWriter *w, const HistoryItem *item)
{
    json_key(w, "activity");
    if (!item->has_facts) {
        json_put_null(w);
        return;
    }
    json_begin(w, '[');
    for (size_t i = 0; i < ACTIVITY_BUCKETS; i++)
        json_put_int(w, item->activity[i]);
    json_end(w, ']');
}

static void put_tools(JsonWriter *w, const HistoryItem *item)
{
    Str rest = item->tools, name;

    json_key(w, "tools");
    if (!item->has_facts) {
        json_put_null(w);
        return;
    }
    json_begin(w, '[');
    while (rest.n && str_split(&rest, '\n', &name))
        if (name.n)
            json_put_str(w, name);
    json_end(w, ']');
}

static void put_thread(JsonWriter *w, const HistoryItem *item)
{
    json_key(w, "continues");
    if (item->continues.n) {
        json_begin(w, '{');
        json_field_str(w, "session_id", item->continues);
        json_field_str(w, "origin", item->continues_origin);
        json_end(w, '}');
    } else {
        json_put_null(w);
    }
    json_field_str(w, "continued_in", item->continued_in.n ? item->continued_in : STR_NONE);
    json_field_bool(w, "guest", item->guest);
    json_field_str(w, "parent", history_parent(item));
}

void history_put(JsonWriter *w, Arena *a, const HistoryItem *item)
{
    Str resume = resume_command(a, item);

    lineage_put(w, item->home, &item->lineage);
    json_field_str(w, "origin", str_of(origin_name(item->origin)));
    json_field_bool(w, "own", item->own);
    json_field_str(w, "branch", item->lineage.tip.git_branch);
    json_field_bool(w, "side_chain", item->side_chain);
    json_field_str(w, "resume_command", resume.n ? resume : STR_NONE);
    put_thread(w, item);
    put_activity(w, item);
    put_tools(w, item);
}

void counts_put(JsonWriter *w, const SessionCounts *c)
{
    json_field_int(w, "sessions", c->sessions);
    json_field_int(w, "parts", c->parts);
    json_field_int(w, "sub_agents", c->sub_agents);
    json_field_int(w, "archived", c->archived);
    json_field_int(w, "continued", c->continued);
    json_field_int(w, "continuing", c->continuing);
}

static void sources_put(JsonWriter *w, const HistoryFacts *facts)
{
    json_field_begin(w, "sources", '[');
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        const SourceFacts *s = &facts->sources[i];

        json_begin(w, '{');
        json_field_str(w, "name", str_of(origin_name(s->origin)));
        json_field_str(w, "title", str_of(origin_title(s->origin)));
        json_field_bool(w, "present", s->present);
        json_field_str(w, "folder", s->folder.n ? s->folder : STR_NONE);
        json_field_str(w, "variable", str_of(s->variable));
        counts_put(w, &s->counts);
        json_field_double(w, "newest", s->counts.newest);
        json_end(w, '}');
    }
    json_end(w, ']');
}

void status_put(JsonWriter *w, const Homes *homes, const HomeFacts *facts, size_t n,
                const HistoryFacts *history)
{
    SessionCounts total = history_total(history);

    json_field_str(w, "data", homes->data);
    json_field_begin(w, "homes", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(w, '{');
        home_put(w, &facts[i]);
        if (facts[i].readable) {
            counts_put(w, &history->homes[i]);
            json_field_double(w, "last_activity", history->homes[i].newest);
        }
        json_end(w, '}');
    }
    json_end(w, ']');
    sources_put(w, history);
    json_field_begin(w, "total", '{');
    counts_put(w, &total);
    json_end(w, '}');
    json_field_bool(w, "partial", history->partial);
}
