#include "cmd/commands.h"

int main(int argc, char **argv)
{
    return cli_main(commands_root(), argc, argv);
}
