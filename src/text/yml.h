/* yml.h - members and texts of a YAML document, whatever the document is.
 *
 * Every node may be NULL or of another kind than was hoped for: then there is nothing in it. Who
 * loads a document deletes it (yaml_document_delete). */
#ifndef TALARIA_TEXT_YML_H
#define TALARIA_TEXT_YML_H

#include <yaml.h>

#include "base/err.h"

/* ERR_INVALID, "line 3: ...": it is no YAML. ERR_TOO_LARGE, "line 3: more than 32 levels of [ and
 * {": over a limit (LIMIT_YAML_...). The text counts its lines from `first`. Callers add which file
 * it is. */
MUST_CHECK bool yml_load(Str text, size_t first, yaml_document_t *ret, Err *err);

Str yml_text(const yaml_node_t *node); /* p NULL: none */
yaml_node_t *yml_member(yaml_document_t *doc, const yaml_node_t *map, const char *key);
yaml_node_t *yml_item(yaml_document_t *doc, const yaml_node_t *list, size_t i); /* NULL: no more */

#endif
