#include "cmd/prompt.h"

#include <errno.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"

enum { MAX_LINE = 4096, CTRL_C = 3, CTRL_D = 4, BACKSPACE = 8, CTRL_U = 21, DEL = 127 };

bool prompt_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static void ask(const char *question)
{
    (void)!write(STDERR_FILENO, question, strlen(question));
}

/* -1: the input is over. */
static int read_byte(void)
{
    unsigned char c;
    ssize_t n;

    do {
        n = read(STDIN_FILENO, &c, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? c : -1;
}

static bool interrupted(Err *err)
{
    ask("\n");
    return err_set(err, ERR_INTERRUPTED, "cancelled");
}

bool prompt_line(Arena *a, const char *question, Str *ret, Err *err)
{
    AUTO_BUF line = BUF(MAX_LINE);
    int c;

    ask(question);
    while ((c = read_byte()) >= 0 && c != '\n')
        if (line.n < MAX_LINE - 1)
            buf_addc(&line, (char)c);
    if (c < 0)
        return interrupted(err);
    *ret = str_dup(a, str_trim(buf_str(&line)));
    return true;
}

/* Without signals from the keyboard: the terminal must not stay silent because somebody pressed
 * Ctrl-C. */
static bool type_secret(Buf *line, Err *err)
{
    for (;;) {
        int c = read_byte();

        if (c < 0 || c == CTRL_C || c == CTRL_D)
            return interrupted(err);
        if (c == '\n' || c == '\r')
            return true;
        if (c == CTRL_U)
            line->n = 0;
        else if (c == BACKSPACE || c == DEL)
            line->n -= line->n > 0;
        else if (line->n < MAX_LINE - 1)
            buf_addc(line, (char)c);
    }
}

bool prompt_secret(Arena *a, const char *question, Str *ret, Err *err)
{
    struct termios before, quiet;
    AUTO_BUF line = BUF(MAX_LINE);
    bool ok;

    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return err_errno(err, "cannot read from the terminal");
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
    quiet.c_cc[VMIN] = 1;
    quiet.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) != 0)
        return err_errno(err, "cannot hide the input");
    ask(question);
    ok = type_secret(&line, err);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    if (!ok)
        return false;
    ask("\n");
    *ret = str_dup(a, str_trim(buf_str(&line)));
    return true;
}

bool prompt_or_read_secret(Arena *a, const char *question, Str *ret, Err *err)
{
    Str text;

    if (prompt_possible())
        return prompt_secret(a, question, ret, err);
    if (!file_read_fd(a, STDIN_FILENO, "standard input", MAX_LINE, &text, err))
        return false;
    *ret = str_trim(text);
    return true;
}
