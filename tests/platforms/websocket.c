/* Drives one WebSocket: argv is its address, the seconds to connect in and those of silence;
 * standard input holds one command a line ("send TEXT", "big N", "close CODE", "free"), standard
 * output one event a line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "net/websocket.h"
#include "text/sha256.h"

static void on_text(void *ctx, Str message)
{
    AUTO(Arena) *a = arena_new();

    (void)ctx;
    if (message.n <= 200)
        printf("text %.*s\n", STR_FMT(message));
    else
        printf("long %zu %.*s\n", message.n, STR_FMT(sha256_hex(a, message)));
    fflush(stdout);
}

static void on_closed(void *ctx, int code, Str why)
{
    (void)ctx;
    printf("closed %d %.*s\n", code, STR_FMT(why));
    fflush(stdout);
}

static void send_text(WebSocket *ws, Str text)
{
    Err err;

    if (!ws_send(ws, text, &err))
        printf("refused %s\n", err_name(&err));
    fflush(stdout);
}

static void send_big(WebSocket *ws, size_t n)
{
    char *text = mem_alloc(n + 1);

    memset(text, 'x', n);
    send_text(ws, (Str){ text, n });
    mem_free(text);
}

/* False: that was the last one. */
static bool obey(WebSocket *ws, Str line)
{
    int64_t n = 0;

    if (str_starts(line, STR("send ")))
        send_text(ws, str_skip(line, 5));
    else if (str_starts(line, STR("big ")) && str_to_int(str_skip(line, 4), 0, MIB(64), &n))
        send_big(ws, (size_t)n);
    else if (str_starts(line, STR("close ")) && str_to_int(str_skip(line, 6), 1000, 4999, &n))
        ws_close(ws, (int)n);
    else
        return !str_eqz(line, "free");
    return true;
}

static int number(const char *text)
{
    int64_t n;

    return text && str_to_int(str_of(text), 0, 1000, &n) ? (int)n : 0;
}

int main(int argc, char **argv)
{
    static const WsHandlers handlers = { on_text, on_closed };
    WsOptions options = { .connect_s = number(argc > 2 ? argv[2] : NULL),
                          .silent_s = number(argc > 3 ? argv[3] : NULL) };
    char line[4096];
    WebSocket *ws;
    Err err;

    ws = ws_open(argc > 1 ? argv[1] : "", &options, &handlers, NULL, &err);
    if (!ws) {
        printf("error %s %s\n", err_name(&err), err.text);
        return 1;
    }
    while (fgets(line, sizeof line, stdin) && obey(ws, str_trim(str_of(line))))
        ;
    ws_free(ws);
    printf("end\n");
    return 0;
}
