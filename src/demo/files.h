/* files.h - the skills, memory files and notes of the demo: on disk, and in the notes about it. */
#ifndef TALARIA_DEMO_FILES_H
#define TALARIA_DEMO_FILES_H

#include "demo/demo.h"
#include "store/own.h"

#define DEMO_MAKER "demo"

/* Adds to the report which files there are to be; writes nothing. */
void files_count(Arena *a, const World *w, Str folder, DemoReport *report);

/* Notes what is going to be made, in one transaction, then makes it. A file that is there and is not
 * the demo's stays as it is and is reported as left. */
MUST_CHECK bool files_make(Own *own, Arena *a, const World *w, Str folder, DemoReport *report,
                           Err *err);

/* Removes the files and folders among `made`, except those edited or filled by somebody else. */
MUST_CHECK bool files_remove(Own *own, Arena *a, Str folder, const Made *made, size_t n,
                             bool dry_run, DemoReport *report, Err *err);

#endif
