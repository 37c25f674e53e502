/* Process-wide counters: relaxed atomics, no lock on the way of a request. */
#include "http/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"

static atomic_llong replies[6], refusals, streams, dropped, connections;

static void bump(atomic_llong *counter, long long change)
{
    atomic_fetch_add_explicit(counter, change, memory_order_relaxed);
}

static long long value(atomic_llong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count_reply(int status)
{
    bump(&replies[status >= 100 && status < 600 ? status / 100 : 0], 1);
}

void metrics_count_refusal(void)
{
    bump(&refusals, 1);
}

void metrics_stream(int change)
{
    bump(&streams, change);
}

void metrics_stream_dropped(void)
{
    bump(&dropped, 1);
}

void metrics_connection(int change)
{
    bump(&connections, change);
}

int64_t metrics_connections(void)
{
    return value(&connections);
}

/* The second number of statm, in pages. */
static long long resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char line[128] = "";
    int64_t pages = 0;
    Str rest, word;

    if (f) {
        (void)!fgets(line, sizeof line, f);
        fclose(f);
    }
    rest = str_of(line);
    for (int i = 0; i < 2; i++)
        if (!str_split(&rest, ' ', &word))
            return 0;
    if (!str_to_int(word, 0, INT64_MAX / 65536, &pages))
        return 0;
    return pages * sysconf(_SC_PAGESIZE);
}

static void put(Buf *out, const char *name, const char *type, const char *help, long long n)
{
    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name, type, name, n);
}

void metrics_write(Buf *out)
{
    buf_addz(out, "# HELP talaria_http_replies_total Answers, by class of status.\n"
                  "# TYPE talaria_http_replies_total counter\n");
    for (int i = 1; i < 6; i++)
        buf_addf(out, "talaria_http_replies_total{class=\"%dxx\"} %lld\n", i, value(&replies[i]));
    put(out, "talaria_http_refused_total", "counter",
        "Requests refused for their Host, Origin, site or token.", value(&refusals));
    put(out, "talaria_http_connections", "gauge", "Open connections.", value(&connections));
    put(out, "talaria_http_streams", "gauge", "Open event streams.", value(&streams));
    put(out, "talaria_http_streams_dropped_total", "counter",
        "Event streams ended because their reader was too slow.", value(&dropped));
    put(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
}
