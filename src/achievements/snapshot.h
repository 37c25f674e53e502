/* snapshot.h - one complete answer: every badge, the totals, and where the sessions behind them
 * are.
 *
 * Immutable once made, so that any number of threads may read it; reference-counted, since a
 * request may still write an old one out while a scan puts a new one in its place. */
#ifndef TALARIA_ACHIEVEMENTS_SNAPSHOT_H
#define TALARIA_ACHIEVEMENTS_SNAPSHOT_H

#include "achievements/evaluate.h"
#include "achievements/fold.h"
#include "achievements/state.h"
#include "achievements/sum.h"

/* X(name, as it is written) */
#define SCAN_MODES(X)                                                                              \
    X(MODE_PENDING, "pending")                                                                     \
    X(MODE_IN_PROGRESS, "in_progress")                                                             \
    X(MODE_FULL, "full")                                                                           \
    X(MODE_INCREMENTAL, "incremental")                                                             \
    X(MODE_FAILED, "failed")

typedef enum ScanMode {
#define X(name, text) name,
    SCAN_MODES(X)
#undef X
} ScanMode;

const char *scan_mode_name(ScanMode mode);

typedef struct ScanMeta {
    ScanMode mode;
    int64_t sessions_total, sessions_rescanned, sessions_reused, sessions_expected;
    int64_t messages_scanned, duration_ms;
} ScanMeta;

typedef struct SnapshotItem {
    Badge badge;
    int64_t unlocked_at; /* 0: not known */
    Evidence evidence;
    bool kept;        /* unlocked by the record, no longer by the counts */
    int64_t shown_at; /* newest tier's time, for "recent" */
} SnapshotItem;

/* Thousands of records are rarely wanted: they stay in the index until they are. */
typedef struct RecordSource {
    const Homes *homes; /* borrowed; NULL: there are no records */
    Str topic;
    uint64_t read;   /* the homes that were read, a bit each */
    Record *records; /* where there is no index: here they are */
    size_t n;
    bool all;   /* conversations are counted, not rows */
    int origin; /* as ScanOptions has it */
} RecordSource;

typedef struct Snapshot {
    Arena *arena; /* owns everything below */
    Arena *kept;  /* owns the records, where they are here */
    int users;    /* guarded by the lock of those who share it */
    int64_t generated_at;
    uint64_t stamp; /* of what the files would say beside times of the scan; 0: not known */
    ScanMeta meta;
    Totals totals;                 /* without the models */
    Evidence best[MAX_AGGREGATES]; /* of a maximum: the session that has it */
    RecordSource source;
    int64_t sources[ORIGIN_COUNT]; /* conversations of each origin, where those are counted */
    SnapshotItem items[MAX_ACHIEVEMENTS];
    int64_t unlocked, discovered, secret;
} Snapshot;

/* at: when tiers were reached, by the history (fold.h); NULL: what is new is new now. */
typedef struct SnapshotDates {
    Unlocks *unlocks; /* NULL: a partial one, with no dates; what is new is noted here */
    const int64_t (*at)[TIER_COUNT];
    bool compat; /* a badge whose counts fell is not kept */
} SnapshotDates;

/* Takes the arena over, copies text into it. */
Snapshot *snapshot_make(Arena *arena, const Totals *totals, const ScanMeta *meta,
                        const SnapshotDates *dates, int64_t now);

/* Whether a badge or a tier is reached that the record does not have yet. */
bool snapshot_has_news(const Totals *totals, const Unlocks *unlocks);
Snapshot *snapshot_pending(int64_t now);
Snapshot *snapshot_free(Snapshot *s);
AUTO_FREE(Snapshot, snapshot_free)

/* The sessions, newest first, in the arena. */
const Record *snapshot_records(const Snapshot *s, Arena *a, size_t *ret_n);

/* Places of the unlocked ones, at most 20, newest first, ties in the catalogue's order. */
size_t snapshot_recent(const Snapshot *s, size_t order[MAX_ACHIEVEMENTS]);

/* -- as JSON -- */

void snapshot_put_item(JsonWriter *w, const Snapshot *s, size_t achievement);
void snapshot_put_items(JsonWriter *w, const Snapshot *s); /* the array */
/* "sources": how many sessions of each were counted. */
void snapshot_put_sources(JsonWriter *w, const Snapshot *s);
void snapshot_put_totals(JsonWriter *w, const Snapshot *s);
void snapshot_put_sessions(JsonWriter *w, const Snapshot *s);

/* The files that Hermes' plugin reads: keys sorted, two spaces, ASCII, no final line feed. */
void snapshot_write_file(const Snapshot *s, Buf *out);
void snapshot_write_checkpoint(const Snapshot *s, Buf *out);

/* Badges of one session alone, as an array. */
void snapshot_put_session_badges(JsonWriter *w, const Snapshot *s, Str session);

#endif
