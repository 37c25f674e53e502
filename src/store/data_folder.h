/* data_folder.h - the folder of Talaria's own files, closed to everybody else. */
#ifndef TALARIA_STORE_DATA_FOLDER_H
#define TALARIA_STORE_DATA_FOLDER_H

#include "base/err.h"
#include "base/str.h"

/* With its parents, 0700. One that is there and open to others is closed, and that is told, where
 * it is certainly ours: a folder, no link to one, of this user, that holds nothing others may read,
 * and is neither a shared folder (sticky) nor the user's home. Any other is left as it is; 'talaria
 * doctor' names it. */
MUST_CHECK bool data_folder_make(Str path, Err *err);

#endif
