// What a newcomer sees: what this is, which folders were searched, and the one thing to do.
import type { JSX } from "preact";
import { originName } from "../format";
import { icon } from "../icons";
import { useResource } from "../resource";
import type { Status } from "../types";
import { Code, Icon } from "./ui";

const note = (present: boolean, trouble?: string | null): string => trouble || (present ? "found, no sessions" : "not found");

// Every place that is looked at, found or not.
export function placesOf(status: Status): { path: string; name: string; note: string }[] {
  const homes = status.homes.map((h) => ({ path: h.path, name: originName(h.name === "talaria" ? "talaria" : "hermes"), note: note(h.present, h.trouble) }));
  const known = new Set(homes.map((h) => h.path));
  const others = (status.sources ?? []).filter((p) => p.folder && !known.has(p.folder)).map((p) => ({ path: p.folder!, name: originName(p.name), note: note(p.present) }));
  const hermes = [...homes, ...others].some((p) => p.name === "Hermes") ? [] : [{ path: "~/.hermes", name: "Hermes", note: note(false) }];
  return [...hermes, ...others, ...homes];
}

export function FirstRun({ title, children }: { title: string; children: string }): JSX.Element {
  const { data } = useResource<Status>("/api/status");
  return (
    <div class="state first-run">
      <Icon name={icon.sessions} size={24} />
      <h2>{title}</h2>
      <p>{children}</p>
      <p>Use Hermes, Claude Code or Codex and your sessions appear here. Or load sample data (remove it any time):</p>
      <Code text="talaria demo" label="Copy the command" />
      {data && (
        <dl class="places" aria-label="Folders searched">
          {placesOf(data).map((p) => <div key={p.path}><dt>{p.name}</dt><dd><code>{p.path}</code> <span class="dim">{p.note}</span></dd></div>)}
        </dl>
      )}
    </div>
  );
}
