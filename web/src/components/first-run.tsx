// What a newcomer sees: what this is, where was looked, and the one thing to do.
import type { JSX } from "preact";
import { icon } from "../icons";
import { useResource } from "../resource";
import type { Home } from "../types";
import { Code, Icon } from "./ui";

export function FirstRun({ title, children }: { title: string; children: string }): JSX.Element {
  const { data } = useResource<{ homes: Home[] }>("/api/status");
  return (
    <div class="state first-run">
      <Icon name={icon.sessions} size={24} />
      <h2>{title}</h2>
      <p>{children}</p>
      <p>Talk to an agent that Talaria reads, or look around with a made-up history that one command takes out again:</p>
      <Code text="talaria demo" label="Copy the command" />
      {data && (
        <p class="dim">
          Looked in{" "}
          {data.homes.map((h, i) => (
            <span key={h.path}>{i > 0 && ", "}<code>{h.path}</code>{h.trouble ? ` (${h.trouble})` : h.present ? "" : " (not there)"}</span>
          ))}
        </p>
      )}
    </div>
  );
}
