/* banned.h - functions that have bitten too many C programs. Using one does not compile. */
#ifndef TALARIA_BASE_BANNED_H
#define TALARIA_BASE_BANNED_H

#ifndef __cplusplus

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* gcc sees every file; under clang some of these are macros, which cannot be poisoned. */
#ifndef __clang__
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi atol atoll
#pragma GCC poison strtol strtoll strtoul strtoull localtime gmtime ctime asctime
#pragma GCC poison mktemp tmpnam system popen
#endif

#endif
#endif
