// The steps of a request, wave by wave: what stands in one row can be done at the same time.
import type { JSX } from "preact";
import type { TaskGraph } from "../chat-types";
import { lasted, plural } from "../format";

const box = { w: 280, row: 44, r: 12, left: 26, top: 8 };

export function GraphPicture({ graph: g }: { graph: TaskGraph }): JSX.Element {
  const place = new Map<number, { x: number; y: number }>();
  g.waves.forEach((wave, i) => {
    const step = (box.w - box.left) / wave.length;
    wave.forEach((id, k) => place.set(id, { x: box.left + step * (k + 0.5), y: box.top + box.row * i + box.r }));
  });
  const height = box.top * 2 + box.row * (g.waves.length - 1) + box.r * 2;
  const words = `${plural(g.nodes.length, "step")} in ${plural(g.waves.length, "wave")}: ${g.waves.map((w) => w.join(" and ")).join(", then ")}`;
  return (
    <figure class="graph">
      <svg viewBox={`0 0 ${box.w} ${height}`} width={box.w} height={height} role="img" aria-label={words}>
        {g.waves.map((wave, i) => (
          <g key={i}>
            <rect class="wave" x={box.left - 6} y={box.top + box.row * i - 5} width={box.w - box.left + 6} height={box.r * 2 + 10} rx={8} data-wide={wave.length > 1} />
            <text class="wave-name" x={2} y={box.top + box.row * i + box.r + 4}>{i + 1}</text>
          </g>
        ))}
        {g.edges.map((e) => {
          const a = place.get(e.from);
          const b = place.get(e.to);
          if (!a || !b) return null;
          const bend = (b.y - a.y) / 2;
          return <path key={`${e.from} ${e.to}`} class="edge" d={`M${a.x} ${a.y + box.r}C${a.x} ${a.y + box.r + bend / 2} ${b.x} ${b.y - box.r - bend / 2} ${b.x} ${b.y - box.r}`}><title>{`${e.from} before ${e.to}: ${e.why}`}</title></path>;
        })}
        {g.nodes.map((n) => {
          const at = place.get(n.id);
          return at && (
            <g key={n.id} class="node" data-kind={n.kind}>
              <title>{`${n.kind}: ${n.text}`}</title>
              <circle cx={at.x} cy={at.y} r={box.r} />
              <text x={at.x} y={at.y + 4} text-anchor="middle">{n.id}</text>
            </g>
          );
        })}
      </svg>
      <ol>{g.nodes.map((n) => <li key={n.id}><b>{n.id}</b><span>{n.text}</span><span class="dim" title={`about ${lasted(n.cost)}`}>{n.kind}</span></li>)}</ol>
      <figcaption class="dim">
        {g.decision === "parallel" ? "Worth doing side by side" : "One after the other"}{g.reasons.length > 0 && `: ${g.reasons.join("; ")}`}
        {g.truncated && ". There were more steps than a graph holds."}
      </figcaption>
    </figure>
  );
}
