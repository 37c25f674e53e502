// The largest history of which the reference's answer is known: 8,000 sessions in 625 MB.
import { test } from 'node:test';
import { compare, generate, golden } from '../cli/goldens.mjs';
import { runJson, tmpHome } from '../cli/helpers.mjs';

test('golden large: totals, sessions, tiers and states equal the reference\'s', { timeout: 180_000 }, (t) => {
  const h = tmpHome(t);
  const g = golden('large');
  generate(h, g.generator);
  compare(g, runJson(['achievements', 'scan', '--source', 'hermes', '--full'], h));
});
