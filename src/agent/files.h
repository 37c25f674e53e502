/* files.h - files that a user gives to a conversation: kept in our home under names of our own, so that no
 * name from outside is ever a path. */
#ifndef TALARIA_AGENT_FILES_H
#define TALARIA_AGENT_FILES_H

#include "agent/service.h"

/* Takes a copy of the bytes. At most LIMIT_FILES a conversation, LIMIT_FILE_BYTES each. */
MUST_CHECK bool files_add(Service *s, Arena *a, Str conversation_id, Str name, Str mime, Str bytes,
                          Attachment *ret, Err *err);
/* The same under an id of the caller's, that no other file has: 'f' and 24 hexadecimal digits. */
MUST_CHECK bool files_add_as(Service *s, Arena *a, Str id, Str conversation_id, Str name, Str mime,
                             Str bytes, Attachment *ret, Err *err);
/* The bytes of an attachment, wherever they lie. */
MUST_CHECK bool files_read(Service *s, Arena *a, const Attachment *x, Str *ret, Err *err);
/* Takes away what the conversation had; none is fine. */
void files_delete(Str data, Str conversation_id);
/* Folders of conversations that are gone: their process died between the rows and the files. */
void files_sweep(Runs *r, Str data);

#endif
