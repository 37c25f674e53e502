// Histories that a night can learn from.
import fs from 'node:fs';
import path from 'node:path';

/** A Claude history in which the same thing is asked for, and corrected, again and again: one session a minute, from `at` on. */
export function history(home, { project = '/srv/attic', skill, day = '2026-11-01', at = Date.parse(`${day}T10:00:00Z`), from = 0, n = 8, ask, wrong, insist, right } = {}) {
  const folder = path.join(home.user, '.claude/projects/p');
  fs.mkdirSync(folder, { recursive: true });
  const places = ['attic', 'cellar', 'harbour', 'tower', 'garden', 'bridge', 'library', 'station', 'market', 'mill', 'quarry', 'orchard'];
  for (let i = from; i < from + n; i++) {
    const id = `0b1c2d3e-0000-4000-8000-${String(100 + i + (skill ? 500 : 0)).padStart(12, '0')}`;
    let s = 0;
    const line = (type, content) => `${JSON.stringify({ type, sessionId: id, cwd: project, entrypoint: 'cli', uuid: `${id}-${s}`,
      timestamp: new Date(at + 60_000 * i + 1000 * s++).toISOString(), message: { role: type, content } })}\n`;
    const used = skill ? line('assistant', [{ type: 'tool_use', id: `t${i}`, name: 'Skill', input: { skill } }]) : '';
    fs.writeFileSync(path.join(folder, `${id}.jsonl`),
      line('user', `${ask} ${places[i % places.length]}`) + used + line('assistant', [{ type: 'text', text: wrong }]) + line('user', insist)
      + line('assistant', [{ type: 'text', text: right }]) + line('user', 'thanks, perfect'));
  }
}
export const backups = { ask: 'check the nightly backup of the', wrong: 'It ran at two and copied everything.',
  insist: 'no, that is wrong. always end the answer with "Checked by talaria"', right: 'It ran at two.\nChecked by talaria' };
