/* trust.h - on whose behalf something is done, and what that allows.
 *
 * Decided once for each message, by gateway/authorise.h, and handed on with everything that follows
 * from it. Terminal, page and API belong to the owner: whoever reaches them can read the files
 * anyway. The value 0 is the guest, so that a caller that forgets to say who asks gives nothing
 * away. */
#ifndef TALARIA_STORE_TRUST_H
#define TALARIA_STORE_TRUST_H

#include <stdbool.h>

typedef enum Trust {
    TRUST_GUEST, /* let in by a pairing code, a role, an open group or '*' */
    TRUST_NAMED, /* listed by id in the configuration, in a chat that others can read */
    TRUST_OWNER  /* listed by id, in a private chat; page, terminal, API */
} Trust;

/* X(id, the least trusted who has it) */
#define TRUST_RIGHTS(X)                                                                            \
    /* memory, past sessions, notes, skills and templates: in the prompt and as tools */           \
    X(RIGHT_KNOWLEDGE, TRUST_OWNER)                                                                \
    /* runtimes that bring tools of their own to this machine: Claude Code, Codex, Hermes */       \
    X(RIGHT_MACHINE, TRUST_NAMED)

typedef enum TrustRight {
#define X(id, min) id,
    TRUST_RIGHTS(X)
#undef X
} TrustRight;

static inline bool trust_has(Trust who, TrustRight right)
{
    static const Trust min[] = {
#define X(id, min) min,
        TRUST_RIGHTS(X)
#undef X
    };

    return who >= min[right];
}

#endif
