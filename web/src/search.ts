// Search as one types: a short pause, then one question; the one before it is ended first, so there are never two.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, getAlone } from "./api";
import { onEvent } from "./events";
import { keep, known } from "./resource";
import { sinceDate, untilSeconds, type Filters } from "./session-list";
import type { IndexState, SearchPage } from "./types";

const pauseMs = 40;
const againMs = 2000;

export interface Search {
  data: SearchPage | undefined; // of this question, or, while it is asked, of the one before
  fresh: boolean; // whether it is of this one
  error: ApiError | null;
  retry(): void;
}

function question(text: string, f: Filters, limit: number, inside: boolean): string | null {
  if (!text.trim()) return null;
  const q = new URLSearchParams({ q: text.trim(), limit: String(limit) });
  for (const name of ["source", "project", "model", "tool"] as const) if (f[name]) q.set(name, f[name]!);
  const since = sinceDate(f.since);
  if (since) q.set("since", since);
  if (inside) q.set("substring", "1");
  if (f.archived) q.set("archived", "1");
  q.set("fold", "1"); // what says nearly the same is shown once, as in a terminal
  return `/api/search?${q}`;
}

// A search has no end date of its own; what is later is left out here.
function before(page: SearchPage, f: Filters): SearchPage {
  const until = untilSeconds(f.until);
  return until === null ? page : { ...page, hits: page.hits.filter((h) => h.at <= until) };
}

export function useSearch(text: string, filters: Filters, limit: number, inside = false): Search {
  const path = question(text, filters, limit, inside);
  const [now, set] = useState<{ path: string | null; data: SearchPage | undefined; error: ApiError | null }>({ path: null, data: undefined, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return set({ path, data: undefined, error: null });
    const stop = new AbortController();
    const timer = setTimeout(() => {
      getAlone<SearchPage>(path, stop.signal).then(
        (page) => {
          if (stop.signal.aborted) return;
          keep(path, page);
          set({ path, data: before(page, filters), error: null });
        },
        (cause) => stop.signal.aborted || set((old) => ({ path, data: old.data, error: cause as ApiError })),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, filters.until, turn]);
  const retry = useCallback(() => setTurn((n) => n + 1), []);
  useEffect(() => onEvent("reconnect", retry), [retry]);
  // What was found in half an index is asked again of the whole one: when that is told, and now and then, because the
  // word may have come before this answer was drawn.
  const half = now.data?.partial ?? false;
  useEffect(() => {
    if (!half) return;
    const timer = setTimeout(retry, againMs);
    const off = onEvent("index", (d) => (d as IndexState).done >= (d as IndexState).total && retry());
    return () => {
      clearTimeout(timer);
      off();
    };
  }, [half, now, retry]);
  const kept = path === null ? undefined : known<SearchPage>(path);
  if (now.path !== path && kept) return { data: before(kept, filters), fresh: true, error: null, retry };
  return { data: path === null ? undefined : now.data, fresh: now.path === path, error: now.path === path ? now.error : null, retry };
}

export const words = (text: string): string[] => text.toLowerCase().replace(/["()*]/g, " ").split(/\s+/).filter(Boolean);

// Marks the words within an element without touching its text: the browser paints ranges.
export function paintWords(el: Element | null, text: string): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  const list = words(text);
  if (!el || !list.length) return;
  const ranges: Range[] = [];
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node && ranges.length < 200; node = walk.nextNode()) {
    const lower = (node.textContent ?? "").toLowerCase();
    for (const word of list) {
      for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
