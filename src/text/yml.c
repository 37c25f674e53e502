#include "text/yml.h"

bool yml_load(Str text, size_t first, yaml_document_t *ret, Err *err)
{
    yaml_parser_t parser;
    bool ok;

    if (!yml_check_limits(text, first, err))
        return false;
    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_INTERNAL, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    ok = yaml_parser_load(&parser, ret);
    if (!ok)
        err_set_to(err, ERR_INVALID, "line %zu: %s", parser.problem_mark.line + first,
                   parser.problem ? parser.problem : "not YAML");
    yaml_parser_delete(&parser);
    return ok;
}

Str yml_text(const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE)
        return STR_NONE;
    return (Str){ (const char *)node->data.scalar.value, node->data.scalar.length };
}

yaml_node_t *yml_member(yaml_document_t *doc, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
        if (str_eqz(yml_text(yaml_document_get_node(doc, p->key)), key))
            return yaml_document_get_node(doc, p->value);
    return NULL;
}

yaml_node_t *yml_item(yaml_document_t *doc, const yaml_node_t *list, size_t i)
{
    if (!list || list->type != YAML_SEQUENCE_NODE ||
        i >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
        return NULL;
    return yaml_document_get_node(doc, list->data.sequence.items.start[i]);
}
