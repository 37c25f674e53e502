#include "templates/past.h"

#include "base/log.h"

bool past_each(const Past *past, const char *what, PastFn *fn, void *ctx, Err *err)
{
    const HistoryQuery query = { .source = past->source, .archived = true };
    AUTO(HistoryList) *list = history_list(past->history, &query, err);
    AUTO(Arena) *scratch = arena_new();
    uint64_t done = 0;
    int64_t total;

    if (!list || !sessions_count(past->store, &total, err))
        return false;
    for (;; arena_reset(scratch)) {
        HistoryItem item;
        bool more;

        if (!history_next(list, scratch, &item, &more, err))
            return false;
        if (!more)
            break;
        if (item.guest) /* a template repeats calls and arguments: nothing of it may be a guest's */
            continue;
        if (!fn(ctx, scratch, &item, err))
            return false;
        done++;
        progress_show(what, done, done > (uint64_t)total ? done : (uint64_t)total);
    }
    progress_end();
    return true;
}

Str past_home(const Past *past, const HistoryItem *item)
{
    return item->is_file ? item->file.path : store_home(past->store, item->lineage.tip.home)->path;
}

bool past_mark(const Past *past, Arena *a, const HistoryItem *item, size_t part, Str *ret, Err *err)
{
    const TranscriptFile *f = &item->file;

    if (!item->is_file)
        return store_fingerprint(past->store, a, &item->lineage.parts[part], ret, err);
    *ret = str_printf(a, "%lld:%lld:%llu", (long long)f->size, (long long)f->mtime_ns,
                      (unsigned long long)f->inode);
    return true;
}
