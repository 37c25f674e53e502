/* codex_base.h - the files that a rollout continues from; inside this room only.
 *
 * After a turn was taken back, and in a fork, Codex begins a new file that has only what came then.
 * Its first line says which file it continues from and up to which byte (history_base); that file
 * may itself go on from another. Together they are one stream of bytes: places in it count through
 * all of them, so that each line has its own place. */
#ifndef TALARIA_TRANSCRIPTS_CODEX_BASE_H
#define TALARIA_TRANSCRIPTS_CODEX_BASE_H

#include "base/arena.h"
#include "base/err.h"

typedef struct CodexPart {
    Str path;
    int64_t end;    /* bytes of it that count */
    int64_t before; /* bytes of the parts before it */
    bool inherited; /* of another thread: what was said before the fork */
} CodexPart;

typedef struct CodexBase {
    CodexPart *parts; /* oldest first */
    size_t n;
    int64_t bytes; /* of all of them */
    int64_t first; /* of the file itself: bytes of its first line, its end included */
} CodexBase;

/* Of a file that starts again: none. A base that is not there any more is passed over. */
CodexBase codex_base(Arena *a, Str path);

/* The thread's id in the name of a rollout, and the file's own: ...-<thread>.jsonl,
 * ...-<thread>_<file>.jsonl. */
bool codex_name(Str path, Str *ret_thread, Str *ret_file);

/* When an id of version 7 was made, in milliseconds; 0: it is none. */
int64_t codex_id_ms(Str id);

#endif
