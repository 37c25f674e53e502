/* What is known of skills beside themselves. Hermes counts their use in .usage.json in its skills
 * folder, and lists the ones that its user has switched off under skills.disabled in config.yaml. Both
 * are only read, and neither has to be there or make sense. */
#include <yaml.h>

#include "base/file.h"
#include "base/limits.h"
#include "recall/skills_inside.h"
#include "text/json.h"

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

static Str scalar(yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE)
        return STR_NONE;
    return (Str){ (const char *)node->data.scalar.value, node->data.scalar.length };
}

static yaml_node_t *member(yaml_document_t *doc, yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
        if (str_eqz(scalar(yaml_document_get_node(doc, p->key)), key))
            return yaml_document_get_node(doc, p->value);
    return NULL;
}

static void disable_listed(yaml_document_t *doc, Skill *skills, size_t n)
{
    yaml_node_t *root = yaml_document_get_root_node(doc);
    yaml_node_t *list = member(doc, member(doc, root, "skills"), "disabled");

    if (!list || list->type != YAML_SEQUENCE_NODE)
        return;
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top;
         i++) {
        Skill *skill = named(skills, n, scalar(yaml_document_get_node(doc, *i)));

        if (skill)
            skill->disabled = true;
    }
}

static void read_disabled(Arena *a, const SkillRoot *root, Skill *skills, size_t n)
{
    Str path = str_join_path(a, root->folder, STR("../config.yaml")), text;
    yaml_parser_t parser;
    yaml_document_t doc;
    Err err;

    if (!file_read(a, str_z(a, path), LIMIT_CONFIG_BYTES, &text, &err) ||
        !yaml_parser_initialize(&parser))
        return;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    if (yaml_parser_load(&parser, &doc)) {
        disable_listed(&doc, skills, n);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
}

void skills_read_habits(Arena *a, const SkillRoot *root, Skill *skills, size_t n)
{
    read_usage(a, root, skills, n);
    read_disabled(a, root, skills, n);
}
