/* Any command that reads no history: at most 20 ms, whole process. Beside it the bare Python
 * interpreter, which is what Hermes' command line begins with. */
#include "common.h"

int main(void)
{
    char *const commands[][4] = {
        { (char *)bench_binary(), "--version", NULL },
        { (char *)bench_binary(), "help", "templates", NULL },
        { (char *)bench_binary(), "config", "list", NULL },
    };
    char *const python[] = { bench_python(), "-c", "pass", NULL };
    double worst = 0, peer = bench_median_ms(python, 31);

    for (int i = 0; i < 3; i++) {
        double ms = bench_median_ms(commands[i], 31);

        if (ms < 0)
            worst = 1e9;
        if (ms > worst)
            worst = ms;
    }
    bench_line("start", worst, "ms", peer, "run", peer / worst, worst <= 20);
    return worst <= 20 ? 0 : 1;
}
