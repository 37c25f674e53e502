/* browser.h - opens a page in the user's browser. */
#ifndef TALARIA_CMD_BROWSER_H
#define TALARIA_CMD_BROWSER_H

#include "cmd/cli.h"

/* Starts a program of $BROWSER (several, separated by ':'), else xdg-open, and does not wait for
 * it. The address may carry a token, and other users can read a program's arguments: the browser is
 * given `file` instead, private, which leads there. Fails where no program can be started; one that
 * starts and then fails is reported by a warning. */
MUST_CHECK bool browser_open(Cli *cli, Str address, Str file, Err *err);

#endif
