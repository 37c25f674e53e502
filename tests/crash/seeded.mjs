// Random numbers that can be had again: every test with a kill takes its own from one seed and prints it.
import { randomInt } from 'node:crypto';

const SEED = 'TALARIA_CRASH_SEED';

/** A function that gives numbers from 0 to 1, the same for the same seed. `TALARIA_CRASH_SEED=n` sets it; else it is a new one. */
export function seeded(t, seed = Number(process.env[SEED] ?? randomInt(1, 2 ** 31))) {
  if (!Number.isSafeInteger(seed)) throw new Error(`${SEED} must be a number`);
  t.diagnostic(`${SEED}=${seed} runs '${t.name}' with the same choices`);
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
}
