// Nights in a row: the score before and after each, and how certain the gain is.
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { day, exact, points, project, signed } from "../format";
import type { Night } from "../types";

export type NightState = "adopted" | "undone" | "review" | "rejected" | "held" | "none";
export function stateOf(n: Night): NightState {
  if (n.adopted) return "adopted";
  if (n.rejected) return "rejected";
  if (n.undone) return "undone";
  if (n.accepted && n.n_proposals) return "review";
  return n.no_edits_reason === "all_rejected" || n.no_edits_reason === "underpowered" ? "held" : "none";
}
export const stateNames: Record<NightState, string> = {
  adopted: "Adopted", undone: "Adoption undone", review: "To review", rejected: "Rejected", held: "No proposal", none: "No proposal",
};
const reasons: Record<string, string> = {
  no_tasks: "no task to learn from",
  no_failures: "every task already passes",
  nothing_proposed: "no rule was found",
  nothing_applied: "no rule could be applied",
  all_rejected: "no rule improved the validation score",
  underpowered: "too few tasks to tell an improvement from chance",
  budget: "the budget ran out",
};
const gates: Record<string, string> = {
  accept_new_best: "Accepted: best score so far",
  accept: "Accepted",
  reject: "Rejected: no improvement in validation",
  reject_unverified: "Rejected: too few tasks to validate",
  greedy_applied: "Accepted without validation",
  greedy_noop: "No change",
};
// The server says it in words; older ones give the two names alone.
export const whyNone = (reason: string): string => `No proposal: ${reasons[reason] ?? reason.replace(/_/g, " ")}.`;
export const verdictOf = (n: Night): string => n.verdict || (n.no_edits_reason ? whyNone(n.no_edits_reason).replace(/\.$/, "") : (gates[n.gate_action] ?? n.gate_action.replace(/_/g, " ")));
export const isSimulated = (n: Night): boolean => n.simulated ?? n.backend === "mock";
export const Simulated = (): JSX.Element => <span class="type simulated" title="No model answered: the program made up the answers. The scores show how sleep works, not how good the rules are.">Simulated</span>;
export const seconds = (iso: string): number => Date.parse(iso) / 1000 || 0;
export const gain = (n: Night): number => n.candidate - n.baseline;
export const between = (n: Night): string => (n.interval ? `95 %: ${signed(n.interval[0])} to ${signed(n.interval[1])}` : "");
export const nightPath = (n: Night): string[] => ["sleep", n.staging];

const box = { h: 206, left: 50, right: 12, top: 12, bottom: 38, step: 64 };

export function NightChart({ nights, onPick }: { nights: Night[]; onPick(n: Night): void }): JSX.Element {
  const shown = nights.slice(0, 24).reverse();
  const ends = shown.flatMap((n) => [n.baseline, n.candidate, ...(n.interval ? n.interval.map((d) => n.baseline + d) : [])]);
  // Whole tenths, with air around.
  const low = Math.max(0, Math.floor(Math.min(...ends) * 10) / 10);
  const high = Math.min(1, Math.max(low + 0.1, Math.ceil(Math.max(...ends) * 10) / 10));
  const w = box.left + box.right + Math.max(shown.length, 8) * box.step;
  const x = (i: number): number => box.left + (i + 0.5) * box.step;
  const y = (score: number): number => box.top + (1 - (Math.max(low, Math.min(high, score)) - low) / (high - low)) * (box.h - box.top - box.bottom);
  const words = shown.map((n) => `night ${n.night}: ${points(n.baseline)} to ${points(n.candidate)}, ${stateNames[stateOf(n)].toLowerCase()}`).join("; ");
  const marks = Array.from({ length: Math.round((high - low) * 10) + 1 }, (_, i) => low + i / 10);
  // The latest are what one wants to see, where not all fit.
  const pane = useRef<HTMLDivElement>(null);
  const last = box.left + shown.length * box.step + box.right;
  useLayoutEffect(() => pane.current?.scrollTo({ left: last - pane.current.clientWidth }), [last]);
  return (
    <div class="nights-box" ref={pane} tabIndex={0} role="region" aria-label="Nights, as a picture">
      <svg class="nights" viewBox={`0 0 ${w} ${box.h}`} width={w} height={box.h} role="img" aria-label={`Score before and after: ${words}`}>
        <text class="axis" x={12} y={(box.top + box.h - box.bottom) / 2} text-anchor="middle" transform={`rotate(-90 12 ${(box.top + box.h - box.bottom) / 2})`}>Score (0–100)</text>
        <text class="axis" x={box.left + Math.min(w - box.left - box.right, 300) / 2} y={box.h - 4} text-anchor="middle">Night</text>
        {marks.map((m) => (
          <g key={m}>
            <line class="grid" x1={box.left} x2={w - box.right} y1={y(m)} y2={y(m)} />
            <text x={box.left - 6} y={y(m) + 3} text-anchor="end">{Math.round(m * 100)}</text>
          </g>
        ))}
        {shown.map((n, i) => (
          <g key={n.staging} data-night={stateOf(n)} onClick={() => onPick(n)}>
            <title>{`Night ${n.night}${n.project && ` of ${project(n.project)}`}, ${exact(seconds(n.started_at))}: ${points(n.baseline)} to ${points(n.candidate)}${n.interval ? ` (gain ${between(n)})` : ""}`}</title>
            <rect class="hit" x={x(i) - box.step / 2} width={box.step} y={0} height={box.h} />
            {n.interval && <line class="whisker" x1={x(i) + 9} x2={x(i) + 9} y1={y(n.baseline + n.interval[0])} y2={y(n.baseline + n.interval[1])} />}
            <line class="way" x1={x(i) - 9} y1={y(n.baseline)} x2={x(i) + 9} y2={y(n.candidate)} />
            <circle class="from" cx={x(i) - 9} cy={y(n.baseline)} r={3.5} />
            <circle class="to" cx={x(i) + 9} cy={y(n.candidate)} r={4.5} />
            <text x={x(i)} y={box.h - 22} text-anchor="middle">{day(seconds(n.started_at))}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}
