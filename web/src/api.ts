// Requests. The same GET is never in flight twice: callers that ask while one is under way share it, and it
// is cancelled when the last of them has left. What goes wrong is always an ApiError with words for a person.
import { createStore, recall, remember } from "./store";

export type Trouble = "network" | "auth" | "timeout" | "http" | "shape";

export class ApiError extends Error {
  constructor(readonly trouble: Trouble, readonly status: number, title: string, readonly detail: string) {
    super(title);
  }
}

// Whether the server wants a token first; the frame shows the sign-in instead of a view then.
export const signedOut = createStore(false);
// Set by requests that could not reach the server; events.ts clears it when the stream is back.
export const unreachable = createStore(false);

const lingerMs = 40;
const timeoutMs = 30_000;
const slowTimeoutMs = 300_000; // a rescan or a study of a very large history

const say: Record<Exclude<Trouble, "http">, [string, string]> = {
  network: ["The server does not answer", "Is Talaria still running? The page retries automatically."],
  auth: ["Not signed in", "Open the link that Talaria printed when it started, or paste its token."],
  timeout: ["The request timed out", "The server is busy. Try again in a moment."],
  shape: ["Unexpected answer from the server", "The page and the server may have different versions. Reload the page."],
};

// What signing in gave the page to keep: bound to this origin, unlike the cookie, which browsers send to every port of
// this machine. The server wants both, so every request is a fetch: a plain link or an <img> cannot send it.
const pageKey = "signed-in";
const own = (headers: Record<string, string> = {}): Record<string, string> => ({ ...headers, "X-Talaria-Page": recall(pageKey) ?? "" });
export const ask = (path: string, signal: AbortSignal | null = null): Promise<Response> => fetch(path, { signal, headers: own() });

// The head of an answer, whatever it says; a server that cannot be reached, or wants a token, is trouble already.
async function reach(method: string, path: string, body: unknown, headers: Record<string, string>, signal: AbortSignal, late: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      signal: AbortSignal.any([signal, late]),
      headers: own(body === undefined ? headers : { "Content-Type": "application/json", ...headers }),
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    if (late.aborted) throw new ApiError("timeout", 0, ...say.timeout);
    unreachable.set(true);
    throw new ApiError("network", 0, ...say.network);
  }
  if (response.status !== 401 || path === "/api/auth") return response;
  signedOut.set(true);
  throw new ApiError("auth", 401, ...say.auth);
}

// The server's details are written for the terminal too: advice to run a command is left out here, and a sentence
// begins with a capital.
export function forPage(detail: string): string {
  const plain = detail.replace(/(?:[;,.]\s*|\s+)?(?:run |try |see |use |or )?'talaria [^']*'[^;.]*/g, "").trim() || detail;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function refused(response: Response, value: unknown): ApiError {
  const problem = (value ?? {}) as { title?: string; detail?: string };
  return new ApiError("http", response.status, problem.title ?? `The server answered ${response.status}`, forPage(problem.detail ?? ""));
}

async function send<T>(method: string, path: string, body: unknown, signal: AbortSignal, limit: number, headers: Record<string, string> = {}): Promise<T> {
  const response = await reach(method, path, body, headers, signal, AbortSignal.timeout(limit));
  let value: unknown = null;
  try {
    const text = await response.text();
    if (text || method === "GET") value = JSON.parse(text); // a GET that answers nothing is as bad as nonsense
  } catch (cause) {
    if (signal.aborted) throw cause;
    if (response.ok) throw new ApiError("shape", response.status, ...say.shape);
  }
  if (response.ok) return value as T;
  throw refused(response, value);
}

// A stream that a POST begins: what comes back is read by the caller. Only its head is waited for in bounded time.
export async function postStream(path: string, body: unknown, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const response = await reach("POST", path, body, { Accept: "text/event-stream", ...headers }, signal, late.signal);
    if (response.ok) return response;
    throw refused(response, await response.json().catch(() => null));
  } finally {
    clearTimeout(timer);
  }
}

interface Flight {
  promise: Promise<unknown>;
  stop: AbortController;
  users: number;
}
const flights = new Map<string, Flight>();

// Forgotten before it is cancelled: whoever asks next begins anew instead of joining a dead request.
function end(path: string, flight: Flight): void {
  if (flights.get(path) === flight) flights.delete(path);
  flight.stop.abort();
}

export function get<T>(path: string, signal: AbortSignal): Promise<T> {
  let flight = flights.get(path);
  if (!flight) {
    const stop = new AbortController();
    const promise = send<T>("GET", path, undefined, stop.signal, path.endsWith("/study") ? slowTimeoutMs : timeoutMs);
    const made: Flight = { promise, stop, users: 0 };
    flight = made;
    flights.set(path, made);
    const forget = (): void => {
      if (flights.get(path) === made) flights.delete(path);
    };
    promise.then(forget, forget);
  }
  const shared = flight;
  shared.users++;
  return new Promise<T>((resolve, reject) => {
    signal.addEventListener(
      "abort",
      () => {
        // Who comes straight back (two keys in a row) finds the request still under way.
        if (--shared.users === 0) setTimeout(() => shared.users === 0 && end(path, shared), lingerMs);
        reject(signal.reason);
      },
      { once: true },
    );
    (shared.promise as Promise<T>).then(resolve, reject);
  });
}

// For a question that the next one replaces (search as one types): nobody shares it, and leaving ends it at once.
export const getAlone = <T>(path: string, signal: AbortSignal): Promise<T> => send<T>("GET", path, undefined, signal, timeoutMs);

// For a reload: what is in flight may have been answered before the change that is reloaded for. It is waited for
// (or cancelled, should nobody else want it), and then asked anew.
export async function getAnew<T>(path: string, signal: AbortSignal): Promise<T> {
  await flights.get(path)?.promise.catch(() => undefined);
  signal.throwIfAborted();
  return get<T>(path, signal);
}

export function post<T>(path: string, body: unknown = {}, signal = new AbortController().signal): Promise<T> {
  return send<T>("POST", path, body, signal, path.endsWith("/rescan") ? slowTimeoutMs : timeoutMs);
}

// Under a key that makes it happen once, however often it is sent.
export const postOnce = <T>(path: string, body: unknown, key: string): Promise<T> => send<T>("POST", path, body, new AbortController().signal, timeoutMs, { "Idempotency-Key": key });

export function patch<T>(path: string, body: unknown): Promise<T> {
  return send<T>("PATCH", path, body, new AbortController().signal, timeoutMs);
}

export function remove(path: string): Promise<unknown> {
  return send("DELETE", path, undefined, new AbortController().signal, timeoutMs);
}

// The token comes once in the fragment (which no browser sends anywhere), is exchanged for a cookie that
// scripts cannot read, and leaves the address bar and the history.
export async function signInFromAddress(): Promise<void> {
  const found = /^#token=([^&]+)/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await signIn(decodeURIComponent(found[1]!));
  } catch {
    signedOut.set(true);
  }
}

// A file to save, under a name. The browser's own download would come without what the page keeps.
export async function save(path: string, name: string): Promise<void> {
  const response = await reach("GET", path, undefined, {}, new AbortController().signal, AbortSignal.timeout(slowTimeoutMs));
  if (!response.ok) throw refused(response, await response.json().catch(() => null));
  const a = document.createElement("a");
  a.href = URL.createObjectURL(await response.blob());
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

export async function signIn(token: string): Promise<void> {
  remember(pageKey, (await post<{ page?: string }>("/api/auth", { token })).page ?? null);
  signedOut.set(false);
}

// Ends it for every browser; what this one keeps goes with it.
export async function signOut(): Promise<void> {
  await remove("/api/auth");
  remember(pageKey, null);
  signedOut.set(true);
}

// Achievements over every source; the routes of Hermes' plugin count Hermes alone.
const badges = "/api/achievements";
export const badgePaths = {
  list: (source = ""): string => `${badges}${source && `?source=${encodeURIComponent(source)}`}`,
  rescan: `${badges}/rescan`,
  session: (id: string): string => `${badges}/sessions/${encodeURIComponent(id)}/badges`,
};
export const enc = encodeURIComponent;
