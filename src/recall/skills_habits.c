/* What is known of skills beside themselves. Hermes counts their use in .usage.json in its skills
 * folder, and lists the ones that its user has switched off under skills.disabled in config.yaml.
 * Both are only read, and neither has to be there or make sense. */
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "recall/skills_inside.h"
#include "text/json.h"
#include "text/yml.h"

static Skill *named(Skill *skills, size_t n, Str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(skills[i].name, name))
            return &skills[i];
    return NULL;
}

static int64_t count_at(Json record, const char *key)
{
    int64_t n = 0;

    return json_int(json_get(record, str_of(key)), &n) && n > 0 ? n : 0;
}

static void read_usage(Arena *a, const SkillRoot *root, Skill *skills, size_t n)
{
    Str path = str_join_path(a, root->folder, STR(".usage.json")), text, name;
    AUTO(JsonDoc) *doc = NULL;
    JsonIter it;
    Json record;
    Err err;

    if (!file_read(a, str_z(a, path), LIMIT_SKILL_BYTES, &text, &err) ||
        !(doc = json_parse(text, &err)))
        return;
    it = json_each(json_root(doc));
    while (json_next(&it, &name, &record)) {
        Skill *skill = named(skills, n, name);

        if (skill) {
            skill->successes += count_at(record, "use_count");
            skill->failures += count_at(record, "recent_failures");
        }
    }
}

static void disable_listed(yaml_document_t *doc, Skill *skills, size_t n)
{
    yaml_node_t *root = yaml_document_get_root_node(doc);
    yaml_node_t *list = yml_member(doc, yml_member(doc, root, "skills"), "disabled"), *item;

    for (size_t i = 0; (item = yml_item(doc, list, i)); i++) {
        Skill *skill = named(skills, n, yml_text(item));

        if (skill)
            skill->disabled = true;
    }
}

static void read_disabled(Arena *a, const SkillRoot *root, Skill *skills, size_t n)
{
    Str path = str_join_path(a, root->folder, STR("../config.yaml")), text;
    yaml_document_t doc;
    Err err;

    if (!file_read(a, str_z(a, path), LIMIT_CONFIG_BYTES, &text, &err))
        return;
    if (!yml_load(text, 1, &doc, &err)) {
        log_note("no disabled skills from '%.*s': %s", STR_FMT(path), err.text);
        return;
    }
    disable_listed(&doc, skills, n);
    yaml_document_delete(&doc);
}

void skills_read_habits(Arena *a, const SkillRoot *root, Skill *skills, size_t n)
{
    read_usage(a, root, skills, n);
    read_disabled(a, root, skills, n);
}
