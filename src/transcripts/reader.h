/* reader.h - transcripts of Claude Code and Codex, and Hermes' sessions, as events.
 *
 * Files of others are read, never written, and read once: a cursor says up to where, and proves
 * that what stood before it is still the same. A broken line, one that is no object, invalid UTF-8
 * and a last line that is not complete yet are facts of life: counted, passed over, read once
 * complete. Lines over LIMIT_TRANSCRIPT_LINE pass through a streaming scanner that keeps memory
 * flat.
 *
 * A Reader is for one thread; two threads take one each. */
#ifndef TALARIA_TRANSCRIPTS_READER_H
#define TALARIA_TRANSCRIPTS_READER_H

#include "store/rows.h"
#include "transcripts/event.h"
#include "transcripts/stamp.h"

/* -- what is there -- */

typedef struct TranscriptRoots {
    Str claude; /* folder with projects/: --claude-home, else $CLAUDE_CONFIG_DIR, else ~/.claude */
    Str codex;  /* --codex-home, else $CODEX_HOME, else ~/.codex */
    bool claude_present, codex_present;
} TranscriptRoots;

/* NULL: by the environment. */
MUST_CHECK bool transcript_roots(Arena *a, const char *claude_home, const char *codex_home,
                                 TranscriptRoots *ret, Err *err);

typedef struct TranscriptFile {
    SourceKind source;
    Str path;    /* absolute */
    Str stem;    /* the session's id by the file's name: the uuid, of a Codex rollout that of its
                    thread */
    Str segment; /* of a Codex rollout: the id of the file itself; later ones are greater */
    Str parent;  /* of a side chain: the session it belongs to, where the place says it */
    bool side_chain; /* by its place or name: subagents/, agent-*.jsonl */
    bool archived;   /* Codex' archived_sessions */
    int64_t size, mtime_ns;
    uint64_t inode;
} TranscriptFile;

/* Every transcript below the roots, in order of path. A folder that cannot be read is skipped with
 * a warning; symbolic links are not followed out of the root. */
MUST_CHECK bool transcripts_find(Arena *a, const TranscriptRoots *roots, TranscriptFile **ret,
                                 size_t *ret_n, Err *err);

/* The same with the stamp of all that was met; ret NULL: the stamp alone, at half the price. */
MUST_CHECK bool transcripts_look(Arena *a, const TranscriptRoots *roots, TranscriptFile **ret,
                                 size_t *ret_n, Stamp *ret_stamp, Err *err);

/* -- reading -- */

/* Up to where a file was read. All zeros: not at all. */
typedef struct Cursor {
    int64_t offset; /* behind the last complete line that was read */
    uint64_t proof; /* of the first bytes and of the last ones before the offset */
    int64_t size, mtime_ns;
    uint64_t inode;
    bool settled; /* what stands behind the offset was looked at when nobody wrote any more */
} Cursor;

/* Whether the file is to be read at all: by what stat said, nothing is opened. */
bool cursor_is_current(const Cursor *c, const TranscriptFile *f);
/* Whether nothing is left that would be looked at again though the file stays as it is. */
bool cursor_is_settled(const Cursor *c);

typedef struct ReadStats {
    int64_t bytes, lines, events;
    int64_t broken;  /* lines that are no JSON */
    int64_t foreign; /* JSON, but no object, or of a type that is not known */
    int64_t long_lines;
    bool anew;       /* the file had been rewritten or cut: read from its beginning */
    bool incomplete; /* bytes of an unfinished last line wait */
} ReadStats;

typedef struct Reader Reader;
Reader *reader_new(void);
Reader *reader_free(Reader *r);
AUTO_FREE(Reader, reader_free)

/* Which kinds the caller wants, one bit each (1u << EVENT_USER ...): what nobody wants is not
 * looked for. 0: all. */
typedef struct ReadOptions {
    unsigned kinds;
    bool inherited; /* of a fork: also what was said before it, in the parent */
} ReadOptions;

/* Reads what is new behind *cursor and moves it. Where the file was rewritten, `anew` is called
 * (may be NULL) before the first event: what was made of it before is void. On failure the cursor
 * stays. */
MUST_CHECK bool transcript_read(Reader *r, const TranscriptFile *f, const ReadOptions *options,
                                Cursor *cursor, EventFn *fn, void (*anew)(void *ctx), void *ctx,
                                ReadStats *ret, Err *err);

/* The events of one line again: what a search hit shows. NOT_FOUND where none begins there. */
MUST_CHECK bool transcript_line(Reader *r, SourceKind source, Str path, int64_t where,
                                int64_t line_bytes, EventFn *fn, void *ctx, Err *err);

/* Events of bytes in memory: whole lines of that source. For tests and fuzz targets. */
MUST_CHECK bool transcript_parse(Reader *r, SourceKind source, Str bytes,
                                 const ReadOptions *options, EventFn *fn, void *ctx, ReadStats *ret,
                                 Err *err);

/* A session of a Hermes home: the same events; `after` is a message id, 0 = from the first. What
 * its row says (facts, tokens so far) comes first, each time; `where` of that is 0. */
MUST_CHECK bool hermes_read(Rows *rows, Str session, int64_t after, EventFn *fn, void *ctx,
                            int64_t *ret_last, Err *err);

#endif
