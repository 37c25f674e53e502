// "Try in two minutes": what to do first with the sample data. Each item leads to its tab; what is done is remembered.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { icon } from "../icons";
import { useResource } from "../resource";
import { link, type Query } from "../router";
import { recall, remember } from "../store";
import type { Demo } from "../types";
import { Bar, CopyButton, Icon } from "./ui";

// Where on the page an item is done; an item that is not known here keeps its command alone.
const places: Record<string, [string[], Query?]> = {
  search: [["sessions"], { q: "cards cramped on phones" }],
  open: [["sessions"]],
  template: [["templates", "new"]],
  handoff: [["handoffs"]],
  back: [["handoffs"]],
  night: [["sleep"]],
  adopt: [["sleep"]],
  undo: [["sleep"]],
  ask: [["chat"], { new: "1" }],
  chat: [["chat"], { new: "1" }],
  badges: [["achievements"]],
  achievements: [["achievements"]],
};

const done = (): Set<string> => new Set((recall("checklist") ?? "").split(" ").filter(Boolean));

export function Checklist(): JSX.Element | null {
  const { data } = useResource<Demo>("/api/demo");
  const [ticked, setTicked] = useState(done);
  const [hidden, setHidden] = useState(recall("checklist-hidden") === "1");
  const items = data?.demo ? (data.checklist ?? []) : [];
  if (!items.length || hidden) return null;
  const tick = (id: string, on: boolean): void => {
    const next = new Set(ticked);
    if (on) next.add(id);
    else next.delete(id);
    remember("checklist", [...next].join(" "));
    setTicked(next);
  };
  const hide = (): void => {
    remember("checklist-hidden", "1");
    setHidden(true);
  };
  const n = items.filter((i) => ticked.has(i.id)).length;
  return (
    <section class="checklist panel" aria-label="Try in two minutes">
      <div class="row"><h2><Icon name={icon.list} size={14} /> {data?.title ?? "Try in two minutes"}</h2><span class="dim">{n} of {items.length}</span><button type="button" class="ghost small" aria-label="Hide the checklist" title="Hide" onClick={hide}><Icon name={icon.close} size={14} /></button></div>
      <Bar pct={(n / items.length) * 100} label="Steps done" />
      <ol>
        {items.map((i) => {
          const to = places[i.id];
          return (
            <li key={i.id} data-done={ticked.has(i.id) || undefined}>
              <input type="checkbox" aria-label={`Done: ${i.title}`} checked={ticked.has(i.id)} onChange={(e) => tick(i.id, e.currentTarget.checked)} />
              {to ? <a href={link(...to)} onClick={() => tick(i.id, true)}>{i.title}</a> : <span>{i.title}</span>}
              <CopyButton text={i.command} label={`Copy: ${i.command}`} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}
