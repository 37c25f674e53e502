#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/utf8.h"
#include "transcripts/line.h"
#include "transcripts/load.h"

/* -- events as lines of text -- */

typedef struct Seen {
    Arena *a;
    Buf out;
    int anew;
} Seen;

static void add_flags(Buf *out, unsigned flags)
{
    static const struct {
        unsigned flag;
        char letter;
    } table[] = { { EVENT_IS_META, 'm' },    { EVENT_IS_SIDE_CHAIN, 's' },
                  { EVENT_IS_SUMMARY, 'S' }, { EVENT_IS_INTERRUPT, 'i' },
                  { EVENT_IS_COMMAND, 'c' }, { EVENT_HAS_FAILED, 'f' },
                  { EVENT_IS_INACTIVE, 'x' } };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (flags & table[i].flag)
            buf_addf(out, "+%c", table[i].letter);
}

static void add_facts(Buf *out, const SessionFacts *f)
{
#define FACTS(X)                                                                                   \
    X(id)                                                                                          \
    X(cwd)                                                                                         \
    X(branch)                                                                                      \
    X(model)                                                                                       \
    X(title)                                                                                       \
    X(entrypoint)                                                                                  \
    X(version)                                                                                     \
    X(originator)                                                                                  \
    X(parent)                                                                                      \
    X(kind)                                                                                        \
    X(continued_in)
#define X(name)                                                                                    \
    if (f->name.n)                                                                                 \
        buf_addf(out, " " #name "=%.*s", STR_FMT(f->name));
    FACTS(X)
#undef X
}

static bool on_event(void *ctx, const Event *e, Err *err)
{
    Seen *seen = ctx;
    Buf *out = &seen->out;

    (void)err;
    buf_addz(out, event_kind_name(e->kind));
    add_flags(out, e->flags);
    if (e->kind == EVENT_SESSION)
        add_facts(out, &e->facts);
    if (e->kind == EVENT_USAGE)
        buf_addf(out, " %lld/%lld/%lld/%lld%s", (long long)e->usage.input,
                 (long long)e->usage.output, (long long)e->usage.cache_read,
                 (long long)e->usage.cache_write, e->usage.total ? " total" : "");
    if (e->name.n)
        buf_addf(out, " %.*s", STR_FMT(e->name));
    if (e->id.n)
        buf_addf(out, " #%.*s", STR_FMT(e->id));
    if (e->arguments.n)
        buf_addf(out, " %.*s", STR_FMT(e->arguments));
    if (e->text.n)
        buf_addf(out, " '%.*s'", STR_FMT(event_text(seen->a, e)));
    if (e->flags & EVENT_HAS_EXIT_CODE)
        buf_addf(out, " exit %lld", (long long)e->exit_code);
    buf_addc(out, '\n');
    return true;
}

static void on_anew(void *ctx)
{
    ((Seen *)ctx)->anew++;
}

typedef struct Case {
    const char *line, *events;
} Case;

static void check_cases(SourceKind source, const Case *cases, size_t n)
{
    AUTO(Reader) *reader = reader_new();
    AUTO(Arena) *a = arena_new();
    Err err;

    for (size_t i = 0; i < n; i++) {
        Seen seen = { .a = a, .out = BUF(MIB(1)) };

        assert_true(transcript_parse(reader, source, str_of(cases[i].line), NULL, on_event, &seen,
                                     NULL, &err));
        assert_str(buf_str(&seen.out), str_of(cases[i].events));
        buf_done(&seen.out);
    }
}

/* -- Claude Code -- */

static const Case claude_cases[] = {
    { "{\"type\":\"user\",\"cwd\":\"/"
      "w\",\"sessionId\":\"s1\",\"gitBranch\":\"main\",\"entrypoint\":"
      "\"cli\",\"message\":{\"role\":\"user\",\"content\":\"a\\n\\\"b\\\" \\u00e9 "
      "\\ud83d\\ude00\"}}",
      "session id=s1 cwd=/w branch=main entrypoint=cli\nuser 'a\n\"b\" é 😀'\n" },
    /* two lines of one call of the model: its usage once, its blocks each */
    { "{\"type\":\"assistant\",\"requestId\":\"r\",\"message\":{\"id\":\"m\",\"model\":\"cl\","
      "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"zz\"}],\"usage\":{"
      "\"input_tokens\":1,\"output_tokens\":2,\"cache_read_input_tokens\":3,"
      "\"cache_creation_input_tokens\":4}}}\n"
      "{\"type\":\"assistant\",\"requestId\":\"r\",\"message\":{\"id\":\"m\",\"model\":\"cl\","
      "\"content\":[{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"tool_use\",\"id\":\"t\","
      "\"name\":"
      "\"Bash x\",\"input\":{\"command\":\"ls\"}}],\"usage\":{\"input_tokens\":1}}}",
      "session model=cl\nthinking 'hm'\nusage 1/2/3/4\nassistant 'ok'\n"
      "tool_call Bash_x #t {\"command\":\"ls\"}\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
      "\"t\","
      "\"is_error\":true,\"content\":\"Exit code "
      "127\\nno\"}]},\"toolUseResult\":{\"stdout\":\"x\"}}",
      "tool_result+f #t 'Exit code 127\nno' exit 127\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
      "\"t\","
      "\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{\"data\":"
      "\"AAAA\"}},{\"type\":\"text\",\"text\":\"b\"}]}]}}",
      "tool_result #t 'a\nb'\n" },
    { "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"Caveat: x\"}}",
      "user+m 'Caveat: x'\n" },
    { "{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"content\":\"find it\"}}",
      "user+s 'find it'\n" },
    { "{\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"content\":\"so far\"}}",
      "user+S 'so far'\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"[Request "
      "interrupted "
      "by user for tool use]\"}]}}",
      "user+i '[Request interrupted by user for tool use]'\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/cost</command-name>\"}}",
      "user+c '<command-name>/cost</command-name>'\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":\"<local-command-stdout>x</"
      "local-command-stdout>\"}}",
      "user+c '<local-command-stdout>x</local-command-stdout>'\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":\"/model opus\"}}", "user+c '/model opus'\n" },
    { "{\"type\":\"user\",\"message\":{\"content\":\"/etc/hosts is wrong\"}}",
      "user '/etc/hosts is wrong'\n" },
    /* what the editor adds is not the user's word, what stands beside it is */
    { "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<ide_opened_file>"
      "f"
      "</ide_opened_file>\"},{\"type\":\"text\",\"text\":\"fix it\"}]}}",
      "user+m '<ide_opened_file>f</ide_opened_file>'\nuser 'fix it'\n" },
    { "{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":{\"model\":\"<synthetic>\","
      "\"content\":[{\"type\":\"text\",\"text\":\"API Error: "
      "529\"}],\"usage\":{\"input_tokens\":0}}}",
      "error 'API Error: 529'\n" },
    { "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation "
      "compacted\"}",
      "compaction 'Conversation compacted'\n" },
    { "{\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":5}", "meta+m\n" },
    { "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"later\"}",
      "meta+m 'later'\n" },
    { "{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"and "
      "this\"}}",
      "user 'and this'\n" },
    { "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"messageId\":\"m\","
      "\"trackedFileBackups\":{"
      "\"src/a.c\":{\"version\":1},\"b.md\":{}}}}",
      "files 'src/a.c\nb.md'\n" },
    { "{\"type\":\"summary\",\"summary\":\"One\",\"leafUuid\":\"u\"}\n"
      "{\"type\":\"custom-title\",\"customTitle\":\"Mine\"}\n"
      "{\"type\":\"ai-title\",\"aiTitle\":\"Two\"}",
      "session title=One\nsession title=Mine\n" },
};

static void claude_lines(void **state)
{
    (void)state;
    check_cases(SOURCE_CLAUDE, claude_cases, ARRAY_LEN(claude_cases));
}

/* -- Codex -- */

#define ITEM(payload)                                                                              \
    "{\"timestamp\":\"2026-08-21T00:00:01Z\",\"type\":\"response_item\",\"payload\":{" payload     \
    "}}\n"
#define EVENT(payload)                                                                             \
    "{\"timestamp\":\"2026-08-21T00:00:01Z\",\"type\":\"event_msg\",\"payload\":{" payload "}}\n"
#define SAYS(role, text)                                                                           \
    "\"type\":\"message\",\"role\":\"" role                                                        \
    "\",\"content\":[{\"type\":\"input_text\",\"text\":\"" text "\"}]"

static const Case codex_cases[] = {
    { "{\"timestamp\":\"2026-08-21T00:00:01Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"i\","
      "\"cwd\":\"/w\",\"originator\":\"codex_exec\",\"cli_version\":\"0.5\",\"source\":\"exec\","
      "\"git\":{\"branch\":\"b\"}}}",
      "session id=i cwd=/w branch=b entrypoint=exec version=0.5 originator=codex_exec\n" },
    /* each turn once, in whatever order and form it is written */
    { ITEM(SAYS("user", "hi")) EVENT("\"type\":\"user_message\",\"message\":\"hi\"")
          EVENT("\"type\":\"agent_message\",\"message\":\"yes\"") ITEM(SAYS("assistant", "yes")),
      "user 'hi'\nassistant 'yes'\n" },
    { EVENT("\"type\":\"user_message\",\"message\":\"continue\"") ITEM(SAYS("user", "continue"))
          ITEM(SAYS("assistant", "a")) ITEM(SAYS("assistant", "b")) ITEM(SAYS("assistant", "c"))
              ITEM(SAYS("user", "continue"))
                  EVENT("\"type\":\"user_message\",\"message\":\"continue\""),
      "user 'continue'\nassistant 'a'\nassistant 'b'\nassistant 'c'\nuser 'continue'\n" },
    { ITEM(SAYS("user", "hi")) EVENT(
          "\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"content\":[{\"type\":"
          "\"text\",\"text\":\"hi\"}]}") EVENT("\"type\":\"user_message\",\"message\":\"hi\""),
      "user 'hi'\n" },
    { EVENT("\"type\":\"user_message\",\"message\":\"only here\""), "user 'only here'\n" },
    { ITEM(SAYS("user", "<environment_context>\\n</environment_context>")),
      "user+m '<environment_context>\n</environment_context>'\n" },
    { ITEM(SAYS("user", "# AGENTS.md instructions for /w\\n<INSTRUCTIONS>x</INSTRUCTIONS>")),
      "user+m '# AGENTS.md instructions for /w\n<INSTRUCTIONS>x</INSTRUCTIONS>'\n" },
    { ITEM(SAYS("user", "# AGENTS.md instructions\\n<INSTRUCTIONS>x</INSTRUCTIONS>\\ndo it")),
      "user+m '# AGENTS.md instructions\n<INSTRUCTIONS>x</INSTRUCTIONS>\ndo it'\nuser 'do it'\n" },
    { ITEM(SAYS("developer", "rules")), "meta+m 'rules'\n" },
    { ITEM("\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{\\\"command\\\":["
           "\\\"ls\\\"]}"
           "\",\"call_id\":\"c\""),
      "tool_call shell #c {\"command\":[\"ls\"]}\n" },
    { ITEM("\"type\":\"custom_tool_call\",\"name\":\"apply_patch\",\"input\":\"*** "
           "Begin\\n\",\"call_id\":"
           "\"c\""),
      "tool_call apply_patch #c {\"input\":\"*** Begin\\n\"}\n" },
    { ITEM("\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{\\\"output\\\":"
           "\\\"a\\\\n"
           "\\\\\\\"b\\\\\\\"\\\",\\\"metadata\\\":{\\\"exit_code\\\":3,\\\"duration_seconds\\\":0."
           "1}}\""),
      "tool_result+f #c 'a\n\"b\"' exit 3\n" },
    { ITEM("\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"Chunk ID: 1\\nWall "
           "time: 0\\n"
           "Process exited with code 0\\nOutput:\\nhello\""),
      "tool_result #c 'Chunk ID: 1\nWall time: 0\nProcess exited with code 0\nOutput:\nhello' exit "
      "0\n" },
    { EVENT("\"type\":\"token_count\",\"info\":{\"total_token_usage\":{\"input_tokens\":10,"
            "\"cached_input_tokens\":4,\"output_tokens\":5}}"),
      "usage 6/5/4/0 total\n" },
    { "{\"timestamp\":\"2026-08-21T00:00:01Z\",\"type\":\"compacted\",\"payload\":{\"message\":"
      "\"sum\"}}",
      "compaction 'sum'\n" },
    { EVENT("\"type\":\"turn_aborted\",\"reason\":\"interrupted\""), "meta+m+i\n" },
    /* the oldest files: bare payloads */
    { "{\"id\":\"x\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"instructions\":null}\n"
      "{\"record_type\":\"state\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
      "\"input_text\",\"text\":\"hi\"}]}",
      "session id=x\nuser 'hi'\n" },
};

static void codex_lines(void **state)
{
    (void)state;
    check_cases(SOURCE_CODEX, codex_cases, ARRAY_LEN(codex_cases));
}

/* -- files of real programs -- */

static bool on_said(void *ctx, const Event *e, Err *err)
{
    unsigned said = 1u << EVENT_USER | 1u << EVENT_ASSISTANT | 1u << EVENT_TOOL_CALL;

    if (!(said & 1u << e->kind) || e->flags)
        return true;
    return on_event(ctx, e, err);
}

/* As Claude Code 2.1 and Codex 0.166 wrote them, with long texts cut. */
static void what_real_programs_wrote(void **state)
{
    static const struct {
        SourceKind source;
        const char *file, *said;
    } cases[] = {
        { SOURCE_CLAUDE, "transcripts/claude_2.1.jsonl",
          "user 'please show claude the note'\n"
          "tool_call Bash #toolu_5MINsG08EmJcD0cm {\"command\":\"cat note.txt\",\"description\":"
          "\"show it\"}\n"
          "assistant 'The note says hello.'\nuser 'and once more'\n"
          "assistant 'It is still the same.'\n" },
        { SOURCE_CODEX, "transcripts/codex_0.166.jsonl",
          "user 'please show codex the note'\n"
          "tool_call exec_command #call__HIRX7G4mp1x_U6p {\"cmd\":\"cat note.txt\"}\n"
          "assistant 'The note says hello.'\nuser 'and once more'\n"
          "assistant 'It is still the same.'\n" },
    };
    const char *fixtures = getenv("TALARIA_FIXTURES");
    AUTO(Reader) *reader = reader_new();
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Seen seen = { .a = a, .out = BUF(MIB(1)) };
        Str path =
            str_join_path(a, str_of(fixtures ? fixtures : "tests/fixtures"), str_of(cases[i].file));
        ReadStats stats;
        Str bytes;
        Err err;

        assert_true(file_read(a, str_z(a, path), MIB(1), &bytes, &err));
        assert_true(
            transcript_parse(reader, cases[i].source, bytes, NULL, on_said, &seen, &stats, &err));
        assert_str(buf_str(&seen.out), str_of(cases[i].said));
        assert_int_equal(stats.broken + stats.foreign, 0);
        buf_done(&seen.out);
    }
}

/* -- what is not as it should be -- */

static void broken_lines_are_counted_and_passed_over(void **state)
{
    AUTO(Reader) *reader = reader_new();
    AUTO(Arena) *a = arena_new();
    Seen seen = { .a = a, .out = BUF(MIB(1)) };
    Str bytes = STR("{\"type\":\"user\",\"message\":{\"content\":\"bad \xff\xfe bytes\"}}\n"
                    "[1,2,3]\nnull\nnot json\n\n   \r\n"
                    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\n"
                    "{\"type\":\"a-new-one\"}\n"
                    "{\"type\":\"user\",\"message\":{\"content\":\"half \\ud800 pair\"}}\n");
    ReadStats stats;
    Err err;

    (void)state;
    assert_true(
        transcript_parse(reader, SOURCE_CLAUDE, bytes, NULL, on_event, &seen, &stats, &err));
    assert_str(buf_str(&seen.out), STR("user 'bad \xef\xbf\xbd\xef\xbf\xbd bytes'\n"
                                       "user 'half \xef\xbf\xbd pair'\n"));
    assert_int_equal(stats.broken, 2);
    assert_int_equal(stats.foreign, 3);
    assert_int_equal(stats.lines, 7);
    buf_done(&seen.out);
}

static void a_clip_never_cuts_a_character(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str raw = STR("\\u00e9\\ud83d\\ude00\\\\\\n\\\"é日本\\u65e5x\\\\\\\\y😀z\\t"
                  "\\u00e9\\ud83d\\ude00\\\\\\n\\\"é日本\\u65e5x\\\\\\\\y😀z\\t");
    Event e = { .kind = EVENT_USER, .text = { &raw, 1, 1 } };
    Str whole = event_text(a, &e);

    (void)state;
    for (size_t head = 0; head < 40; head++)
        for (size_t tail = 0; tail < 40; tail++) {
            Str clip = event_clip(a, &e, head, tail), gap = STR(" ... ");
            size_t at = str_find(clip, gap);

            assert_int_equal(utf8_valid_prefix(clip), clip.n);
            if (whole.n <= head + tail && at == clip.n) {
                assert_str(clip, whole);
                continue;
            }
            assert_true(at < clip.n);
            assert_true(str_starts(whole, str_head(clip, at)));
            assert_true(str_ends(whole, str_skip(clip, at + gap.n)));
            assert_true(at <= head && clip.n - at - gap.n <= tail);
        }
}

/* -- files and cursors -- */

typedef struct File {
    char path[64];
    TranscriptFile f;
    Cursor cursor;
    Seen seen;
    Reader *reader;
    ReadStats stats;
} File;

static void look_at(File *file)
{
    struct stat st;

    assert_int_equal(stat(file->path, &st), 0);
    file->f.size = st.st_size;
    file->f.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    file->f.inode = st.st_ino;
}

static void write_at(File *file, int flags, Str bytes)
{
    int fd = open(file->path, O_WRONLY | O_CREAT | flags, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
    close(fd);
    look_at(file);
}

static Str read_on(File *file)
{
    Err err;

    buf_clear(&file->seen.out);
    file->seen.anew = 0;
    assert_true(transcript_read(file->reader, &file->f, NULL, &file->cursor, on_event, on_anew,
                                &file->seen, &file->stats, &err));
    return buf_str(&file->seen.out);
}

static void open_file(File *file)
{
    *file = (File){ .path = "/tmp/talaria-test-XXXXXX" };
    close(mkstemp(file->path));
    file->seen = (Seen){ .a = arena_new(), .out = BUF(MIB(64)) };
    file->reader = reader_new();
    file->f = (TranscriptFile){ .source = SOURCE_CLAUDE,
                                .path = str_of(file->path),
                                .stem = STR("session") };
}

static void close_file(File *file)
{
    unlink(file->path);
    reader_free(file->reader);
    arena_free(file->seen.a);
    buf_done(&file->seen.out);
    clock_set_wall(NULL, NULL);
}

#define USER(text) "{\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}"
#define CALL(id)                                                                                   \
    "{\"type\":\"assistant\",\"requestId\":\"r\",\"message\":{\"id\":\"" id                        \
    "\",\"content\":[],\"usage\":{\"output_tokens\":7}}}\n"

static void what_is_appended_is_read_and_no_more(void **state)
{
    File file;

    (void)state;
    open_file(&file);
    write_at(&file, 0, STR(USER("one") "\n" CALL("m") "{\"type\":\"user\",\"mess"));
    assert_str(read_on(&file), STR("user 'one'\nusage 0/7/0/0\n"));
    assert_true(file.stats.incomplete);
    assert_true(cursor_is_current(&file.cursor, &file.f));

    /* the line is finished, the same call of the model goes on, and there is a new one */
    write_at(&file, O_APPEND, STR("age\":{\"content\":\"two\"}}\n" CALL("m") CALL("n")));
    assert_false(cursor_is_current(&file.cursor, &file.f));
    assert_str(read_on(&file), STR("user 'two'\nusage 0/7/0/0\n"));
    assert_false(file.stats.incomplete);
    assert_int_equal(file.seen.anew, 0);
    assert_str(read_on(&file), STR(""));
    close_file(&file);
}

static void a_rewritten_or_shortened_file_is_read_anew(void **state)
{
    File file;

    (void)state;
    open_file(&file);
    write_at(&file, 0, STR(USER("one") "\n" USER("two") "\n"));
    assert_str(read_on(&file), STR("user 'one'\nuser 'two'\n"));

    write_at(&file, O_TRUNC, STR(USER("six") "\n" USER("two") "\n" USER("ten") "\n"));
    assert_str(read_on(&file), STR("user 'six'\nuser 'two'\nuser 'ten'\n"));
    assert_int_equal(file.seen.anew, 1);

    write_at(&file, O_TRUNC, STR(USER("six") "\n"));
    assert_str(read_on(&file), STR("user 'six'\n"));
    assert_int_equal(file.seen.anew, 1);
    assert_true(cursor_is_current(&file.cursor, &file.f));
    close_file(&file);
}

static void a_last_line_without_end_is_taken_once_the_file_is_left_alone(void **state)
{
    File file;

    (void)state;
    open_file(&file);
    write_at(&file, 0, STR(USER("one")));
    clock_fix_wall((double)file.f.mtime_ns / 1e9 + 1);
    assert_str(read_on(&file), STR(""));
    assert_true(cursor_is_current(&file.cursor, &file.f));
    clock_fix_wall((double)file.f.mtime_ns / 1e9 + 3600);
    assert_false(cursor_is_current(&file.cursor, &file.f));
    assert_str(read_on(&file), STR("user 'one'\n"));
    assert_true(cursor_is_current(&file.cursor, &file.f));

    /* half a line is never taken, and costs one look */
    write_at(&file, O_TRUNC, STR("{\"type\":\"user\""));
    clock_fix_wall((double)file.f.mtime_ns / 1e9 + 3600);
    assert_str(read_on(&file), STR(""));
    assert_int_equal(file.stats.broken, 0);
    assert_true(cursor_is_current(&file.cursor, &file.f));
    close_file(&file);
}

/* A line of 9 MB, between two others: one text, many blocks, and what stands behind them. */
static void write_long_line(File *file)
{
    AUTO_BUF line = BUF(MIB(16));

    buf_addz(&line, USER("before") "\n{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
                                   "\"tool_result\",\"tool_use_id\":\"t1\",\"is_error\":true,"
                                   "\"content\":\"Exit code 2\\n");
    for (int i = 0; i < 600000; i++)
        buf_addz(&line, "\\u00e9\\\\n😀");
    buf_addz(&line, "the end\"}");
    for (int i = 0; i < 20000; i++)
        buf_addz(&line, ",{\"type\":\"text\",\"text\":\"\"}");
    buf_addz(&line, "]},\"toolUseResult\":{\"x\":[1,2]},\"timestamp\":\"2026-08-21T00:00:00.500Z\","
                    "\"cwd\":\"/w\"}\n" USER("after") "\n");
    assert_false(buf_full(&line));
    write_at(file, 0, buf_str(&line));
}

typedef struct LongSeen {
    bool found;
    int64_t where, bytes;
} LongSeen;

static bool on_long(void *ctx, const Event *e, Err *err)
{
    LongSeen *seen = ctx;
    AUTO(Arena) *a = arena_new();
    Str text;

    (void)err;
    if (e->kind != EVENT_TOOL_RESULT)
        return true;
    text = event_text(a, e);
    seen->found = str_starts(text, STR("Exit code 2\né\\n😀é")) &&
                  str_ends(text, STR("é\\n😀the end")) && str_eqz(e->id, "t1") &&
                  str_find(text, STR(" ... ")) < text.n && e->exit_code == 2 &&
                  e->at == 1787270400.5 && utf8_valid_prefix(text) == text.n && text.n < MIB(1);
    seen->where = e->where;
    seen->bytes = e->line_bytes;
    return true;
}

static void a_long_line_is_read_in_passing(void **state)
{
    File file;
    LongSeen seen = { 0 };
    Cursor cursor = { 0 };
    Err err;

    (void)state;
    open_file(&file);
    write_long_line(&file);
    assert_true(transcript_read(file.reader, &file.f, NULL, &cursor, on_long, NULL, &seen,
                                &file.stats, &err));
    assert_true(seen.found);
    assert_int_equal(file.stats.long_lines, 1);
    assert_int_equal(file.stats.lines, 3);
    assert_int_equal(cursor.offset, file.f.size);
    seen.found = false;
    assert_true(transcript_line(file.reader, SOURCE_CLAUDE, file.f.path, seen.where, seen.bytes,
                                on_long, &seen, &err));
    assert_true(seen.found);
    close_file(&file);
}

static void one_line_is_found_again(void **state)
{
    File file;
    Err err;

    (void)state;
    open_file(&file);
    write_at(&file, 0, STR(USER("one") "\n" USER("two") "\n"));
    assert_true(transcript_line(file.reader, SOURCE_CLAUDE, file.f.path, sizeof USER("one"),
                                sizeof USER("two") - 1, on_event, &file.seen, &err));
    assert_str(buf_str(&file.seen.out), STR("user 'two'\n"));
    assert_false(transcript_line(file.reader, SOURCE_CLAUDE, file.f.path, 5, 10, on_event,
                                 &file.seen, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    close_file(&file);
}

static void a_transcript_becomes_messages(void **state)
{
    File file;
    Loaded loaded;
    ToolCall *calls;
    size_t n;
    Err err;

    (void)state;
    open_file(&file);
    write_at(
        &file, 0,
        STR(USER("go") "\n" USER(
            "/model opus") "\n"
                           "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{"
                           "\"type\":\"text\","
                           "\"text\":\"I look\"}]}}\n"
                           "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{"
                           "\"type\":"
                           "\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":"
                           "\"ls\"}}]}}\n"
                           "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
                           "\"tool_use_id\":\"t\",\"is_error\":true,\"content\":\"no\"}]}}\n"));
    assert_true(transcript_load(file.seen.a, &file.f, NULL, &loaded, &err));
    assert_int_equal(loaded.n, 3);
    assert_str(loaded.messages[0].content, STR("go"));
    assert_str(loaded.messages[1].content, STR("I look"));
    assert_true(toolcalls_read(file.seen.a, loaded.messages[1].tool_calls, &calls, &n));
    assert_int_equal(n, 1);
    assert_str(calls[0].arguments, STR("{\"command\":\"ls\"}"));
    assert_str(loaded.messages[2].tool_name, STR("Bash"));
    assert_str(loaded.messages[2].finish_reason, STR("error"));
    assert_str(loaded.session.id, STR("session"));
    close_file(&file);
}

/* A person never begins like this: what Hermes puts in place of what it left out. */
static void a_compaction_is_no_request(void **state)
{
    (void)state;
    assert_int_equal(line_text_flags(STR("[CONTEXT COMPACTION - earlier turns]\nThey asked")),
                     EVENT_IS_SUMMARY);
    assert_int_equal(line_text_flags(STR("context compaction is what I want")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compaction_is_no_request),
        cmocka_unit_test(claude_lines),
        cmocka_unit_test(codex_lines),
        cmocka_unit_test(what_real_programs_wrote),
        cmocka_unit_test(broken_lines_are_counted_and_passed_over),
        cmocka_unit_test(a_clip_never_cuts_a_character),
        cmocka_unit_test(what_is_appended_is_read_and_no_more),
        cmocka_unit_test(a_rewritten_or_shortened_file_is_read_anew),
        cmocka_unit_test(a_last_line_without_end_is_taken_once_the_file_is_left_alone),
        cmocka_unit_test(a_long_line_is_read_in_passing),
        cmocka_unit_test(one_line_is_found_again),
        cmocka_unit_test(a_transcript_becomes_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
