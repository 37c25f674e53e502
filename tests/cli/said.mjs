// Transcripts for tests of the search: written as Claude Code writes them.
import fs from 'node:fs';
import path from 'node:path';

export const id = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const at = (n) => new Date(Date.UTC(2026, 9, 1, 12, 0, n)).toISOString();

/** A Claude Code session, or more of it: texts by turns, or {tool, input, result}. */
export function claude(home, n, items, { cwd = '/work/app' } = {}) {
  const file = path.join(home.user, '.claude/projects', cwd.replaceAll('/', '-'), `${id(n)}.jsonl`);
  const base = { sessionId: id(n), cwd, version: '2.0.0', gitBranch: 'main', isSidechain: false, userType: 'external', entrypoint: 'cli' };
  const lines = items.flatMap((item, i) => {
    const meta = (k) => ({ ...base, uuid: `${n}-${i}-${k}`, parentUuid: null, timestamp: at(n * 100 + i) });
    if (typeof item === 'string') {
      const role = i % 2 ? 'assistant' : 'user';
      return [{ ...meta(0), type: role, message: { role, content: role === 'user' ? item : [{ type: 'text', text: item }] } }];
    }
    return [
      { ...meta(0), type: 'assistant', message: { role: 'assistant', content: [
        { type: 'thinking', thinking: 'secretthought' }, { type: 'tool_use', id: `t${i}`, name: item.tool, input: item.input }] } },
      { ...meta(1), type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: item.result }] } },
    ];
  });
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.appendFileSync(file, lines.map((l) => JSON.stringify(l) + '\n').join(''));
  return file;
}
