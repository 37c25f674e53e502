/* serving_address.h - where the page of a data folder is served, for other commands that want to point to it. */
#ifndef TALARIA_CMD_SERVING_ADDRESS_H
#define TALARIA_CMD_SERVING_ADDRESS_H

#include "base/arena.h"

/* Notes the address in the data folder as long as the server runs. Best effort: it is a convenience. */
void serving_address_note(Str data, Str url);
void serving_address_forget(Str data);

/* "http://127.0.0.1:8717/"; p NULL: no server answers there now. */
Str serving_address(Arena *a, Str data);

#endif
