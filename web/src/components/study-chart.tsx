// One small picture a kind: the share of failing calls in each tenth of a session, with its interval. All pictures
// share one scale, so they can be compared by eye.
import type { JSX } from "preact";
import { count, percent } from "../format";
import type { Decile, StudyKind } from "../types";

// The words along the axis are also how SVG anchors them there.
const places: [number, "start" | "middle" | "end"][] = [[1, "start"], [5, "middle"], [10, "end"]];
const box = { w: 320, h: 150, left: 30, right: 6, top: 8, bottom: 18 };

function verdict({ enough, verdict: words, slope }: StudyKind): string {
  if (!enough) return "Too few calls for a conclusion.";
  const points = (share: number): string => (share * 100).toFixed(2);
  const figures = slope ? `: ${points(slope.per_decile)} points a tenth (95 %: ${points(slope.low)} to ${points(slope.high)})` : "";
  return words.slice(0, 1).toUpperCase() + words.slice(1) + figures;
}

export function StudyChart({ kind, top, n }: { kind: StudyKind; top: number; n: number }): JSX.Element {
  const x = (d: number): number => box.left + ((d - 1) / 9) * (box.w - box.left - box.right);
  const y = (share: number): number => box.h - box.bottom - (share / top) * (box.h - box.top - box.bottom);
  const points = kind.deciles.filter((d): d is Decile & { share: number; low: number; high: number } => d.share !== null && d.calls > 0);
  const line = points.map((d) => `${x(d.decile)},${y(d.share)}`).join(" ");
  const band = [...points.map((d) => `${x(d.decile)},${y(d.high)}`), ...points.map((d) => `${x(d.decile)},${y(d.low)}`).reverse()].join(" ");
  const marks = [0, top / 2, top];
  return (
    <figure class="chart" data-kind={n % 4}>
      <figcaption><h3>{kind.kind}</h3><span class="dim">{count(kind.sessions)} sessions, {count(kind.calls)} calls</span></figcaption>
      <svg viewBox={`0 0 ${box.w} ${box.h}`} role="img" aria-label={`${kind.kind}: ${points.map((d) => `tenth ${d.decile} ${percent(d.share, 1)}`).join(", ")}`}>
        {marks.map((m) => (
          <g key={m}>
            <line class="grid" x1={box.left} x2={box.w - box.right} y1={y(m)} y2={y(m)} />
            <text x={box.left - 5} y={y(m) + 3} text-anchor="end">{percent(m)}</text>
          </g>
        ))}
        {places.map(([d, word]) => <text key={d} x={x(d)} y={box.h - 4} text-anchor={word}>{word}</text>)}
        <polygon class="band" points={band} />
        <polyline class="trend" points={line} />
        {points.map((d) => <circle key={d.decile} cx={x(d.decile)} cy={y(d.share)} r={2.5} />)}
        {points.map((d) => (
          <rect key={d.decile} class="hit" x={x(d.decile) - 14} width={28} y={box.top} height={box.h - box.top - box.bottom}>
            <title>
              {`Tenth ${d.decile}: ${d.failed} of ${d.calls} calls failed, ${percent(d.share, 1)} (95 %: ${percent(d.low, 1)} to ${percent(d.high, 1)})`}
            </title>
          </rect>
        ))}
      </svg>
      <p>{verdict(kind)}</p>
    </figure>
  );
}

// What the figures mean, in one sentence. It claims a change only where the interval does.
export function meaning(kinds: StudyKind[]): string {
  const known = kinds.filter((k) => k.enough && k.slope);
  if (!known.length) return "Too few tool calls yet to say how failures change over a session.";
  const better = known.filter((k) => k.slope!.differs_from_zero && k.slope!.per_decile < 0).map((k) => k.kind);
  const worse = known.filter((k) => k.slope!.differs_from_zero && k.slope!.per_decile > 0).map((k) => k.kind);
  const list = (names: string[]): string => names.join(" and ");
  const calls = known.reduce((a, k) => a + k.calls, 0);
  const share = percent(known.reduce((a, k) => a + k.failed, 0) / calls, 1);
  if (!better.length && !worse.length) {
    return `About ${share} of tool calls fail, with no significant change over the course of a session. ` +
      "Make templates from any session that went well.";
  }
  return [
    better.length ? `Your ${list(better)} sessions fail less towards the end, so templates made from them should help new sessions` : "",
    worse.length ? `${better.length ? "your" : "Your"} ${list(worse)} sessions fail more towards the end, so keep them short or start them from a template` : "",
  ].filter(Boolean).join("; ") + ".";
}
