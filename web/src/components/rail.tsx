import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { link } from "../router";
import { useStore } from "../store";
import { nextTheme, theme as chosenTheme, themeNames } from "../theme";
import { Icon } from "./ui";

export interface Tab {
  id: string;
  name: string;
  icon: string;
  key: string;
}

// In the order of the rail. `feature`: shown only if the server lists it.
const all: (Tab & { feature?: true })[] = [
  { id: "sessions", name: "Sessions", icon: icon.sessions, key: "g s" },
  { id: "chat", name: "Chat", icon: icon.chat, key: "g c", feature: true },
  { id: "handoffs", name: "Handoffs", icon: icon.handoff, key: "g h", feature: true },
  { id: "sleep", name: "Sleep", icon: icon.sleep, key: "g n", feature: true },
  { id: "templates", name: "Templates", icon: icon.templates, key: "g t" },
  { id: "achievements", name: "Achievements", icon: icon.achievements, key: "g a" },
];
export const tabsFor = (features: string[]): Tab[] => all.filter((t) => !t.feature || features.includes(t.id));
const onPhone = 4; // tabs in the bar of a phone, beside Find and More; the others are behind More

// Wings on a heel: the mark of the page, drawn here because no icon set has it.
function Logo(): JSX.Element {
  return (
    <svg class="logo" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 21c7 1 12-1 15-5 1.600-2 2.400-4.500 3-8-6 .5-10.500 2.500-13 6-1.500 2-3 4.500-5 7zM11 17c3-.2 6-1 8.500-2.500M14 12.800c2.500 0 5-.6 7.500-1.800M6 25h9" />
    </svg>
  );
}

export function Rail({ tabs, tab, narrow, onNarrow, onPalette, onKeys, onSignOut }: {
  tabs: Tab[];
  tab: string;
  narrow: boolean;
  onNarrow(): void;
  onPalette(): void;
  onKeys(): void;
  onSignOut(): void;
}): JSX.Element {
  const theme = useStore(chosenTheme);
  const [more, setMore] = useState(false);
  const bar = useRef<HTMLElement>(null);
  useKeys({ Escape: () => (more ? setMore(false) : false) });
  useEffect(() => setMore(false), [tab]);
  useEffect(() => {
    if (!more) return;
    const away = (e: Event): void => void (bar.current?.contains(e.target as Node) || setMore(false));
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [more]);
  const width = narrow ? "Expand sidebar" : "Collapse sidebar";
  const themeName = themeNames[theme];
  const hidden = tabs.slice(onPhone);
  const entry = (t: Tab): JSX.Element => (
    <li key={t.id}>
      <a href={link([t.id])} aria-current={t.id === tab ? "page" : undefined} title={`${t.name} (${t.key})`}>
        <Icon name={t.icon} size={18} /><span>{t.name}</span>
      </a>
    </li>
  );
  return (
    <nav class={more ? "rail more-open" : "rail"} aria-label="Talaria" ref={bar}>
      <a class="brand" href={link(["sessions"])} aria-label="Talaria"><Logo /><b>Talaria</b></a>
      <button type="button" class="find" onClick={onPalette} aria-keyshortcuts="Control+K" title="Find (Ctrl K)">
        <Icon name={icon.search} /><span>Find</span><kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <ul>{tabs.slice(0, onPhone).map(entry)}</ul>
      <button type="button" class="more" aria-expanded={more} aria-controls="more-tabs" data-current={hidden.some((t) => t.id === tab) || undefined} onClick={() => setMore(!more)}>
        <Icon name={icon.more} size={18} /><span>More</span>
      </button>
      <div class="rail-more" id="more-tabs">
        <ul>{hidden.map(entry)}</ul>
        <div class="rail-end">
          <button type="button" onClick={nextTheme} aria-label={`${themeName}, change`} title={`${themeName}, change`}>
            <Icon name={icon[theme]} /><span>{themeName}</span>
          </button>
          <button type="button" onClick={() => { setMore(false); onKeys(); }} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)"><Icon name={icon.keys} /><span>Shortcuts</span></button>
          <button type="button" onClick={onSignOut} title="Sign out every browser of this server"><Icon name={icon.leave} /><span>Sign out</span></button>
          <button type="button" class="collapse" onClick={onNarrow} aria-label={width} aria-pressed={narrow} title={`${width} (\\)`}>
            <Icon name={icon.rail} /><span>Collapse</span>
          </button>
        </div>
      </div>
    </nav>
  );
}
