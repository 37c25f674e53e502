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

void sources_put(JsonWriter *w, const SourceFacts facts[ORIGIN_COUNT])
{
    json_key(w, "sources");
    json_begin(w, '[');
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        const SourceFacts *s = &facts[i];

        json_begin(w, '{');
        json_field_str(w, "name", str_of(origin_name(s->origin)));
        json_field_str(w, "title", str_of(origin_title(s->origin)));
        json_field_bool(w, "present", s->present);
        json_field_str(w, "folder", s->folder.n ? s->folder : STR_NONE);
        json_field_int(w, "sessions", s->sessions);
        json_field_double(w, "newest", s->newest);
        json_end(w, '}');
    }
    json_end(w, ']');
}

void status_put(JsonWriter *w, Arena *a, const Homes *homes, bool files, const HomeFacts *facts,
                size_t n)
{
    SourceFacts sources[ORIGIN_COUNT];
    Err err;

    homes_put(w, homes, facts, n);
    if (!history_sources(a, files, facts, n, sources, &err)) {
        log_warning("without transcripts: %s", err.text);
        if (!history_sources(a, false, facts, n, sources, &err))
            return;
    }
    sources_put(w, sources);
}
