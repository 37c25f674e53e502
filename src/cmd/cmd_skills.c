/* talaria skills: the skills on this machine, and which of them fit a request. */
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "recall/skills.h"
#include "text/human.h"
#include "text/utf8.h"

static const Option where_options[] = {
    { OPT_FOLDER("project", "DIR",
                 "include the skills of this project (default: current folder)") },
    { OPT_FOLDER("folder", "DIR", "use only the skills below this folder") },
    { 0 },
};

static bool open_skills(Cli *cli, const Args *args, Skills **ret, Err *err)
{
    SkillPlaces places = { .project = args_text(args, "project"),
                           .only = args_text(args, "folder") };
    char here[LIMIT_PATH_BYTES];

    if (!cli_homes(cli, &places.homes, err))
        return false;
    if (places.only.n && access(args_z(args, "folder"), F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "no folder '%.*s'", STR_FMT(places.only));
    if (!places.project.n && getcwd(here, sizeof here))
        places.project = str_dup(cli->arena, str_of(here));
    *ret = skills_open(&places, err);
    return *ret && skills_refresh(*ret, 0, err);
}

/* -- list -- */

static void put_skill(JsonWriter *w, const Skill *s)
{
    json_field_str(w, "name", s->name);
    json_field_str(w, "description", s->description);
    json_field_str(w, "tags", s->tags);
    json_field_str(w, "category", s->category);
    json_field_str(w, "platforms", s->platforms);
    json_field_str(w, "origin", s->origin);
    json_field_str(w, "path", s->path);
    json_field_bool(w, "disabled", s->disabled);
    json_field_bool(w, "experimental", s->experimental);
    json_field_int(w, "uses", s->successes);
    if (s->warning.n)
        json_field_str(w, "warning", s->warning);
}

static void print_skill(Cli *cli, Str name, Str origin, Str description)
{
    size_t width = cli_width(cli);

    say(cli, "%s", style(cli, STYLE_CYAN));
    say_text(cli, utf8_fit(cli->arena, name, 40), false);
    say(cli, "%s  %s%.*s%s  ", style(cli, STYLE_OFF), style(cli, STYLE_DIM), STR_FMT(origin),
        style(cli, STYLE_OFF));
    say_text(cli, utf8_fit(cli->arena, description, width > 80 ? width - 50 : 40), false);
    say(cli, "\n");
}

static const TableColumn list_columns[] = {
    { .title = "NAME", .style = STYLE_CYAN },
    { .title = "FROM", .style = STYLE_DIM },
    { .title = "DESCRIPTION", .min = 20 },
};

static void list_text(Cli *cli, const Skill *all, size_t n, size_t shadowed)
{
    AUTO(Table) *t = table_begin(cli, list_columns, ARRAY_LEN(list_columns));

    for (size_t i = 0; i < n; i++) {
        table_cell(t, all[i].name);
        table_cell(t, all[i].origin);
        table_cell(t, all[i].description);
        if (all[i].warning.n)
            log_warning("'%.*s': %.*s", STR_FMT(all[i].path), STR_FMT(all[i].warning));
    }
    table_end(t);
    if (!n)
        log_note("no skills found");
    if (shadowed)
        log_note("%.*s not listed: another skill has the same name, or the limit was reached",
                 STR_FMT(human_n(cli->arena, (int64_t)shadowed, "skill")));
}

static bool list(Cli *cli, const Args *args, Err *err)
{
    AUTO(Skills) *s = NULL;
    const Skill *all;
    JsonWriter w;
    size_t n;

    if (!open_skills(cli, args, &s, err))
        return false;
    all = skills_all(s, &n);
    if (!cli->json) {
        list_text(cli, all, n, skills_shadowed(s));
        return true;
    }
    w = cli_json_begin(cli);
    json_field_begin(&w, "skills", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        put_skill(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_field_int(&w, "shadowed", (int64_t)skills_shadowed(s));
    cli_json_end(cli, &w);
    return true;
}

/* -- search -- */

static void put_pick(JsonWriter *w, const SkillPick *p)
{
    json_begin(w, '{');
    json_field_str(w, "name", p->name);
    json_field_str(w, "description", p->description);
    json_field_str(w, "path", p->path);
    json_field_str(w, "origin", p->origin);
    json_field_double(w, "score", p->score);
    json_field_str(w, "confidence", str_of(skill_confidence_name(p->confidence)));
    json_field_begin(w, "reasons", '[');
    for (size_t i = 0; i < p->n_reasons; i++)
        json_put_str(w, p->reasons[i]);
    json_end(w, ']');
    json_end(w, '}');
}

static void search_json(Cli *cli, Str request, const Shortlist *found)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_str(&w, "query", request);
    json_field_begin(&w, "skills", '[');
    for (size_t i = 0; i < found->n; i++)
        put_pick(&w, &found->picks[i]);
    json_end(&w, ']');
    json_field_begin(&w, "omitted", '{');
    json_field_int(&w, "platform", (int64_t)found->omitted.platform);
    json_field_int(&w, "disabled", (int64_t)found->omitted.disabled);
    json_field_int(&w, "score", (int64_t)found->omitted.score);
    json_end(&w, '}');
    cli_json_end(cli, &w);
}

static void search_text(Cli *cli, const Shortlist *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const SkillPick *p = &found->picks[i];

        print_skill(cli, p->name, p->origin, p->description);
        say(cli, "  %s%.1f %s%s ", style(cli, STYLE_GREEN), p->score,
            skill_confidence_name(p->confidence), style(cli, STYLE_OFF));
        for (size_t j = 0; j < p->n_reasons; j++) {
            say(cli, "%s", j ? "; " : " ");
            say_text(cli, p->reasons[j], false);
        }
        say(cli, "\n");
    }
    if (!found->n)
        log_note("no skill matches");
    if (found->omitted.score + found->omitted.platform + found->omitted.disabled)
        log_note("not shown: %zu with a low score, %zu for other platforms, %zu disabled",
                 found->omitted.score, found->omitted.platform, found->omitted.disabled);
}

static bool search(Cli *cli, const Args *args, Err *err)
{
    AUTO_BUF request = BUF(LIMIT_REQUEST_READ);
    AUTO(Skills) *s = NULL;
    Shortlist found;

    for (size_t i = 0; i < args_count(args); i++)
        buf_addf(&request, "%s%.*s", i ? " " : "", STR_FMT(args_operand(args, i)));
    if (!open_skills(cli, args, &s, err) ||
        !skills_shortlist(s, cli->arena, &(ShortlistQuery){ .text = buf_str(&request) }, &found,
                          err))
        return false;
    if (cli->json)
        search_json(cli, buf_str(&request), &found);
    else
        search_text(cli, &found);
    return true;
}

/* -- show -- */

static bool show(Cli *cli, const Args *args, Err *err)
{
    Str name = args_operand(args, 0), text;
    AUTO(Skills) *s = NULL;
    const Skill *skill;
    JsonWriter w;

    if (!open_skills(cli, args, &s, err))
        return false;
    skill = skills_find(s, name);
    if (!skill)
        return err_set(err, ERR_NOT_FOUND, "no skill '%.*s'; 'talaria skills list' shows them",
                       STR_FMT(name));
    if (!file_read(cli->arena, str_z(cli->arena, skill->path), LIMIT_SKILL_BYTES, &text, err))
        return false;
    if (!cli->json) {
        log_note("%.*s", STR_FMT(skill->path));
        say_text(cli, text, true);
        return true;
    }
    w = cli_json_begin(cli);
    put_skill(&w, skill);
    json_field_str(&w, "text", text);
    cli_json_end(cli, &w);
    return true;
}

static const Example examples[] = {
    { "talaria skills search 'roll back the last deployment'", "find skills for a request" },
    { "talaria skills list --json", "all skills with their paths, as JSON" },
    { "talaria skills show NAME", "print a skill's SKILL.md" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "list the skills of every agent on this machine",
      .options = where_options,
      .run = list },
    { .name = "search",
      .operands = "REQUEST...",
      .summary = "find the skills that match a request, best first, with reasons",
      .options = where_options,
      .run = search },
    { .name = "show",
      .operands = "NAME",
      .values = "skills",
      .summary = "print a skill's SKILL.md",
      .options = where_options,
      .run = show },
    { 0 },
};

const Command cmd_skills = {
    .name = "skills",
    .summary = "list and search skills",
    .details =
        "A skill is a folder with a SKILL.md. Talaria reads those of Hermes (with its profiles, "
        "if enabled), Claude Code and its plugins, ~/.agents and the project. A search returns "
        "at most eight, ranked by name, description, tags, headings and text.",
    .examples = examples,
    .children = children,
};
