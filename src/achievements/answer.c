#include "achievements/answer.h"

static void put_or_null(JsonWriter *w, const char *key, int64_t n, bool known)
{
    if (known)
        json_field_int(w, key, n);
    else
        json_field_null(w, key);
}

void answer_put_status(JsonWriter *w, const Answer *a)
{
    static const char *const names[] = {
        [SCAN_IDLE] = "idle", [SCAN_RUNNING] = "running", [SCAN_FAILED] = "failed"
    };
    const ScanStatus *s = a->status;
    int64_t made = a->current ? a->current->generated_at : 0;

    json_begin(w, '{');
    json_field_str(w, "state", str_of(names[s->state]));
    put_or_null(w, "started_at", s->started_at, s->started_at);
    put_or_null(w, "finished_at", s->finished_at, s->finished_at);
    json_field_str(w, "last_error", s->last_error[0] ? str_of(s->last_error) : STR_NONE);
    put_or_null(w, "last_duration_ms", s->last_duration_ms, s->finished_at);
    json_field_int(w, "run_count", (int64_t)s->run_count);
    json_field_int(w, "joined", (int64_t)s->joined);
    json_field_int(w, "sessions_done", (int64_t)s->sessions_done);
    json_field_int(w, "sessions_total", (int64_t)s->sessions_total);
    json_field_int(w, "ttl_seconds", a->ttl);
    json_field_int(w, "snapshot_generated_at", made);
    json_field_int(w, "snapshot_age_seconds", made ? a->now - made : 0);
    json_field_bool(w, "snapshot_stale", a->stale);
    json_end(w, '}');
}

void answer_put_sources(JsonWriter *w, const Snapshot *s)
{
    json_key(w, "sources");
    json_begin(w, '{');
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        json_field_int(w, origin_name((Origin)i), s->sources[i]);
    json_end(w, '}');
}

static void put_meta(JsonWriter *w, const Answer *a)
{
    const ScanMeta *m = &a->shown->meta;

    json_key(w, "scan_meta");
    json_begin(w, '{');
    json_field_str(w, "mode", str_of(scan_mode_name(m->mode)));
    json_field_int(w, "sessions_total", m->sessions_total);
    json_field_int(w, "sessions_rescanned", m->sessions_rescanned);
    json_field_int(w, "sessions_reused", m->sessions_reused);
    if (m->mode != MODE_PENDING) {
        json_field_int(w, "sessions_scanned_so_far", m->sessions_total);
        json_field_int(w, "sessions_expected_total", m->sessions_expected);
    }
    json_field_int(w, "sessions_scanned", m->sessions_rescanned);
    json_field_int(w, "messages_scanned", m->messages_scanned);
    json_field_int(w, "duration_ms", m->duration_ms);
    json_field_str(w, "error", a->error);
    json_key(w, "status");
    answer_put_status(w, a);
    json_end(w, '}');
}

void answer_put(JsonWriter *w, const Answer *a)
{
    const Snapshot *s = a->shown;

    json_key(w, "achievements");
    snapshot_put_items(w, s);
    json_field_int(w, "unlocked_count", s->unlocked);
    json_field_int(w, "discovered_count", s->discovered);
    json_field_int(w, "secret_count", s->secret);
    json_field_int(w, "total_count", (int64_t)catalogue()->n);
    json_field_str(w, "error", a->error);
    json_field_int(w, "generated_at", s->generated_at);
    json_field_bool(w, "is_stale", s == a->current && a->stale);
    put_meta(w, a);
    if (a->all)
        answer_put_sources(w, s);
}
