// The frame: rail, the view of the address, palette, keys, and the bar of a lost connection.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, badgePaths, post, signedOut, signOut } from "./api";
import { Boundary } from "./components/boundary";
import { Palette, type Command } from "./components/palette";
import { Rail, tabsFor, type Tab } from "./components/rail";
import { SignIn } from "./components/signin";
import { exportKinds, exportPath } from "./components/export-menu";
import { copyText, Empty, Failure, Icon, said, saveAs, say } from "./components/ui";
import { openOf, runningIn } from "./conversations";
import { upright } from "./direction";
import { connected } from "./events";
import { icon } from "./icons";
import { keyList, useKeys } from "./keys";
import { useResource, type Resource } from "./resource";
import { go, link, setQuery, up, useRoute } from "./router";
import { recall, remember, useStore } from "./store";
import { setTheme, themeNames, themes } from "./theme";
import { AchievementsView } from "./views/achievements";
import type { Status } from "./types";
import { branchFrom, ChatView, stopRun } from "./views/chat";
import { HandoffsView } from "./views/handoffs";
import { SessionsView } from "./views/sessions";
import { SleepView } from "./views/sleep";
import { TemplatesView } from "./views/templates";

function KeyHelp({ onClose }: { onClose(): void }): JSX.Element {
  useKeys({ Escape: onClose });
  return (
    <aside class="keys" aria-label="Keyboard shortcuts">
      <header><h2>Keyboard shortcuts</h2><button type="button" class="ghost small" aria-label="Close" onClick={onClose}><Icon name={icon.close} size={14} /></button></header>
      <dl>{keyList.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
    </aside>
  );
}

function NotFound(): JSX.Element {
  return (
    <main class="page" tabIndex={-1}>
      <Empty title="Page not found">
        <p>There is no page at <code>{location.pathname}</code>.</p>
        <a class="button" href={link(["sessions"])}><Icon name={icon.sessions} size={14} /> Go to Sessions</a>
      </Empty>
    </main>
  );
}

// A tab that only some servers have, asked for by its address.
function Further({ status, name, children }: { status: Resource<Status>; name: string; children: JSX.Element }): JSX.Element {
  if (status.data?.features?.includes(name)) return children;
  return (
    <main class="page" tabIndex={-1}>
      {status.error && !status.data && <Failure error={status.error} what="The server's features could not be read" retry={status.reload} />}
      {status.data && <Empty title="Not available"><p>This server does not have this tab. A newer version of Talaria may.</p></Empty>}
    </main>
  );
}

function View({ tab, status }: { tab: string; status: Resource<Status> }): JSX.Element {
  if (tab === "sleep") return <Further status={status} name="sleep"><SleepView /></Further>;
  if (tab === "handoffs") return <Further status={status} name="handoffs"><HandoffsView /></Further>;
  if (tab === "chat") return <Further status={status} name="chat"><ChatView /></Further>;
  if (tab === "sessions") return <SessionsView />;
  if (tab === "templates") return <TemplatesView />;
  if (tab === "achievements") return <AchievementsView />;
  return <NotFound />;
}

async function rescan(): Promise<void> {
  go(["achievements"]);
  say("Scanning");
  await post(badgePaths.rescan).then(() => say("Scanned"), (cause: ApiError) => say(`${cause.message}. ${cause.detail}`));
}

const leave = (): void => void signOut().catch((cause: ApiError) => say(`Not signed out: ${cause.message}. ${cause.detail}`));

// Tabs that have an address even if the server lacks them; the view then says so.
const further = ["chat", "sleep", "handoffs"];

// What can be done with the conversation that is open.
function chatCommands(id: string): Command[] {
  const o = openOf(id).get();
  const running = runningIn(o);
  return [
    ...(running ? [{ name: "Stop this turn", icon: icon.stop, run: () => void stopRun(running) }] : []),
    { name: "Branch this conversation", icon: icon.branch, more: "fork copy", run: () => void branchFrom(id) },
    { name: "Rename this conversation", icon: icon.rename, more: "title", run: () => setQuery({ rename: "1" }) },
  ];
}

// What can be done from anywhere, then what can be done with the session that is open.
function commandsFor(tabs: Tab[], session: string | undefined, chat: string | undefined, frame: Command[]): Command[] {
  return [
    ...tabs.map((t) => ({ name: `Go to ${t.name}`, icon: t.icon, hint: t.key, run: () => go([t.id]) })),
    ...(session ? [
      ...exportKinds.map(([as, name]) => ({ name: `Export this session as ${name}`, icon: icon.download, more: "download save", run: () => saveAs(exportPath(session, as), `${session}.${as}`) })),
      { name: "Make a template from this session", icon: icon.add, run: () => setQuery({ template: "1" }, false) },
    ] : []),
    ...(chat ? chatCommands(chat) : []),
    ...(tabs.some((t) => t.id === "chat") ? [{ name: "New conversation", icon: icon.write, more: "chat ask talk", run: () => go(["chat"], { new: "1" }) }] : []),
    ...(tabs.some((t) => t.id === "handoffs") ? [{ name: "Open the local chat", icon: icon.local, more: "handoff", run: () => go(["handoffs", "local"]) }] : []),
    { name: "Copy the link to this view", icon: icon.link, more: "address url", run: () => void copyText(location.href).then((done) => say(done ? "Link copied" : "The browser did not allow copying")) },
    { name: "Share your achievements", icon: icon.share, more: "card picture png", run: () => go(["achievements"], { share: "score" }) },
    { name: "Rescan achievements", icon: icon.rescan, run: () => void rescan() },
    { name: "Make a template from a session", icon: icon.add, run: () => go(["templates", "new"]) },
    { name: "Study: tool failures over a session", icon: icon.study, run: () => go(["templates", "study"]) },
    ...themes.map((t) => ({ name: themeNames[t], icon: icon[t], more: "toggle colour mode", run: () => setTheme(t) })),
    ...frame,
  ];
}

export function App(): JSX.Element {
  const { path } = useRoute();
  const news = useStore(said);
  const out = useStore(signedOut);
  const online = useStore(connected);
  const [open, setOpen] = useState<"" | "palette" | "keys">("");
  const [narrow, setNarrow] = useState(recall("rail") === "narrow");
  const status = useResource<Status>(out ? null : "/api/status");
  const features = status.data?.features?.join(" ") ?? "";
  const tabs = useMemo(() => tabsFor(features.split(" ")), [features]);
  const tab = further.includes(path[0]!) ? path[0]! : (tabs.find((t) => t.id === path[0])?.id ?? "");

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
    "g c": () => (tabs.some((t) => t.id === "chat") ? go(["chat"]) : false),
    "g h": () => (tabs.some((t) => t.id === "handoffs") ? go(["handoffs"]) : false),
    "g n": () => (tabs.some((t) => t.id === "sleep") ? go(["sleep"]) : false),
    "\\": toggleRail,
    Escape: up,
  }, !out);
  useEffect(() => {
    const name = tabs.find((t) => t.id === tab)?.name;
    document.title = name ? `${upright(name)} · Talaria` : tab ? "Talaria" : "Page not found · Talaria";
  }, [tab, tabs]);

  const session = tab === "sessions" ? path[1] : undefined;
  const chat = tab === "chat" ? path[1] : undefined;
  const commands = useMemo(() => commandsFor(tabs, session, chat, [
    { name: narrow ? "Expand sidebar" : "Collapse sidebar", icon: icon.rail, hint: "\\", run: toggleRail },
    { name: "Keyboard shortcuts", icon: icon.keys, hint: "?", run: () => setOpen("keys") },
    { name: "Sign out", icon: icon.leave, more: "log out logout leave", run: leave },
  ]), [tabs, session, chat, narrow, open]);

  if (out) return <SignIn />;
  return (
    <div class={narrow ? "frame narrow" : "frame"}>
      <Rail tabs={tabs} tab={tab} narrow={narrow} onNarrow={toggleRail} onPalette={() => setOpen("palette")} onKeys={() => setOpen(open === "keys" ? "" : "keys")} onSignOut={leave} />
      <Boundary at={path.join("/")} what="This view"><View tab={tab} status={status} /></Boundary>
      {!online && <div class="lost" role="status">Connection lost. Reconnecting… Nothing you typed is lost.</div>}
      <p class={news ? "said on" : "said"} role="status">{news}</p>
      {open === "palette" && <Palette commands={commands} chats={tabs.some((t) => t.id === "chat")} onClose={() => setOpen("")} />}
      {open === "keys" && <KeyHelp onClose={() => setOpen("")} />}
    </div>
  );
}
