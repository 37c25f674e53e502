/* document.h - a skill or memory file: the user's text, and one block of learned rules in it.
 *
 *   <!-- SKILLOPT-SLEEP:LEARNED START -->
 *   ## Learned preferences & procedures
 *   ...
 *   - a rule, its further lines indented by two <!-- rule id=... -->
 *   <!-- SKILLOPT-SLEEP:LEARNED END -->
 *
 * A marker counts only as a line of its own outside of fenced code. The block stays where it is; a
 * document without one gets it at its end. Everything outside of the block, and inside of it every
 * line that no edit is about, stays byte for byte. A document whose markers do not pair is refused with
 * the number of the line, and nothing is changed. Values live in the arena. */
#ifndef TALARIA_SLEEP_TASK_DOCUMENT_H
#define TALARIA_SLEEP_TASK_DOCUMENT_H

#include "sleep/task/rules.h"

typedef struct Rule {
    Str text; /* without bullet, indentation and note; lines joined by '\n' */
    Str raw;  /* its bytes in the document; empty: to be written anew */
    RuleNote note;
} Rule;

/* A part of the block: a rule, or bytes that are none (heading, banner, what the user put there). */
typedef struct BlockPart {
    bool is_rule;
    Str raw;
    Rule rule;
} BlockPart;

typedef struct Document {
    Str text;          /* the whole */
    Str before, after; /* outside of the block, markers not counted in */
    Str start, end;    /* the marker lines with their line ends; empty without a block */
    LIST_OF(BlockPart) parts;
    const char *eol;
} Document;

extern const char document_banner[];

MUST_CHECK bool document_parse(Arena *a, Str text, Document *ret, Err *err);
/* The bytes again; those of a document that was not touched are its own. */
Str document_write(Arena *a, const Document *d);

size_t document_rules(const Document *d);
/* The nth rule, in order. */
Rule *document_rule(Document *d, size_t nth);

/* A rule as the last one of the block. */
void document_add(Arena *a, Document *d, Str text, const RuleNote *note);
void document_remove(Document *d, const Rule *rule);

/* What a model is shown: the document without the notes of its rules. */
Str document_bare(Arena *a, Str text);

/* A skill file to begin with: front matter with name and description, a heading, when to use it. */
Str document_scaffold(Arena *a, Str name, Str description);

/* Whether text holds a marker or a comment, which no rule may. */
bool document_protected(Str text);

#endif
