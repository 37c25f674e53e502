#include "recall/gather.h"

#include "base/limits.h"
#include "recall/lines.h"

/* The parser knows of one line only, and that is not the file's first. */
static void broken(Gather *g, const char *why)
{
    static const char one_line[] = "line 1, ";
    Err text;

    if (strncmp(why, one_line, sizeof one_line - 1) == 0)
        why += sizeof one_line - 1;
    (void)err_set(&text, ERR_INVALID, "line %lld: %s", (long long)g->line, why);
    g->tell(g->ctx, IMPORT_BROKEN, g->open ? g->session.id : STR(""), text.text);
    g->spoilt = true;
}

/* What was gathered so far has no end: cut off, or run into the next one. */
static void give_up(Gather *g)
{
    if (g->open && !g->spoilt)
        broken(g, "the session is cut off here");
    g->open = g->spoilt = false;
}

static void begin(Gather *g, const Session *s)
{
    g->session = *s;
    g->messages = NULL;
    g->n = g->cap = 0;
    g->open = true;
    g->spoilt = false;
}

static void add(Gather *g, const Message *m)
{
    if (!g->open) {
        /* Once is enough: the lines after it have no session either. */
        if (!g->spoilt)
            broken(g, "a message without a session");
        return;
    }
    if (g->bytes > LIMIT_TRANSCRIPT_BYTES) {
        if (!g->spoilt)
            broken(g, "the session is too large");
        return;
    }
    if (!g->spoilt)
        ARENA_PUSH(g->arena, g->messages, g->n, g->cap, *m);
}

static bool finish(Gather *g, int64_t messages, Err *err)
{
    bool ok = true;

    if (g->open && !g->spoilt && messages != (int64_t)g->n)
        broken(g, "the session has not as many messages as its end says");
    if (g->open && !g->spoilt)
        ok = g->fn(g->ctx, &g->session, g->messages, g->n, err);
    g->open = g->spoilt = false;
    return ok;
}

bool gather_line(Gather *g, Str line, Err *err)
{
    Line read;
    Err why;

    g->line++;
    line = str_trim(line);
    if (!line.n)
        return true;
    if (!g->open) {
        arena_reset(g->arena);
        g->bytes = 0;
    }
    g->bytes += line.n;
    if (!line_read(g->arena, line, &read, &why)) {
        broken(g, why.text);
        return true;
    }
    switch (read.kind) {
    case LINE_SESSION:
        give_up(g);
        begin(g, &read.session);
        return true;
    case LINE_MESSAGE:
        add(g, &read.message);
        return true;
    case LINE_WHOLE:
        give_up(g);
        begin(g, &read.session);
        g->messages = read.all;
        g->n = (size_t)read.messages;
        return finish(g, read.messages, err);
    default:
        return finish(g, read.messages, err);
    }
}

void gather_too_long(Gather *g)
{
    g->line++;
    broken(g, "it is too long");
}

void gather_end(Gather *g)
{
    give_up(g);
}
