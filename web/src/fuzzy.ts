// Does a name fit what was typed, how well, and where. Each word must occur: as it stands (best at a word's
// beginning), or else with its letters in order, which "gts" for "Go to Sessions" needs.
export interface Match {
  score: number; // lower is better
  at: number[]; // which letters of the name to mark
}

const starts = (text: string, i: number): boolean => i === 0 || /[\s\-_/.:·]/.test(text[i - 1]!);
const run = (from: number, n: number): number[] => Array.from({ length: n }, (_, i) => from + i);

function whole(text: string, word: string): Match | null {
  let best = -1;
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) {
    if (best < 0 || starts(text, i)) best = i;
    if (starts(text, i)) break;
  }
  if (best < 0) return null;
  return { score: (starts(text, best) ? 0 : 12) + Math.min(best, 40) / 10, at: run(best, word.length) };
}

// Letters in order; those that begin a word, or follow the last one, cost little. More than a few gaps is chance.
function scattered(text: string, word: string): Match | null {
  const at: number[] = [];
  let cost = 0;
  for (const letter of word) {
    const from = at.length ? at[at.length - 1]! + 1 : 0;
    if (at.length && text[from] === letter) {
      at.push(from);
      continue;
    }
    let i = from;
    while (i >= 0 && !(text[i] === letter && starts(text, i))) i = text.indexOf(letter, i + 1);
    if (i < 0) {
      i = text.indexOf(letter, from);
      cost += 8;
    }
    if (i < 0) return null;
    cost += 2;
    at.push(i);
  }
  return cost > 6 * word.length ? null : { score: 30 + cost, at };
}

// `more` is matched too (a folder, an id) but counts less and is not marked.
export function fuzzy(name: string, more: string, words: string[]): Match | null {
  const text = name.toLowerCase();
  const rest = more.toLowerCase();
  let score = 0;
  const at: number[] = [];
  for (const word of words) {
    const found = whole(text, word) ?? (rest.includes(word) ? { score: 20, at: [] } : word.length > 1 ? scattered(text, word) : null);
    if (!found) return null;
    score += found.score;
    at.push(...found.at);
  }
  return { score: score + Math.min(text.length, 80) / 100, at };
}
