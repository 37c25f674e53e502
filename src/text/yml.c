/* A pass over libyaml's events, which come one at a time, before its documents, which come whole.
 * libyaml looks at every open [ and { with every token and at every anchor with every other: short
 * texts can cost minutes. And an alias is a few bytes that represent whatever its anchor holds. */
#include "text/yml.h"

#include "base/arena.h"
#include "base/limits.h"

/* -- limits -- */

enum { DIRECTIVES = 64 }; /* lines that begin with %: each is compared with those before it */

typedef struct Anchor {
    char name[64]; /* longer ones are refused */
    size_t values; /* 0: still open */
} Anchor;

typedef struct Level {
    size_t before; /* values before it began */
    size_t anchor; /* its own, as a number from 1; 0: none */
    bool flow;
} Level;

typedef struct Pass {
    size_t values, depth, flow, n_anchors, line, first;
    Level open[LIMIT_YAML_DEPTH];
    Anchor anchors[LIMIT_YAML_ANCHORS];
    Err *err;
} Pass;

static bool refuse(const Pass *p, const char *what, size_t max)
{
    return err_set(p->err, ERR_TOO_LARGE, "line %zu: more than %zu %s", p->line + p->first, max,
                   what);
}

static bool add_values(Pass *p, size_t n)
{
    p->values += n;
    return p->values <= LIMIT_YAML_NODES ||
           refuse(p, "values, counting those that aliases repeat", LIMIT_YAML_NODES);
}

/* *ret: its number, from 1. */
static bool add_anchor(Pass *p, const yaml_char_t *name, size_t *ret)
{
    Anchor *anchor = &p->anchors[p->n_anchors];
    size_t n;

    *ret = 0;
    if (!name)
        return true;
    if (p->n_anchors == LIMIT_YAML_ANCHORS)
        return refuse(p, "anchors", LIMIT_YAML_ANCHORS);
    n = strlen((const char *)name);
    if (n >= sizeof anchor->name)
        return refuse(p, "bytes in the name of an anchor", sizeof anchor->name - 1);
    *anchor = (Anchor){ 0 };
    memcpy(anchor->name, name, n);
    *ret = ++p->n_anchors;
    return true;
}

static bool take_alias(Pass *p, const yaml_char_t *name)
{
    for (size_t i = p->n_anchors; i > 0; i--)
        if (strcmp(p->anchors[i - 1].name, (const char *)name) == 0) {
            if (!p->anchors[i - 1].values)
                return err_set(p->err, ERR_INVALID, "line %zu: '*%s' stands inside of itself",
                               p->line + p->first, (const char *)name);
            return add_values(p, p->anchors[i - 1].values);
        }
    return true; /* an unknown one, which libyaml refuses */
}

static bool enter(Pass *p, const yaml_char_t *anchor, bool flow)
{
    Level level = { .before = p->values, .flow = flow };

    p->flow += flow;
    if (p->flow > LIMIT_YAML_FLOW)
        return refuse(p, "levels of [ and {", LIMIT_YAML_FLOW);
    if (p->depth == LIMIT_YAML_DEPTH)
        return refuse(p, "levels of nesting", LIMIT_YAML_DEPTH);
    if (!add_values(p, 1) || !add_anchor(p, anchor, &level.anchor))
        return false;
    p->open[p->depth++] = level;
    return true;
}

static bool take_event(Pass *p, const yaml_event_t *e)
{
    size_t anchor;
    Level level;

    p->line = e->start_mark.line;
    if (e->type == YAML_SCALAR_EVENT) {
        if (!add_values(p, 1) || !add_anchor(p, e->data.scalar.anchor, &anchor))
            return false;
        if (anchor)
            p->anchors[anchor - 1].values = 1;
    }
    if (e->type == YAML_ALIAS_EVENT)
        return take_alias(p, e->data.alias.anchor);
    if (e->type == YAML_SEQUENCE_START_EVENT)
        return enter(p, e->data.sequence_start.anchor,
                     e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
    if (e->type == YAML_MAPPING_START_EVENT)
        return enter(p, e->data.mapping_start.anchor,
                     e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
    if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT) {
        level = p->open[--p->depth];
        p->flow -= level.flow;
        if (level.anchor)
            p->anchors[level.anchor - 1].values = p->values - level.before;
    }
    return true;
}

static bool few_directives(Pass *p, Str text)
{
    size_t n = 0;
    Str line;

    for (p->line = 0; str_split(&text, '\n', &line); p->line++)
        if (str_starts(line, STR("%")) && ++n > DIRECTIVES)
            return refuse(p, "lines that begin with %", DIRECTIVES);
    return true;
}

/* What is no YAML ends the pass and is no fault here: reading the document will say what is
 * wrong. */
static bool read_events(Pass *p, yaml_parser_t *parser)
{
    for (bool end = false, ok = true; !end;) {
        yaml_event_t e;

        if (!yaml_parser_parse(parser, &e))
            return true;
        ok = take_event(p, &e);
        end = e.type == YAML_STREAM_END_EVENT || e.type == YAML_DOCUMENT_END_EVENT;
        yaml_event_delete(&e);
        if (!ok)
            return false;
    }
    return true;
}

static bool check_limits(Str text, size_t first, Err *err)
{
    yaml_parser_t parser;
    Pass *p;
    bool ok;

    if (text.n > LIMIT_YAML_BYTES)
        return err_set(err, ERR_TOO_LARGE, "more than %d bytes of YAML", LIMIT_YAML_BYTES);
    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_INTERNAL, "out of memory");
    p = mem_alloc(sizeof *p);
    p->first = first;
    p->err = err;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    ok = few_directives(p, text) && read_events(p, &parser);
    yaml_parser_delete(&parser);
    mem_free(p);
    return ok;
}

/* -- documents -- */

bool yml_load(Str text, size_t first, yaml_document_t *ret, Err *err)
{
    yaml_parser_t parser;
    bool ok;

    if (!check_limits(text, first, err))
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
