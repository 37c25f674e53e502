// A unified diff as rows to draw: one column, or two with what was removed beside what came in its place.
export interface Line {
  kind: "same" | "add" | "del" | "hunk";
  text: string;
  before?: number; // line numbers
  after?: number;
  hot?: [number, number]; // the part that differs from its counterpart
}

export interface Pair {
  left: Line | null;
  right: Line | null;
}

function read(text: string): Line[] {
  const out: Line[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const raw of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(raw);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inside = true;
      out.push({ kind: "hunk", text: hunk[3]!.trim() });
    } else if (!inside || raw.startsWith("\\")) continue;
    else if (raw[0] === "+") out.push({ kind: "add", text: raw.slice(1), after: after++ });
    else if (raw[0] === "-") out.push({ kind: "del", text: raw.slice(1), before: before++ });
    else out.push({ kind: "same", text: raw.slice(1), before: before++, after: after++ });
  }
  return out;
}

// What two lines do not share, between what they begin and end with alike. Lines that share little are not compared.
function compare(a: Line, b: Line): void {
  const most = Math.min(a.text.length, b.text.length);
  let head = 0;
  while (head < most && a.text[head] === b.text[head]) head++;
  let tail = 0;
  while (tail < most - head && a.text[a.text.length - 1 - tail] === b.text[b.text.length - 1 - tail]) tail++;
  if (head + tail < most / 3) return;
  a.hot = [head, a.text.length - tail];
  b.hot = [head, b.text.length - tail];
}

export function parseDiff(text: string): { lines: Line[]; pairs: Pair[]; added: number; removed: number } {
  const lines = read(text);
  const pairs: Pair[] = [];
  for (let i = 0; i < lines.length; ) {
    const kind = lines[i]!.kind;
    if (kind === "same" || kind === "hunk") {
      pairs.push({ left: lines[i]!, right: lines[i]! });
      i++;
      continue;
    }
    const gone: Line[] = [];
    const came: Line[] = [];
    for (; lines[i]?.kind === "del"; i++) gone.push(lines[i]!);
    for (; lines[i]?.kind === "add"; i++) came.push(lines[i]!);
    for (let n = 0; n < Math.max(gone.length, came.length); n++) {
      if (gone[n] && came[n]) compare(gone[n]!, came[n]!);
      pairs.push({ left: gone[n] ?? null, right: came[n] ?? null });
    }
  }
  const of = (kind: string): number => lines.filter((l) => l.kind === kind).length;
  return { lines, pairs, added: of("add"), removed: of("del") };
}
