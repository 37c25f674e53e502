// Ctrl-K: one box over commands, templates, sessions and all that was said. Names are matched here, from lists that
// the views keep anyway; what was said is asked for as one types and comes last, so that nothing moves under the hand.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConversationPage } from "../chat-types";
import { nameOf } from "../conversations";
import { ago, count, plainTitle, project } from "../format";
import { fuzzy } from "../fuzzy";
import { icon, sourceIcon } from "../icons";
import { useResource } from "../resource";
import { go } from "../router";
import { useSearch } from "../search";
import { noFilters } from "../session-list";
import type { Hit, SessionPage, TemplateRow } from "../types";
import { Snippet } from "./search-pane";
import { Icon } from "./ui";

export interface Command {
  name: string;
  icon: string;
  hint?: string;
  more?: string; // other words it is found by
  run(): void;
}

interface Entry extends Command {
  group: string;
  at?: number[];
  said?: Hit["snippet"];
}

const atMost: Record<string, number> = { Commands: 8, Conversations: 6, Templates: 6, Sessions: 12 };
const atFirst: Record<string, number> = { Commands: 40, Conversations: 0, Templates: 0, Sessions: 6 }; // before anything is typed
const saidAtMost = 6;

function Marked({ text, at }: { text: string; at: number[] }): JSX.Element {
  const marks = new Set(at);
  const parts: { hit: boolean; text: string }[] = [];
  [...text].length === text.length // letters of two units would shift the places; such names go unmarked
    ? text.split("").forEach((c, i) => {
        const last = parts[parts.length - 1];
        if (last && last.hit === marks.has(i)) last.text += c;
        else parts.push({ hit: marks.has(i), text: c });
      })
    : parts.push({ hit: false, text });
  return <Snippet of={parts} />;
}

function rank(entries: Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, { score: number; list: { e: Entry; score: number }[] }>();
  for (const e of entries) {
    const match = words.length ? fuzzy(e.name, e.more ?? "", words) : { score: 0, at: [] };
    if (!match) continue;
    let group = groups.get(e.group);
    if (!group) groups.set(e.group, (group = { score: match.score, list: [] }));
    group.score = Math.min(group.score, match.score);
    group.list.push({ e: { ...e, at: match.at }, score: match.score });
  }
  // The group that fits best first; without a query the order in which they were given.
  return [...groups].sort((a, b) => (words.length ? a[1].score - b[1].score : 0)).flatMap(([name, { list }]) =>
    list.sort((a, b) => a.score - b.score).slice(0, (words.length ? atMost : atFirst)[name]).map((r) => r.e));
}

function Option({ entry: e, n, on, onMove, onPick }: { entry: Entry; n: number; on: boolean; onMove(): void; onPick(): void }): JSX.Element {
  return (
    <li id={`palette-${n}`} role="option" aria-selected={on} onMouseMove={() => on || onMove()} onClick={onPick}>
      <Icon name={e.icon} />
      <span class="name">{e.said ? <Snippet of={e.said} /> : <Marked text={e.name} at={e.at ?? []} />}</span>
      <span class="hint">{e.hint}</span>
    </li>
  );
}

export function Palette({ commands, chats, onClose }: { commands: Command[]; chats: boolean; onClose(): void }): JSX.Element {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const sessions = useResource<SessionPage>("/api/sessions?limit=500");
  const templates = useResource<{ templates: TemplateRow[] }>("/api/templates");
  const talks = useResource<ConversationPage>(chats ? "/api/conversations?limit=500" : null);
  const said = useSearch(query.trim().length > 1 ? query : "", noFilters, saidAtMost);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement as HTMLElement | null);

  // Before the next key: nothing typed right after Ctrl-K may go elsewhere.
  useLayoutEffect(() => {
    input.current?.focus();
    const back = before.current;
    return () => back?.focus?.();
  }, []);

  const entries = useMemo<Entry[]>(() => [
    ...commands.map((c) => ({ ...c, group: "Commands" })),
    ...(talks.data?.conversations ?? []).map((c) => ({
      group: "Conversations", name: nameOf(c), icon: icon.chat, hint: ago(c.updated_ms / 1000), run: () => go(["chat", c.id]),
    })),
    ...(templates.data?.templates ?? []).map((t) => ({
      group: "Templates", name: t.name, icon: icon.templates, hint: t.type, more: t.type, run: () => go(["templates", t.name]),
    })),
    ...(sessions.data?.sessions ?? []).map((s) => ({
      group: "Sessions", name: plainTitle(s.title), icon: sourceIcon(s.source, s.origin), hint: `${project(s.cwd)}  ${ago(s.last_active)}`,
      more: `${s.cwd ?? ""} ${s.id}`, run: () => go(["sessions", s.id]),
    })),
  ], [commands, sessions.data, templates.data, talks.data]);

  const found = useMemo(() => {
    const q = query.trim();
    const hits = said.data?.hits.slice(0, saidAtMost) ?? [];
    return [
      ...rank(entries, query),
      ...hits.map((h): Entry => ({
        group: "Said", name: plainTitle(h.title), icon: sourceIcon("", h.origin), hint: `${h.project ?? ""}  ${ago(h.at)}`, said: h.snippet,
        run: () => go(["sessions", h.session], { q, m: h.message }),
      })),
      ...(q ? [{ group: "Said", name: `Search all sessions for “${q}”`, icon: icon.search, run: () => go(["sessions"], { q }) }] : []),
    ];
  }, [entries, query, said.data]);
  const groups = [...new Set(found.map((e) => e.group))];

  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at, found]);
  const pick = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const key = (e: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const last = found.length - 1;
    if (e.isComposing) return;
    // From the last to the first and back; whole pages stop at the ends.
    if (e.key in moves) setAt((n) => {
      const to = n + moves[e.key]!;
      return Math.abs(moves[e.key]!) === 1 ? (to < 0 ? last : to > last ? 0 : to) : Math.max(0, Math.min(last, to));
    });
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
            ref={input} value={query} placeholder="Search sessions, templates, commands and messages" aria-label="Find" role="combobox" aria-expanded="true"
            aria-controls="palette-list" aria-autocomplete="list" aria-activedescendant={found[at] ? `palette-${at}` : undefined} autocomplete="off" spellcheck={false}
            onInput={(e) => { setQuery(e.currentTarget.value); setAt(0); }} onKeyDown={key}
          />
          <kbd>Esc</kbd>
        </label>
        <div id="palette-list" class="palette-list" role="listbox" aria-label="Found" ref={list}>
          {groups.map((g) => (
            <ul key={g} role="group" aria-labelledby={`palette-${g}`}>
              <li id={`palette-${g}`} role="presentation" class="group">{g === "Said" ? "Messages" : g}</li>
              {found.map((e, i) => e.group === g && <Option key={i} entry={e} n={i} on={i === at} onMove={() => setAt(i)} onPick={() => pick(e)} />)}
            </ul>
          ))}
        </div>
        <p class="sr" role="status">{count(found.length)} found</p>
      </div>
    </div>
  );
}
