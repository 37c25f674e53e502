/* common.h - what the benches share: time, a program run to its end, and the one line they print. */
#ifndef TALARIA_BENCH_COMMON_H
#define TALARIA_BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, figure, unit, the peer's figure, how it was had (run|recorded|-), ratio, pass|FAIL */
void bench_line(const char *name, double figure, const char *unit, double peer, const char *how,
                double ratio, bool pass);

/* Wall milliseconds of a program with its output thrown away; -1 where it fails. */
double bench_run_ms(char *const argv[]);

/* The middle one of n runs after one to warm up. */
double bench_median_ms(char *const argv[], int n);

/* The binary under test: $TALARIA_BIN, else build/talaria. */
const char *bench_binary(void);

/* The system's own Python, since a version manager's wrapper would only flatter us. */
char *bench_python(void);

/* An empty folder under $TMPDIR, taken away by bench_drop_folder. */
void bench_folder(char ret[256]);
void bench_drop_folder(const char *path);

#endif
