/* export.h - a session as text to keep: JSON lines without loss, JSON lines as Hermes writes them,
 * or Markdown to read.
 *
 * Whatever its source. Secrets are taken out (text/redact.h) unless `raw`. Written as it is read,
 * through the Buf's sink, so that memory does not grow with a home's session; a transcript is held
 * whole. */
#ifndef TALARIA_RECALL_EXPORT_H
#define TALARIA_RECALL_EXPORT_H

#include "base/buf.h"
#include "recall/history.h"

/* X(id, "name", "ending", media type) */
#define EXPORT_FORMATS(X)                                                                          \
    X(EXPORT_JSONL, "jsonl", "application/x-ndjson; charset=utf-8")                                \
    X(EXPORT_HERMES, "hermes", "application/x-ndjson; charset=utf-8")                              \
    X(EXPORT_MARKDOWN, "md", "text/markdown; charset=utf-8")

typedef enum ExportFormat {
#define X(id, name, type) id,
    EXPORT_FORMATS(X)
#undef X
} ExportFormat;

bool export_format_parse(Str name, ExportFormat *ret);
const char *export_format_type(ExportFormat f);

typedef struct ExportOptions {
    ExportFormat format;
    bool raw;
} ExportOptions;

/* Every part, oldest first; JSON lines hold also the rows that were rewound or compacted away. */
MUST_CHECK bool export_session(History *h, const HistoryItem *item, const ExportOptions *options,
                               Buf *out, Err *err);

#endif
