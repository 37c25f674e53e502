/* What Tab may put in: names of commands, then what each of them takes. */
#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "platforms/platform.h"
#include "templates/template.h"
#include "terminal/chat_inside.h"

enum { MAX_FILES = 10000, MAX_WORDS = 200 };

static void offer(Completion *out, Str begun, Str word)
{
    if (!str_starts(word, begun) || out->n == MAX_WORDS)
        return;
    ARENA_PUSH(out->arena, out->words, out->n, out->cap, str_dup(out->arena, word));
    out->replaces = begun.n;
}

static void commands(Completion *out, Str begun)
{
    for (size_t i = 0; i < SLASH_COUNT; i++)
        offer(out, begun, str_printf(out->arena, "/%s", slash_rows[i].name));
}

static void template_names(Chat *c, Completion *out, Str begun)
{
    Template *all;
    Err err = { 0 };
    size_t n = 0;

    offer(out, begun, STR("auto"));
    offer(out, begun, STR("none"));
    if (!templates_load(out->arena, c->options->homes, &all, &n, &err))
        return;
    for (size_t i = 0; i < n; i++)
        offer(out, begun, all[i].name);
}

static void conversation_ids(Chat *c, Completion *out, Str begun)
{
    Listed *all;
    Err err = { 0 };
    size_t n = 0;

    if (!chat_list(c, 50, &all, &n, &err))
        return;
    for (size_t i = 0; i < n; i++)
        offer(out, begun, all[i].id);
}

static void paths(Completion *out, Str begun)
{
    size_t at = begun.n;
    const char *home = getenv("HOME");
    FileEntry *all;
    Err err = { 0 };
    Str folder;
    size_t n = 0;

    while (at && begun.p[at - 1] != '/')
        at--;
    folder = at ? str_head(begun, at) : STR("./");
    if (home && str_starts(folder, STR("~/")))
        folder = str_join_path(out->arena, str_of(home), str_skip(folder, 2));
    if (!folder_list(out->arena, str_z(out->arena, folder), MAX_FILES, &all, &n, &err))
        return;
    for (size_t i = 0; i < n; i++)
        if (all[i].name.p[0] != '.' || at < begun.n)
            offer(out, begun,
                  str_printf(out->arena, "%.*s%.*s%s", STR_FMT(str_head(begun, at)),
                             STR_FMT(all[i].name), all[i].is_folder ? "/" : ""));
    out->end = out->n == 1 && str_ends(out->words[0], STR("/")) ? "" : " ";
}

void chat_complete(void *ctx, Str before, Completion *ret)
{
    Chat *c = ctx;
    Str word = str_skip(before, str_find(before, STR(" ")) + 1);
    SlashId id;
    Str rest;
    Err err;

    if (!before.n || before.p[0] != '/')
        return;
    if (str_find(before, STR(" ")) == before.n) {
        commands(ret, before);
        return;
    }
    /* With a letter behind it, so that a command that needs something is one already. */
    if (slash_parse(str_printf(ret->arena, "%.*s?", STR_FMT(before)), &id, &rest, &err) !=
        SLASH_COMMAND)
        return;
    if (id == SLASH_runtime)
        for (const Runtime *const *r = service_runtimes(c->service); *r; r++)
            offer(ret, word, str_of((*r)->name));
    else if (id == SLASH_template)
        template_names(c, ret, word);
    else if (id == SLASH_handoff)
        for (size_t i = 0; shapes_each(i); i++)
            offer(ret, word, str_of(shapes_each(i)->name));
    else if (id == SLASH_resume || id == SLASH_back)
        conversation_ids(c, ret, word);
    else if (id == SLASH_file)
        paths(ret, word);
}
