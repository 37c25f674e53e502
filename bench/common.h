/* common.h - what the benches share: time, a program run to its end, and the one line they
 * print. */
#ifndef TALARIA_BENCH_COMMON_H
#define TALARIA_BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* A listening socket on loopback, or -1. */
int bench_listen(int *ret_port);
/* The binary as a server over an empty home in this folder, its model at a port of this machine; or
 * -1. */
pid_t bench_serve(const char *home, int model_port, int *ret_port);
/* Sends a request to it, with its token; the socket, or -1. */
int bench_ask(int port, const char *method, const char *path, const char *body);
/* What stands after `mark` in the answer, to the next quote or line end; the socket stays open. */
bool bench_find(int fd, const char *mark, char ret[64]);
double bench_resident_mb(pid_t pid);

#endif
