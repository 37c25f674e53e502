/* libyaml says where each node begins and ends; the edit replaces or inserts those bytes and
 * nothing else. */
#include "text/yml_edit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/utf8.h"
#include "text/yml.h"

enum { MAX_DEPTH = 32, MAX_PAIRS = 20000, INDENT = 2 };

/* -- what a text says -- */

typedef struct Pair {
    Str key, value;
} Pair;

typedef struct Pairs {
    Pair *all;
    size_t n, cap;
} Pairs;

static bool flatten(Arena *a, yaml_document_t *doc, yaml_node_t *node, Str key, size_t depth,
                    Pairs *ret);

static bool flatten_map(Arena *a, yaml_document_t *doc, yaml_node_t *map, Str prefix, size_t depth,
                        Pairs *ret)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *k = yaml_document_get_node(doc, p->key);
        Str name = yml_text(k);
        Str key = prefix.p ? str_printf(a, "%.*s.%.*s", STR_FMT(prefix), STR_FMT(name))
                           : str_dup(a, name);

        /* A key that is not a word has parts of its own, which must not change either. */
        if (k->type != YAML_SCALAR_NODE && !flatten(a, doc, k, STR("?"), depth + 1, ret))
            return false;
        if (!flatten(a, doc, yaml_document_get_node(doc, p->value), key, depth + 1, ret))
            return false;
    }
    return true;
}

/* False: too large or too deep, as a text with anchors can be that is small to look at. */
static bool flatten(Arena *a, yaml_document_t *doc, yaml_node_t *node, Str key, size_t depth,
                    Pairs *ret)
{
    if (depth > MAX_DEPTH || ret->n >= MAX_PAIRS)
        return false;
    if (node->type == YAML_MAPPING_NODE)
        return flatten_map(a, doc, node, key, depth, ret);
    if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *i = node->data.sequence.items.start;
             i < node->data.sequence.items.top; i++)
            if (!flatten(a, doc, yaml_document_get_node(doc, *i),
                         str_printf(a, "%.*s[]", STR_FMT(key)), depth + 1, ret))
                return false;
        return true;
    }
    ARENA_PUSH(a, ret->all, ret->n, ret->cap, ((Pair){ key, str_dup(a, yml_text(node)) }));
    return true;
}

static bool read_pairs(Arena *a, Str yaml, Pairs *ret, Err *err)
{
    yaml_document_t doc;
    yaml_node_t *root;
    bool ok = true;

    *ret = (Pairs){ 0 };
    if (!yml_load(yaml, 1, &doc, err))
        return false;
    root = yaml_document_get_root_node(&doc);
    if (root)
        ok = flatten(a, &doc, root, STR_NONE, 0, ret) ||
             err_set(err, ERR_TOO_LARGE, "too many or too deeply nested settings to edit");
    yaml_document_delete(&doc);
    return ok;
}

/* -- the check -- */

/* The key itself, and groups above it that had nothing in them. */
static bool is_concerned(const Pair *p, Str key)
{
    return str_eq(p->key, key) ||
           (!p->value.n && p->key.n < key.n && str_starts(key, p->key) && key.p[p->key.n] == '.');
}

static bool next_other(const Pairs *all, Str key, size_t *at)
{
    while (*at < all->n && is_concerned(&all->all[*at], key))
        (*at)++;
    return *at < all->n;
}

static bool others_are_same(const Pairs *before, const Pairs *after, Str key)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        bool left = next_other(before, key, &i), right = next_other(after, key, &k);

        if (!left || !right)
            return left == right;
        if (!str_eq(before->all[i].key, after->all[k].key) ||
            !str_eq(before->all[i].value, after->all[k].value))
            return false;
    }
}

/* The last one wins, as for every reader of the file. NULL: there is none. */
static const Pair *pair_of(const Pairs *all, Str key)
{
    for (size_t i = all->n; i > 0; i--)
        if (str_eq(all->all[i - 1].key, key))
            return &all->all[i - 1];
    return NULL;
}

/* value p NULL: the key must be gone. */
static bool check_edit(Arena *a, Str before, Str after, Str key, Str value, Err *err)
{
    Pairs old, new;
    const Pair *p;
    Err why;

    if (!read_pairs(a, before, &old, err))
        return false;
    if (read_pairs(a, after, &new, &why) && others_are_same(&old, &new, key)) {
        p = pair_of(&new, key);
        if (value.p ? p && str_eq(p->value, value) : !p)
            return true;
    }
    return err_set(err, ERR_INVALID,
                   "this file is written in a way that cannot be changed safely; edit '%.*s' by "
                   "hand",
                   STR_FMT(key));
}

/* -- finding -- */

typedef struct Search {
    yaml_document_t *doc;
    yaml_node_t *key, *value; /* the value itself */
    yaml_node_t *holder;      /* the map that holds it */
    yaml_node_t *map;         /* else the deepest map that leads there, */
    Str rest;                 /* and what of the key is still to be made below it */
    yaml_node_t *group;       /* ... below this key of it, which has no value yet; or NULL */
    yaml_node_t *blocked;     /* a value is where a group is needed */
} Search;

static void search(Search *s, yaml_node_t *map, Str rest, size_t depth);

/* `sub`: what is left of the key below this pair. */
static void search_below(Search *s, yaml_node_t *map, yaml_node_t *k, yaml_node_t *v, Str sub,
                         size_t depth)
{
    if (v->type == YAML_MAPPING_NODE) {
        search(s, v, sub, depth + 1);
    } else if (v->type == YAML_SCALAR_NODE && !v->data.scalar.length) {
        if (sub.n < s->rest.n) {
            s->map = map;
            s->rest = sub;
            s->group = k;
        }
    } else {
        s->blocked = k;
    }
}

static void search(Search *s, yaml_node_t *map, Str rest, size_t depth)
{
    if (depth > MAX_DEPTH)
        return;
    if (!s->map || rest.n < s->rest.n) {
        s->map = map;
        s->rest = rest;
        s->group = NULL;
    }
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *k = yaml_document_get_node(s->doc, p->key);
        yaml_node_t *v = yaml_document_get_node(s->doc, p->value);
        Str name = yml_text(k);

        if (!name.p || !str_starts(rest, name))
            continue;
        if (name.n == rest.n && v->type == YAML_SCALAR_NODE) {
            s->key = k;
            s->value = v;
            s->holder = map;
        } else if (name.n == rest.n) {
            s->blocked = k;
        } else if (rest.p[name.n] == '.') {
            search_below(s, map, k, v, str_skip(rest, name.n + 1), depth);
        }
    }
}

/* -- places in the text -- */

/* libyaml counts characters, behind a byte order mark. */
static size_t byte_at(Str yaml, size_t index)
{
    size_t at = str_starts(yaml, STR("\xef\xbb\xbf")) ? 3 : 0;

    for (; index && at < yaml.n; index--) {
        at++;
        while (at < yaml.n && ((unsigned char)yaml.p[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

static size_t node_end(yaml_document_t *doc, yaml_node_t *node, size_t depth)
{
    size_t end = node->end_mark.index, key, value;
    yaml_node_pair_t *last;

    if (depth > MAX_DEPTH || node->type == YAML_SCALAR_NODE)
        return end;
    if (node->type == YAML_MAPPING_NODE) {
        last = node->data.mapping.pairs.top - 1;
        if (node->data.mapping.style == YAML_FLOW_MAPPING_STYLE ||
            last < node->data.mapping.pairs.start)
            return end;
        key = node_end(doc, yaml_document_get_node(doc, last->key), depth + 1);
        value = node_end(doc, yaml_document_get_node(doc, last->value), depth + 1);
        return key > value ? key : value;
    }
    if (node->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE ||
        node->data.sequence.items.top == node->data.sequence.items.start)
        return end;
    return node_end(doc, yaml_document_get_node(doc, node->data.sequence.items.top[-1]), depth + 1);
}

/* The beginning of the line behind a place; a block scalar ends there already. */
static size_t next_line(Str yaml, size_t at)
{
    if (at && yaml.p[at - 1] == '\n')
        return at;
    while (at < yaml.n && yaml.p[at] != '\n')
        at++;
    return at < yaml.n ? at + 1 : at;
}

static const char *line_break(Str yaml)
{
    size_t at = str_find(yaml, STR("\n"));

    return at && at < yaml.n && yaml.p[at - 1] == '\r' ? "\r\n" : "\n";
}

/* -- writing values -- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Only what no reader of YAML could take for anything else. */
static bool is_plain(Str s)
{
    if (!s.n || (s.p[0] != '/' && s.p[0] != '_' && !is_word(s.p[0])))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool inner = i + 1 < s.n && s.p[i + 1] != ' ';

        if (!is_word(s.p[i]) && !(s.p[i] && strchr("_./~@+=-", s.p[i])) &&
            !(s.p[i] == ':' && inner) && !(s.p[i] == ' ' && inner && s.p[i + 1] != '#'))
            return false;
    }
    return true;
}

static void add_scalar(Buf *out, Str s)
{
    if (is_plain(s)) {
        buf_add(out, s);
        return;
    }
    buf_addc(out, '"');
    while (s.n) {
        Str before = s;
        uint32_t c = utf8_next(&s);

        if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", (int)c);
        else if (c < 0x20 || (c >= 0x7f && c < 0xa1))
            buf_addf(out, "\\x%02X", (unsigned)c);
        else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || (c >= 0xfff0 && c <= 0xffff))
            buf_addf(out, "\\u%04X", (unsigned)c);
        else
            buf_add(out, str_head(before, before.n - s.n));
    }
    buf_addc(out, '"');
}

/* "a.b.c" and a value as lines of a block, each two columns deeper. */
static void add_block(Buf *out, Str key, Str value, size_t column, const char *end)
{
    for (;; column += INDENT) {
        size_t dot = str_find(key, STR("."));

        buf_addf(out, "%*s", (int)column, "");
        add_scalar(out, str_head(key, dot));
        buf_addc(out, ':');
        if (dot == key.n)
            break;
        buf_addz(out, end);
        key = str_skip(key, dot + 1);
    }
    buf_addc(out, ' ');
    add_scalar(out, value);
    buf_addz(out, end);
}

static void add_flow(Buf *out, Str key, Str value)
{
    size_t depth = 0, dot;

    while ((dot = str_find(key, STR("."))) < key.n) {
        add_scalar(out, str_head(key, dot));
        buf_addz(out, ": {");
        key = str_skip(key, dot + 1);
        depth++;
    }
    add_scalar(out, key);
    buf_addz(out, ": ");
    add_scalar(out, value);
    while (depth--)
        buf_addc(out, '}');
}

/* -- edits -- */

static Str splice(Arena *a, Str yaml, size_t from, size_t to, Str text)
{
    return str_printf(a, "%.*s%.*s%.*s", STR_FMT(str_head(yaml, from)), STR_FMT(text),
                      STR_FMT(str_skip(yaml, to)));
}

static Str replace_value(Arena *a, Str yaml, const yaml_node_t *node, Str value)
{
    size_t from = byte_at(yaml, node->start_mark.index), to = byte_at(yaml, node->end_mark.index);
    AUTO_BUF text = BUF(LIMIT_CONFIG_BYTES);

    if (from && yaml.p[from - 1] == ':')
        buf_addc(&text, ' ');
    add_scalar(&text, value);
    if (to > from && yaml.p[to - 1] == '\n') /* a block scalar, with its last line break */
        buf_addz(&text, line_break(yaml));
    return splice(a, yaml, from, to, buf_str(&text));
}

static Str insert_lines(Arena *a, Str yaml, size_t at, Str key, Str value, size_t column)
{
    const char *end = line_break(yaml);
    AUTO_BUF text = BUF(LIMIT_CONFIG_BYTES);

    if (at && yaml.p[at - 1] != '\n')
        buf_addz(&text, end);
    add_block(&text, key, value, column, end);
    return splice(a, yaml, at, at, buf_str(&text));
}

static Str insert_flow(Arena *a, Str yaml, const Search *s, Str value)
{
    size_t at = byte_at(yaml, s->map->start_mark.index);
    AUTO_BUF text = BUF(LIMIT_CONFIG_BYTES);

    while (at < yaml.n && yaml.p[at] != '{')
        at++;
    add_flow(&text, s->rest, value);
    if (s->map->data.mapping.pairs.top > s->map->data.mapping.pairs.start)
        buf_addz(&text, ", ");
    return splice(a, yaml, at + (at < yaml.n), at + (at < yaml.n), buf_str(&text));
}

static Str insert_value(Arena *a, Str yaml, const Search *s, Str value)
{
    yaml_node_t *first;

    if (s->map->data.mapping.style == YAML_FLOW_MAPPING_STYLE)
        return insert_flow(a, yaml, s, value);
    if (s->group)
        return insert_lines(a, yaml, next_line(yaml, byte_at(yaml, s->group->end_mark.index)),
                            s->rest, value, s->group->start_mark.column + INDENT);
    first = yaml_document_get_node(s->doc, s->map->data.mapping.pairs.start->key);
    return insert_lines(a, yaml, next_line(yaml, byte_at(yaml, node_end(s->doc, s->map, 0))),
                        s->rest, value, first->start_mark.column);
}

static bool set_in(Arena *a, Str yaml, Search *s, yaml_node_t *root, Str key, Str value, Str *ret,
                   Err *err)
{
    if (!root || (root->type == YAML_SCALAR_NODE && !root->data.scalar.length)) {
        *ret = insert_lines(a, yaml, yaml.n, key, value, 0);
        return true;
    }
    if (root->type != YAML_MAPPING_NODE)
        return err_set(err, ERR_INVALID, "line 1: 'key: value' was expected");
    search(s, root, key, 0);
    if (s->value) {
        *ret = replace_value(a, yaml, s->value, value);
        return true;
    }
    if (s->blocked)
        return err_set(
            err, ERR_INVALID, "line %zu: '%.*s' is not what '%.*s' needs; repair it by hand",
            s->blocked->start_mark.line + 1, STR_FMT(yml_text(s->blocked)), STR_FMT(key));
    *ret = insert_value(a, yaml, s, value);
    return true;
}

bool yml_set(Arena *a, Str yaml, Str key, Str value, Str *ret, Err *err)
{
    yaml_document_t doc;
    Search s = { .doc = &doc };
    Str text;
    bool ok;

    if (utf8_valid_prefix(value) != value.n || utf8_valid_prefix(key) != key.n)
        return err_set(err, ERR_INVALID, "the value of '%.*s' must be UTF-8", STR_FMT(key));
    if (!yml_load(yaml, 1, &doc, err))
        return false;
    ok = set_in(a, yaml, &s, yaml_document_get_root_node(&doc), key, value, &text, err);
    yaml_document_delete(&doc);
    if (!ok || !check_edit(a, yaml, text, key, value.p ? value : STR(""), err))
        return false;
    *ret = text;
    return true;
}

/* -- taking out -- */

static Str remove_from_flow(Arena *a, Str yaml, size_t from, size_t to)
{
    while (to < yaml.n && yaml.p[to] == ' ')
        to++;
    if (to < yaml.n && yaml.p[to] == ',') {
        to++;
        while (to < yaml.n && yaml.p[to] == ' ')
            to++;
        return splice(a, yaml, from, to, STR(""));
    }
    while (from && yaml.p[from - 1] == ' ')
        from--;
    if (from && yaml.p[from - 1] == ',')
        from--;
    return splice(a, yaml, from, to, STR(""));
}

static Str remove_pair(Arena *a, Str yaml, const Search *s)
{
    size_t from = byte_at(yaml, s->key->start_mark.index);
    size_t to = byte_at(yaml, s->value->end_mark.index);
    size_t behind = byte_at(yaml, s->key->end_mark.index);

    to = to > behind ? to : behind; /* an alias ends elsewhere */
    if (s->holder->data.mapping.style == YAML_FLOW_MAPPING_STYLE)
        return remove_from_flow(a, yaml, from, to);
    while (from && yaml.p[from - 1] == ' ')
        from--;
    return splice(a, yaml, from, next_line(yaml, to), STR(""));
}

/* *ret_found: the key had a value (only_empty: an empty one), which is gone. */
static bool remove_once(Arena *a, Str yaml, Str key, bool only_empty, Str *ret, bool *ret_found,
                        Err *err)
{
    yaml_document_t doc;
    Search s = { .doc = &doc };
    yaml_node_t *root;

    *ret = yaml;
    if (!yml_load(yaml, 1, &doc, err))
        return false;
    root = yaml_document_get_root_node(&doc);
    if (root && root->type == YAML_MAPPING_NODE)
        search(&s, root, key, 0);
    *ret_found = s.value && !(only_empty && s.value->data.scalar.length);
    if (*ret_found)
        *ret = remove_pair(a, yaml, &s);
    yaml_document_delete(&doc);
    return true;
}

bool yml_unset(Arena *a, Str yaml, Str key, Str *ret, bool *ret_found, Err *err)
{
    Str text = yaml, group = key;
    bool found = true;

    *ret_found = false;
    for (size_t i = 0; found && i < MAX_DEPTH; i++) { /* a key may be there twice */
        if (!remove_once(a, text, key, false, &text, &found, err))
            return false;
        *ret_found |= found;
    }
    while (*ret_found && group.n) {
        while (group.n && group.p[group.n - 1] != '.')
            group.n--;
        group.n -= group.n > 0;
        if (group.n && !remove_once(a, text, group, true, &text, &found, err))
            return false;
    }
    if (!check_edit(a, yaml, text, key, STR_NONE, err))
        return false;
    *ret = text;
    return true;
}
