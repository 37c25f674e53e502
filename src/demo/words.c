#include "demo/words.h"

#include <time.h>

#include "base/limits.h"

/* Guillemets stand in no program text of the demo, braces in most. */
static const Str OPEN = STR_INIT("«"), CLOSE = STR_INIT("»");

/* -- dice ------------------------------------------------------------------------------- */

uint64_t dice_roll(Dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

Dice dice_of(const char *what, uint64_t n)
{
    Dice d = { 0x7A1A21A5EED00000u + n };

    for (; *what; what++)
        d.state = (d.state ^ (unsigned char)*what) * 0x100000001B3u;
    (void)dice_roll(&d);
    return d;
}

size_t dice_below(Dice *d, size_t n)
{
    return n ? (size_t)(dice_roll(d) % n) : 0;
}

int64_t dice_span(Dice *d, int64_t least, int64_t most)
{
    return least + (int64_t)dice_below(d, (size_t)(most - least + 1));
}

bool dice_chance(Dice *d, unsigned percent)
{
    return dice_below(d, 100) < percent;
}

Json dice_pick(Dice *d, Json array)
{
    return json_at(array, dice_below(d, json_count(array)));
}

Json dice_weighted(Dice *d, Json array)
{
    JsonIter it = json_each(array);
    int64_t sum = 0, at;
    Json item;
    Str unused;

    while (json_next(&it, &unused, &item))
        sum += world_int(item, "weight", 0);
    at = (int64_t)dice_below(d, (size_t)sum);
    it = json_each(array);
    while (json_next(&it, &unused, &item))
        if ((at -= world_int(item, "weight", 0)) < 0)
            return item;
    return (Json){ 0 };
}

/* -- scenes ----------------------------------------------------------------------------- */

Scene scene_of(Arena *a, const World *w, Json thread, double at, uint64_t seed)
{
    Scene s = { .arena = a, .world = w, .thread = thread, .at = at };

    s.dice = dice_of("scene", seed);
    s.project = world_find(w->projects, "id", world_str(thread, "project"));
    s.lang = world_str(thread, "lang");
    s.voice = json_get(world_get(w->general, "talk"), s.lang);
    s.cwd = world_str(s.project, "cwd");
    s.branch = world_str(thread, "branch");
    if (!s.branch.p)
        s.branch = json_str(dice_pick(&s.dice, world_get(s.project, "branches")));
    for (size_t i = 0; i < DECKS; i++)
        s.decks[i] = dice_below(&s.dice, 1000);
    if (world_str(thread, "skill").p)
        scene_set(&s, "skill", world_str(thread, "skill"));
    return s;
}

static void remember(Scene *s, Str name, Str value, bool passing)
{
    SceneVar var = { str_dup(s->arena, name), value, passing };

    for (size_t i = 0; i < s->n_vars; i++)
        if (str_eq(s->vars[i].name, name)) {
            s->vars[i] = var;
            return;
        }
    ARENA_PUSH(s->arena, s->vars, s->n_vars, s->cap_vars, var);
}

void scene_set(Scene *s, const char *name, Str value)
{
    remember(s, str_of(name), value, false);
}

void scene_move_begin(Scene *s)
{
    s->in_move = true;
}

void scene_move_end(Scene *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_vars; i++)
        if (!s->vars[i].passing)
            s->vars[kept++] = s->vars[i];
    s->n_vars = kept;
    s->in_move = false;
}

Str words_date(Arena *a, double at, int days)
{
    time_t t = (time_t)at + (time_t)days * 86400;
    struct tm tm;

    gmtime_r(&t, &tm);
    return str_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* -- holes ------------------------------------------------------------------------------ */

static Str expand(Scene *s, Str text);

/* "4.90-5.60" and "12-40": bounds as whole numbers, and how many digits follow the point. */
static bool range_read(Str slot, int64_t *least, int64_t *most, int *digits)
{
    size_t dash = str_find(slot, STR("-")), n = 0;
    Str bounds[2] = { str_head(slot, dash), str_skip(slot, dash + 1) };
    char plain[2][24];

    if (dash == 0 || dash == slot.n || slot.n > 20)
        return false;
    *digits = 0;
    for (size_t b = 0; b < 2; b++) {
        size_t point = str_find(bounds[b], STR("."));

        n = 0;
        for (size_t i = 0; i < bounds[b].n; i++)
            if (i != point)
                plain[b][n++] = bounds[b].p[i];
        plain[b][n] = '\0';
        *digits = point < bounds[b].n ? (int)(bounds[b].n - point - 1) : 0;
    }
    return str_to_int(str_of(plain[0]), 0, 1000000000, least) &&
           str_to_int(str_of(plain[1]), *least, 1000000000, most);
}

static bool range_roll(Scene *s, Str slot, Str *ret)
{
    int64_t least, most, n, unit = 1;
    int digits;

    if (!range_read(slot, &least, &most, &digits))
        return false;
    n = dice_span(&s->dice, least, most);
    for (int i = 0; i < digits; i++)
        unit *= 10;
    *ret = digits ? str_printf(s->arena, "%lld.%0*lld", (long long)(n / unit), digits,
                               (long long)(n % unit))
                  : str_printf(s->arena, "%lld", (long long)n);
    return true;
}

static Str long_date(Scene *s)
{
    static const char *const months[] = { "January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December" };
    time_t t = (time_t)s->at;
    struct tm tm;

    gmtime_r(&t, &tm);
    return str_printf(s->arena, "%d %s %d", tm.tm_mday, months[tm.tm_mon % 12], tm.tm_year + 1900);
}

static Str month_before(Scene *s, int64_t months)
{
    time_t t = (time_t)s->at;
    struct tm tm;
    int64_t n;

    gmtime_r(&t, &tm);
    n = (tm.tm_year + 1900) * 12LL + tm.tm_mon - months;
    return str_printf(s->arena, "%04lld-%02lld", (long long)(n / 12), (long long)(n % 12 + 1));
}

static Str fill(Scene *s, Str slot);

/* "Gull Rock" as it stands in names of files. */
static Str slug(Scene *s, Str name)
{
    Str text = fill(s, name);
    char *p = str_z(s->arena, text);

    for (size_t i = 0; i < text.n; i++)
        p[i] = p[i] == ' ' ? '-' : p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] | 0x20) : p[i];
    return (Str){ p, text.n };
}

static Str hex_digits(Scene *s, int64_t n)
{
    char *p = arena_alloc(s->arena, (size_t)n + 1);

    for (int64_t i = 0; i < n; i++)
        p[i] = "0123456789abcdef"[dice_below(&s->dice, 16)];
    return (Str){ p, (size_t)n };
}

static bool fill_known(Scene *s, Str slot, Str *ret)
{
    int64_t n;

    if (str_eqz(slot, "date"))
        *ret = words_date(s->arena, s->at, 0);
    else if (str_eqz(slot, "long"))
        *ret = long_date(s);
    else if (str_eqz(slot, "year"))
        *ret = str_head(words_date(s->arena, s->at, 0), 4);
    else if (str_starts(slot, STR("day+")) && str_to_int(str_skip(slot, 4), 0, 400, &n))
        *ret = words_date(s->arena, s->at, (int)n);
    else if (str_starts(slot, STR("day-")) && str_to_int(str_skip(slot, 4), 0, 400, &n))
        *ret = words_date(s->arena, s->at, (int)-n);
    else if (str_starts(slot, STR("hex")) && str_to_int(str_skip(slot, 3), 1, 64, &n))
        *ret = hex_digits(s, n);
    else if (str_starts(slot, STR("mon-")) && str_to_int(str_skip(slot, 4), 0, 400, &n))
        *ret = month_before(s, n);
    else if (str_starts(slot, STR("~")))
        *ret = slug(s, str_skip(slot, 1));
    else if (str_eqz(slot, "branch"))
        *ret = s->branch;
    else if (str_eqz(slot, "cwd"))
        *ret = s->cwd;
    else if (str_eqz(slot, "project"))
        *ret = world_str(s->project, "id");
    else
        return range_roll(s, slot, ret);
    return true;
}

static bool fill_remembered(Scene *s, Str slot, Str *ret)
{
    const Json places[] = { s->thread, s->project, s->world->general };

    for (size_t i = 0; i < s->n_vars; i++)
        if (str_eq(s->vars[i].name, slot)) {
            *ret = s->vars[i].value;
            return true;
        }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        Json def = json_get(world_get(places[i], "vars"), slot);

        if (json_type(def) == JSON_NONE)
            continue;
        *ret = expand(s, json_str(json_type(def) == JSON_ARRAY ? dice_pick(&s->dice, def) : def));
        remember(s, slot, *ret, false);
        return true;
    }
    return false;
}

static bool fill_word(Scene *s, Str slot, Str *ret)
{
    const Json places[] = { world_get(s->project, "words"), world_get(s->world->general, "words"),
                            s->voice };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        Json list = json_get(places[i], slot);

        if (json_count(list) == 0)
            continue;
        *ret = expand(s, json_str(dice_pick(&s->dice, list)));
        if (s->in_move)
            remember(s, slot, *ret, true);
        return true;
    }
    return false;
}

static Str fill(Scene *s, Str slot)
{
    size_t equals = str_find(slot, STR("="));
    Str name = str_head(slot, equals), value = STR_NONE;

    if (fill_known(s, slot, &value) || fill_remembered(s, name, &value) ||
        fill_word(s, slot, &value))
        return value;
    if (equals < slot.n && range_roll(s, str_skip(slot, equals + 1), &value)) {
        remember(s, name, value, s->in_move);
        return value;
    }
    /* A hole that nothing fills is a mistake in data/demo/: left visible, and a test looks for it. */
    return str_printf(s->arena, "«%.*s»", STR_FMT(slot));
}

static Str expand(Scene *s, Str text)
{
    AUTO_BUF out = BUF(MIB(1));

    for (;;) {
        size_t open = str_find(text, OPEN), close = str_find(str_skip(text, open), CLOSE);

        buf_add(&out, str_head(text, open));
        if (open + close >= text.n) {
            buf_add(&out, str_skip(text, open));
            break;
        }
        buf_add(&out, fill(s, (Str){ text.p + open + OPEN.n, close - OPEN.n }));
        text = str_skip(text, open + close + CLOSE.n);
    }
    return str_dup(s->arena, buf_str(&out));
}

/* -- texts ------------------------------------------------------------------------------ */

Str words_fill(Scene *s, Json text)
{
    AUTO_BUF lines = BUF(MIB(1));
    JsonIter it;
    Json line;
    Str unused;
    bool first = true;

    if (json_type(text) != JSON_ARRAY)
        return expand(s, json_str(text));
    it = json_each(text);
    while (json_next(&it, &unused, &line)) {
        if (!first)
            buf_addc(&lines, '\n');
        buf_add(&lines, json_str(line));
        first = false;
    }
    return expand(s, buf_str(&lines));
}

Str words_pick(Scene *s, Json texts)
{
    return words_fill(s, dice_pick(&s->dice, texts));
}

Str words_say(Scene *s, const char *what)
{
    return words_pick(s, world_get(s->voice, what));
}

static bool is_lines(Str key)
{
    return str_eqz(key, "output") || str_eqz(key, "content") || str_eqz(key, "snapshot");
}

static void put_text(Scene *s, Str text, JsonWriter *w)
{
    static const Str NUMBER = STR_INIT("«#");
    Str value;

    if (str_starts(text, NUMBER) && str_ends(text, CLOSE) &&
        range_roll(s, (Str){ text.p + NUMBER.n, text.n - NUMBER.n - CLOSE.n }, &value))
        json_put_raw(w, value);
    else
        json_put_str(w, expand(s, text));
}

void words_json(Scene *s, Json v, JsonWriter *w)
{
    JsonType type = json_type(v);
    JsonIter it = json_each(v);
    Json item;
    Str key;

    if (type == JSON_STRING) {
        put_text(s, json_str(v), w);
        return;
    }
    if (type != JSON_ARRAY && type != JSON_OBJECT) {
        json_put(w, v);
        return;
    }
    json_begin(w, type == JSON_ARRAY ? '[' : '{');
    while (json_next(&it, &key, &item)) {
        if (type == JSON_OBJECT)
            json_key_str(w, key);
        if (type == JSON_OBJECT && is_lines(key) && json_type(item) == JSON_ARRAY)
            json_put_str(w, words_fill(s, item));
        else
            words_json(s, item, w);
    }
    json_end(w, type == JSON_ARRAY ? ']' : '}');
}
