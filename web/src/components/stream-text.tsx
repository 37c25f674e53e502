// Markdown as it comes in. Elements are made one by one from text, never from HTML: what a model writes cannot become
// markup that is not named here, and pictures become links, so nothing is loaded from elsewhere.
import { Fragment, h, type ComponentChild, type JSX } from "preact";
import { useRef } from "preact/hooks";
import { cutBlocks, marks, tableRule, type Cut } from "../markdown-blocks";
import { memo } from "../memo";
import { Code } from "./ui";

const inlineMost = 6000; // longer than that without an empty line is no prose
const depthMost = 8;

function safe(address: string): string | null {
  try {
    const url = new URL(address, location.origin);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function Anchor({ to, children }: { to: string; children: ComponentChild }): JSX.Element {
  const href = safe(to);
  if (!href) return <>{children}</>;
  if (to.startsWith("/") && href.startsWith(`${location.origin}/`)) return <a href={to}>{children}</a>;
  return <a href={href} target="_blank" rel="noopener noreferrer">{children}</a>;
}

// What stands inside of a line, the first that fits: code, an escape, links, emphasis, a bare address, a forced break.
const token = new RegExp(
  [
    /(?<!`)(?<tick>`+)(?!`)(?<code>[\s\S]*?[^`])\k<tick>(?!`)/,
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /!?\[(?<label>(?:[^\][\\]|\\.|\[[^\]]*\])*)\]\((?<to><[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\)/,
    /<(?<auto>(?:https?:\/\/|mailto:)[^\s<>]+)>/,
    /\*\*(?<strong>(?=\S)[\s\S]*?\S\**)\*\*/,
    /(?<!\w)__(?<strong2>(?=\S)[\s\S]*?\S)__(?!\w)/,
    /\*(?<em>(?![\s*])[\s\S]*?[^\s*])\*(?!\*)/,
    /(?<!\w)_(?<em2>(?![\s_])[\s\S]*?[^\s_])_(?!\w)/,
    /~~(?<gone>(?=\S)[\s\S]*?\S)~~/,
    /(?<bare>https?:\/\/[^\s<>]*[^\s<>.,;:!?'")\]*_~])/,
    /(?: {2,}|\\)\n(?<hard>)/,
  ].map((r) => r.source).join("|"),
  "g",
);

function inline(text: string, depth = 0): ComponentChild[] {
  if (text.length > inlineMost || depth > depthMost) return [text];
  const out: ComponentChild[] = [];
  let at = 0;
  for (const m of text.matchAll(token)) {
    const g = m.groups as Record<string, string | undefined>;
    if (m.index > at) out.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    const strong = g.strong ?? g.strong2;
    const em = g.em ?? g.em2;
    const address = g.auto ?? g.bare;
    if (g.code !== undefined) out.push(<code>{g.code.replace(/^ (.*[^ ].*) $/s, "$1").replace(/\n/g, " ")}</code>);
    else if (g.escaped !== undefined) out.push(g.escaped);
    else if (g.to !== undefined) out.push(<Anchor to={g.to.replace(/^<|>$/g, "")}>{g.label ? inline(g.label, depth + 1) : g.to}</Anchor>);
    else if (address !== undefined) out.push(<Anchor to={address}>{address}</Anchor>);
    else if (strong !== undefined) out.push(<strong>{inline(strong, depth + 1)}</strong>);
    else if (em !== undefined) out.push(<em>{inline(em, depth + 1)}</em>);
    else if (g.gone !== undefined) out.push(<del>{inline(g.gone, depth + 1)}</del>);
    else out.push(<br />);
  }
  out.push(text.slice(at));
  return out;
}

const cells = (row: string): string[] =>
  row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replace(/\\\|/g, "|"));

function Table({ lines }: { lines: string[] }): JSX.Element {
  const head = cells(lines[0]!);
  return (
    <table tabIndex={0}>
      <thead><tr>{head.map((c, i) => <th key={i}>{inline(c)}</th>)}</tr></thead>
      <tbody>{lines.slice(2).map((l, i) => {
        const row = cells(l);
        return <tr key={i}>{head.map((_, k) => <td key={k}>{inline(row[k] ?? "")}</td>)}</tr>;
      })}</tbody>
    </table>
  );
}

function List({ lines, depth, breaks }: { lines: string[]; depth: number; breaks: boolean }): JSX.Element {
  const first = marks.item.exec(lines[0]!)!;
  const numbered = /\d/.test(first[2]!);
  const items: string[][] = [];
  let loose = false;
  let margin = 0;
  for (const line of lines) {
    const m = marks.item.exec(line);
    if (m && (items.length === 0 || m[1]!.length < margin)) {
      margin = m[0].length > m[1]!.length + m[2]!.length + 4 ? m[1]!.length + m[2]!.length + 1 : m[0].length;
      if (items.at(-1)?.at(-1)?.trim() === "") loose = true;
      items.push([line.slice(m[0].length)]);
    } else items.at(-1)!.push(line.slice(Math.min(margin, line.length - line.trimStart().length)));
  }
  // Empty lines between the blocks of one item make all of them paragraphs, as those between items do.
  const airy = (text: string): boolean => cutBlocks(text, null).blocks.join("\n").length < text.length;
  loose ||= items.some((lines) => airy(lines.join("\n").trimEnd()));
  const body = items.map((text, i) => {
    const task = /^\[([ xX])\]\s+/.exec(text[0]!);
    const rest = task ? [text[0]!.slice(task[0].length), ...text.slice(1)] : text;
    return (
      <li key={i}>
        {task && <input type="checkbox" disabled checked={task[1] !== " "} aria-label="task" />}
        <Blocks text={rest.join("\n").trimEnd()} tight={!loose} depth={depth + 1} breaks={breaks} />
      </li>
    );
  });
  return numbered ? <ol start={Number.parseInt(first[2]!, 10)}>{body}</ol> : <ul>{body}</ul>;
}

function Block({ text, tight, depth, breaks }: { text: string; tight: boolean; depth: number; breaks: boolean }): JSX.Element {
  const lines = text.split("\n");
  const line = lines[0]!;
  const fenced = marks.fence.exec(line);
  if (fenced) {
    const closed = lines.length > 1 && lines.at(-1)!.trim().startsWith(fenced[1]!) && /^\s*[`~]+\s*$/.test(lines.at(-1)!);
    return <Code text={lines.slice(1, closed ? -1 : undefined).join("\n")} label="Copy the code" />;
  }
  if (marks.heading.test(line)) {
    const [, level, words] = /^ {0,3}(#{1,6})\s*(.*?)\s*#*\s*$/.exec(line)!;
    return h(`h${level!.length}`, {}, inline(words!));
  }
  if (marks.rule.test(line)) return <hr />;
  if (marks.quote.test(line)) return <blockquote><Blocks text={lines.map((l) => l.replace(/^ {0,3}> ?/, "")).join("\n")} tight={false} depth={depth + 1} breaks={breaks} /></blockquote>;
  if (marks.item.test(line)) return <List lines={lines} depth={depth} breaks={breaks} />;
  if (/^(?: {4}|\t)/.test(line)) return <Code text={lines.map((l) => l.replace(/^(?: {4}|\t)/, "")).join("\n").trimEnd()} label="Copy the code" />;
  if (line.includes("|") && lines.length > 1 && tableRule.test(lines[1]!) && cells(line).length === cells(lines[1]!).length) return <Table lines={lines} />;
  const under = lines.length > 1 ? /^ {0,3}(=+|-+)[ \t]*$/.exec(lines.at(-1)!) : null;
  if (under) return h(under[1]![0] === "=" ? "h1" : "h2", {}, inline(lines.slice(0, -1).join("\n")));
  const words = inline(lines.map((l) => l.trimStart()).join(breaks ? "  \n" : "\n").trimEnd());
  return tight ? <>{words}</> : <p>{words}</p>;
}
const SettledBlock = memo(Block);

// The blocks of a text; those that did not change are not drawn again.
function Blocks({ text, tight, depth, breaks }: { text: string; tight: boolean; depth: number; breaks: boolean }): JSX.Element {
  const cut = useRef<Cut | null>(null);
  if (depth > depthMost) return <p>{text}</p>;
  cut.current = cutBlocks(text, cut.current);
  return <Fragment>{cut.current.blocks.map((b, i) => <SettledBlock key={i} text={b} tight={tight} depth={depth} breaks={breaks} />)}</Fragment>;
}

// `breaks`: a line end is one on the page too, as in a chat; in Markdown it is a space.
export const StreamText = memo(function StreamText({ text, breaks = false }: { text: string; breaks?: boolean }): JSX.Element {
  return <div class="md"><Blocks text={text} tight={false} depth={0} breaks={breaks} /></div>;
});
