// What a search found, by session, each hit with the words around it. Titles that fit are known here and come at
// once; what was said comes from the server.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, plainTitle, plural, project } from "../format";
import { useKeys } from "../keys";
import { useLate } from "../resource";
import { go, link, setQuery, type Query } from "../router";
import { useScrollMemory } from "../scroll";
import { useSearch, words } from "../search";
import type { Filters } from "../session-list";
import type { Hit, Session } from "../types";
import { SourceMark } from "./session-row";
import { Empty, Failure, Skeleton, Time } from "./ui";

const step = 50;
const titlesAtMost = 4;

interface Group {
  session: string;
  hits: Hit[];
}

// What people and agents said comes before what tools printed: in a session, and among the sessions.
const said = (h: Hit): boolean => h.role === "user" || h.role === "assistant";

function bySession(hits: Hit[]): Group[] {
  const groups = new Map<string, Group>();
  for (const h of [...hits.filter(said), ...hits.filter((h) => !said(h))]) {
    const group = groups.get(h.session);
    if (group) group.hits.push(h);
    else groups.set(h.session, { session: h.session, hits: [h] });
  }
  return [...groups.values()];
}

export function titlesWith(rows: Session[], text: string, n: number): Session[] {
  const list = words(text);
  const found: Session[] = [];
  for (const s of list.length ? rows : []) {
    const all = `${s.title ?? ""} ${s.cwd ?? ""} ${s.id}`.toLowerCase();
    if (list.every((w) => all.includes(w)) && found.push(s) === n) break;
  }
  return found;
}

export const Snippet = ({ of }: { of: Hit["snippet"] }): JSX.Element => <>{of.map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</>;
const speaker = (h: Hit): string => (h.role === "user" ? "You" : h.role === "assistant" ? "Agent" : (h.tool ?? h.role));

function HitGroup({ group, href, at }: { group: Group; href(h: Hit): string; at: Hit | undefined }): JSX.Element {
  const first = group.hits[0]!;
  return (
    <li class="hit-session">
      <p class="hit-head">
        <SourceMark origin={first.origin} />
        <span class="what">{plainTitle(first.title)}</span>
        <span class="when"><Time at={first.at} /></span>
        <span class="where">{first.project}</span>
      </p>
      <ul>{group.hits.map((h) => (
        <li key={h.message}><a class="hit" href={href(h)} aria-current={h === at ? "true" : undefined}><span class="clamp"><b>{speaker(h)}</b> <Snippet of={h.snippet} /></span></a></li>
      ))}</ul>
    </li>
  );
}

export function SearchPane({ text, rows, filters, query, id, focus }: {
  text: string;
  rows: Session[];
  filters: Filters;
  query: Query; // the address' own, as it is
  id: string | undefined;
  focus: { open: () => void; down: () => void }; // what Enter and ↓ in the box do
}): JSX.Element {
  const [limit, setLimit] = useState(step);
  const inside = query.substring === "1";
  const found = useSearch(text, filters, limit, inside);
  const late = useLate(!found.fresh);
  const groups = useMemo(() => bySession(found.data?.hits ?? []), [found.data]);
  const flat = useMemo(() => groups.flatMap((g) => g.hits), [groups]);
  const titles = useMemo(() => titlesWith(rows, text, titlesAtMost), [rows, rows.length, text]);
  const pane = useScrollMemory<HTMLDivElement>("search", found.data !== undefined);
  const before = useRef(text);
  useEffect(() => {
    if (before.current !== text && pane.current) pane.current.scrollTop = 0;
    before.current = text;
    setLimit(step);
  }, [text]);

  const { m: _m, part: _part, template: _template, ...kept } = query;
  const to = (h: Hit): [string[], Query] => [["sessions", h.session], { ...kept, m: h.message }];
  const at = flat.find((h) => h.session === id && String(h.message) === query.m);
  const move = (by: number): boolean | void => {
    const next = flat[Math.max(0, Math.min(flat.length - 1, (at ? flat.indexOf(at) : -1) + by))];
    if (!next) return false;
    go(...to(next), Boolean(id));
  };
  useKeys({ j: () => move(1), k: () => move(-1), Enter: () => (id ? false : move(1)) });
  focus.open = () => (titles[0] && !flat.length ? go(["sessions", titles[0].id], kept) : void move(at ? 0 : 1));
  focus.down = () => pane.current?.querySelector("a")?.focus();
  useEffect(() => pane.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [at]);

  const wrong = found.error?.status === 400;
  const nothing = found.fresh && !found.error && flat.length === 0;
  return (
    <div class="scroll hits" ref={pane} tabIndex={0} role="region" aria-label="Found" aria-busy={!found.fresh}>
      {titles.length > 0 && (
        <section aria-label="Titles">
          <h2>Titles</h2>
          <ul>{titles.map((s) => (
            <li key={s.id}>
              <a class="hit-head" href={link(["sessions", s.id], kept)} aria-current={s.id === id && !query.m ? "true" : undefined}>
                <SourceMark origin={s.origin} source={s.source} />
                <span class="what">{plainTitle(s.title)}</span><span class="when"><Time at={s.last_active} /></span>
                <span class="where">{project(s.cwd)}</span>
              </a>
            </li>
          ))}</ul>
        </section>
      )}
      <p class="hits-count" role="status">
        {found.error ? "" : !found.data ? (late ? "Searching…" : "\u00a0")
          : `${count(flat.length)}${found.data.more ? "+" : ""} ${flat.length === 1 ? "message" : "messages"}${found.data.partial ? " so far" : ""}`}
      </p>
      {wrong && <Empty title={found.error!.message}><p>{found.error!.detail}</p></Empty>}
      {found.error && !wrong && <Failure error={found.error} what="The search failed" retry={found.retry} />}
      {late && !found.data && !found.error && <Skeleton rows={5} kind="lines" />}
      {found.data?.note && <p class="dim note">{found.data.note}</p>}
      {!found.error && <ol>{groups.map((g) => <HitGroup key={g.session} group={g} at={at} href={(h) => link(...to(h))} />)}</ol>}
      {Boolean(found.data?.similar) && !found.error && <p class="dim note">{plural(found.data!.similar!, "similar passage")} not shown.</p>}
      {nothing && (
        <Empty title={titles.length ? "No matching messages" : "No matches"}>
          <p>{inside ? "Try other words or fewer filters." : "The search covers whole words and their beginnings."}</p>
          {!inside && <button type="button" onClick={() => setQuery({ substring: "1" })}>Search inside words</button>}
        </Empty>
      )}
      {found.data?.more && !found.error && <button type="button" class="more-hits" onClick={() => setLimit(limit + step)}>Show more</button>}
    </div>
  );
}
