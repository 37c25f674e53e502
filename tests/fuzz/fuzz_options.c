/* Any words on the command line: parsed or refused with a usage error that says something. */
#include "cmd/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 40 };

/* Words are what stands between NULs and line feeds. */
static int split(Arena *a, Str text, char **argv)
{
    int argc = 0;
    Str word;

    argv[argc++] = "talaria";
    while (argc < MAX_WORDS && str_split(&text, '\n', &word))
        argv[argc++] = str_z(a, word);
    argv[argc] = NULL;
    return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    char *argv[MAX_WORDS + 1];
    int argc = split(a, (Str){ (const char *)data, size }, argv);
    Cli cli = { .arena = a, .root = commands_root() };
    const Command *command;
    Args *args;
    Err err;

    if (!cli_parse(&cli, a, argc, argv, &command, &args, &err)) {
        ASSERT(err.kind == ERR_USAGE && err.text[0]);
        return 0;
    }
    ASSERT(command && args);
    for (const Option *o = command->options; o && o->kind != OPTION_END; o++) {
        (void)args_text(args, o->name);
        if (o->kind == OPTION_NUMBER)
            ASSERT(args_number(args, o->name) >= 0);
    }
    return 0;
}
