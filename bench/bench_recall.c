/* How often the turn that answers a question is among the first ten: ours beside FTS5 with the
 * neighbours stored in columns of their own, and FTS5 as it comes (unicode61, the question's words
 * joined by OR), over conversations made up here or, with --locomo FILE, over a file in LoCoMo's
 * format, each of its conversations by itself. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "common.h"
#include "recall_columns.h"
#include "text/json.h"

/* X(id, name, tables that hold its words) */
#define SIDES(X)                                                                                   \
    X(OURS, "ours", "recall_said_data")                                                            \
    X(COLUMNS, "  stored columns", "columns_data")                                                 \
    X(PLAIN, "  plain FTS5", "plain_data")

enum {
#define X(id, name, table) id,
    SIDES(X)
#undef X
        SIDE_COUNT
};

static const char *const side_names[] = {
#define X(id, name, table) name,
    SIDES(X)
#undef X
};

typedef struct Sides {
    Recalls all[SIDE_COUNT];
    int64_t bytes[SIDE_COUNT]; /* of the words, over all conversations */
} Sides;

static void print_recalls(const char *name, const Recalls *r)
{
    double n = r->asked ? (double)r->asked : 1;

    fprintf(stderr, "%-16s R@1 %5.1f  R@5 %5.1f  R@10 %5.1f  MRR %.3f  %.2f ms  (%zu questions)\n",
            name, 100 * r->at_1 / n, 100 * r->at_5 / n, 100 * r->at_10 / n, r->mrr / n, r->ms / n,
            r->asked);
}

typedef struct ChatAddress {
    char folder[256], path[300];
    Db *db;
    Recall *recall;
} ChatAddress;

static bool place_open(ChatAddress *p, Err *err)
{
    bench_folder(p->folder);
    snprintf(p->path, sizeof p->path, "%s/index.db", p->folder);
    p->db = db_open_own(p->path, false, err);
    return p->db && columns_begin(p->db, err) && measure_begin(p->db, err) &&
           (p->recall = recall_open(p->db, err)) != NULL;
}

static void place_close(ChatAddress *p)
{
    p->recall = recall_close(p->recall);
    p->db = db_close(p->db);
    bench_drop_folder(p->folder);
}

static bool place_fill(ChatAddress *p, const TalkTurn *turns, size_t n, Sides *to, Err *err)
{
    static const char *const tables[] = {
#define X(id, name, table) table,
        SIDES(X)
#undef X
    };

    if (!measure_fill(p->db, turns, n, err) || !columns_fill(p->db, turns, n, err))
        return false;
    for (int i = 0; i < SIDE_COUNT; i++) {
        char sql[128];
        int64_t bytes;

        snprintf(sql, sizeof sql, "SELECT sum(length(block)) FROM %s", tables[i]);
        if (!db_get_int_once(p->db, 0, &bytes, err, sql))
            return false;
        to->bytes[i] += bytes;
    }
    return true;
}

static bool place_ask(ChatAddress *p, Str question, const size_t *answers, size_t n, Recalls *to,
                      Err *err)
{
    return measure_ask(p->db, p->recall, question, answers, n, &to[OURS], &to[PLAIN], err) &&
           columns_ask(p->db, question, answers, n, &to[COLUMNS], err);
}

/* -- made up -- */

static void add_up(Recalls *to, const Recalls *from)
{
    to->at_1 += from->at_1;
    to->at_5 += from->at_5;
    to->at_10 += from->at_10;
    to->mrr += from->mrr;
    to->ms += from->ms;
    to->asked += from->asked;
}

static bool run_talk(uint64_t seed, Sides *to, Err *err)
{
    static const char *const names[] = { "said there", "in the reply", "a turn later" };
    AUTO(Arena) *a = arena_new();
    Recalls kinds[3][SIDE_COUNT] = { 0 };
    ChatAddress p = { 0 };
    Talk t = { 0 };
    bool ok;

    talk_make(&t, a, 24, 20, seed);
    ok = place_open(&p, err) && place_fill(&p, t.turns, t.n_turns, to, err);
    for (size_t i = 0; ok && i < t.n_questions; i++) {
        TalkQuestion *q = &t.questions[i];

        ok = place_ask(&p, q->text, &q->answer, 1, kinds[q->kind], err);
    }
    place_close(&p);
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < SIDE_COUNT; side++) {
            print_recalls(side ? side_names[side] : names[k], &kinds[k][side]);
            add_up(&to->all[side], &kinds[k][side]);
        }
    return ok;
}

/* -- LoCoMo's format -- */

typedef struct Locomo {
    TalkTurn *turns;
    Str *ids;
    size_t n, cap, cap_ids;
} Locomo;

static void read_session(Arena *a, Locomo *l, Json conversation, int number)
{
    Str key = str_printf(a, "session_%d", number);
    JsonIter it = json_each(json_get(conversation, key));
    Json turn;
    Str none;

    while (json_next(&it, &none, &turn)) {
        Str text = json_str(json_get(turn, STR("text")));
        Str shown = json_str(json_get(turn, STR("blip_caption")));
        TalkTurn t = { .who = json_str(json_get(turn, STR("speaker"))),
                       .text = shown.n ? str_printf(a, "%.*s [%.*s]", STR_FMT(text), STR_FMT(shown))
                                       : text,
                       .session = number,
                       .at = 1600000000.0 + number * 86400.0 };

        ARENA_PUSH(a, l->turns, l->n, l->cap, t);
        l->n--;
        ARENA_PUSH(a, l->ids, l->n, l->cap_ids, json_str(json_get(turn, STR("dia_id"))));
    }
}

static size_t find_answers(const Locomo *l, Json evidence, size_t *ret, size_t max)
{
    JsonIter it = json_each(evidence);
    size_t n = 0;
    Json id;
    Str none;

    while (n < max && json_next(&it, &none, &id))
        for (size_t i = 0; i < l->n; i++)
            if (str_eq(l->ids[i], json_str(id))) {
                ret[n++] = i;
                break;
            }
    return n;
}

/* Category 5 has no answer in the conversation. */
static bool run_conversation(Json sample, Sides *to, Err *err)
{
    AUTO(Arena) *a = arena_new();
    JsonIter it = json_each(json_get(sample, STR("qa")));
    Locomo l = { 0 };
    ChatAddress p = { 0 };
    Json qa;
    Str none;
    bool ok;

    for (int s = 1; s < 100; s++)
        read_session(a, &l, json_get(sample, STR("conversation")), s);
    ok = place_open(&p, err) && place_fill(&p, l.turns, l.n, to, err);
    while (ok && json_next(&it, &none, &qa)) {
        size_t answers[32], n = find_answers(&l, json_get(qa, STR("evidence")), answers, 32);
        int64_t category = 0;

        (void)json_int(json_get(qa, STR("category")), &category);
        if (n && category != 5)
            ok = place_ask(&p, json_str(json_get(qa, STR("question"))), answers, n, to->all, err);
    }
    place_close(&p);
    return ok;
}

static bool run_locomo(const char *path, Sides *to, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    Json sample;
    JsonIter it;
    Str text, none;

    if (!file_read(a, path, LIMIT_JSON_BYTES, &text, err))
        return false;
    doc = json_parse(text, err);
    if (!doc)
        return false;
    it = json_each(json_root(doc));
    while (json_next(&it, &none, &sample))
        if (!run_conversation(sample, to, err))
            return false;
    return true;
}

static double share_at_10(const Recalls *r)
{
    return 100 * r->at_10 / (double)r->asked;
}

int main(int argc, char **argv)
{
    Sides sides = { 0 };
    double a, b;
    bool locomo = argc == 3 && strcmp(argv[1], "--locomo") == 0, ok;
    int64_t seed = 20261115;
    Err err;

    if (argc == 3 && strcmp(argv[1], "--seed") == 0 &&
        !str_to_int(str_of(argv[2]), 1, INT64_MAX, &seed)) {
        fprintf(stderr, "usage: bench_recall [--seed N | --locomo FILE]\n");
        return 2;
    }
    ok = locomo ? run_locomo(argv[2], &sides, &err) : run_talk((uint64_t)seed, &sides, &err);
    if (!ok) {
        fprintf(stderr, "bench_recall: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < SIDE_COUNT; i++) {
        print_recalls(i ? side_names[i] : "all", &sides.all[i]);
        fprintf(stderr, "%-16s its words take %.0f kB\n", "", (double)sides.bytes[i] / 1e3);
    }
    a = share_at_10(&sides.all[OURS]);
    b = share_at_10(&sides.all[PLAIN]);
    bench_line(locomo ? "recall@10, locomo" : "recall@10, made up", a, "%", b, "run", a / b,
               a >= b + 8);
    return a >= b + 8 ? 0 : 1;
}
