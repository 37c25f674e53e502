/* A SKILL.md as fields. Front matter is a YAML document between two lines "---"; libyaml reads it,
 * and of its nodes only the few keys that are known are looked at, so that no amount of nesting or
 * aliases costs anything. Where the YAML is broken, "key: value" lines are still taken as they
 * stand: people write colons into descriptions, and the skill is none the worse for it. */
#include "base/buf.h"
#include "base/limits.h"
#include "recall/skills.h"
#include "text/letters.h"
#include "text/yml.h"

enum { NAME_CHARS = 64, DESCRIPTION_CHARS = 1024, LIST_ITEMS = 64 };

/* -- YAML -- */

/* "tags", or "metadata.hermes.tags". */
static yaml_node_t *member_at(yaml_document_t *doc, const char *path)
{
    yaml_node_t *node = yaml_document_get_root_node(doc);
    Str rest = str_of(path), key;

    while (node && str_split(&rest, '.', &key)) {
        char name[64];

        ASSERT(key.n < sizeof name);
        memcpy(name, key.p, key.n);
        name[key.n] = '\0';
        node = yml_member(doc, node, name);
    }
    return node;
}

/* A list, or words with commas: one text with blanks. */
static Str words_at(Arena *a, yaml_document_t *doc, const char *path)
{
    yaml_node_t *node = member_at(doc, path), *item;
    AUTO_BUF b = BUF(KIB(4));
    Str text = yml_text(node), word;

    for (size_t i = 0; i < LIST_ITEMS && (item = yml_item(doc, node, i)); i++)
        buf_addf(&b, "%s%.*s", b.n ? " " : "", STR_FMT(str_head(yml_text(item), 128)));
    text = str_head(text, KIB(2));
    if (text.n && text.p[0] == '[')
        text = str_head(str_skip(text, 1), text.n - 2);
    while (text.n && str_split(&text, ',', &word))
        buf_addf(&b, "%s%.*s", b.n ? " " : "", STR_FMT(str_trim(word)));
    return text_collapse(a, buf_str(&b));
}

/* The first of the paths that says something. */
static Str first_words(Arena *a, yaml_document_t *doc, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Str s = words_at(a, doc, paths[i]);

        if (s.n)
            return s;
    }
    return STR("");
}
#define FIRST_WORDS(a, doc, ...)                                                                   \
    first_words((a), (doc), (const char *const[]){ __VA_ARGS__ },                                  \
                ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })))

static Str text_at(Arena *a, yaml_document_t *doc, const char *path, size_t chars)
{
    return text_cut(text_collapse(a, str_head(yml_text(member_at(doc, path)), KIB(16))), chars);
}

static bool is_true(yaml_document_t *doc, const char *path)
{
    return str_is_one_of(yml_text(member_at(doc, path)), "true|True|yes|on");
}

static void take_document(Arena *a, yaml_document_t *doc, Skill *ret)
{
    Str name = text_at(a, doc, "name", NAME_CHARS);

    if (name.n)
        ret->name = name;
    ret->description = text_at(a, doc, "description", DESCRIPTION_CHARS);
    ret->tags = FIRST_WORDS(a, doc, "metadata.hermes.tags", "tags", "metadata.tags", "keywords");
    ret->category =
        FIRST_WORDS(a, doc, "metadata.hermes.category", "category", "metadata.category");
    ret->platforms =
        FIRST_WORDS(a, doc, "platforms", "metadata.hermes.platforms", "metadata.platforms");
    ret->experimental = is_true(doc, "experimental") || is_true(doc, "metadata.experimental") ||
                        is_true(doc, "metadata.hermes.experimental");
    ret->disabled = is_true(doc, "disabled") || is_true(doc, "metadata.hermes.disabled");
}

/* False: it is no YAML, and ret->warning says where. */
static bool take_yaml(Arena *a, Str text, Skill *ret)
{
    yaml_document_t doc;
    yaml_node_t *root;
    Err err;

    if (text.n > LIMIT_FRONT_MATTER) {
        ret->warning = str_printf(a, "front matter, more than %d bytes", LIMIT_FRONT_MATTER);
        return false;
    }
    if (!yml_load(text, 2, &doc, &err)) {
        ret->warning = str_printf(a, "front matter, %s", err.text);
        return false;
    }
    root = yaml_document_get_root_node(&doc);
    if (root && root->type == YAML_MAPPING_NODE)
        take_document(a, &doc, ret);
    else
        ret->warning = STR("front matter: 'key: value' was expected");
    yaml_document_delete(&doc);
    return true;
}

/* -- lines -- */

static bool next_line(Str *rest, Str *ret)
{
    if (!str_split(rest, '\n', ret))
        return false;
    if (ret->n && ret->p[ret->n - 1] == '\r')
        ret->n--;
    return true;
}

/* What can be had of front matter that is no YAML. */
static void take_lines(Arena *a, Str text, Skill *ret)
{
    struct {
        const char *key;
        Str *to;
        size_t chars;
    } const wanted[] = { { "name:", &ret->name, NAME_CHARS },
                         { "description:", &ret->description, DESCRIPTION_CHARS },
                         { "tags:", &ret->tags, DESCRIPTION_CHARS } };
    Str line;

    while (next_line(&text, &line))
        for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
            if (str_starts(line, str_of(wanted[i].key))) {
                Str value =
                    text_collapse(a, str_head(str_skip(line, strlen(wanted[i].key)), KIB(16)));

                if (value.n)
                    *wanted[i].to = text_cut(value, wanted[i].chars);
            }
}

/* Between "---" in the first line and the next such line; false: there is none. */
static bool split_front(Str text, Str *ret_front, Str *ret_body)
{
    Str rest = text, line;
    const char *from;

    if (str_starts(rest, STR("\xef\xbb\xbf")))
        rest = str_skip(rest, 3);
    if (!next_line(&rest, &line) || !str_eqz(str_trim(line), "---"))
        return false;
    from = rest.p;
    while (next_line(&rest, &line))
        if (str_eqz(str_trim(line), "---")) {
            *ret_front = (Str){ from, (size_t)(line.p - from) };
            *ret_body = rest.n ? rest : STR("");
            return true;
        }
    return false;
}

static Str headings_of(Arena *a, Str body)
{
    AUTO_BUF b = BUF(KIB(16));
    bool fenced = false;
    Str line;

    while (next_line(&body, &line)) {
        if (str_starts(str_trim(line), STR("```")))
            fenced = !fenced;
        if (fenced || !str_starts(line, STR("#")))
            continue;
        while (line.n && *line.p == '#')
            line = str_skip(line, 1);
        buf_addf(&b, "%.*s\n", STR_FMT(str_head(str_trim(line), 200)));
    }
    return str_dup(a, buf_str(&b));
}

void skill_parse(Arena *a, Str name, Str text, Skill *ret)
{
    Str front = STR("");

    *ret = (Skill){ .name = name, .body = text };
    if (!split_front(text, &front, &ret->body))
        ret->warning = STR("no front matter");
    else if (!take_yaml(a, front, ret))
        take_lines(a, front, ret);
    if (!ret->warning.n && !ret->description.n)
        ret->warning = STR("no description");
    if (!ret->name.n)
        ret->name = STR("unnamed");
    ret->headings = headings_of(a, ret->body);
}
