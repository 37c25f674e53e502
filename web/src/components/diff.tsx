import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { parseDiff, type Line } from "../diff";
import { memo } from "../memo";

const signs = { add: "+", del: "−", same: "", hunk: "" };

function Text({ line }: { line: Line }): JSX.Element {
  if (!line.hot) return <>{line.text}</>;
  const [from, to] = line.hot;
  return <>{line.text.slice(0, from)}<b>{line.text.slice(from, to)}</b>{line.text.slice(to)}</>;
}

function Side({ line, n }: { line: Line | null; n: number | undefined }): JSX.Element {
  const kind = line?.kind ?? "none";
  return (
    <>
      <td class="no" data-kind={kind}>{n}</td>
      <td class="sign" data-kind={kind}>{line && signs[line.kind]}</td>
      <td class="text" data-kind={kind}>{line && <Text line={line} />}</td>
    </>
  );
}

// Old beside new, or one under the other; the same rows either way.
export const Diff = memo(function Diff({ text, split, name }: { text: string; split: boolean; name: string }): JSX.Element {
  const { lines, pairs } = useMemo(() => parseDiff(text), [text]);
  const label = `Changes to ${name}`;
  return (
    <div class="diff-box" tabIndex={0} role="region" aria-label={label}>
      <table class={split ? "diff two" : "diff"} aria-label={label}>
        <colgroup>{(split ? ["no", "sign", "", "no", "sign", ""] : ["no", "no", "sign", ""]).map((c, i) => <col key={i} class={c} />)}</colgroup>
        <tbody>
          {split
            ? pairs.map(({ left, right }, i) => left?.kind === "hunk"
              ? <tr key={i} class="hunk"><td colSpan={6}>{left.text || "⋯"}</td></tr>
              : <tr key={i}><Side line={left} n={left?.before} /><Side line={right} n={right?.after} /></tr>)
            : lines.map((l, i) => l.kind === "hunk"
              ? <tr key={i} class="hunk"><td colSpan={4}>{l.text || "⋯"}</td></tr>
              : <tr key={i}><td class="no" data-kind={l.kind}>{l.before}</td><Side line={l} n={l.after} /></tr>)}
        </tbody>
      </table>
    </div>
  );
});
