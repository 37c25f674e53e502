#include "sleep/task/harness.h"

/* Words that a first prompt of an engine has, whatever comes after. */
static const Str agents[] = {
    STR_INIT(SLEEP_MARK),
    STR_INIT("You are a Claude-Mem"),
    STR_INIT("Hello memory agent"),
    STR_INIT("You are driving **SkillOpt-Sleep**"),
    STR_INIT("<skillopt_sleep_internal_replay_v1>"),
};

/* Headings of replays; a person may paste one, so they count only where nothing else was said. */
static const Str replays[] = {
    STR_INIT("## CURRENT SKILL"),
    STR_INIT("## FAILED TASKS"),
    STR_INIT("## SUCCESSFUL TASKS"),
    STR_INIT("## OUTPUT FORMAT"),
    STR_INIT("You are a strict grader"),
    STR_INIT("Score the response 0.0-1.0"),
    STR_INIT("You are SkillOpt-Sleep"),
    STR_INIT("You are an expert success-pattern analyst"),
    STR_INIT("You are an expert failure-pattern analyst"),
    STR_INIT("## TASK\n"),
    STR_INIT("## SKILL\n"),
    STR_INIT("## Skill\n"),
};

static bool has_one_of(Str text, const Str *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(text, marks[i]) < text.n)
            return true;
    return false;
}

bool harness_wrote(const SessionDigest *digest)
{
    Str first = digest->user_prompts.n ? digest->user_prompts.items[0] : STR_NONE;

    return has_one_of(first, agents, ARRAY_LEN(agents)) ||
           (digest->n_user_turns == 1 && has_one_of(first, replays, ARRAY_LEN(replays)));
}
