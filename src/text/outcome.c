/* A result is judged from the outside in. JSON with a verdict (success, exit code,
 * status) is believed, whatever its output talks about; JSON without one is opened one level.
 * Plain text fails only by its very beginning (where agents put "Error:" and exit codes), by a
 * short refusal, or by a traceback that is the last thing in it. */
#include "text/outcome.h"

#include <pthread.h>

#include "text/json.h"

static const char *const texts[] = {
#define X(name, text) [name] = text,
    OUTCOMES(X)
#undef X
};

const char *outcome_text(Outcome outcome)
{
    return texts[outcome];
}

/* -- results in JSON -- */

typedef enum Sign { SIGN_NONE, SIGN_GOOD, SIGN_BAD } Sign;

static Sign sign_of_success(Json v)
{
    bool good;

    return !json_bool(v, &good) ? SIGN_NONE : good ? SIGN_GOOD : SIGN_BAD;
}

static Sign sign_of_failure(Json v)
{
    bool bad;

    return json_bool(v, &bad) && bad ? SIGN_BAD : SIGN_NONE;
}

static Sign sign_of_code(Json v)
{
    int64_t code;

    if (!json_int(v, &code) && !str_to_int(json_str(v), INT32_MIN, INT32_MAX, &code))
        return SIGN_NONE;
    return code == 0 ? SIGN_GOOD : SIGN_BAD;
}

static bool is_empty_word(Str s)
{
    static const Str empty[] = { STR_INIT(""), STR_INIT("none"), STR_INIT("null"),
                                 STR_INIT("false"), STR_INIT("no error") };

    s = str_trim(s);
    for (size_t i = 0; i < ARRAY_LEN(empty); i++)
        if (str_eq_nocase(s, empty[i]))
            return true;
    return false;
}

/* No error says nothing by itself: {"output": ..., "error": null} is still to be looked into. */
static Sign sign_of_error(Json v)
{
    int64_t number;

    switch (json_type(v)) {
    case JSON_STRING:
        return is_empty_word(json_str(v)) ? SIGN_NONE : SIGN_BAD;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(v) ? SIGN_BAD : SIGN_NONE;
    case JSON_INT:
        return json_int(v, &number) && number ? SIGN_BAD : SIGN_NONE;
    default:
        return sign_of_failure(v);
    }
}

static Sign sign_of_status(Json v)
{
    static const struct {
        Str word;
        Sign sign;
    } words[] = {
        { STR_INIT("error"), SIGN_BAD },    { STR_INIT("timeout"), SIGN_BAD },
        { STR_INIT("blocked"), SIGN_BAD },  { STR_INIT("denied"), SIGN_BAD },
        { STR_INIT("success"), SIGN_GOOD }, { STR_INIT("ok"), SIGN_GOOD },
    };
    Str word = json_str(v);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_nocase(word, words[i].word))
            return words[i].sign;
    return SIGN_NONE;
}

static const struct {
    Str key;
    Sign (*sign)(Json v);
    Outcome outcome; /* where the sign is bad */
} members[] = {
    { STR_INIT("success"), sign_of_success, OUTCOME_UNSUCCESSFUL },
    { STR_INIT("ok"), sign_of_success, OUTCOME_UNSUCCESSFUL },
    { STR_INIT("is_error"), sign_of_failure, OUTCOME_UNSUCCESSFUL },
    { STR_INIT("isError"), sign_of_failure, OUTCOME_UNSUCCESSFUL },
    { STR_INIT("status"), sign_of_status, OUTCOME_UNSUCCESSFUL },
    { STR_INIT("exit_code"), sign_of_code, OUTCOME_EXIT_CODE },
    { STR_INIT("exitCode"), sign_of_code, OUTCOME_EXIT_CODE },
    { STR_INIT("exit_status"), sign_of_code, OUTCOME_EXIT_CODE },
    { STR_INIT("returncode"), sign_of_code, OUTCOME_EXIT_CODE },
    { STR_INIT("return_code"), sign_of_code, OUTCOME_EXIT_CODE },
    { STR_INIT("error"), sign_of_error, OUTCOME_ERROR },
};

static Sign sign_of_member(Str key, Json v, Outcome *outcome)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (str_eq(key, members[i].key)) {
            Sign sign = members[i].sign(v);

            if (sign == SIGN_BAD && *outcome == OUTCOME_OK)
                *outcome = members[i].outcome;
            return sign;
        }
    return SIGN_NONE;
}

static Outcome judge(Str text, bool open_json);

static Outcome judge_object(Json object, bool open_members)
{
    JsonIter it = json_each(object);
    Outcome outcome = OUTCOME_OK;
    bool good = false;
    Json v;
    Str key;

    while (json_next(&it, &key, &v))
        good |= sign_of_member(key, v, &outcome) == SIGN_GOOD;
    if (outcome != OUTCOME_OK || good || !open_members)
        return outcome;
    it = json_each(object);
    while (outcome == OUTCOME_OK && json_next(&it, &key, &v)) {
        /* Members that hold the result proper. Others hold data, and data may speak of errors. */
        if (!str_is_one_of(key, "output|result|metadata|response|tool_result"))
            continue;
        if (json_type(v) == JSON_OBJECT)
            outcome = judge_object(v, false);
        else if (json_type(v) == JSON_STRING)
            outcome = judge(json_str(v), false);
    }
    return outcome;
}

/* -- results in plain text -- */

typedef enum Where { AT_START, IN_SHORT } Where;

/* IN_SHORT: anywhere, but only in a text that is too short to be somebody's document. */
static const struct {
    Where where;
    Str phrase;
    Outcome outcome;
} phrases[] = {
    { AT_START, STR_INIT("<tool_use_error>"), OUTCOME_ERROR },
    { AT_START, STR_INIT("Error:"), OUTCOME_ERROR },
    { AT_START, STR_INIT("Error executing tool"), OUTCOME_ERROR },
    { AT_START, STR_INIT("Error calling tool"), OUTCOME_ERROR },
    { AT_START, STR_INIT("Tool execution failed"), OUTCOME_ERROR },
    { AT_START, STR_INIT("MCP error"), OUTCOME_ERROR },
    { AT_START, STR_INIT("execution error:"), OUTCOME_ERROR },
    { AT_START, STR_INIT("exec_command failed"), OUTCOME_ERROR },
    { AT_START, STR_INIT("apply_patch verification failed"), OUTCOME_ERROR },
    { AT_START, STR_INIT("failed to parse function arguments"), OUTCOME_ERROR },
    { AT_START, STR_INIT("unsupported call:"), OUTCOME_ERROR },
    { AT_START, STR_INIT("command timed out"), OUTCOME_ERROR },
    { AT_START, STR_INIT("The user doesn't want to proceed"), OUTCOME_REFUSED },
    { AT_START, STR_INIT("[Request interrupted by user"), OUTCOME_REFUSED },
    { AT_START, STR_INIT("aborted by user"), OUTCOME_REFUSED },
    { AT_START, STR_INIT("Claude requested permissions"), OUTCOME_REFUSED },
    { AT_START, STR_INIT("Permission to use"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("permission denied by user"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("denied by the user"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("rejected by user"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("rejected by the user"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("user rejected"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("user denied"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("tool use was rejected"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("approval policy"), OUTCOME_REFUSED },
    { IN_SHORT, STR_INIT("not allowed"), OUTCOME_REFUSED },
};

static Outcome judge_phrases(Str text)
{
    enum { SHORT = 300 };

    for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
        Str phrase = phrases[i].phrase;
        Str where = phrases[i].where == AT_START ? str_head(text, phrase.n)
                    : text.n <= SHORT            ? text
                                                 : STR("");

        if (str_find_nocase(where, phrase) < where.n)
            return phrases[i].outcome;
    }
    return OUTCOME_OK;
}

/* "12", "1)", "0 (some words)": the number at the beginning. */
static Sign sign_of_number(Str s)
{
    size_t n = 0;
    int64_t code;

    while (n < s.n && (s.p[n] == '-' || (s.p[n] >= '0' && s.p[n] <= '9')))
        n++;
    if (!str_to_int(str_head(s, n), INT32_MIN, INT32_MAX, &code))
        return SIGN_NONE;
    return code == 0 ? SIGN_GOOD : SIGN_BAD;
}

/* Claude Code begins with "Exit code 1"; Codex puts its own few lines before "Output:".
 * The first line that is neither ends the search: from there on it is the command's output. */
static Sign sign_of_header(Str text)
{
    static const struct {
        Str prefix;
        bool number_follows;
    } lines[] = {
        { STR_INIT("Error: Exit code "), true }, { STR_INIT("Exit code: "), true },
        { STR_INIT("Exit code "), true },        { STR_INIT("Process exited with code "), true },
        { STR_INIT("Chunk ID:"), false },        { STR_INIT("Wall time:"), false },
        { STR_INIT("Command:"), false },         { STR_INIT("Original token count:"), false },
    };
    Str line;

    while (str_split(&text, '\n', &line)) {
        size_t i = 0;

        while (i < ARRAY_LEN(lines) && !str_starts(line, lines[i].prefix))
            i++;
        if (i == ARRAY_LEN(lines))
            return SIGN_NONE;
        if (lines[i].number_follows)
            return sign_of_number(str_trim(str_skip(line, lines[i].prefix.n)));
    }
    return SIGN_NONE;
}

/* "ValueError: bad", "KeyboardInterrupt", "requests.exceptions.Timeout: ...". */
static bool names_exception(Str line)
{
    size_t n = 0;

    while (n < line.n &&
           (line.p[n] == '.' || line.p[n] == '_' || (line.p[n] >= '0' && line.p[n] <= '9') ||
            ((line.p[n] | 0x20) >= 'a' && (line.p[n] | 0x20) <= 'z')))
        n++;
    return n > 0 && (n == line.n || line.p[n] == ':');
}

/* One that is followed by other output was caught, or is part of a log. */
static bool ends_in_traceback(Str text)
{
    static const Str start = STR_INIT("Traceback (most recent call last):");
    Str rest = text, line;
    size_t last = text.n;

    while (last > 0 && text.p[last - 1] != '\n')
        last--;
    if (str_find(text, start) == text.n || !names_exception(str_skip(text, last)))
        return false;
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, start))
            return true;
    return false;
}

static Outcome judge_plain(Str text)
{
    Sign header = sign_of_header(text);
    Outcome outcome;

    if (header != SIGN_NONE)
        return header == SIGN_BAD ? OUTCOME_EXIT_CODE : OUTCOME_OK;
    outcome = judge_phrases(text);
    if (outcome == OUTCOME_OK && ends_in_traceback(text))
        outcome = OUTCOME_TRACEBACK;
    return outcome;
}

static Outcome judge(Str text, bool open_json)
{
    Outcome outcome;
    JsonDoc *doc;
    Err err;

    text = str_trim(text);
    if (!text.n || text.p[0] != '{')
        return text.n ? judge_plain(text) : OUTCOME_OK;
    doc = json_parse(text, &err);
    if (!doc)
        return judge_plain(text);
    outcome = judge_object(json_root(doc), open_json);
    json_free(doc);
    return outcome;
}

Outcome outcome_of_result(Str result)
{
    return judge(result, true);
}

/* -- what users say -- */

/* Read from left to right, the longest row first, each taking its words with it: "not fixed"
 * never gets to "fixed", "没有问题" never to "有问题". Neutral rows are there for that alone. */
typedef enum Tone { TONE_NEUTRAL, TONE_BLAME, TONE_PRAISE, TONE_THANKS } Tone;

static const struct {
    Tone tone;
    Str words;
} remarks[] = {
#define REMARK(tone, words) { TONE_##tone, STR_INIT(words) },
#include "../../data/remarks.def"
#undef REMARK
};

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* An English remark is whole words; Chinese has no spaces to go by. */
static bool stands_at(Str text, size_t at, Str words)
{
    size_t end = at + words.n;

    if (end > text.n || memcmp(text.p + at, words.p, words.n) != 0)
        return false;
    if (!is_word_byte(words.p[0]))
        return true;
    return (at == 0 || !is_word_byte(text.p[at - 1])) &&
           (end == text.n || !is_word_byte(text.p[end]));
}

/* The letter that begins with byte 0xd0, in lower case: two bytes. */
static size_t fold_cyrillic(unsigned char second, char *out)
{
    bool upper = second >= 0x90 && second <= 0xaf;

    out[0] = (char)(upper && second >= 0xa0 ? 0xd1 : 0xd0);
    out[1] = (char)(!upper ? second : second >= 0xa0 ? second - 0x20 : second + 0x20);
    return 2;
}

/* Lower case, plain apostrophes, and nothing of what was pasted behind a code fence. */
static Str fold(Str message, char *out, size_t max)
{
    static const Str curly = STR_INIT("\xe2\x80\x99");
    size_t n = 0;

    message = str_head(message, str_find(message, STR("```")));
    while (message.n && n < max) {
        char c = message.p[0];

        if (str_starts(message, curly)) {
            c = '\'';
            message = str_skip(message, curly.n - 1);
        }
        message = str_skip(message, 1);
        if (c == (char)0xd0 && message.n && n + 1 < max) {
            n += fold_cyrillic((unsigned char)message.p[0], out + n);
            message = str_skip(message, 1);
            continue;
        }
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return (Str){ out, n };
}

/* Rows by the byte they begin with: next_row[first_row[c]] and so on, -1 ends. Most places of a
 * text begin no row at all, and a history has many thousand remarks. */
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;
static int16_t first_row[256], next_row[ARRAY_LEN(remarks)];

static void chain_rows(void)
{
    for (size_t c = 0; c < ARRAY_LEN(first_row); c++)
        first_row[c] = -1;
    for (size_t i = 0; i < ARRAY_LEN(remarks); i++) {
        unsigned char c = (unsigned char)remarks[i].words.p[0];

        next_row[i] = first_row[c];
        first_row[c] = (int16_t)i;
    }
}

/* The longest row that matches at this place; -1: none. */
static int remark_at(Str text, size_t at)
{
    size_t longest = 0;
    int found = -1;

    for (int i = first_row[(unsigned char)text.p[at]]; i >= 0; i = next_row[i])
        if (remarks[i].words.n > longest && stands_at(text, at, remarks[i].words)) {
            longest = remarks[i].words.n;
            found = i;
        }
    return found;
}

Remark outcome_of_remark(Str message)
{
    enum { LOOKED_AT = 1000 }; /* what comes later is a paste or a new task */
    char folded[LOOKED_AT];
    Str text = fold(message, folded, sizeof folded);
    Remark remark = REMARK_NONE;
    bool thanks = false;

    pthread_once(&rows_once, chain_rows);
    for (size_t at = 0; at < text.n;) {
        int row = remark_at(text, at);

        if (row >= 0 && remarks[row].tone == TONE_BLAME)
            remark = REMARK_BLAME;
        else if (row >= 0 && remarks[row].tone == TONE_PRAISE)
            remark = REMARK_PRAISE;
        thanks = thanks || (row >= 0 && remarks[row].tone == TONE_THANKS);
        at += row >= 0 ? remarks[row].words.n : 1;
    }
    return remark == REMARK_NONE && thanks ? REMARK_PRAISE : remark;
}

bool outcome_is_complaint(Str message)
{
    return outcome_of_remark(message) == REMARK_BLAME;
}
