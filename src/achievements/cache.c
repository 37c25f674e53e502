#include "achievements/cache.h"

#include "base/limits.h"

/* What was counted by other rules is of no use. */
static void pack_version(Buf *out)
{
    pack_number(out, RULES_VERSION);
    pack_number(out, METRIC_COUNT);
}

static bool unpack_version(Unpacker *u)
{
    uint64_t rules = unpack_number(u);

    return unpack_number(u) == METRIC_COUNT && rules == RULES_VERSION;
}

/* -- a chunk -- */

static size_t place_of(Arena *a, ToolTable *table, Str name)
{
    for (size_t i = table->n; i > 0; i--)
        if (str_eq(table->all[i - 1], name))
            return i - 1;
    ARENA_PUSH(a, table->all, table->n, table->cap, name);
    return table->n - 1;
}

static void pack_table(Buf *out, const ToolTable *table)
{
    pack_number(out, table->n);
    for (size_t i = 0; i < table->n; i++)
        pack_text(out, table->all[i]);
}

/* It has each source, model and tool once. */
void chunk_pack(const Record *const *records, size_t n, const ToolTable *tools, Buf *out)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF body = BUF(LIMIT_OUTPUT_BYTES);
    ToolTable words = { 0 };

    for (size_t i = 0; i < n; i++) {
        const Record *r = records[i];

        pack_number(&body, (uint64_t)r->rowid);
        pack_text(&body, r->id);
        pack_text(&body, r->title);
        pack_text(&body, r->conversation);
        pack_number(&body, (uint64_t)r->covered + r->begun_there);
        pack_number(&body, place_of(a, &words, r->source));
        pack_number(&body, place_of(a, &words, r->model));
        pack_real(&body, r->started_at);
        pack_real(&body, r->last_active);
        pack_number(&body, r->mark);
        pack_text(&body, r->metrics);
        pack_text(&body, r->tools);
        pack_text(&body, r->peaks);
    }
    pack_version(out);
    pack_table(out, tools);
    pack_table(out, &words);
    pack_number(out, n);
    buf_add(out, buf_str(&body));
    out->full = out->full || buf_full(&body);
}

static ToolTable *unpack_table(Arena *a, Unpacker *u)
{
    uint64_t n = unpack_number(u);
    ToolTable *table = ARENA_NEW(a, ToolTable);

    if (n > u->rest.n) {
        u->bad = true;
        return table;
    }
    table->all = ARENA_ARRAY(a, Str, n + 1);
    table->cap = (size_t)n + 1;
    for (; table->n < n && !u->bad; table->n++)
        table->all[table->n] = unpack_text(u);
    return table;
}

static Str word_at(Unpacker *u, const ToolTable *words)
{
    uint64_t place = unpack_number(u);

    if (place >= words->n) {
        u->bad = true;
        return STR("");
    }
    return words->all[place];
}

static Record unpack_record(Unpacker *u, const ToolTable *words, const ToolTable *tools)
{
    Record r = { .table = tools, .rowid = (int64_t)unpack_number(u) };
    uint64_t covered;

    r.id = unpack_text(u);
    r.title = unpack_text(u);
    r.conversation = unpack_text(u);
    covered = unpack_number(u);
    r.covered = covered > 0;
    r.begun_there = covered > 1;
    r.source = word_at(u, words);
    r.model = word_at(u, words);
    r.started_at = unpack_real(u);
    r.last_active = unpack_real(u);
    r.mark = unpack_number(u);
    r.metrics = unpack_text(u);
    r.tools = unpack_text(u);
    r.peaks = unpack_text(u);
    return r;
}

bool chunk_unpack(Arena *a, Str bytes, Record **ret, size_t *ret_n, ToolTable **ret_tools)
{
    Unpacker u = { .rest = bytes };
    ToolTable *tools, *words;
    Record *all;
    size_t n = 0;
    uint64_t max;

    if (!unpack_version(&u))
        return false;
    tools = unpack_table(a, &u);
    words = unpack_table(a, &u);
    max = unpack_number(&u);
    if (u.bad || max > u.rest.n)
        return false;
    all = ARENA_ARRAY(a, Record, max + 1);
    for (; n < max && !u.bad; n++)
        all[n] = unpack_record(&u, words, tools);
    if (u.bad || u.rest.n)
        return false;
    *ret = all;
    *ret_n = n;
    *ret_tools = tools;
    return true;
}

/* -- the head -- */

void head_pack(const CacheHead *head, Buf *out)
{
    int64_t before = 0;

    pack_version(out);
    pack_number(out, (uint64_t)head->last_message);
    pack_number(out, head->zone);
    pack_number(out, head->n_marks);
    for (size_t i = 0; i < head->n_marks; i++) {
        pack_number(out, (uint64_t)(head->marks[i].rowid - before));
        buf_add(out, (Str){ (const char *)&head->marks[i].mark, sizeof head->marks[i].mark });
        before = head->marks[i].rowid;
    }
    pack_number(out, head->n_chunks);
    for (size_t i = 0; i < head->n_chunks; i++) {
        pack_number(out, (uint64_t)head->chunks[i].number);
        sum_pack(out, head->chunks[i].sum);
    }
}

static SessionMark unpack_mark(Unpacker *u, int64_t before)
{
    SessionMark m = { .rowid = (int64_t)((uint64_t)before + unpack_number(u)) };

    if (u->rest.n < sizeof m.mark) {
        u->bad = true;
        return m;
    }
    memcpy(&m.mark, u->rest.p, sizeof m.mark);
    u->rest = (Str){ u->rest.p + sizeof m.mark, u->rest.n - sizeof m.mark };
    return m;
}

static void unpack_marks(Arena *a, Unpacker *u, CacheHead *head)
{
    uint64_t n = unpack_number(u);
    int64_t before = 0;

    u->bad = u->bad || n > u->rest.n;
    if (u->bad)
        return;
    head->marks = ARENA_ARRAY(a, SessionMark, n + 1);
    for (; head->n_marks < n && !u->bad; head->n_marks++) {
        head->marks[head->n_marks] = unpack_mark(u, before);
        before = head->marks[head->n_marks].rowid;
    }
}

static void unpack_chunks(Arena *a, Unpacker *u, CacheHead *head)
{
    uint64_t n = unpack_number(u);
    Sum *sums;

    u->bad = u->bad || n > u->rest.n;
    if (u->bad)
        return;
    head->chunks = ARENA_ARRAY(a, ChunkSum, n + 1);
    sums = ARENA_ARRAY(a, Sum, n + 1);
    for (; head->n_chunks < n && !u->bad; head->n_chunks++) {
        ChunkSum *chunk = &head->chunks[head->n_chunks];
        Sum *sum = &sums[head->n_chunks];

        chunk->number = (int64_t)unpack_number(u);
        sum_unpack(a, u, sum);
        chunk->sum = sum;
    }
}

bool head_unpack(Arena *a, Str bytes, CacheHead *ret)
{
    Unpacker u = { .rest = bytes };
    CacheHead head = { 0 };

    if (!unpack_version(&u))
        return false;
    head.last_message = (int64_t)unpack_number(&u);
    head.zone = unpack_number(&u);
    unpack_marks(a, &u, &head);
    unpack_chunks(a, &u, &head);
    if (u.bad || u.rest.n)
        return false;
    *ret = head;
    return true;
}

/* -- in the index -- */

static Str chunk_name(Arena *a, int64_t number)
{
    return str_printf(a, "%lld", (long long)number);
}

static Str part_name(Arena *a, int64_t number)
{
    return str_printf(a, "part %lld", (long long)number);
}

/* The next part of a head whose first marks and chunks were gone through. */
static bool next_part(const CacheHead *head, size_t *mark, size_t *chunk, CacheHead *ret,
                      int64_t *ret_number)
{
    size_t marks = *mark, chunks = *chunk;

    if (*chunk == head->n_chunks)
        return false;
    *ret_number = part_number(head->chunks[*chunk].number);
    while (*chunk < head->n_chunks && part_number(head->chunks[*chunk].number) == *ret_number)
        ++*chunk;
    while (*mark < head->n_marks &&
           part_number(chunk_number(head->marks[*mark].rowid)) <= *ret_number)
        ++*mark;
    *ret = (CacheHead){ .marks = head->marks + marks,
                        .n_marks = *mark - marks,
                        .chunks = head->chunks + chunks,
                        .n_chunks = *chunk - chunks };
    return true;
}

static bool put_part(Index *index, Arena *a, CacheKey key, int64_t number, const CacheHead *part)
{
    AUTO_BUF bytes = BUF(LIMIT_OUTPUT_BYTES);

    head_pack(part, &bytes);
    if (buf_full(&bytes))
        return false;
    index_put(index, key.topic, key.home, part_name(a, number), STR(""), buf_str(&bytes));
    return true;
}

void cache_put_head(Index *index, CacheKey key, const CacheHead *head, const int64_t *changed,
                    size_t n_changed)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF list = BUF(LIMIT_OUTPUT_BYTES);
    size_t mark = 0, chunk = 0, at = 0;
    CacheHead part;
    int64_t number;
    bool ok = true;

    pack_version(&list);
    pack_number(&list, (uint64_t)head->last_message);
    pack_number(&list, head->zone);
    pack_number(&list, head->n_marks);
    pack_number(&list, head->n_chunks);
    while (ok && next_part(head, &mark, &chunk, &part, &number)) {
        pack_number(&list, (uint64_t)number);
        while (at < n_changed && changed[at] < number)
            at++;
        if (at < n_changed && changed[at] == number)
            ok = put_part(index, a, key, number, &part);
    }
    if (ok && !buf_full(&list))
        index_put(index, key.topic, key.home, STR(""), STR(""), buf_str(&list));
}

static bool add_part(Index *index, Arena *a, CacheKey key, int64_t number, CacheHead *head,
                     const CacheHead *room)
{
    CacheHead part;
    Str bytes;

    if (!index_get(index, a, key.topic, key.home, part_name(a, number), STR(""), &bytes) ||
        !head_unpack(a, bytes, &part) || part.n_marks > room->n_marks - head->n_marks ||
        part.n_chunks > room->n_chunks - head->n_chunks)
        return false;
    if (part.n_marks)
        memcpy(head->marks + head->n_marks, part.marks, part.n_marks * sizeof *part.marks);
    if (part.n_chunks)
        memcpy(head->chunks + head->n_chunks, part.chunks, part.n_chunks * sizeof *part.chunks);
    head->n_marks += part.n_marks;
    head->n_chunks += part.n_chunks;
    return true;
}

/* What the list says of the whole, with none of its parts yet. */
static bool read_list(Unpacker *u, CacheHead *ret)
{
    if (!unpack_version(u))
        return false;
    ret->last_message = (int64_t)unpack_number(u);
    ret->zone = unpack_number(u);
    ret->n_marks = unpack_number(u);
    ret->n_chunks = unpack_number(u);
    /* A part takes a byte at least. */
    return !u->bad && ret->n_chunks <= u->rest.n * PART_CHUNKS &&
           ret->n_marks <= ret->n_chunks * CHUNK_SESSIONS;
}

bool cache_head(Index *index, Arena *a, CacheKey key, CacheHead *ret)
{
    CacheHead whole = { 0 }, head;
    Unpacker u = { 0 };

    if (!index_get(index, a, key.topic, key.home, STR(""), STR(""), &u.rest) ||
        !read_list(&u, &whole))
        return false;
    head = (CacheHead){ .last_message = whole.last_message, .zone = whole.zone };
    head.marks = ARENA_ARRAY(a, SessionMark, whole.n_marks + 1);
    head.chunks = ARENA_ARRAY(a, ChunkSum, whole.n_chunks + 1);
    while (u.rest.n && !u.bad)
        if (!add_part(index, a, key, (int64_t)unpack_number(&u), &head, &whole))
            return false;
    if (u.bad || head.n_marks != whole.n_marks || head.n_chunks != whole.n_chunks)
        return false;
    *ret = head;
    return true;
}

bool cache_chunk(Index *index, Arena *a, CacheKey key, int64_t number, Record **ret, size_t *ret_n,
                 ToolTable **ret_tools)
{
    Str bytes;

    return index_get(index, a, key.topic, key.home, chunk_name(a, number), STR(""), &bytes) &&
           chunk_unpack(a, bytes, ret, ret_n, ret_tools);
}

void cache_put_chunk(Index *index, CacheKey key, int64_t number, const Record *const *records,
                     size_t n, const ToolTable *tools)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF bytes = BUF(LIMIT_OUTPUT_BYTES);

    chunk_pack(records, n, tools, &bytes);
    if (!buf_full(&bytes))
        index_put(index, key.topic, key.home, chunk_name(a, number), STR(""), buf_str(&bytes));
}

/* -- all of it -- */

static int newest_first(const void *left, const void *right)
{
    const Record *a = left, *b = right;

    if (a->started_at != b->started_at)
        return a->started_at > b->started_at ? -1 : 1;
    if (a->home != b->home)
        return a->home < b->home ? -1 : 1;
    return a->rowid < b->rowid ? -1 : a->rowid > b->rowid;
}

void records_sort(Record *records, size_t n)
{
    if (n)
        qsort(records, n, sizeof *records, newest_first);
}

Record *cache_records(Index *index, Arena *a, Str topic, const Homes *homes, uint64_t which,
                      size_t *ret_n)
{
    Record *all = NULL, *some;
    size_t n = 0, cap = 0, n_some;
    ToolTable *tools;
    CacheHead head;

    for (size_t h = 0; h < homes->n; h++) {
        CacheKey key = { topic, homes->all[h].path };

        if (!(which >> h & 1) || !cache_head(index, a, key, &head))
            continue;
        for (size_t i = 0; i < head.n_chunks; i++) {
            if (!cache_chunk(index, a, key, head.chunks[i].number, &some, &n_some, &tools))
                continue;
            for (size_t k = 0; k < n_some; k++) {
                some[k].home = h;
                ARENA_PUSH(a, all, n, cap, some[k]);
            }
        }
    }
    records_sort(all, n);
    *ret_n = n;
    return all;
}
