// A tool call in one line; unfolded, its arguments and its result.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { count, exact, lasted } from "../format";
import { icon } from "../icons";
import { parseObject, type Call } from "../transcript";
import type { Message } from "../types";
import { Code, Icon } from "./ui";

const marks = {
  worked: { icon: icon.worked, text: "worked" },
  failed: { icon: icon.failed, text: "failed" },
  unknown: { icon: icon.unknown, text: "no result" },
};

// An object's short values in a line, its long ones as blocks: a command's output reads as output, not as JSON.
export function Fields({ text, empty }: { text: string; empty: string }): JSX.Element {
  const object = parseObject(text);
  if (!object) return text ? <Code text={text} /> : <p class="dim">{empty}</p>;
  const all = Object.entries(object).filter(([, v]) => v !== null);
  const long = all.filter(([, v]) => typeof v === "object" || (typeof v === "string" && (v.includes("\n") || v.length > 60)));
  const brief = all.filter((e) => !long.includes(e));
  return (
    <div class="fields">
      {brief.length > 0 && <dl>{brief.map(([k, v]) => <div key={k}><dt>{k}</dt><dd class="mono">{String(v)}</dd></div>)}</dl>}
      {long.map(([k, v]) => (
        <div key={k}>
          {(all.length > 1 || !["output", "content"].includes(k)) && <p class="key">{k}</p>}
          <Code text={typeof v === "string" ? v : JSON.stringify(v, null, 2)} />
        </div>
      ))}
      {all.length === 0 && <p class="dim">{empty}</p>}
    </div>
  );
}

// The server sends the beginning of very long texts; it must not look like all of it.
export function Cut({ message: m }: { message: Message }): JSX.Element | null {
  const here = new Blob([m.content ?? ""]).size;
  if (!m.bytes || m.bytes <= here) return null;
  const kb = (bytes: number): string => `${count(Math.round(bytes / 1024))} KB`;
  return <p class="dim">The first {kb(here)} of {kb(m.bytes)}. Export the session for the rest.</p>;
}

export function ToolCallRow({ item, unfold, target }: { item: Call; unfold: boolean; target: number }): JSX.Element {
  // A link to a result wants to see it.
  const meant = target > 0 && item.result?.id === target;
  const [open, setOpen] = useState(unfold || meant);
  // As it is drawn: later it would fold again what was unfolded by hand meanwhile.
  useLayoutEffect(() => setOpen(unfold || meant), [unfold, meant]);
  const { call, result, outcome } = item;
  const mark = marks[outcome];
  const seconds = call.seconds ?? (result ? result.timestamp - item.at : -1);
  const why = outcome === "failed" && call.outcome ? `failed: ${call.outcome}` : mark.text;
  return (
    <div class={meant ? "call target" : "call"} data-outcome={outcome} id={result ? `m-${result.id}` : undefined}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon.right} size={14} />
        <b>{call.name}</b>
        <span class="argument">{item.argument}</span>
        <span class="time" title={result ? exact(result.timestamp) : undefined}>{lasted(seconds)}</span>
        <span class="mark" title={why}><Icon name={mark.icon} size={14} label={why} /></span>
      </button>
      {open && (
        <div class="unfolded">
          <p class="sub">Arguments</p>
          <Fields text={call.arguments} empty="none" />
          <p class="sub">Result</p>
          {result ? <><Fields text={result.content ?? ""} empty="empty" /><Cut message={result} /></> : <p class="dim">Not in the part that is loaded.</p>}
        </div>
      )}
    </div>
  );
}
