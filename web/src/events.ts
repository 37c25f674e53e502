// The one event stream. Besides what the server sends (the names below) it tells "reconnect" when
// the line is back, upon which every mounted view asks again.
import { ask, signedOut, unreachable } from "./api";
import { readFrames } from "./sse";
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

let source: AbortController | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let attempt = 0;
let quiet: ReturnType<typeof setTimeout> | undefined;
const quietMs = 5000;

function opened(): void {
  const wasLost = !connected.get() || unreachable.get();
  attempt = 0;
  connected.set(true);
  unreachable.set(false);
  if (wasLost) tell("reconnect", null);
}

async function read(signal: AbortSignal): Promise<void> {
  const response = await ask("/api/events", signal);
  if (response.status === 401) signedOut.set(true);
  if (!response.ok || !response.body || signal.aborted) return;
  opened();
  for await (const frame of readFrames(response.body, signal, () => undefined)) {
    if (signal.aborted || !names.includes(frame.event)) continue;
    try {
      tell(frame.event, JSON.parse(frame.data || "null"));
    } catch {
      /* one bad event is not worth a broken page */
    }
  }
}

// EventSource cannot send what the page keeps (api.ts), so the stream is a fetch, and the retry is ours.
export function connect(): void {
  clearTimeout(timer);
  source?.abort();
  if (signedOut.get()) return;
  const mine = new AbortController();
  source = mine;
  const lost = (): void => {
    if (mine.signal.aborted || signedOut.get()) return;
    mine.abort();
    // A stream that only ended (a proxy's limit, a restart) is opened again at once, unseen.
    if (attempt > 0) connected.set(false);
    const wait = attempt === 0 ? 50 : Math.min(15_000, 500 * 2 ** attempt);
    attempt++;
    timer = setTimeout(connect, wait);
  };
  read(mine.signal).then(lost, lost);
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
  addEventListener("pagehide", () => source?.abort());
  addEventListener("pageshow", (event) => event.persisted && connect());
}
