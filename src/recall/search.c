/* A search from what was typed to what is shown. */
#include "recall/search.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "recall/history.h"
#include "recall/search_copies.h"
#include "recall/search_readable.h"
#include "recall/search_scan.h"
#include "recall/search_state.h"
#include "recall/snippet.h"

enum { SCAN_MS = 400, SPARE = 20, WITH_COPIES = 8 };

static void add_note(Buf *note, const char *text)
{
    if (note->n)
        buf_addz(note, "; ");
    buf_addz(note, text);
}

typedef struct Showing {
    Catalogue *c;
    DocReader *reader;
    Arena *a;
    const SearchQuery *q;
    const SearchOptions *options;
    bool left;     /* hits that were not shown */
    size_t copies; /* of messages, and messages of another time, that were passed over */
} Showing;

/* A session continues for days: filters by time are for its messages too. */
static bool is_in_time(const SearchFilter *f, double at)
{
    return at <= 0 || ((f->since <= 0 || at >= f->since) && (f->until <= 0 || at < f->until));
}

/* Sessions of homes or roots that were not asked for are in the index too, and passed over here. */
static void show_hits(Showing *s, const Ranking *ranking, SearchAnswer *ret)
{
    Marks marks = { .query = s->q };

    ret->hits = ARENA_ARRAY(s->a, SearchHit, ranking->n + 1);
    ret->n = s->copies = 0;
    for (size_t i = 0; i < ranking->n; i++) {
        SearchHit *hit = &ret->hits[ret->n];
        Str text = STR("");
        bool full = ret->n == s->options->max;
        Err why;

        /* Copies stand side by side, the newest first: the last hit's are looked at to their
         * end. */
        s->left = full && (!ret->n || ranking->hits[i].at != hit[-1].at.at);
        if (s->left)
            return;
        if (!is_in_time(&s->q->filter, ranking->hits[i].at)) {
            s->copies++;
            continue;
        }
        *hit = (SearchHit){ .at = ranking->hits[i] };
        if (!catalogue_get(s->c, s->a, hit->at.key, &hit->entry, &why))
            continue;
        /* A row of the index may outlive its message for a moment: such a hit has nothing to
         * show. */
        if (!doc_read(s->reader, s->a, &hit->entry, hit->at.place, hit->at.line, hit->at.part,
                      &text, &why))
            continue;
        hit->rewound = doc_was_rewound(s->reader);
        if (search_is_copy(ret->hits, ret->n, hit, text)) {
            s->copies++;
            continue;
        }
        s->left = full;
        if (s->left)
            return;
        snippet_make(s->a, hit->at.role >= DOC_CALL ? search_readable(s->a, text) : text, &marks,
                     &hit->snippet, &hit->n_snippet);
        if (s->options->whole)
            hit->text = text;
        ret->n++;
    }
}

/* Copies take the places of others: then more of them are asked for, once. */
static bool rank_and_show(Recall *r, Showing *s, SearchAnswer *ret, Ranking *ranking, Err *err)
{
    size_t max = s->options->max + SPARE;

    if (!recall_rank(r, s->a, s->q, max, ranking, err))
        return false;
    show_hits(s, ranking, ret);
    if (!s->copies || !ranking->more || ret->n == s->options->max)
        return true;
    if (!recall_rank(r, s->a, s->q, max * WITH_COPIES, ranking, err))
        return false;
    show_hits(s, ranking, ret);
    return true;
}

static bool search_words(Recall *r, Catalogue *c, DocReader *reader, Arena *a, SearchQuery *q,
                         const SearchOptions *options, SearchAnswer *ret, Buf *note, Err *err)
{
    Showing showing = { .c = c, .reader = reader, .a = a, .q = q, .options = options };
    Ranking ranking;

    if (!rank_and_show(r, &showing, ret, &ranking, err))
        return false;
    ret->more = showing.left || (ranking.more && ret->n == options->max);
    ret->partial = ranking.partial;
    if (ranking.some && ret->n)
        add_note(note, "no message contains all of these words; showing partial matches");
    if (ranking.narrowed)
        add_note(note, "too many words match this prefix; type more letters for complete results");
    else if (ranking.partial)
        add_note(note, "very common words: only recent sessions were searched");
    return true;
}

static bool search_text(Recall *r, Catalogue *c, DocReader *reader, Arena *a, SearchQuery *q,
                        const SearchOptions *options, SearchAnswer *ret, Buf *note, Err *err)
{
    Scan scan = { .r = r,
                  .c = c,
                  .reader = reader,
                  .arena = a,
                  .query = q,
                  .literal = q->literal,
                  .max = options->max,
                  .until = clock_mono_ms() + SCAN_MS };

    if (!search_scan(&scan, err))
        return false;
    ret->hits = scan.hits;
    ret->n = scan.n;
    ret->more = scan.more;
    ret->partial = scan.partial;
    if (scan.partial && scan.sessions) {
        add_note(note, "time limit reached: ");
        buf_addf(note, "searched the %zu most recent of %zu sessions", scan.sessions,
                 r->n_sessions);
    } else if (scan.partial) {
        add_note(note, "only recent sessions were searched");
    }
    return true;
}

bool recall_search(Recall *r, Catalogue *c, const Homes *homes, Arena *a,
                   const SearchOptions *options, SearchAnswer *ret, Err *err)
{
    AUTO(DocReader) *reader = doc_reader_new(homes);
    AUTO_BUF note = BUF(KIB(8));
    SearchQuery q = { .filter = options->filter,
                      .is_source = recall_source_known,
                      .source_ctx = r };
    int64_t start = clock_mono_ns();

    Origin origin;

    *ret = (SearchAnswer){ 0 };
    if (options->filter.source.n && !origin_parse(options->filter.source, &origin) &&
        !recall_source_known(r, options->filter.source))
        return err_set(err, ERR_USAGE, "unknown source '%.*s'; known sources: %.*s",
                       STR_FMT(str_head(options->filter.source, 60)),
                       STR_FMT(recall_source_names(r, a)));
    for (size_t i = 0; i < homes->n; i++)
        if (homes->all[i].kind == HOME_OURS)
            q.filter.own_home = homes->all[i].path;
    search_query_parse(a, options->text, &q);
    buf_add(&note, q.note);
    if (options->substring ? !q.literal.n : !q.n)
        add_note(&note, "nothing to search for");
    if (!(options->substring ? search_text : search_words)(r, c, reader, a, &q, options, ret, &note,
                                                           err))
        return false;
    ret->note = str_dup(a, buf_str(&note));
    ret->took_ms = (double)(clock_mono_ns() - start) / 1e6;
    return true;
}
