#include "recall/search_json.h"

Str search_origin(const Homes *homes, const Entry *e)
{
    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].kind == HOME_OURS && str_eq(homes->all[i].path, e->home))
            return STR("talaria");
    return str_of(source_name(e->source));
}

static void put_snippet(JsonWriter *w, const SearchHit *hit)
{
    json_field_begin(w, "snippet", '[');
    for (size_t i = 0; i < hit->n_snippet; i++) {
        json_begin(w, '{');
        json_field_str(w, "text", hit->snippet[i].text);
        json_field_bool(w, "hit", hit->snippet[i].hit);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void put_hit(JsonWriter *w, const Homes *homes, const SearchHit *hit)
{
    json_begin(w, '{');
    json_field_str(w, "session", hit->entry.id);
    json_field_str(w, "origin", search_origin(homes, &hit->entry));
    json_field_str(w, "source",
                   hit->entry.home.n && hit->entry.entrypoint.n
                       ? hit->entry.entrypoint
                       : search_origin(homes, &hit->entry));
    json_field_str(w, "title", hit->entry.title);
    json_field_str(w, "project", hit->entry.cwd);
    json_field_str(w, "role", str_of(doc_role_name(hit->at.role)));
    json_field_str(w, "tool", hit->at.tool.n ? hit->at.tool : STR_NONE);
    json_field_double(w, "at", hit->at.at);
    json_field_int(w, "message", hit->at.place);
    json_field_bool(w, "rewound", hit->rewound);
    json_field_bool(w, "guest", hit->at.guest);
    put_snippet(w, hit);
    json_field_double(w, "score", hit->at.score);
    json_end(w, '}');
}

void search_put(JsonWriter *w, const Homes *homes, Str query, const SearchAnswer *answer, Str note)
{
    json_field_str(w, "query", query);
    json_field_begin(w, "hits", '[');
    for (size_t i = 0; i < answer->n; i++)
        put_hit(w, homes, &answer->hits[i]);
    json_end(w, ']');
    json_field_bool(w, "more", answer->more);
    json_field_int(w, "similar", (int64_t)answer->similar);
    json_field_double(w, "took_ms", answer->took_ms);
    json_field_bool(w, "partial", answer->partial);
    json_field_str(w, "note", note.n ? note : STR_NONE);
}
