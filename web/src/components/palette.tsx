// Ctrl-K: one box over sessions, templates and commands. It asks for its lists when it opens, from what the
// views keep anyway, and does all the matching here.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ago, plainTitle, project } from "../format";
import { icon, sourceIcon } from "../icons";
import { useResource } from "../resource";
import { go } from "../router";
import type { SessionPage, TemplateRow } from "../types";
import { Icon } from "./ui";

export interface Command {
  name: string;
  icon: string;
  hint?: string;
  run(): void;
}

interface Entry extends Command {
  group: string;
  text: string; // what is matched, lower case
}

// All words of the query must occur; earlier and at a word's beginning is better.
function score(text: string, words: string[]): number {
  let total = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return -1;
    total += at === 0 || /\W/.test(text[at - 1]!) ? 0 : 20;
    total += Math.min(at, 40) / 10;
  }
  return total;
}

export function Palette({ commands, onClose }: { commands: Command[]; onClose(): void }): JSX.Element {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const sessions = useResource<SessionPage>("/api/sessions?limit=500");
  const templates = useResource<{ templates: TemplateRow[] }>("/api/templates");
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const before = useRef(document.activeElement as HTMLElement | null);

  useEffect(() => {
    input.current?.focus();
    const back = before.current;
    return () => back?.focus?.();
  }, []);

  const entries = useMemo<Entry[]>(() => [
    ...commands.map((c) => ({ ...c, group: "Commands", text: c.name.toLowerCase() })),
    ...(templates.data?.templates ?? []).map((t) => ({
      group: "Templates", name: t.name, icon: icon.templates, hint: t.type, text: `${t.name} ${t.type}`.toLowerCase(),
      run: () => go(["templates", t.name]),
    })),
    ...(sessions.data?.sessions ?? []).map((s) => ({
      group: "Sessions", name: plainTitle(s.title), icon: sourceIcon(s.source), hint: `${project(s.cwd)}  ${ago(s.last_active)}`,
      text: `${s.title ?? ""} ${s.cwd ?? ""} ${s.id}`.toLowerCase(), run: () => go(["sessions", s.id]),
    })),
  ], [commands, sessions.data, templates.data]);

  const found = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [...entries.filter((e) => e.group === "Commands"), ...entries.filter((e) => e.group === "Sessions").slice(0, 6)];
    const ranked = entries.map((e) => ({ e, s: score(e.text, words) })).filter((r) => r.s >= 0).sort((a, b) => a.s - b.s).slice(0, 40);
    const groups = [...new Set(ranked.map((r) => r.e.group))];
    return groups.flatMap((g) => ranked.filter((r) => r.e.group === g).map((r) => r.e));
  }, [entries, query]);

  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at, found]);
  const pick = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const key = (e: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (e.key in moves) setAt((n) => Math.max(0, Math.min(found.length - 1, n + moves[e.key]!)));
    else if (e.key === "Enter") pick(found[at]);
    else if (e.key === "Escape" || e.key === "Tab") onClose();
    else return;
    e.preventDefault();
  };

  return (
    <div class="palette-ground" onMouseDown={(e) => e.target === e.currentTarget && onClose()}>
      <div class="palette" role="dialog" aria-label="Find" aria-modal="true">
        <label class="palette-box">
          <Icon name={icon.search} />
          <input
            ref={input} value={query} placeholder="Sessions, templates, commands" aria-label="Find" role="combobox" aria-expanded="true"
            aria-controls="palette-list" aria-activedescendant={found[at] ? `palette-${at}` : undefined} autocomplete="off" spellcheck={false}
            onInput={(e) => { setQuery(e.currentTarget.value); setAt(0); }} onKeyDown={key}
          />
          <kbd>Esc</kbd>
        </label>
        <ul id="palette-list" role="listbox" aria-label="Found" ref={list}>
          {found.flatMap((e, i) => [
            (i === 0 || found[i - 1]!.group !== e.group) && <li key={e.group} role="presentation" class="group">{e.group}</li>,
            <li
              key={`${e.group}${i}`} id={`palette-${i}`} role="option" aria-selected={i === at}
              onMouseMove={() => i !== at && setAt(i)} onClick={() => pick(e)}
            >
              <Icon name={e.icon} /><span class="name">{e.name}</span><span class="hint">{e.hint}</span>
            </li>,
          ])}
        </ul>
        {found.length === 0 && <p class="dim nothing" role="status">Nothing is called that.</p>}
      </div>
    </div>
  );
}
