/* A key has one place, by its own bits; the next key of that place takes it over. What is found is checked by the
 * caller, so losing one costs a conversation, never a wrong one. */
#include "http/openai_chats.h"

#include <pthread.h>

#include "base/limits.h"
#include "agent/runs.h"

typedef struct Remembered {
    uint8_t key[SHA256_BYTES];
    char id[ID_CHARS];
} Remembered;

struct OpenaiChats {
    pthread_mutex_t lock;
    Remembered places[LIMIT_OPENAI_CHATS];
};

OpenaiChats *openai_chats_new(void)
{
    OpenaiChats *all = mem_alloc(sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    return all;
}

OpenaiChats *openai_chats_free(OpenaiChats *all)
{
    if (all)
        pthread_mutex_destroy(&all->lock);
    return mem_free(all);
}

static Remembered *place_of(OpenaiChats *all, const uint8_t key[SHA256_BYTES])
{
    uint32_t bits;

    memcpy(&bits, key, sizeof bits);
    return &all->places[bits % LIMIT_OPENAI_CHATS];
}

void openai_chats_put(OpenaiChats *all, const uint8_t key[SHA256_BYTES], Str conversation_id)
{
    Remembered *m = place_of(all, key);

    if (conversation_id.n >= sizeof m->id)
        return;
    pthread_mutex_lock(&all->lock);
    memcpy(m->key, key, SHA256_BYTES);
    memcpy(m->id, conversation_id.p, conversation_id.n);
    m->id[conversation_id.n] = '\0';
    pthread_mutex_unlock(&all->lock);
}

Str openai_chats_find(OpenaiChats *all, Arena *a, const uint8_t key[SHA256_BYTES])
{
    Remembered *m = place_of(all, key);
    Str id = STR("");

    pthread_mutex_lock(&all->lock);
    if (memcmp(m->key, key, SHA256_BYTES) == 0)
        id = str_dup(a, str_of(m->id));
    pthread_mutex_unlock(&all->lock);
    return id;
}
