// Markdown that is still being written, cut into its top-level blocks. A block that another one follows is settled:
// what comes later does not change it, so only the last one is ever looked at again.
const fence = /^ {0,3}(`{3,}|~{3,})/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const heading = /^ {0,3}#{1,6}(?:\s|$)/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const quote = /^ {0,3}>/;
export const tableRule = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
export const marks = { fence, item, heading, rule, quote };

const blank = (line: string): boolean => line.trim() === "";
const begins = (line: string): boolean => fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || item.test(line);
// "1986." at the head of a line of a paragraph is no list; only one that begins with 1 may follow without an empty line.
const interrupts = (line: string): boolean => begins(line) && !/^ {0,3}(?!1[.)])\d+[.)]/.test(line);

function endOfFence(lines: string[], from: number): number {
  const mark = fence.exec(lines[from]!)![1]!;
  for (let i = from + 1; i < lines.length; i++) {
    const close = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(lines[i]!)?.[1];
    if (close && close[0] === mark[0] && close.length >= mark.length) return i + 1;
  }
  return lines.length;
}

// A list goes on over empty lines as long as what follows is another item of its kind, or stands below one.
function endOfList(lines: string[], from: number): number {
  const kind = (line: string): string => item.exec(line)?.[2]!.slice(-1) ?? "";
  const first = kind(lines[from]!);
  let i = from + 1;
  for (let end = i; i < lines.length; i++) {
    const line = lines[i]!;
    if (blank(line)) continue;
    const after = blank(lines[i - 1]!);
    const inside = /^(?: {2,}|\t)/.test(line);
    if (!inside && !(item.test(line) && kind(line) === first && !rule.test(line)) && (after || begins(line))) return end;
    if (inside && fence.test(line.trimStart())) i = Math.min(lines.length, i + endOfFence(lines.slice(i).map((l) => l.trimStart()), 0)) - 1;
    end = i + 1;
    if (i + 1 >= lines.length) return lines.length;
  }
  return lines.length;
}

function endOf(lines: string[], from: number): number {
  const line = lines[from]!;
  if (fence.test(line)) return endOfFence(lines, from);
  if (heading.test(line) || rule.test(line)) return from + 1;
  if (item.test(line)) return endOfList(lines, from);
  let i = from + 1;
  const quoted = quote.test(line);
  const code = /^(?: {4}|\t)/.test(line);
  for (; i < lines.length; i++) {
    const next = lines[i]!;
    if (code ? !blank(next) && !/^(?: {4}|\t)/.test(next) : blank(next)) break;
    if (quoted ? begins(next) && !quote.test(next) : !code && interrupts(next) && !/^ {0,3}(-+|=+)[ \t]*$/.test(next)) break;
  }
  return i;
}

export interface Cut {
  text: string;
  blocks: string[];
  last: number; // where the last block begins
}

// `before` may be of a shorter text: then only what came since, and the block it came to, is read.
export function cutBlocks(text: string, before: Cut | null): Cut {
  const on = before !== null && before.blocks.length > 0 && text.startsWith(before.text);
  const blocks = on ? before.blocks.slice(0, -1) : [];
  let at = on ? before.last : 0;
  const lines = text.slice(at).split("\n");
  let last = at;
  for (let i = 0; i < lines.length; ) {
    const end = blank(lines[i]!) ? i + 1 : endOf(lines, i);
    if (!blank(lines[i]!)) {
      blocks.push(lines.slice(i, end).join("\n"));
      last = at;
    }
    for (; i < end; i++) at += lines[i]!.length + 1;
  }
  return { text, blocks, last };
}
