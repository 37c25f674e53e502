/* checklist.h - "Try in two minutes": what to do first with the demo.
 *
 * One table for the terminal and the page. The commands work as they are printed, in this order;
 * the session is one that the recorded data holds. */
#ifndef TALARIA_DEMO_CHECKLIST_H
#define TALARIA_DEMO_CHECKLIST_H

#include "text/json.h"

typedef struct ChecklistItem {
    const char *id, *title, *command;
    const char *needs; /* in a terminal; a page that is open has it */
} ChecklistItem;

#define DEMO_CHECKLIST_TITLE "Try in two minutes"

extern const ChecklistItem demo_checklist[];
extern const size_t demo_checklist_count;

/* "checklist": [{"id", "title", "command", "needs"}, ...] in an object that is being written. */
void demo_checklist_put(JsonWriter *w);

#endif
