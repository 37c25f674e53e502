// Left the list, right the transcript; at phone width one of the two.
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { FirstRun } from "../components/first-run";
import { SessionRow } from "../components/session-row";
import { Empty, Failure, FilterBox, Select, Skeleton, Updating } from "../components/ui";
import { VirtualList } from "../components/virtual-list";
import { count, plural } from "../format";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { useLate } from "../resource";
import { go, link, setQuery, useRoute } from "../router";
import { savedScroll, useScrollMemory } from "../scroll";
import { rowHeight, useSessionList, type Filters } from "../session-list";
import { Transcript } from "./transcript";

const since: [string, string][] = [
  ["", "Any time"], ["day", "Since yesterday"], ["week", "Past week"],
  ["month", "Past month"], ["quarter", "Past 3 months"], ["year", "Past year"],
];
const usual = ["cli", "tui", "telegram", "discord", "slack", "cron"];

export function SessionsView(): JSX.Element {
  const { path, query } = useRoute();
  const id = path[1];
  const filters: Filters = { source: query.source ?? "", since: query.since ?? "", archived: query.archived ?? "" };
  const list = useSessionList(filters);
  const late = useLate(list.busy);
  const reaches = list.rows.length * rowHeight >= savedScroll("sessions");
  const pane = useScrollMemory<HTMLDivElement>("sessions", list.loaded && (reaches || !list.busy));
  const text = (query.q ?? "").toLowerCase();
  const filtered = Boolean(filters.source || filters.since || filters.archived);

  const shown = useMemo(() => {
    const words = text.split(/\s+/).filter(Boolean);
    return words.length
      ? list.rows.filter((s) => {
          const all = `${s.title ?? ""} ${s.cwd ?? ""} ${s.model ?? ""} ${s.git_branch ?? ""} ${s.id}`.toLowerCase();
          return words.every((w) => all.includes(w));
        })
      : list.rows;
  }, [list.rows, list.rows.length, text]);
  const sources = [...new Set([...usual, ...list.rows.map((s) => s.source), ...(filters.source ? [filters.source] : [])])];

  const keepFilters = { source: filters.source, since: filters.since, archived: filters.archived, q: query.q };
  const at = shown.findIndex((s) => s.id === id || s.parts.some((p) => p.id === id));
  const move = (by: number): boolean | void => {
    const to = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (!to) return false;
    // Walking through the list is one step of the history, not fifty.
    go(["sessions", to.id], keepFilters, Boolean(id));
  };
  useKeys({ j: () => move(1), k: () => move(-1), Enter: () => (id ? false : move(1)) });

  // The chosen row stays in sight when keys move it.
  useEffect(() => {
    const el = pane.current;
    if (!el || at < 0) return;
    const top = at * rowHeight;
    const far = top < el.scrollTop - 2 * rowHeight || top > el.scrollTop + el.clientHeight + rowHeight;
    if (far) el.scrollTop = top - el.clientHeight / 2;
    else if (top < el.scrollTop) el.scrollTop = top;
    else if (top + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = top + rowHeight - el.clientHeight;
  }, [id, list.loaded]);

  const first = list.loaded && list.rows.length === 0 && !filtered;
  if (first && !id) {
    return (
      <main class="page" tabIndex={-1}>
        <header class="title"><h1>Sessions</h1></header>
        <FirstRun title="Every session, in one place">What agents and you said, and what they did, from every home on this machine.</FirstRun>
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
            <span class="dim push">{list.loaded && `${count(shown.length)}${list.more ? "+" : ""}`}</span>
          </div>
          <FilterBox value={query.q ?? ""} label="Filter by title, folder, model" onInput={(q) => setQuery({ q })} />
          <div class="toolbar">
            <Select
              label="Source" value={filters.source} options={[["", "Every source"], ...sources.map((s): [string, string] => [s, s])]}
              onPick={(source) => setQuery({ source })}
            />
            <Select label="Since" value={filters.since} options={since} onPick={(s) => setQuery({ since: s })} />
            <label class="check">
              <input type="checkbox" checked={Boolean(filters.archived)} onChange={(e) => setQuery({ archived: e.currentTarget.checked ? "1" : null })} />
              Archived
            </label>
          </div>
        </header>
        <div class="scroll" ref={pane} tabIndex={0} role="region" aria-label="List of sessions">
          {list.error && !list.loaded && <Failure error={list.error} what="The sessions could not be read" retry={list.reload} />}
          {late && !list.loaded && <Skeleton rows={10} kind="rows" />}
          {list.loaded && shown.length === 0 && !first && (
            <Empty title="No session fits">
              <p>{text && list.more ? `Looked at the newest ${plural(list.rows.length, "session")}.` : "Try other words or fewer filters."}</p>
              {text && list.more && <button type="button" onClick={list.loadMore}>Look further back</button>}
              <button type="button" onClick={() => go(id ? ["sessions", id] : ["sessions"], {}, true)}>Clear the filters</button>
            </Empty>
          )}
          <VirtualList
            items={shown} height={rowHeight} pane={pane} label="Sessions"
            onEnd={list.more && !list.busy && !list.error && !text ? list.loadMore : undefined}
            row={(s, i) => <SessionRow key={s.id} session={s} index={i} top={i * rowHeight} current={i === at} href={link(["sessions", s.id], keepFilters)} />}
          />
          {list.error && list.loaded && (
            <p class="notice bad" role="alert">{list.error.message}. <button type="button" class="small" onClick={list.loadMore}>Try again</button></p>
          )}
        </div>
      </section>
      {id ? <Transcript key={id} id={id} /> : (
        <section class="detail-pane nothing" aria-label="Transcript">
          <Empty title="Pick a session" mark={icon.sessions}>
            <p><kbd>j</kbd> and <kbd>k</kbd> walk through them, <kbd>/</kbd> filters, <kbd>Ctrl K</kbd> finds one.</p>
          </Empty>
        </section>
      )}
    </main>
  );
}
