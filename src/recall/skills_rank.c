/* Which skills fit a request: BM25 over six columns, then what is known beside the words.
 *
 * The weights are those that did best on some two hundred real skills; that the body counts at all
 * is worth more than any of them, since people ask in words that no description has room for. Texts
 * are cut into terms as the search index does it, so that endings and writing without spaces work
 * here too. */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "recall/skills_inside.h"
#include "recall/skills_words.h"
#include "text/human.h"
#include "text/letters.h"

enum { REQUEST_WORDS = 48 };

/* Of the best by its words: where few skills share all words, habits must not decide what fits. */
static const double CUT = 0.25;

const char *skill_confidence_name(SkillConfidence c)
{
    static const char *const names[] = {
#define X(id, name) name,
        SKILL_CONFIDENCES(X)
#undef X
    };

    return names[c];
}

/* -- the index -- */

bool skills_prepare(Skills *s, Err *err)
{
    s->db = db_open_own(":memory:", false, err);
    return s->db &&
           db_script(s->db,
                     "CREATE VIRTUAL TABLE skills USING fts5(name, description, tags, category,"
                     " headings, body, tokenize = 'ascii', content = '')",
                     err);
}

static bool add_row(Skills *s, size_t at, Err *err)
{
    const Skill *skill = &s->all[at];
    const Str columns[] = { skill->name,     skill->description, skill->tags,
                            skill->category, skill->headings,    skill->body };
    Buf bufs[ARRAY_LEN(columns)];
    DbValue values[1 + ARRAY_LEN(columns)] = { INT((int64_t)at + 1) };
    bool ok;

    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        bufs[i] = BUF((size_t)LIMIT_SKILL_BYTES * 4);
        (void)terms_write(&bufs[i], columns[i]);
        values[1 + i] = TEXT(buf_str(&bufs[i]));
    }
    ok = db_exec_values(s->db, NULL,
                        "INSERT INTO skills(rowid, name, description, tags, category, headings, "
                        "body) VALUES(?, ?, ?, ?, ?, ?, ?)",
                        true, values, ARRAY_LEN(values), err);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        buf_done(&bufs[i]);
    return ok;
}

bool skills_index(Skills *s, Err *err)
{
    if (!db_script(s->db, "BEGIN; INSERT INTO skills(skills) VALUES('delete-all')", err))
        return false;
    /* "pdf-forms" is named by "pdf forms" too. */
    s->names = ARENA_ARRAY(s->arena, Str, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        s->names[i] = str_printf(s->arena, " %.*s ", STR_FMT(text_words(s->arena, s->all[i].name)));
    for (size_t i = 0; i < s->n; i++)
        if (!add_row(s, i, err)) {
            Err second;

            (void)!db_script(s->db, "ROLLBACK", &second);
            return false;
        }
    return db_script(s->db, "COMMIT", err);
}

/* -- ranking -- */

typedef struct Candidate {
    const Skill *skill;
    double words, score; /* of the words alone; with what else is known */
    bool matched, named;
    size_t name_bytes;
} Candidate;

typedef struct Shortlisting {
    Skills *s;
    Arena *arena;
    Words words;
    Str request; /* its words alone, lower case, a blank at both ends */
    Candidate *all;
    double best, top; /* by words alone; by everything */
} Shortlisting;

static bool match_words(Shortlisting *k, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Str any = words_any(k->arena, &k->words);
    bool ok;

    if (!any.n)
        return true;
    ok = db_query(k->s->db, &rows, err,
                  "SELECT rowid, -bm25(skills, 3, 2, 2, 0.5, 1, 0.5) FROM skills WHERE skills "
                  "MATCH ?",
                  TEXT(any));
    while (ok && db_next(rows, &ok, err)) {
        Candidate *c = &k->all[row_int(rows, 0) - 1];

        c->words = row_real(rows, 1);
        c->matched = true;
    }
    return ok;
}

static bool is_named(const Shortlisting *k, Str name)
{
    return name.n > 4 && str_find(k->request, name) < k->request.n;
}

static double prior(const Skill *skill)
{
    return 0.3 * log2(1 + (double)skill->successes) - 0.5 * (double)skill->failures -
           (skill->experimental ? 1 : 0);
}

static bool runs_here(const Skill *skill, Str platform)
{
    Str rest = skill->platforms, one;

    if (!rest.n)
        return true;
    while (str_split(&rest, ' ', &one))
        if (str_eq_nocase(one, platform) || str_is_one_of(one, "all|any|*"))
            return true;
    return false;
}

static int best_first(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;

    if (x->named != y->named)
        return x->named ? -1 : 1;
    if (x->named && x->name_bytes != y->name_bytes)
        return x->name_bytes < y->name_bytes ? 1 : -1;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return str_cmp(x->skill->name, y->skill->name);
}

/* Those that are in question at all, in the front; how many. */
static size_t gather(Shortlisting *k, Str platform, Shortlist *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < k->s->n; i++) {
        Candidate c = k->all[i];

        c.skill = &k->s->all[i];
        c.named = is_named(k, k->s->names[i]);
        c.name_bytes = c.skill->name.n;
        if (!c.matched && !c.named)
            continue;
        if (!runs_here(c.skill, platform)) {
            ret->omitted.platform++;
        } else if (c.skill->disabled) {
            ret->omitted.disabled++;
        } else {
            c.score = c.words + prior(c.skill);
            k->best = c.words > k->best ? c.words : k->best;
            k->top = c.score > k->top ? c.score : k->top;
            k->all[n++] = c;
        }
    }
    return n;
}

/* -- what is said about them -- */

static void add_reason(SkillPick *p, Str reason)
{
    if (p->n_reasons < SKILL_REASONS)
        p->reasons[p->n_reasons++] = reason;
}

static size_t add_words(Shortlisting *k, SkillPick *p, const char *where, Str text)
{
    Str which;
    size_t n = words_in(k->arena, &k->words, text, &which);

    if (n)
        add_reason(p, str_printf(k->arena, "%s: %.*s", where, STR_FMT(which)));
    return n;
}

static SkillConfidence confidence(const Shortlisting *k, const Candidate *c, size_t words)
{
    double share = k->words.n ? (double)words / (double)k->words.n : 0;

    if (c->named || (share >= 0.6 && c->words >= 0.8 * k->best && words > 1))
        return SKILL_HIGH;
    return share >= 0.34 && c->words >= 0.5 * k->best ? SKILL_MEDIUM : SKILL_LOW;
}

static void describe(Shortlisting *k, const Candidate *c, SkillPick *p)
{
    const Skill *s = c->skill;
    Str all = str_printf(k->arena, "%.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s", STR_FMT(s->name),
                         STR_FMT(s->description), STR_FMT(s->tags), STR_FMT(s->category),
                         STR_FMT(s->headings), STR_FMT(s->body));

    *p = (SkillPick){ .name = str_dup(k->arena, s->name),
                      .description = str_dup(k->arena, s->description),
                      .path = str_dup(k->arena, s->path),
                      .origin = str_dup(k->arena, s->origin),
                      .score = c->named ? c->score + k->top : c->score };
    p->confidence = confidence(k, c, words_in(k->arena, &k->words, all, NULL));
    if (c->named)
        add_reason(p, STR("named in the request"));
    (void)add_words(k, p, "name", s->name);
    (void)add_words(k, p, "description", s->description);
    (void)add_words(k, p, "tags", s->tags);
    if (!p->n_reasons)
        (void)add_words(k, p, "text", all);
    if (s->successes)
        add_reason(
            p, str_printf(k->arena, "used %.*s", STR_FMT(human_n(k->arena, s->successes, "time"))));
}

bool skills_shortlist(Skills *s, Arena *a, const ShortlistQuery *query, Shortlist *ret, Err *err)
{
    Str text = str_head(query->text, LIMIT_REQUEST_READ);
    Shortlisting k = { .s = s, .arena = a, .words = words_of(a, text, REQUEST_WORDS) };
    Str platform = query->platform.n ? query->platform : STR("linux");
    size_t max = query->max && query->max < SHORTLIST_MOST ? query->max : SHORTLIST_MOST, n;

    *ret = (Shortlist){ 0 };
    k.request = str_printf(a, " %.*s ", STR_FMT(text_words(a, text)));
    k.all = ARENA_ARRAY(a, Candidate, s->n + 1);
    if (!match_words(&k, err))
        return false;
    n = gather(&k, platform, ret);
    qsort(k.all, n, sizeof *k.all, best_first);
    ret->picks = ARENA_ARRAY(a, SkillPick, max + 1);
    for (size_t i = 0; i < n; i++) {
        if (ret->n == max || (!k.all[i].named && k.all[i].words < CUT * k.best))
            ret->omitted.score++;
        else
            describe(&k, &k.all[i], &ret->picks[ret->n++]);
    }
    return true;
}
