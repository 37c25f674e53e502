/* chats.h - the sessions of one chat: those that live there or lived there.
 *
 * What one may go on with by its number, id or title must have been there before: an id that
 * somebody guessed, or saw elsewhere, opens nothing. Text lives in the arena. */
#ifndef TALARIA_CHAT_CHATS_H
#define TALARIA_CHAT_CHATS_H

#include "chat/address.h"
#include "store/homes.h"

typedef struct ChatSession {
    Str id, title; /* title may be empty */
    Str home;      /* its folder */
    double started_at;
} ChatSession;

/* Newest first. In a private chat those of all its threads; elsewhere those of the key, and the
 * user's own. A home that cannot be read, or knows nothing of chats, has none. */
void chat_sessions(Arena *a, const Homes *homes, const ChatAddress *at, Str key, size_t max,
                   ChatSession **ret, size_t *ret_n);

/* The one that is meant by a number of that list, an id or a title; NULL: none, or several. */
const ChatSession *chat_session_meant(const ChatSession *all, size_t n, Str said);

#endif
