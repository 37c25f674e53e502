/* What shells offer beside words and options: session ids, templates, settings, skills. A shell asks at
 * each press of Tab, so there is little time to look for new sessions: what is known by then is listed. */
#include "achievements/catalogue.h"
#include "cmd/cli.h"
#include "recall/history.h"
#include "recall/skills.h"
#include "templates/template.h"
#include "text/utf8.h"

enum { MAX_SESSIONS = 200, MAX_TEXT = 60, LOOK_MS = 200 };

/* "value<Tab>what it is": fish takes it so, the scripts of bash and zsh cut it. */
static void put_value(Cli *cli, Str value, Str text)
{
    say_text(cli, value, false);
    if (text.n) {
        say(cli, "\t");
        say_text(cli, utf8_fit(cli->arena, text, MAX_TEXT), false);
    }
    say(cli, "\n");
}

static bool open_list(Cli *cli, History **ret_history, HistoryList **ret, Err *err)
{
    HistoryWhere where = { .files = !cli->where.home, .budget_ms = LOOK_MS };

    if (!cli_homes(cli, &where.homes, err) || !cli_store(cli, &where.store, err))
        return false;
    *ret_history = history_open(&where);
    *ret = history_list(*ret_history, &(HistoryQuery){ 0 }, err);
    return *ret != NULL;
}

static bool put_sessions(Cli *cli, Err *err)
{
    AUTO(History) *h = NULL;
    AUTO(HistoryList) *list = NULL;
    bool more = true;

    if (!open_list(cli, &h, &list, err))
        return false;
    for (size_t i = 0; i < MAX_SESSIONS; i++) {
        HistoryItem item;

        if (!history_next(list, cli->arena, &item, &more, err))
            return false;
        if (!more)
            break;
        put_value(cli, item.lineage.tip.id, item.lineage.title);
    }
    return true;
}

static bool put_sources(Cli *cli, Err *err)
{
    AUTO(History) *h = NULL;
    AUTO(HistoryList) *list = NULL;
    Str seen[32];
    size_t n = 0;
    bool more = true;

#define X(id, name, title) seen[n++] = STR(name);
    ORIGINS(X)
#undef X
    for (size_t i = 0; i < n; i++)
        put_value(cli, seen[i], STR_NONE);
    if (!open_list(cli, &h, &list, err))
        return false;
    for (size_t i = 0; i < MAX_SESSIONS && n < ARRAY_LEN(seen); i++) {
        HistoryItem item;
        size_t k = 0;

        if (!history_next(list, cli->arena, &item, &more, err))
            return false;
        if (!more)
            break;
        while (k < n && !str_eq(seen[k], item.lineage.tip.source))
            k++;
        if (k == n && item.lineage.tip.source.n)
            put_value(cli, seen[n++] = item.lineage.tip.source, STR_NONE);
    }
    return true;
}

static bool put_templates(Cli *cli, Err *err)
{
    const Homes *homes;
    Template *all;
    size_t n;

    if (!cli_homes(cli, &homes, err) || !templates_load(cli->arena, homes, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        put_value(cli, all[i].name, all[i].description);
    return true;
}

static bool put_settings(Cli *cli, Err *err)
{
    (void)err;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        put_value(cli, str_of(setting_infos[i].key), str_of(setting_infos[i].help));
    return true;
}

static bool put_skills(Cli *cli, Err *err)
{
    SkillPlaces places = { 0 };
    AUTO(Skills) *s = NULL;
    const Skill *all;
    size_t n;

    if (!cli_homes(cli, &places.homes, err))
        return false;
    s = skills_open(&places, err);
    if (!s || !skills_refresh(s, 0, err))
        return false;
    all = skills_all(s, &n);
    for (size_t i = 0; i < n; i++)
        put_value(cli, all[i].name, all[i].description);
    return true;
}

static bool put_badges(Cli *cli, Err *err)
{
    const Catalogue *c = catalogue();

    (void)err;
    for (size_t i = 0; i < c->n; i++)
        put_value(cli, c->all[i].id, c->all[i].name);
    return true;
}

bool help_values(Cli *cli, Str kind, Err *err)
{
    static const struct {
        const char *kind;
        bool (*put)(Cli *cli, Err *err);
    } kinds[] = { { "sessions", put_sessions },   { "sources", put_sources },
                  { "templates", put_templates }, { "settings", put_settings },
                  { "skills", put_skills },       { "badges", put_badges } };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eqz(kind, kinds[i].kind))
            return kinds[i].put(cli, err);
    return err_set(err, ERR_USAGE, "no values for '%.*s'", STR_FMT(kind));
}
