// The one event stream. Besides what the server sends (the names below) it tells "reconnect" when
// the line is back, upon which every mounted view asks again.
import { signedOut, unreachable } from "./api";
import { createStore } from "./store";

type Handler = (data: unknown) => void;
const handlers = new Map<string, Set<Handler>>();
// "status" begins every stream: what happened before it is not told, and can be asked for.
const names = ["status", "progress", "unlock", "snapshot", "index", "sleep", "handoffs", "local", "chat"];

export const connected = createStore(true);
export const scan = createStore<{ done: number; total: number } | null>(null);
export const indexing = createStore<{ done: number; total: number } | null>(null);

export function onEvent(name: string, fn: Handler): () => void {
  let set = handlers.get(name);
  if (!set) handlers.set(name, (set = new Set()));
  set.add(fn);
  return () => set.delete(fn);
}

function tell(name: string, data: unknown): void {
  if (name === "progress") {
    scan.set(data as { done: number; total: number });
    // A scan that fails ends without a snapshot; its bar must not stay for ever.
    clearTimeout(quiet);
    quiet = setTimeout(() => scan.set(null), quietMs);
  }
  if (name === "snapshot") scan.set(null);
  if (name === "index") indexing.set(data as { done: number; total: number });
  for (const fn of [...(handlers.get(name) ?? [])]) fn(data);
}

let source: EventSource | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let attempt = 0;
let quiet: ReturnType<typeof setTimeout> | undefined;
const quietMs = 5000;

// EventSource gives up for good on an answer that is not 200, so the retry is ours.
export function connect(): void {
  clearTimeout(timer);
  source?.close();
  if (signedOut.get()) return;
  const mine = new EventSource("/api/events");
  source = mine;
  mine.onopen = () => {
    const wasLost = !connected.get() || unreachable.get();
    attempt = 0;
    connected.set(true);
    unreachable.set(false);
    if (wasLost) tell("reconnect", null);
  };
  mine.onerror = () => {
    mine.close();
    // A stream that only ended (a proxy's limit, a restart) is opened again at once, unseen.
    if (attempt > 0) connected.set(false);
    const wait = attempt === 0 ? 50 : Math.min(15_000, 500 * 2 ** attempt);
    attempt++;
    timer = setTimeout(connect, wait);
  };
  for (const name of names) {
    mine.addEventListener(name, (event) => {
      try {
        tell(name, JSON.parse((event as MessageEvent<string>).data || "null"));
      } catch {
        /* one bad event is not worth a broken page */
      }
    });
  }
}

export function watchConnection(): void {
  connect();
  signedOut.listen(connect);
  unreachable.listen(() => {
    if (unreachable.get()) connected.set(false);
  });
  // The laptop was asleep, or the network came back: do not wait for the timer.
  addEventListener("online", () => connected.get() || connect());
  document.addEventListener("visibilitychange", () => document.hidden || connected.get() || connect());
  // Left open, the stream would keep the page out of the back/forward cache.
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && connect());
}
