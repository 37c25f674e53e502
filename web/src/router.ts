// Addresses: /sessions/ID?source=cli. The server gives the same page for all of them; moving between them is ours.
import { createStore, useStore } from "./store";

export interface Route {
  path: string[]; // ["sessions", "ID"]
  query: Record<string, string>;
}

function parse(): Route {
  const parts = location.pathname.split("/").filter(Boolean).map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
  return { path: parts.length ? parts : ["sessions"], query: Object.fromEntries(new URLSearchParams(location.search)) };
}

export const route = createStore<Route>(parse());
export const useRoute = (): Route => useStore(route);

export type Query = Record<string, string | number | null | undefined>;

export function link(path: string[], query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== "");
  const tail = pairs.length ? `?${new URLSearchParams(pairs.map(([k, v]) => [k, String(v)]))}` : "";
  return `/${path.map(encodeURIComponent).join("/")}${tail}`;
}

// `replace` is for changes one would not want to walk back through: typing, moving through a list.
export function go(path: string[], query: Query = {}, replace = false): void {
  to(link(path, query), replace);
}

function to(address: string, replace: boolean): void {
  if (address === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  route.set(parse());
}

export function setQuery(change: Query, replace = true): void {
  const { path, query } = route.get();
  go(path, { ...query, ...change }, replace);
}

// Up, not back: what Esc means in a view that was opened by a link from elsewhere, too.
export function up(): void {
  const { path, query } = route.get();
  const { m: _message, part: _part, template: _template, rename: _rename, ...filters } = query;
  if (query.template) go(path, { ...query, template: null });
  else if (path.length > 1) go(path.slice(0, -1), filters);
}

export function followAddress(): void {
  addEventListener("popstate", () => route.set(parse()));
  // Plain clicks on our own links stay in the page; those with a modifier open a tab as everywhere.
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const a = (event.target as Element | null)?.closest?.("a");
    if (!a || a.target || a.hasAttribute("download") || a.origin !== location.origin || !a.hasAttribute("href")) return;
    event.preventDefault();
    to(a.pathname + a.search, false);
  });
}
