// Keys. One listener; views add theirs while they are mounted, and the latest one asked first wins, so a fold-out
// can take Esc before the view does. Nothing fires while someone types but Ctrl-K, and Esc, which leaves the field.
import { useLayoutEffect, useRef } from "preact/hooks";

export type KeyMap = Record<string, (event: KeyboardEvent) => boolean | void>;
const maps: { current: KeyMap }[] = [];
let chord = "";
let chordTimer: ReturnType<typeof setTimeout> | undefined;

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

// Enter on a button or a link is that button's or link's.
const acts = (target: EventTarget | null): boolean => target instanceof Element && target.closest("a[href], button, summary") !== null;

function name(event: KeyboardEvent): string {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") return "Ctrl-K";
  if (event.ctrlKey || event.metaKey || event.altKey) return "";
  return event.key.length === 1 && chord ? `${chord} ${event.key}` : event.key;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const inField = typing(event.target);
  const key = name(event);
  if (!key || (inField && key !== "Escape" && key !== "Ctrl-K") || (key === "Enter" && acts(event.target))) return;
  clearTimeout(chordTimer);
  chord = "";
  // Esc first leaves the field: going back from under half a sentence would lose it.
  if (inField && key === "Escape") return (event.target as HTMLElement).blur();
  // A handler that returns false passes the key on.
  for (let i = maps.length - 1; i >= 0; i--) {
    const handler = maps[i]!.current[key];
    if (handler && handler(event) !== false) return event.preventDefault();
  }
  if (key === "g") {
    chord = "g";
    chordTimer = setTimeout(() => (chord = ""), 1200);
  }
});

export function useKeys(map: KeyMap, on = true): void {
  // One slot for as long as the component is mounted: who came last stays last, whoever renders again.
  const slot = useRef<KeyMap>({});
  slot.current = map;
  // What is drawn hears its keys: not a frame later.
  useLayoutEffect(() => {
    if (!on) return;
    maps.push(slot);
    return () => void maps.splice(maps.indexOf(slot), 1);
  }, [on]);
}

export const keyList: [string, string][] = [
  ["Ctrl K", "Find a session, template or command"],
  ["/", "Search or filter this view"],
  ["g s", "Sessions"],
  ["g c", "Chat"],
  ["g h", "Handoffs"],
  ["g n", "Sleep"],
  ["g t", "Templates"],
  ["g a", "Achievements"],
  ["j  k", "Next, previous session or conversation"],
  ["n  p", "Next, previous request in a transcript"],
  ["x", "Expand or collapse all tool calls"],
  ["c  i", "New conversation; write in this one"],
  ["]", "Details of a turn"],
  ["\\", "Collapse or expand the sidebar"],
  ["Esc", "Leave a field, close, go back"],
  ["?", "Keyboard shortcuts"],
];
