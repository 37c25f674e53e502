#include "cmd/serving_address.h"

#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "net/call.h"

enum { MAX_ADDRESS = 512, ANSWER_MS = 1000 };

static char *note_path(Arena *a, Str data)
{
    return str_z(a, str_join_path(a, data, STR("server-address")));
}

void serving_address_note(Str data, Str url)
{
    AUTO(Arena) *a = arena_new();
    Err err;

    if (!file_write_atomic(note_path(a, data), url, &err))
        log_debug("%s", err.text);
}

void serving_address_forget(Str data)
{
    AUTO(Arena) *a = arena_new();

    (void)unlink(note_path(a, data));
}

/* A server that was killed has left its note behind. */
static bool answers(Arena *a, Str url)
{
    Err err;
    AUTO(Net) *net = net_new(&err);
    FetchRequest request = { .method = "GET",
                             .url = str_z(a, str_printf(a, "%.*shealthz", STR_FMT(url))),
                             .times = { .connect = ANSWER_MS, .total = ANSWER_MS } };
    CallAnswer answer;

    return net && call_wait(net, a, &request, &answer, &err) && answer.status == 200;
}

Str serving_address(Arena *a, Str data)
{
    char *path = note_path(a, data);
    Str url;
    Err err;

    if (access(path, R_OK) != 0 || !file_read(a, path, MAX_ADDRESS, &url, &err))
        return STR_NONE;
    url = str_trim(url);
    return str_starts(url, STR("http://")) && answers(a, url) ? url : STR_NONE;
}
