// Conversations: the list, page by page, and one with its messages and attachments. All of it outlives the views, so
// coming back is instant. The tabs of one browser tell each other what changed.
import { useEffect, useState } from "preact/hooks";
import { ApiError, enc, get, getAnew } from "./api";
import type { Attachment, ChatMessage, Conversation, ConversationPage } from "./chat-types";
import { onEvent } from "./events";
import { forget } from "./resource";
import { onRunEnd, runOf } from "./run";
import { createStore, useStore, type Store } from "./store";

export const nameOf = (c: Conversation): string => c.title?.trim() || c.first_words?.trim() || "New conversation";

// -- the list ------------------------------------------------------------------------------------------------

export interface List {
  rows: Conversation[];
  next: string | null;
  loaded: boolean;
  busy: boolean;
  error: ApiError | null;
}

const pageSize = 100;
export const list = createStore<List>({ rows: [], next: null, loaded: false, busy: false, error: null });
const change = (part: Partial<List>): void => list.set({ ...list.get(), ...part });
const newestFirst = (a: Conversation, b: Conversation): number => b.updated_ms - a.updated_ms || (a.id < b.id ? -1 : 1);

// What is older than the page stays as it was known; what should be in it and is not was removed.
function front(page: ConversationPage): Conversation[] {
  const last = page.conversations.at(-1);
  const seen = new Set(page.conversations.map((c) => c.id));
  const older = last && page.next_cursor ? list.get().rows.filter((c) => !seen.has(c.id) && c.updated_ms <= last.updated_ms) : [];
  return [...page.conversations, ...older];
}

async function load(more: boolean, signal: AbortSignal): Promise<void> {
  const { next, loaded, rows } = list.get();
  change({ busy: true, error: null });
  try {
    const path = `/api/conversations?limit=${pageSize}${more && next ? `&cursor=${enc(next)}` : ""}`;
    const page = await (more ? get : getAnew)<ConversationPage>(path, signal);
    const have = list.get().rows; // what was begun or removed meanwhile counts
    const known = new Set(have.map((c) => c.id));
    if (more) change({ rows: [...have, ...page.conversations.filter((c) => !known.has(c.id))], next: page.next_cursor });
    else change({ rows: front(page), next: loaded && rows.length > pageSize ? next : page.next_cursor, loaded: true });
    change({ busy: false });
  } catch (cause) {
    if (!signal.aborted) change({ busy: false, error: cause as ApiError });
  }
}

export interface ConversationList extends List {
  loadMore(): void;
  reload(): void;
}

export function useConversations(): ConversationList {
  const now = useStore(list);
  const [turn, setTurn] = useState({ more: false, n: 0 });
  useEffect(() => {
    const stop = new AbortController();
    void load(turn.more, stop.signal);
    return () => stop.abort();
  }, [turn]);
  const reload = (): void => setTurn((t) => ({ more: false, n: t.n + 1 }));
  useEffect(() => {
    const offs = [onEvent("reconnect", reload), onNews(reload)];
    return () => offs.forEach((off) => off());
  }, []);
  return { ...now, loadMore: () => setTurn((t) => ({ more: true, n: t.n + 1 })), reload };
}

export function putConversation(c: Conversation): void {
  change({ rows: [c, ...list.get().rows.filter((x) => x.id !== c.id)].sort(newestFirst) });
}

// Being removed from here: the news of it may come before the answer, and is not worth a question.
export const going = new Set<string>();

export function dropConversation(id: string): void {
  change({ rows: list.get().rows.filter((c) => c.id !== id) });
  open.delete(id);
  forget(`/api/conversations/${enc(id)}`);
}

// -- news ----------------------------------------------------------------------------------------------------

type News = (conversation: string) => void;
const hearers = new Set<News>();
const others = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("talaria-chat");

export function onNews(fn: News): () => void {
  hearers.add(fn);
  return () => hearers.delete(fn);
}

const hear = (id: string): void => [...hearers].forEach((fn) => fn(id));
if (others) others.onmessage = (e) => hear(String(e.data));
// Something about a conversation changed here: views ask again, in this tab and in the others.
export function tellNews(id: string): void {
  others?.postMessage(id);
  hear(id);
}
// What other programs say comes over the event stream. What was said before it was there ("status" begins it), or
// missed, is asked for.
for (const name of ["chat", "status"]) onEvent(name, () => hear(""));
document.addEventListener("visibilitychange", () => document.hidden || hear(""));

// -- one -----------------------------------------------------------------------------------------------------

export interface Open {
  conversation: Conversation | null;
  messages: ChatMessage[];
  attachments: Attachment[];
  loaded: boolean;
  busy: boolean;
  error: ApiError | null;
  // A turn that was admitted and is not among the messages yet.
  sent: { run: string; text: string; files: string[]; at: number } | null;
}

const open = new Map<string, Store<Open>>();
const keepAtMost = 20;

export function openOf(id: string): Store<Open> {
  let one = open.get(id);
  if (!one) {
    open.set(id, (one = createStore<Open>({ conversation: null, messages: [], attachments: [], loaded: false, busy: false, error: null, sent: null })));
    if (open.size > keepAtMost) open.delete(open.keys().next().value!);
  }
  return one;
}
const update = (one: Store<Open>, part: Partial<Open>): void => one.set({ ...one.get(), ...part });

// From the first message that may still change.
async function readMessages(path: string, one: Store<Open>, signal: AbortSignal): Promise<ChatMessage[]> {
  const known = one.get().messages;
  const at = known.findIndex((m) => m.status === "running");
  const kept = at < 0 ? known : known.slice(0, at);
  let after: number | null = kept.at(-1)?.seq ?? 0;
  const all = [...kept];
  while (after !== null) {
    const page: { messages: ChatMessage[]; next_after: number | null } = await getAnew(`${path}/messages?after=${after}`, signal);
    all.push(...page.messages);
    after = page.next_after;
    if (after !== null && !one.get().loaded) update(one, { messages: [...all] });
  }
  return all;
}

async function refresh(id: string, signal: AbortSignal): Promise<void> {
  const one = openOf(id);
  const path = `/api/conversations/${enc(id)}`;
  update(one, { busy: true });
  try {
    const [conversation, messages, { attachments }] = await Promise.all([
      getAnew<Conversation>(path, signal),
      readMessages(path, one, signal),
      getAnew<{ attachments: Attachment[] }>(`${path}/attachments`, signal),
    ]);
    const { sent } = one.get();
    const there = sent && messages.some((m) => m.run_id === sent.run);
    update(one, { conversation, messages, attachments, loaded: true, busy: false, error: null, sent: there ? null : sent });
    if (list.get().loaded) putConversation(conversation);
  } catch (cause) {
    if (!signal.aborted) update(one, { busy: false, error: cause as ApiError });
  }
}

export interface Conversing extends Open {
  reload(): void;
}

export function useConversation(id: string): Conversing {
  const one = openOf(id);
  const now = useStore(one);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    void refresh(id, stop.signal);
    return () => stop.abort();
  }, [id, turn]);
  const reload = (): void => setTurn((n) => n + 1);
  useEffect(() => {
    const offs = [
      onEvent("reconnect", reload),
      onNews((which) => (which === id || which === "") && !going.has(id) && reload()),
      // A run of this conversation that was followed to its end here.
      onRunEnd((run) => [one.get().conversation?.running, one.get().sent?.run].includes(run) && tellNews(id)),
    ];
    return () => offs.forEach((off) => off());
  }, [id]);
  return { ...(openOf(id) === one ? now : openOf(id).get()), reload };
}

// The run that is under way, as far as is known here.
export function runningIn(o: Open): string | null {
  const run = o.sent?.run ?? o.conversation?.running ?? null;
  return run && !runOf(run).over() ? run : null;
}
export { update as updateOpen };
