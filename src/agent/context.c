/* Blocks, one after the other. Each is written into its own buffer with a budget in tokens;
 * items go in whole while they fit, and a receipt is written for each that did. A block without
 * items is not written at all. */
#include "agent/context.h"

#include <math.h>

#include "agent/render.h"
#include "base/clock.h"
#include "base/limits.h"
#include "text/human.h"
#include "text/tokens.h"
#include "text/utf8.h"

enum {
    LOOK_MS = 2000, /* folders of skills and notes are looked at again after so long */
    QUOTE_CHARS = 900,
    NEAR_CHARS = 240,
    SKILL_CHARS = 200,
    STEP_CHARS = 160
};

static const struct {
    const char *name;
    size_t tokens;
} infos[] = {
#define X(id, name_, tokens_) [id] = { name_, tokens_ },
    CONTEXT_PARTS(X)
#undef X
};

const char *context_part_name(ContextPart part)
{
    return infos[part].name;
}

typedef struct Build {
    Arena *arena;
    const ContextQuery *q;
    ContextBuilt *ret;
    size_t cap_receipts;
    Buf text; /* all blocks so far */
    size_t budget;
    int64_t until; /* monotonic ns; 0: as long as it takes */
    /* the block at hand */
    ContextPart part;
    Buf block, item;
    size_t room;
} Build;

/* -- Items of a block -- */

static void degrade(Build *b, ContextPart part, Str reason)
{
    b->ret->parts[part].degraded = true;
    b->ret->parts[part].reason = str_dup(b->arena, reason);
}

static void begin_block(Build *b, ContextPart part)
{
    b->part = part;
    buf_clear(&b->block);
    buf_clear(&b->item);
    b->room = infos[part].tokens * b->budget / CONTEXT_TOKENS;
}

/* What waits in b->item goes into the block, and has a receipt; false: it does not fit. */
static bool add_item(Build *b, Str id, double score, Str reason)
{
    ContextReceipt r = { .part = b->part,
                         .id = str_dup(b->arena, id),
                         .score = score,
                         .reason = str_dup(b->arena, reason),
                         .chars = utf8_count(buf_str(&b->item)) };
    size_t cost = tokens_estimate(buf_str(&b->item));
    bool fits = infos[b->part].tokens == 0 || cost <= b->room;

    if (fits) {
        b->room -= infos[b->part].tokens ? cost : 0;
        buf_add(&b->block, buf_str(&b->item));
        b->ret->parts[b->part].items++;
        b->ret->parts[b->part].tokens += cost;
        ARENA_PUSH(b->arena, b->ret->receipts, b->ret->n_receipts, b->cap_receipts, r);
    } else {
        b->ret->parts[b->part].truncated = true;
        b->ret->truncated = true;
    }
    buf_clear(&b->item);
    return fits;
}

static void end_block(Build *b, const char *name, const char *note)
{
    if (!b->block.n)
        return;
    render_block_begin(&b->text, name, str_of(note));
    buf_add(&b->text, buf_str(&b->block));
    render_block_end(&b->text, name);
}

/* -- User memory -- */

static void add_memory_file(Build *b, MemoryKind kind, const MemoryFile *f)
{
    for (size_t i = 0; i < f->n; i++) {
        if (i == 0)
            buf_addf(&b->item, "%s [%zu%%, %zu/%zu chars]\n", memory_title(kind),
                     f->chars * 100 / memory_limit(kind), f->chars, memory_limit(kind));
        render_quote(&b->item, f->entries[i], memory_limit(kind));
        (void)add_item(b, str_printf(b->arena, "%s:%zu", memory_name(kind), i + 1), 1,
                       STR("always given"));
    }
}

static void build_user(Build *b)
{
    MemorySnapshot s;
    Err err;
    bool ok = b->q->memory_snapshot.n
                  ? memory_snapshot_read(b->arena, b->q->memory_snapshot, &s, &err)
                  : memory_snapshot(b->arena, b->q->homes, &s, &err);

    begin_block(b, CONTEXT_USER);
    if (!ok) {
        degrade(b, CONTEXT_USER, str_of(err.text));
        return;
    }
    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        add_memory_file(b, (MemoryKind)i, &s.files[i]);
    end_block(b, "user-memory", "What is remembered of the user beyond this conversation.");
}

/* -- Summary -- */

static void renew_summary(Build *b)
{
    const ContextQuery *q = b->q;
    ContextBuilt *ret = b->ret;
    size_t upto = q->summary_upto < q->n_turns ? q->summary_upto : q->n_turns;
    size_t room = infos[CONTEXT_SUMMARY].tokens * b->budget / CONTEXT_TOKENS;

    ret->summary = q->summary;
    ret->summary_upto = upto;
    if (!talk_summary_is_due(q->turns + upto, q->n_turns - upto, q->window))
        return;
    /* Less than the block has room for: quoting adds a little. */
    ret->summary =
        talk_summary(b->arena, q->summary, q->turns + upto, q->n_turns - upto, room * 3 / 4);
    ret->summary_upto = q->n_turns;
    ret->summary_is_new = true;
}

static void build_summary(Build *b)
{
    begin_block(b, CONTEXT_SUMMARY);
    renew_summary(b);
    if (!b->ret->summary.n)
        return;
    render_quote(&b->item, b->ret->summary, b->room * 3);
    (void)add_item(b, str_printf(b->arena, "summary:%zu", b->ret->summary_upto), 1,
                   str_printf(b->arena, "covers %zu turns", b->ret->summary_upto));
    end_block(b, "conversation-summary", "What was said earlier in this conversation, in short.");
}

/* -- Recalled -- */

static void quote_near(Build *b, const char *label, Str text)
{
    if (!text.n)
        return;
    buf_addf(&b->item, "%s:\n", label);
    render_quote(&b->item, text, NEAR_CHARS);
}

static void add_recalled(Build *b, const Recalled *r, size_t number)
{
    Str when = str_head(human_iso(b->arena, r->at), 10);

    buf_addf(&b->item, "[%zu] %.*s, session ", number, STR_FMT(when));
    render_line(&b->item, r->session, 64);
    buf_addz(&b->item, ", \"");
    render_line(&b->item, r->title, 80);
    buf_addf(&b->item, "\", said by the %s\n", r->role == DOC_USER ? "user" : "agent");
    quote_near(b, "before it", r->before);
    if (r->before.n)
        buf_addz(&b->item, "the passage:\n");
    render_quote(&b->item, r->text, QUOTE_CHARS);
    quote_near(b, "after it", r->after);
    (void)add_item(b, r->id, r->score, r->why);
}

static void build_recalled(Build *b)
{
    Recalled *hits;
    size_t n;
    Err err;
    bool ok;

    begin_block(b, CONTEXT_RECALLED);
    if (b->until && b->q->catalogue)
        db_end_by(catalogue_db(b->q->catalogue), b->until / 1000000);
    ok = context_recall(b->arena, b->q, MAX_RECALLED, &hits, &n, &err);
    if (b->until && b->q->catalogue)
        db_end_by(catalogue_db(b->q->catalogue), 0);
    if (!ok) {
        degrade(b, CONTEXT_RECALLED, str_of(err.text));
        return;
    }
    for (size_t i = 0; i < n; i++)
        add_recalled(b, &hits[i], i + 1);
    end_block(b, "recalled-memory",
              "Passages of other sessions that seem to be about the request.");
}

/* -- Notes -- */

static void add_note(Build *b, const BrainHit *h)
{
    buf_addz(&b->item, "note ");
    render_line(&b->item, h->doc, 200);
    if (h->heading.n) {
        buf_addz(&b->item, ", ");
        render_line(&b->item, h->heading, 120);
    }
    buf_addc(&b->item, '\n');
    render_quote(&b->item, h->text, BRAIN_CHUNK_CHARS);
    (void)add_item(b, str_printf(b->arena, "%.*s#%zu", STR_FMT(h->doc), h->part), h->score, h->why);
}

static void build_brain(Build *b)
{
    BrainHit *hits;
    size_t n;
    Err err;

    begin_block(b, CONTEXT_BRAIN);
    if (!b->q->brain)
        return;
    if (!brain_refresh(b->q->brain, LOOK_MS, &err) ||
        !brain_search(b->q->brain, b->arena, b->q->text, MAX_BRAIN, &hits, &n, &err)) {
        degrade(b, CONTEXT_BRAIN, str_of(err.text));
        return;
    }
    for (size_t i = 0; i < n; i++)
        add_note(b, &hits[i]);
    end_block(b, "notes", "From the user's own notes.");
}

/* -- Skills and steps -- */

static Str reasons_of(Arena *a, const SkillPick *p)
{
    AUTO_BUF b = BUF(KIB(4));

    for (size_t i = 0; i < p->n_reasons; i++)
        buf_addf(&b, "%s%.*s", i ? "; " : "", STR_FMT(p->reasons[i]));
    return str_dup(a, buf_str(&b));
}

static void build_skills(Build *b)
{
    ShortlistQuery query = { .text = b->q->text };
    Shortlist *list = &b->ret->skills;
    Err err;

    begin_block(b, CONTEXT_SKILLS);
    if (!b->q->skills)
        return;
    if (!skills_refresh(b->q->skills, LOOK_MS, &err) ||
        !skills_shortlist(b->q->skills, b->arena, &query, list, &err)) {
        degrade(b, CONTEXT_SKILLS, str_of(err.text));
        *list = (Shortlist){ 0 };
        return;
    }
    for (size_t i = 0; i < list->n; i++) {
        buf_addz(&b->item, "- ");
        render_line(&b->item, list->picks[i].name, 64);
        buf_addz(&b->item, ": ");
        render_line(&b->item, list->picks[i].description, SKILL_CHARS);
        buf_addz(&b->item, " (");
        render_line(&b->item, list->picks[i].path, 400);
        buf_addz(&b->item, ")\n");
        (void)add_item(b, list->picks[i].name, list->picks[i].score,
                       reasons_of(b->arena, &list->picks[i]));
    }
    end_block(b, "skills", "Skills that may fit, best first; read the file before using one.");
}

static void add_step(Build *b, const TaskGraph *g, size_t at)
{
    bool first = true;

    buf_addf(&b->item, "%zu. ", at + 1);
    render_line(&b->item, g->nodes[at].text, STEP_CHARS);
    for (size_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].to == at) {
            buf_addf(&b->item, "%s%zu", first ? " (after " : ", ", g->edges[i].from + 1);
            first = false;
        }
    buf_addz(&b->item, first ? "\n" : ")\n");
    (void)add_item(b, str_printf(b->arena, "step:%zu", at + 1), 1,
                   str_of(task_kind_name(g->nodes[at].kind)));
}

/* The steps, not the decision: that one depends on who is asked. */
static void build_graph(Build *b)
{
    TaskGraph *g = graph_build(b->arena, b->q->text, &b->q->graph);

    b->ret->graph = g;
    begin_block(b, CONTEXT_GRAPH);
    b->ret->parts[CONTEXT_GRAPH].truncated = g->truncated;
    if (g->n < 2)
        return;
    for (size_t i = 0; i < g->n; i++)
        add_step(b, g, i);
    end_block(b, "steps", "The request as steps; those that wait for no other can go at once.");
}

/* -- Recent turns -- */

/* The last turns that fit what the blocks have left of the budget. They stand beside the text. */
static void build_recent(Build *b)
{
    ContextBuilt *ret = b->ret;
    size_t used = tokens_estimate(buf_str(&b->text)), first = b->q->n_turns;
    size_t room = b->budget > used ? b->budget - used : 0;

    while (first > (ret->summary_is_new ? 0 : ret->summary_upto)) {
        size_t cost = tokens_estimate(b->q->turns[first - 1].text);

        if (cost > room)
            break;
        room -= cost;
        ret->parts[CONTEXT_RECENT].tokens += cost;
        first--;
    }
    ret->recent = b->q->turns + first;
    ret->n_recent = b->q->n_turns - first;
    ret->parts[CONTEXT_RECENT].items = ret->n_recent;
    ret->parts[CONTEXT_RECENT].truncated = first > ret->summary_upto;
}

void context_build(Arena *a, const ContextQuery *query, ContextBuilt *ret)
{
    static void (*const builders[])(Build * b) = {
        [CONTEXT_USER] = build_user,         [CONTEXT_SUMMARY] = build_summary,
        [CONTEXT_RECALLED] = build_recalled, [CONTEXT_BRAIN] = build_brain,
        [CONTEXT_SKILLS] = build_skills,     [CONTEXT_GRAPH] = build_graph,
        [CONTEXT_RECENT] = build_recent,
    };
    Build b = { .arena = a,
                .q = query,
                .ret = ret,
                .text = BUF(LIMIT_CONTEXT_BYTES),
                .block = BUF(LIMIT_CONTEXT_BYTES),
                .item = BUF(LIMIT_CONTEXT_BYTES),
                .budget = query->budget ? query->budget : CONTEXT_TOKENS };
    AUTO_BUF whole = BUF(LIMIT_CONTEXT_BYTES);

    *ret = (ContextBuilt){ 0 };
    if (query->max_ms)
        b.until = clock_mono_ns() + query->max_ms * 1000000;
    for (size_t i = 0; i < CONTEXT_PART_COUNT; i++) {
        int64_t start = clock_mono_ns();

        if (query->parts && !(query->parts >> i & 1))
            continue;
        if (b.until && i <= CONTEXT_BRAIN && clock_mono_ns() > b.until)
            degrade(&b, (ContextPart)i, STR("there was no time for it"));
        else
            builders[i](&b);
        ret->parts[i].took_ms = (double)(clock_mono_ns() - start) / 1e6;
    }
    if (b.text.n) {
        render_begin(&whole);
        buf_add(&whole, buf_str(&b.text));
        render_end(&whole);
    }
    ret->text = str_dup(a, buf_str(&whole));
    ret->tokens = tokens_estimate(ret->text);
    buf_done(&b.text);
    buf_done(&b.block);
    buf_done(&b.item);
}

/* -- As JSON -- */

/* What was given, as JSON: for the attachment and for the metadata of a run. */

/* Two digits: a search weighs age by the clock, and an attachment must not differ for a second of
 * it. */
static double rounded(double score)
{
    return round(score * 100) / 100;
}

static void put_part(JsonWriter *w, const ContextBuilt *b, ContextPart part)
{
    json_field_begin(w, context_part_name(part), '{');
    json_field_int(w, "items", (int64_t)b->parts[part].items);
    json_field_int(w, "tokens", (int64_t)b->parts[part].tokens);
    if (b->parts[part].truncated)
        json_field_bool(w, "truncated", true);
    if (b->parts[part].degraded)
        json_field_str(w, "degraded", b->parts[part].reason);
    if (part == CONTEXT_SKILLS) {
        /* Skills that were not taken, by why. */
        json_field_begin(w, "omitted", '{');
        json_field_int(w, "platform", (int64_t)b->skills.omitted.platform);
        json_field_int(w, "disabled", (int64_t)b->skills.omitted.disabled);
        json_field_int(w, "score", (int64_t)b->skills.omitted.score);
        json_end(w, '}');
    }
    json_end(w, '}');
}

Str context_receipts_json(Arena *a, const ContextBuilt *built)
{
    AUTO_BUF b = BUF(LIMIT_CONTEXT_BYTES * 4);
    JsonWriter w = JSON_WRITER(&b, 0);

    json_begin(&w, '{');
    json_field_int(&w, "format", 1);
    json_field_int(&w, "tokens", (int64_t)built->tokens);
    json_field_begin(&w, "parts", '{');
    for (int i = 0; i < CONTEXT_PART_COUNT; i++)
        put_part(&w, built, (ContextPart)i);
    json_end(&w, '}');
    json_field_begin(&w, "receipts", '[');
    for (size_t i = 0; i < built->n_receipts; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "kind", str_of(context_part_name(built->receipts[i].part)));
        json_field_str(&w, "id", built->receipts[i].id);
        json_field_double(&w, "score", rounded(built->receipts[i].score));
        json_field_str(&w, "reason", built->receipts[i].reason);
        json_field_int(&w, "chars", (int64_t)built->receipts[i].chars);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return str_dup(a, buf_str(&b));
}

void context_put_counts(JsonWriter *w, const ContextBuilt *built)
{
    json_begin(w, '{');
    json_field_int(w, "tokens", (int64_t)built->tokens);
    for (int i = 0; i <= CONTEXT_BRAIN; i++)
        json_field_int(w, context_part_name((ContextPart)i), (int64_t)built->parts[i].items);
    if (built->truncated)
        json_field_bool(w, "truncated", true);
    json_end(w, '}');
}

void context_put_skills(JsonWriter *w, const Shortlist *list)
{
    json_begin(w, '[');
    for (size_t i = 0; i < list->n; i++) {
        json_begin(w, '{');
        json_field_str(w, "name", list->picks[i].name);
        json_field_double(w, "score", rounded(list->picks[i].score));
        json_field_str(w, "confidence", str_of(skill_confidence_name(list->picks[i].confidence)));
        json_end(w, '}');
    }
    json_end(w, ']');
}
