/* How often a night accepts an edit, when every answer is a matter of chance: a useless edit should
 * not be, one that helps by twenty points should. The original's figures are recorded ones; it has
 * one draw a task and document and asks for "higher". Underpowered counts as not accepted. */
#include <stdio.h>

#include "common.h"
#include "noisy.h"

enum { TRIALS = 500 };

static const struct {
    size_t tasks;
    double effect;
    double min, max; /* what the share of accepted edits must keep to */
    double peer;     /* of the original, at base 0.3 */
} rows[] = {
    { 12, 0, 0, 0.05, 0.366 }, { 24, 0, 0, 0.05, 0.374 },  { 40, 0, 0, 0.05, 0.436 },
    { 24, 0.2, 0.60, 1, 0.0 }, { 40, 0.2, 0.80, 1, 0.81 },
};

int main(void)
{
    static const double bases[] = { 0.3, 0.6 };
    bool all = true;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(bases); k++) {
            NoisyShares s = noisy_nights(rows[i].tasks, bases[k], rows[i].effect, TRIALS, 42 + k);
            bool pass = s.accepted >= rows[i].min && s.accepted <= rows[i].max &&
                        s.max_draws <= GATE_MAX_DRAWS;
            char name[96];

            snprintf(name, sizeof name, "gate: %s edit accepted, %zu tasks, base %.1f",
                     rows[i].effect > 0 ? "+20-point" : "useless", rows[i].tasks, bases[k]);
            bench_line(name, 100 * s.accepted, "%", k ? 0 : 100 * rows[i].peer, "recorded",
                       rows[i].peer > 0 ? s.accepted / rows[i].peer : 0, pass);
            fprintf(stderr, "  underpowered %.1f %%, %.0f calls a night, at most %lld draws\n",
                    100 * s.underpowered, s.calls, (long long)s.max_draws);
            all &= pass;
        }
    return all ? 0 : 1;
}
