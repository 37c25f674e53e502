// The list of sessions, page by page. Lists outlive their view (by filter), so coming back is instant; the first
// page is then asked again and merged in front.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, get } from "./api";
import { onEvent } from "./events";
import { savedScroll } from "./scroll";
import type { Session, SessionPage } from "./types";

export interface Filters {
  source: string;
  since: string;
  archived: string;
}

interface List {
  rows: Session[];
  next: string | null;
  loaded: boolean;
}

export const rowHeight = 64;
const pageSize = 500;
const lists = new Map<string, List>();

const sinceDays: Record<string, number> = { day: 1, week: 7, month: 30, quarter: 91, year: 365 };
// A whole day, in local time: the same question all day long, so that it is the same request.
function sinceDate(since: string): string | null {
  const days = sinceDays[since];
  if (!days) return null;
  const d = new Date(Date.now() - days * 86_400_000);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

function question(f: Filters, cursor: string | null): string {
  const q = new URLSearchParams({ limit: String(pageSize) });
  const since = sinceDate(f.since);
  if (f.source) q.set("source", f.source);
  if (since) q.set("since", since);
  if (f.archived) q.set("archived", "1");
  if (cursor) q.set("cursor", cursor);
  return `/api/sessions?${q}`;
}

function merge(front: Session[], old: Session[]): Session[] {
  const seen = new Set(front.map((s) => s.id));
  return [...front, ...old.filter((s) => !seen.has(s.id))];
}

export function knownSession(id: string): Session | undefined {
  for (const list of lists.values()) {
    const found = list.rows.find((s) => s.id === id || s.parts.some((p) => p.id === id));
    if (found) return found;
  }
  return undefined;
}

export interface SessionList {
  rows: Session[];
  more: boolean;
  loaded: boolean;
  busy: boolean;
  error: ApiError | null;
  loadMore(): void;
  reload(): void;
}

export function useSessionList(filters: Filters): SessionList {
  const key = question(filters, null);
  const [, draw] = useState(0);
  const [turn, setTurn] = useState({ more: false, n: 0 });
  const [now, setNow] = useState<{ busy: boolean; error: ApiError | null }>({ busy: true, error: null });

  let list = lists.get(key);
  if (!list) lists.set(key, (list = { rows: [], next: null, loaded: false }));

  useEffect(() => {
    const mine = lists.get(key)!;
    const more = turn.more && mine.next !== null;
    const stop = new AbortController();
    // After a reload the pane wants its old place: pages are read until there are rows that far down.
    const wanted = Math.min(savedScroll("sessions") / rowHeight + 50, 20_000);
    const step = async (path: string, append: boolean): Promise<void> => {
      const page = await get<SessionPage>(path, stop.signal);
      const first = !mine.loaded;
      mine.rows = append ? merge(mine.rows, page.sessions) : merge(page.sessions, mine.rows);
      if (append || first) mine.next = page.next_cursor;
      mine.loaded = true;
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
  return { rows: list.rows, more: list.next !== null, loaded: list.loaded, ...now, loadMore, reload };
}
