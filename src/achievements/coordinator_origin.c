/* Badges of one origin: a scan of the caller's own, which finds nearly everything counted. */
#include "achievements/answer.h"
#include "achievements/coordinator_inside.h"

static void put_whole(JsonWriter *w, const Coordinator *c, const Snapshot *s)
{
    ScanStatus status = { .state = SCAN_IDLE };
    Answer answer = { .shown = s,
                      .current = s,
                      .status = &status,
                      .ttl = c->ttl,
                      .now = s->generated_at,
                      .all = true };

    json_begin(w, '{');
    answer_put(w, &answer);
    json_end(w, '}');
}

static void put_recent(JsonWriter *w, const Snapshot *s)
{
    size_t order[MAX_ACHIEVEMENTS], n = snapshot_recent(s, order);

    json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        snapshot_put_item(w, s, order[i]);
    json_end(w, ']');
}

bool coordinator_of_origin(Coordinator *c, int origin, bool recent, Buf *out, Err *err)
{
    Run run = { .scan = c->scan, .compat = c->compat };
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *s;

    run.scan.origin = origin;
    run.scan.threads = 1;
    s = run_scan(&run, err);
    if (!s)
        return false;
    if (recent)
        put_recent(&w, s);
    else
        put_whole(&w, c, s);
    snapshot_free(s);
    return true;
}
