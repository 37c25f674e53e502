import type { JSX } from "preact";
import { icon } from "../icons";
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

const always: Tab[] = [
  { id: "achievements", name: "Achievements", icon: icon.achievements, key: "g a" },
  { id: "sessions", name: "Sessions", icon: icon.sessions, key: "g s" },
  { id: "templates", name: "Templates", icon: icon.templates, key: "g t" },
];
// Shown where the server says that it has them.
const further: Tab[] = [
  { id: "chat", name: "Chat", icon: icon.chat, key: "g c" },
  { id: "handoffs", name: "Handoffs", icon: icon.handoff, key: "g h" },
  { id: "sleep", name: "Sleep", icon: icon.sleep, key: "g n" },
];
export const tabsFor = (features: string[]): Tab[] => [...always, ...further.filter((t) => features.includes(t.id))];

// Wings on a heel: the mark of the page, drawn here because no icon set has it.
function Logo(): JSX.Element {
  return (
    <svg class="logo" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 21c7 1 12-1 15-5 1.600-2 2.400-4.500 3-8-6 .5-10.500 2.500-13 6-1.500 2-3 4.500-5 7zM11 17c3-.2 6-1 8.500-2.500M14 12.800c2.500 0 5-.6 7.500-1.800M6 25h9" />
    </svg>
  );
}

export function Rail({ tabs, tab, narrow, onNarrow, onPalette, onKeys }: {
  tabs: Tab[];
  tab: string;
  narrow: boolean;
  onNarrow(): void;
  onPalette(): void;
  onKeys(): void;
}): JSX.Element {
  const theme = useStore(chosenTheme);
  const width = narrow ? "Widen" : "Narrow";
  const themeName = themeNames[theme];
  return (
    <nav class="rail" aria-label="Talaria">
      <a class="brand" href={link(["achievements"])} aria-label="Talaria"><Logo /><b>Talaria</b></a>
      <button type="button" class="find" onClick={onPalette} aria-keyshortcuts="Control+K" title="Find (Ctrl K)">
        <Icon name={icon.search} /><span>Find</span><kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <ul>
        {tabs.map((t) => (
          <li key={t.id}>
            <a href={link([t.id])} aria-current={t.id === tab ? "page" : undefined} title={`${t.name} (${t.key})`}>
              <Icon name={t.icon} size={18} /><span>{t.name}</span>
            </a>
          </li>
        ))}
      </ul>
      <div class="rail-end">
        <button type="button" onClick={nextTheme} aria-label={`${themeName}, change`} title={`${themeName}, change`}>
          <Icon name={icon[theme]} /><span>{themeName}</span>
        </button>
        <button type="button" onClick={onKeys} aria-label="Keys" title="Keys (?)"><Icon name={icon.keys} /><span>Keys</span></button>
        <button type="button" onClick={onNarrow} aria-label={`${width} the rail`} aria-pressed={narrow} title={`${width} (\\)`}>
          <Icon name={icon.rail} /><span>{width}</span>
        </button>
      </div>
    </nav>
  );
}
