// When things happened in a session, as a strip of bars; what failed is marked. Only what is loaded counts.
import type { JSX } from "preact";
import { exact, isTime, lasted } from "../format";
import type { Entry } from "../transcript";
import type { Message } from "../types";

const bins = 72;

export function Activity({ messages, list }: { messages: Message[]; list: Entry[] }): JSX.Element | null {
  const times = messages.map((m) => m.timestamp).filter(isTime);
  const from = times[0] ?? 0;
  const span = (times.at(-1) ?? 0) - from;
  if (!(span > 0)) return null;
  const bin = (t: number): number => Math.max(0, Math.min(bins - 1, Math.floor(((t - from) / span) * bins)));
  const all = new Array<number>(bins).fill(0);
  const bad = new Array<number>(bins).fill(0);
  for (const t of times) all[bin(t)]!++;
  for (const e of list) for (const c of e.calls) {
    const at = c.result?.timestamp ?? c.at;
    if (c.outcome === "failed" && isTime(at)) bad[bin(at)]!++;
  }
  const top = Math.max(...all);
  const words = `Activity over ${lasted(span)} from ${exact(from)}; ${bad.reduce((a, b) => a + b)} calls failed`;
  return (
    <svg class="activity" viewBox={`0 0 ${bins * 4} 24`} preserveAspectRatio="none" role="img" aria-label={words}>
      {all.map((n, i) => n > 0 && <rect key={i} x={i * 4} width={3} y={24 - (n / top) * 24} height={(n / top) * 24} />)}
      {bad.map((n, i) => n > 0 && <rect key={`b${i}`} class="failed" x={i * 4} width={3} y={24 - (n / top) * 24} height={(n / top) * 24} />)}
    </svg>
  );
}
