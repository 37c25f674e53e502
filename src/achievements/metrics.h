/* metrics.h - what is counted of one session: text in, numbers out.
 *
 * The rules are data (data/metrics.json, made into tables by tools/gen_rules.py), and what they
 * count is checked against Hermes' own plugin by tests/unit/achievements/test_metrics.c and
 * test_goldens.c. A session goes through a Scanner row by row. Text is searched by one pass of
 * Vectorscan for all words at once, and only where a word was found it is looked at more closely.
 *
 * A Scanner is for one thread; the compiled words are shared by all of them. */
#ifndef TALARIA_ACHIEVEMENTS_METRICS_H
#define TALARIA_ACHIEVEMENTS_METRICS_H

#include "base/arena.h"
#include "base/err.h"

/* X(enumerator, name), in the order of the files that Hermes' plugin writes. */
#define METRICS(X)                                                                                 \
    X(MESSAGE_COUNT, message_count)                                                                \
    X(TOOL_CALL_COUNT, tool_call_count)                                                            \
    X(DISTINCT_TOOL_COUNT, distinct_tool_count)                                                    \
    X(ERROR_COUNT, error_count)                                                                    \
    X(TERMINAL_CALLS, terminal_calls)                                                              \
    X(WEB_CALLS, web_calls)                                                                        \
    X(WEB_EXTRACT_CALLS, web_extract_calls)                                                        \
    X(BROWSER_CALLS, browser_calls)                                                                \
    X(WEB_BROWSER_CALLS, web_browser_calls)                                                        \
    X(PATCH_CALLS, patch_calls)                                                                    \
    X(FILE_READS_SEARCHES, file_reads_searches)                                                    \
    X(FILE_TOOL_CALLS, file_tool_calls)                                                            \
    X(FILES_TOUCHED_COUNT, files_touched_count)                                                    \
    X(DELEGATE_CALLS, delegate_calls)                                                              \
    X(PROCESS_CALLS, process_calls)                                                                \
    X(CRON_CALLS, cron_calls)                                                                      \
    X(IMAGE_VISION_CALLS, image_vision_calls)                                                      \
    X(TTS_CALLS, tts_calls)                                                                        \
    X(SKILL_EVENTS, skill_events)                                                                  \
    X(SKILL_MANAGE_EVENTS, skill_manage_events)                                                    \
    X(MEMORY_EVENTS, memory_events)                                                                \
    X(MEMORY_WRITE_EVENTS, memory_write_events)                                                    \
    X(PORT_CONFLICT, port_conflict)                                                                \
    X(PORT_CONFLICT_EVENTS, port_conflict_events)                                                  \
    X(TRACEBACK_EVENTS, traceback_events)                                                          \
    X(LOG_READ_EVENTS, log_read_events)                                                            \
    X(PERMISSION_DENIED_EVENTS, permission_denied_events)                                          \
    X(INSTALL_ERROR_EVENTS, install_error_events)                                                  \
    X(INSTALL_SUCCESS_EVENTS, install_success_events)                                              \
    X(RESTART_AFTER_ERROR_EVENTS, restart_after_error_events)                                      \
    X(ENV_VAR_ERROR_EVENTS, env_var_error_events)                                                  \
    X(YAML_ERROR_EVENTS, yaml_error_events)                                                        \
    X(DOCKER_CONFLICT_EVENTS, docker_conflict_events)                                              \
    X(FRONTEND_ACTIVITY_EVENTS, frontend_activity_events)                                          \
    X(CSS_ACTIVITY_EVENTS, css_activity_events)                                                    \
    X(GIT_EVENTS, git_events)                                                                      \
    X(TINY_PATCH_AFTER_ERRORS_EVENTS, tiny_patch_after_errors_events)                              \
    X(CONTEXT_EVENTS, context_events)                                                              \
    X(GATEWAY_EVENTS, gateway_events)                                                              \
    X(PLUGIN_EVENTS, plugin_events)                                                                \
    X(ROLLBACK_EVENTS, rollback_events)                                                            \
    X(DOCS_ACTIVITY_EVENTS, docs_activity_events)                                                  \
    X(MODEL_EVENTS, model_events)                                                                  \
    X(OPENROUTER_EVENTS, openrouter_events)                                                        \
    X(CODEX_EVENTS, codex_events)                                                                  \
    X(CLAUDE_EVENTS, claude_events)                                                                \
    X(GEMINI_EVENTS, gemini_events)                                                                \
    X(LOCAL_MODEL_EVENTS, local_model_events)                                                      \
    X(TOOLSET_EVENTS, toolset_events)                                                              \
    X(CONFIG_EVENTS, config_events)                                                                \
    X(GIT_HISTORY_EVENTS, git_history_events)                                                      \
    X(TEST_EVENTS, test_events)                                                                    \
    X(SCREENSHOT_EVENTS, screenshot_events)                                                        \
    X(RELEASE_EVENTS, release_events)                                                              \
    X(CACHE_EVENTS, cache_events)

typedef enum Metric {
#define X(enumerator, name) METRIC_##enumerator,
    METRICS(X)
#undef X
        METRIC_COUNT
} Metric;

const char *metric_name(size_t metric);

/* True or false in files, where the others are numbers. */
bool metric_is_flag(size_t metric);

typedef struct SessionMetrics {
    int64_t value[METRIC_COUNT];
    Str *tool_names; /* every name once, in byte order; may hold halves of surrogate pairs */
    size_t n_tool_names;
    int64_t message[METRIC_COUNT]; /* the last that added to a count of calls, tools, files or
                                      messages; 0: none, or not known */
} SessionMetrics;

typedef struct Scanner Scanner;

MUST_CHECK Scanner *scanner_new(Err *err);
Scanner *scanner_free(Scanner *s);
AUTO_FREE(Scanner, scanner_free)

/* What may be counted otherwise than the original does; all off at first. */
typedef struct ScannerOptions {
    bool double_encoded; /* tool calls that are JSON in a JSON string count as calls */
    bool memory_writes;  /* memory calls count as writes only where they add or replace */
    bool map_tools;      /* tools of every agent count, by data/tools.def */
} ScannerOptions;

void scanner_set(Scanner *s, const ScannerOptions *options);

/* A row of the session as it is stored; p NULL where the cell is. */
typedef struct ScanRow {
    Str role, content, tool_calls, tool_name;
    bool content_is_blob;
    int64_t id; /* of the message; 0: not known */
} ScanRow;

/* begin, the rows of one session in order of their ids, end. The bytes of a row are borrowed for
 * the call; what end gives lives in the arena. */
void scanner_begin(Scanner *s);
void scanner_row(Scanner *s, const ScanRow *row);
void scanner_end(Scanner *s, Arena *a, SessionMetrics *ret);

#endif
