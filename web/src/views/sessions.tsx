// Left the list, or what a search found in it; right the transcript. At phone width one of the two.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Checklist } from "../components/checklist";
import { Boundary } from "../components/boundary";
import { FirstRun } from "../components/first-run";
import { SearchPane } from "../components/search-pane";
import { SessionFilters } from "../components/session-filters";
import { SessionScroll } from "../components/session-scroll";
import { Bar, Empty, FilterBox, Updating } from "../components/ui";
import { indexing } from "../events";
import { count, countedAs } from "../format";
import { icon } from "../icons";
import { useLate, useResource } from "../resource";
import { setQuery, useRoute } from "../router";
import { filtersOf, useSessionList } from "../session-list";
import { useStore } from "../store";
import type { IndexState } from "../types";
import { Transcript } from "./transcript";

const pollMs = 3000;

// Below this width the list or the open session is shown, and the checklist stands above the list.
const bothFit = matchMedia("(min-width: 1025px)");
function useWide(): boolean {
  const [wide, setWide] = useState(bothFit.matches);
  useEffect(() => {
    const look = (): void => setWide(bothFit.matches);
    bothFit.addEventListener("change", look);
    return () => bothFit.removeEventListener("change", look);
  }, []);
  return wide;
}

// While the index is made, what is read so far is shown; now and then, and when it is whole, the list is asked again.
function Indexing({ onMore }: { onMore(): void }): JSX.Element | null {
  const asked = useResource<IndexState>("/api/index");
  const told = useStore(indexing);
  const { done, total } = told ?? asked.data ?? { done: 0, total: 0 };
  const over = told !== null && told.total > 0 && told.done >= told.total;
  useEffect(() => {
    if (!over) return;
    indexing.set(null);
    onMore();
  }, [over]);
  useEffect(() => {
    const timer = setInterval(() => { asked.reload(); onMore(); }, pollMs);
    return () => clearInterval(timer);
  }, [asked.reload, onMore]);
  if (total > 0 && done >= total) return null; // the list that says so is on its way
  return (
    <div class="indexing" role="status">
      <p><b>Indexing your sessions</b> <span>{total ? `${count(done)} of ${count(total)}` : "counting…"}</span></p>
      <Bar pct={total ? (done / total) * 100 : 0} label="Sessions read" />
    </div>
  );
}

export function SessionsView(): JSX.Element {
  const { path, query } = useRoute();
  const id = path[1];
  const key = JSON.stringify(filtersOf(query));
  const filters = useMemo(() => filtersOf(query), [key]);
  const list = useSessionList(filters);
  const late = useLate(list.busy);
  const text = query.q ?? "";
  const searching = text.trim() !== "";
  const wide = useWide();
  const focus = useRef({ open: () => {}, down: () => {} }).current;

  const first = list.loaded && list.rows.length === 0 && key === "{}" && !list.partial;
  if (first && !id) {
    return (
      <main class="page" tabIndex={-1}>
        <header class="title"><h1>Sessions</h1></header>
        <FirstRun title="Every agent session in one place">Search, read and continue the sessions of Hermes, Claude Code and Codex on this machine. No sessions yet.</FirstRun>
      </main>
    );
  }
  return (
    <main class={id ? "split open" : "split"} tabIndex={-1}>
      <section class="list-pane" aria-label="Sessions">
        <header>
          <div class="title">
            <h1>Sessions</h1>
            <Updating on={late && list.loaded} />
            <span class="dim push" title={countedAs}>{list.loaded && !searching && `${count(list.rows.length)}${list.more ? "+" : ""}`}</span>
          </div>
          <FilterBox
            value={text} label="Search all sessions" onInput={(q) => setQuery({ q, substring: null })}
            onEnter={() => focus.open()} onDown={() => focus.down()}
          />
          <SessionFilters filters={filters} />
          {list.partial && <Indexing onMore={list.reload} />}
        </header>
        {!wide && !searching && <Checklist />}
        {searching
          ? <SearchPane text={text} rows={list.rows} filters={filters} query={query} id={id} focus={focus} />
          : <SessionScroll list={list} id={id} filters={filters} />}
      </section>
      {id ? <Boundary at={id} what="This session" inside><Transcript key={id} id={id} /></Boundary> : (
        <section class="detail-pane nothing" aria-label="Transcript">
          {wide && <Checklist />}
          <Empty title="Select a session" mark={icon.sessions}>
            <p><kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>/</kbd> searches, <kbd>Ctrl K</kbd> finds anything.</p>
          </Empty>
        </section>
      )}
    </main>
  );
}
