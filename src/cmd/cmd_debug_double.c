/* talaria debug hermes-double: the stand-in for a Hermes, until it is interrupted. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cmd/cmd_debug.h"
#include "http/hermes_double.h"

bool debug_double(Cli *cli, const Args *args, Err *err)
{
    const char *key = getenv("API_SERVER_KEY");
    HermesDoubleOptions options = { .port = (uint16_t)args_number(args, "port"),
                                    .fail = args_text(args, "fail"),
                                    .key = str_of(key ? key : "") };
    AUTO(HermesDouble) *d = NULL;
    sigset_t ends;
    int signal;

    if (args_number(args, "port") > UINT16_MAX)
        return err_set(err, ERR_USAGE, "a port is at most %d", UINT16_MAX);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before its threads, which inherit it */
    d = hermes_double_start(&options, err);
    if (!d)
        return false;
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        json_field_int(&w, "port", hermes_double_port(d));
        cli_json_end(cli, &w);
    } else {
        say(cli, "http://127.0.0.1:%u\n", hermes_double_port(d));
    }
    buf_flush(cli->out);
    (void)sigwait(&ends, &signal);
    return true;
}

const Option debug_double_options[] = {
    { OPTION_NUMBER, "port", "N", "port to listen on; 0: any free port", "8642", NULL, 0 },
    { OPTION_CHOICE, "fail", "HOW",
      "make every turn fail (key refused, rejected by the model, "
      "connection cut, no answer) or slow",
      NULL, "401|400|cut|empty|slow", 0 },
    { 0 },
};

const Example debug_double_examples[] = {
    { "talaria debug hermes-double", "listen on the default port of Hermes" },
    { "talaria debug hermes-double --port 0 --fail cut", "cut the connection in every turn" },
    { "TALARIA_HERMES_BASE_URL=http://127.0.0.1:8642 talaria ask -r hermes 'use a tool'",
      "use it from another terminal" },
    { 0 },
};
