// From messages to what is drawn: each call with its result, its main argument and how long it took.
import { useEffect, useState } from "preact/hooks";
import { ApiError, enc, get } from "./api";
import { onEvent } from "./events";
import type { Message, MessagePage, ToolCall } from "./types";

export interface Call {
  call: ToolCall;
  at: number; // of the message that made it
  result: Message | undefined;
  outcome: "worked" | "failed" | "unknown";
  argument: string;
}

export interface Entry {
  message: Message;
  calls: Call[];
}

const mainKeys = ["command", "cmd", "pattern", "query", "path", "file_path", "url", "code", "prompt", "task", "goal", "name", "action", "text", "message"];

export function parseObject(text: string | null | undefined): Record<string, unknown> | null {
  if (!text || text[0] !== "{") return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

export function mainArgument(args: Record<string, unknown> | null, raw: string): string {
  const value = args ? (mainKeys.map((k) => args[k]).find((v) => typeof v === "string" && v) ?? Object.values(args).find((v) => typeof v === "string" && v)) : raw;
  const line = typeof value === "string" ? value.trimStart().split("\n", 1)[0]! : args && Object.keys(args).length ? JSON.stringify(args) : "";
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

// The server's word counts; without one (a result on a page that is not here yet) nothing is claimed.
function judge(call: ToolCall): Call["outcome"] {
  return call.ok == null ? "unknown" : call.ok ? "worked" : "failed";
}

export function entries(messages: Message[]): Entry[] {
  const byId = new Map(messages.map((m) => [m.id, m]));
  const byCall = new Map(messages.filter((m) => m.role === "tool" && m.tool_call_id).map((m) => [m.tool_call_id!, m]));
  const used = new Set<number>();
  const list: Entry[] = messages.map((message) => ({
    message,
    calls: message.tool_calls.map((call) => {
      const result = (call.result_id != null ? byId.get(call.result_id) : undefined) ?? (call.id ? byCall.get(call.id) : undefined);
      if (result) used.add(result.id);
      return { call, at: message.timestamp, result, outcome: judge(call), argument: mainArgument(parseObject(call.arguments), call.arguments) };
    }),
  }));
  return list.filter((e) => !used.has(e.message.id));
}

const pageSize = 200;
const wants = (have: Message[], until: number): boolean => until > 0 && !have.some((m) => m.id === until);

export interface Pages {
  messages: Message[];
  next: string | null;
  loaded: boolean;
  busy: boolean;
  error: ApiError | null;
  loadMore(): void;
}

// `until`: a message that must be among what is loaded, so that a link to it can be followed.
export function useMessages(id: string, part: string | null, until: number): Pages {
  const [state, set] = useState<Omit<Pages, "loadMore">>({ messages: [], next: null, loaded: false, busy: true, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => set({ messages: [], next: null, loaded: false, busy: true, error: null }), [id, part]);
  useEffect(() => {
    if (part === null) return;
    const stop = new AbortController();
    const step = async (have: Message[], after: string | null): Promise<void> => {
      const q = new URLSearchParams({ part, limit: String(pageSize) });
      if (after !== null) q.set("after", after);
      const page = await get<MessagePage>(`/api/sessions/${enc(id)}/messages?${q}`, stop.signal);
      const all = [...have, ...page.messages];
      const on = page.next_after !== null && wants(all, until);
      set({ messages: all, next: page.next_after, loaded: true, busy: on, error: null });
      if (on) await step(all, page.next_after);
    };
    set((s) => ({ ...s, busy: true, error: null }));
    step(turn ? state.messages : [], turn ? state.next : null).catch((cause) => {
      if (!stop.signal.aborted) set((s) => ({ ...s, busy: false, error: cause as ApiError }));
    });
    return () => stop.abort();
  }, [id, part, turn]);
  const loadMore = (): void => setTurn((n) => n + 1);
  // Another message of a session that is open: read on until it is there.
  const short = state.loaded && !state.busy && !state.error && state.next !== null && wants(state.messages, until);
  useEffect(() => void (short && loadMore()), [short]);
  useEffect(() => onEvent("reconnect", () => state.error && loadMore()), [state.error]);
  return { ...state, loadMore };
}
