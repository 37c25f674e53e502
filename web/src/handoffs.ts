// Handoffs and platforms as the API tells them, and the few words in which the page does.
import { ApiError, enc, post } from "./api";
import { useResource, type Resource } from "./resource";
import type { Status } from "./types";

export interface Handoff {
  id: string;
  session_id: string;
  title: string | null; // null: the session is gone
  ours: boolean; // the session is Talaria's own
  platform: string;
  target: string;
  state: "queued" | "claimed" | "prepared" | "bound" | "announced" | "done" | "failed" | "cancelled";
  step: string; // what is next, or was being done when it failed
  attempt: number;
  cancelling: boolean;
  owner: string | null; // who may write the session now; null: nobody ever took it
  thread: string | null;
  error: string | null;
  requested_ms: number;
  updated_ms: number;
  steps: { state: string; at_ms: number }[];
}

export interface HandoffPage {
  gateway: boolean;
  handoffs: Handoff[];
}

export interface Platform {
  name: string;
  enabled: boolean; // it is configured
  missing?: string | null; // of one that is not: what, and how it is given
  link: string | null; // null: nobody serves it now
  account: string | null;
  since_ms: number;
  heard_ms: number;
  lag_ms: number;
  inbox: number;
  outbox: number;
  error: string | null;
  error_ms: number;
  home: { chat_id: string; name: string } | null;
}

export interface PlatformPage {
  gateway: boolean;
  trouble: string | null; // with the configuration
  platforms: Platform[];
}

export interface Letter {
  id: string;
  platform: string;
  text: string;
  error: string | null;
  attempt: number;
  created_ms: number;
}

export interface Parked {
  seq: number;
  platform: string;
  text: string;
  reason: string | null;
  attempt: number;
  received_ms: number;
}

// "status" too: what happened before the event stream was there was not told.
const news = ["handoffs", "status"];
export const useHandoffs = (on = true): Resource<HandoffPage> => useResource<HandoffPage>(on ? "/api/handoffs" : null, news);
// The last handoff of a session.
export const useHandoffOf = (session: string, on = true): Resource<HandoffPage> => useResource<HandoffPage>(on ? `/api/handoffs?limit=1&session=${enc(session)}` : null, news);
export const usePlatforms = (on = true): Resource<PlatformPage> => useResource<PlatformPage>(on ? "/api/platforms" : null, news);
export const useLetters = (): Resource<{ letters: Letter[] }> => useResource("/api/outbox/dead", news);
export const useParked = (): Resource<{ messages: Parked[] }> => useResource("/api/inbox/parked", news);
export const useHasHandoffs = (): boolean => useResource<Status>("/api/status").data?.features?.includes("handoffs") ?? false;

const names: Record<string, string> = { local: "Local chat", telegram: "Telegram", discord: "Discord", slack: "Slack" };
export const platformName = (name: string): string => names[name] ?? name;

export const isOver = (h: Handoff): boolean => ["done", "failed", "cancelled"].includes(h.state);
export const isThere = (h: Handoff): boolean => h.state === "done" && h.owner === h.platform;
export const roomOf = (h: Handoff): string[] => ["handoffs", "local", ...(h.thread ? [h.thread] : [])];

// The states one after the other, each with the word for it and the step that leads there.
export const way: [state: string, word: string, step: string][] = [
  ["queued", "requested", ""],
  ["claimed", "claimed", "claim"],
  ["prepared", "thread", "prepare"],
  ["bound", "bound", "bind"],
  ["announced", "announced", "announce"],
  ["done", "done", "done"],
];

// What its ids look like: a home of its own is found for what is left empty.
const chats: Record<string, [RegExp, string]> = {
  telegram: [/^(-?\d{1,19}|@\w{4,32})$/, "a number, or @name"],
  discord: [/^\d{5,20}$/, "a number: Copy Channel ID"],
  slack: [/^[CDGU][A-Z0-9]{2,}$/, "C, D or G and capitals: Copy channel ID"],
};
export function wrongChat(platform: string, chat: string): string | null {
  if (/\s/.test(chat) || chat.length > 200) return "an id has no spaces";
  const [form, words] = chats[platform] ?? [/^/, ""];
  return chat === "" || form.test(chat) ? null : words;
}

// Why a handoff to it cannot work; null: it can. `ours`: no gateway of Hermes sees the session.
export function cannot(p: Platform, gateway: boolean, ours: boolean, chat = ""): string | null {
  if (!p.enabled) return ours ? "not set up" : null;
  if (!gateway) return "no gateway is running";
  return p.home || chat ? null : "no home channel (type /sethome in a chat)";
}

export async function change(path: string, body: unknown = {}): Promise<ApiError | null> {
  return post(path, body).then(() => null, (cause: ApiError) => cause);
}
export const bringBack = (session: string): Promise<ApiError | null> => change(`/api/sessions/${enc(session)}/back`);
