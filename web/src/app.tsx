// The frame: rail, the view of the address, palette, keys, and the bar of a lost connection.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { plugin, post, signedOut } from "./api";
import { Palette, type Command } from "./components/palette";
import { Rail, tabs } from "./components/rail";
import { SignIn } from "./components/signin";
import { Icon } from "./components/ui";
import { connected } from "./events";
import { icon } from "./icons";
import { keyList, useKeys } from "./keys";
import { go, up, useRoute } from "./router";
import { recall, remember, useStore } from "./store";
import { AchievementsView } from "./views/achievements";
import { SessionsView } from "./views/sessions";
import { TemplatesView } from "./views/templates";

function KeyHelp({ onClose }: { onClose(): void }): JSX.Element {
  useKeys({ Escape: onClose });
  return (
    <aside class="keys" aria-label="Keys">
      <header><h2>Keys</h2><button type="button" class="ghost small" aria-label="Close" onClick={onClose}><Icon name={icon.close} size={14} /></button></header>
      <dl>{keyList.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
    </aside>
  );
}

function View({ tab }: { tab: string }): JSX.Element {
  if (tab === "sessions") return <SessionsView />;
  if (tab === "templates") return <TemplatesView />;
  return <AchievementsView />;
}

export function App(): JSX.Element {
  const { path } = useRoute();
  const out = useStore(signedOut);
  const online = useStore(connected);
  const [open, setOpen] = useState<"" | "palette" | "keys">("");
  const [narrow, setNarrow] = useState(recall("rail") === "narrow");
  const tab = tabs.find((t) => t.id === path[0])?.id ?? "achievements";

  const toggleRail = (): void => {
    remember("rail", narrow ? null : "narrow");
    setNarrow(!narrow);
  };
  useKeys({
    "Ctrl-K": () => setOpen(open === "palette" ? "" : "palette"),
    "?": () => setOpen(open === "keys" ? "" : "keys"),
    "g a": () => go(["achievements"]),
    "g s": () => go(["sessions"]),
    "g t": () => go(["templates"]),
    "\\": toggleRail,
    Escape: up,
  }, !out);
  useEffect(() => {
    document.title = `${tabs.find((t) => t.id === tab)!.name} · Talaria`;
  }, [tab]);

  const commands = useMemo<Command[]>(() => [
    ...tabs.map((t) => ({ name: `Go to ${t.name}`, icon: t.icon, hint: t.key, run: () => go([t.id]) })),
    { name: "Make a template from a session", icon: icon.add, run: () => go(["templates", "new"]) },
    { name: "Study: do sessions get better?", icon: icon.study, run: () => go(["templates", "study"]) },
    { name: "Rescan achievements", icon: icon.rescan, run: () => { go(["achievements"]); void post(`${plugin}/rescan`).catch(() => undefined); } },
    { name: "Show keys", icon: icon.keys, hint: "?", run: () => setOpen("keys") },
  ], []);

  if (out) return <SignIn />;
  return (
    <div class={narrow ? "frame narrow" : "frame"}>
      <Rail tab={tab} narrow={narrow} onNarrow={toggleRail} onPalette={() => setOpen("palette")} onKeys={() => setOpen(open === "keys" ? "" : "keys")} />
      <View tab={tab} />
      {!online && <div class="lost" role="status">The server does not answer. Trying again; nothing you typed is lost.</div>}
      {open === "palette" && <Palette commands={commands} onClose={() => setOpen("")} />}
      {open === "keys" && <KeyHelp onClose={() => setOpen("")} />}
    </div>
  );
}
