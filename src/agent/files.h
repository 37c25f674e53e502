/* files.h - files that a user attaches to a conversation. They are stored in the data folder under
 * generated names, so that no name from outside becomes a path. */
#ifndef TALARIA_AGENT_FILES_H
#define TALARIA_AGENT_FILES_H

#include "agent/service.h"

/* Copies the bytes. At most LIMIT_FILES a conversation, LIMIT_FILE_BYTES each. */
MUST_CHECK bool files_add(Service *s, Arena *a, Str conversation_id, Str name, Str mime, Str bytes,
                          Attachment *ret, Err *err);
/* The same with a unique id chosen by the caller: 'f' and 24 hexadecimal digits. */
MUST_CHECK bool files_add_as(Service *s, Arena *a, Str id, Str conversation_id, Str name, Str mime,
                             Str bytes, Attachment *ret, Err *err);
/* The bytes of an attachment, from database or file. */
MUST_CHECK bool files_read(Service *s, Arena *a, const Attachment *x, Str *ret, Err *err);
/* Deletes the conversation's files, if it has any. */
void files_delete(Str data, Str conversation_id);
/* Deletes folders of deleted conversations, left by a process that died in between. */
void files_sweep(Runs *r, Str data);

#endif
