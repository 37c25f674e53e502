#include "agent/failure.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/limits.h"
#include "text/json.h"

enum { MAX_READ = 16 << 10, MAX_LINE = 400, MAX_WORD = 40 };

/* -- Commands -- */

bool failure_is_shell(Str tool)
{
    static const char *const parts[] = { "bash",         "shell",   "terminal",
                                         "exec_command", "command", "powershell" };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_find_nocase(tool, str_of(parts[i])) < tool.n)
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word of a command; quotes around it go. Empty at the end of this command. */
static Str next_word(Str *rest)
{
    Str s = *rest;
    size_t n = 0;
    char quote = 0;

    while (s.n && is_blank(s.p[0]))
        s = str_skip(s, 1);
    if (s.n && (s.p[0] == '"' || s.p[0] == '\'')) {
        quote = s.p[0];
        s = str_skip(s, 1);
    }
    while (n < s.n && (quote ? s.p[n] != quote : !is_blank(s.p[n]) && !strchr(";|&", s.p[n])))
        n++;
    *rest = str_skip(s, quote && n < s.n ? n + 1 : n);
    return str_head(s, n);
}

/* Behind "&&", ";", "||": the next command. False: there is none. */
static bool next_command(Str *rest)
{
    while (rest->n && !strchr(";|&", rest->p[0]))
        *rest = str_skip(*rest, 1);
    while (rest->n && strchr(";|&", rest->p[0]))
        *rest = str_skip(*rest, 1);
    return str_trim(*rest).n > 0;
}

/* Words before the program: what runs it, how, and where. */
static bool is_wrapper(Str word)
{
    size_t equals = str_find(word, STR("="));

    return str_is_one_of(word, "sudo|env|time|nohup|exec|command|then|do|bash|sh|zsh|-lc|-c|-l") ||
           (word.n && word.p[0] == '-') || (equals > 0 && equals < word.n);
}

static Str program_name(Str word)
{
    for (size_t i = word.n; i > 0; i--)
        if (word.p[i - 1] == '/' && i < word.n)
            return str_skip(word, i);
    return word;
}

static bool is_subcommand(Str word)
{
    if (!word.n || word.n > 20 || !islower((unsigned char)word.p[0]))
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (!isalnum((unsigned char)word.p[i]) && !strchr("-_:", word.p[i]))
            return false;
    return true;
}

Str failure_command(Arena *a, Str command)
{
    Str rest = str_head(command, KIB(4)), word, sub;

    for (;;) {
        word = next_word(&rest);
        if (str_is_one_of(word, "cd|export|set|source|pushd|mkdir|true|.") && word.n) {
            if (!next_command(&rest))
                return word;
        } else if (word.n && str_eqz(word, "timeout")) {
            (void)next_word(&rest);
        } else if (!word.n || !is_wrapper(word)) {
            break;
        }
    }
    word = str_head(program_name(word), MAX_WORD);
    sub = next_word(&rest);
    if (str_is_one_of(sub, "-m|run|exec") && sub.n) {
        Str third = next_word(&rest);

        return str_printf(a, "%.*s %.*s%s%.*s", STR_FMT(word), STR_FMT(sub), third.n ? " " : "",
                          STR_FMT(str_head(third, MAX_WORD)));
    }
    return is_subcommand(sub) ? str_printf(a, "%.*s %.*s", STR_FMT(word), STR_FMT(sub)) : word;
}

/* -- Lines -- */

/* The text inside of a result that is JSON. */
static Str inner_text(Arena *a, Str result)
{
    static const char *const keys[] = {
        "error", "stderr", "message", "output", "content", "stdout"
    };
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    if (!result.n || result.p[0] != '{')
        return result;
    doc = json_parse(result, &ignored);
    for (size_t i = 0; doc && i < ARRAY_LEN(keys); i++) {
        Json v = json_get(json_root(doc), str_of(keys[i]));
        Str text = str_trim(json_type(v) == JSON_OBJECT ? json_str(json_get(v, STR("message")))
                                                        : json_str(v));

        if (text.n)
            return str_dup(a, text);
    }
    return result;
}

/* How much a line says about a failure. */
static int weight(Str line)
{
    static const char *const telling[] = { "error:",     "exception", "fatal",    "failed",
                                           "not found",  "denied",    "cannot",   "no such",
                                           "refused",    "timed out", "unable",   "panic",
                                           "assertion",  "undefined", "invalid",  "missing",
                                           "unexpected", "conflict",  "exceeded", "error" };

    if (str_find_nocase(line, STR("exit code")) == 0 ||
        str_find_nocase(line, STR("traceback")) == 0)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(telling); i++)
        if (str_find_nocase(line, str_of(telling[i])) < line.n)
            return 3;
    return 2;
}

Str failure_line(Arena *a, Str result)
{
    Str text = inner_text(a, str_trim(str_head(result, MAX_READ))), line, best = STR_NONE;
    int max = 0;

    while (str_split(&text, '\n', &line)) {
        int now;

        line = str_trim(str_head(line, MAX_LINE));
        if (!line.n)
            continue;
        now = weight(line);
        /* Of equal ones the first, but the last of those that say nothing. */
        if (now > max || (now == max && now < 3)) {
            max = now;
            best = line;
        }
    }
    return best;
}

/* Quoted text ends at the same sign within the line; without one it is no quotation. */
static size_t quoted_bytes(Str s)
{
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] == s.p[0])
            return i + 1;
    return 0;
}

Str failure_kind(Arena *a, Str line)
{
    AUTO_BUF out = BUF(KIB(1));
    Str s = str_head(line, MAX_LINE);

    while (s.n) {
        char c = s.p[0];
        size_t n = strchr("'\"`", c) ? quoted_bytes(s) : 0;

        if (n) {
            buf_addc(&out, '"');
        } else if (isdigit((unsigned char)c) || c == '/') {
            while (n < s.n && !is_blank(s.p[n]) && !strchr(",;()\"'", s.p[n]))
                n++;
            n += !n;
            buf_addc(&out, c == '/' ? '/' : '#');
        } else {
            n = 1;
            buf_addc(&out, (char)tolower((unsigned char)c));
        }
        s = str_skip(s, n);
    }
    return str_dup(a, buf_str(&out));
}
