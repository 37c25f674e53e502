// The list of sessions, page by page. Lists outlive their view (by filter), so coming back is instant; the first
// page is then asked again and merged in front.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, get } from "./api";
import { onEvent } from "./events";
import type { Query } from "./router";
import { savedScroll } from "./scroll";
import { createStore, useStore } from "./store";
import type { Session, SessionPage } from "./types";

// What a list is filtered by, by the names that the address and the server have for it.
export const filterNames = ["source", "project", "model", "tool", "since", "until", "archived", "side_chains"] as const;
export type Filters = Partial<Record<(typeof filterNames)[number], string>>;
export const noFilters: Filters = {};

export function filtersOf(query: Query): Filters {
  const set = filterNames.filter((n) => query[n]).map((n) => [n, String(query[n])]);
  return Object.fromEntries(set) as Filters;
}

interface List {
  rows: Session[];
  ids: Set<string>;
  next: string | null;
  loaded: boolean;
  partial: boolean;
}

export const rowHeight = 64;
const pageSize = 500;
const lists = new Map<string, List>();

export const sinceDays: Record<string, number> = { day: 1, week: 7, month: 30, quarter: 91, year: 365 };
export function localDay(daysAgo: number): string {
  const d = new Date(Date.now() - daysAgo * 86_400_000);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

// A whole day, in local time: the same question all day long, so that it is the same request.
export function sinceDate(since: string | undefined): string | null {
  if (!since) return null;
  if (/^\d{4}-\d\d-\d\d$/.test(since)) return since;
  return sinceDays[since] ? localDay(sinceDays[since]!) : null;
}

// The end of that day; "until October 31" is meant with the 31st.
export function untilSeconds(until: string | undefined): number | null {
  const at = until ? Date.parse(`${until}T23:59:59`) : NaN;
  return Number.isNaN(at) ? null : at / 1000;
}

function question(f: Filters, cursor: string | null): string {
  const q = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ["source", "project", "model", "tool"] as const) if (f[name]) q.set(name, f[name]!);
  const since = sinceDate(f.since);
  const until = untilSeconds(f.until);
  if (since) q.set("since", since);
  if (until !== null) q.set("until", String(until));
  for (const name of ["archived", "side_chains"] as const) if (f[name]) q.set(name, "1");
  if (cursor) q.set("cursor", cursor);
  return `/api/sessions?${q}`;
}

// In front: what came anew, then the rest as it was. Behind: in place, for a list may be very long.
function add(list: List, page: Session[], behind: boolean): void {
  if (behind) {
    for (const s of page) if (!list.ids.has(s.id)) list.rows.push(s);
  } else {
    const fresh = new Set(page.map((s) => s.id));
    list.rows = [...page, ...list.rows.filter((s) => !fresh.has(s.id))];
  }
  for (const s of page) list.ids.add(s.id);
}

export function knownSession(id: string): Session | undefined {
  for (const list of lists.values()) {
    const found = list.rows.find((s) => s.id === id || s.parts.some((p) => p.id === id));
    if (found) return found;
  }
  return undefined;
}

// A session that was changed or deleted here, in every list that has it.
const edits = createStore(0);
export function putSession(changed: Session): void {
  for (const list of lists.values()) list.rows = list.rows.map((s) => (s.id === changed.id ? { ...s, ...changed } : s));
  edits.set(edits.get() + 1);
}
export function dropSession(id: string): void {
  for (const list of lists.values()) list.rows = list.rows.filter((s) => s.id !== id);
  edits.set(edits.get() + 1);
}

export interface SessionList {
  rows: Session[];
  more: boolean;
  loaded: boolean;
  partial: boolean;
  busy: boolean;
  error: ApiError | null;
  loadMore(): void;
  reload(): void;
}

export function useSessionList(filters: Filters): SessionList {
  const key = question(filters, null);
  useStore(edits);
  const [, draw] = useState(0);
  const [turn, setTurn] = useState({ more: false, n: 0 });
  const [now, setNow] = useState<{ busy: boolean; error: ApiError | null }>({ busy: true, error: null });

  let list = lists.get(key);
  if (!list) lists.set(key, (list = { rows: [], ids: new Set(), next: null, loaded: false, partial: false }));

  useEffect(() => {
    const mine = lists.get(key)!;
    const more = turn.more && mine.next !== null;
    const stop = new AbortController();
    // After a reload the pane wants its old place: pages are read until there are rows that far down.
    const wanted = Math.min(savedScroll("sessions") / rowHeight + 50, 20_000);
    const step = async (path: string, append: boolean): Promise<void> => {
      const page = await get<SessionPage>(path, stop.signal);
      // What was listed of half an index is not a part of the whole one: begin anew.
      if (mine.partial && !append) Object.assign(mine, { rows: [], ids: new Set(), loaded: false });
      const first = !mine.loaded;
      add(mine, page.sessions, append);
      if (append || first) mine.next = page.next_cursor;
      mine.loaded = true;
      mine.partial = page.partial ?? false;
      draw((n) => n + 1);
      if ((first || append) && mine.next && mine.rows.length < wanted) await step(question(filters, mine.next), true);
    };
    setNow({ busy: true, error: null });
    step(more ? question(filters, mine.next) : key, more).then(
      () => stop.signal.aborted || setNow({ busy: false, error: null }),
      (cause) => stop.signal.aborted || setNow({ busy: false, error: cause as ApiError }),
    );
    return () => stop.abort();
  }, [key, turn]);

  const reload = useCallback(() => setTurn((t) => ({ more: false, n: t.n + 1 })), []);
  const loadMore = useCallback(() => setTurn((t) => ({ more: true, n: t.n + 1 })), []);
  useEffect(() => {
    const off = ["reconnect", "snapshot"].map((name) => onEvent(name, reload));
    return () => off.forEach((fn) => fn());
  }, [reload]);
  return { rows: list.rows, more: list.next !== null, loaded: list.loaded, partial: list.partial, ...now, loadMore, reload };
}
