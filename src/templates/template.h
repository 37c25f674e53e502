/* template.h - the file of a template, and its folder.
 *
 * `session-templates/<name>.json` in a home, shared with other tools: keys, defaults and rules are
 * those of docs/templates.md. Unknown keys are passed over on reading and never written. A file is
 * replaced as a whole (temporary, fsync, rename); whatever changes one holds the folder's lock, so
 * that any number of processes count exactly. Several homes are looked through in order, the first
 * one with a name wins; new files go to the first home.
 *
 * A Template is a value; its text lives in the arena that was passed in. */
#ifndef TALARIA_TEMPLATES_TEMPLATE_H
#define TALARIA_TEMPLATES_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "store/homes.h"
#include "templates/tasktype.h"
#include "text/json.h"

typedef struct TemplateExample {
    Str tool;
    Str arguments; /* JSON text as Python reads it: mostly an object, but any value */
    Str result;
    bool success;
} TemplateExample;

typedef struct Template {
    Str name;         /* the file's stem */
    Str name_in_file; /* what the file itself says, which may differ in a file of other hands */
    TaskType type;
    Str description;
    double created_at;
    int64_t usage_count;
    Str source_session_id; /* p NULL: none */
    TemplateExample *examples;
    size_t n_examples;
    Str path;        /* where it was read from or written to; empty before that */
    Str title;       /* of the session, while the template is made */
    bool transcript; /* that session is a file of another program: the template goes to our own
                      * home */
} Template;

/* -- names -- */

/* [A-Za-z0-9][A-Za-z0-9._-]{0,127} */
MUST_CHECK bool template_name_check(Str name, Err *err);

/* The title as a slug ("fix-coupon-rounding"), or <type>-<first 8 of the session id> where it has
 * no Latin letters: always a good name. */
Str template_name_default(Arena *a, const Template *t);

/* -- reading -- */

/* One file's bytes; mtime is taken where the file says no time. ERR_INVALID says which
 * key is wrong. */
MUST_CHECK bool template_parse(Arena *a, Str json, Str stem, double mtime, Template *ret, Err *err);

/* All that load, newest first; one warning for each file that does not, or
 * whose name is not what it says inside. No folder: none. */
MUST_CHECK bool templates_load(Arena *a, const Homes *homes, Template **ret, size_t *ret_n,
                               Err *err);

/* ERR_NOT_FOUND with the text "Template not found: NAME". */
MUST_CHECK bool template_find(Arena *a, const Homes *homes, Str name, Template *ret, Err *err);

/* Whether a file of this name is there, also one that does not load. */
bool template_exists(Arena *a, const Homes *homes, Str name);

/* -- writing -- */

/* The object of the file, keys in the order of the table. */
void template_put(JsonWriter *w, const Template *t);
/* The file's bytes: that object, indented by two, and a line feed. */
void template_write(const Template *t, Buf *out);

/* Sets t->path. An existing name is ERR_CONFLICT unless force. */
MUST_CHECK bool template_save(Arena *a, const Homes *homes, Template *t, bool force, Err *err);
/* For a generated name: where it is in use, "_2", "_3", ... are put behind it. */
MUST_CHECK bool template_save_unnamed(Arena *a, const Homes *homes, Template *t, Err *err);

/* Also of a file that does not load. ERR_NOT_FOUND as template_find; dry: only looks. */
MUST_CHECK bool template_delete(Arena *a, const Homes *homes, Str name, bool dry, Err *err);

/* Counts one more use, exactly, also when other processes count at the same time. */
MUST_CHECK bool template_count_use(Arena *a, const Template *t, Err *err);

#endif
