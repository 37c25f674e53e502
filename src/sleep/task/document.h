/* document.h - a skill or memory file: the user's text, and one block of learned rules.
 *
 *   <!-- SKILLOPT-SLEEP:LEARNED START -->
 *   ## Learned preferences & procedures
 *   ...
 *   - a rule, its further lines indented by two <!-- rule id=... -->
 *   <!-- SKILLOPT-SLEEP:LEARNED END -->
 *
 * A marker must be a whole line outside of fenced code. The block stays where it is; a document
 * without one gets it at the end. Everything outside of the block, and every line of it that no
 * edit concerns, stays byte for byte. A document whose markers do not pair is refused with the line
 * number. Values live in the arena. */
#ifndef TALARIA_SLEEP_TASK_DOCUMENT_H
#define TALARIA_SLEEP_TASK_DOCUMENT_H

#include "sleep/task/rules.h"

typedef struct Rule {
    Str text; /* without bullet, indentation and note; lines joined by '\n' */
    Str raw;  /* its bytes in the document; empty: to be written again */
    RuleNote note;
} Rule;

/* A part of the block: a rule, or other text (heading, banner, the user's own lines). */
typedef struct BlockPart {
    bool is_rule;
    Str raw;
    Rule rule;
} BlockPart;

typedef struct Document {
    Str text;          /* the whole */
    Str before, after; /* text outside of the block and its markers */
    Str start, end;    /* the marker lines with their line ends; empty without a block */
    LIST_OF(BlockPart) parts;
    const char *eol;
} Document;

extern const char document_banner[];

MUST_CHECK bool document_parse(Arena *a, Str text, Document *ret, Err *err);
/* The text of the document; unchanged if nothing was edited. */
Str document_write(Arena *a, const Document *d);

size_t document_rules(const Document *d);
/* The nth rule, in order. */
Rule *document_rule(Document *d, size_t nth);

/* Adds a rule as the last one of the block. */
void document_add(Arena *a, Document *d, Str text, const RuleNote *note);
void document_remove(Document *d, const Rule *rule);

/* The document without the notes of its rules, as models are shown it. */
Str document_bare(Arena *a, Str text);

/* A new skill file: front matter with name and description, a heading, when to use it. */
Str document_scaffold(Arena *a, Str name, Str description);

/* Whether text holds a marker or a comment, which rules must not. */
bool document_protected(Str text);

#endif
