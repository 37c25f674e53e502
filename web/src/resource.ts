// One GET as a component sees it: what was known before is shown at once and refreshed behind ("stale"), the
// request ends when the component leaves, and a lost connection that comes back asks again.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, getAnew } from "./api";
import { onEvent } from "./events";

const kept = new Map<string, unknown>();
const shown = new Map<string, number>(); // by how many components: that is not forgotten under them
const keepAtMost = 60;

export function keep(path: string, value: unknown): void {
  kept.delete(path);
  kept.set(path, value);
  if (kept.size <= keepAtMost) return;
  for (const old of kept.keys()) if (!shown.has(old) && old !== path) return void kept.delete(old);
}

function show(path: string): () => void {
  shown.set(path, (shown.get(path) ?? 0) + 1);
  return () => {
    const left = shown.get(path)! - 1;
    if (left) shown.set(path, left);
    else shown.delete(path);
  };
}

export const known = <T>(path: string): T | undefined => kept.get(path) as T | undefined;
export const forget = (path: string): void => void kept.delete(path);

export interface Resource<T> {
  data: T | undefined;
  error: ApiError | null;
  busy: boolean;
  reload(): void;
  change(fn: (data: T) => T): void;
}

export function useResource<T>(path: string | null, refreshOn: string[] = []): Resource<T> {
  const [, draw] = useState(0);
  const [turn, setTurn] = useState(0);
  const now = useRef<{ path: string | null; error: ApiError | null; busy: boolean }>({ path: null, error: null, busy: false });
  if (now.current.path !== path) now.current = { path, error: null, busy: path !== null };

  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const mine = now.current;
    mine.busy = true;
    (turn > 0 ? getAnew<T> : get<T>)(path, stop.signal).then(
      (value) => {
        keep(path, value);
        Object.assign(mine, { error: null, busy: false });
        if (!stop.signal.aborted) draw((n) => n + 1);
      },
      (cause) => {
        if (stop.signal.aborted) return;
        Object.assign(mine, { error: cause as ApiError, busy: false });
        draw((n) => n + 1);
      },
    );
    return () => stop.abort();
  }, [path, turn]);

  useEffect(() => (path === null ? undefined : show(path)), [path]);

  const reload = useCallback(() => {
    now.current.busy = true;
    setTurn((n) => n + 1);
  }, []);
  const events = refreshOn.join(" ");
  useEffect(() => {
    const off = ["reconnect", ...events.split(" ").filter(Boolean)].map((name) => onEvent(name, reload));
    return () => off.forEach((fn) => fn());
  }, [events, reload]);

  const change = useCallback(
    (fn: (data: T) => T) => {
      if (path === null) return;
      const old = known<T>(path);
      if (old === undefined) return;
      keep(path, fn(old));
      draw((n) => n + 1);
    },
    [path],
  );
  return { data: path === null ? undefined : known<T>(path), error: now.current.error, busy: now.current.busy, reload, change };
}

// True once `waiting` has lasted long enough to be worth showing: quick answers never flash a skeleton.
export function useLate(waiting: boolean, ms = 150): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!waiting) return;
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [waiting, ms]);
  return waiting && late;
}
