/* recall_talk.h - conversations made up for measuring recall, with questions whose answer stands in
 * one known turn.
 *
 * Pairs of people talk over many sessions about the same few matters, each in several places, so
 * that every question has turns beside its own that share most of its words. A question says a
 * matter in another form or by another word, in another order, and names the speaker, who says "I".
 * The answer stands in the turn that names the matter, in the reply to it, or one turn further on,
 * where its words do not occur. Used by the bench and, smaller, by a unit test; the same seed makes
 * the same talk. */
#ifndef TALARIA_BENCH_RECALL_TALK_H
#define TALARIA_BENCH_RECALL_TALK_H

#include "base/arena.h"
#include "base/buf.h"

typedef struct TalkTurn {
    Str who, text;
    int session; /* of all, from 0 */
    double at;
} TalkTurn;

typedef struct TalkQuestion {
    Str text;
    size_t answer; /* the turn */
    int kind;      /* 0 said there, 1 in the reply, 2 one turn further on */
} TalkQuestion;

typedef struct Talk {
    TalkTurn *turns;
    TalkQuestion *questions;
    size_t n_turns, n_questions, cap_turns, cap_questions;
    int n_sessions;
} Talk;

typedef struct TalkMatter {
    const char *subject, *also, *did, *doing;
} TalkMatter;

static const TalkMatter talk_matters[] = {
    { "bicycle", "bike", "repaired", "repairing" },
    { "kitchen", "kitchen", "painted", "painting" },
    { "concert", "gig", "played", "playing" },
    { "garden", "garden", "planted", "planting" },
    { "puppy", "dog", "adopted", "adopting" },
    { "marathon", "race", "finished", "finishing" },
    { "novel", "book", "published", "publishing" },
    { "boat", "boat", "restored", "restoring" },
    { "exhibition", "exhibition", "organised", "organising" },
    { "bakery", "bakery", "opened", "opening" },
    { "violin", "fiddle", "bought", "buying" },
    { "hike", "hiking", "planned", "planning" },
    { "database", "database", "migrated", "migrating" },
    { "server", "servers", "upgraded", "upgrading" },
    { "interview", "interviews", "prepared", "preparing" },
    { "wedding", "wedding", "celebrated", "celebrating" },
};
static const char *const talk_places[] = { "Lisbon", "Oslo",   "Kyoto", "Bergen", "Dublin",
                                           "Turin",  "Quebec", "Cairo", "Lima",   "Prague" };
static const char *const talk_names[] = { "Maria", "Jonas",  "Aiko", "Peter", "Leila", "Tomas",
                                          "Grace", "Viktor", "Nina", "Omar",  "Clara", "Hugo" };
static const char *const talk_answers[] = {
    "it took eleven days and my uncle helped",      "forty people came, far more than expected",
    "it cost nine hundred and was worth it",        "the green one in the end, not the red",
    "my neighbour lent me everything for it",       "the rain ruined half of the evening",
    "we used cedar because oak was sold out",       "a small team of five did most of it",
    "they called it Pepper, after the spice",       "it was over before noon, to my surprise",
    "the second attempt worked, the first did not", "two old friends turned up unannounced",
};
static const char *const talk_chat[] = {
    "How was your weekend? Mine was mostly quiet.",
    "That sounds great, tell me more about it sometime.",
    "I have been so busy lately, work never ends.",
    "Did you see the news this morning?",
    "Honestly I think we should do this more often.",
    "What are you doing about dinner tonight?",
    "My sister was asking about you the other day.",
    "I did not sleep well, what about you?",
    "The weather has been strange, has it not?",
    "We could meet in town when you are back.",
    "I am reading something about old maps, it is fun.",
    "Thanks, that means a lot to me.",
    "What did the doctor say about your knee?",
    "I was thinking about what you said in spring.",
};
/* Which one reply is meant shows only by what it answers. */
static const char *const talk_replies[] = {
    "Oh yes, $0.",
    "You would not believe it: $0.",
    "Well, $0.",
    "Ha, $0, since you ask.",
};

static uint32_t talk_random(uint64_t *seed, size_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)((*seed >> 11) % n);
}

/* The form with its $0, $1 ... replaced by the words. */
static Str talk_fill(Arena *a, const char *form, const char *const *words)
{
    AUTO_BUF b = BUF(1024);

    for (; *form; form++)
        if (*form == '$')
            buf_addz(&b, words[*++form - '0']);
        else
            buf_addc(&b, *form);
    return str_dup(a, buf_str(&b));
}

#define TALK_PICK(seed, table) (table)[talk_random((seed), ARRAY_LEN(table))]

static size_t talk_say(Talk *t, Arena *a, const char *who, Str text)
{
    double at = 1704096000.0 + t->n_sessions * 200000.0 + (double)t->n_turns * 40;
    TalkTurn turn = { str_of(who), text, t->n_sessions, at };

    ARENA_PUSH(a, t->turns, t->n_turns, t->cap_turns, turn);
    return t->n_turns - 1;
}

static void talk_chatter(Talk *t, Arena *a, const char *const *pair, uint64_t *seed, size_t max)
{
    for (size_t n = 1 + talk_random(seed, max); n > 0; n--)
        (void)talk_say(t, a, pair[talk_random(seed, 2)], str_of(TALK_PICK(seed, talk_chat)));
}

static void talk_ask(Talk *t, Arena *a, const char *who, const TalkMatter *m, const char *place,
                     size_t answer, int kind, uint64_t *seed)
{
    static const char *const forms[] = {
        "What did $0 tell about $1 the $2 in $3?",
        "In $3, how did it go for $0 when $1 the $2?",
        "What happened with the $2 that $0 was $1 in $3?",
        "Do you remember what $0 said about the $2 in $3?",
    };
    const char *words[] = { who, m->doing, talk_random(seed, 2) ? m->also : m->subject, place };
    TalkQuestion q = { talk_fill(a, TALK_PICK(seed, forms), words), answer, kind };

    ARENA_PUSH(a, t->questions, t->n_questions, t->cap_questions, q);
}

/* One matter comes up: who speaks first, and where the answer stands, is the dice's. */
static void talk_matter(Talk *t, Arena *a, const char *const *pair, uint64_t *seed)
{
    const TalkMatter *m = &TALK_PICK(seed, talk_matters);
    const char *place = TALK_PICK(seed, talk_places), *answer = TALK_PICK(seed, talk_answers);
    int kind = (int)talk_random(seed, 3), me = (int)talk_random(seed, 2);
    const char *words[] = { answer, m->did, m->subject, place };
    size_t at;

    if (kind == 0) {
        at = talk_say(t, a, pair[me], talk_fill(a, "Last month I $1 the $2 in $3 and $0.", words));
    } else {
        (void)talk_say(t, a, pair[!me],
                       talk_fill(a, "You $1 the $2 in $3, right? How was that?", words));
        if (kind == 2)
            (void)talk_say(t, a, pair[me], STR("Right, where do I even begin."));
        at = talk_say(t, a, pair[me], talk_fill(a, TALK_PICK(seed, talk_replies), words));
    }
    if (talk_random(seed, 4) == 0)
        talk_ask(t, a, pair[me], m, place, at, kind, seed);
}

static void talk_make(Talk *t, Arena *a, int pairs, int sessions, uint64_t seed)
{
    for (int p = 0; p < pairs; p++) {
        const char *pair[2];
        size_t first = talk_random(&seed, ARRAY_LEN(talk_names));

        pair[0] = talk_names[first];
        pair[1] = talk_names[(first + 1 + talk_random(&seed, ARRAY_LEN(talk_names) - 1)) %
                             ARRAY_LEN(talk_names)];
        for (int s = 0; s < sessions; s++, t->n_sessions++)
            for (int k = 0; k < 4; k++) {
                talk_chatter(t, a, pair, &seed, 4);
                talk_matter(t, a, pair, &seed);
            }
    }
}

#endif
